"""The geometry of pooling: planes and windows, in Python and in a kernel."""

from __future__ import annotations

import functools
from contextlib import contextmanager
from dataclasses import dataclass, replace

from ..ir.sizes import product
from .conv_shape import SPATIAL, is_one, leading, merge, merge_plane
from .templates import Array
from .text import Function, V

ZERO, ONE = V("0", "i64"), V("1", "i64")


@dataclass(slots=True)
class PoolShape:
    """Arrays [*batch, C, D, H, W] on both sides of a pool: `large` is pooled to `small`.

    All `arrays` share batch and C. `window` holds kernel, stride, padding and dilation, three numbers each; it is
    None for adaptive windows.
    """

    arrays: list[Array]
    large: tuple
    small: tuple
    window: tuple | None

    @classmethod
    def of(cls, arrays: list[Array], large: int, small: int, attrs: dict) -> PoolShape:
        """`large` and `small` are the places in `arrays` of one array of either side."""
        spatial = len(attrs["shape"])
        arrays = merge_batch([widen(a, spatial) for a in arrays])
        window = None
        if "kernel" not in attrs and all(map(is_one, arrays[small].shape[-SPATIAL:])):
            arrays[large] = merge_plane(arrays[large]) or arrays[large]  # the window is the plane, of whatever shape
        if "kernel" in attrs:
            parts = attrs["kernel"], attrs["stride"], attrs["padding"], attrs.get("dilation", ())
            window = tuple(leading(part, fill) for part, fill in zip(parts, (1, 1, 0, 1)))
        return cls(arrays, arrays[large].shape[-SPATIAL:], arrays[small].shape[-SPATIAL:], window)

    @property
    def batch(self) -> tuple:
        return self.arrays[0].shape[: -SPATIAL - 1]

    @property
    def channels(self):
        return self.arrays[0].shape[-SPATIAL - 1]

    @property
    def dilated(self) -> bool:
        return self.window is not None and self.window[3] != (1,) * SPATIAL

    def channels_contiguous(self) -> bool:
        return all(is_one(a.strides[-SPATIAL - 1]) for a in self.arrays)

    def rows_contiguous(self) -> bool:
        return all(is_one(a.strides[-1]) for a in self.arrays)

    def params(self, block) -> list:
        """What `Planes` reads."""
        window = self.window or ((1,) * SPATIAL, (1,) * SPATIAL, (0,) * SPATIAL, (1,) * SPATIAL)
        sizes = [*self.batch, self.channels, block, *self.large, *self.small]
        return [*sizes, *(n for part in window for n in part), *(s for a in self.arrays for s in a.strides)]

    def items(self, block):
        """The range of a kernel: blocks of channels of all images."""
        return product(self.batch) * ((self.channels + block - 1) // block)

    def grain(self, block):
        """Items that are worth a thread's start."""
        return 1 + 2**14 // (block * product(self.large) + 1)


def widen(array: Array, spatial: int) -> Array:
    """The same memory as [*batch, C, D, H, W]: missing dimensions have size 1."""
    lead = len(array.shape) - spatial
    fill, missing = max(2 - lead, 0), SPATIAL - spatial
    shape = (1,) * fill + array.shape[:lead] + (1,) * missing + array.shape[lead:]
    strides = (0,) * fill + array.strides[:lead] + (0,) * missing + array.strides[lead:]
    return replace(array, shape=shape, strides=strides)


def merge_batch(arrays: list[Array]) -> list[Array]:
    """Merge adjacent batch dimensions that lie one after the other in every array."""
    for dim in range(len(arrays[0].shape) - SPATIAL - 2):
        if all(a.strides[dim] == a.strides[dim + 1] * a.shape[dim + 1] for a in arrays):
            return merge_batch([merge(a, dim) for a in arrays])
    return arrays


class Planes:
    """The parameters of a pooling kernel, in the order of `PoolShape.params`, and its walk over the range.

    Where `dilated` is False all dilations are 1, which saves divisions.
    """

    def __init__(self, f: Function, batch: int, arrays: int, dilated: bool):
        self.f, self.position, self.dilated = f, 0, dilated
        self.batch = self.take(batch)
        self.channels, self.block = self.take(2)
        self.large, self.small = self.take(SPATIAL), self.take(SPATIAL)
        self.kernel, self.stride, self.padding, self.dilation = (self.take(SPATIAL) for _ in range(4))
        self.strides = [self.take(batch + 1 + SPATIAL) for _ in range(arrays)]
        self.pointers = [f.buffer(i) for i in range(arrays)]

    def take(self, count: int) -> list[V]:
        """The next parameters."""
        values = [self.f.param(self.position + i) for i in range(count)]
        self.position += count
        return values

    def dot(self, coordinates, strides) -> V:
        terms = [self.f.mul(a, b) for a, b in zip(coordinates, strides)]
        return functools.reduce(self.f.add, terms)

    def divide(self, a: V, b: V) -> tuple[V, V]:
        """Quotient and remainder."""
        quotient = self.f.binary("sdiv", a, b)
        return quotient, self.f.sub(a, self.f.mul(quotient, b))

    def quotient_up(self, a: V, b: V) -> V:
        """a / b rounded up, for a >= 0."""
        return self.f.binary("sdiv", self.f.add(a, self.f.sub(b, ONE)), b)

    @contextmanager
    def items(self):
        """Loop over this call's range; yields the first channel, the channel past the last and, for each array, the
        element offset of its image."""
        f = self.f
        with f.loop(f.begin, f.end) as item:
            image, number = self.divide(item, self.quotient_up(self.channels, self.block))
            first = f.mul(number, self.block)
            coordinates = []
            for size in reversed(self.batch[1:]):
                image, coordinate = self.divide(image, size)
                coordinates.append(coordinate)
            coordinates = [image, *reversed(coordinates)]
            offsets = [self.dot(coordinates, strides) for strides in self.strides]
            yield first, f.minimum(f.add(first, self.block), self.channels), offsets


@dataclass(slots=True)
class Span:
    """One axis of a window: it holds the places start + tap * step for taps in [low, high), all inside."""

    start: V
    low: V
    high: V
    step: V


def fixed_span(planes: Planes, axis: int, out: V) -> Span:
    """The window of output `out` by kernel, stride, padding and dilation."""
    f, step = planes.f, planes.dilation[axis] if planes.dilated else ONE
    start = f.sub(f.mul(out, planes.stride[axis]), planes.padding[axis])
    low, room = maximum(f, f.neg(start), ZERO), maximum(f, f.sub(planes.large[axis], start), ZERO)
    if planes.dilated:
        low, room = planes.quotient_up(low, step), planes.quotient_up(room, step)
    return Span(start, low, f.minimum(planes.kernel[axis], room), step)


def adaptive_span(planes: Planes, axis: int, out: V) -> Span:
    """Window `out` of `small`: [floor(out * large / small), ceil((out + 1) * large / small))."""
    f, large, small = planes.f, planes.large[axis], planes.small[axis]
    start = f.binary("sdiv", f.mul(out, large), small)
    end = planes.quotient_up(f.mul(f.add(out, ONE), large), small)
    return Span(start, ZERO, f.sub(end, start), ONE)


def padded_count(planes: Planes, axis: int, span: Span) -> V:
    """Places of a window without dilation, those in the padding included but none beyond it."""
    f = planes.f
    beyond = f.add(planes.large[axis], planes.padding[axis])
    return f.sub(f.minimum(f.add(span.start, planes.kernel[axis]), beyond), span.start)


def maximum(f: Function, a: V, b: V) -> V:
    """Signed integer maximum."""
    return f.intrinsic("llvm.smax", a, b)
