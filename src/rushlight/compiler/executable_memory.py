"""Memory for machine code, packed densely and never writable at the address where it runs.

Each chunk is one piece of anonymous memory mapped twice: code is written through one mapping and runs in the other.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
import threading

from .object_file import ALIGNMENT, Image

CHUNK = 1 << 20
_lock = threading.Lock()
_chunk: _Chunk | None = None


class _Chunk:
    """A piece of memory being filled; `writable` and `executable` are the addresses of its two mappings."""

    def __init__(self, size: int):
        self.size, self.used, self.process = size, 0, os.getpid()
        file = os.memfd_create("rushlight", os.MFD_CLOEXEC)
        try:
            os.ftruncate(file, size)
            self.writable = _map(file, size, mmap.PROT_READ | mmap.PROT_WRITE)
            self.executable = _map(file, size, mmap.PROT_READ | mmap.PROT_EXEC)
        finally:
            os.close(file)


def _map(file: int, size: int, protection: int) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
    address = libc.mmap(None, size, protection, mmap.MAP_SHARED, file, 0)
    if address is None or address == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "mmap of memory for machine code")
    return address


def available() -> bool:
    """Whether images can be placed here; sandboxes may forbid it."""
    try:
        with _lock:
            _room(0)
    except (OSError, AttributeError):
        return False
    return True


def place(image: Image) -> int:
    """Copy an image to its place and return the address. Raises OSError without memory or a needed function."""
    code = bytearray(image.code)
    with _lock:
        chunk = _room(len(code))
        address = chunk.executable + chunk.used
        for offset, addend in image.bases:
            struct.pack_into("<Q", code, offset, address + addend)
        for offset, name in image.externals:
            struct.pack_into("<Q", code, offset, _function(name))
        ctypes.memmove(chunk.writable + chunk.used, bytes(code), len(code))
        chunk.used += len(code) + (-len(code) % ALIGNMENT)
    return address


def _room(size: int) -> _Chunk:
    """A chunk with room. One inherited by a fork is shared with the parent, who goes on writing: it is left alone."""
    global _chunk
    if _chunk is None or _chunk.process != os.getpid() or _chunk.used + size > _chunk.size:
        _chunk = _Chunk(max(CHUNK, size + (-size % mmap.PAGESIZE)))
    return _chunk


def _function(name: str) -> int:
    """The address of a function of the C or mathematics library."""
    for library in (None, "libm.so.6"):
        try:
            return ctypes.cast(getattr(ctypes.CDLL(library), name), ctypes.c_void_p).value
        except (AttributeError, OSError):
            continue
    raise OSError(f"no function {name} in this process")


def _renew_lock() -> None:
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)  # another thread may have held it
