"""Convolution of images whose channels are contiguous: a product of what each pixel sees with the weights.

    result[pixel, o] = sum over k = (tap, channel) of pixels[pixel, k] * weight[o, k]

Pixels are counted over all images. A task is a block of pixels and `UNIT` output channels; a share of tasks with the
same pixels packs them once (see `conv_pixels`) beside the weights, some k at a time. The sums stay in scratch memory,
in L2 with these blocks, and go to the result at the end, with bias and relu.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from ..ir.dtypes import DType
from ..ir.sizes import product
from .conv_block import SPARE, BlockWriter, share_grain
from .conv_lanes import Lanes, below, vector_lanes
from .conv_pixels import PIXELS, Runs, emit_pack_pixels
from .conv_shape import is_one
from .conv_tile import emit_multiply
from .conv_transpose import emit_transpose
from .conv_window import ONE, ZERO, Window, axes, divide, dot, i64, quotient_up, runs, strides
from .gemm_element import rectify
from .gemm_tile import FIRST
from .kernel import Kernel
from .templates import Array
from .text import Function, Module, V

UNIT = 32  # output channels of a task
COLUMNS = 256  # output channels that a share takes at a time
WIDTH = 192  # pixels of a block
DEPTH = 256  # k of a block
NAMES = [*PIXELS, "groups", "channels", "features", "total", "depth", "weight_row"]
NAMES += ["result_n", "result_c", "result_0", "result_1", "result_2"]


@dataclass(frozen=True, slots=True)
class Rows:
    """What the kernel is specialised on.

    dense  whether the result's channels are contiguous
    bias   whether a number per output channel is added
    relu   whether negative results become zero
    """

    dtype: DType
    dense: bool
    bias: bool = False
    relu: bool = False


def launch_rows(context, window: Window, weight: Array, result: Array, groups, bias=None, relu=False) -> None:
    """weight [O, K] with K = (tap, channel) contiguous; result [N, O, D, H, W], any strides; float32 or float64."""
    seen = Runs.of(window, groups)
    features, total = weight.shape[0] // groups, product(window.pixels) * result.shape[0]
    values = {"groups": groups, "channels": window.image.shape[1] // groups, "features": features, "total": total}
    values |= {"depth": seen.depth, "weight_row": weight.strides[0]}
    values |= strides("result", result) | seen.params()
    key = Rows(result.dtype, is_one(result.strides[1]), bias is not None, relu)
    scratch = WIDTH * (DEPTH + SPARE) + (WIDTH + DEPTH) * (COLUMNS + SPARE)
    units = (features + UNIT - 1) // UNIT
    tasks = groups * ((total + WIDTH - 1) // WIDTH) * units
    grain = share_grain(units, 4, UNIT * WIDTH * seen.depth)
    arrays = [window.image, weight, result] + [bias] * key.bias
    params = [values[name] for name in NAMES]
    context.launch(rows_kernel(key), arrays, params, tasks, grain, scratch * weight.dtype.itemsize)


@functools.cache
def rows_kernel(key: Rows) -> Kernel:
    """Buffers image, weight, result[, bias], scratch; parameters `NAMES`."""
    module = Module()
    emit_multiply(module, key.dtype)
    emit_transpose(module, key.dtype)
    emit_pack_pixels(module, key.dtype)
    _Writer(module.kernel("conv_rows"), key).emit()
    return Kernel("conv_rows", str(module))


class _Writer(BlockWriter):
    def __init__(self, f: Function, key: Rows):
        super().__init__(f, NAMES, key.dtype, 3 + key.bias)
        self.key = key
        self.image, self.weight, self.result, *self.bias = self.buffers
        self.pitch, self.wide = i64(DEPTH + SPARE), i64(COLUMNS + SPARE)
        self.pixels, self.right = self.take(i64(WIDTH), self.pitch), self.take(i64(DEPTH), self.wide)
        self.sums = self.scratch

    def emit(self) -> None:
        f, p = self.f, self.p
        blocks = quotient_up(f, p["total"], i64(WIDTH))
        with self.shares(quotient_up(f, p["features"], i64(UNIT)), COLUMNS // UNIT) as (outer, unit, count):
            group, block = divide(f, outer, blocks)
            self.first = f.mul(block, i64(WIDTH))
            self.last = f.minimum(f.add(self.first, i64(WIDTH)), p["total"])
            column = f.mul(unit, i64(UNIT))
            self.columns = f.minimum(f.sub(p["features"], column), f.mul(count, i64(UNIT)))
            self.feature = f.add(f.mul(group, p["features"]), column)
            self._products(self.element(self.image, f.mul(group, p["channels"])))
            self._finish()

    def _products(self, image: V) -> None:
        f, p = self.f, self.p
        pieces = f.intrinsic("llvm.smax", quotient_up(f, p["depth"], i64(DEPTH)), ONE)
        even = quotient_up(f, p["depth"], pieces)
        weight = f.mul(self.feature, p["weight_row"])
        with f.loop(0, pieces) as piece:
            begin = f.mul(piece, even)
            end = f.minimum(f.add(begin, even), p["depth"])
            depth = f.sub(end, begin)
            block = self.pixels, self.pitch
            f.call("pack_pixels", "void", image, self.first, self.last, begin, end, *block, f.params)
            source = self.element(self.weight, f.add(weight, begin)), p["weight_row"]
            self.transpose(source, self.columns, depth, (self.right, self.wide))
            flags = f.select(f.compare("eq", piece, ZERO), i64(FIRST), ZERO)
            a, b, c = (*block, ONE), (self.right, self.wide), (self.sums, self.wide)
            self.multiply(a, b, depth, c, f.sub(self.last, self.first), self.columns, flags)

    def _finish(self) -> None:
        """Move the sums to the result."""
        f, p = self.f, self.p
        with runs(f, axes(p, "pixels"), self.first, self.last) as (pixel, image, place, length), f.loop(0, length) as j:
            start = f.add(dot(f, p, "result", image, place), f.mul(j, p["result_2"]))
            target = f.add(start, f.mul(self.feature, p["result_c"]))
            self._move(f.mul(f.add(f.sub(pixel, self.first), j), self.wide), target)

    def _move(self, source: V, target: V) -> None:
        """The channels of one pixel, from the sums to the result."""
        f, dtype = self.f, self.dtype
        lanes = Lanes(f, dtype, vector_lanes(dtype) if self.key.dense else 1)

        def move(column: V, mask: V | None) -> None:
            value = lanes.load(self.sums, f.add(source, column))
            if self.bias:
                value = f.add(value, lanes.load(self.bias[0], f.add(self.feature, column), mask))
            value = rectify(f, value) if self.key.relu else value
            index = column if self.key.dense else f.mul(column, self.p["result_c"])
            lanes.store(value, self.result, f.add(target, index), mask)

        each_vector(f, self.columns, lanes.count, move)


def each_vector(f: Function, count: V, lanes: int, body) -> None:
    """Cover [0, count) by vectors: `body(index, mask)`, where the mask is None for whole vectors."""
    with f.loop(0, count, lanes) as index:
        rest = f.sub(count, index)
        with f.branch(f.compare("sge", rest, i64(lanes))) as otherwise:
            body(index, None)
            if lanes > 1:
                otherwise()
                body(index, below(f, rest, lanes))
