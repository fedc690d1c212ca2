"""Kernels that choose: permutations and draws from given probabilities."""

from __future__ import annotations

import functools

from ..ir.dtypes import DType, dtype_named
from .elementwise import from_memory, memory_type, register_type, to_memory
from .kernel import Kernel
from .math_expression import Expr, where
from .random_state import SIZE
from .random_stream import BLOCKS, SLACK, block_variable, consume, word_lanes, words32, words64
from .text import Function, Module, V, element, scalar_bytes, vector

AHEAD = 16  # exchanges between a prefetch and its use
TILE = (BLOCKS + 1) * SIZE + SLACK  # more items than a tile can have


def _iota(f: Function, start: V, count: int, type: str = "i64") -> Expr:
    """start, start + 1, ..."""
    steps = V("<" + ", ".join(f"{type} {i}" for i in range(count)) + ">", vector(type, count))
    return Expr(f, f.splat(start, count)) + Expr(f, steps)


@functools.cache
def ascending(name: str) -> Kernel:
    """Writes 0, 1, 2, ... over the range, which counts elements."""
    dtype = dtype_named(name)
    f, step = Module().kernel("random"), 8
    out, type = f.buffer(0), memory_type(dtype)

    def store(start: V, count: int) -> None:
        wide = _iota(f, start, count) if count > 1 else Expr(f, start)
        stored = to_memory(f, _from_index(wide, dtype).v, dtype, count)
        f.store(stored, f.at(out, type, start), scalar_bytes(type))

    end = Expr(f, f.end)
    whole = end - ((end - Expr(f, f.begin)) & (step - 1))
    with f.loop(f.begin, whole.v, step) as i:
        store(i, step)
    with f.loop(whole.v, f.end) as i:
        store(i, 1)
    return Kernel("random", str(f.module))


def _from_index(x: Expr, dtype: DType) -> Expr:
    type = element(register_type(dtype, 1))
    if dtype.kind == "f":
        return x.cast("sitofp", type)
    return x if type == "i64" else x.cast("trunc", type)


@functools.cache
def permutation(bytes: int) -> Kernel:
    """Fisher and Yates, forwards: element i changes places with element i + w mod (n - i), for i below n - 1.

    Buffers: state, elements of `bytes` bytes each; params: n, below 2^28. One launch is one piece.
    """
    f = Module().kernel("random")
    state, elements, n = f.buffer(0), f.buffer(1), Expr(f, f.param(0))
    type, count = f"i{8 * bytes}", word_lanes()
    distances = block_variable(f, 4 * TILE)

    def step(ring: V, offset: V, item: V, local: V) -> None:
        words = words32(f, ring, offset, count)
        left = Expr(f, f.splat((n - Expr(f, item)).cast("trunc", "i32").v, count)) - _iota(
            f, V("0", "i32"), count, "i32"
        )
        # behind the last exchange nothing is left, and the result does not matter
        left = where(left < 1, 1, left)
        # exact: the quotient is further from the next whole number than a rounding error
        quotient = words.cast("uitofp", "double") / left.cast("sitofp", "double")
        distance = words - quotient.cast("fptoui", "i32") * left
        f.store(distance.v, f.at(distances, "i32", local), 4)

    def exchange(item: V, items: V) -> None:
        with f.loop(0, items) as local:
            place = Expr(f, item) + Expr(f, local)
            _prefetch(f, elements, type, place + AHEAD, f.at(distances, "i32", (Expr(f, local) + AHEAD).v))
            distance = Expr(f, f.load(f.at(distances, "i32", local), "i32")).cast("zext", "i64")
            here, there = f.at(elements, type, place.v), f.at(elements, type, (place + distance).v)
            a, b = f.load(here, type), f.load(there, type)
            f.store(b, here)
            f.store(a, there)

    with f.when((n > 1).v):
        consume(f, state, (n - 1).v, 1, count, step, after=exchange)
    return Kernel("random", str(f.module))


def _prefetch(f: Function, elements: V, type: str, place: Expr, distance: V) -> None:
    """Ask for the element at place + distance; past the end of a tile the address is of no use, and harmless."""
    offset = Expr(f, f.load(distance, "i32")).cast("zext", "i64")
    pointer = f.at(elements, type, (place + offset).v)
    f.module.declare("llvm.prefetch.p0", "void", "ptr", "i32", "i32", "i32")
    f.line(f"call void @llvm.prefetch.p0({pointer}, i32 1, i32 3, i32 1)")


