"""Vectors of elements that convolution and pooling move between memory and registers."""

from __future__ import annotations

from ..ir.dtypes import DType
from .elementwise import constant, from_memory, memory_type, register_type, to_memory
from .target import host
from .text import Function, V, is_float, mangle, vector


def vector_lanes(dtype: DType) -> int:
    """Lanes of a vector: narrow types count as four bytes, the width they are computed in."""
    return host().lanes(max(dtype.itemsize, 4))


class Lanes:
    """`count` elements of a dtype at once; masks are i1 vectors or None for all lanes."""

    def __init__(self, f: Function, dtype: DType, count: int):
        self.f, self.dtype, self.count = f, dtype, count
        self.type, self.memory = register_type(dtype, count), memory_type(dtype)

    def constant(self, number) -> V:
        return constant(self.f, number, self.dtype, self.count)

    def lowest(self) -> V:
        """The number that no other is below."""
        if self.dtype.kind == "f":
            return self.constant(float("-inf"))
        return self.constant(0 if self.dtype.kind == "u" else -(1 << 8 * self.dtype.itemsize - 1))

    def load(self, base: V, index: V, mask: V | None = None) -> V:
        """Adjacent elements; masked-off lanes are zero."""
        return from_memory(self.f, self.load_bits(base, index, mask), self.dtype, self.count)

    def load_bits(self, base: V, index: V, mask: V | None = None) -> V:
        pointer, type = self.f.at(base, self.memory, index), vector(self.memory, self.count)
        return self.f.load(pointer, type) if mask is None else self.f.masked_load(pointer, mask, type)

    def load_strided(self, base: V, index: V, step: V, known_step: int, mask_of) -> V:
        """Elements `step` apart. `mask_of(first)` is the mask of lanes first, first + 1, ... in memory order for
        `known_step` 1 or 2, and of the elements themselves for others (`known_step` 0), or None."""
        f, lanes = self.f, self.count
        if known_step == 1:
            return self.load(base, index, mask_of(0))
        if known_step == 2:
            second = f.add(index, V(str(lanes), "i64"))
            halves = self.load_bits(base, index, mask_of(0)), self.load_bits(base, second, mask_of(lanes))
            return from_memory(f, f.shuffle(*halves, list(range(0, 2 * lanes, 2))), self.dtype, lanes)
        return self.gather(f.at(base, self.memory, index), step, mask_of(0))

    def gather(self, pointer: V, step: V, mask: V | None) -> V:
        f, lanes, type = self.f, self.count, vector(self.memory, self.count)
        offsets = f.binary("mul", lane_numbers("i64", lanes), f.splat(step, lanes))
        pointers = f.value(f"getelementptr {self.memory}, {pointer}, {offsets}", f"<{lanes} x ptr>")
        mask = mask or V("splat (i1 true)", vector("i1", lanes))
        name = f"llvm.masked.gather.{mangle(type)}.v{lanes}p0"
        f.module.declare(name, type, pointers.type, "i32", mask.type, type)
        align = self.dtype.itemsize
        loaded = f.value(f"call {type} @{name}({pointers}, i32 {align}, {mask}, {type} zeroinitializer)", type)
        return from_memory(f, loaded, self.dtype, lanes)

    def store(self, value: V, base: V, index: V, mask: V | None = None) -> None:
        f = self.f
        bits, pointer = to_memory(f, value, self.dtype, self.count), f.at(base, self.memory, index)
        if mask is None:
            f.store(bits, pointer)
        else:
            f.masked_store(bits, pointer, mask)

    def greater_or_nan(self, a: V, b: V) -> V:
        """Where `a` replaces the maximum `b`: it is larger, or NaN."""
        f = self.f
        if not is_float(a.type):
            return f.compare("ugt" if self.dtype.kind == "u" else "sgt", a, b)
        return f.binary("or", f.compare("ogt", a, b), f.compare("uno", a, a))

    def from_integer(self, a: V) -> V:
        """Whole numbers as computed elements."""
        return self.f.cast("sitofp", a, self.type)

    def total(self, a: V) -> V:
        """The sum of all lanes, pairwise."""
        f, lanes = self.f, self.count
        if lanes == 1:
            return a
        while lanes > 2:
            lanes //= 2
            halves = (f.shuffle(a, a, list(range(part, part + lanes))) for part in (0, lanes))
            a = f.add(*halves)
        return f.add(f.lane(a, 0), f.lane(a, 1))


def lane_numbers(type: str, lanes: int) -> V:
    """The vector 0, 1, 2, ..."""
    return V("<" + ", ".join(f"{type} {i}" for i in range(lanes)) + ">", f"<{lanes} x {type}>")


def below(f: Function, count: V, lanes: int, first: int = 0) -> V:
    """The mask of lanes l with first + l < count (an i64)."""
    bound = f.splat(f.cast("trunc", f.sub(count, V(str(first), "i64")), "i32"), lanes)
    return f.compare("slt", lane_numbers("i32", lanes), bound)
