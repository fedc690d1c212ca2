"""The weight gradient of images whose rows are contiguous, as a product along pixels.

    sums[k, o] = sum over pixels of lines[k, pixel] * gy[o, pixel],  k = (channel, tap)

A task is a block of input channels, `UNIT` output channels and a span of pixels, counted over all images. A share of
tasks with the same lines packs them once (see `conv_lines`), some pixels at a time. Where the weights alone are too few
tasks, the pixels are split: spans write sums of their own, which are added in a fixed order.
"""

from __future__ import annotations

import functools

from ..ir.dtypes import DType
from ..ir.sizes import product
from .conv_lines import Lines, emit_pack_lines
from .conv_shape import merge_plane
from .conv_sum import add_parts
from .conv_tile import emit_multiply
from .conv_transpose import emit_transpose
from .conv_window import WINDOW, ZERO, Window, axes, divide, dot, i64, named_params, quotient_up, runs, strides
from .gemm_element import memory_type
from .kernel import Kernel
from .target import host
from .templates import Array
from .text import Function, Module, V, vector

UNIT = 32  # output channels of a task
COLUMNS = 256  # output channels that a share takes at a time
DEPTH = 288  # rows of a block of lines, about
SPARE = 16  # elements behind a row of each block in scratch
NAMES = [*WINDOW, "groups", "channels", "features", "total", "width", "block", "blocks", "span", "splits"]
NAMES += ["gradient_n", "gradient_c", "gradient_0", "gradient_1", "gradient_2", "plane0", "plane1", "plane2"]
NAMES += ["part", "row"]


def launch_weight_grad(context, window: Window, gradient: Array, target: Array, groups) -> None:
    """gradient [N, O, D, H, W] whose pixels or rows are contiguous; target [O, K], contiguous."""
    plane = merge_plane(gradient) or gradient
    features, channels = target.shape[0] // groups, window.image.shape[1] // groups
    taps, total = product(window.taps), product(window.pixels) * gradient.shape[0]
    width = 256 if features <= 128 else 128
    block = 1 + (DEPTH - 1) // taps
    blocks, units = (channels + block - 1) // block, (features + UNIT - 1) // UNIT
    splits = split_count(target.shape[0] * target.shape[1])
    span = (total + splits * width - 1) // (splits * width) * width
    values = {"groups": groups, "channels": channels, "features": features, "total": total, "width": width}
    values |= {"block": block, "blocks": blocks, "span": span, "splits": splits}
    values |= (
        window.params() | strides("gradient", plane) | {f"plane{axis}": plane.shape[2 + axis] for axis in range(3)}
    )
    values |= {"part": product(target.shape), "row": target.shape[1]}
    parts = target if splits == 1 else context.temp((splits, *target.shape), target.dtype)
    lines, right, sums = block * taps * (width + SPARE), width * (COLUMNS + SPARE), block * taps * (COLUMNS + SPARE)
    scratch = (lines + right + sums) * target.dtype.itemsize
    kernel = weight_kernel(target.dtype, Lines.of(window))
    arrays = [window.image, gradient, parts]
    context.launch(kernel, arrays, [values[n] for n in NAMES], groups * splits * blocks * units, 1, scratch)
    if splits > 1:
        add_parts(context, parts, target)


def split_count(weights) -> int:
    """In how many parts pixels are summed: enough tasks for many threads, and no more sums than fit the cache."""
    if weights >= 2**17:
        return 1
    return 4 if weights >= 2**14 else 16


@functools.cache
def weight_kernel(dtype: DType, lines: Lines) -> Kernel:
    """Buffers image, gradient, parts, scratch; parameters `NAMES`."""
    module = Module()
    emit_multiply(module, dtype)
    emit_transpose(module, dtype)
    emit_pack_lines(module, lines)
    _Writer(module.kernel("conv_weight_grad"), dtype).emit()
    return Kernel("conv_weight_grad", str(module))


