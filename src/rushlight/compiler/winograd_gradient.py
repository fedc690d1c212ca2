"""The weight gradient of a convolution of 3 x 3 taps by Winograd's algorithm, the adjoint of its forward pass.

    sums[channel, o] = Gt [sum over tiles of (Bt image B) * (A gy At)] G,  a matrix product for each of 16 positions

A task is a block of input channels, a block of output channels and a span of tiles, counted over all images; spans
write sums of their own, which are added in a fixed order. Where infinities or NaN meet in the sums, a block is computed
again directly: there they are the results of single pixels and taps.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from ..ir.dtypes import DType
from ..ir.sizes import product
from .conv_block import SPARE
from .conv_lines import Lines, emit_pack_lines
from .conv_shape import is_one
from .conv_sum import split_count, sum_parts
from .conv_tile import emit_multiply
from .conv_transpose import emit_transpose
from .conv_window import ONE, ZERO, Window, divide, dot, i64, strides
from .gemm_element import memory_type
from .gemm_tile import FIRST
from .kernel import Kernel
from .target import host
from .templates import Array
from .text import Function, Module, V, vector
from .winograd_image import emit_transform_image
from .winograd_planes import emit_pack_planes
from .winograd_result import any_nan
from .winograd_tiles import TILES, TileWriter, block_starts, image_blocks, tile_grid
from .winograd_transform import POSITIONS, SIDE, SQUARE, STEP, gradient_transform, weight_adjoint

WIDTH = 48  # tiles of a block
DEPTH = 64  # input channels of a block
FEATURES = 64  # output channels of a block
WIDE = FEATURES + SPARE  # elements between rows of a block of output channels
DIRECT = 16  # input channels at a time where a block is computed directly
BLOCKS = ("planes", "transformed", "gradient", "products", "sums", "lines")
NAMES = [*TILES, "blocks", "feature_blocks", "span", "splits", "part", "row", "channel_step", "tap_step"]
NAMES += ["gradient_n", "gradient_c", "gradient_0", "gradient_1", "gradient_2", *(f"at_{name}" for name in BLOCKS)]


@dataclass(frozen=True, slots=True)
class WeightGradient:
    """What the kernel is specialised on.

    lines     how pixels are packed where a block is computed directly
    by_rows   whether channels, not columns, are contiguous in the image
    gradient  the same for gy
    taps_last whether the columns of the result count (channel, tap) or (tap, channel)
    """

    dtype: DType
    lines: Lines
    by_rows: bool
    gradient: bool
    taps_last: bool


def launch_weight_gradient(context, window: Window, gradient: Array, target: Array, taps_last: bool) -> None:
    """gradient [N, O, 1, H, W] with contiguous pixels or channels; target [O, K], contiguous."""
    dtype, features, channels = target.dtype, target.shape[0], window.image.shape[1]
    lanes = host().lanes(dtype.itemsize)
    rows, columns = tile_grid(window.pixels)
    tiles = gradient.shape[0] * rows * columns
    blocks, feature_blocks = (channels + DEPTH - 1) // DEPTH, (features + FEATURES - 1) // FEATURES
    splits = split_count(product(target.shape), tiles, WIDTH)
    span = (tiles + splits * WIDTH - 1) // (splits * WIDTH) * WIDTH
    starts, scratch = block_starts(scratch_blocks(lanes), lanes)
    values = window.params() | strides("gradient", gradient) | starts
    values |= {"channels": channels, "features": features, "tile_rows": rows, "tile_columns": columns}
    values |= {"tiles": tiles, "width": WIDTH, "depth": DEPTH, "blocks": blocks, "feature_blocks": feature_blocks}
    values |= {"span": span, "splits": splits, "part": product(target.shape), "row": target.shape[1]}
    values |= {"channel_step": SQUARE if taps_last else 1, "tap_step": 1 if taps_last else channels}
    by_rows = [not is_one(array.strides[4]) for array in (window.image, gradient)]
    key = WeightGradient(dtype, Lines.of(window), *by_rows, taps_last)
    params = [values[name] for name in NAMES]
    with sum_parts(context, splits, target) as parts:
        arrays = [window.image, gradient, parts]
        context.launch(
            gradient_kernel(key), arrays, params, splits * blocks * feature_blocks, 1, scratch * dtype.itemsize
        )


def scratch_blocks(lanes: int) -> dict:
    sizes = image_blocks(WIDTH, DEPTH, lanes) | {"gradient": POSITIONS * (WIDTH * WIDE + lanes)}
    sizes |= {"products": POSITIONS * (DEPTH * WIDE + lanes), "sums": DEPTH * SQUARE * WIDE}
    sizes["lines"] = DIRECT * SQUARE * (STEP * WIDTH + SPARE)
    return {name: sizes[name] for name in BLOCKS}


@functools.cache
def gradient_kernel(key: WeightGradient) -> Kernel:
    """Buffers image, gradient, parts, scratch; parameters `NAMES`."""
    module = Module()
    emit_multiply(module, key.dtype)
    emit_transpose(module, key.dtype)
    emit_pack_lines(module, key.lines)
    emit_pack_planes(module, key.dtype, key.by_rows)
    if key.gradient is not key.by_rows:
        emit_pack_planes(module, key.dtype, key.gradient, "pack_gradient")
    emit_transform_image(module, key.dtype)
    emit_transform_gradient(module, key.dtype)
    emit_adjoint(module, key.dtype)
    _Writer(module.kernel("winograd_gradient"), key).emit()
    return Kernel("winograd_gradient", str(module))


class _Writer(TileWriter):
    def __init__(self, f: Function, key: WeightGradient):
        super().__init__(f, NAMES, BLOCKS, key.dtype, 3)
        self.key = key
        self.gradient, self.target = self.buffers[1:]
        self.wide = i64(WIDE)
        self.gradient_position = i64(WIDTH * WIDE + self.lanes)
        self.products_position = i64(DEPTH * WIDE + self.lanes)

    def emit(self) -> None:
        f, p = self.f, self.p
        with f.loop(f.begin, f.end) as task:
            rest, feature_block = divide(f, task, p["feature_blocks"])
            split, block = divide(f, rest, p["blocks"])
            self.channel, self.feature = f.mul(block, i64(DEPTH)), f.mul(feature_block, i64(FEATURES))
            self.channels = f.minimum(f.sub(p["channels"], self.channel), i64(DEPTH))
            self.features = f.minimum(f.sub(p["features"], self.feature), i64(FEATURES))
            self.begin = f.minimum(f.mul(split, p["span"]), p["tiles"])
            self.end = f.minimum(f.add(self.begin, p["span"]), p["tiles"])
            with f.branch(f.compare("eq", self.begin, self.end)) as otherwise:
                self._clear_sums()
                otherwise()
                self._products()
                with f.when(f.compare("ne", self._adjoint(), ZERO)):
                    self._directly()
            self._store(split)

    def _clear_sums(self) -> None:
        self.clear_block("sums", self.f.mul(self.channels, i64(SQUARE * WIDE)))

    # -- by tiles -------------------------------------------------------------------------------
    def _products(self) -> None:
        f = self.f
        with f.loop(self.begin, self.end, WIDTH) as first:
            self.first, self.last = first, f.minimum(f.add(first, i64(WIDTH)), self.end)
            self.transform_image(self.channel, self.channels)
            self._transform_gradient()
            flags = f.select(f.compare("eq", first, self.begin), i64(FIRST), ZERO)
            with f.loop(0, POSITIONS) as position:
                places = zip(
                    ("transformed", "gradient", "products"),
                    (self.position, self.gradient_position, self.products_position),
                )
                a, b, c = (self.element(self.block[name], f.mul(position, distance)) for name, distance in places)
                sides = (a, ONE, self.tile), (b, self.wide), f.sub(self.last, first), (c, self.wide)
                self.multiply(*sides, self.channels, self.whole_vectors(self.features), flags)

    def _transform_gradient(self) -> None:
        f = self.f
        with self.bands() as (tile, image, row, column, rows, columns):
            y, x, height, width = self._pixels(row, column, rows, columns)
            pitch = f.mul(columns, i64(STEP * self.lanes))
            self.clear_block("planes", f.mul(f.mul(rows, i64(STEP)), pitch))
            start = self._gradient_at(image, y, x)
            with f.loop(0, self.features, self.lanes) as feature:
                self._pack_gradient(start, feature, height, width, pitch)
                place = f.add(f.mul(tile, self.wide), feature)
                target = self.element(self.block["gradient"], place), self.gradient_position
                f.call("transform_gradient", "void", self.block["planes"], pitch, rows, columns, *target)

    def _pixels(self, row: V, column: V, rows: V, columns: V) -> tuple[V, V, V, V]:
        """The first pixel of a rectangle of tiles, and how many rows and columns of pixels exist in it."""
        f, p = self.f, self.p
        y, x, *sizes = (f.mul(n, i64(STEP)) for n in (row, column, rows, columns))
        return y, x, *(f.minimum(n, f.sub(p[f"pixels{a}"], at)) for n, a, at in zip(sizes, (1, 2), (y, x)))

    def _gradient_at(self, image: V, y: V, x: V) -> V:
        return self.f.add(
            dot(self.f, self.p, "gradient", image, [ZERO, y, x]), self.f.mul(self.feature, self.p["gradient_c"])
        )

    def _pack_gradient(self, start: V, feature: V, rows: V, columns: V, pitch: V) -> None:
        """One vector of output channels to "planes"."""
        f, p = self.f, self.p
        source = self.element(self.gradient, f.add(start, f.mul(feature, p["gradient_c"])))
        steps = (p[f"gradient_{dim}"] for dim in "c12")
        given = source, *steps, f.sub(self.features, feature), rows, columns, self.block["planes"], pitch
        pack = "pack_planes" if self.key.gradient is self.key.by_rows else "pack_gradient"
        f.call(pack, "void", *given)

    def _adjoint(self) -> V:
        """From products to sums; returns whether there are infinities or NaN in them."""
        given = self.block["products"], self.channels, self.features, self.block["sums"]
        return self.f.call("adjoint", "i64", *given)

    # -- directly -------------------------------------------------------------------------------
    def _directly(self) -> None:
        """The same sums along pixels, row by row."""
        f, p = self.f, self.p
        self._clear_sums()
        with f.loop(self.begin, self.end, WIDTH) as first:
            self.first, self.last = first, f.minimum(f.add(first, i64(WIDTH)), self.end)
            with self.bands() as (_, image, row, column, rows, columns):
                y, x, height, width = self._pixels(row, column, rows, columns)
                with f.loop(0, height) as line, f.loop(0, self.channels, DIRECT) as channel:
                    now = f.add(y, line)
                    pixel = f.add(f.mul(f.add(f.mul(image, p["pixels1"]), now), p["pixels2"]), x)
                    self._line(pixel, width, channel, self._gradient_at(image, now, x))

    def _line(self, pixel: V, width: V, channel: V, start: V) -> None:
        """Add what a row of pixels gives for some channels."""
        f, p = self.f, self.p
        channels = f.minimum(f.sub(self.channels, channel), i64(DIRECT))
        pitch = i64(STEP * WIDTH + SPARE)
        source = self.element(self.image, f.mul(f.add(self.channel, channel), p["image_c"]))
        lines = self.block["lines"]
        f.call("pack_lines", "void", source, pixel, f.add(pixel, width), channels, lines, pitch, f.params)
        sums = f.mul(channel, i64(SQUARE * WIDE))
        with f.loop(0, self.features, self.lanes) as feature:
            self._pack_gradient(start, feature, ONE, width, ZERO)
            columns = f.minimum(f.sub(self.features, feature), i64(self.lanes))
            b, c = self.block["planes"], self.element(self.block["sums"], f.add(sums, feature))
            a, rows = (lines, pitch, ONE), f.mul(channels, i64(SQUARE))
            self.multiply(a, (b, i64(self.lanes)), width, (c, self.wide), rows, columns, ZERO)

    # -- result ---------------------------------------------------------------------------------
    def _store(self, split: V) -> None:
        """Transpose sums [channel, tap][output channel] to their place in this span's part."""
        f, p = self.f, self.p
        start = f.add(f.mul(split, p["part"]), f.mul(self.feature, p["row"]))
        target = f.add(start, f.mul(self.channel, p["channel_step"]))
        if self.key.taps_last:
            source = self.block["sums"], self.wide
            place = self.element(self.target, target), p["row"]
            self.transpose(source, f.mul(self.channels, i64(SQUARE)), self.features, place)
            return
        with f.loop(0, SQUARE) as tap:
            source = self.element(self.block["sums"], f.mul(tap, self.wide)), i64(SQUARE * WIDE)
            place = self.element(self.target, f.add(target, f.mul(tap, p["tap_step"]))), p["row"]
            self.transpose(source, self.channels, self.features, place)


