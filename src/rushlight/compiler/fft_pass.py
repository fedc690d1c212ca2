"""Passes over a tile: the kernels that a transform is made of, called one after another by `fft_driver`.

A tile is rows of vectors. Row j of a tile in the "split" form holds the real parts of its lanes, then the imaginary
parts; in the "memory" form the lanes are complex numbers, pairs of parts; in the "pairs" form the parts lie half a step
apart. Every pass is a function of `ARGUMENTS`.
"""

from __future__ import annotations

import functools

from ..ir.dtypes import DType
from .fft_butterfly import Complex, butterfly, multiply
from .gemm_transpose import transpose
from .index_layout import ZERO, i64
from .kernel import Kernel
from .registers import memory_type
from .target import host
from .text import Module, V, vector

ARGUMENTS = (
    ("ptr", "source"),
    ("i64", "source_step"),  # bytes between rows
    ("ptr", "target"),
    ("i64", "target_step"),
    ("ptr", "table"),
    ("i64", "count"),  # what a pass repeats
    ("i64", "span"),
    ("i64", "block"),  # the number of the tile in its line of tiles
    ("double", "scale"),
)
FIRST = 16  # radix of the first pass over a contiguous line


def width(dtype: DType) -> int:
    """Lanes of a tile of the real type."""
    return host().lanes(dtype.itemsize)


