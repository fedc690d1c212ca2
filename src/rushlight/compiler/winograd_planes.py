"""Packing part of an image for Winograd's convolution: one vector of channels, padding included.

The result is [row][column][lane], a lane being a channel. What lies in the padding is set to zero by the caller, once
for all channels.
"""

from __future__ import annotations

from ..ir.dtypes import DType
from .conv_transpose import load_block
from .conv_window import ONE, ZERO, i64
from .gemm_element import load_lanes, memory_type
from .gemm_transpose import transpose
from .target import host
from .text import Function, Module, V, vector

ARGUMENTS = (
    ("ptr", "image"),  # the first channel of the first pixel that exists
    ("i64", "image_c"),  # elements between channels, rows and columns of the image
    ("i64", "image_1"),
    ("i64", "image_2"),
    ("i64", "channels"),  # at least one; beyond a vector they are ignored
    ("i64", "rows"),  # pixels that exist
    ("i64", "columns"),
    ("ptr", "target"),  # where the first of them goes
    ("i64", "pitch"),  # elements between rows of the target
)


def emit_pack_planes(module: Module, dtype: DType, by_rows: bool, name: str = "pack_planes") -> Function:
    """Define `pack_planes(*ARGUMENTS)`; lanes behind the last channel are undefined.

    `by_rows`: channels, not columns, are contiguous in the image.
    """
    f = module.function(name, list(ARGUMENTS), linkage="internal")
    writer = _PlaneWriter(f, dtype)
    writer.by_channels() if by_rows else writer.by_columns()
    return f


class _PlaneWriter:
    def __init__(self, f: Function, dtype: DType):
        self.f, self.dtype = f, dtype
        self.lanes, self.type = host().lanes(dtype.itemsize), memory_type(dtype)
        (self.image, self.image_c, self.image_1, self.image_2) = f.args[:4]
        (self.channels, self.rows, self.columns, self.target, self.pitch) = f.args[4:]

    def at(self, pointer: V, index: V) -> V:
        return self.f.at(pointer, self.type, index)

    def by_channels(self) -> None:
        """Each pixel is a vector of the image."""
        f, count = self.f, i64(self.lanes)
        whole = f.compare("sge", self.channels, count)
        with f.loop(0, self.rows) as row, f.loop(0, self.columns) as column:
            source = self.at(self.image, f.add(f.mul(row, self.image_1), f.mul(column, self.image_2)))
            target = self.at(self.target, f.add(f.mul(row, self.pitch), f.mul(column, count)))
            with f.branch(whole) as otherwise:
                f.store(load_lanes(f, source, self.dtype, self.lanes), target)
                otherwise()
                f.store(load_lanes(f, source, self.dtype, self.lanes, self.channels), target)

    def by_columns(self) -> None:
        """Rows of channels are transposed; rows that follow each other without gaps are taken as one."""
        f = self.f
        joined = f.compare("eq", self.image_1, self.columns)
        lines = f.select(joined, f.minimum(self.rows, ONE), self.rows)
        length = f.select(joined, f.mul(self.rows, self.columns), self.columns)
        with f.loop(0, lines) as line:
            source = self.at(self.image, f.mul(line, self.image_1))
            self._line(source, length, self.at(self.target, f.mul(line, self.pitch)))

    def _line(self, source: V, length: V, target: V) -> None:
        """`length` pixels, of which `columns` form a row of the target."""
        f, count, type = self.f, self.lanes, vector(self.type, self.lanes)
        place, column = f.variable("i64", ZERO), f.variable("i64", ZERO)
        values, nowhere = [f.variable(type) for _ in range(count)], f.variable(type)
        last = f.sub(f.minimum(self.channels, i64(count)), ONE)
        channels = [f.at(source, self.type, f.mul(f.minimum(i64(c), last), self.image_c)) for c in range(count)]
        gap = f.sub(self.pitch, f.mul(self.columns, i64(count)))
        with f.loop(0, length, count) as pixel:
            left = f.sub(length, pixel)
            block = [self.at(channel, pixel) for channel in channels]
            load_block(f, self.dtype, block, left, f.compare("sge", left, i64(count)), values)
            for j, value in enumerate(transpose(f, [f.load(v, type) for v in values])):
                now = f.load(place, "i64")
                # storing what is past the line nowhere is cheaper than a branch
                out = f.select(f.compare("slt", i64(j), left), self.at(target, now), nowhere)
                f.store(value, out)
                after = f.add(f.load(column, "i64"), ONE)
                ends = f.compare("eq", after, self.columns)
                f.store(f.add(f.add(now, i64(count)), f.select(ends, gap, ZERO)), place)
                f.store(f.select(ends, ZERO, after), column)
