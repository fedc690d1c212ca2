"""Products with compressed sparse rows: of the whole matrix with a dense one, and of dense ones at its places.

Both walk the rows that the range names, each on its own, so that results do not depend on threads. Indices are checked
as they are read: one that is out of range is replaced by 0 and reported, and so are pointers that lead outside.

Dense matrices are row-major. Buffers end with the error flag: int64[4], which is 1, the index, its dimension and the
size where something was wrong.
"""

from __future__ import annotations

import functools

from ..ir.dtypes import DType
from .error_flag import OUT_OF_BOUNDS, report
from .index_layout import ONE, ZERO, Parameters, i64
from .kernel import Kernel
from .target import host
from .text import Function, Module, V, vector

TYPES = {"float32": "float", "float64": "double", "int64": "i64", "int32": "i32"}
UNROLLED = 4  # vectors that are summed at a time, lest additions wait for each other


def widths(lanes: int, columns: int) -> list[int]:
    """How many of the columns are computed at a time, the widest first; what is left is masked where that is quick."""
    wide = [n * lanes for n in (8, 4, 2, 1) if n * lanes <= columns]
    if columns == 1 or not has_masks():
        wide += [1 << k for k in reversed(range(lanes.bit_length() - 1)) if 1 << k <= columns]
    return wide


def has_masks() -> bool:
    """Whether the target loads and stores parts of vectors."""
    return host().vector_bytes >= 32


class Rows:
    """Compressed rows inside a kernel: where each begins, checked; the places of its elements, checked."""

    def __init__(self, f: Function, pointers: V, places: V, error: V, index_size: int, numbers: list[V]):
        self.f, self.pointers, self.places, self.error = f, pointers, places, error
        self.type = f"i{8 * index_size}"
        self.columns, self.size, self.count = numbers  # of the dense matrix; of its places; elements

    def index(self, pointer: V, at: V) -> V:
        found = self.f.load(self.f.at(pointer, self.type, at), self.type)
        return found if self.type == "i64" else self.f.cast("sext", found, "i64")

    def span(self, row: V) -> tuple[V, V]:
        """Where a row begins and ends; an empty span, reported, where that leads outside."""
        f = self.f
        first, last = self.index(self.pointers, row), self.index(self.pointers, f.add(row, ONE))
        fine = f.binary("and", f.compare("ule", first, last), f.compare("ule", last, self.count))
        with f.when(f.binary("xor", fine, V("true", "i1"))):
            self.report(last, i64(0), self.count)
        return f.select(fine, first, ZERO), f.select(fine, last, ZERO)

    def place(self, element: V) -> V:
        """The place of an element, or 0, reported, where it is out of range."""
        f = self.f
        found = self.index(self.places, element)
        fine = f.compare("ult", found, self.size)
        with f.when(f.binary("xor", fine, V("true", "i1"))):
            self.report(found, i64(1), self.size)
        return f.select(fine, found, ZERO)

    def report(self, index: V, dim: V, size: V) -> None:
        report(self.f, self.error, OUT_OF_BOUNDS, index, dim, size)


def multiply_add(f: Function, a: V, b: V, total: V) -> V:
    """a * b + total, which becomes one instruction where the target has it."""
    return f.add(f.mul(a, b), total)


def product_kernel(dtype: DType, index_size: int, columns: int) -> Kernel:
    """result[row] = the sum over a row's elements of value * dense[place].

    Buffers pointers, places, values, dense, result, error; params [columns, rows of dense, elements]; range rows.
    """
    return product_kernel_of(dtype, index_size, tuple(widths(host().lanes(dtype.itemsize), columns)))


