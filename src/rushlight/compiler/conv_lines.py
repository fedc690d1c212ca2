"""Packing images by lines: a matrix with a row for each channel and tap, and a column for each pixel."""

from __future__ import annotations

from dataclasses import dataclass

from ..ir.dtypes import DType
from .conv_lanes import Lanes, lane_numbers, vector_lanes
from .conv_shape import is_one
from .conv_window import ONE, WINDOW, ZERO, Window, axes, dot, i64, named_params, runs
from .text import Function, Module, V, element

ARGUMENTS = (
    ("ptr", "image"),  # the first of the channels, in the first image
    ("i64", "first"),  # pixels [first, last), counted over all images
    ("i64", "last"),
    ("i64", "channels"),
    ("ptr", "target"),  # [channel, tap][pixel]
    ("i64", "pitch"),  # elements between lines; whole vectors are written behind the last pixel
    ("ptr", "params"),  # `WINDOW`
)


@dataclass(frozen=True, slots=True)
class Lines:
    """What packing is specialised on.

    step   distance in memory of what neighbouring pixels see, if it is 1 or 2; other distances (0) are gathered
    lanes  pixels of a vector; fewer where rows are shorter, since stores of part of a cache line are cheap
    """

    dtype: DType
    step: int
    lanes: int

    @classmethod
    def of(cls, window: Window) -> Lines:
        dtype, stride = window.image.dtype, window.stride[2]
        step = stride if is_one(window.image.strides[4]) and stride <= 2 else 0
        lanes = vector_lanes(dtype)
        while lanes > 4 and window.pixels[2] <= lanes // 2:
            lanes //= 2
        return cls(dtype, step, lanes)


def emit_pack_lines(module: Module, key: Lines) -> Function:
    """Define `pack_lines(*ARGUMENTS)`; positions in the padding are zero."""
    f = module.function("pack_lines", list(ARGUMENTS), linkage="internal")
    _LineWriter(f, key).emit()
    return f


class _LineWriter:
    def __init__(self, f: Function, key: Lines):
        self.f, self.step = f, key.step
        self.lanes = Lanes(f, key.dtype, key.lanes)
        self.count = self.lanes.count
        self.image, self.first, self.last, self.channels, self.target, self.pitch, params = f.args
        self.p = named_params(f, WINDOW, params)

    def emit(self) -> None:
        f, p = self.f, self.p
        with runs(f, axes(p, "pixels"), self.first, self.last) as (pixel, image, place, length):
            column = f.sub(pixel, self.first)
            # a vector may reach beyond its run: what it writes there belongs to later runs, or lies behind the line
            with f.loop(0, length, self.count) as j:
                chunk = [place[0], place[1], f.add(place[2], j)]
                self._chunk(f.mul(image, p["image_n"]), chunk, f.add(column, j))

    def _chunk(self, image: V, place: list[V], column: V) -> None:
        """One vector of pixels, at every tap."""
        f, p = self.f, self.p
        tap = f.variable("i64", ZERO)
        origin = [f.add(f.mul(n, s), t) for n, s, t in zip(place, axes(p, "stride"), axes(p, "start"))]
        with f.loop(0, p["taps0"]) as t0, f.loop(0, p["taps1"]) as t1:
            outer = [f.add(o, f.mul(t, d)) for o, t, d in zip(origin, (t0, t1), axes(p, "dilation"))]
            inside = f.binary("and", *(f.compare("ult", n, s) for n, s in zip(outer, axes(p, "sizes"))))
            size = f.select(inside, p["sizes2"], ZERO)
            with f.loop(0, p["taps2"]) as t2:
                position = f.add(origin[2], f.mul(t2, p["dilation2"]))
                source = f.add(image, dot(f, p, "image", ZERO, [*outer, position]))
                now = f.load(tap, "i64")
                self._channels(source, position, size, f.add(f.mul(now, self.pitch), column))
                f.store(f.add(now, ONE), tap)

    def _channels(self, source: V, position: V, size: V, target: V) -> None:
        """One vector of pixels at one tap, over the channels."""
        f = self.f
        reach = i64(self.count * self.step) if self.step else f.add(f.mul(i64(self.count - 1), self.p["stride2"]), ONE)
        fits = f.compare("sle", f.add(position, reach), size)
        whole = f.binary("and", fits, f.compare("sge", position, ZERO))
        with f.branch(whole) as otherwise:
            self._copy(source, target, lambda first: None)
            otherwise()
            self._copy(source, target, self._masks(position, size))

    def _masks(self, position: V, size: V):
        """For `Lanes.load_strided`: which positions lie in the image."""
        f, count = self.f, self.count
        bound = f.splat(f.cast("trunc", size, "i32"), count)
        numbers = lane_numbers("i32", count)
        if self.step == 0:
            numbers = f.mul(numbers, f.splat(f.cast("trunc", self.p["stride2"], "i32"), count))
        masks = {}

        def mask_of(first: int) -> V:
            start = f.splat(f.cast("trunc", f.add(position, i64(first)), "i32"), count)
            # unsigned: negative positions are huge
            return f.compare("ult", f.add(start, numbers), bound)

        for first in (0, count) if self.step == 2 else (0,):
            masks[first] = mask_of(first)
        return masks.__getitem__

    def _copy(self, source: V, target: V, mask_of) -> None:
        f, p, lanes = self.f, self.p, self.lanes
        taps = f.mul(f.mul(p["taps0"], p["taps1"]), p["taps2"])
        distance = f.mul(p["stride2"], p["image_2"])
        with f.loop(0, self.channels) as channel:
            index = f.add(source, f.mul(channel, p["image_c"]))
            value = lanes.load_strided(self.image, index, distance, self.step, mask_of)
            line = f.add(target, f.mul(f.mul(channel, taps), self.pitch))
            f.store(value, f.at(self.target, element(lanes.type), line))
