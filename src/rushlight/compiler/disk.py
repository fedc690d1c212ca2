"""A directory of small files that are private to the user, written whole and verified when read.

It is `$RUSHLIGHT_CACHE`, or `rushlight` in `$XDG_CACHE_HOME` or in `~/.cache`. Since machine code lies in it, a
directory that others could have written to is not used at all.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import os
import stat
import time
import warnings
from contextlib import suppress

LIMIT = 512 << 20  # bytes; beyond it the files that were longest not used go
DAY = 86400
_DIGEST = 32
# no links, not in children, and no waiting for the other end of what may be a pipe
_READING = os.O_RDONLY | sum(getattr(os, f"O_{flag}", 0) for flag in ("NOFOLLOW", "CLOEXEC", "NONBLOCK"))
_temporary_number = itertools.count()


def location() -> str:
    """Where the directory is or would be."""
    chosen = os.environ.get("RUSHLIGHT_CACHE")
    if chosen:
        return chosen
    home = os.environ.get("XDG_CACHE_HOME")
    if not home or not os.path.isabs(home):
        home = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(home, "rushlight")


@functools.cache
def _checked(path: str) -> str | None:
    """The path once it exists and is safe; None, quietly if it cannot be made, with a warning if it is not ours."""
    try:
        os.makedirs(path, 0o700, exist_ok=True)
        found = os.lstat(path)
    except FileExistsError:
        found = os.lstat(path)
    except OSError:
        return None
    reason = _objection(found)
    if reason:
        warnings.warn(
            f"rushlight: {path} {reason}, so compiled kernels are kept in memory only; "
            "make it a directory of your own with mode 0700, or name another in RUSHLIGHT_CACHE",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return path


def _objection(found: os.stat_result) -> str:
    """Why a directory cannot be trusted; empty if it can."""
    if stat.S_ISLNK(found.st_mode):
        return "is a symbolic link"
    if not stat.S_ISDIR(found.st_mode):
        return "is not a directory"
    if hasattr(os, "geteuid") and found.st_uid != os.geteuid():
        return "belongs to another user"
    return "is writable by others" if found.st_mode & 0o022 else ""


def _digest(name: str, payload: bytes) -> bytes:
    """Binds the contents to the name, so that a file cannot stand in for another."""
    return hashlib.sha256(name.encode() + b"\0" + payload).digest()


def read(name: str) -> bytes | None:
    """The contents written under `name`; None if there are none. Damaged files are deleted."""
    directory = _checked(location())
    if directory is None:
        return None
    path = os.path.join(directory, name)
    try:
        file = os.open(path, _READING)
    except OSError:
        return None
    try:
        found = os.fstat(file)
        content = _read_all(file, found.st_size)
    except OSError:
        return None
    finally:
        os.close(file)
    payload = content[_DIGEST:]
    if content[:_DIGEST] != _digest(name, payload):
        _remove(path)
        return None
    if time.time() - found.st_mtime > DAY:
        _mark_used(path)
    return payload


def _read_all(file: int, size: int) -> bytes:
    content = os.read(file, size)
    while len(content) < size and (more := os.read(file, size - len(content))):
        content += more
    return content


def _mark_used(path: str) -> None:
    """Make the file young again; the directory may be read-only."""
    with suppress(OSError):
        os.utime(path)


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)


def write(name: str, payload: bytes) -> None:
    """Keep `payload` under `name` if possible: readers see all of it or nothing."""
    directory = _checked(location())
    if directory is None:
        return
    temporary = os.path.join(directory, f"{os.getpid()}-{next(_temporary_number)}.tmp")
    try:
        file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600)
    except OSError:
        return
    try:
        with open(file, "wb") as stream:
            stream.write(_digest(name, payload) + payload)
        os.replace(temporary, os.path.join(directory, name))
    except OSError:
        _remove(temporary)
        return
    _account(directory, len(payload) + _DIGEST)


_sizes: dict[str, int] = {}


def _account(directory: str, added: int) -> None:
    """Keep the directory's size within the limit; other processes' files count from the first write on."""
    total = _sizes.get(directory)
    total = sum(size for _, size, _ in _files(directory)) if total is None else total + added
    _sizes[directory] = prune(directory, LIMIT) if total > LIMIT else total


def _files(directory: str) -> list[tuple[float, int, str]]:
    """(last use, size, path) of every file."""
    files = []
    with os.scandir(directory) as entries:
        for entry in entries:
            try:
                found = entry.stat(follow_symlinks=False)
            except OSError:
                continue  # another process removed it
            if stat.S_ISREG(found.st_mode):
                files.append((found.st_mtime, found.st_size, entry.path))
    return files


def prune(directory: str, limit: int) -> int:
    """Remove what was longest not used until three quarters of the limit are left; returns the size then."""
    files = sorted(_files(directory))
    total = sum(size for _, size, _ in files)
    for _, size, path in files:
        if total <= limit * 3 // 4:
            break
        _remove(path)
        total -= size
    return total
