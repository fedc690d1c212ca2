"""NumPy arrays and tensors over the same memory, through the buffer protocol or the array interface.

NumPy is only loaded to make an array.
"""

from __future__ import annotations

import functools
import sys

from ..core import engine
from ..core.engine import Tensor
from ..ir import dtypes
from ..ops.declare import add_method, composite

_KINDS = {
    "|b1": dtypes.bool_,
    "|u1": dtypes.uint8,
    "<u2": dtypes.uint16,
    "<u4": dtypes.uint32,
    "<u8": dtypes.uint64,
    "|i1": dtypes.int8,
    "<i2": dtypes.int16,
    "<i4": dtypes.int32,
    "<i8": dtypes.int64,
    "<f2": dtypes.float16,
    "<f4": dtypes.float32,
    "<f8": dtypes.float64,
    "<c8": dtypes.complex64,
    "<c16": dtypes.complex128,
}


@functools.cache
def array_types() -> tuple:
    """NumPy's array class, its dtypes by ours, and ours by its."""
    import numpy as np

    given = {dtype: np.dtype(name) for name, dtype in _KINDS.items()}
    return np.ndarray, given, {theirs: dtype for dtype, theirs in given.items()}


def is_array(value) -> bool:
    """Whether this is a NumPy array, for which NumPy must have been loaded."""
    return "numpy" in sys.modules and isinstance(value, array_types()[0])


def from_array(array) -> Tensor:
    """A tensor over an array's memory; TypeError for element types that tensors don't have."""
    if is_array(array):
        return over_array(array)
    if not hasattr(array, "__array_interface__"):
        return from_array(array.__array__())
    described = array.__array_interface__
    dtype = _KINDS.get(described["typestr"])
    if dtype is None:
        raise unknown_type(described["typestr"])
    return over_memory(array, dtype, described["shape"], described.get("strides"), *described["data"])


def over_array(array) -> Tensor:
    """A tensor over the memory of a NumPy array."""
    dtype = array_types()[2].get(array.dtype)
    if dtype is None:
        raise unknown_type(array.dtype.str)
    strides = None if array.flags.c_contiguous else array.strides
    return over_memory(array, dtype, array.shape, strides, *engine.exported_memory(array))


def unknown_type(name: str) -> Exception:
    if name[0] == ">":
        return ValueError(
            f"the array has the byte order of another machine ({name}), which tensors don't; convert it first: "
            "array.astype(array.dtype.newbyteorder('='))"
        )
    return TypeError(
        f"can't convert an array of type {name}; the supported types are: {', '.join(d.name for d in _KINDS.values())}"
    )


def over_memory(owner, dtype, shape: tuple, strides, address: int, readonly: bool) -> Tensor:
    """A tensor over memory at an address; `strides` are in bytes, None for row-major."""
    if strides is not None:
        strides = in_elements(strides, dtype.itemsize)
    return engine.borrowed_tensor(engine.layout_of(shape, strides, dtype), address, owner, readonly)


def in_elements(strides: tuple, itemsize: int) -> list:
    """Strides in bytes as strides in elements; ValueError for negative or uneven ones."""
    for stride in strides:
        if stride < 0:
            raise ValueError(
                "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
                "currently supported. (You can probably work around this by making a copy of your array with "
                "array.copy().)"
            )
        if stride % itemsize:
            raise ValueError(
                "given numpy array strides not a multiple of the element byte size; make a copy of the array first"
            )
    return [stride // itemsize for stride in strides]


@composite
def from_numpy(array) -> Tensor:
    """A tensor that shares memory with a NumPy array; writes to one are seen in the other."""
    if not is_array(array):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    return over_array(array)


def numpy(input, *, force=False):
    """A NumPy array over the tensor's memory (a copy only with `force` where it can't be shared)."""
    if force:
        input = input.detach().resolve_conj().resolve_neg()
    if input.requires_grad:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    make, types, _ = array_types()
    layout = input._layout
    if layout.bits:
        check_computed(input)
    if layout.dtype not in types:
        way = ".dequantize()" if input.is_quantized else ".float()"
        raise TypeError(f"Got unsupported ScalarType {layout.dtype.name}: NumPy has no such type; use {way}.numpy()")
    # not the tensor keeps the memory alive: it may be given other memory (`data`, `set_`, `resize_`)
    size = layout.itemsize
    start = input.storage_offset() * size if layout.numel else 0
    strides = None if layout.contiguous else [stride * size for stride in layout.strides]
    return make(layout.shape, types[layout.dtype], input._storage, start, strides)


def check_computed(input) -> None:
    """RuntimeError where memory does not hold the elements but their conjugates or negatives."""
    for held, name, method in ((input.is_conj(), "conjugate", "conj"), (input.is_neg(), "negative", "neg")):
        if held:
            raise RuntimeError(
                f"Can't call numpy() on Tensor that has {name} bit set. Use tensor.resolve_{method}().numpy() instead."
            )


def to_array(input, dtype=None, copy=None):
    """NumPy's `__array__` protocol."""
    array = numpy(input)
    made = array if dtype is None else array.astype(dtype, copy=False)
    if made is not array or not copy:
        if made is not array and copy is False:
            raise ValueError(f"an array of {dtype} of a tensor of {input.dtype.name} must be a copy: leave `copy` out")
        return made
    return made.copy()


def from_result(input, array, context=None, return_scalar=False):
    """What NumPy's functions of tensors return: a tensor."""
    import numpy as np

    return from_array(np.asarray(array))


engine.bind("from_array", from_array)
add_method("numpy", numpy)
add_method("__array__", to_array)
add_method("__array_wrap__", from_result)
engine.attach_method("__array_priority__", 1000)  # arrays leave operators to tensors