class _Writer:
    def __init__(self, f: Function, dtype: DType):
        self.f, self.dtype = f, dtype
        p = self.p = named_params(f, NAMES, f.params)
        self.image, self.gradient, self.target, self.lines = (f.buffer(i) for i in range(4))
        self.taps = f.mul(f.mul(p["taps0"], p["taps1"]), p["taps2"])
        self.pitch, self.right_pitch = f.add(p["width"], i64(SPARE)), i64(COLUMNS + SPARE)
        height = f.mul(p["block"], self.taps)
        self.right = self.element(self.lines, f.mul(height, self.pitch))
        self.sums = self.element(self.right, f.mul(p["width"], self.right_pitch))

    def element(self, pointer: V, index: V) -> V:
        return self.f.at(pointer, memory_type(self.dtype), index)

    def bytes(self, count: V) -> V:
        return self.f.mul(count, i64(self.dtype.itemsize))

    def emit(self) -> None:
        f, p = self.f, self.p
        units = quotient_up(f, p["features"], i64(UNIT))
        task = f.variable("i64", f.begin)
        with f.repeat(lambda: f.compare("slt", f.load(task, "i64"), f.end)):
            now = f.load(task, "i64")
            outer, unit = divide(f, now, units)
            count = f.minimum(f.minimum(f.sub(units, unit), f.sub(f.end, now)), i64(COLUMNS // UNIT))
            outer, block = divide(f, outer, p["blocks"])
            group, split = divide(f, outer, p["splits"])
            column = f.mul(unit, i64(UNIT))
            self.columns = f.minimum(f.sub(p["features"], column), f.mul(count, i64(UNIT)))
            self.feature = f.add(f.mul(group, p["features"]), column)
            self.channel = f.mul(block, p["block"])
            self.channels = f.minimum(f.sub(p["channels"], self.channel), p["block"])
            self.rows = f.mul(self.channels, self.taps)
            self._products(group, split)
            self._finish(split)
            f.store(f.add(now, count), task)

    def _products(self, group: V, split: V) -> None:
        f, p = self.f, self.p
        self._clear()
        begin = f.mul(split, p["span"])
        end = f.minimum(f.add(begin, p["span"]), p["total"])
        channel = f.add(f.mul(group, p["channels"]), self.channel)
        image = self.element(self.image, f.mul(channel, p["image_c"]))
        with f.loop(begin, end, p["width"]) as first:
            last = f.minimum(f.add(first, p["width"]), end)
            f.call("pack_lines", "void", image, first, last, self.channels, self.lines, self.pitch, f.params)
            self._pack_gradient(first, last)
            a = self.lines, self.bytes(self.pitch), i64(self.dtype.itemsize)
            b = self.right, self.bytes(self.right_pitch), f.sub(last, first)
            c = self.sums, self.bytes(self.right_pitch), V("null", "ptr")
            f.call("multiply", "void", *a, *b, *c, self.rows, self.columns, ZERO)

    def _clear(self) -> None:
        f, count = self.f, host().lanes(self.dtype.itemsize)
        zero = V("zeroinitializer", vector(memory_type(self.dtype), count))
        with f.loop(0, f.mul(self.rows, self.right_pitch), count) as i:
            f.store(zero, self.element(self.sums, i))

    def _pack_gradient(self, first: V, last: V) -> None:
        """This share's channels of gy as columns, for pixels [first, last)."""
        f, p = self.f, self.p
        source = f.mul(self.feature, p["gradient_c"])
        with runs(f, axes(p, "plane"), first, last) as (pixel, image, place, length):
            start = self.element(self.gradient, f.add(source, dot(f, p, "gradient", image, place)))
            target = self.element(self.right, f.mul(f.sub(pixel, first), self.right_pitch))
            row = self.bytes(p["gradient_c"])
            f.call("transpose", "void", start, row, self.columns, length, target, self.bytes(self.right_pitch))

    def _finish(self, split: V) -> None:
        f, p = self.f, self.p
        place = f.add(f.mul(split, p["part"]), f.mul(self.feature, p["row"]))
        target = self.element(self.target, f.add(place, f.mul(self.channel, self.taps)))
        source = self.sums, self.bytes(self.right_pitch), self.rows, self.columns
        f.call("transpose", "void", *source, target, self.bytes(p["row"]))
