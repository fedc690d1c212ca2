"""The kernel of Winograd's convolution F(2x2, 3x3).

    result = At [sum over channels of (G weight Gt) * (Bt image B)] A,  a matrix product for each of 16 positions

Tiles of 2 x 2 results are counted over all images. A task is a block of tiles and a panel of output channels; a share
of tasks with the same tiles transforms their pixels once, some channels at a time. Transformed tiles and sums stay in
L2; panels of transformed weights stream past them. Where there are few tiles the weights are transformed here too, as
each is then used once.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from ..ir.dtypes import DType
from .conv_lanes import Lanes
from .conv_lines import Lines, emit_pack_lines
from .conv_rows import each_vector
from .conv_tile import emit_multiply
from .conv_transpose import emit_transpose
from .conv_window import ONE, ZERO, dot, i64, quotient_up
from .gemm_tile import FIRST
from .kernel import Kernel
from .target import host
from .text import Function, Module, V
from .winograd_image import emit_transform_image
from .winograd_planes import emit_pack_planes
from .winograd_repair import emit_repair
from .winograd_repair import scratch_size as repair_size
from .winograd_result import emit_transform_result
from .winograd_tiles import TILES, TileWriter, block_starts, image_blocks
from .winograd_transform import POSITIONS, STEP, WINDOWS
from .winograd_weight import STRIDES, emit_transform_weight, lines_size, panel_size, panel_width, position_distance

# "planes", "lines", "weights": see the transformations; "products" [panel][position][tile][column]; "pixels" of results
BLOCKS = ("planes", "transformed", "products", "pixels", "bias", "broken", "lines", "weights", "repairing")
NAMES = [*TILES, "most", *STRIDES, "panel"]
NAMES += ["result_n", "result_c", "result_0", "result_1", "result_2"]
NAMES += [f"at_{name}" for name in BLOCKS]


@dataclass(frozen=True, slots=True)
class Winograd:
    """What the kernel is specialised on.

    weight   what is contiguous in the weights, see `winograd_weight`
    lines    how single pixels are packed where results are repaired
    by_rows  whether channels, not columns, are contiguous in the image
    result   what is contiguous in the result: "pixels", "channels" or "nothing"
    fused    whether the kernel transforms weights itself
    bias     whether a number per output channel is added
    relu     whether negative results become zero
    """

    dtype: DType
    weight: str
    lines: Lines
    by_rows: bool
    result: str
    fused: bool
    bias: bool = False
    relu: bool = False


def scratch_blocks(key: Winograd, width, depth, most) -> tuple[dict, object]:
    """Where each block of scratch memory starts, and the size of all, in elements: for shares of up to `width` tiles
    and `most` panels, and `depth` channels at a time."""
    lanes, panel = host().lanes(key.dtype.itemsize), panel_width(key.dtype)
    sizes = image_blocks(width, depth, lanes)
    sizes |= {"products": most * POSITIONS * (width * panel + lanes), "pixels": WINDOWS * width * panel}
    sizes |= {"bias": panel, "broken": WINDOWS * width * 8 // key.dtype.itemsize}
    sizes["lines"] = lines_size(key.weight, depth, key.dtype) if key.fused else 0
    sizes["weights"] = panel_size(depth, key.dtype) if key.fused else 0
    sizes["repairing"] = repair_size(panel)
    return block_starts({name: sizes[name] for name in BLOCKS}, lanes)


@functools.cache
def winograd_kernel(key: Winograd) -> Kernel:
    """Buffers image, weight, result[, bias][, transformed weights], scratch; parameters `NAMES`."""
    module = Module()
    emit_multiply(module, key.dtype)
    emit_transpose(module, key.dtype)
    emit_pack_lines(module, key.lines)
    emit_pack_planes(module, key.dtype, key.by_rows)
    emit_transform_image(module, key.dtype)
    emit_transform_result(module, key.dtype, key.bias, key.relu)
    emit_repair(module, key.dtype, NAMES, key.bias, key.relu)
    if key.fused:
        emit_transform_weight(module, key.dtype, key.weight)
    _Writer(module.kernel("winograd"), key).emit()
    return Kernel("winograd", str(module))


class _Writer(TileWriter):
    def __init__(self, f: Function, key: Winograd):
        super().__init__(f, NAMES, BLOCKS, key.dtype, 3 + key.bias + (not key.fused))
        self.key, p = key, self.p
        self.weight, self.result, *others = self.buffers[1:]
        self.bias, self.given = others[0] if key.bias else None, others[-1] if not key.fused else None
        self.sums = f.add(f.mul(p["width"], i64(self.panel)), i64(self.lanes))

    def emit(self) -> None:
        f, p = self.f, self.p
        with self.shares(quotient_up(f, p["features"], i64(self.panel)), p["most"]) as (block, panel, count):
            self.first = f.mul(block, p["width"])
            self.last = f.minimum(f.add(self.first, p["width"]), p["tiles"])
            self.tiles, self.first_panel, self.panels = f.sub(self.last, self.first), panel, count
            with f.loop(0, p["channels"], p["depth"]) as channel:
                channels = f.minimum(f.sub(p["channels"], channel), p["depth"])
                self.transform_image(channel, channels)
                self._products(channel, channels)
            self._finish()

    # -- products -------------------------------------------------------------------------------
    def _products(self, channel: V, channels: V) -> None:
        f = self.f
        flags = f.select(f.compare("eq", channel, ZERO), i64(FIRST), ZERO)
        with f.loop(0, self.panels) as number:
            panel = f.add(self.first_panel, number)
            weights, distance = self._weights(panel, channel, channels)
            sums = f.mul(number, f.mul(i64(POSITIONS), self.sums))
            with f.loop(0, POSITIONS) as position:
                a = self.element(self.block["transformed"], f.mul(position, self.position)), self.tile, ONE
                b = self.element(weights, f.mul(position, distance)), i64(self.panel)
                place = f.add(sums, f.mul(position, self.sums))
                c = self.element(self.block["products"], place), i64(self.panel)
                self.multiply(a, b, channels, c, self.tiles, self.whole_vectors(self._columns(panel)), flags)

    def _columns(self, panel: V) -> V:
        """Output channels of a panel."""
        f = self.f
        return f.minimum(f.sub(self.p["features"], f.mul(panel, i64(self.panel))), i64(self.panel))

    def _weights(self, panel: V, channel: V, channels: V) -> tuple[V, V]:
        """A panel's transformed weights from a channel on, and the distance of positions."""
        f, p = self.f, self.p
        if self.given:
            place = f.add(f.mul(panel, p["panel"]), f.mul(channel, i64(self.panel)))
            return self.element(self.given, place), position_distance(f, p["channels"], self.dtype)
        row = f.mul(f.mul(panel, i64(self.panel)), p["weight_row"])
        source = self.element(self.weight, f.add(row, f.mul(channel, p["weight_column"])))
        strides, distance = (p[name] for name in STRIDES), position_distance(f, p["depth"], self.dtype)
        given = source, *strides, self._columns(panel), channels, self.block["lines"], self.block["weights"], distance
        f.call("transform_weight", "void", *given)
        return self.block["weights"], distance

    # -- result ---------------------------------------------------------------------------------
    def _finish(self) -> None:
        f, panel = self.f, self.panel
        with f.loop(0, self.panels) as number:
            row = f.mul(f.add(self.first_panel, number), i64(panel))
            columns = f.minimum(f.sub(self.p["features"], row), i64(panel))
            broken = self._results(number, row, columns)
            with f.when(f.compare("ne", broken, ZERO)):
                places = self.block["broken"], self.first, self.last, row, columns
                f.call("repair", "void", *places, f.buffers, self.block["repairing"], f.params)

    def _results(self, number: V, row: V, columns: V) -> V:
        """Write one panel; returns whether parts of it are to be repaired."""
        f, p = self.f, self.p
        if self.bias:
            self._copy_bias(row, columns)
        products = self.element(self.block["products"], f.mul(number, f.mul(i64(POSITIONS), self.sums)))
        found = f.variable("i64", ZERO)
        with self.bands() as (tile, image, tile_row, tile_column, rows, width):
            y, x = f.mul(tile_row, i64(STEP)), f.mul(tile_column, i64(STEP))
            height = f.minimum(f.mul(rows, i64(STEP)), f.sub(p["pixels1"], y))
            length = f.minimum(f.mul(width, i64(STEP)), f.sub(p["pixels2"], x))
            source = self.element(products, f.mul(tile, i64(self.panel)))
            broken = f.at(self.block["broken"], "i64", f.mul(tile, i64(WINDOWS)))
            pixels = self.block["pixels"], height, length
            given = source, self.sums, rows, width, columns, self.block["bias"], *pixels, broken
            f.store(f.binary("or", f.load(found, "i64"), f.call("transform_result", "i64", *given)), found)
            start = f.add(dot(f, p, "result", image, [ZERO, y, x]), f.mul(row, p["result_c"]))
            self._store(height, length, columns, start)
        return f.load(found, "i64")

    def _copy_bias(self, row: V, columns: V) -> None:
        f, one = self.f, Lanes(self.f, self.dtype, 1)
        self.clear_block("bias", i64(self.panel))
        with f.loop(0, columns) as column:
            one.store(one.load(self.bias, f.add(row, column)), self.block["bias"], column)

    def _store(self, rows: V, columns: V, features: V, start: V) -> None:
        """Move pixels of a rectangle to the result; rows that follow each other without gaps count as one."""
        f, p = self.f, self.p
        joined = f.compare("eq", p["result_1"], f.mul(columns, p["result_2"]))
        lines = f.select(joined, ONE, rows)
        length = f.select(joined, f.mul(rows, columns), columns)
        with f.loop(0, lines) as line:
            source = f.mul(f.mul(line, columns), i64(self.panel))
            target = f.add(start, f.mul(line, p["result_1"]))
            if self.key.result == "pixels":
                pixels = self.element(self.block["pixels"], source), i64(self.panel)
                self.transpose(pixels, length, features, (self.element(self.result, target), p["result_c"]))
            else:
                self._move(source, target, length, features)

    def _move(self, source: V, target: V, pixels: V, features: V) -> None:
        f, p, dense = self.f, self.p, self.key.result == "channels"
        lanes = Lanes(f, self.dtype, self.lanes if dense else 1)
        with f.loop(0, pixels) as pixel:
            begin = f.add(source, f.mul(pixel, i64(self.panel)))
            out = f.add(target, f.mul(pixel, p["result_2"]))

            def move(column: V, mask: V | None, begin: V = begin, out: V = out) -> None:
                index = column if dense else f.mul(column, p["result_c"])
                value = lanes.load(self.block["pixels"], f.add(begin, column))
                lanes.store(value, self.result, f.add(out, index), mask)

            each_vector(f, features, lanes.count, move)
