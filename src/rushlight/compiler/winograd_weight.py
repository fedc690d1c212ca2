"""The weights' side of Winograd's convolution: factors of 4 x 4 products from 3 x 3 taps."""

from __future__ import annotations

import functools
from dataclasses import replace

from ..ir.dtypes import DType
from .conv_block import BlockWriter
from .conv_copy import weight_matrix
from .conv_tile import tile_shape
from .conv_transpose import emit_transpose, load_block
from .conv_window import ONE, divide, i64, quotient_up
from .gemm_element import load_lanes, memory_type
from .gemm_transpose import transpose
from .kernel import Kernel
from .target import host
from .templates import Array
from .text import Function, Module, V, vector
from .winograd_transform import POSITIONS, SQUARE, TAPS, weight_transform

CHUNK = 32  # input channels of a task
STRIDES = ("weight_row", "weight_column", "weight_1", "weight_2")  # of output and input channels, and of taps
NAMES = [*STRIDES, "channels", "features", "panel"]
ARGUMENTS = (
    ("ptr", "weight"),  # the first output and input channel and the first tap
    *(("i64", name) for name in STRIDES),  # in elements
    ("i64", "rows"),  # output channels, at most a panel; columns behind them are numbers without meaning
    ("i64", "channels"),  # input channels
    ("ptr", "lines"),  # scratch memory if columns are contiguous: [channel, tap][column of the panel]
    ("ptr", "target"),  # [position][channel][column of the panel]
    ("i64", "position"),  # elements between positions of the target
)


def panel_width(dtype: DType) -> int:
    """Output channels of a panel: the columns of a register tile."""
    return tile_shape()[1] * host().lanes(dtype.itemsize)


def panel_size(channels, dtype: DType):
    """Elements of a transformed panel."""
    return POSITIONS * position_size(channels, dtype)


def position_size(channels, dtype: DType):
    """Elements between positions of a panel: one more vector keeps them from the same sets of the cache."""
    return channels * panel_width(dtype) + host().lanes(dtype.itemsize)


def lines_size(form: str, channels, dtype: DType):
    """Elements of scratch memory for `lines`."""
    return channels * SQUARE * panel_width(dtype) if form == "columns" else 0


def readable(context, weight: Array) -> tuple[Array, str]:
    """Weights [1, O, C, 1, 3, 3] as [O, C, 3, 3] that can be transformed, copied if need be, and what is contiguous
    in them: "taps" (all nine, "reversed" from the last to the first), "columns" (C) or "rows" (O)."""
    array = replace(weight, shape=pick(weight.shape), strides=pick(weight.strides))
    row, column, *taps = array.strides
    for step, form in ((1, "taps"), (-1, "reversed")):
        if taps == [TAPS * step, step]:
            return array, form
    for stride, form in ((column, "columns"), (row, "rows")):
        if type(stride) is int and stride == 1:
            return array, form
    copy = weight_matrix(context, weight, taps_last=True)
    strides = (copy.strides[0], SQUARE, TAPS, 1)
    return replace(copy, shape=array.shape, strides=strides), "taps"


def pick(numbers: tuple) -> tuple:
    return (*numbers[1:3], *numbers[4:])


def emit_transform_weight(module: Module, dtype: DType, form: str) -> Function:
    """Define `transform_weight(*ARGUMENTS)`; needs `transpose` in the module where columns are contiguous."""
    f = module.function("transform_weight", list(ARGUMENTS), linkage="internal")
    _WeightWriter(f, dtype, form).emit()
    return f


