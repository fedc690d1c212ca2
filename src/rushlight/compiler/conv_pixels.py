"""Packing images by pixels: a matrix with a row for each output pixel and a column for each tap and channel.

Channels are contiguous in the image. Where taps next to each other in a row are next to each other in memory too, they
and their channels form one run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..ir.dtypes import DType
from .conv_lanes import Lanes, below, lane_numbers, vector_lanes
from .conv_shape import is_one
from .conv_window import WINDOW, ZERO, Window, axes, divide, dot, i64, named_params, runs
from .templates import Array
from .text import Function, Module, V, element

PIXELS = [*WINDOW, "run", "line"]
ARGUMENTS = (
    ("ptr", "image"),  # the first channel of the group, in the first image
    ("i64", "first"),  # pixels [first, last), counted over all images
    ("i64", "last"),
    ("i64", "begin"),  # columns [begin, end) of (tap, channel)
    ("i64", "end"),
    ("ptr", "target"),  # [pixel][column]
    ("i64", "pitch"),  # elements between rows; whole vectors are written behind the last column
    ("ptr", "params"),  # `PIXELS`
)


@dataclass(slots=True)
class Runs:
    """A window whose `window.taps` count runs of `length` columns that are contiguous in memory."""

    window: Window
    length: object

    @classmethod
    def of(cls, window: Window, groups: int) -> Runs:
        channels, taps = window.image.shape[1] // groups, window.taps
        window = replace(window, image=spread_single_column(window.image))
        if groups == 1 and window.dilation[2] == 1 and window.image.strides[4] == channels:
            return cls(replace(window, taps=(taps[0], taps[1], 1)), taps[2] * channels)
        return cls(window, channels)

    @property
    def depth(self):
        """Columns of the matrix."""
        taps = self.window.taps
        return taps[0] * taps[1] * taps[2] * self.length

    def params(self) -> dict:
        """Values for the names in `PIXELS`; `line` is the number of elements in a row of the image."""
        image = self.window.image
        return self.window.params() | {"run": self.length, "line": image.shape[4] * image.strides[4]}


def spread_single_column(image: Array) -> Array:
    """The stride of a row's only position, which says nothing, set to a value that tells positions apart."""
    if not is_one(image.shape[4]):
        return image
    return replace(image, strides=(*image.strides[:4], image.shape[1]))


def emit_pack_pixels(module: Module, dtype: DType) -> Function:
    """Define `pack_pixels(*ARGUMENTS)`; positions in the padding are zero."""
    f = module.function("pack_pixels", list(ARGUMENTS), linkage="internal")
    _PixelWriter(f, dtype).emit()
    return f


class _PixelWriter:
    def __init__(self, f: Function, dtype: DType):
        self.f, self.lanes = f, Lanes(f, dtype, vector_lanes(dtype))
        self.image, self.first, self.last, self.begin, self.end, self.target, self.pitch, params = f.args
        self.p = named_params(f, PIXELS, params)

    def emit(self) -> None:
        f, p = self.f, self.p
        column = f.variable("i64", self.begin)
        with f.repeat(lambda: f.compare("slt", f.load(column, "i64"), self.end)):
            now = f.load(column, "i64")
            number, skipped = divide(f, now, p["run"])
            length = f.minimum(f.sub(p["run"], skipped), f.sub(self.end, now))
            rest, t2 = divide(f, number, p["taps2"])
            taps = [*divide(f, rest, p["taps1"]), t2]
            # a vector may reach beyond its run: what it writes there belongs to later runs, or lies behind the row
            with runs(f, axes(p, "pixels"), self.first, self.last) as (pixel, image, place, count):
                row = f.mul(f.sub(pixel, self.first), self.pitch)
                target = f.add(row, f.sub(now, self.begin))
                self._pixels(image, place, taps, skipped, length, count, target)
            f.store(f.add(now, length), column)

    def _pixels(self, image: V, place: list[V], taps: list[V], skipped: V, length: V, count: V, target: V) -> None:
        """One run of columns for `count` pixels of a row."""
        f, p = self.f, self.p
        numbers = zip(place, axes(p, "stride"), taps, axes(p, "dilation"), axes(p, "start"))
        position = [f.add(f.add(f.mul(n, s), f.mul(t, d)), start) for n, s, t, d, start in numbers]
        sizes = axes(p, "sizes")
        inside = f.binary("and", *(f.compare("ult", n, size) for n, size in zip(position[:2], sizes)))
        line = dot(f, p, "image", image, position[:2])
        size = f.select(inside, p["line"], ZERO)
        start = f.add(f.mul(position[2], p["image_2"]), skipped)
        step = f.mul(p["stride2"], p["image_2"])
        with f.loop(0, count) as j:
            at = f.add(start, f.mul(j, step))
            out = f.add(target, f.mul(j, self.pitch))
            fits = f.compare("sle", f.add(at, length), size)
            with f.branch(f.binary("and", fits, f.compare("sge", at, ZERO))) as otherwise:
                self._copy(line, at, length, out)
                otherwise()
                self._copy_inside(line, at, f.minimum(f.add(at, length), size), length, out)

    def _copy(self, line: V, at: V, length: V, out: V) -> None:
        f, lanes = self.f, self.lanes
        whole = f.sub(length, f.binary("urem", length, i64(lanes.count)))
        source = f.add(line, at)
        with f.loop(0, whole, lanes.count) as i:
            self._store(lanes.load(self.image, f.add(source, i)), f.add(out, i))
        with f.when(f.compare("slt", whole, length)):
            mask = below(f, f.sub(length, whole), lanes.count)
            self._store(lanes.load(self.image, f.add(source, whole), mask), f.add(out, whole))

    def _copy_inside(self, line: V, at: V, end: V, length: V, out: V) -> None:
        """A run that is partly padding: elements [0, end) of the line exist."""
        f, lanes, count = self.f, self.lanes, self.lanes.count
        bound = f.splat(f.cast("trunc", end, "i32"), count)
        with f.loop(0, length, count) as i:
            now = f.add(at, i)
            numbers = f.add(f.splat(f.cast("trunc", now, "i32"), count), lane_numbers("i32", count))
            zero = f.const(0, numbers.type)
            mask = f.binary("and", f.compare("sge", numbers, zero), f.compare("slt", numbers, bound))
            self._store(lanes.load(self.image, f.add(line, now), mask), f.add(out, i))

    def _store(self, value: V, index: V) -> None:
        self.f.store(value, self.f.at(self.target, element(self.lanes.type), index))
