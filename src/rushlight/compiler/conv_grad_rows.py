"""The weight gradient of images whose channels are contiguous, as a product along pixels.

    sums[o, k] = sum over pixels of gy[pixel, o] * pixels[pixel, k],  k = (tap, channel)

A task is a block of k, `UNIT` output channels and a span of pixels, counted over all images. A share of tasks with the
same block packs its pixels once (see `conv_pixels`), some at a time; gy is read where it lies. Where the weights alone
are too few tasks, the pixels are split: spans write sums of their own, which are added in a fixed order.
"""

from __future__ import annotations

import functools

from ..ir.dtypes import DType
from ..ir.sizes import product
from .conv_block import SPARE, BlockWriter, share_grain
from .conv_lanes import Lanes, vector_lanes
from .conv_pixels import PIXELS, Runs, emit_pack_pixels
from .conv_rows import each_vector
from .conv_sum import split_count, sum_parts
from .conv_tile import emit_multiply
from .conv_window import ONE, ZERO, Window, divide, i64, quotient_up
from .kernel import Kernel
from .templates import Array
from .text import Function, Module, V

UNIT = 16  # output channels of a task
ROWS = 256  # output channels that a share takes at a time
WIDTH = 192  # pixels of a block
DEPTH = 256  # k of a block
NAMES = [*PIXELS, "groups", "channels", "features", "total", "depth", "even", "blocks", "span", "splits"]
NAMES += ["gradient_step", "part", "row"]


def launch_grad_rows(context, window: Window, gradient: Array, target: Array, groups) -> None:
    """gradient [pixel, O], channels contiguous; target [O, K] with K = (tap, channel), contiguous."""
    seen = Runs.of(window, groups)
    features, total = target.shape[0] // groups, gradient.shape[0]
    blocks = (seen.depth + DEPTH - 1) // DEPTH
    even = (seen.depth + blocks - 1) // blocks
    splits = split_count(product(target.shape), total, WIDTH)
    span = (total + splits * WIDTH - 1) // (splits * WIDTH) * WIDTH
    values = {"groups": groups, "channels": window.image.shape[1] // groups, "features": features, "total": total}
    values |= {"depth": seen.depth, "even": even, "blocks": blocks, "span": span, "splits": splits}
    values |= {"gradient_step": gradient.strides[0], "part": product(target.shape), "row": target.shape[1]}
    values |= seen.params()
    scratch = (WIDTH + ROWS) * (DEPTH + SPARE) * target.dtype.itemsize
    units = (features + UNIT - 1) // UNIT
    tasks, grain = groups * splits * blocks * units, share_grain(units, 8, UNIT * even * span)
    with sum_parts(context, splits, target) as parts:
        arrays, params = [window.image, gradient, parts], [values[name] for name in NAMES]
        context.launch(grad_kernel(target.dtype), arrays, params, tasks, grain, scratch)


@functools.cache
def grad_kernel(dtype: DType) -> Kernel:
    """Buffers image, gradient, parts, scratch; parameters `NAMES`."""
    module = Module()
    emit_multiply(module, dtype)
    emit_pack_pixels(module, dtype)
    _Writer(module.kernel("conv_grad_rows"), dtype).emit()
    return Kernel("conv_grad_rows", str(module))


class _Writer(BlockWriter):
    def __init__(self, f: Function, dtype: DType):
        super().__init__(f, NAMES, dtype, 3)
        self.image, self.gradient, self.target = self.buffers
        self.pitch = i64(DEPTH + SPARE)
        self.pixels = self.take(i64(WIDTH), self.pitch)
        self.sums = self.scratch

    def emit(self) -> None:
        f, p = self.f, self.p
        with self.shares(quotient_up(f, p["features"], i64(UNIT)), ROWS // UNIT) as (outer, unit, count):
            outer, block = divide(f, outer, p["blocks"])
            group, split = divide(f, outer, p["splits"])
            row = f.mul(unit, i64(UNIT))
            self.rows = f.minimum(f.sub(p["features"], row), f.mul(count, i64(UNIT)))
            self.feature = f.add(f.mul(group, p["features"]), row)
            self.begin = f.mul(block, p["even"])
            self.end = f.minimum(f.add(self.begin, p["even"]), p["depth"])
            self._products(self.element(self.image, f.mul(group, p["channels"])), split)
            self._finish(split)

    def _products(self, image: V, split: V) -> None:
        f, p = self.f, self.p
        self.clear(self.sums, f.mul(self.rows, self.pitch))
        first_pixel = f.mul(split, p["span"])
        last_pixel = f.minimum(f.add(first_pixel, p["span"]), p["total"])
        with f.loop(first_pixel, last_pixel, WIDTH) as first:
            last = f.minimum(f.add(first, i64(WIDTH)), last_pixel)
            block = self.pixels, self.pitch
            f.call("pack_pixels", "void", image, first, last, self.begin, self.end, *block, f.params)
            gradient = self.element(self.gradient, f.add(f.mul(first, p["gradient_step"]), self.feature))
            a, c = (gradient, ONE, p["gradient_step"]), (self.sums, self.pitch)
            self.multiply(a, block, f.sub(last, first), c, self.rows, f.sub(self.end, self.begin), ZERO)

    def _finish(self, split: V) -> None:
        f, p = self.f, self.p
        lanes = Lanes(f, self.dtype, vector_lanes(self.dtype))
        start = f.add(f.mul(split, p["part"]), self.begin)
        with f.loop(0, self.rows) as row:
            source = f.mul(row, self.pitch)
            target = f.add(start, f.mul(f.add(self.feature, row), p["row"]))

            def move(column: V, mask: V | None, source: V = source, target: V = target) -> None:
                value = lanes.load(self.sums, f.add(source, column))
                lanes.store(value, self.target, f.add(target, column), mask)

            each_vector(f, f.sub(self.end, self.begin), lanes.count, move)
