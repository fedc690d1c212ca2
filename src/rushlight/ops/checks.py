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
