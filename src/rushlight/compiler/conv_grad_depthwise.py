"""The weight gradient of depthwise convolution, for vectors of channels at a time.

A task is some channels and a part of all (image, `ROWS` rows of output); it packs what they see, and gy, see
`conv_planes`. The taps of a row are summed in registers. Parts write sums of their own, added in a fixed order.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from ..ir.dtypes import DType
from ..ir.sizes import product
from .conv_block import BlockWriter
from .conv_depthwise import ROWS, VECTORS, Filters, channels_first
from .conv_planes import PLANES, emit_pack_planes
from .conv_sum import split_count, sum_parts
from .conv_transpose import emit_transpose
from .conv_window import ONE, ZERO, divide, i64, quotient_up
from .elementwise import memory_type
from .kernel import Kernel
from .target import host
from .templates import Array
from .text import Function, Module, V, vector

MOST = 8  # taps of a row that are summed in registers
GRADIENT = [f"gradient_{name}" for name in PLANES]
NAMES = [*PLANES, *GRADIENT, "channels", "items", "rows", "taps1", "taps2", "stride1", "dilation1", "dilation2"]
NAMES += ["start1", "start2", "span1", "span2", "reach", "columns", "parts", "part"]


@dataclass(frozen=True, slots=True)
class DepthwiseGrad:
    """What the kernel is specialised on.

    stride  along the row
    taps    of a row that are summed at a time
    by_rows whether channels, not columns, are contiguous in the image, and in gy
    """

    dtype: DType
    stride: int
    taps: int
    by_rows: tuple[bool, bool]

    @property
    def pixels(self) -> int:
        """Neighbours with sums of their own: enough independent sums to hide the latency of additions."""
        return 2 if self.taps <= 4 else 1

    @property
    def vectors(self) -> int:
        """Vectors of channels that a task takes."""
        return VECTORS if self.by_rows[0] else 1


def launch_grad_depthwise(context, filters: Filters, gradient: Array, target: Array) -> None:
    """gradient [N, C, 1, H, W] with contiguous channels or columns; target [C, taps], contiguous."""
    window, dtype = filters.window, target.dtype
    lanes = host().lanes(dtype.itemsize)
    batch, channels, _, rows, columns = gradient.shape
    by_rows = channels_first(window.image), channels_first(gradient)
    key = DepthwiseGrad(dtype, window.stride[2], window.taps[2] if window.taps[2] <= MOST else 1, by_rows)
    columns = (columns + key.pixels - 1) // key.pixels * key.pixels
    reach = filters.extent(2, columns)
    values = filters.params() | {"channels": channels, "rows": rows, "columns": columns, "reach": reach}
    places = (*gradient.shape[3:], *gradient.strides[:2], *gradient.strides[3:], 1, 1)
    values |= dict(zip(GRADIENT, places))
    items, group = batch * ((rows + ROWS - 1) // ROWS), lanes * key.vectors
    parts = split_count(product(target.shape), items, 1)
    values |= {"items": items, "parts": parts, "part": product(target.shape)}
    height = filters.extent(1, ROWS)
    scratch = height * (1 + reach * key.vectors) + ROWS * (1 + columns * key.vectors) + target.shape[1] * key.vectors
    kernel, params = grad_kernel(key), [values[name] for name in NAMES]
    with sum_parts(context, parts, target) as sums:
        arrays, tasks = [window.image, gradient, sums], (channels + group - 1) // group * parts
        context.launch(kernel, arrays, params, tasks, 1, scratch * lanes * dtype.itemsize)


@functools.cache
def grad_kernel(key: DepthwiseGrad) -> Kernel:
    """Buffers image, gradient, sums, scratch; parameters `NAMES`."""
    module = Module()
    emit_transpose(module, key.dtype)
    emit_pack_planes(module, key.dtype, key.by_rows[0])
    emit_pack_planes(module, key.dtype, key.by_rows[1], "pack_gradient")
    _Writer(module.kernel("conv_grad_depthwise"), key).emit()
    return Kernel("conv_grad_depthwise", str(module))


class _Writer(BlockWriter):
    def __init__(self, f: Function, key: DepthwiseGrad):
        super().__init__(f, NAMES, key.dtype, 3)
        self.key, self.lanes = key, host().lanes(key.dtype.itemsize)
        self.wide = vector(memory_type(key.dtype), self.lanes)
        self.image, self.gradient, self.target = self.buffers
        p, one = self.p, i64(self.lanes)
        self.taps = f.mul(p["taps1"], p["taps2"])
        self.sums = self.take(f.mul(self.taps, i64(key.vectors)), one)
        self.gradient_exists, self.exists = self.take(i64(ROWS), one), self.take(self.height(i64(ROWS)), one)
        self.gradients = self.take(f.mul(p["columns"], i64(ROWS * key.vectors)), one)
        self.planes = self.scratch

    def vector(self, pointer: V, index: V) -> V:
        """The address of a vector of channels in scratch."""
        return self.element(pointer, self.f.mul(index, i64(self.lanes)))

    def height(self, rows: V) -> V:
        """How many rows of the image `rows` of gy see."""
        f, p = self.f, self.p
        span = f.intrinsic("llvm.abs", p["span1"], V("false", "i1"))
        return f.add(f.add(f.mul(f.sub(rows, ONE), p["stride1"]), ONE), span)

    def emit(self) -> None:
        f, p, group = self.f, self.p, self.lanes * self.key.vectors
        self.before = [f.minimum(p[f"span{axis}"], ZERO) for axis in (1, 2)]
        blocks = quotient_up(f, p["rows"], i64(ROWS))
        with f.loop(f.begin, f.end) as task:
            number, part = divide(f, task, p["parts"])
            channel = f.mul(number, i64(group))
            channels = f.minimum(f.sub(p["channels"], channel), i64(group))
            vectors = quotient_up(f, channels, i64(self.lanes))
            self.clear(self.sums, f.mul(f.mul(self.taps, vectors), i64(self.lanes)))
            begin, end = (f.binary("udiv", f.mul(p["items"], n), p["parts"]) for n in (part, f.add(part, ONE)))
            with f.loop(begin, end) as item:
                image, block = divide(f, item, blocks)
                first = f.mul(block, i64(ROWS))
                rows = f.minimum(f.sub(p["rows"], first), i64(ROWS))
                self._pack(image, channel, channels, first, rows)
                with f.loop(0, vectors) as number:
                    self._add_products(number, rows)
            self._finish(part, channel, channels)

    def _pack(self, image: V, channel: V, channels: V, first: V, rows: V) -> None:
        f, p = self.f, self.p
        top = f.add(f.add(f.mul(first, p["stride1"]), p["start1"]), self.before[0])
        where = top, self.height(rows), f.add(p["start2"], self.before[1]), p["reach"]
        source = self._source(self.image, "", image, channel)
        f.call("pack_planes", "void", source, channels, *where, self.planes, self.exists, f.params)
        source = self._source(self.gradient, "gradient_", image, channel)
        where, params = (first, rows, ZERO, p["columns"]), f.at(f.params, "i64", len(PLANES))
        f.call("pack_gradient", "void", source, channels, *where, self.gradients, self.gradient_exists, params)

    def _source(self, pointer: V, name: str, image: V, channel: V) -> V:
        f, p = self.f, self.p
        place = f.add(f.mul(image, p[f"{name}image_n"]), f.mul(channel, p[f"{name}image_c"]))
        return self.element(pointer, place)

    def _add_products(self, number: V, rows: V) -> None:
        """Add what `rows` rows of one vector of channels contribute to all taps."""
        f, p, chunk = self.f, self.p, self.key.taps
        planes = self.vector(self.planes, f.mul(number, f.mul(self.height(rows), p["reach"])))
        gradients = self.vector(self.gradients, f.mul(number, f.mul(rows, p["columns"])))
        sums = self.vector(self.sums, f.mul(number, self.taps))
        with f.loop(0, p["taps1"]) as t1, f.loop(0, p["taps2"], chunk) as t2:
            zero = f.const(0, self.wide)
            partial = [[f.variable(self.wide, zero) for _ in range(chunk)] for _ in range(self.key.pixels)]
            with f.loop(0, rows) as row:
                line = f.sub(f.add(f.mul(row, p["stride1"]), f.mul(t1, p["dilation1"])), self.before[0])
                with f.when(f.compare("ne", f.load(f.at(self.exists, "i64", line), "i64"), ZERO)):
                    left = f.sub(f.mul(t2, p["dilation2"]), self.before[1])
                    source = self.vector(planes, f.add(f.mul(line, p["reach"]), left))
                    self._row(source, self.vector(gradients, f.mul(row, p["columns"])), partial)
            place = f.add(f.mul(t1, p["taps2"]), t2)
            for n in range(chunk):
                total = functools.reduce(f.add, [f.load(group[n], self.wide) for group in partial])
                pointer = self.vector(sums, f.add(place, i64(n)))
                f.store(f.add(f.load(pointer, self.wide), total), pointer)

    def _row(self, source: V, gradient: V, partial: list[list[V]]) -> None:
        """One row of gy against a few taps."""
        f, p, wide = self.f, self.p, self.wide
        taps = [f.mul(p["dilation2"], i64(n)) for n in range(self.key.taps)]
        with f.loop(0, p["columns"], self.key.pixels) as column:
            for n, sums in enumerate(partial):
                now = f.add(column, i64(n))
                value = f.load(self.vector(gradient, now), wide)
                seen = f.mul(now, i64(self.key.stride))
                for tap, total in zip(taps, sums):
                    product = f.mul(value, f.load(self.vector(source, f.add(seen, tap)), wide))
                    f.store(f.add(product, f.load(total, wide)), total)

    def _finish(self, part: V, channel: V, channels: V) -> None:
        f, p = self.f, self.p
        with f.loop(0, channels, self.lanes) as start:
            source = self.element(self.sums, f.mul(start, self.taps)), i64(self.lanes)
            place = f.add(f.mul(part, p["part"]), f.mul(f.add(channel, start), self.taps))
            count = f.minimum(f.sub(channels, start), i64(self.lanes))
            self.transpose(source, self.taps, count, (self.element(self.target, place), self.taps))
