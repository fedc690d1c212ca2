"""Data types and what can be asked of them."""

from __future__ import annotations

import functools

from ..core.engine import Tensor
from ..ir import dtypes
from ..ir.dtypes import DType

__all__ = ["DTYPES", "astype", "can_cast", "finfo", "iinfo", "isdtype", "result_type"]

_STANDARD = """
    bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128
""".split()  # noqa: SIM905
DTYPES: dict[str, DType] = {name: dtypes.dtype_named(name) for name in _STANDARD}

_KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}


def astype(x: Tensor, dtype: DType, /, *, copy: bool = True, device=None) -> Tensor:
    """The array in another data type; the array itself if it has that type and no `copy` is asked for."""
    return x.to(device=device or x.device, dtype=dtype, copy=copy)


def can_cast(from_: DType | Tensor, to: DType, /) -> bool:
    """Whether promotion leads from one data type (or that of an array) to the other."""
    return dtypes.promote_types(_dtype_of(from_), to) is to


def isdtype(dtype: DType, kind: DType | str | tuple[DType | str, ...]) -> bool:
    """Whether a data type is of a kind: a data type, a name such as "integral", or a tuple of these."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    if isinstance(kind, DType):
        return dtype is kind
    if kind not in _KINDS:
        raise ValueError(f"isdtype: expected a data type or one of {', '.join(map(repr, _KINDS))}, got {kind!r}")
    return dtype.kind in _KINDS[kind]


def finfo(type: DType | Tensor, /) -> dtypes.finfo:
    """The limits of a floating point type, or that of an array; of a complex type those of its parts."""
    return dtypes.finfo(_dtype_of(type))


def iinfo(type: DType | Tensor, /) -> dtypes.iinfo:
    """The limits of an integer type, or that of an array."""
    return dtypes.iinfo(_dtype_of(type))


def _dtype_of(x: DType | Tensor) -> DType:
    return x.dtype if isinstance(x, Tensor) else x


def result_type(*arrays_and_dtypes: Tensor | DType) -> DType:
    """The data type that arrays and data types have together."""
    if not arrays_and_dtypes:
        raise ValueError("result_type: expected at least one array or data type")
    return functools.reduce(dtypes.promote_types, map(_dtype_of, arrays_and_dtypes))


def of_kind(kind: str | tuple[str, ...] | None) -> dict[str, DType]:
    """The data types of a kind, by name."""
    return {name: dtype for name, dtype in DTYPES.items() if kind is None or isdtype(dtype, kind)}
