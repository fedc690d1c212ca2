"""Memory that processes share: segments, which are files in memory mapped by all who use them.

Which kind of file is decided by the sharing strategy:

* "file_descriptor": files without a name, passed on as descriptors. The system frees them when the last process that
  maps one has ended, however it ended; a process keeps one descriptor for each.
* "file_system": named files in /dev/shm that count their users, passed on by name. They take no descriptors and
  outlive their maker until they are received. A process that is killed leaves its count behind: Python's resource
  tracker then removes the file when the program ends.

Small blocks lie side by side in one segment, so that a model of a thousand parameters takes a few descriptors.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import mmap
import os
import threading
import weakref

from ..core.engine import Storage, borrow_storage
from .storage import SharedMemory, is_shared_memory

STRATEGIES = ("file_descriptor", "file_system")
FOLDER = "/dev/shm"
ROOM = 1 << 20  # bytes of a segment for small blocks
SMALL = 1 << 16  # bytes of the largest block that shares a segment
ALIGNMENT = 64

strategy = STRATEGIES[0]
_known: weakref.WeakValueDictionary[str, Segment] = weakref.WeakValueDictionary()
_lock = threading.RLock()
_room: Segment | None = None  # where the next small block lies, from byte `_used` on
_used = 0
_used_here: set[str] = set()  # names of segments that count this process as a user

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


def _after_fork() -> None:
    """A child must not put blocks where its parent will; another thread may have held the lock."""
    global _room, _lock
    _room, _lock = None, threading.RLock()
    _used_here.clear()


os.register_at_fork(after_in_child=_after_fork)


# -- segments ---------------------------------------------------------------------------------------
class Segment:
    """A mapped file: `nbytes` bytes at `address`, the same in all processes that know it by this `token`."""

    token: str
    address: int
    nbytes: int

    def _enter(self) -> None:
        _known[self.token] = self


class Anonymous(Segment):
    """A segment without a name; keeps its descriptor open."""

    def __init__(self, token: str, descriptor: int, nbytes: int):
        self.token, self.descriptor, self.nbytes = token, descriptor, nbytes
        try:
            self.address = _mapped(descriptor, nbytes)
        except BaseException:
            os.close(descriptor)
            raise
        weakref.finalize(self, _unmap, self.address, nbytes, descriptor).atexit = False
        self._enter()

    @staticmethod
    def made(nbytes: int) -> Anonymous:
        """A new segment."""
        try:
            descriptor = _anonymous_file()
        except OSError as error:
            raise _explained(error, nbytes) from error
        try:
            os.ftruncate(descriptor, nbytes)
        except OSError as error:
            os.close(descriptor)
            raise _explained(error, nbytes) from error
        return Anonymous(os.urandom(8).hex(), descriptor, nbytes)

    @staticmethod
    def received(token: str, descriptor: int, nbytes: int) -> Anonymous:
        """The segment of a descriptor that another process sent, which is taken over."""
        with _lock:
            found = _known.get(token)
            if found is None:
                return Anonymous(token, descriptor, nbytes)
        os.close(descriptor)
        return found


class Named(Segment):
    """A segment with a name, whose first bytes count who uses it: processes, and messages under way."""

    HEAD = ALIGNMENT

    def __init__(self, name: str, descriptor: int, nbytes: int):
        self.token, self.nbytes = name, nbytes
        try:
            start = _mapped(descriptor, nbytes + self.HEAD)
        finally:
            os.close(descriptor)
        self.address = start + self.HEAD
        _used_here.add(name)
        weakref.finalize(self, _end, name, start, nbytes + self.HEAD).atexit = False
        self._enter()

    @staticmethod
    def made(nbytes: int) -> Named:
        """A new segment, used by this process."""
        from multiprocessing import resource_tracker

        name = f"rushlight_{os.getpid()}_{os.urandom(8).hex()}"
        try:
            descriptor = os.open(_path(name), os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                os.posix_fallocate(descriptor, 0, nbytes + Named.HEAD)  # or else a write past what is free kills
            except OSError:
                os.close(descriptor)
                os.unlink(_path(name))
                raise
        except OSError as error:
            raise _explained(error, nbytes) from error
        resource_tracker.register(f"/{name}", "shared_memory")
        segment = Named(name, descriptor, nbytes)
        _count(name, 1)
        return segment

    def send(self) -> None:
        """Count a message under way."""
        try:
            _count(self.token, 1)
        except FileNotFoundError as error:
            raise RuntimeError(f"shared memory {self.token} is gone: its users have all left it") from error

    @staticmethod
    def received(name: str, nbytes: int) -> Named:
        """The segment of a message: what counted the message now counts this process."""
        with _lock:
            found = _known.get(name)
            if found is None:
                try:
                    return Named(name, os.open(_path(name), os.O_RDWR | os.O_CLOEXEC), nbytes)
                except FileNotFoundError as error:
                    raise RuntimeError(
                        f"shared memory {name} is gone: it was removed before it was received"
                    ) from error
        _count(name, -1)
        return found


def _end(name: str, start: int, nbytes: int) -> None:
    """This process uses a named segment no more. One inherited by a fork is not counted."""
    _leave(name)
    _unmap(start, nbytes)


def _leave(name: str) -> None:
    if name in _used_here:
        _used_here.discard(name)
        with contextlib.suppress(FileNotFoundError):
            _count(name, -1)


def leave_all() -> None:
    """The process ends: stop counting as a user of named segments."""
    for name in list(_used_here):
        _leave(name)


def _count(name: str, by: int) -> None:
    """Change the number of users; the last one removes the file."""
    import fcntl
    from multiprocessing import resource_tracker

    descriptor = os.open(_path(name), os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        users = int.from_bytes(os.pread(descriptor, 8, 0), "little", signed=True) + by
        os.pwrite(descriptor, users.to_bytes(8, "little", signed=True), 0)
        if users <= 0:
            os.unlink(_path(name))
            resource_tracker.unregister(f"/{name}", "shared_memory")
    finally:
        os.close(descriptor)


def _path(name: str) -> str:
    return f"{FOLDER}/{name}"


def _anonymous_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("rushlight", os.MFD_CLOEXEC)
    return os.open(FOLDER, os.O_RDWR | os.O_TMPFILE | os.O_CLOEXEC, 0o600)


def _mapped(descriptor: int, nbytes: int) -> int:
    """The address of a file's mapping."""
    address = _libc.mmap(None, nbytes, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, descriptor, 0)
    if address in (None, ctypes.c_void_p(-1).value):
        number = ctypes.get_errno()
        raise _explained(OSError(number, os.strerror(number)), nbytes)
    return address


