"""Depthwise convolution: one filter per channel, computed for a vector of channels at a time.

A task is some channels of one image and `ROWS` rows of output. It packs what these rows see, padding included (see
`conv_planes`), so that every pixel takes the same path: a few neighbours are summed in registers, tap by tap.
The gradient with respect to the input is the same computation on gy, spread apart by the stride.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from ..ir.dtypes import DType
from .conv_block import BlockWriter
from .conv_planes import PLANES, emit_pack_planes
from .conv_shape import is_one
from .conv_transpose import emit_transpose
from .conv_window import ONE, ZERO, Window, divide, i64, quotient_up
from .gemm_element import load_lanes, memory_type, rectify, store_lanes
from .kernel import Kernel
from .target import host
from .templates import Array
from .text import Function, Module, V, vector

ROWS = 14  # rows of a task
VECTORS = 4  # vectors of channels of a task where channels are contiguous: whole pages and prefetched lines are used
NAMES = [*PLANES, "channels", "rows", "columns", "taps1", "taps2", "stride1", "dilation1", "dilation2"]
NAMES += ["start1", "start2", "span1", "span2", "reach", "weight_row", "result_n", "result_c", "result_1", "result_2"]


@dataclass(frozen=True, slots=True)
class Depthwise:
    """What the kernel is specialised on.

    stride   along the row
    pixels   how many neighbours are summed at a time
    by_rows  whether channels, not columns, are contiguous in the image, and in the result
    bias     whether a number per channel is added
    relu     whether negative results become zero
    """

    dtype: DType
    stride: int
    pixels: int
    by_rows: tuple[bool, bool]
    bias: bool = False
    relu: bool = False

    @property
    def vectors(self) -> int:
        """Vectors of channels that a task takes."""
        return VECTORS if self.by_rows[0] else 1


@dataclass(slots=True)
class Filters:
    """A two-dimensional window over an image whose positions lie `spread` apart, with zeros between."""

    window: Window
    spread: tuple[int, int] = (1, 1)

    def params(self) -> dict:
        """Values for `PLANES`, the taps and where they lie; `span` is how far the last tap is from the first."""
        window, image = self.window, self.window.image
        names = ("taps", "stride", "dilation", "start")
        values = {f"{name}{axis}": getattr(window, name)[axis] for name in names for axis in (1, 2)}
        values |= {f"span{axis}": (window.taps[axis] - 1) * window.dilation[axis] for axis in (1, 2)}
        values |= dict(zip(("image_n", "image_c", "image_1", "image_2"), (*image.strides[:2], *image.strides[3:])))
        values |= {"height": image.shape[3], "width": image.shape[4]}
        return values | {"spread1": self.spread[0], "spread2": self.spread[1]}

    def extent(self, axis: int, pixels):
        """How many positions `pixels` neighbouring outputs see."""
        return (
            (pixels - 1) * self.window.stride[axis] + 1 + (self.window.taps[axis] - 1) * abs(self.window.dilation[axis])
        )


def launch_depthwise(context, filters: Filters, weight: Array, result: Array, bias=None, relu=False) -> None:
    """weight [C, taps] with contiguous rows; result [N, C, 1, H, W] with contiguous channels or columns; bias [C]."""
    window, dtype = filters.window, result.dtype
    lanes = host().lanes(dtype.itemsize)
    channels, _, rows, columns = result.shape[1:]
    # 7 fits the planes of most image networks, 224 halved a few times
    pixels = 7 if columns % 7 == 0 else 8
    reach = filters.extent(2, (columns + pixels - 1) // pixels * pixels)
    values = filters.params() | {"channels": channels, "rows": rows, "columns": columns, "reach": reach}
    values |= dict(zip(("result_n", "result_c", "result_1", "result_2"), (*result.strides[:2], *result.strides[3:])))
    values["weight_row"] = weight.strides[0]
    by_rows = channels_first(window.image), channels_first(result)
    key = Depthwise(dtype, window.stride[2], pixels, by_rows, bias is not None, relu)
    taps = window.taps[1] * window.taps[2]
    height, group = filters.extent(1, ROWS), lanes * key.vectors
    scratch = taps + ROWS * columns + pixels + height * (1 + reach * key.vectors)
    tasks = result.shape[0] * ((channels + group - 1) // group) * ((rows + ROWS - 1) // ROWS)
    arrays, params = [window.image, weight, result] + [bias] * key.bias, [values[name] for name in NAMES]
    grain = 1 + 2**15 // (ROWS * columns * taps + 1)
    context.launch(depthwise_kernel(key), arrays, params, tasks, grain, scratch * lanes * dtype.itemsize)


def channels_first(image: Array) -> bool:
    """Whether channels are contiguous, rather than columns."""
    return not is_one(image.strides[4])


@functools.cache
def depthwise_kernel(key: Depthwise) -> Kernel:
    """Buffers image, weight, result[, bias], scratch; parameters `NAMES`."""
    module = Module()
    emit_transpose(module, key.dtype)
    emit_pack_planes(module, key.dtype, key.by_rows[0])
    _Writer(module.kernel("conv_depthwise"), key).emit()
    return Kernel("conv_depthwise", str(module))


class _Writer(BlockWriter):
    def __init__(self, f: Function, key: Depthwise):
        super().__init__(f, NAMES, key.dtype, 3 + key.bias)
        self.key, self.lanes = key, host().lanes(key.dtype.itemsize)
        self.wide = vector(memory_type(key.dtype), self.lanes)
        self.image, self.weight, self.result, *self.bias = self.buffers
        p, one = self.p, i64(self.lanes)
        self.filters = self.take(f.mul(p["taps1"], p["taps2"]), one)
        self.sums = self.take(f.add(f.mul(p["columns"], i64(ROWS)), i64(self.key.pixels)), one)
        self.exists = self.take(self.height(i64(ROWS)), one)
        self.planes = self.scratch
        self.edge = f.variable(f"[{key.pixels} x {self.wide}]")

    def height(self, rows: V) -> V:
        """How many rows of the image `rows` of the result see."""
        f, p = self.f, self.p
        span = f.intrinsic("llvm.abs", p["span1"], V("false", "i1"))
        return f.add(f.add(f.mul(f.sub(rows, ONE), p["stride1"]), ONE), span)

    def emit(self) -> None:
        f, p, group = self.f, self.p, self.lanes * self.key.vectors
        groups, blocks = quotient_up(f, p["channels"], i64(group)), quotient_up(f, p["rows"], i64(ROWS))
        self.before = [f.minimum(p[f"span{axis}"], ZERO) for axis in (1, 2)]
        with f.loop(f.begin, f.end) as task:
            rest, block = divide(f, task, blocks)
            image, number = divide(f, rest, groups)
            first = f.mul(block, i64(ROWS))
            rows = f.minimum(f.sub(p["rows"], first), i64(ROWS))
            channel = f.mul(number, i64(group))
            channels = f.minimum(f.sub(p["channels"], channel), i64(group))
            self._pack(image, channel, channels, first, rows)
            target = f.add(f.mul(image, p["result_n"]), f.mul(first, p["result_1"]))
            plane = f.mul(self.height(rows), p["reach"])
            with f.loop(0, channels, self.lanes) as start:
                self.channel = f.add(channel, start)
                self.channels = f.minimum(f.sub(channels, start), i64(self.lanes))
                self.plane = self.element(self.planes, f.mul(start, plane))
                self._filter(rows, f.add(target, f.mul(self.channel, p["result_c"])))

    def _pack(self, image: V, channel: V, channels: V, first: V, rows: V) -> None:
        f, p = self.f, self.p
        top = f.add(f.add(f.mul(first, p["stride1"]), p["start1"]), self.before[0])
        source = f.add(f.mul(image, p["image_n"]), f.mul(channel, p["image_c"]))
        where = top, self.height(rows), f.add(p["start2"], self.before[1]), p["reach"]
        target = self.planes, self.exists, f.params
        f.call("pack_planes", "void", self.element(self.image, source), channels, *where, *target)

    def _filter(self, rows: V, target: V) -> None:
        """One vector of channels."""
        f, p = self.f, self.p
        weight, taps = self.element(self.weight, f.mul(self.channel, p["weight_row"])), f.mul(p["taps1"], p["taps2"])
        self.transpose((weight, p["weight_row"]), self.channels, taps, (self.filters, i64(self.lanes)))
        with f.loop(0, rows) as row, f.loop(0, p["columns"], self.key.pixels) as column:
            self._store(self._sum(row, column), row, column, f.add(target, f.mul(row, p["result_1"])))
        if not self.key.by_rows[1]:
            self._transpose(rows, target)

    def vector(self, pointer: V, index: V) -> V:
        """The address of a vector of channels in scratch."""
        return self.element(pointer, self.f.mul(index, i64(self.lanes)))

    def _sum(self, row: V, column: V) -> list[V]:
        """Sums of neighbours from `column` on."""
        f, p, wide = self.f, self.p, self.wide
        start = f.const(0, wide)
        if self.bias:
            start = self._bias()
        sums = [f.variable(wide, start) for _ in range(self.key.pixels)]
        left = f.sub(f.mul(column, i64(self.key.stride)), self.before[1])
        with f.loop(0, p["taps1"]) as t1:
            line = f.sub(f.add(f.mul(row, p["stride1"]), f.mul(t1, p["dilation1"])), self.before[0])
            with f.when(f.compare("ne", f.load(f.at(self.exists, "i64", line), "i64"), ZERO)):
                base, tap = f.add(f.mul(line, p["reach"]), left), f.mul(t1, p["taps2"])
                with f.loop(0, p["taps2"]) as t2:
                    pointer = self.vector(self.plane, f.add(base, f.mul(t2, p["dilation2"])))
                    weight = f.load(self.vector(self.filters, f.add(tap, t2)), wide)
                    for n, total in enumerate(sums):
                        value = f.load(self.element(pointer, i64(n * self.key.stride * self.lanes)), wide)
                        f.store(f.add(f.mul(weight, value), f.load(total, wide)), total)
        values = [f.load(total, wide) for total in sums]
        return [rectify(f, value) for value in values] if self.key.relu else values

    def _bias(self) -> V:
        return load_lanes(self.f, self.element(self.bias[0], self.channel), self.dtype, self.lanes, self.channels)

    def _store(self, values: list[V], row: V, column: V, target: V) -> None:
        f, p = self.f, self.p
        if not self.key.by_rows[1]:
            # pixels behind the last column are overwritten by the next row
            out = self.vector(self.sums, f.add(f.mul(row, p["columns"]), column))
            for n, value in enumerate(values):
                f.store(value, self.element(out, i64(n * self.lanes)))
            return
        left = f.sub(p["columns"], column)
        limits = f.compare("sge", left, i64(self.key.pixels)), f.compare("eq", self.channels, i64(self.lanes))
        places = [f.add(target, f.mul(f.add(column, i64(n)), p["result_2"])) for n in range(self.key.pixels)]
        with f.branch(f.binary("and", *limits)) as otherwise:
            for place, value in zip(places, values):
                f.store(value, self.element(self.result, place))
            otherwise()
            for n, value in enumerate(values):
                f.store(value, self.element(self.edge, i64(n * self.lanes)))
            with f.loop(0, f.minimum(left, i64(self.key.pixels))) as n:
                value = f.load(self.vector(self.edge, n), self.wide)
                pointer = self.element(self.result, f.add(places[0], f.mul(n, p["result_2"])))
                store_lanes(f, value, pointer, self.dtype, self.lanes, self.channels)

    def _transpose(self, rows: V, target: V) -> None:
        """Move the sums to rows of the result, all at once if they follow each other in memory."""
        f, p = self.f, self.p
        together = f.select(f.compare("eq", p["result_1"], p["columns"]), rows, i64(1))
        with f.loop(0, rows, together) as row:
            source = self.vector(self.sums, f.mul(row, p["columns"]))
            place = self.element(self.result, f.add(target, f.mul(row, p["result_1"])))
            pixels = f.mul(together, p["columns"])
            self.transpose((source, i64(self.lanes)), pixels, self.channels, (place, p["result_c"]))
