"""The C structures of DLPack and the capsules they travel in."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p

from ..core import engine
from ..core.engine import Tensor
from ..ir import dtypes

READ_ONLY = 1  # a flag of versioned tensors
_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
_BFLOAT = 4
_BY_CODE = {(_CODES[d.kind], 8 * d.itemsize): d for d in dtypes.STORED if d is not dtypes.bfloat16}
_BY_CODE[_BFLOAT, 16] = dtypes.bfloat16


class Array(ctypes.Structure):
    """DLTensor: memory, shape and strides in elements."""

    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


DELETER = ctypes.CFUNCTYPE(None, c_void_p)


class Managed(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = [("array", Array), ("context", c_void_p), ("deleter", DELETER)]


class Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = [
        ("major", c_uint32),
        ("minor", c_uint32),
        ("context", c_void_p),
        ("deleter", DELETER),
        ("flags", c_uint64),
        ("array", Array),
    ]


_NAMES = {Managed: b"dltensor", Versioned: b"dltensor_versioned"}
_USED = {Managed: b"used_dltensor", Versioned: b"used_dltensor_versioned"}
_python = ctypes.PyDLL(None)
_new_capsule = _python.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [c_void_p, c_char_p, c_void_p]
_is_valid = _python.PyCapsule_IsValid
_is_valid.restype, _is_valid.argtypes = ctypes.c_int, [ctypes.py_object, c_char_p]
_pointer = _python.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = c_void_p, [ctypes.py_object, c_char_p]
_rename = _python.PyCapsule_SetName
_rename.restype, _rename.argtypes = ctypes.c_int, [ctypes.py_object, c_char_p]
# a capsule that is being destroyed must not be counted again, so its destructor knows only its address
_is_valid_at = ctypes.PYFUNCTYPE(ctypes.c_int, c_void_p, c_char_p)(("PyCapsule_IsValid", _python))
_pointer_at = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", _python))

_exported: dict[int, tuple] = {}  # what keeps exported memory alive, by the address of the structure


@DELETER
def _release(address) -> None:
    _exported.pop(address, None)


@ctypes.PYFUNCTYPE(None, c_void_p)
def _destroy(capsule) -> None:
    """Release what nobody took out of a capsule."""
    for name in _NAMES.values():
        if _is_valid_at(capsule, name):
            _release(_pointer_at(capsule, name))


def exported(tensor: Tensor, versioned: bool):
    """A capsule with the tensor's memory."""
    kind = Versioned if versioned else Managed
    if tensor._storage.readonly and not versioned:
        raise BufferError("Can't export read-only memory to a library that asks for DLPack before 1.0")
    if tensor.is_quantized:
        raise BufferError("QUInt/QInt types are not supported by dlpack; export dequantize() or int_repr()")
    if tensor.is_conj() or tensor.is_neg():
        name = "conjugate" if tensor.is_conj() else "negative"
        raise BufferError(f"Can't export tensors with the {name} bit set")
    tensor._storage.fix()
    dtype, ndim = tensor.dtype, tensor.ndim
    shape, strides = (c_int64 * max(ndim, 1))(*tensor.shape), (c_int64 * max(ndim, 1))(*tensor.stride())
    managed = kind(deleter=_release)
    if versioned:
        managed.major, managed.flags = 1, READ_ONLY if tensor._storage.readonly else 0
    array = managed.array
    array.data, array.device_type, array.ndim, array.lanes = tensor.data_ptr(), 1, ndim, 1
    array.code = _BFLOAT if dtype is dtypes.bfloat16 else _CODES[dtype.kind]
    array.bits = 8 * dtype.itemsize
    array.shape, array.strides = shape, strides
    address = ctypes.addressof(managed)
    _exported[address] = managed, shape, strides, tensor._storage
    return _new_capsule(address, _NAMES[kind], ctypes.cast(_destroy, c_void_p))


class Lease:
    """Memory of another library; given back when the last tensor over it is gone."""

    def __init__(self, managed):
        self.managed = managed

    def __del__(self):
        if self.managed.deleter:
            self.managed.deleter(ctypes.addressof(self.managed))


def imported(capsule) -> Tensor:
    """A tensor over the memory that a capsule holds; RuntimeError if it was used before."""
    try:
        kind = next(kind for kind, name in _NAMES.items() if _is_valid(capsule, name))
    except StopIteration:
        raise RuntimeError(
            "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so you "
            "might have already constructed a tensor from it once."
        ) from None
    managed = kind.from_address(_pointer(capsule, _NAMES[kind]))
    array = managed.array
    dtype = _BY_CODE.get((array.code, array.bits))
    if dtype is None or array.lanes != 1 or array.device_type != 1:
        raise BufferError(
            f"from_dlpack: cannot use elements of code {array.code}, {array.bits} bits, {array.lanes} lanes on device "
            f"type {array.device_type}"
        )
    _rename(capsule, _USED[kind])
    readonly = kind is Versioned and bool(managed.flags & READ_ONLY)
    return tensor_over(array, dtype, Lease(managed), readonly)


def tensor_over(array: Array, dtype, owner, readonly: bool) -> Tensor:
    shape = tuple(array.shape[: array.ndim]) if array.ndim else ()
    strides = tuple(array.strides[: array.ndim]) if array.strides and array.ndim else None
    if strides is not None and min(strides) < 0:
        raise BufferError("from_dlpack: negative strides are not supported; make a copy of the array first")
    layout = engine.layout_of(shape, strides, dtype)
    nbytes = (layout.high + 1) * dtype.itemsize if layout.numel else 0
    storage = engine.borrow_storage((array.data or 0) + array.byte_offset, nbytes, owner, readonly)
    return engine.make_tensor(storage, 0, shape, strides, dtype)
