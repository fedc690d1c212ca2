"""From LLVM IR text to the address of a function, through memory and disk.

Machine code is kept under the hash of everything it depends on: the text, the processor, LLVM, the form of these files.
A process that finds all of its kernels on disk never loads LLVM.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterable
from contextlib import contextmanager, suppress
from typing import NamedTuple, Protocol

from . import disk, executable_memory, object_file
from .parts import parts_of
from .target import host

FORMAT = "1"  # of the files
IMAGE, OBJECT = b"image\n", b"object\n"


class Statistics(NamedTuple):
    """How often code was compiled by LLVM, read from disk, or already in this process's memory."""

    compiled: int
    loaded_from_disk: int
    in_memory: int


class Addresses(Protocol):
    """The functions of a module that is in memory."""

    def __getitem__(self, name: str) -> int: ...


_lock = threading.Lock()
_modules: dict[str, Addresses] = {}  # key to the addresses of a module's functions
_objects: dict[str, bytes] = {}  # key of a part of modules to its object file
_building: dict[str, threading.Lock] = {}
_counts = {"compiled": 0, "loaded_from_disk": 0, "in_memory": 0}


def statistics() -> Statistics:
    """Counts since the process started."""
    return Statistics(**_counts)


def _count(what: str) -> None:
    with _lock:
        _counts[what] += 1


def load(name: str, text: str) -> int:
    """The address of `@name` in the module `text`, from memory, from disk, or compiled now.

    Equal texts are compiled once; different ones may be compiled by several threads at the same time. Raises
    RuntimeError if LLVM refuses the text and KeyError if it does not define `@name`.
    """
    return _module(_key(text), text)[name]


def load_all(kernels: Iterable[tuple[str, str]]) -> list[int]:
    """The addresses for many (name, text) pairs; those that must be compiled keep all processors busy."""
    kernels = list(kernels)
    missing = {_key(text): text for _, text in kernels}
    missing = [(key, text) for key, text in missing.items() if key not in _modules and not _from_disk(key)]
    if executable_memory.available():
        _compile_parts(part for _, text in missing for part in parts_of(text))
    _in_threads(lambda job: _module(*job), missing)
    return [load(name, text) for name, text in kernels]


def _key(text: str) -> str:
    target = host()
    parts = (FORMAT, target.compiler, target.triple, target.cpu, target.features, text)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _module(key: str, text: str) -> Addresses:
    if key in _modules:
        _count("in_memory")
        return _modules[key]
    with _one_at_a_time(key):
        if key in _modules:
            _count("in_memory")
        elif not _from_disk(key):
            _compile(key, text)
    return _modules[key]


@contextmanager
def _one_at_a_time(key: str):
    """Other threads that want the same wait until it is there."""
    with _lock:
        building = _building.setdefault(key, threading.Lock())
    try:
        with building:
            yield
    finally:
        with _lock:
            _building.pop(key, None)


def _from_disk(key: str) -> bool:
    """Put a module in place from its file; False if there is none."""
    content = disk.read(key)
    if content is None or (content.startswith(IMAGE) and not executable_memory.available()):
        return False
    _modules[key] = _place(content)
    _count("loaded_from_disk")
    return True


def _compile(key: str, text: str) -> None:
    content = _linked(text)
    _modules[key] = _place(content)
    _count("compiled")
    disk.write(key, content)


def _linked(text: str) -> bytes:
    """What is kept of a module: its image, or all of its object file where only LLVM can link it."""
    available = executable_memory.available()
    parts = parts_of(text) if available else []
    _compile_parts(parts)
    objects = [_object(part) for part in parts] or [_emitted(text)]
    if available:
        with suppress(object_file.Unsupported):
            return IMAGE + object_file.link(*objects).to_bytes()
    return OBJECT + (_emitted(text) if parts else objects[0])


def _compile_parts(parts: Iterable[str]) -> None:
    """Compile those parts that are not ready on all processors, the largest first."""
    missing = {part for part in parts if "part-" + _key(part) not in _objects}
    _in_threads(_object, sorted(missing, key=lambda part: (-len(part), part)))


def _object(part: str) -> bytes:
    """The object file of a part, from memory, from disk, or compiled now."""
    key = "part-" + _key(part)
    with _one_at_a_time(key):
        if key not in _objects:
            found = disk.read(key)
            _objects[key] = found or _emitted(part)
            if not found:
                disk.write(key, _objects[key])
        return _objects[key]


def _emitted(text: str) -> bytes:
    from .machine_code import emit

    return emit(text)


def _place(content: bytes) -> Addresses:
    if content.startswith(IMAGE):
        image = object_file.Image.from_bytes(content[len(IMAGE) :])
        base = executable_memory.place(image)
        return {name: base + offset for name, offset in image.symbols.items()}
    from .machine_code import Linked

    return Linked(content[len(OBJECT) :])


def _in_threads(work, jobs: list) -> None:
    """Do the jobs on as many threads as there are processors; the first error is raised at the end."""
    remaining, errors = iter(jobs), []

    def run() -> None:
        while not errors:
            with _lock:
                job = next(remaining, None)
            if job is None:
                return
            try:
                work(job)
            except BaseException as error:
                errors.append(error)

    count = min(len(jobs), len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    threads = [threading.Thread(target=run) for _ in range(count - 1)]
    for thread in threads:
        thread.start()
    run()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def _renew_locks() -> None:
    global _lock
    _lock = threading.Lock()
    _building.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)  # another thread may have held them
