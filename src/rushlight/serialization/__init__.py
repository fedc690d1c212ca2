"""`save` and `load`: containers of tensors in files that hold no code.

A file is a zip archive without compression: `rushlight.json` describes the value, and every storage is one member
`data/0`, `data/1`, ... of raw little-endian bytes at a multiple of 64 bytes. Tensors that share a storage share it
again after loading, views stay views. Nothing in a file is executed, and everything in it is checked before use.
"""

from __future__ import annotations

import os

from .archive import open_for_writing, write
from .files import load_file
from .tree import Encoder

__all__ = ["load", "save"]


def save(obj, f, pickle_module=None, pickle_protocol=None, _use_new_zipfile_serialization: bool = True) -> None:
    """Writes tensors, NumPy arrays, numbers, strings, bytes, and dicts, lists, tuples and sets of these to a file.

    `f` is a path or a writable binary file. A path is replaced only when the new file is complete: after an error (a
    full disk, say) the old one is still there. TypeError names the place of a value that can not be saved; for
    modules and optimizers save their `state_dict()`. The other arguments are for programs that pass them and change
    nothing.
    """
    encoder = Encoder()
    description = encoder.describe(obj)
    if isinstance(f, (str, os.PathLike)):
        with open_for_writing(f) as file:
            write(file, description, encoder.storages)
    elif hasattr(f, "write"):
        write(f, description, encoder.storages)
    else:
        raise TypeError(f"save: expected a path or a file with a write method, got {type(f).__name__}")


def load(f, map_location=None, pickle_module=None, *, weights_only: bool | None = None, mmap: bool | None = None, **_):
    """Reads what `save` wrote, or a PyTorch file with tensors and plain containers.

    `f` is a path or a readable binary file. `map_location` is where tensors go: a device or its name. With `mmap` the
    tensors lie in the file's pages, copied when written to, and are read (unchecked) when they are touched.
    RuntimeError for a file that is truncated, damaged or not what it claims to be. `weights_only` changes nothing: no
    file can make this function run code.
    """
    return load_file(f, map_location, bool(mmap))
