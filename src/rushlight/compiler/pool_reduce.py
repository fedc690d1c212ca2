"""Pools: the maximum (with its place) or the mean of each window.

Three kernels: lanes along channels (channels_last; one lane serves any strides), lanes along a row of outputs, and
lanes along a row of one window, for the large windows of adaptive pooling.
"""

from __future__ import annotations

import functools
from contextlib import ExitStack
from dataclasses import dataclass

from ..ir.dtypes import DType
from .conv_lanes import Lanes, below, lane_numbers
from .kernel import Kernel
from .pool_shape import ZERO, Planes, PoolShape, Span, adaptive_span, fixed_span, padded_count
from .text import Function, Module, V, vector

GROUP = 4  # vectors of channels that are reduced at a time


@dataclass(frozen=True, slots=True)
class Reduction:
    """What a pooling kernel is specialised on.

    kind     "max" or "mean"
    lanes    elements of a vector, along `axis`: "channel", "row" (outputs of a row) or "window" (a window's row)
    step     distance of neighbouring windows along the row if it is 1 or 2, else 0 (known at run time)
    dilated  whether any dilation is not 1
    places   integer type that counts places of a plane, for the maximum
    divisor  "given" (the last parameter), "padded" or "inside": what a mean divides by
    """

    kind: str
    dtype: DType
    batch: int
    adaptive: bool
    axis: str
    lanes: int
    step: int = 0
    dilated: bool = False
    places: str = "i32"
    divisor: str = "inside"

    @property
    def arrays(self) -> int:
        return 3 if self.kind == "max" else 2


class Maximum:
    """The running maximum of a window and its place; the first of equals, the last NaN."""

    def __init__(self, f: Function, lanes: Lanes, key: Reduction, first: V):
        self.f, self.lanes, self.type = f, lanes, vector(key.places, lanes.count)
        self.best = f.variable(lanes.type, lanes.lowest())
        self.place = f.variable(self.type, first)

    def add(self, value: V, place: V) -> None:
        f = self.f
        best = f.load(self.best, self.lanes.type)
        wins = self.lanes.greater_or_nan(value, best)
        f.store(f.select(wins, value, best), self.best)
        f.store(f.select(wins, place, f.load(self.place, self.type)), self.place)

    def store(self, pointers, indices, mask: V | None) -> None:
        f = self.f
        self.lanes.store(f.load(self.best, self.lanes.type), pointers[0], indices[0], mask)
        place, wide = f.load(self.place, self.type), vector("i64", self.lanes.count)
        place = place if self.type == wide else f.cast("zext", place, wide)
        pointer = f.at(pointers[1], "i64", indices[1])
        f.store(place, pointer) if mask is None else f.masked_store(place, pointer, mask)


class Mean:
    """The running sum of a window."""

    def __init__(self, f: Function, lanes: Lanes, key: Reduction, divisor: V):
        self.f, self.lanes, self.divisor = f, lanes, divisor
        self.sum = f.variable(lanes.type, lanes.constant(0))

    def add(self, value: V, place: V) -> None:
        self.f.store(self.f.add(self.f.load(self.sum, self.lanes.type), value), self.sum)

    def store(self, pointers, indices, mask: V | None) -> None:
        total = self.f.load(self.sum, self.lanes.type)
        self.lanes.store(self.f.binary("fdiv", total, self.divisor), pointers[0], indices[0], mask)


@functools.cache
def reduction_kernel(key: Reduction) -> Kernel:
    module = Module()
    f = module.kernel(f"{key.kind}_pool_{key.axis}")
    {"channel": channel_body, "row": row_body, "window": window_body}[key.axis](f, key)
    return Kernel(f.name, str(module))


def spans_of(planes: Planes, key: Reduction, axes, outputs) -> list[Span]:
    span = adaptive_span if key.adaptive else fixed_span
    return [span(planes, axis, out) for axis, out in zip(axes, outputs)]


def count(planes: Planes, key: Reduction, axis: int, span: Span) -> V:
    """The factor of an axis in what a mean divides by."""
    return padded_count(planes, axis, span) if key.divisor == "padded" else planes.f.sub(span.high, span.low)


