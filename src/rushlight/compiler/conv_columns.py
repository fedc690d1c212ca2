"""Convolution of images whose rows are contiguous: a product of the weights with a matrix of what each pixel sees.

    result[o, pixel] = sum over k = (channel, tap) of weight[o, k] * lines[k, pixel]

Pixels are counted over all images, so that small planes fill vectors too. A task is a block of pixels
and `UNIT` output channels; a share of tasks with the same pixels packs their lines once (see `conv_lines`), some input
channels at a time. The sums stay in scratch memory, in L2 beside the lines, and go to the result at the end, with bias
and relu.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from ..ir.dtypes import DType
from ..ir.sizes import product
from .conv_block import SPARE, BlockWriter, share_grain
from .conv_lanes import Lanes, below, vector_lanes
from .conv_lines import Lines, emit_pack_lines
from .conv_shape import is_one, merge_plane
from .conv_tile import emit_multiply
from .conv_transpose import emit_transpose
from .conv_window import AXES, ONE, WINDOW, ZERO, Window, axes, divide, dot, i64, quotient_up, runs, strides
from .gemm_element import rectify
from .gemm_tile import FIRST
from .kernel import Kernel
from .templates import Array
from .text import Function, Module, V

UNIT = 16  # output channels of a task
ROWS = 512  # output channels that a share takes at a time
DEPTH = 288  # k of a block of lines, about
NAMES = [*WINDOW, "groups", "channels", "features", "total", "width", "block", "weight_row"]
NAMES += ["result_n", "result_c", "result_0", "result_1", "result_2", "plane0", "plane1", "plane2"]


@dataclass(frozen=True, slots=True)
class Columns:
    """What the kernel is specialised on.

    lines   how pixels are packed
    result  what is contiguous in the result: "pixels", "channels" or "nothing"
    bias    whether a number per output channel is added
    relu    whether negative results become zero
    """

    dtype: DType
    lines: Lines
    result: str = "pixels"
    bias: bool = False
    relu: bool = False


def launch_columns(context, window: Window, weight: Array, result: Array, groups, bias=None, relu=False) -> None:
    """weight [O, K] with contiguous rows, result [N, O, D, H, W], any strides; bias [O], contiguous."""
    plane = merge_plane(result) or result
    features, channels = weight.shape[0] // groups, window.image.shape[1] // groups
    taps, total = product(window.taps), product(window.pixels) * result.shape[0]
    width = 256 if features <= 256 else 128
    values = {"groups": groups, "channels": channels, "features": features, "total": total, "width": width}
    values |= {"block": 1 + (DEPTH - 1) // taps, "weight_row": weight.strides[0]}
    values |= strides("result", plane) | {f"plane{axis}": plane.shape[2 + axis] for axis in AXES}
    values |= window.params()
    contiguous = "channels" if is_one(plane.strides[1]) else "nothing"
    contiguous = "pixels" if is_one(plane.strides[4]) else contiguous
    key = Columns(result.dtype, Lines.of(window), contiguous, bias is not None, relu)
    rows = features if features <= ROWS else ROWS
    scratch = (values["block"] * taps + rows) * (width + SPARE) * weight.dtype.itemsize
    units = (features + UNIT - 1) // UNIT
    tasks = groups * ((total + width - 1) // width) * units
    grain = share_grain(units, 8, UNIT * width * channels * taps)
    arrays = [window.image, weight, result] + [bias] * key.bias
    context.launch(columns_kernel(key), arrays, [values[name] for name in NAMES], tasks, grain, scratch)


@functools.cache
def columns_kernel(key: Columns) -> Kernel:
    """Buffers image, weight, result[, bias], scratch; parameters `NAMES`."""
    module = Module()
    emit_multiply(module, key.dtype)
    emit_pack_lines(module, key.lines)
    if key.result == "channels":
        emit_transpose(module, key.dtype)
    _Writer(module.kernel("conv_columns"), key).emit()
    return Kernel("conv_columns", str(module))


class _Writer(BlockWriter):
    def __init__(self, f: Function, key: Columns):
        super().__init__(f, NAMES, key.dtype, 3 + key.bias)
        self.key = key
        self.image, self.weight, self.result, *self.bias = self.buffers
        self.written = Lanes(f, key.dtype, 1 if key.result == "nothing" else vector_lanes(key.dtype))
        p = self.p
        self.taps = f.mul(f.mul(p["taps0"], p["taps1"]), p["taps2"])
        self.pitch = f.add(p["width"], i64(SPARE))
        self.lines = self.take(f.mul(p["block"], self.taps), self.pitch)
        self.sums = self.scratch

    def emit(self) -> None:
        f, p = self.f, self.p
        blocks = quotient_up(f, p["total"], p["width"])
        with self.shares(quotient_up(f, p["features"], i64(UNIT)), ROWS // UNIT) as (outer, unit, count):
            group, block = divide(f, outer, blocks)
            self.first = f.mul(block, p["width"])
            self.last = f.minimum(f.add(self.first, p["width"]), p["total"])
            row = f.mul(unit, i64(UNIT))
            self.rows = f.minimum(f.sub(p["features"], row), f.mul(count, i64(UNIT)))
            self.row = f.add(f.mul(group, p["features"]), row)
            self._products(f.mul(group, p["channels"]))
            self._finish()

    def _products(self, first_channel: V) -> None:
        """Sums of all channels from `first_channel` on, for this share's rows and pixels."""
        f, p = self.f, self.p
        pieces = f.intrinsic("llvm.smax", quotient_up(f, p["channels"], p["block"]), ONE)
        even = quotient_up(f, p["channels"], pieces)
        with f.loop(0, pieces) as piece:
            channel = f.mul(piece, even)
            channels = f.minimum(even, f.sub(p["channels"], channel))
            start = f.mul(f.add(first_channel, channel), p["image_c"])
            source = self.element(self.image, start)
            f.call("pack_lines", "void", source, self.first, self.last, channels, self.lines, self.pitch, f.params)
            k = f.mul(channel, self.taps)
            weight = self.element(self.weight, f.add(f.mul(self.row, p["weight_row"]), k))
            flags = f.select(f.compare("eq", piece, ZERO), i64(FIRST), ZERO)
            a, b, c = (weight, p["weight_row"], ONE), (self.lines, self.pitch), (self.sums, self.pitch)
            self.multiply(a, b, f.mul(channels, self.taps), c, self.rows, f.sub(self.last, self.first), flags)

    def _finish(self) -> None:
        """Move the sums to the result."""
        f, p = self.f, self.p
        if self.key.result == "channels":
            self._finish_transposed()
            return
        with f.loop(0, self.rows) as row:
            channel = f.add(self.row, row)
            start = f.mul(channel, p["result_c"])
            bias = self._bias(channel)
            line = f.mul(row, self.pitch)
            with runs(f, axes(p, "plane"), self.first, self.last) as (pixel, image, place, length):
                target = f.add(start, dot(f, p, "result", image, place))
                source = f.add(line, f.sub(pixel, self.first))
                self._move(source, target, length, bias)

    def _finish_transposed(self) -> None:
        f, p, lanes = self.f, self.p, self.written
        if self.bias or self.key.relu:
            with f.loop(0, self.rows) as row:
                bias, line = self._bias(f.add(self.row, row)), f.mul(row, self.pitch)
                with f.loop(0, f.sub(self.last, self.first), lanes.count) as j:
                    place = f.add(line, j)
                    lanes.store(self._finished(lanes.load(self.sums, place), bias), self.sums, place)
        with runs(f, axes(p, "plane"), self.first, self.last) as (pixel, image, place, length):
            source = self.element(self.sums, f.sub(pixel, self.first)), self.pitch
            target = self.element(self.result, f.add(self.row, dot(f, p, "result", image, place)))
            self.transpose(source, self.rows, length, (target, p["result_2"]))

    def _bias(self, channel: V) -> V | None:
        if not self.bias:
            return None
        bias = Lanes(self.f, self.key.dtype, 1).load(self.bias[0], channel)
        return self.f.splat(bias, self.written.count)

    def _move(self, source: V, target: V, length: V, bias: V | None) -> None:
        """A run of pixels of one channel, from the sums to the result."""
        f, lanes = self.f, self.written
        with f.loop(0, length, lanes.count) as j:
            value = self._finished(lanes.load(self.sums, f.add(source, j)), bias)
            index = f.add(target, f.mul(j, self.p["result_2"]) if lanes.count == 1 else j)
            rest = f.sub(length, j)
            with f.branch(f.compare("sge", rest, i64(lanes.count))) as otherwise:
                lanes.store(value, self.result, index)
                if lanes.count > 1:
                    otherwise()
                    lanes.store(value, self.result, index, below(f, rest, lanes.count))

    def _finished(self, value: V, bias: V | None) -> V:
        value = value if bias is None else self.f.add(value, bias)
        return rectify(self.f, value) if self.key.relu else value
