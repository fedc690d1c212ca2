"""NumPy arrays and tensors over the same memory, through the array interface: NumPy is only loaded to make an array."""

from __future__ import annotations

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
_NAMES = {dtype: name for name, dtype in _KINDS.items()}


def from_array(array) -> Tensor:
    """A tensor over an array's memory; TypeError for element types that tensors don't have."""
    if not hasattr(array, "__array_interface__"):
        array = array.__array__()
    described = array.__array_interface__
    dtype = _KINDS.get(described["typestr"])
    if dtype is None:
        raise TypeError(
            f"can't convert an array of type {described['typestr']}; the supported types are: "
            f"{', '.join(d.name for d in _NAMES)}"
        )
    shape, strides = described["shape"], described.get("strides")
    address, readonly = described["data"]
    if strides is not None:
        if any(s < 0 for s in strides):
            raise ValueError(
                "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
                "currently supported. (You can probably work around this by making a copy of your array with "
                "array.copy().)"
            )
        if any(s % dtype.itemsize for s in strides):
            raise ValueError(
                "given numpy array strides not a multiple of the element byte size; make a copy of the array first"
            )
        strides = [s // dtype.itemsize for s in strides]
    layout = engine.layout_of(shape, strides, dtype)
    storage = engine.borrow_storage(address, (layout.high + 1) * dtype.itemsize if layout.numel else 0, array, readonly)
    return engine.make_tensor(storage, 0, shape, strides, dtype)


@composite
def from_numpy(array) -> Tensor:
    """A tensor that shares memory with a NumPy array; writes to one are seen in the other."""
    if not hasattr(array, "__array_interface__") or not hasattr(array, "dtype"):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    return from_array(array)


class _Interface:
    """Carries the description of a tensor's memory to NumPy, and keeps that memory alive.

    Not the tensor: it may be given other memory (`data`, `set_`, `resize_`).
    """

    def __init__(self, tensor: Tensor):
        dtype = tensor.dtype
        self.storage = tensor._storage
        self.storage.fix()
        self.__array_interface__ = {
            "version": 3,
            "shape": tuple(tensor.shape),
            "typestr": _NAMES[dtype],
            "data": (self.storage.address + tensor.storage_offset() * dtype.itemsize, self.storage.readonly),
            "strides": tuple(s * dtype.itemsize for s in tensor.stride()),
        }


def numpy(input, *, force=False):
    """A NumPy array over the tensor's memory (a copy only with `force` where it can't be shared)."""
    if force:
        input = input.detach().resolve_conj().resolve_neg()
    if input.requires_grad:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    check_computed(input)
    if input.dtype not in _NAMES:
        raise TypeError(f"Got unsupported ScalarType {input.dtype.name}: NumPy has no such type; use .float().numpy()")
    import numpy as np

    return np.asarray(_Interface(input))


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
    return array if dtype is None else array.astype(dtype, copy=False)


def from_result(input, array, context=None, return_scalar=False):
    """What NumPy's functions of tensors return: a tensor."""
    import numpy as np

    return from_array(np.asarray(array))


engine.bind("from_array", from_array)
add_method("numpy", numpy)
add_method("__array__", to_array)
add_method("__array_wrap__", from_result)
engine.attach_method("__array_priority__", 1000)  # arrays leave operators to tensors