def divisor_of(planes: Planes, key: Reduction, spans) -> V:
    """What the mean of a window divides by, an i64."""
    if key.divisor == "given":
        return planes.given
    counts = [count(planes, key, axis, span) for axis, span in enumerate(spans)]
    return functools.reduce(planes.f.mul, counts)


def walk(planes: Planes, stack: ExitStack, span: Span) -> V:
    """Loop over the places of a span."""
    f = planes.f
    tap = stack.enter_context(f.loop(span.low, span.high))
    return f.add(span.start, f.mul(tap, span.step))


def first_place(planes: Planes, span: Span) -> V:
    f = planes.f
    return f.add(span.start, f.mul(span.low, span.step))


def flat(planes: Planes, d: V, h: V, w: V) -> V:
    """The flat place of a position in the plane."""
    f = planes.f
    return f.add(f.mul(f.add(f.mul(d, planes.large[1]), h), planes.large[2]), w)


def places(f: Function, key: Reduction, place: V) -> V:
    """A place as the integer type of places, in every lane."""
    return f.splat(place if key.places == "i64" else f.cast("trunc", place, key.places), key.lanes)


def begin(f: Function, key: Reduction) -> Planes:
    planes = Planes(f, key.batch, key.arrays, key.dilated)
    planes.given = planes.take(1)[0]
    return planes


# -- lanes along channels -----------------------------------------------------------------------------
def channel_body(f: Function, key: Reduction) -> None:
    planes, lanes = begin(f, key), Lanes(f, key.dtype, key.lanes)
    with planes.items() as (first, last, images), ExitStack() as stack:
        outputs = [stack.enter_context(f.loop(0, size)) for size in planes.small]
        spans = spans_of(planes, key, range(3), outputs)
        offsets = [f.add(i, planes.dot(outputs, s[-3:])) for i, s in zip(images[1:], planes.strides[1:])]
        start, window = first, (planes, key, lanes, spans, images[0], offsets)
        for count in (GROUP, 1) if key.lanes > 1 else (1,):
            step = count * key.lanes
            end = f.sub(last, f.binary("urem", f.sub(last, start), V(str(step), "i64")))
            with f.loop(start, end, step) as channel:
                channel_windows(*window, channel, count, None)
            start = end
        if key.lanes > 1:
            with f.when(f.compare("slt", start, last)):
                channel_windows(*window, start, 1, below(f, f.sub(last, start), key.lanes))


def channel_windows(
    planes: Planes, key: Reduction, lanes: Lanes, spans, image: V, offsets, channel: V, count: int, mask: V | None
) -> None:
    """One window of `count` vectors of channels from `channel` on."""
    f, strides = planes.f, planes.strides[0]
    start = channel_running(planes, key, lanes, spans)
    running = [start() for _ in range(count)]
    base = f.add(image, f.mul(channel, strides[-4]))
    # walking places of a plane costs as much as a vector of channels: hence several of them
    with ExitStack() as stack:
        d, h = (walk(planes, stack, span) for span in spans[:2])
        line = f.add(base, planes.dot((d, h), strides[-3:-1]))
        first = flat(planes, d, h, ZERO)
        w = walk(planes, stack, spans[2])
        index = f.add(line, f.mul(w, strides[-1]))
        place = places(f, key, f.add(first, w)) if key.kind == "max" else ZERO
        for n, one in enumerate(running):
            one.add(lanes.load(planes.pointers[0], f.add(index, V(str(n * key.lanes), "i64")), mask), place)
    for n, one in enumerate(running):
        now = f.add(channel, V(str(n * key.lanes), "i64"))
        indices = [f.add(o, f.mul(now, s[-4])) for o, s in zip(offsets, planes.strides[1:])]
        one.store(planes.pointers[1:], indices, mask)


