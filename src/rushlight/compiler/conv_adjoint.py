"""The gradient with respect to the input, as convolutions of gy.

With stride s, the pixels of x fall into s phases per axis: those of one phase meet the same taps, and are a convolution
of gy of stride 1 by these taps in reverse order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product as combinations
from math import gcd, prod

from .conv_shape import ConvShape
from .conv_window import AXES, Window
from .templates import Array


@dataclass(frozen=True, slots=True)
class Phase:
    """Positions first, first + stride, ... of x along one axis, and the taps tap, tap + tap_step, ... they meet.

    Position number i meets, at the t-th of these taps, output i - t * step + start.
    """

    first: int
    tap: int
    tap_step: int
    taps: int
    step: int
    start: int


@dataclass(slots=True)
class PartialConv:
    """One convolution of gy: `weight` is [G, C, O / G, *taps], `result` a strided view of x's gradient."""

    window: Window
    weight: Array
    result: Array


def taps_reversed(window: Window, weight: Array) -> tuple[Window, Array]:
    """The same convolution with taps counted from their ends, which turns the sign of the dilation."""
    lasts = [taps - 1 for taps in window.taps]
    start = tuple(s + n * d for s, n, d in zip(window.start, lasts, window.dilation))
    dilation = tuple(-d for d in window.dilation)
    offset = weight.offset + sum(n * stride for n, stride in zip(lasts, weight.strides[3:]))
    strides = (*weight.strides[:3], *(-stride for stride in weight.strides[3:]))
    return replace(window, start=start, dilation=dilation), replace(weight, offset=offset, strides=strides)


def adjoint_window(shape: ConvShape) -> Window:
    """The window through which x sees gy spread apart by the stride."""
    dilation = tuple(-d for d in shape.dilation)
    return Window(shape.y, shape.input, shape.kernel, (1,) * len(AXES), dilation, shape.padding)


def phases(stride: int, padding: int, dilation: int, kernel: int) -> list[Phase]:
    """The phases of one axis that meet taps."""
    common = gcd(stride, dilation)
    tap_step, step = stride // common, dilation // common
    found = []
    for tap in range(min(tap_step, kernel)):
        # output = (position + padding - tap * dilation) / stride must be whole
        first = (tap * dilation - padding) % stride
        taps = (kernel - tap + tap_step - 1) // tap_step
        found.append(Phase(first, tap, tap_step, taps, step, (first + padding - tap * dilation) // stride))
    return sorted(found, key=lambda phase: phase.first)


def count_phases(shape: ConvShape) -> tuple[int, int]:
    """How many phases there are, and how many of them meet taps."""
    meet = [min(s // gcd(s, d), n) for s, d, n in zip(shape.stride, shape.dilation, shape.kernel)]
    return prod(shape.stride), prod(meet)


def partial_convs(shape: ConvShape, all_phases: bool) -> list[PartialConv]:
    """The convolutions that write the gradient of x from y and w: of all phases, or those with taps."""
    axes = [phases(*numbers) for numbers in zip(shape.stride, shape.padding, shape.dilation, shape.kernel)]
    if all_phases:
        for axis, stride in zip(axes, shape.stride):
            met = {phase.first for phase in axis}
            axis += [Phase(first, 0, 1, 0, 1, 0) for first in range(stride) if first not in met]
            axis.sort(key=lambda phase: phase.first)
    return [partial_conv(shape, chosen) for chosen in combinations(*axes)]


def partial_conv(shape: ConvShape, chosen: tuple[Phase, ...]) -> PartialConv:
    x, w, y = shape.x, shape.w, shape.y
    pixels = tuple((n - phase.first + s - 1) // s for n, phase, s in zip(shape.input, chosen, shape.stride))
    result = every(x, [phase.first for phase in chosen], shape.stride, pixels)
    taps = tuple(phase.taps for phase in chosen)
    steps = every(w, [phase.tap for phase in chosen], [phase.tap_step for phase in chosen], taps)
    features = shape.features
    weight = replace(
        steps,
        shape=(shape.groups, shape.channels, features, *taps),
        strides=(features * w.strides[0], w.strides[1], w.strides[0], *steps.strides[2:]),
    )
    if 0 in taps:
        # nothing meets these pixels: a sum over no channels at all writes their zeros
        y, taps = replace(y, shape=(y.shape[0], 0, *y.shape[2:])), (1,) * len(AXES)
    window = Window(y, pixels, taps, (1,) * len(AXES), *zip(*((-phase.step, phase.start) for phase in chosen)))
    return PartialConv(window, weight, result)


def every(array: Array, first, steps, sizes) -> Array:
    """Of the three last dimensions, the elements first, first + step, ..., `sizes` of them."""
    offset = array.offset + sum(n * stride for n, stride in zip(first, array.strides[2:]))
    strides = (*array.strides[:2], *(step * stride for step, stride in zip(steps, array.strides[2:])))
    return replace(array, shape=(*array.shape[:2], *sizes), strides=strides, offset=offset)