@functools.cache
def product_kernel_of(dtype: DType, index_size: int, widths: tuple) -> Kernel:
    """The kernel for numbers of columns that are computed in these widths."""
    module = Module()
    f = module.kernel(f"csr_product_{dtype.name}")
    pointers, places, values, dense, result, error = (f.buffer(i) for i in range(6))
    rows = Rows(f, pointers, places, error, index_size, Parameters(f).numbers(3))
    type, lanes = TYPES[dtype.name], host().lanes(dtype.itemsize)
    masked = 1 not in widths
    with f.loop(f.begin, f.end) as row:
        span = rows.span(row)
        start = f.variable("i64", ZERO)
        target = f.at(result, type, f.mul(row, rows.columns))

        def block(width: int, mask: V | None = None, row=(span, target), start=start) -> None:
            (span, target), column = row, f.load(start, "i64")
            places = f.at(dense, type, column), f.at(target, type, column)
            Block(f, rows, values, type, min(width, lanes), max(1, width // lanes), mask).run(span, *places)
            f.store(f.add(column, i64(width)), start)

        for width in widths:
            with f.repeat(lambda w=width, s=start: f.compare("sle", f.add(f.load(s, "i64"), i64(w)), rows.columns)):
                block(width)
        if masked:
            left = f.sub(rows.columns, f.load(start, "i64"))
            with f.when(f.compare("sgt", left, ZERO)):
                block(lanes, first_lanes(f, left, lanes))
    return Kernel(f.name, str(module))


def first_lanes(f: Function, count: V, lanes: int) -> V:
    """A mask of the first lanes of a vector."""
    numbers = V("<" + ", ".join(f"i32 {i}" for i in range(lanes)) + ">", vector("i32", lanes))
    return f.compare("slt", numbers, f.splat(f.cast("trunc", count, "i32"), lanes))


class Block:
    """Some columns of one row of the result: `count` vectors of `lanes`, or the first lanes of one.

    Where there are few, several elements are taken at a time and summed apart.
    """

    def __init__(self, f: Function, rows: Rows, values: V, type: str, lanes: int, count: int, mask: V | None):
        self.f, self.rows, self.values, self.type, self.lanes, self.mask = f, rows, values, type, lanes, mask
        self.wide = vector(type, lanes)
        self.unroll = max(1, UNROLLED // count)
        zero = f.const(0, self.wide)
        self.sums = [[f.variable(self.wide, zero) for _ in range(count)] for _ in range(self.unroll)]

    def run(self, span: tuple[V, V], dense: V, target: V) -> None:
        """Sum over the elements of the span and store; `dense` and `target` are at the first column."""
        f, (first, last), unroll = self.f, span, self.unroll
        middle = f.add(first, f.binary("and", f.sub(last, first), i64(-unroll)))
        with f.loop(first, middle, unroll) as element:
            for step in range(unroll):
                self.add(dense, f.add(element, i64(step)), self.sums[step])
        if unroll > 1:
            with f.loop(middle, last) as element:
                self.add(dense, element, self.sums[0])
        for i in range(len(self.sums[0])):
            parts = [f.load(each[i], self.wide) for each in self.sums]
            while len(parts) > 1:
                parts = [f.add(a, b) for a, b in zip(parts[::2], parts[1::2])]
            self.store(parts[0], f.at(target, self.type, i * self.lanes))

    def add(self, dense: V, element: V, into: list[V]) -> None:
        f = self.f
        source = f.at(dense, self.type, f.mul(self.rows.place(element), self.rows.columns))
        value = f.splat(f.load(f.at(self.values, self.type, element), self.type), self.lanes)
        for i, total in enumerate(into):
            part = self.load(f.at(source, self.type, i * self.lanes))
            f.store(multiply_add(f, value, part, f.load(total, self.wide)), total)

    def load(self, place: V) -> V:
        return self.f.load(place, self.wide) if self.mask is None else self.f.masked_load(place, self.mask, self.wide)

    def store(self, value: V, place: V) -> None:
        if self.mask is None:
            self.f.store(value, place)
        else:
            self.f.masked_store(value, place, self.mask)


@functools.cache
def sampled_kernel(dtype: DType, index_size: int) -> Kernel:
    """result[element] = the product of row `row` of `left` and row `place` of `right`, for each element of a row.

    Buffers pointers, places, left, right, result, error; params [columns, rows of right, elements]; range rows.
    """
    module = Module()
    f = module.kernel(f"csr_sampled_{dtype.name}")
    pointers, places, left, right, result, error = (f.buffer(i) for i in range(6))
    rows = Rows(f, pointers, places, error, index_size, Parameters(f).numbers(3))
    type, lanes = TYPES[dtype.name], host().lanes(dtype.itemsize)
    with f.loop(f.begin, f.end) as row:
        a = f.at(left, type, f.mul(row, rows.columns))
        with f.loop(*rows.span(row)) as element:
            b = f.at(right, type, f.mul(rows.place(element), rows.columns))
            f.store(inner_product(f, a, b, rows.columns, type, lanes), f.at(result, type, element))
    return Kernel(f.name, str(module))


def inner_product(f: Function, a: V, b: V, count: V, type: str, lanes: int) -> V:
    """The sum of products of two runs: two vectors at a time, then one, then single numbers."""
    wide = vector(type, lanes)
    sums = [f.variable(wide, f.const(0, wide)) for _ in range(2)]
    total = f.variable(type, f.const(0, type))
    starts = [ZERO, f.binary("and", count, i64(-2 * lanes)), f.binary("and", count, i64(-lanes)), count]
    for first, last, step in zip(starts, starts[1:], (2 * lanes, lanes, 1)):
        kind = type if step == 1 else wide
        into = [total] if step == 1 else sums[: step // lanes]
        with f.loop(first, last, step) as i:
            for part, place in enumerate(into):
                at = f.add(i, i64(part * lanes)) if part else i
                x, y = f.load(f.at(a, type, at), kind), f.load(f.at(b, type, at), kind)
                f.store(multiply_add(f, x, y, f.load(place, kind)), place)
    both = f.add(f.load(sums[0], wide), f.load(sums[1], wide))
    return f.add(summed_lanes(f, both, type, lanes), f.load(total, type))


def summed_lanes(f: Function, a: V, type: str, lanes: int) -> V:
    """The sum of a vector's lanes, halves added to halves."""
    while lanes > 2:
        lanes //= 2
        low, high = (f.shuffle(a, a, list(range(s, s + lanes))) for s in (0, lanes))
        a = f.add(low, high)
    return f.add(f.lane(a, 0), f.lane(a, 1)) if lanes == 2 else a
