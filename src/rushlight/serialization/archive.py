"""The zip archive of a saved file: written aligned and atomically, read with distrust."""

from __future__ import annotations

import ctypes
import errno
import itertools
import json
import os
import struct
import sys
import tempfile
import zipfile
import zlib
from contextlib import contextmanager

from .. import ops
from ..core.engine import borrow_storage
from ..ir.dtypes import uint8
from .tree import Damaged

DESCRIPTION = "rushlight.json"
VERSION = 1
ALIGNMENT = 64
LOCAL_HEADER = struct.Struct("<4s5H3I2H")
PADDING_FIELD = 0x5241  # the id of our extra field that fills up to the alignment
ZIP64_FIELD = 20  # bytes of the extra field that zipfile adds for large members


def memory_of(storage) -> memoryview:
    """The bytes of a storage."""
    array = (ctypes.c_char * storage.nbytes).from_address(storage.address) if storage.nbytes else b""
    return memoryview(array).cast("B")


# ---- writing --------------------------------------------------------------------------------------------------------


def write(file, description, storages: list) -> None:
    """Writes the archive to an open file."""
    header = {"format": "rushlight", "version": VERSION, "byteorder": sys.byteorder}
    header["storages"] = [storage.nbytes for storage in storages]
    text = json.dumps({**header, "value": description}, separators=(",", ":"), allow_nan=False)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        _add(archive, DESCRIPTION, text.encode())
        for number, storage in enumerate(storages):
            _add(archive, f"data/{number}", memory_of(storage))


def _add(archive: zipfile.ZipFile, name: str, content) -> None:
    info = zipfile.ZipInfo(name)  # dated 1980: equal values give equal files
    large = len(content) * 1.05 > zipfile.ZIP64_LIMIT
    start = archive.fp.tell() + LOCAL_HEADER.size + len(name) + 4 + (ZIP64_FIELD if large else 0)
    padding = -start % ALIGNMENT
    info.extra = struct.pack("<HH", PADDING_FIELD, padding) + bytes(padding)
    archive.writestr(info, content)


@contextmanager
def open_for_writing(path):
    """A file that takes the place of `path` when the block ends without an error, and vanishes otherwise."""
    target = os.path.realpath(os.fspath(path))
    if os.path.exists(target) and not os.path.isfile(target):  # a pipe or a device can not be replaced
        with open(target, "wb") as file:
            yield file
        return
    descriptor, temporary = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=os.path.dirname(target) or ".")
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _mode(target))
        os.replace(temporary, target)
    except OSError as error:
        os.unlink(temporary)
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            old = "; the file that was there is unchanged" if os.path.exists(target) else ""
            raise OSError(error.errno, f"save: {os.strerror(error.errno)}{old}", str(path)) from None
        raise
    except BaseException:
        os.unlink(temporary)
        raise


def _mode(target: str) -> int:
    """The permissions of the file to replace, or those of a new one."""
    try:
        return os.stat(target).st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


# ---- reading --------------------------------------------------------------------------------------------------------


