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
from .conv_block import SPARE, BlockWriter, share_grain
from .conv_lines import Lines, emit_pack_lines
from .conv_shape import merge_plane
from .conv_sum import split_count, sum_parts
from .conv_tile import emit_multiply
from .conv_transpose import emit_transpose
from .conv_window import ONE, WINDOW, ZERO, Window, axes, divide, dot, i64, quotient_up, runs, strides
from .kernel import Kernel
from .templates import Array
from .text import Function, Module, V

UNIT = 32  # output channels of a task
COLUMNS = 256  # output channels that a share takes at a time
DEPTH = 288  # rows of a block of lines, about
NAMES = [*WINDOW, "groups", "channels", "features", "total", "width", "block", "blocks", "span", "splits"]
NAMES += ["gradient_n", "gradient_c", "gradient_0", "gradient_1", "gradient_2", "plane0", "plane1", "plane2"]
NAMES += ["part", "row"]


def launch_grad_columns(context, window: Window, gradient: Array, target: Array, groups) -> None:
    """gradient [N, O, D, H, W] whose pixels or rows are contiguous; target [O, K], contiguous."""
    plane = merge_plane(gradient) or gradient
    features, channels = target.shape[0] // groups, window.image.shape[1] // groups
    taps, total = product(window.taps), product(window.pixels) * gradient.shape[0]
    width = 256 if features <= 128 else 128
    block = 1 + (DEPTH - 1) // taps
    blocks, units = (channels + block - 1) // block, (features + UNIT - 1) // UNIT
    splits = split_count(product(target.shape), total, width)
    span = (total + splits * width - 1) // (splits * width) * width
    values = {"groups": groups, "channels": channels, "features": features, "total": total, "width": width}
    values |= {"block": block, "blocks": blocks, "span": span, "splits": splits}
    values |= (
        window.params() | strides("gradient", plane) | {f"plane{axis}": plane.shape[2 + axis] for axis in range(3)}
    )
    values |= {"part": product(target.shape), "row": target.shape[1]}
    lines, right, sums = block * taps * (width + SPARE), width * (COLUMNS + SPARE), block * taps * (COLUMNS + SPARE)
    scratch = (lines + right + sums) * target.dtype.itemsize
    kernel, params = grad_kernel(target.dtype, Lines.of(window)), [values[name] for name in NAMES]
    with sum_parts(context, splits, target) as parts:
        arrays = [window.image, gradient, parts]
        grain = share_grain(units, 4, UNIT * block * taps * span)
        context.launch(kernel, arrays, params, groups * splits * blocks * units, grain, scratch)


@functools.cache
def grad_kernel(dtype: DType, lines: Lines) -> Kernel:
    """Buffers image, gradient, parts, scratch; parameters `NAMES`."""
    module = Module()
    emit_multiply(module, dtype)
    emit_transpose(module, dtype)
    emit_pack_lines(module, lines)
    _Writer(module.kernel("conv_grad_columns"), dtype).emit()
    return Kernel("conv_grad_columns", str(module))


class _Writer(BlockWriter):
    def __init__(self, f: Function, dtype: DType):
        super().__init__(f, NAMES, dtype, 3)
        p = self.p
        self.image, self.gradient, self.target = self.buffers
        self.taps = f.mul(f.mul(p["taps0"], p["taps1"]), p["taps2"])
        self.pitch, self.wide = f.add(p["width"], i64(SPARE)), i64(COLUMNS + SPARE)
        self.lines = self.take(f.mul(p["block"], self.taps), self.pitch)
        self.right = self.take(p["width"], self.wide)
        self.sums = self.scratch

    def emit(self) -> None:
        f, p = self.f, self.p
        with self.shares(quotient_up(f, p["features"], i64(UNIT)), COLUMNS // UNIT) as (outer, unit, count):
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

    def _products(self, group: V, split: V) -> None:
        f, p = self.f, self.p
        self.clear(self.sums, f.mul(self.rows, self.wide))
        begin = f.mul(split, p["span"])
        end = f.minimum(f.add(begin, p["span"]), p["total"])
        channel = f.add(f.mul(group, p["channels"]), self.channel)
        image = self.element(self.image, f.mul(channel, p["image_c"]))
        with f.loop(begin, end, p["width"]) as first:
            last = f.minimum(f.add(first, p["width"]), end)
            f.call("pack_lines", "void", image, first, last, self.channels, self.lines, self.pitch, f.params)
            self._pack_gradient(first, last)
            a, b, c = (self.lines, self.pitch, ONE), (self.right, self.wide), (self.sums, self.wide)
            self.multiply(a, b, f.sub(last, first), c, self.rows, self.columns, ZERO)

    def _pack_gradient(self, first: V, last: V) -> None:
        """This share's channels of gy as columns, for pixels [first, last)."""
        f, p = self.f, self.p
        start = f.mul(self.feature, p["gradient_c"])
        with runs(f, axes(p, "plane"), first, last) as (pixel, image, place, length):
            source = self.element(self.gradient, f.add(start, dot(f, p, "gradient", image, place)))
            target = self.element(self.right, f.mul(f.sub(pixel, first), self.wide))
            self.transpose((source, p["gradient_c"]), self.columns, length, (target, self.wide))

    def _finish(self, split: V) -> None:
        f, p = self.f, self.p
        place = f.add(f.mul(split, p["part"]), f.mul(self.feature, p["row"]))
        target = self.element(self.target, f.add(place, f.mul(self.channel, self.taps)))
        self.transpose((self.sums, self.wide), self.rows, self.columns, (target, p["row"]))
