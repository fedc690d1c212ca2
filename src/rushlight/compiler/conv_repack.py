"""Copies of weights in the order, and the type, that a product reads."""

from __future__ import annotations

import functools
from dataclasses import replace

from ..ir.dtypes import DType
from ..ir.sizes import product
from .conv_lanes import Lanes, below, vector_lanes
from .conv_shape import is_contiguous
from .conv_transpose import emit_transpose
from .conv_window import divide, i64
from .kernel import Kernel
from .templates import Array
from .text import Function, Module, V

DIMS = ("group", "row", "column", "tap0", "tap1", "tap2")
NAMES = [f"{part}_{dim}" for part in ("size", "from", "to") for dim in DIMS]


def repack(context, source: Array, dtype: DType, taps_last: bool) -> Array:
    """A copy of weights [group, row, column, *taps] of any strides as a contiguous matrix [group * row, K].

    K is (column, taps) or, if not `taps_last`, (taps, column).
    """
    groups, rows, columns, *taps = source.shape
    inner = (columns, *taps) if taps_last else (*taps, columns)
    copy = context.temp((groups, rows, *inner), dtype)
    to = copy.strides if taps_last else (*copy.strides[:2], copy.strides[5], *copy.strides[2:5])
    kind, tasks = "strided", groups * rows
    if taps_last and is_contiguous(source, 3):
        kind = "items"
    elif not taps_last and source.strides[1] == 1 and dtype is source.dtype:
        kind, tasks = "transposed", groups * product(taps)
    grain = 1 + 2**13 * tasks // (product(source.shape) + 1)
    params = [*source.shape, *source.strides, *to]
    context.launch(repack_kernel(source.dtype, dtype, kind), [source, copy], params, tasks, grain)
    return as_matrix(copy, 2)


def as_matrix(array: Array, outer: int) -> Array:
    """A contiguous array as a matrix whose rows are its `outer` first dimensions."""
    rows, columns = product(array.shape[:outer]), product(array.shape[outer:])
    return replace(array, shape=(rows, columns), strides=(columns, 1))


@functools.cache
def repack_kernel(source: DType, target: DType, kind: str) -> Kernel:
    """Buffers source, target; parameters `NAMES`, strides in elements.

    "items" copies all taps of a column at once, "transposed" exchanges rows and columns, contiguous in the source and
    the target, "strided" goes element by element. The range counts rows of all groups, or taps for "transposed".
    """
    module = Module()
    if kind == "transposed":
        emit_transpose(module, target)
    f = module.kernel("conv_repack")
    writer = _Writer(f, source, target)
    with f.loop(f.begin, f.end) as item:
        getattr(writer, kind)(item)
    return Kernel(f.name, str(module))


class _Writer:
    """Writes what is done for one item of the range."""

    def __init__(self, f: Function, source: DType, target: DType):
        self.f, self.dtypes = f, (source, target)
        self.p = {name: f.param(i) for i, name in enumerate(NAMES)}
        self.pointers = [f.buffer(0), f.buffer(1)]

    def places(self, *start: V, **coordinates: V) -> list[V]:
        """Element offsets in source and target, from `start` on."""
        f, places = self.f, []
        for side, part in enumerate(("from", "to")):
            terms = [f.mul(number, self.p[f"{part}_{dim}"]) for dim, number in coordinates.items()]
            places.append(functools.reduce(f.add, [*start[side : side + 1], *terms]))
        return places

    def copy(self, places: list[V], count: int, mask: V | None = None) -> None:
        reading, writing = (Lanes(self.f, dtype, count) for dtype in self.dtypes)
        value = reading.load(self.pointers[0], places[0], mask)
        writing.store(value, self.pointers[1], places[1], mask)

    def strided(self, item: V) -> None:
        f, p = self.f, self.p
        group, row = divide(f, item, p["size_row"])
        with f.loop(0, p["size_tap0"]) as t0, f.loop(0, p["size_tap1"]) as t1, f.loop(0, p["size_tap2"]) as t2:
            start = self.places(group=group, row=row, tap0=t0, tap1=t1, tap2=t2)
            # taps are few and columns many: columns go innermost whatever their order
            with f.loop(0, p["size_column"]) as column:
                self.copy(self.places(*start, column=column), 1)

    def items(self, item: V) -> None:
        f, p = self.f, self.p
        group, row = divide(f, item, p["size_row"])
        start = self.places(group=group, row=row)
        taps = f.mul(f.mul(p["size_tap0"], p["size_tap1"]), p["size_tap2"])
        count = vector_lanes(self.dtypes[0])
        with f.loop(0, p["size_column"]) as column, f.loop(0, taps, count) as tap:
            places = [f.add(place, tap) for place in self.places(*start, column=column)]
            left = f.sub(taps, tap)
            with f.branch(f.compare("sge", left, i64(count))) as otherwise:
                self.copy(places, count)
                otherwise()
                self.copy(places, count, below(f, left, count))

    def transposed(self, item: V) -> None:
        f, p = self.f, self.p
        rest, t2 = divide(f, item, p["size_tap2"])
        rest, t1 = divide(f, rest, p["size_tap1"])
        group, t0 = divide(f, rest, p["size_tap0"])
        places = self.places(group=group, tap0=t0, tap1=t1, tap2=t2)
        source, target = (
            f.at(pointer, Lanes(f, dtype, 1).memory, place)
            for pointer, dtype, place in zip(self.pointers, self.dtypes, places)
        )
        size = i64(self.dtypes[0].itemsize)
        lines = f.mul(p["from_column"], size), p["size_column"], p["size_row"]
        f.call("transpose", "void", source, *lines, target, f.mul(p["to_row"], size))
