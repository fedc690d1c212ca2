"""Messages between processes whose tensors travel in shared memory.

A worker packs a batch into a segment: anonymous memory that both processes map. The receiver's tensors lie in the
segment itself. When the last of them is gone the segment is free, which the worker learns with its next task: in the
steady state batch after batch goes through the same few segments, without a copy here, a new mapping or a page fault.
"""

from __future__ import annotations

import ctypes
import io
import mmap
import os
import pickle
import tempfile
import weakref
from collections import deque

from ..core import Tensor
from ..core.engine import borrow_storage, make_tensor

ALIGNMENT = 64
LEAST = 1 << 16  # bytes of the smallest segment


def anonymous_file(nbytes: int) -> int:
    """A descriptor of memory without a name."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("rushlight", os.MFD_CLOEXEC)
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.ftruncate(descriptor, nbytes)
    return descriptor


def tensor_in(memory, offset: int, shape: tuple, dtype) -> Tensor:
    """A contiguous tensor in a ctypes array, which it keeps alive."""
    nbytes = dtype.itemsize
    for size in shape:
        nbytes *= size
    storage = borrow_storage(ctypes.addressof(memory) + offset, nbytes, memory)
    return make_tensor(storage, 0, shape, None, dtype)


class _Packer(pickle.Pickler):
    """Pickles an object; its tensors are collected in `tensors` and stand in the bytes as numbers."""

    def __init__(self, file):
        super().__init__(file, protocol=5)
        self.tensors: dict[int, tuple[int, Tensor]] = {}

    def persistent_id(self, value):
        if isinstance(value, Tensor) and not value._layout.sparse:  # sparse and quantized ones pickle their parts
            return self.tensors.setdefault(id(value), (len(self.tensors), value))[0]
        return None


class _Unpacker(pickle.Unpickler):
    def __init__(self, file, tensors: list[Tensor]):
        super().__init__(file)
        self.tensors = tensors

    def persistent_load(self, number: int) -> Tensor:
        return self.tensors[number]


class Writer:
    """The sending side: packs objects into segments."""

    def __init__(self):
        self.segments: dict[int, tuple[mmap.mmap, ctypes.Array]] = {}
        self.free: set[int] = set()
        self.count = 0

    def release(self, numbers) -> None:
        """The receiver needs these segments no more."""
        self.free.update(numbers)

    def pack(self, value) -> tuple[dict, int | None]:
        """What to send for an object: a small message, and the descriptor of a new segment if there is one.

        The caller sends the descriptor along and closes it.
        """
        file = io.BytesIO()
        packer = _Packer(file)
        packer.dump(value)
        tensors = [tensor for _, tensor in packer.tensors.values()]
        pickled = file.getbuffer()
        offset, table = _aligned(len(pickled)), []
        for tensor in tensors:
            table.append((offset, tuple(tensor.shape), tensor.dtype.name))
            offset += _aligned(tensor.nbytes)
        number, memory, descriptor = self._segment(offset)
        memoryview(memory).cast("B")[: len(pickled)] = pickled
        for tensor, (start, shape, _) in zip(tensors, table):
            tensor_in(memory, start, shape, tensor.dtype).copy_(tensor.detach())
        return {"segment": number, "size": len(memory), "pickled": len(pickled), "tensors": table}, descriptor

    def _segment(self, nbytes: int) -> tuple[int, ctypes.Array, int | None]:
        fitting = [n for n in self.free if nbytes <= len(self.segments[n][1])]
        if fitting:
            number = min(fitting, key=lambda n: len(self.segments[n][1]))
            self.free.discard(number)
            return number, self.segments[number][1], None
        size = max(LEAST, 1 << (nbytes - 1).bit_length())
        descriptor = anonymous_file(size)
        mapped = mmap.mmap(descriptor, size)
        memory = (ctypes.c_char * size).from_buffer(mapped)
        self.count += 1
        self.segments[self.count] = mapped, memory
        return self.count, memory, descriptor


def _aligned(nbytes: int) -> int:
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


class Reader:
    """The receiving side: objects whose tensors lie in the segments."""

    def __init__(self):
        self.segments: dict[int, mmap.mmap] = {}
        self.released: deque[int] = deque()  # appended to by finalizers, in any thread

    def take_released(self) -> list[int]:
        """The segments that became free since the last call."""
        return [self.released.popleft() for _ in range(len(self.released))]

    def unpack(self, message: dict, descriptor: int | None):
        """The object of a message; takes over the descriptor of a new segment."""
        from ..ir.dtypes import dtype_named

        number = message["segment"]
        if descriptor is not None:
            self.segments[number] = mmap.mmap(descriptor, message["size"])
            os.close(descriptor)
        # one object a use of the segment: when the tensors over it are gone, so is it
        lease = (ctypes.c_char * message["size"]).from_buffer(self.segments[number])
        weakref.finalize(lease, self.released.append, number).atexit = False
        tensors = [tensor_in(lease, start, shape, dtype_named(name)) for start, shape, name in message["tensors"]]
        pickled = memoryview(lease).cast("B")[: message["pickled"]]
        return _Unpacker(io.BytesIO(pickled), tensors).load()
