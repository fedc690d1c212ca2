"""What is sorted: elements as unsigned integers of the same order, packed with their positions.

Keys order as PyTorch orders elements: -0 equals 0, and NaN comes after everything (first when descending). Equal
elements have equal keys, and positions keep them apart, so that any sort of packed records is stable.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..ir.dtypes import DType
from .index_layout import i64
from .text import Function, V, element, lanes, vector

INFINITY = {"float16": 0x7C00, "bfloat16": 0x7F80, "float32": 0x7F800000, "float64": 0x7FF << 52}


def key_type(dtype: DType) -> str:
    return f"i{8 * dtype.itemsize}"


def order_key(f: Function, bits: V, dtype: DType, descending: bool) -> V:
    """The key of elements given by their bits, as one integer or a vector of them."""
    type = bits.type
    width = 8 * dtype.itemsize
    key, top = bits, f.const(-(1 << (width - 1)), type)
    if dtype.kind == "i":
        key = f.binary("xor", bits, top)
    elif dtype.kind == "f":
        magnitude = f.binary("and", bits, f.const((1 << (width - 1)) - 1, type))
        bits = f.select(f.compare("eq", magnitude, f.const(0, type)), f.const(0, type), bits)
        # negative numbers order backwards: flip all bits, otherwise the sign only
        flip = f.binary("or", f.binary("ashr", bits, f.const(width - 1, type)), top)
        nan = f.compare("ugt", magnitude, f.const(INFINITY[dtype.name], type))
        key = f.select(nan, f.const(-1, type), f.binary("xor", bits, flip))
    return f.binary("xor", key, f.const(-1, type)) if descending else key


@dataclass(frozen=True)
class Record:
    """A key and a position side by side in memory.

    Keys of up to 32 bits share one i64 with the position; wide records (64-bit keys, or rows of 2**31 elements and
    more) have an i64 for each. In registers a record is a tuple of i64.
    """

    dtype: DType
    wide: bool

    @property
    def words(self) -> int:
        return 2 if self.wide else 1

    @property
    def bytes(self) -> int:
        return 8 * self.words

    @property
    def digits(self) -> int:
        """Bytes of a key."""
        return self.dtype.itemsize

    def pack(self, f: Function, key: V, position: V) -> tuple[V, ...]:
        key = key if key.type == "i64" else f.cast("zext", key, "i64")
        if self.wide:
            return key, position
        return (f.binary("or", f.binary("shl", key, i64(32)), position),)

    def position(self, f: Function, record: tuple[V, ...]) -> V:
        return record[1] if self.wide else f.binary("and", record[0], i64(0xFFFFFFFF))

    def key(self, f: Function, record: tuple[V, ...]) -> V:
        """The key as an integer of the dtype's width."""
        key = record[0] if self.wide else f.binary("lshr", record[0], i64(32))
        return key if self.digits == 8 else f.cast("trunc", key, key_type(self.dtype))

    def digit(self, f: Function, record: tuple[V, ...], shift: V | int) -> V:
        """Eight bits of the key from bit `shift` on."""
        shift = i64(shift) if isinstance(shift, int) else shift
        if not self.wide:
            shift = f.add(shift, i64(32))
        return f.binary("and", f.binary("lshr", record[0], shift), i64(255))

    def at(self, f: Function, base: V, index: V) -> V:
        return f.at(base, "i64", f.mul(index, i64(self.words)))

    def load(self, f: Function, base: V, index: V) -> tuple[V, ...]:
        first = self.at(f, base, index)
        return tuple(f.load(f.at(first, "i64", word), "i64") for word in range(self.words))

    def store(self, f: Function, record: tuple[V, ...], base: V, index: V) -> None:
        first = self.at(f, base, index)
        for word, value in enumerate(record):
            f.store(value, f.at(first, "i64", word))


def iota(f: Function, type: str) -> V:
    """The vector 0, 1, 2, ..."""
    kind = element(type)
    return V("<" + ", ".join(f"{kind} {i}" for i in range(lanes(type))) + ">", vector(kind, lanes(type)))
