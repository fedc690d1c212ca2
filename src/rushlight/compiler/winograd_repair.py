"""Single pixels of a convolution by direct summation, where Winograd's gives infinity or NaN.

The sums of a window with an infinite pixel hold differences of infinities, which direct sums do not; and they may
overflow where direct sums do not.
"""

from __future__ import annotations

from ..ir.dtypes import DType
from .conv_block import SPARE, BlockWriter
from .conv_lanes import Lanes
from .conv_window import ONE, ZERO, divide, dot, i64
from .gemm_element import memory_type, rectify
from .gemm_tile import FIRST
from .text import Function, Module, V
from .winograd_transform import SQUARE, STEP, TAPS, WINDOWS

PIXELS = 32  # at a time, as columns of a product
CHANNELS = 32  # of a block of lines
PITCH = PIXELS + SPARE
ARGUMENTS = (
    ("ptr", "flags"),  # [tile][window]: not zero for those to compute
    ("i64", "first"),  # tiles [first, last), counted over all images
    ("i64", "last"),
    ("i64", "row"),  # output channels [row, row + rows)
    ("i64", "rows"),
    ("ptr", "buffers"),  # the kernel's
    ("ptr", "scratch"),
    ("ptr", "params"),
)


def scratch_size(rows):
    """Elements of scratch memory: numbers of pixels, lines and sums."""
    return 2 * PIXELS + (CHANNELS * SQUARE + rows) * PITCH


def emit_repair(module: Module, dtype: DType, names: list[str], bias: bool, relu: bool) -> Function:
    """Define `repair(*ARGUMENTS)`. Buffers image, weight, result[, bias] of the kernel with parameters `names`;
    needs `pack_lines` and `multiply` in the module."""
    f = module.function("repair", list(ARGUMENTS), linkage="internal")
    _RepairWriter(f, dtype, names, bias, relu).emit()
    return f


class _RepairWriter(BlockWriter):
    def __init__(self, f: Function, dtype: DType, names: list[str], bias: bool, relu: bool):
        self.flags, self.first, self.last, self.row, self.rows, f.buffers, scratch, f.params = f.args
        super().__init__(f, names, dtype, 3 + bias)
        self.image, self.weight, self.result, *self.bias = self.buffers
        self.scratch, self.relu, self.pitch = scratch, relu, i64(PITCH)
        self.pixels = self.take(ONE, i64(8 * PIXELS // dtype.itemsize))
        self.lines = self.take(i64(CHANNELS * SQUARE), self.pitch)
        self.sums = self.scratch

    def emit(self) -> None:
        """Note the pixels to compute, and compute them when there are enough or no more."""
        f = self.f
        self.count = f.variable("i64", ZERO)
        windows = f.mul(f.sub(self.last, self.first), i64(WINDOWS))
        with f.loop(0, f.add(windows, ONE)) as window:
            ended = f.compare("eq", window, windows)
            with f.when(f.compare("ne", window, windows)):
                self._note(window)
            count = f.load(self.count, "i64")
            full = f.binary("or", ended, f.compare("eq", count, i64(PIXELS)))
            with f.when(f.binary("and", full, f.compare("sgt", count, ZERO))):
                self._compute(count)
                f.store(ZERO, self.count)

    def _note(self, window: V) -> None:
        """Append the number of a window's pixel, counted over all images, if it is flagged and exists."""
        f, p = self.f, self.p
        tile, place = divide(f, window, i64(WINDOWS))
        rest, column = divide(f, f.add(self.first, tile), p["tile_columns"])
        image, row = divide(f, rest, p["tile_rows"])
        y, x = (f.add(f.mul(n, i64(STEP)), part) for n, part in zip((row, column), divide(f, place, i64(STEP))))
        exists = f.binary("and", f.compare("slt", y, p["pixels1"]), f.compare("slt", x, p["pixels2"]))
        flag = f.load(f.at(self.flags, "i64", window), "i64")
        with f.when(f.binary("and", exists, f.compare("ne", flag, ZERO))):
            now = f.load(self.count, "i64")
            pixel = f.add(f.mul(f.add(f.mul(image, p["pixels1"]), y), p["pixels2"]), x)
            f.store(pixel, f.at(self.pixels, "i64", now))
            f.store(f.add(now, ONE), self.count)

    def _compute(self, count: V) -> None:
        """The results of the pixels noted so far."""
        f, p = self.f, self.p
        with f.loop(0, p["channels"], CHANNELS) as channel:
            channels = f.minimum(f.sub(p["channels"], channel), i64(CHANNELS))
            source = self.element(self.image, f.mul(channel, p["image_c"]))
            with f.loop(0, count) as number:
                pixel = f.load(f.at(self.pixels, "i64", number), "i64")
                # whole vectors are written: each pixel's overwrites what those before left behind theirs
                target = self.element(self.lines, number)
                bounds = pixel, f.add(pixel, ONE)
                f.call("pack_lines", "void", source, *bounds, channels, target, self.pitch, f.params)
            self._multiply(channel, channels, count)
        with f.loop(0, count) as number:
            self._store(number)

    def _multiply(self, channel: V, channels: V, count: V) -> None:
        """Add a block of channels to the sums, tap by tap."""
        f, p = self.f, self.p
        start = f.add(f.mul(self.row, p["weight_row"]), f.mul(channel, p["weight_column"]))
        first = f.select(f.compare("eq", channel, ZERO), i64(FIRST), ZERO)
        with f.loop(0, SQUARE) as tap:
            t1, t2 = divide(f, tap, i64(TAPS))
            place = f.add(f.mul(t1, p["weight_1"]), f.mul(t2, p["weight_2"]))
            a = self.element(self.weight, f.add(start, place)), p["weight_row"], p["weight_column"]
            b = self.element(self.lines, f.mul(tap, self.pitch)), i64(SQUARE * PITCH)
            flags = f.select(f.compare("eq", tap, ZERO), first, ZERO)
            self.multiply(a, b, channels, (self.sums, self.pitch), self.rows, count, flags)

    def _store(self, number: V) -> None:
        f, p, lanes = self.f, self.p, Lanes(self.f, self.dtype, 1)
        pixel = f.load(f.at(self.pixels, "i64", number), "i64")
        rest, x = divide(f, pixel, p["pixels2"])
        image, y = divide(f, rest, p["pixels1"])
        start = dot(f, p, "result", image, [ZERO, y, x])
        with f.loop(0, self.rows) as row:
            channel = f.add(self.row, row)
            value = f.load(f.at(self.sums, memory_type(self.dtype), f.add(f.mul(row, self.pitch), number)), lanes.type)
            if self.bias:
                value = f.add(value, lanes.load(self.bias[0], channel))
            value = rectify(f, value) if self.relu else value
            lanes.store(value, self.result, f.add(start, f.mul(channel, p["result_c"])))