class Archive:
    """A zip archive whose members are uncompressed and disjoint; their places in the file are checked."""

    def __init__(self, file):
        self.file = file
        self.size = file.seek(0, os.SEEK_END)
        try:
            with zipfile.ZipFile(file) as archive:
                infos = archive.infolist()
        except (zipfile.BadZipFile, zipfile.LargeZipFile, ValueError, NotImplementedError, struct.error) as error:
            raise Damaged(f"no readable zip archive ({error})") from None
        self.members: dict[str, tuple[int, int, int]] = {}  # name -> offset, bytes, checksum
        ranges = []
        for info in infos:
            start = self._data_offset(info)
            if info.filename in self.members:
                raise Damaged(f"two members {info.filename[:60]!r}")
            self.members[info.filename] = start, info.file_size, info.CRC
            ranges.append((info.header_offset, start + info.file_size))
        ranges.sort()
        if any(end > following for (_, end), (following, _) in itertools.pairwise(ranges)):
            raise Damaged("members that overlap")

    def _data_offset(self, info: zipfile.ZipInfo) -> int:
        name = info.filename[:60]
        if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
            raise Damaged(f"member {name!r} is compressed")
        if info.flag_bits & 0x1:
            raise Damaged(f"member {name!r} is encrypted")
        self.file.seek(max(0, info.header_offset))
        header = self.file.read(LOCAL_HEADER.size)
        if len(header) != LOCAL_HEADER.size or header[:4] != b"PK\3\4":
            raise Damaged(f"no header of member {name!r}")
        name_size, extra_size = LOCAL_HEADER.unpack(header)[-2:]
        if self.file.read(name_size).decode("utf-8", "replace") != info.orig_filename:
            raise Damaged(f"another name in the header of member {name!r}")
        start = info.header_offset + LOCAL_HEADER.size + name_size + extra_size
        if start + info.file_size > self.size:
            raise Damaged(f"member {name!r} reaches beyond the end of the file")
        return start

    def read_into(self, name: str, target: memoryview) -> None:
        """Reads a member of exactly the target's size and compares its checksum."""
        start, _, checksum = self.members[name]
        self.file.seek(start)
        done = 0
        while done < len(target):
            part = target[done : done + (1 << 24)]
            count = _read_into(self.file, part)
            if not count:
                raise Damaged(f"the end of the file within member {name!r}")
            done += count
        if zlib.crc32(target) != checksum:
            raise Damaged(f"member {name!r} does not have its checksum")

    def read(self, name: str) -> bytes:
        """A member's bytes."""
        content = bytearray(self.members[name][1])
        self.read_into(name, memoryview(content))
        return bytes(content)


def _read_into(file, target: memoryview) -> int:
    if hasattr(file, "readinto"):
        return file.readinto(target)
    content = file.read(len(target))
    target[: len(content)] = content
    return len(content)


class Reader:
    """The description and the storages of a file that `write` wrote."""

    def __init__(self, archive: Archive, mapped=None):
        self.archive, self.mapped = archive, mapped
        try:
            header = json.loads(archive.read(DESCRIPTION).decode())
        except (ValueError, RecursionError) as error:
            raise Damaged(f"{DESCRIPTION} is no JSON ({str(error)[:100]})") from None
        if not isinstance(header, dict) or header.get("format") != "rushlight" or "value" not in header:
            raise Damaged(f"{DESCRIPTION} describes no value")
        if header.get("version") != VERSION:
            raise Damaged(f"version {str(header.get('version'))[:20]} of the format; this is version {VERSION}")
        if header.get("byteorder") != sys.byteorder:
            raise Damaged(f"bytes in {str(header.get('byteorder'))[:20]} order on a {sys.byteorder}-endian machine")
        self.description = header["value"]
        self._check_members(header.get("storages"))
        self._storages: dict[int, object] = {}

    def _check_members(self, sizes) -> None:
        if not isinstance(sizes, list):
            raise Damaged("no list of storages")
        expected = {DESCRIPTION} | {f"data/{number}" for number in range(len(sizes))}
        if expected != set(self.archive.members):
            odd = sorted(expected.symmetric_difference(self.archive.members))[0]
            raise Damaged(f"member {odd[:60]!r} is missing or does not belong here")
        for number, size in enumerate(sizes):
            if self.archive.members[f"data/{number}"][1] != size:
                raise Damaged(f"storage {number} does not have the size that is said of it")
        self.count = len(sizes)

    def storage(self, number: int):
        """A storage, read when it is first asked for."""
        if not 0 <= number < self.count:
            raise Damaged(f"storage {number} of {self.count}")
        if number not in self._storages:
            self._storages[number] = self._load(f"data/{number}")
        return self._storages[number]

    def _load(self, name: str):
        start, nbytes, _ = self.archive.members[name]
        if self.mapped is not None:
            whole = (ctypes.c_char * len(self.mapped)).from_buffer(self.mapped)
            return borrow_storage(ctypes.addressof(whole) + start, nbytes, whole)
        return read_storage(self.archive, name)


def read_storage(archive: Archive, name: str):
    """A member as a storage of its own."""
    nbytes = archive.members[name][1]
    storage = ops.empty(nbytes, dtype=uint8)._storage
    archive.read_into(name, memory_of(storage)[:nbytes])
    return storage