@functools.cache
def permutation_long(bytes: int) -> Kernel:
    """Inside out, for n too large for 32 bits to be fair: element i moves to the place z = w mod (i + 1), and what was
    there to the end. Arguments as for `permutation`; the elements need no initial values but those of `ascending`.
    """
    f = Module().kernel("random")
    state, elements, n = f.buffer(0), f.buffer(1), f.param(0)
    type, count = f"i{8 * bytes}", 8
    places = block_variable(f, 8 * TILE)

    def step(ring: V, offset: V, item: V, local: V) -> None:
        words = words64(f, ring, offset, count)
        size = _iota(f, (Expr(f, item) + 1).v, count)
        place = f.binary("urem", words.v, size.v)
        f.store(place, f.at(places, "i64", local), 8)

    def insert(item: V, items: V) -> None:
        with f.loop(0, items) as local:
            end = f.at(elements, type, (Expr(f, item) + Expr(f, local)).v)
            there = f.at(elements, type, f.load(f.at(places, "i64", local), "i64"))
            value, moved = f.load(end, type), f.load(there, type)
            f.store(moved, end)
            f.store(value, there)

    consume(f, state, n, 2, count, step, after=insert)
    return Kernel("random", str(f.module))


# -- draws from given probabilities -----------------------------------------------------------------
@functools.cache
def multinomial(name: str) -> Kernel:
    """For each row of weights, the first category whose share of the cumulative sum reaches u, for each u of the row.

    Buffers: weights (rows, categories), u (float64, rows, samples), indices (int64, rows, samples), scratch of one
    row's cumulative sums; params: categories, samples. The range counts rows.
    """
    dtype = dtype_named(name)
    kind = element(register_type(dtype, 1))
    f = Module().kernel("random")
    weights, uniform, indices, sums = (f.buffer(i) for i in range(4))
    categories, samples = f.param(0), f.param(1)
    with f.loop(f.begin, f.end) as row:
        first = f.at(weights, memory_type(dtype), f.binary("mul", row, categories))
        _cumulate(f, first, sums, categories, dtype, kind)
        base = Expr(f, f.binary("mul", row, samples))
        with f.loop(0, samples) as j:
            here = (base + Expr(f, j)).v
            u = f.load(f.at(uniform, "double", here), "double")
            f.store(_search(f, sums, categories, u, kind), f.at(indices, "i64", here))
    return Kernel("random", str(f.module))


def _cumulate(f: Function, weights: V, sums: V, categories: V, dtype: DType, kind: str) -> None:
    """Cumulative sums divided by the last one, in float32 for half types."""
    total = f.variable(kind, f.const(0, kind))
    with f.loop(0, categories) as i:
        weight = from_memory(f, f.load(f.at(weights, memory_type(dtype), i), memory_type(dtype)), dtype, 1)
        f.store((Expr(f, f.load(total, kind)) + Expr(f, weight)).v, total)
        f.store(f.load(total, kind), f.at(sums, kind, i))
    with f.loop(0, categories) as i:
        share = Expr(f, f.load(f.at(sums, kind, i), kind)) / Expr(f, f.load(total, kind))
        f.store(share.v, f.at(sums, kind, i))


def _search(f: Function, sums: V, categories: V, u: V, kind: str) -> V:
    """The first category, of all but the last, whose cumulative share is at least u; else the last."""
    low, high = f.variable("i64", f.const(0, "i64")), f.variable("i64", (Expr(f, categories) - 1).v)
    with f.repeat(lambda: (Expr(f, f.load(low, "i64")) < Expr(f, f.load(high, "i64"))).v):
        a, b = Expr(f, f.load(low, "i64")), Expr(f, f.load(high, "i64"))
        middle = (a + b) >> 1
        share = Expr(f, f.load(f.at(sums, kind, middle.v), kind))
        below = (share if kind == "double" else share.cast("fpext", "double")) < Expr(f, u)
        f.store(where(below, middle + 1, a).v, low)
        f.store(where(below, b, middle).v, high)
    return f.load(low, "i64")
