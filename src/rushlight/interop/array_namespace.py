"""The array API standard: which namespace an array belongs to, and arrays moved between devices."""

from __future__ import annotations

from ..core.engine import Tensor
from ..ops.declare import add_method

VERSIONS = ("2021.12", "2022.12", "2023.12")


def __array_namespace__(input, /, *, api_version: str | None = None):
    """`rushlight.array_api`, whose functions have the names and meanings of the array API standard.

    Raises:
        ValueError: for a version of the standard that it does not follow
    """
    if api_version is not None and api_version not in VERSIONS:
        raise ValueError(f"array API: expected one of the versions {', '.join(VERSIONS)}, got {api_version!r}")
    from .. import array_api

    return array_api


def to_device(input, device, /, *, stream=None) -> Tensor:
    """The tensor on a device, itself if it is there already."""
    if stream is not None:
        raise ValueError(f"to_device: the CPU has no streams, got {stream!r}")
    return input.to(device)


add_method("__array_namespace__", __array_namespace__)
add_method("to_device", to_device)
