"""Compaction: where a mask holds, and the values there. For host ops, since the size of the result depends on data.

The mask is read twice, in blocks of BLOCK elements that threads share:

1. `count_kernel` over the blocks writes how many elements of each block hold.
2. `starts_kernel` (one call) turns the counts into the places where each block's results begin, and the total.
3. The caller reads the total, allocates, and launches `positions_kernel` or `values_kernel` over the blocks.

All arrays are contiguous. `starts` holds int64[blocks + 1], with blocks = block_count(n).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager

from ..ir.dtypes import DType
from .elementwise import from_memory, loaded_type
from .index_layout import ONE, ZERO, Parameters, alignment, i64, storage, times
from .kernel import Kernel
from .text import Function, Module, V

BLOCK = 1 << 14
GROUP = 64  # elements whose outcomes make one integer


def block_count(n: int) -> int:
    """The range of all kernels here but `starts_kernel`, for n elements."""
    return -(-n // BLOCK)


@functools.cache
def count_kernel(dtype: DType) -> Kernel:
    """starts[b] = how many elements of block b are not zero. Buffers x, starts; params [n]; range blocks."""
    module = Module()
    f = module.kernel(f"count_{dtype.name}")
    x, counts, n = f.buffer(0), f.buffer(1), f.param(0)
    with f.loop(f.begin, f.end) as block:
        total = f.variable("i64", ZERO)
        for first, last, group in parts_of(f, block, n):
            with f.loop(first, last, group) as i:
                found = f.intrinsic("llvm.ctpop", outcomes(f, x, i, dtype, group))
                f.store(f.add(f.load(total, "i64"), found), total)
        f.store(f.load(total, "i64"), f.at(counts, "i64", block))
    return Kernel(f.name, str(module))


@functools.cache
def starts_kernel() -> Kernel:
    """Replace counts by the sums before them; starts[blocks] = total. Buffer starts; params [blocks]; range 1."""
    module = Module()
    f = module.kernel("compact_starts")
    starts, blocks = f.buffer(0), f.param(0)
    total = f.variable("i64", ZERO)
    with f.loop(ZERO, blocks) as block:
        place, so_far = f.at(starts, "i64", block), f.load(total, "i64")
        f.store(f.add(so_far, f.load(place, "i64")), total)
        f.store(so_far, place)
    f.store(f.load(total, "i64"), f.at(starts, "i64", blocks))
    return Kernel(f.name, str(module))


@functools.cache
def positions_kernel(dtype: DType, rank: int) -> Kernel:
    """out[k, d] = coordinate d of the k-th element of x that is not zero, in row-major order.

    Buffers x, starts, out (int64); params [n, stride of k, stride of d, *sizes of x]; range blocks. PyTorch's
    `nonzero` has strides (1, total).
    """
    module = Module()
    f = module.kernel(f"positions_{dtype.name}")
    x, starts, out = (f.buffer(i) for i in range(3))
    parameters = Parameters(f)
    n, row_step, column_step = parameters.numbers(3)
    coordinates = Coordinates(f, parameters.numbers(rank))
    with found_elements(f, x, starts, n, dtype) as (i, place):
        first = f.mul(place, row_step)
        for dim, coordinate in enumerate(coordinates.of(i)):
            f.store(coordinate, f.at(out, "i64", f.add(first, times(f, i64(dim), column_step))))
    return Kernel(f.name, str(module))


class Coordinates:
    """Turns growing flat indices into coordinates, dividing only when a row is left."""

    def __init__(self, f: Function, sizes: list[V]):
        self.f, self.sizes = f, sizes
        self.row_start = f.variable("i64", ZERO)
        self.outer = [f.variable("i64", ZERO) for _ in sizes[1:]]

    def of(self, index: V) -> list[V]:
        f = self.f
        if not self.outer:
            return [index] * len(self.sizes)
        width = self.sizes[-1]
        # unsigned, since a thread's next piece may lie before
        with f.when(f.compare("uge", f.sub(index, f.load(self.row_start, "i64")), width)):
            row = f.binary("udiv", index, width)
            f.store(f.mul(row, width), self.row_start)
            for size, variable in zip(self.sizes[-2::-1], self.outer[::-1]):
                outside = f.binary("udiv", row, size)
                f.store(f.sub(row, f.mul(outside, size)), variable)
                row = outside
        return [*(f.load(v, "i64") for v in self.outer), f.sub(index, f.load(self.row_start, "i64"))]


@functools.cache
def values_kernel(itemsize: int) -> Kernel:
    """out[k] = the value at the k-th true element. Buffers mask, starts, values, out; params [n]; range blocks."""
    from ..ir.dtypes import bool_

    module = Module()
    f = module.kernel("compact")
    mask, starts, values, out = (f.buffer(i) for i in range(4))
    type, align = storage(itemsize), alignment(itemsize)
    with found_elements(f, mask, starts, f.param(0), bool_) as (i, place):
        f.store(f.load(f.at(values, type, i), type, align), f.at(out, type, place), align)
    return Kernel(f.name, str(module))


@contextmanager
def found_elements(f: Function, x: V, starts: V, n: V, dtype: DType) -> Iterator[tuple[V, V]]:
    """Loop over the elements of this thread's blocks that are not zero; yields (index, place in the result)."""
    place = f.variable("i64")
    bits, base = f.variable("i64"), f.variable("i64")
    with f.loop(f.begin, f.end) as block:
        f.store(f.load(f.at(starts, "i64", block), "i64"), place)
        first = f.mul(block, i64(BLOCK))
        last = f.minimum(f.add(first, i64(BLOCK)), n)
        with f.loop(first, last, GROUP) as i:
            f.store(i, base)
            whole = f.compare("sle", f.add(i, i64(GROUP)), last)
            with f.branch(whole) as other:
                f.store(outcomes(f, x, i, dtype, GROUP), bits)
                other()
                f.store(ZERO, bits)
                with f.loop(i, last) as j:
                    bit = f.binary("shl", outcomes(f, x, j, dtype, 1), f.sub(j, i))
                    f.store(f.binary("or", f.load(bits, "i64"), bit), bits)
            with each_bit(f, bits) as lane:
                at = f.load(place, "i64")
                yield f.add(f.load(base, "i64"), lane), at
                f.store(f.add(at, ONE), place)


