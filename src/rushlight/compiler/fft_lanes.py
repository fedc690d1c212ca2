"""Passes between a tile and lines of memory, one for each lane: `source` or `target` is an array of their addresses.

Where a tile has more lanes than there are lines, the last line stands for the missing ones.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from ..ir.dtypes import DType
from .fft_pass import Pass
from .gemm_element import first_lanes, load_lanes, store_lanes
from .gemm_transpose import transpose
from .index_layout import ZERO, i64
from .kernel import Kernel
from .text import Module, V


@functools.cache
def load_lines(dtype: DType) -> Kernel:
    """`count` adjacent complex numbers of each line become the rows of a tile, which has room for whole vectors."""
    return _by_blocks(dtype, "load_lines", _Lines.load_block)


@functools.cache
def store_lines(dtype: DType) -> Kernel:
    """The first `count` rows of a tile become adjacent complex numbers of each line."""
    return _by_blocks(dtype, "store_lines", _Lines.store_block)


def _by_blocks(dtype: DType, name: str, emit: Callable) -> Kernel:
    """A square at a time: as many numbers of each line as there are lanes; the last one with masks."""
    module = Module()
    w = _Lines(module, name, dtype)
    with w.f.loop(ZERO, w.count, w.lanes) as j, w.f.branch(w.whole(j)) as otherwise:
        emit(w, j, None)
        otherwise()
        emit(w, j, w.masks(j))
    return Kernel(w.f.name, str(module))


class _Lines(Pass):
    def line(self, pointers: V, lane: int, j: V) -> V:
        """The address of complex number j of a line."""
        f = self.f
        return f.at(f.load(f.at(pointers, "ptr", lane), "ptr"), self.type, f.mul(j, i64(2)))

    def whole(self, j: V) -> V:
        return self.f.compare("sge", self.f.sub(self.count, j), i64(self.lanes))

    def masks(self, j: V) -> list[V]:
        """Which parts of the two vectors from complex number j on belong to a line."""
        f = self.f
        left = f.mul(f.sub(self.count, j), i64(2))
        return [first_lanes(f, f.sub(left, i64(start)), self.vector) for start in (0, self.lanes)]

    def load_block(self, j: V, masks: list[V] | None) -> None:
        f, lanes = self.f, self.lanes
        parts: list[list[V]] = [[], []]
        for lane in range(lanes):
            address = self.line(self.source, lane, j)
            low, high = (self.load_half(address, half, masks) for half in range(2))
            for start, part in enumerate(parts):
                part.append(f.shuffle(low, high, list(range(start, 2 * lanes, 2))))
        row = self.row(self.target, self.target_step, j)
        for value in zip(*(transpose(f, part) for part in parts)):
            self.store(value, row, "split", ZERO)
            row = f.offset(row, self.target_step)

    def load_half(self, address: V, half: int, masks: list[V] | None) -> V:
        f = self.f
        address = f.at(address, self.type, half * self.lanes)
        return load_lanes(f, address, self.dtype, self.lanes, masks and masks[half])

    def store_block(self, j: V, masks: list[V] | None) -> None:
        f, lanes = self.f, self.lanes
        row, rows = self.row(self.source, self.source_step, j), []
        for _ in range(lanes):
            rows.append(self.load(row, "split", ZERO))
            row = f.offset(row, self.source_step)
        for lane, value in enumerate(zip(*(transpose(f, [r[side] for r in rows]) for side in range(2)))):
            address = self.line(self.target, lane, j)
            for half in range(2):
                places = range(half * lanes // 2, (half + 1) * lanes // 2)
                mixed = f.shuffle(*value, [i for place in places for i in (place, lanes + place)])
                at = f.at(address, self.type, half * lanes)
                store_lanes(f, mixed, at, self.dtype, self.lanes, masks and masks[half])


@functools.cache
def load_scattered(dtype: DType) -> Kernel:
    """As `load_lines`, with numbers `source_step` bytes apart in a line, their parts `span` bytes."""
    return _scattered(dtype, "load_scattered", True)


@functools.cache
def store_scattered(dtype: DType) -> Kernel:
    """As `store_lines`, with numbers `target_step` bytes apart in a line, their parts `span` bytes."""
    return _scattered(dtype, "store_scattered", False)


def _scattered(dtype: DType, name: str, loads: bool) -> Kernel:
    module = Module()
    w = Pass(module, name, dtype)
    f, type = w.f, w.type
    pointers, step = (w.source, w.source_step) if loads else (w.target, w.target_step)
    tile, tile_step = (w.target, w.target_step) if loads else (w.source, w.source_step)
    with f.loop(ZERO, w.count) as j:
        row, along = w.row(tile, tile_step, j), f.mul(j, step)
        with f.loop(ZERO, i64(w.lanes)) as lane:
            outside = f.offset(f.load(f.at(pointers, "ptr", lane), "ptr"), along)
            inside = f.at(row, type, lane)
            for _ in range(2):
                source, target = (outside, inside) if loads else (inside, outside)
                f.store(f.load(source, type), target)
                outside, inside = f.offset(outside, w.span), f.at(inside, type, w.lanes)
    return Kernel(f.name, str(module))