def channel_running(planes: Planes, key: Reduction, lanes: Lanes, spans):
    """A function that starts the maximum or the mean of a window."""
    f = planes.f
    if key.kind == "max":
        first = places(f, key, flat(planes, *(first_place(planes, s) for s in spans)))
        return lambda: Maximum(f, lanes, key, first)
    divisor = lanes.from_integer(f.splat(divisor_of(planes, key, spans), key.lanes))
    return lambda: Mean(f, lanes, key, divisor)


# -- lanes along a row of outputs -----------------------------------------------------------------------
def row_body(f: Function, key: Reduction) -> None:
    planes, lanes = begin(f, key), Lanes(f, key.dtype, key.lanes)
    with planes.items() as (first, last, images), ExitStack() as stack:
        channel = stack.enter_context(f.loop(first, last))
        outputs = [stack.enter_context(f.loop(0, size)) for size in planes.small[:2]]
        spans = spans_of(planes, key, range(2), outputs)
        offsets = [
            f.add(i, f.add(f.mul(channel, s[-4]), planes.dot(outputs, s[-3:-1])))
            for i, s in zip(images[1:], planes.strides[1:])
        ]
        base = f.add(images[0], f.mul(channel, planes.strides[0][-4]))
        with f.loop(0, planes.small[2], key.lanes) as out:
            row_windows(planes, key, lanes, spans, base, out, offsets)


class Row:
    """`lanes` neighbouring windows along a row: where each starts, as i32 lanes."""

    def __init__(self, planes: Planes, key: Reduction, out: V):
        self.planes, self.key, self.f = planes, key, planes.f
        f = self.f
        self.start = f.sub(f.mul(out, planes.stride[2]), planes.padding[2])
        self.size = self.lanes_of(planes.large[2])
        offsets = f.mul(lane_numbers("i32", key.lanes), self.lanes_of(planes.stride[2]))
        self.starts = f.add(self.lanes_of(self.start), offsets)

    def lanes_of(self, number: V) -> V:
        return self.f.splat(self.f.cast("trunc", number, "i32"), self.key.lanes)

    def inside(self, positions: V) -> V:
        """Which positions are not padding; negative ones are huge as unsigned numbers."""
        return self.f.compare("ult", positions, self.size)

    def mask_of(self, position: V, positions: V):
        """For `Lanes.load_strided`: masks of adjacent memory from `position` on, or of the windows' own positions."""
        if self.key.step == 0:
            return lambda first: self.inside(positions)
        numbers = lane_numbers("i32", self.key.lanes)
        return lambda first: self.inside(self.f.add(self.lanes_of(self.f.add(position, V(str(first), "i64"))), numbers))

    def first_places(self) -> V:
        """The first position of each window that is not padding, as i32 lanes."""
        f, zero = self.f, self.f.const(0, self.starts.type)
        if not self.key.dilated:
            return f.intrinsic("llvm.smax", self.starts, zero)
        step = self.lanes_of(self.planes.dilation[2])
        # negative starts move up by whole steps: start mod step, plus one step if that is still negative
        rest = f.binary("srem", self.starts, step)
        rest = f.select(f.compare("slt", rest, zero), f.add(rest, step), rest)
        return f.select(f.compare("slt", self.starts, zero), rest, self.starts)

    def counts(self) -> V:
        """Places of each window along the row, as i32 lanes."""
        f = self.f
        end = f.add(self.starts, self.lanes_of(self.planes.kernel[2]))
        if self.key.divisor == "padded":
            return f.sub(f.minimum(end, f.add(self.size, self.lanes_of(self.planes.padding[2]))), self.starts)
        zero = f.const(0, self.starts.type)
        return f.sub(f.minimum(end, self.size), f.intrinsic("llvm.smax", self.starts, zero))


