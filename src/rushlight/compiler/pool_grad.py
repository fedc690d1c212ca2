"""Gradients of pools: every output gives its cotangent to the largest element of its window, or spreads it evenly.

An item of the range owns whole planes of the result, so sums have one order whatever the threads do.
"""

from __future__ import annotations

import functools
from contextlib import ExitStack

from .conv_lanes import Lanes, below
from .conv_shape import SPATIAL, is_one, merge_plane
from .kernel import Kernel
from .pool_reduce import Reduction, begin, divisor_of, spans_of, walk
from .pool_shape import ZERO, Planes, PoolShape
from .text import Function, Module, V, element


def launch_grad(context, key: Reduction, shape: PoolShape, block, divisor=0) -> None:
    """Launch the gradient kernel of `key`; the last array is the result."""
    plane = merge_plane(shape.arrays[-1])
    kernel = gradient_kernel(key, plane is not None, plane is not None and is_one(plane.strides[-1]))
    scratch = shape.large[2] * max(key.dtype.itemsize, 4) if key.axis == "row" else 0
    params = [*shape.params(block), divisor]
    context.launch(kernel, shape.arrays, params, shape.items(block), shape.grain(block), scratch)


@functools.cache
def gradient_kernel(key: Reduction, flat: bool, planar: bool) -> Kernel:
    """`flat`: a plane of the result is one line with a stride; `planar`: and the stride is 1."""
    module = Module()
    f = module.kernel(f"{key.kind}_pool_grad_{key.axis}")
    planes = begin(f, key)
    with planes.items() as (first, last, images):
        clear(planes, key, planar, first, last, images[-1])
        if key.kind == "max":
            scatter(planes, key, flat, first, last, images)
        else:
            spread = {"channel": spread_channels, "row": spread_rows, "window": spread_windows}[key.axis]
            spread(planes, key, first, last, images)
    return Kernel(f.name, str(module))


def each_vector(f: Function, begin: V, end: V, lanes: int, body) -> None:
    """Cover [begin, end) by vectors: `body(index, mask)`, where the mask is None for whole vectors."""
    whole = f.sub(end, f.binary("srem", f.sub(end, begin), V(str(lanes), "i64")))
    with f.loop(begin, whole, lanes) as index:
        body(index, None)
    if lanes > 1:
        with f.when(f.compare("slt", whole, end)):
            body(whole, below(f, f.sub(end, whole), lanes))


def clear(planes: Planes, key: Reduction, planar: bool, first: V, last: V, image: V) -> None:
    """Set the planes of channels [first, last) of the result to zero."""
    f, strides, pointer = planes.f, planes.strides[-1], planes.pointers[-1]
    lanes = Lanes(f, key.dtype, key.lanes)
    zero = lanes.constant(0)
    if planar:
        with f.loop(first, last) as channel:
            base = f.add(image, f.mul(channel, strides[-4]))
            size = functools.reduce(f.mul, planes.large)
            each_vector(f, ZERO, size, key.lanes, lambda i, mask: lanes.store(zero, pointer, f.add(base, i), mask))
        return
    if key.axis != "channel":
        lanes = Lanes(f, key.dtype, 1)
        zero = lanes.constant(0)
    with ExitStack() as stack:
        at = [stack.enter_context(f.loop(0, size)) for size in planes.large]
        base = f.add(image, planes.dot(at, strides[-3:]))

        def store(channel: V, mask: V | None) -> None:
            lanes.store(zero, pointer, f.add(base, f.mul(channel, strides[-4])), mask)

        each_vector(f, first, last, lanes.count, store)


def accumulate(lanes: Lanes, value: V, base: V, index: V, mask: V | None = None) -> None:
    total = lanes.f.add(lanes.load(base, index, mask), value)
    lanes.store(total, base, index, mask)


def scatter(planes: Planes, key: Reduction, flat: bool, first: V, last: V, images) -> None:
    """result[place[p]] += cotangent[p] for every output p."""
    f, one = planes.f, Lanes(planes.f, key.dtype, 1)

    def give(gy: V, place: V, result: V) -> None:
        where, strides = f.load(f.at(planes.pointers[1], "i64", place), "i64"), planes.strides[2]
        if flat:
            there = f.mul(where, strides[-1])
        else:
            line, w = planes.divide(where, planes.large[2])
            there = planes.dot([*planes.divide(line, planes.large[1]), w], strides[-3:])
        accumulate(one, one.load(planes.pointers[0], gy), planes.pointers[2], f.add(result, there))

    def channel_offsets(starts, channel: V) -> list[V]:
        return [f.add(start, f.mul(channel, strides[-4])) for start, strides in zip(starts, planes.strides)]

    def output_offsets(starts, outputs) -> list[V]:
        moved = [f.add(start, planes.dot(outputs, strides[-3:])) for start, strides in zip(starts, planes.strides[:2])]
        return [*moved, starts[2]]

    with ExitStack() as stack:
        # the contiguous dimension of gy goes innermost
        if key.axis == "channel":
            outputs = [stack.enter_context(f.loop(0, size)) for size in planes.small]
            starts = output_offsets(images, outputs)
            channel = stack.enter_context(f.loop(first, last))
            give(*channel_offsets(starts, channel))
        else:
            starts = channel_offsets(images, stack.enter_context(f.loop(first, last)))
            outer = [stack.enter_context(f.loop(0, size)) for size in planes.small[:2]]
            starts = output_offsets(starts, [*outer, ZERO])
            out = stack.enter_context(f.loop(0, planes.small[2]))
            give(*(f.add(s, f.mul(out, strides[-1])) for s, strides in zip(starts[:2], planes.strides)), starts[2])


