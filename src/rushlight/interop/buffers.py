"""Tensors over the memory of Python objects with the buffer protocol, and of files."""

from __future__ import annotations

import warnings

from ..core import engine
from ..core.engine import Tensor
from ..ops.creation import fresh
from ..ops.declare import composite
from ..ops.dtypes import dtype_argument


def address_of(view: memoryview) -> int:
    """Where a contiguous buffer's bytes lie; the view keeps them there."""
    import ctypes

    class Buffer(ctypes.Structure):
        _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("rest", ctypes.c_byte * 128)]

    buffer = Buffer()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(view), ctypes.byref(buffer), 0)
    address = buffer.buf or 0
    ctypes.pythonapi.PyBuffer_Release(ctypes.byref(buffer))
    return address


@composite
def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False) -> Tensor:
    """A 1-dim tensor over the memory of `buffer` (bytearray, mmap, array, memoryview, bytes).

    Args:
        count: how many elements; -1 for all that follow `offset`
        offset: bytes to skip

    Raises:
        ValueError: if there is no buffer, or it holds less
    """
    dtype = dtype_argument(dtype)
    try:
        view = memoryview(buffer).cast("B")
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    count = checked_count(view.nbytes, dtype.itemsize, count, offset)
    if view.readonly:
        warnings.warn("The given buffer is not writable: the tensor cannot be written to either.", stacklevel=2)
    storage = engine.borrow_storage(address_of(view) + offset, count * dtype.itemsize, view, view.readonly)
    made = engine.make_tensor(storage, 0, (count,), None, dtype)
    return made.requires_grad_() if requires_grad else made


def checked_count(available: int, itemsize: int, count: int, offset: int) -> int:
    if available == 0 or count == 0:
        raise ValueError(f"both buffer length ({available}) and count ({count}) must not be 0")
    if not 0 <= offset < available:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length "
            f"({available} bytes) minus 1"
        )
    if count < 0:
        if (available - offset) % itemsize:
            raise ValueError(
                f"buffer length ({available - offset} bytes) after offset ({offset} bytes) must be a multiple of "
                f"element size ({itemsize})"
            )
        return (available - offset) // itemsize
    if offset + count * itemsize > available:
        raise ValueError(
            f"requested buffer length ({count} * {itemsize} bytes) after offset ({offset} bytes) must not be greater "
            f"than actual buffer length ({available} bytes)"
        )
    return count


@composite
def from_file(
    filename,
    shared=None,
    size=0,
    *,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
) -> Tensor:
    """A 1-dim tensor of `size` elements over a file mapped to memory.

    With `shared` the file is made if needed, grown to that size, and receives what is written to the tensor.
    """
    import mmap
    import os

    made = fresh((0,), dtype, False, device, None, layout)
    nbytes = size * made.element_size()
    flags = os.O_RDWR | os.O_CREAT if shared else os.O_RDONLY
    descriptor = os.open(filename, flags, 0o600)
    try:
        if shared and os.fstat(descriptor).st_size < nbytes:
            os.ftruncate(descriptor, nbytes)
        if os.fstat(descriptor).st_size < nbytes:
            raise RuntimeError(f"file {filename!r} has {os.fstat(descriptor).st_size} bytes, {nbytes} are needed")
        if size == 0:
            return made
        mapped = mmap.mmap(descriptor, nbytes, access=mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY)
    finally:
        os.close(descriptor)
    return frombuffer(mapped, dtype=made.dtype, requires_grad=requires_grad)
