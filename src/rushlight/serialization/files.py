"""Opening files to load: which kind they are, and errors that name them."""

from __future__ import annotations

import io
import mmap as mapping
import os

from ..core.engine import require_device
from .archive import DESCRIPTION, Archive, Reader
from .tree import Damaged, Decoder


def load_file(f, map_location, mapped: bool):
    """See `load`."""
    check_location(map_location)
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return _load(file, os.fspath(f), mapped)
    if mapped:
        raise ValueError("load: mmap=True needs a path")
    if not hasattr(f, "read"):
        raise TypeError(f"load: expected a path or a file with a read method, got {type(f).__name__}")
    if not (hasattr(f, "seekable") and f.seekable()):
        f = io.BytesIO(f.read())
    return _load(f, getattr(f, "name", "the file"), False)


def check_location(map_location) -> None:
    """RuntimeError for places that do not exist; a callable or a dictionary can only lead to the CPU here."""
    if map_location is None or callable(map_location):
        return
    for place in map_location.values() if isinstance(map_location, dict) else [map_location]:
        require_device(place)


def _load(file, name, mapped: bool):
    try:
        file.seek(0)
        if file.read(len(OLD_FORM)) == OLD_FORM:
            raise Damaged("a PyTorch file in the form from before 1.6: save it anew with a later PyTorch")
        archive = Archive(file)
        if DESCRIPTION not in archive.members:
            return _load_foreign(archive)
        pages = mapping.mmap(file.fileno(), 0, access=mapping.ACCESS_COPY) if mapped else None
        reader = Reader(archive, pages)
        return Decoder(reader.storage).build(reader.description)
    except Damaged as damage:
        raise RuntimeError(f"load: {name}: {damage}. The file is damaged, or not what it claims to be") from None


OLD_FORM = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."  # how PyTorch's files began before 1.6


def _load_foreign(archive: Archive):
    """A PyTorch file: an archive with a member `<name>/data.pkl`."""
    prefix = next((member[: -len("data.pkl")] for member in archive.members if member.endswith("/data.pkl")), None)
    if prefix is None:
        raise Damaged(f"no member {DESCRIPTION!r}")
    from .torch_file import read_torch_file

    return read_torch_file(archive, prefix)
