"""From an object file to an image: bytes of machine code that run wherever they are placed.

Kernels need so little of a linker that it fits here: an object's sections are laid out one after another and the
distances between them are filled in. What depends on the address is left as a list of words to patch. Only ELF for
x86-64 is understood; for anything else, or a relocation that is not known, there is no image.
"""

from __future__ import annotations

import struct

ALIGNMENT = 64
X86_64 = 62
PROGBITS, SYMTAB, RELA, NOBITS = 1, 2, 4, 8
WRITE, ALLOC, EXECUTE, MERGE_STRINGS = 1, 2, 4, 0x30
LOCAL = 0
# relocation types of the x86-64 ABI
ABSOLUTE_64, RELATIVE_32, CALL_32, SLOT_32, SLOT_32_RELAXED, SLOT_32_RELAXED_REX = 1, 2, 4, 9, 41, 42
RELATIVE, SLOT = (RELATIVE_32, CALL_32), (SLOT_32, SLOT_32_RELAXED, SLOT_32_RELAXED_REX)
JUMP_THROUGH_SLOT = b"\xff\x25\x02\x00\x00\x00\x00\x00"  # jmp [rip + 2]: the address follows, at a multiple of 8


class Image:
    """Machine code and what is left to do when it is placed, at a multiple of 64.

    symbols    offsets of the functions that it defines
    bases      (offset, addend): the 8 bytes there become the address of the image + addend
    externals  (offset, name): the 8 bytes there become the address of a function of the process
    """

    __slots__ = ("bases", "code", "externals", "symbols")

    def __init__(self, code: bytes = b""):
        self.code = bytearray(code)
        self.symbols: dict[str, int] = {}
        self.bases: list[tuple[int, int]] = []
        self.externals: list[tuple[int, str]] = []

    def to_bytes(self) -> bytes:
        """A header of lines, an empty line, the code."""
        lines = [f"symbol {offset} {name}" for name, offset in self.symbols.items()]
        lines += [f"base {offset} {addend}" for offset, addend in self.bases]
        lines += [f"external {offset} {name}" for offset, name in self.externals]
        return "\n".join(lines).encode() + b"\n\n" + bytes(self.code)

    @staticmethod
    def from_bytes(content: bytes) -> Image:
        header, _, code = content.partition(b"\n\n")
        image = Image(code)
        for line in header.decode().splitlines():
            kind, offset, rest = line.split(" ", 2)
            if kind == "symbol":
                image.symbols[rest] = int(offset)
            elif kind == "base":
                image.bases.append((int(offset), int(rest)))
            else:
                image.externals.append((int(offset), rest))
        return image


class Unsupported(Exception):
    """The object file needs a real linker."""


class _Section:
    __slots__ = ("address", "alignment", "content", "flags", "info", "kind", "link", "name")

    def __init__(self, name: str, kind: int, flags: int, content: bytes, link: int, info: int, alignment: int):
        self.name, self.kind, self.flags, self.content = name, kind, flags, content
        self.link, self.info, self.alignment = link, info, alignment
        self.address = -1  # in the image


def link(*objects: bytes) -> Image:
    """The image of object files, whose public names are the same names in all of them. Raises `Unsupported`."""
    image, tables = Image(), []
    for code in objects:
        if code[:5] != b"\x7fELF\x02" or struct.unpack_from("<H", code, 18)[0] != X86_64:
            raise Unsupported("not an ELF object for x86-64")
        sections = _sections(code)
        for section in sections:
            if section.flags & ALLOC and section.content:
                _lay_out(image, section)
        symbols = _symbols(next(s for s in sections if s.kind == SYMTAB), sections)
        image.symbols |= {name: offset for name, public, offset in symbols if public and offset is not None}
        tables.append((sections, symbols))
    for sections, symbols in tables:
        known = [(name, public, _found(image, name, public, offset)) for name, public, offset in symbols]
        for section in sections:
            if section.kind == RELA and sections[section.info].address >= 0:
                _relocate(image, section, sections[section.info], known)
    return image


def _found(image: Image, name: str, public: bool, offset: int | None) -> int | None:
    """The offset of a symbol that another object may define."""
    return image.symbols.get(name) if public and offset is None else offset


def _sections(code: bytes) -> list[_Section]:
    (start,), (size, count, name_row) = struct.unpack_from("<Q", code, 40), struct.unpack_from("<HHH", code, 58)
    rows = [struct.unpack_from("<IIQQQQIIQQ", code, start + i * size) for i in range(count)]
    names = code[rows[name_row][4] :]
    result = []
    for name, kind, flags, _, offset, size, link, info, alignment, _ in rows:
        content = b"\0" * size if kind == NOBITS else code[offset : offset + size]
        result.append(_Section(_text(names, name), kind, flags, content, link, info, max(alignment, 1)))
    return result


def _text(table: bytes, offset: int) -> str:
    return table[offset : table.index(b"\0", offset)].decode()


def _lay_out(image: Image, section: _Section) -> None:
    """Append the section. Tables of addresses count as writable to linkers but not to the program."""
    if section.flags & ~(WRITE | ALLOC | EXECUTE | MERGE_STRINGS) or section.alignment > ALIGNMENT:
        raise Unsupported(f"section {section.name}")
    if section.flags & WRITE and not section.name.startswith(".data.rel.ro"):
        raise Unsupported(f"writable section {section.name}")
    _append(image, section.content, section.alignment)
    section.address = len(image.code) - len(section.content)


def _append(image: Image, content: bytes, alignment: int) -> int:
    image.code += b"\0" * (-len(image.code) % alignment)
    image.code += content
    return len(image.code) - len(content)


def _symbols(table: _Section, sections: list[_Section]) -> list[tuple[str, bool, int | None]]:
    """(name, whether other modules see it, offset in the image or None) of every symbol."""
    names = sections[table.link].content
    result = []
    for name, info, _, index, value, _ in struct.iter_unpack("<IBBHQQ", table.content):
        inside = 0 < index < len(sections) and sections[index].address >= 0
        result.append((_text(names, name), info >> 4 != LOCAL, sections[index].address + value if inside else None))
    return result


def _relocate(image: Image, relocations: _Section, section: _Section, symbols) -> None:
    for offset, info, addend in struct.iter_unpack("<QQq", relocations.content):
        kind, (name, _, target) = info & 0xFFFFFFFF, symbols[info >> 32]
        place = section.address + offset
        if kind == ABSOLUTE_64:
            _word(image, place, name, target, addend)
            continue
        if kind in SLOT:
            target = _slot(image, name, target)
        elif kind not in RELATIVE:
            raise Unsupported(f"relocation type {kind}")
        elif target is None:
            target = _stub(image, name)
        struct.pack_into("<i", image.code, place, target + addend - place)


def _word(image: Image, place: int, name: str, target: int | None, addend: int) -> None:
    """An address in 8 bytes, known when the image is placed."""
    if target is not None:
        image.bases.append((place, target + addend))
    elif addend:
        raise Unsupported("an address inside another module")
    else:
        image.externals.append((place, name))


def _slot(image: Image, name: str, target: int | None) -> int:
    place = _append(image, bytes(8), 8)
    _word(image, place, name, target, 0)
    return place


def _stub(image: Image, name: str) -> int:
    """A jump to a function of the process, which may be too far away for a call."""
    place = _append(image, JUMP_THROUGH_SLOT + bytes(8), 8)
    image.externals.append((place + 8, name))
    return place