@contextmanager
def each_bit(f: Function, bits: V) -> Iterator[V]:
    """`while bits: yield lowest; bits &= bits - 1`"""
    head, body, done = (f.name_of(p) for p in ("head", "body", "done"))
    f.label(head)
    left = f.load(bits, "i64")
    f.line(f"br {f.compare('ne', left, ZERO)}, label %{body}, label %{done}")
    f.lines.append(f"{body}:")
    yield f.call("llvm.cttz.i64", "i64", left, V("true", "i1"))
    f.store(f.binary("and", left, f.sub(left, ONE)), bits)
    f.line(f"br label %{head}")
    f.lines.append(f"{done}:")


def parts_of(f: Function, block: V, n: V) -> list[tuple[V, V, int]]:
    """A block's whole groups, and its single elements after them."""
    first = f.mul(block, i64(BLOCK))
    last = f.minimum(f.add(first, i64(BLOCK)), n)
    middle = f.binary("and", last, i64(-GROUP))
    return [(first, middle, GROUP), (middle, last, 1)]


def outcomes(f: Function, x: V, index: V, dtype: DType, count: int) -> V:
    """Which of `count` elements are not zero, as the low bits of an i64."""
    loaded = f.load(f.at(x, storage(dtype.itemsize), index), loaded_type(dtype, count))
    value = from_memory(f, loaded, dtype, count)
    if dtype.kind != "b":
        parts = value if isinstance(value, tuple) else (value,)
        condition = "une" if dtype.kind in "fc" else "ne"
        value = functools.reduce(
            lambda a, b: f.binary("or", a, b), [f.compare(condition, part, f.const(0, part.type)) for part in parts]
        )
    if count > 1:
        value = f.cast("bitcast", value, f"i{count}")
    return value if value.type == "i64" else f.cast("zext", value, "i64")
