"""What the namespace can do."""

from __future__ import annotations

from ..core.engine import Device
from ..ir import dtypes
from ..ir.dtypes import DType
from .data_types import of_kind


class Info:
    """Capabilities, devices and data types of the namespace."""

    def capabilities(self) -> dict:
        """What optional behaviour there is."""
        return {"boolean indexing": True, "data-dependent shapes": True}

    def default_device(self) -> Device:
        """Where arrays are made unless told otherwise."""
        return Device("cpu")

    def default_dtypes(self, *, device=None) -> dict[str, DType]:
        """What arrays of numbers have as data type unless told otherwise."""
        real = dtypes.default
        return {
            "real floating": real,
            "complex floating": real.to_complex(),
            "integral": dtypes.int64,
            "indexing": dtypes.int64,
        }

    def devices(self) -> list[Device]:
        """All devices."""
        return [Device("cpu")]

    def dtypes(self, *, device=None, kind: str | tuple[str, ...] | None = None) -> dict[str, DType]:
        """The data types, of a kind (such as "integral") or all, by name."""
        return of_kind(kind)


def __array_namespace_info__() -> Info:
    """An object that answers questions about the namespace."""
    return Info()