def _unmap(address: int, nbytes: int, descriptor: int | None = None) -> None:
    _libc.munmap(address, nbytes)
    if descriptor is not None:
        os.close(descriptor)


def _explained(error: OSError, nbytes: int) -> RuntimeError:
    """What a user can do where there is no room, or no descriptor, for shared memory."""
    if error.errno == errno.EMFILE:
        way = "raise the limit (ulimit -n), or call multiprocessing.set_sharing_strategy('file_system')"
    elif error.errno == errno.ENOSPC:
        free = os.statvfs(FOLDER)
        way = (
            f"{FOLDER} has {free.f_bavail * free.f_frsize} bytes left. Make it larger (docker run --shm-size=8g), or "
            "call multiprocessing.set_sharing_strategy('file_descriptor'), which does not use it"
        )
    else:
        way = "free memory, or share less"
    return RuntimeError(f"unable to make {nbytes} bytes of shared memory: {os.strerror(error.errno)}; {way}")


# -- storages in segments ---------------------------------------------------------------------------
def shared_room(nbytes: int) -> Storage:
    """Fresh memory that other processes can map.

    Raises:
        RuntimeError: where there is no room, or no descriptor, for it
    """
    segment, offset = _place(nbytes)
    return borrow_storage(segment.address + offset, nbytes, SharedMemory(segment))


def _place(nbytes: int) -> tuple[Segment, int]:
    global _room, _used
    kind = Anonymous if strategy == "file_descriptor" else Named
    if nbytes > SMALL:
        return kind.made(nbytes), 0
    with _lock:
        if type(_room) is not kind or _used + nbytes > _room.nbytes:
            _room, _used = kind.made(ROOM), 0
        place = _room, _used
        _used += -(-nbytes // ALIGNMENT) * ALIGNMENT
    return place


def share(storage: Storage) -> bool:
    """Move a storage, with all that lies in it, to shared memory: whether that could be done."""
    if is_shared_memory(storage):
        return True
    if not storage.movable:
        return False
    target = shared_room(storage.nbytes)
    target.owner.left = storage.move(target)
    return True
