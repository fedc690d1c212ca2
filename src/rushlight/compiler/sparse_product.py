"""Products with compressed sparse rows: of the whole matrix with a dense one, and of dense ones at its places.

Both walk the rows that the range names, each on its own, so that results do not depend on threads. Indices are checked
as they are read: one that is out of range is replaced by 0 and reported, and so are pointers that lead outside.

Dense matrices are row-major. Buffers end with the error flag: int64[4], which is 1, the index, its dimension and the
size where something was wrong.
"""

from __future__ import annotations

import functools

from ..ir.dtypes import DType
from .index_layout import ONE, ZERO, Parameters, i64
from .kernel import Kernel
from .target import host
from .text import Function, Module, V, is_float, vector

TYPES = {"float32": "float", "float64": "double", "int64": "i64", "int32": "i32"}
UNROLLED = 4  # vectors that are summed at a time, lest additions wait for each other


def widths(lanes: int) -> list[int]:
    """How many columns are computed at a time, the widest first."""
    found = [8 * lanes, 4 * lanes, 2 * lanes, lanes]
    while found[-1] > 1:
        found.append(found[-1] // 2)
    return list(dict.fromkeys(found))


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
        for word, value in ((1, index), (2, dim), (3, size), (0, ONE)):
            self.f.store(value, self.f.at(self.error, "i64", word))


def multiply_add(f: Function, a: V, b: V, total: V) -> V:
    return f.fma(a, b, total) if is_float(a.type) else f.add(f.mul(a, b), total)


@functools.cache
def product_kernel(dtype: DType, index_size: int) -> Kernel:
    """result[row] = the sum over a row's elements of value * dense[place].

    Buffers pointers, places, values, dense, result, error; params [columns, rows of dense, elements]; range rows.
    """
    module = Module()
    f = module.kernel(f"csr_product_{dtype.name}")
    pointers, places, values, dense, result, error = (f.buffer(i) for i in range(6))
    rows = Rows(f, pointers, places, error, index_size, Parameters(f).numbers(3))
    type, lanes = TYPES[dtype.name], host().lanes(dtype.itemsize)
    with f.loop(f.begin, f.end) as row:
        span = rows.span(row)
        start = f.variable("i64", ZERO)
        target = f.at(result, type, f.mul(row, rows.columns))
        for width in widths(lanes):
            with f.repeat(lambda w=width: f.compare("sle", f.add(f.load(start, "i64"), i64(w)), rows.columns)):
                column = f.load(start, "i64")
                row_block(
                    f, rows, span, values, f.at(dense, type, column), f.at(target, type, column), type, width, lanes
                )
                f.store(f.add(column, i64(width)), start)
    return Kernel(f.name, str(module))


def row_block(f, rows: Rows, span, values: V, dense: V, target: V, type: str, width: int, lanes: int) -> None:
    """`width` columns of one row of the result. Few columns: several elements at a time, summed apart."""
    count, wide = max(1, width // lanes), vector(type, min(width, lanes))
    unroll = max(1, UNROLLED // count)
    zero = f.const(0, wide)
    sums = [[f.variable(wide, zero) for _ in range(count)] for _ in range(unroll)]
    first, last = span
    middle = f.add(first, f.binary("and", f.sub(last, first), i64(-unroll)))

    def add(element: V, into: list[V]) -> None:
        source = f.at(dense, type, f.mul(rows.place(element), rows.columns))
        value = f.splat(f.load(f.at(values, type, element), type), min(width, lanes))
        for i, total in enumerate(into):
            part = f.load(f.at(source, type, i * lanes), wide)
            f.store(multiply_add(f, value, part, f.load(total, wide)), total)

    with f.loop(first, middle, unroll) as element:
        for step in range(unroll):
            add(f.add(element, i64(step)), sums[step])
    if unroll > 1:
        with f.loop(middle, last) as element:
            add(element, sums[0])
    for i in range(count):
        parts = [f.load(each[i], wide) for each in sums]
        while len(parts) > 1:
            parts = [f.add(a, b) for a, b in zip(parts[::2], parts[1::2])]
        f.store(parts[0], f.at(target, type, i * lanes))


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