def spread_channels(planes: Planes, key: Reduction, first: V, last: V, images) -> None:
    """Lanes along channels; one lane serves any strides."""
    f, lanes = planes.f, Lanes(planes.f, key.dtype, key.lanes)
    with ExitStack() as stack:
        outputs = [stack.enter_context(f.loop(0, size)) for size in planes.small]
        spans = spans_of(planes, key, range(SPATIAL), outputs)
        divisor = lanes.from_integer(f.splat(divisor_of(planes, key, spans), key.lanes))
        gy = f.add(images[0], planes.dot(outputs, planes.strides[0][-3:]))

        def one_window(channel: V, mask: V | None) -> None:
            cotangent = lanes.load(planes.pointers[0], f.add(gy, f.mul(channel, planes.strides[0][-4])), mask)
            share = f.binary("fdiv", cotangent, divisor)
            base = f.add(images[1], f.mul(channel, planes.strides[1][-4]))
            with ExitStack() as inner:
                at = [walk(planes, inner, span) for span in spans]
                accumulate(lanes, share, planes.pointers[1], f.add(base, planes.dot(at, planes.strides[1][-3:])), mask)

        each_vector(f, first, last, key.lanes, one_window)


def share_of(planes: Planes, key: Reduction, spans, images, coordinates) -> V:
    """The cotangent of one output over its divisor."""
    f, one = planes.f, Lanes(planes.f, key.dtype, 1)
    index = f.add(images[0], planes.dot(coordinates, planes.strides[0][-4:]))
    return f.binary("fdiv", one.load(planes.pointers[0], index), one.from_integer(divisor_of(planes, key, spans)))


def spread_windows(planes: Planes, key: Reduction, first: V, last: V, images) -> None:
    """Lanes along the rows of each (large, adaptive) window."""
    f, lanes = planes.f, Lanes(planes.f, key.dtype, key.lanes)
    with ExitStack() as stack:
        outputs = [stack.enter_context(f.loop(0, size)) for size in planes.small]
        spans = spans_of(planes, key, range(SPATIAL), outputs)
        end = f.add(spans[2].start, spans[2].high)
        channel = stack.enter_context(f.loop(first, last))
        share = f.splat(share_of(planes, key, spans, images, [channel, *outputs]), key.lanes)
        at = [walk(planes, stack, span) for span in spans[:2]]
        line = f.add(images[1], planes.dot([channel, *at], planes.strides[1][-4:-1]))

        def part(position: V, mask: V | None) -> None:
            accumulate(lanes, share, planes.pointers[1], f.add(line, position), mask)

        each_vector(f, spans[2].start, end, key.lanes, part)


def spread_rows(planes: Planes, key: Reduction, first: V, last: V, images) -> None:
    """Spread a row of outputs along the row once, in scratch; then add that line to every row of the windows."""
    f, lanes = planes.f, Lanes(planes.f, key.dtype, key.lanes)
    line, size = f.buffer(key.arrays), planes.large[2]
    type = element(lanes.type)
    with ExitStack() as stack:
        channel = stack.enter_context(f.loop(first, last))
        outer = [stack.enter_context(f.loop(0, size)) for size in planes.small[:2]]
        spans = spans_of(planes, key, range(2), outer)
        with f.loop(0, size) as position:
            f.store(f.const(0, type), f.at(line, type, position))
        with f.loop(0, planes.small[2]) as out:
            span = spans_of(planes, key, [2], [out])[0]
            share = share_of(planes, key, [*spans, span], images, [channel, *outer, out])
            with ExitStack() as inner:
                place = f.at(line, type, walk(planes, inner, span))
                f.store(f.add(f.load(place, type), share), place)
        at = [walk(planes, stack, span) for span in spans]
        base = f.add(images[1], planes.dot([channel, *at], planes.strides[1][-4:-1]))

        def part(position: V, mask: V | None) -> None:
            pointer = f.at(line, type, position)
            value = f.load(pointer, lanes.type, 4) if mask is None else f.masked_load(pointer, mask, lanes.type)
            accumulate(lanes, value, planes.pointers[1], f.add(base, position), mask)

        each_vector(f, ZERO, size, key.lanes, part)