class Pass:
    """A pass being written: loads and stores of rows in their forms."""

    def __init__(self, module: Module, name: str, dtype: DType):
        self.f = f = module.function(name, list(ARGUMENTS))
        self.dtype, self.type, self.lanes = dtype, memory_type(dtype), width(dtype)
        self.vector, self.size = vector(self.type, self.lanes), dtype.itemsize
        (self.source, self.source_step, self.target, self.target_step) = f.args[:4]
        (self.table, self.count, self.span, self.block, self.scale) = f.args[4:]

    def row(self, base: V, step: V, index: V) -> V:
        return self.f.offset(base, self.f.mul(index, step))

    def imaginary(self, row: V, form: str, step: V) -> V:
        """Where the imaginary parts of a row lie, if apart."""
        if form == "split":
            return self.f.offset(row, i64(self.lanes * self.size))
        return self.f.offset(row, self.f.binary("lshr", step, i64(1)))

    def load(self, row: V, form: str, step: V) -> Complex:
        f, lanes = self.f, self.lanes
        if form != "memory":
            return f.load(row, self.vector), f.load(self.imaginary(row, form, step), self.vector)
        low = f.load(row, self.vector)
        high = f.load(f.offset(row, i64(lanes * self.size)), self.vector)
        return f.shuffle(low, high, list(range(0, 2 * lanes, 2))), f.shuffle(low, high, list(range(1, 2 * lanes, 2)))

    def store(self, value: Complex, row: V, form: str, step: V) -> None:
        f, lanes = self.f, self.lanes
        if form != "memory":
            f.store(value[0], row)
            f.store(value[1], self.imaginary(row, form, step))
            return
        for half in range(2):
            places = range(half * lanes // 2, (half + 1) * lanes // 2)
            mask = [i for place in places for i in (place, lanes + place)]
            f.store(f.shuffle(*value, mask), f.offset(row, i64(half * lanes * self.size)))

    def scalars(self, index: V) -> Complex:
        """Root number `index` of a table of scalars, in every lane."""
        f, address = self.f, self.f.at(self.table, self.type, self.f.mul(index, i64(2)))
        return tuple(f.splat(f.load(f.at(address, self.type, i), self.type), self.lanes) for i in range(2))

    def vectors(self, index: V) -> Complex:
        """Vector number `index` of a table of vectors of roots."""
        f, address = self.f, self.f.at(self.table, self.type, self.f.mul(index, i64(2 * self.lanes)))
        return f.load(address, self.vector), f.load(f.at(address, self.type, self.lanes), self.vector)

    def scaled(self, value: Complex) -> Complex:
        f = self.f
        number = self.scale if self.type == "double" else f.cast("fptrunc", self.scale, self.type)
        factor = f.splat(number, self.lanes)
        return tuple(f.mul(part, factor) for part in value)


def exchanged(value: Complex, swap: bool) -> Complex:
    """Exchanging real and imaginary parts before and after makes a transform the inverse one."""
    return (value[1], value[0]) if swap else value


@functools.cache
def radix_pass(dtype: DType, radix: int, forms: tuple[str, str], swaps: tuple[bool, bool], turns: bool, scales: bool):
    """One pass of Stockham's method.

    For p < count and b < span: rows b + span * (p + count * j), j < radix, are transformed, multiplied by the roots
    [p][k] of the table if `turns` (0 < k < radix), and become rows b + span * (radix * p + k).
    """
    module = Module()
    w = Pass(module, "radix_pass", dtype)
    f = w.f
    source_form, target_form = forms
    apart = f.mul(f.mul(w.span, w.count), w.source_step)
    beside = f.mul(w.span, w.target_step)
    with f.loop(ZERO, w.count) as p:
        roots = [w.scalars(f.add(f.mul(p, i64(radix - 1)), i64(k))) for k in range(radix - 1)] if turns else []
        source = w.row(w.source, w.source_step, f.mul(p, w.span))
        target = w.row(w.target, w.target_step, f.mul(p, f.mul(w.span, i64(radix))))
        with f.loop(ZERO, w.span) as b:
            row = w.row(source, w.source_step, b)
            values = []
            for j in range(radix):
                row = f.offset(row, apart) if j else row
                values.append(exchanged(w.load(row, source_form, w.source_step), swaps[0]))
            values = butterfly(f, values)
            row = w.row(target, w.target_step, b)
            for k, value in enumerate(values):
                row = f.offset(row, beside) if k else row
                value = multiply(f, value, roots[k - 1]) if turns and k else value
                value = w.scaled(value) if scales else value
                w.store(exchanged(value, swaps[1]), row, target_form, w.target_step)
    return Kernel(f.name, str(module))


@functools.cache
def first_pass(dtype: DType, swap: bool):
    """The first pass over one contiguous line of count * FIRST complex numbers: lanes are neighbours p.

    Results are transposed in registers, so that lanes of the tile are neighbours k; `count` is a multiple of the lanes.
    """
    module = Module()
    w = Pass(module, "first_pass", dtype)
    f, lanes = w.f, w.lanes
    apart = f.mul(w.count, i64(2 * w.size))
    parts = FIRST // lanes
    with f.loop(ZERO, w.count, lanes) as p:
        row = w.row(w.source, i64(2 * w.size), p)
        values = []
        for j in range(FIRST):
            row = f.offset(row, apart) if j else row
            values.append(exchanged(w.load(row, "memory", ZERO), swap))
        values = butterfly(f, values)
        first = f.mul(f.binary("udiv", p, i64(lanes)), i64(FIRST - 1))
        values = values[:1] + [
            multiply(f, value, w.vectors(f.add(first, i64(k)))) for k, value in enumerate(values[1:])
        ]
        target = w.row(w.target, i64(2 * FIRST * w.size), p)
        for part in range(parts):
            block = values[part * lanes : (part + 1) * lanes]
            turned = zip(*(transpose(f, [value[side] for value in block]) for side in range(2)))
            for lane, value in enumerate(turned):
                w.store(value, f.offset(target, i64(2 * w.size * (lane * FIRST + part * lanes))), "split", ZERO)
    return Kernel(f.name, str(module))


@functools.cache
def twist_pass(dtype: DType):
    """Multiply row k, lane l of tile b by w ** ((first of b + l) * k): between the two halves of a long transform.

    The table has, for this tile's block, roots [block][k] of the first lane; `span` is the address of vectors [k].
    """
    module = Module()
    w = Pass(module, "twist_pass", dtype)
    f = w.f
    lanes_table = f.cast("inttoptr", w.span, "ptr")
    start = f.mul(w.block, w.count)
    with f.loop(ZERO, w.count) as k:
        value = w.load(w.row(w.source, w.source_step, k), "split", ZERO)
        root = w.scalars(f.add(start, k))
        address = f.at(lanes_table, w.type, f.mul(k, i64(2 * w.lanes)))
        along = f.load(address, w.vector), f.load(f.at(address, w.type, w.lanes), w.vector)
        value = multiply(f, value, multiply(f, root, along))
        w.store(value, w.row(w.target, w.target_step, k), "split", ZERO)
    return Kernel(f.name, str(module))