class _WeightWriter:
    def __init__(self, f: Function, dtype: DType, form: str):
        self.f, self.dtype, self.form = f, dtype, form
        self.args = dict(zip((name for _, name in ARGUMENTS), f.args))
        self.width, self.count = panel_width(dtype), host().lanes(dtype.itemsize)
        self.kind = memory_type(dtype)
        self.type = vector(self.kind, self.count)

    def emit(self) -> None:
        f, a = self.f, self.args
        if self.form == "columns":
            self._make_lines()
        read = {"columns": self._read_lines, "rows": self._read_rows}.get(self.form, self._read_taps)
        self.values = [f.variable(self.type) for _ in range(SQUARE)]
        with f.loop(0, a["rows"], self.count) as column, f.loop(0, a["channels"]) as channel:
            taps = read(column, channel)
            out = f.add(f.mul(channel, i64(self.width)), column)
            for line in weight_transform(f, [taps[t : t + TAPS] for t in range(0, SQUARE, TAPS)]):
                for value in line:
                    f.store(value, f.at(a["target"], self.kind, out))
                    out = f.add(out, a["position"])

    def _weight(self, row: V, channel: V, *taps: V) -> V:
        """The address of a weight."""
        f, total = self.f, None
        for number, name in zip((row, channel, *taps), STRIDES):
            term = f.mul(number, self.args[name])
            total = term if total is None else f.add(total, term)
        return f.at(self.args["weight"], self.kind, total)

    def _make_lines(self) -> None:
        f, a, size = self.f, self.args, self.dtype.itemsize
        size_of_lines = f.mul(a["channels"], i64(SQUARE * self.width))
        with f.when(f.compare("slt", a["rows"], i64(self.width))), f.loop(0, size_of_lines, self.count) as i:
            f.store(f.const(0, self.type), f.at(a["lines"], self.kind, i))
        row = f.mul(a["weight_row"], i64(size))
        for t in range(SQUARE):
            source = self._weight(i64(0), i64(0), *map(i64, divmod(t, TAPS)))
            target = f.at(a["lines"], self.kind, t * self.width), i64(SQUARE * self.width * size)
            f.call("transpose", "void", source, row, a["rows"], a["channels"], *target)

    def _read_lines(self, column: V, channel: V) -> list[V]:
        f = self.f
        source = f.at(self.args["lines"], self.kind, f.add(f.mul(channel, i64(SQUARE * self.width)), column))
        return [f.load(f.at(source, self.kind, t * self.width), self.type) for t in range(SQUARE)]

    def _read_rows(self, column: V, channel: V) -> list[V]:
        """Output channels are contiguous: the nine vectors as they lie."""
        f, rest = self.f, self.f.sub(self.args["rows"], column)
        taps = [self._weight(column, channel, *map(i64, divmod(t, TAPS))) for t in range(SQUARE)]
        load_block(f, self.dtype, taps, rest, f.compare("sge", rest, i64(self.count)), self.values)
        return [f.load(value, self.type) for value in self.values]

    def _read_taps(self, column: V, channel: V) -> list[V]:
        """The nine taps are contiguous: a vector of output channels is transposed in registers."""
        f, found = self.f, []
        last = f.sub(self.args["rows"], ONE)
        rows = [f.minimum(f.add(column, i64(r)), last) for r in range(self.count)]
        back = i64(SQUARE - 1) if self.form == "reversed" else i64(0)
        starts = [f.at(self._weight(row, channel), self.kind, f.sub(i64(0), back)) for row in rows]
        for t in range(0, SQUARE, self.count):
            count = min(self.count, SQUARE - t)
            mask = None if count == self.count else i64(count)
            block = [load_lanes(f, f.at(start, self.kind, t), self.dtype, self.count, mask) for start in starts]
            found += transpose(f, block)[:count]
        return found[::-1] if self.form == "reversed" else found


def transformed_weights(context, weight: Array, form: str) -> Array:
    """Launch the transformation of [O, C, 3, 3] to [panel][position][channel][column], a temporary."""
    dtype, width = weight.dtype, panel_width(weight.dtype)
    features, channels = weight.shape[:2]
    panels = (features + width - 1) // width
    size = panel_size(channels, dtype)
    target = context.temp((panels * size,), dtype)
    tasks = panels * ((channels + CHUNK - 1) // CHUNK)
    scratch = lines_size(form, CHUNK, dtype) * dtype.itemsize
    params = [*weight.strides, channels, features, size]
    context.launch(weight_kernel(dtype, form), [weight, target], params, tasks, 4, scratch + 64)
    return target


@functools.cache
def weight_kernel(dtype: DType, form: str) -> Kernel:
    """Buffers weight, target, scratch; parameters `NAMES`. The range counts `CHUNK` channels of a panel."""
    module = Module()
    emit_transpose(module, dtype)
    emit_transform_weight(module, dtype, form)
    f = module.kernel("winograd_weight")
    writer, width = BlockWriter(f, NAMES, dtype, 2), panel_width(dtype)
    p, (weight, target) = writer.p, writer.buffers
    with f.loop(f.begin, f.end) as task:
        panel, chunk = divide(f, task, quotient_up(f, p["channels"], i64(CHUNK)))
        row, channel = f.mul(panel, i64(width)), f.mul(chunk, i64(CHUNK))
        rows = f.minimum(f.sub(p["features"], row), i64(width))
        channels = f.minimum(f.sub(p["channels"], channel), i64(CHUNK))
        start = f.add(f.mul(row, p["weight_row"]), f.mul(channel, p["weight_column"]))
        source, place = writer.element(weight, start), f.add(f.mul(panel, p["panel"]), f.mul(channel, i64(width)))
        places = writer.scratch, writer.element(target, place), position_distance(f, p["channels"], dtype)
        f.call("transform_weight", "void", source, *(p[name] for name in STRIDES), rows, channels, *places)
    return Kernel(f.name, str(module))


def position_distance(f: Function, channels: V, dtype: DType) -> V:
    """`position_size` in a kernel."""
    return f.add(f.mul(channels, i64(panel_width(dtype))), i64(host().lanes(dtype.itemsize)))
