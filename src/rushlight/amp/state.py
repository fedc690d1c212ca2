"""What autocast is set to in a thread, and the functions of the torch namespace that ask and tell."""

from __future__ import annotations

import threading
import warnings

from ..core import Device
from ..ir.dtypes import DType, bfloat16, float16

DEFAULTS = {  # the devices that programs may name, and the type that each computes in
    "cpu": bfloat16,
    "cuda": float16,
    "hpu": bfloat16,
    "ipu": float16,
    "mps": float16,
    "mtia": bfloat16,
    "xla": bfloat16,
    "xpu": bfloat16,
}
_lock = threading.Lock()
_threads_within = 0  # how many threads compute under autocast on the CPU


class State(threading.local):
    """A thread's settings."""

    def __init__(self):
        self.enabled: dict[str, bool] = dict.fromkeys(DEFAULTS, False)
        self.dtypes: dict[str, DType] = dict(DEFAULTS)
        self.cache_enabled = True
        self.nesting = 0
        self.inside = False  # within a function that autocast has prepared: all it calls computes as it is told
        self.cache: dict = {}


state = State()


def check_device(device_type: str) -> str:
    """The name of a device that autocast knows; RuntimeError for other names."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if device_type not in DEFAULTS:
        Device(device_type)  # raises for what is no device at all
        raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
    return device_type


def set_autocast_enabled(device_type, enabled: bool | None = None) -> None:
    """Switches autocast for a type of device in this thread; with one argument for "cuda"."""
    if enabled is None:
        device_type, enabled = "cuda", device_type
    check_device(device_type)
    if state.enabled[device_type] == bool(enabled):
        return
    state.enabled[device_type] = bool(enabled)
    if device_type == "cpu":
        _count(1 if enabled else -1)


def _count(change: int) -> None:
    """Redirects the functions that autocast prepares while a thread is within."""
    global _threads_within
    from . import policies

    with _lock:
        before, _threads_within = _threads_within, _threads_within + change
        if bool(before) != bool(_threads_within):
            policies.redirect(bool(_threads_within))


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Whether autocast is on in this thread for a type of device; without one: for "cuda".

    >>> with rushlight.autocast("cpu"):
    ...     rushlight.is_autocast_enabled("cpu")
    True
    """
    return state.enabled[check_device("cuda" if device_type is None else device_type)]


def get_autocast_dtype(device_type: str) -> DType:
    """The type that autocast computes in on a type of device."""
    return state.dtypes[check_device(device_type)]


def set_autocast_dtype(device_type: str, dtype: DType) -> None:
    """Sets the type that autocast computes in on a type of device."""
    if not isinstance(dtype, DType):
        raise TypeError(f"set_autocast_dtype(): argument 'dtype' must be torch.dtype, not {type(dtype).__name__}")
    state.dtypes[check_device(device_type)] = dtype


def is_autocast_cache_enabled() -> bool:
    """Whether parameters that were cast are kept until the outermost block ends."""
    return state.cache_enabled


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Sets whether parameters that were cast are kept until the outermost block ends."""
    state.cache_enabled = bool(enabled)


def clear_autocast_cache() -> None:
    """Forgets the parameters that were cast."""
    state.cache.clear()


def autocast_increment_nesting() -> int:
    """Counts a block that is entered; returns how many are open."""
    state.nesting += 1
    return state.nesting


def autocast_decrement_nesting() -> int:
    """Counts a block that is left; returns how many are open."""
    state.nesting -= 1
    return state.nesting


def _of_device(function, device: str, name: str):
    """A former function for one device, in terms of today's."""

    def former(*args):
        warnings.warn(
            f"torch.{name}() is deprecated. Please use torch.{function.__name__}('{device}') instead.",
            DeprecationWarning,
            stacklevel=2,
        )
        return function(device, *args)

    former.__name__ = former.__qualname__ = name
    former.__doc__ = f"Deprecated: `{function.__name__}` for the device '{device}'."
    return former


FORMER = {}
for _name, _device in (("cpu", "cpu"), ("gpu", "cuda"), ("ipu", "ipu"), ("xla", "xla")):
    for _pattern, _function in (
        ("is_autocast_{}_enabled", is_autocast_enabled),
        ("set_autocast_{}_enabled", set_autocast_enabled),
        ("get_autocast_{}_dtype", get_autocast_dtype),
        ("set_autocast_{}_dtype", set_autocast_dtype),
    ):
        if (_name, _pattern[-8:]) != ("gpu", "_enabled"):
            FORMER[_pattern.format(_name)] = _of_device(_function, _device, _pattern.format(_name))
globals().update(FORMER)
