"""`rushlight.cuda`: what programs ask about graphics processors, answered for a machine without any.

    device = rushlight.device("cuda" if rushlight.cuda.is_available() else "cpu")

Questions and seeds are answered as by a PyTorch without CUDA; what needs a device raises.
"""

from __future__ import annotations

from .aliases import install
from .core.engine import require_device

__all__ = [
    "current_device",
    "device_count",
    "empty_cache",
    "get_device_name",
    "get_device_properties",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "memory_allocated",
    "memory_reserved",
    "set_device",
    "synchronize",
]


def is_available() -> bool:
    """Whether there is a device: False.

    >>> rushlight.cuda.is_available()
    False
    """
    return False


def is_initialized() -> bool:
    """Whether a device is in use: False."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether the device knows bfloat16: False, since there is none."""
    return False


def device_count() -> int:
    """The number of devices: 0."""
    return 0


def manual_seed(seed: int) -> None:
    """Does nothing: there is no generator on a device."""


def manual_seed_all(seed: int) -> None:
    """Does nothing: there is no generator on a device."""


def empty_cache() -> None:
    """Does nothing: no memory of a device is kept. `rushlight.empty_cache` frees kept memory of the processor."""


def memory_allocated(device=None) -> int:
    """The bytes in use on the device: 0."""
    return 0


max_memory_allocated = memory_reserved = memory_allocated


def current_device() -> int:
    """Raises RuntimeError: there is no device."""
    return require_device("cuda")


def set_device(device) -> None:
    """Raises RuntimeError: there is no device."""
    require_device("cuda")


def synchronize(device=None) -> None:
    """Raises RuntimeError: there is no device."""
    require_device("cuda")


def get_device_name(device=None) -> str:
    """Raises RuntimeError: there is no device."""
    return require_device("cuda")


get_device_properties = get_device_name
_PLACES = ("amp", "amp.autocast_mode", "amp.common", "amp.grad_scaler")
install(__name__, dict.fromkeys(_PLACES, "amp.cuda"))
