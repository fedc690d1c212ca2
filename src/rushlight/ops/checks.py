"""Which dtypes and values an op takes."""

from __future__ import annotations

SCALAR_TYPES = {
    "float32": "Float",
    "float64": "Double",
    "float16": "Half",
    "bfloat16": "BFloat16",
    "int64": "Long",
    "int32": "Int",
    "int16": "Short",
    "int8": "Char",
    "uint8": "Byte",
    "uint16": "UInt16",
    "uint32": "UInt32",
    "uint64": "UInt64",
    "bool": "Bool",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
    "quint8": "QUInt8",
    "qint8": "QInt8",
    "qint32": "QInt32",
}


def scalar_type(dtype) -> str:
    """The name that PyTorch's messages have for a dtype."""
    return SCALAR_TYPES.get(dtype.name, dtype.name)


def every_sample(tensor):
    """A tensor whose numbers are to be checked: under `vmap` those of all samples."""
    if not tensor._layout.batch:
        return tensor
    from .batched_views import revealed

    return revealed(tensor.detach())[0]


def check_kinds(name: str, dtype, kinds: str) -> None:
    """NotImplementedError unless the dtype is of one of the kinds (b, u, i, f, c) that the op computes with."""
    if dtype.kind not in kinds:
        raise NotImplementedError(f"\"{name}\" not implemented for '{scalar_type(dtype)}'")


_LARGEST = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38}


def fitting(value, dtype):
    """A Python number as memory of a dtype takes it; RuntimeError if it would not stay what it is. Others as they are.

    Whole types take numbers of their range (unsigned ones negative integers, too, which wrap around), floating types
    what stays finite, infinities and NaN; only complex types take imaginary parts. Fractions are cut off.
    """
    if (type(value) is int and -128 <= value <= 127) or not isinstance(value, (int, float, complex)):
        return value
    if not fits(value, dtype):
        raise RuntimeError(f"value cannot be converted to type {dtype.name} without overflow")
    if isinstance(value, complex) and dtype.kind != "c":
        return bool(value) if dtype.kind == "b" else value.real
    return value


def fits(value, dtype) -> bool:
    kind = dtype.kind
    if kind == "b":
        return True
    if isinstance(value, complex):
        if value.imag and kind != "c":
            return False
        return fits(value.real, dtype) and (not value.imag or fits(value.imag, dtype))
    if kind == "u" and isinstance(value, int):
        return -(1 << 8 * dtype.itemsize) < value < 1 << 8 * dtype.itemsize
    if kind in "ui":
        bits = 8 * dtype.itemsize - (kind == "i")
        return (-(1 << bits) if kind == "i" else 0) <= value <= (1 << bits) - 1
    largest = _LARGEST.get(dtype.to_real().name if kind == "c" else dtype.name)
    return largest is None or value - value != 0 or abs(value) <= largest