def row_windows(planes: Planes, key: Reduction, lanes: Lanes, spans, base: V, out: V, offsets) -> None:
    """The windows of outputs [out, out + lanes) of a row, whose span in the outer two dimensions is given."""
    f = planes.f
    row = Row(planes, key, out)
    running = row_running(planes, key, lanes, spans, row)
    with ExitStack() as stack:
        at = [walk(planes, stack, span) for span in spans]
        line = f.add(base, planes.dot(at, planes.strides[0][-3:-1]))
        tap = stack.enter_context(f.loop(0, planes.kernel[2]))
        shift = f.mul(tap, planes.dilation[2])
        position, positions = f.add(row.start, shift), f.add(row.starts, row.lanes_of(shift))
        mask_of = row.mask_of(position, positions)
        value = lanes.load_strided(planes.pointers[0], f.add(line, position), planes.stride[2], key.step, mask_of)
        if key.kind == "max":
            value = f.select(row.inside(positions), value, lanes.lowest())
            start = places(f, key, flat(planes, *at, ZERO))
            running.add(value, f.add(start, as_places(f, key, positions)))
        else:
            running.add(value, ZERO)
    running.store(
        planes.pointers[1:], [f.add(o, out) for o in offsets], below(f, f.sub(planes.small[2], out), key.lanes)
    )


def row_running(planes: Planes, key: Reduction, lanes: Lanes, spans, row: Row):
    f = planes.f
    if key.kind == "max":
        start = places(f, key, flat(planes, *(first_place(planes, s) for s in spans), ZERO))
        return Maximum(f, lanes, key, f.add(start, as_places(f, key, row.first_places())))
    if key.divisor == "given":
        return Mean(f, lanes, key, lanes.from_integer(f.splat(planes.given, key.lanes)))
    outer = f.mul(*(count(planes, key, axis, span) for axis, span in enumerate(spans)))
    return Mean(f, lanes, key, lanes.from_integer(f.mul(row.lanes_of(outer), row.counts())))


def as_places(f: Function, key: Reduction, positions: V) -> V:
    return positions if key.places == "i32" else f.cast("sext", positions, vector(key.places, key.lanes))


# -- lanes along the rows of one window ------------------------------------------------------------------
def window_body(f: Function, key: Reduction) -> None:
    """The mean of adaptive windows; rows of the input are contiguous."""
    planes, one = begin(f, key), Lanes(f, key.dtype, 1)
    with planes.items() as (first, last, images), ExitStack() as stack:
        # finding a window costs several divisions: channels share it
        outputs = [stack.enter_context(f.loop(0, size)) for size in planes.small]
        spans = spans_of(planes, key, range(3), outputs)
        divisor = one.from_integer(divisor_of(planes, key, spans))
        channel = stack.enter_context(f.loop(first, last))
        base = f.add(images[0], f.mul(channel, planes.strides[0][-4]))
        mean = f.binary("fdiv", window_sum(planes, key, spans, base), divisor)
        index = f.add(images[1], planes.dot([channel, *outputs], planes.strides[1][-4:]))
        one.store(mean, planes.pointers[1], index)


def window_sum(planes: Planes, key: Reduction, spans, base: V) -> V:
    """The sum of a window of the plane at `base`, in vectors along its rows."""
    f, lanes = planes.f, Lanes(planes.f, key.dtype, key.lanes)
    total = f.variable(lanes.type, lanes.constant(0))
    end = f.add(spans[2].start, spans[2].high)
    whole = f.sub(end, f.binary("urem", spans[2].high, V(str(key.lanes), "i64")))
    mask = below(f, f.sub(end, whole), key.lanes)
    with ExitStack() as stack:
        at = [walk(planes, stack, span) for span in spans[:2]]
        line = f.add(base, planes.dot(at, planes.strides[0][-3:-1]))

        def add(position: V, mask: V | None) -> None:
            value = lanes.load(planes.pointers[0], f.add(line, position), mask)
            f.store(f.add(f.load(total, lanes.type), value), total)

        with f.loop(spans[2].start, whole, key.lanes) as position:
            add(position, None)
        with f.when(f.compare("slt", whole, end)):
            add(whole, mask)
    return lanes.total(f.load(total, lanes.type))


def reduce_windows(context, key: Reduction, shape: PoolShape, block, divisor=0) -> None:
    """Launch the kernel of `key`."""
    params = [*shape.params(block), divisor]
    context.launch(reduction_kernel(key), shape.arrays, params, shape.items(block), shape.grain(block))