# -- transformations --------------------------------------------------------------------------------
def emit_transform_gradient(module: Module, dtype: DType) -> Function:
    """Define `transform_gradient(planes, pitch, rows, columns, target, position)`, as `transform_image` for gy."""
    types = ("ptr", "planes"), ("i64", "pitch"), ("i64", "rows"), ("i64", "columns"), ("ptr", "target")
    f = module.function("transform_gradient", [*types, ("i64", "position")], linkage="internal")
    planes, pitch, rows, columns, target, position = f.args
    count, kind = host().lanes(dtype.itemsize), memory_type(dtype)
    with f.loop(0, rows) as row, f.loop(0, columns) as column:
        start = f.add(f.mul(f.mul(row, i64(STEP)), pitch), f.mul(column, i64(STEP * count)))
        lines = [f.at(planes, kind, f.add(start, f.mul(i64(i), pitch))) for i in range(STEP)]
        pixels = [[f.load(f.at(line, kind, j * count), vector(kind, count)) for j in range(STEP)] for line in lines]
        out = f.mul(f.add(f.mul(row, columns), column), i64(WIDE))
        for line in gradient_transform(f, pixels):
            for value in line:
                f.store(value, f.at(target, kind, out))
                out = f.add(out, position)
    return f


def emit_adjoint(module: Module, dtype: DType) -> Function:
    """Define `i64 adjoint(products, channels, features, sums)`: sums [channel, tap][output channel] from products
    [position][channel][output channel]; returns whether one is infinite or not a number."""
    arguments = [("ptr", "products"), ("i64", "channels"), ("i64", "features"), ("ptr", "sums")]
    f = module.function("adjoint", arguments, returns="i64", linkage="internal")
    products, channels, features, sums = f.args
    count, kind = host().lanes(dtype.itemsize), memory_type(dtype)
    type, position = vector(kind, count), DEPTH * WIDE + count
    doubt = f.variable(type, f.const(0, type))
    with f.loop(0, channels) as channel, f.loop(0, features, count) as feature:
        source = f.at(products, kind, f.add(f.mul(channel, i64(WIDE)), feature))
        values = [f.load(f.at(source, kind, n * position), type) for n in range(POSITIONS)]
        target = f.at(sums, kind, f.add(f.mul(channel, i64(SQUARE * WIDE)), feature))
        taps = weight_adjoint(f, [values[n : n + SIDE] for n in range(0, POSITIONS, SIDE)])
        for t, value in enumerate(value for line in taps for value in line):
            f.store(value, f.at(target, kind, t * WIDE))
            # zero times infinity or NaN is NaN, which stays
            f.store(f.add(f.mul(value, f.const(0, type)), f.load(doubt, type)), doubt)
    f.line(f"ret {any_nan(f, f.load(doubt, type))}")
    return f
