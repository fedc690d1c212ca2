"""Devices: names of places for tensors, of which only the CPU is there."""

from __future__ import annotations

# fmt: off
TYPES = (
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy",
    "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone",
)
# fmt: on


class DeviceNotAvailable(AssertionError, NotImplementedError):
    """A tensor was to be made on a device that is not there: a RuntimeError, and PyTorch's AssertionError."""


class Device:
    """Where a tensor lives: a type ("cpu", "cuda", ...) and an optional index.

    A device that is not there is a value all the same; making a tensor on it raises an error.
    As a context manager, it is where tensors are made whose functions are given no `device`.
    """

    __slots__ = ("_outer", "index", "type")
    _known = {}

    def __new__(cls, type, index=None):
        if isinstance(type, Device) and index is None:
            return type
        if index is not None and (isinstance(index, bool) or not hasattr(index, "__index__")):
            raise TypeError(f"device(): argument 'index' (position 2) must be int, not {index.__class__.__name__}")
        if isinstance(type, int) and not isinstance(type, bool) and index is None:
            if type < 0:
                raise RuntimeError("Device index must not be negative")
            raise RuntimeError("Cannot access accelerator device when none is available.")
        if not isinstance(type, str):
            raise TypeError(f"device(): argument 'type' (position 1) must be str, not {type.__class__.__name__}")
        return cls._interned(*device_parts(type, index))

    @classmethod
    def _interned(cls, name, index):
        found = cls._known.get((name, index))
        if found is None:
            made = object.__new__(cls)
            object.__setattr__(made, "type", name)
            object.__setattr__(made, "index", index)
            object.__setattr__(made, "_outer", [])
            found = cls._known.setdefault((name, index), made)
        return found

    def __setattr__(self, name, value):
        raise AttributeError(f"attribute '{name}' of 'device' objects is not writable")

    def __enter__(self):
        from .engine import set_default_device

        self._outer.append(set_default_device(self))
        return self

    def __exit__(self, *exc):
        from .engine import set_default_device

        set_default_device(self._outer.pop())

    def __repr__(self):
        return f"device(type='{self.type}'" + (f", index={self.index})" if self.index is not None else ")")

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __reduce__(self):
        return Device, (str(self),)


def device_parts(text: str, index):
    """The type and index that "cuda:1" says, or "cuda" and an index."""
    name, colon, digits = text.partition(":")
    if not text:
        raise RuntimeError("Device string must not be empty")
    if colon and not (
        digits.isdigit() and digits.isascii() and (digits == "0" or digits[0] != "0") and len(digits) < 4
    ):
        raise RuntimeError(f"Invalid device string: '{text}'")
    if name not in TYPES:
        raise RuntimeError(f"Expected one of {', '.join(TYPES)} device type at start of device string: {name}")
    if index is None:
        return name, int(digits) if colon else None
    if colon:
        raise RuntimeError(f"type (string) must not include an index because index was passed explicitly: {text}")
    index = index.__index__()
    if index < 0:
        raise RuntimeError("Device index must not be negative")
    return name, index
