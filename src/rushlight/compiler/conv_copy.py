"""Strided copies: weights in the order that a product reads, images in another layout or type."""

from __future__ import annotations

import functools
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from ..ir.dtypes import DType
from ..ir.sizes import product
from .conv_lanes import Lanes, below, vector_lanes
from .conv_shape import is_contiguous, is_one
from .conv_transpose import emit_transpose
from .conv_window import AXES, divide, i64, quotient_up
from .kernel import Kernel
from .templates import Array
from .text import Function, Module, V

ROWS = 32  # rows of a task
COLUMNS = 16  # columns copied at a time
DIMS = ("group", "row", "column", "tap0", "tap1", "tap2")
NAMES = [f"{part}_{dim}" for part in ("size", "from", "to") for dim in DIMS]


def copy_array(context, source: Array, target: Array) -> None:
    """Copy [group, row, column, *taps] of any strides, to another floating-point type if need be."""
    groups, rows, _, *taps = source.shape
    kind, tasks = "strided", groups * ((rows + ROWS - 1) // ROWS)
    if is_one(source.strides[1]) and is_one(target.strides[2]) and source.dtype is target.dtype:
        kind, tasks = "transposed", tasks * product(taps)
    elif is_contiguous(source, 3) and is_contiguous(target, 3):
        kind = "items"
    grain = 1 + 2**13 * tasks // (product(source.shape) + 1)
    params = [*source.shape, *source.strides, *target.strides]
    kernel = copy_kernel(source.dtype, target.dtype, kind)
    context.launch(kernel, [source, target], params, tasks, grain)


def copy_image(context, source: Array, target: Array) -> None:
    """Copy [N, C, D, H, W] of any strides, to another floating-point type if need be."""
    last = [is_one(array.strides[1]) and not is_one(array.shape[1]) for array in (source, target)]
    # where the dimension that is contiguous changes, the two go to the places that are transposed
    order = {(True, True): (0, 3, 2, None, 4, 1), (True, False): (0, 1, 4, 2, 3, None)}
    order |= {(False, True): (0, 4, 1, 2, 3, None), (False, False): (0, 1, None, 2, 3, 4)}
    copy_array(context, *(permuted(array, order[tuple(last)]) for array in (source, target)))


def contiguous(context, array: Array, order=range(5)) -> Array:
    """[N, C, D, H, W] with its dimensions in another order, contiguous: the memory itself or a copy."""
    ordered = permuted(array, order)
    if is_contiguous(ordered):
        return ordered
    dense = context.temp(ordered.shape, array.dtype)
    copy_image(context, array, permuted(dense, tuple(map(list(order).index, range(5)))))
    return dense


def with_contiguous_side(context, image: Array) -> Array:
    """The image, or a copy of it if neither its columns nor its channels are contiguous."""
    return image if is_one(image.strides[4]) or is_one(image.strides[1]) else contiguous(context, image)


def dense_like(context, array: Array, dtype: DType) -> Array:
    """A temporary of the shape of [N, C, D, H, W], with channels innermost if they are contiguous there."""
    if not is_one(array.strides[1]) or is_one(array.shape[1]):
        return context.temp(array.shape, dtype)
    return permuted(context.temp(permuted(array, (0, 2, 3, 4, 1)).shape, dtype), (0, 4, 1, 2, 3))


def weight_matrix(context, weight: Array, taps_last: bool) -> Array:
    """Weights [group, row, column, *taps] as a matrix [group * row, K], copied if need be.

    K is (column, taps) or, if not `taps_last`, (taps, column).
    """
    order = (0, 1, 2, 3, 4, 5) if taps_last else (0, 1, 3, 4, 5, 2)
    ordered = permuted(weight, order)
    if not is_contiguous(ordered):
        dense = context.temp(ordered.shape, weight.dtype)
        back = tuple(map(order.index, range(6)))
        copy_array(context, weight, permuted(dense, back))
        ordered = dense
    return as_matrix(ordered, 2)


def permuted(array: Array, order) -> Array:
    """The dimensions in another order; None is one of size 1."""
    shape = tuple(1 if d is None else array.shape[d] for d in order)
    strides = tuple(0 if d is None else array.strides[d] for d in order)
    return replace(array, shape=shape, strides=strides)


def as_matrix(array: Array, outer: int) -> Array:
    """A contiguous array as a matrix whose rows are its `outer` first dimensions."""
    rows, columns = product(array.shape[:outer]), product(array.shape[outer:])
    return replace(array, shape=(rows, columns), strides=(columns, 1))


@functools.cache
def copy_kernel(source: DType, target: DType, kind: str) -> Kernel:
    """Buffers source, target; parameters `NAMES`, strides in elements.

    "items" copies all taps of a column at once, "transposed" exchanges rows and columns, contiguous in the source and
    the target, "strided" goes element by element. The range counts blocks of `ROWS` rows, for each tap if "transposed".
    """
    module = Module()
    if kind == "transposed":
        emit_transpose(module, target)
    f = module.kernel("conv_copy")
    writer = _Writer(f, source, target)
    with f.loop(f.begin, f.end) as task:
        getattr(writer, kind)(*writer.block(task))
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

    def block(self, task: V) -> tuple[V, V, V]:
        """What a task copies: an index of group (and tap), and rows from first to last."""
        f, rows = self.f, self.p["size_row"]
        outer, number = divide(f, task, quotient_up(f, rows, i64(ROWS)))
        first = f.mul(number, i64(ROWS))
        return outer, first, f.minimum(rows, f.add(first, i64(ROWS)))

    @contextmanager
    def tile(self, first: V, last: V):
        """Loop over blocks of columns, then over rows: such a tile of source and target fits the first cache, in
        whatever order the two lie. Yields the row, the first column and the column past the last."""
        f, columns = self.f, self.p["size_column"]
        with f.loop(0, columns, COLUMNS) as column, f.loop(first, last) as row:
            yield row, column, f.minimum(columns, f.add(column, i64(COLUMNS)))

    def strided(self, group: V, first: V, last: V) -> None:
        f, p = self.f, self.p
        with self.tile(first, last) as (row, begin, end), ExitStack() as stack:
            # taps are few: columns go innermost
            taps = {f"tap{axis}": stack.enter_context(f.loop(0, p[f"size_tap{axis}"])) for axis in AXES}
            start = self.places(group=group, row=row, **taps)
            column = stack.enter_context(f.loop(begin, end))
            self.copy(self.places(*start, column=column), 1)

    def items(self, group: V, first: V, last: V) -> None:
        f, p = self.f, self.p
        taps = f.mul(f.mul(p["size_tap0"], p["size_tap1"]), p["size_tap2"])
        count = vector_lanes(self.dtypes[0])
        with self.tile(first, last) as (row, begin, end), f.loop(begin, end) as column:
            start = self.places(group=group, row=row, column=column)
            with f.loop(0, taps, count) as tap:
                left, places = f.sub(taps, tap), [f.add(place, tap) for place in start]
                with f.branch(f.compare("sge", left, i64(count))) as otherwise:
                    self.copy(places, count)
                    otherwise()
                    self.copy(places, count, below(f, left, count))

    def transposed(self, outer: V, first: V, last: V) -> None:
        f, p, taps = self.f, self.p, {}
        for axis in reversed(AXES):
            outer, taps[f"tap{axis}"] = divide(f, outer, p[f"size_tap{axis}"])
        places = self.places(group=outer, row=first, **taps)
        source, target = (
            f.at(pointer, Lanes(f, dtype, 1).memory, place)
            for pointer, dtype, place in zip(self.pointers, self.dtypes, places)
        )
        size = i64(self.dtypes[0].itemsize)
        lines = f.mul(p["from_column"], size), p["size_column"], f.sub(last, first)
        f.call("transpose", "void", source, *lines, target, f.mul(p["to_row"], size))
