"""Windows: weights by which a stretch of a signal fades in and out."""

from __future__ import annotations

import math

from ..ir import build as B
from ..ir import dtypes
from .creation import fresh
from .declare import composite, op


@op(inplace=True, public=False)
def raised_cosine(input, length, constant, first, second):
    """constant - first cos(2 pi i / (length - 1)) + second cos(4 pi i / (length - 1))."""
    wide = dtypes.float64 if input.dtype is dtypes.float64 else dtypes.float32
    turn = B.iota(input.shape, 0, wide) * (2 * math.pi / (length - 1))
    return B.cast(constant - first * B.cos(turn) + second * B.cos(2 * turn), input.dtype)


@op(inplace=True, public=False)
def triangle(input, length):
    """From 0 at the ends to 1 in the middle."""
    wide = dtypes.float64 if input.dtype is dtypes.float64 else dtypes.float32
    return B.cast(1 - B.abs(B.iota(input.shape, 0, wide) * (2 / (length - 1)) - 1), input.dtype)


@op(inplace=True, public=False)
def bell(input, length, beta, points: int):
    """I0(beta y) / I0(beta) with y = sqrt(1 - x ** 2) for x from -1 to 1.

    I0(z), the mean of exp(z cos t) over a turn, is the mean over equidistant points up to an error of I_points(z).
    """
    x = B.iota(input.shape, 0, dtypes.float64) * (2 / (length - 1)) - 1
    cosines = B.cos(B.iota((points,), 0, dtypes.float64) * (2 * math.pi / points))
    y = B.sqrt(B.maximum(1 - x * x, 0))
    terms = B.exp(beta * (B.unsqueeze(y, 1) * B.unsqueeze(cosines, 0) - 1))
    return B.cast(B.sum(terms, (1,)) / B.sum(B.exp(beta * (cosines - 1))), input.dtype)


STEEPEST = 1e10  # the largest beta: the number of points grows with its root


def fill_bell(made, length, beta) -> None:
    """Write a bell over a tensor; RuntimeError for a beta beyond `STEEPEST`."""
    beta = abs(float(beta))  # I0 is even
    if beta > STEEPEST:
        raise RuntimeError(f"kaiser window: beta must be at most {STEEPEST:g}, got {beta:g}")
    points = 64
    while points * points < 80 * beta:
        points *= 2
    bell.in_place(made, length, beta, points)


def window(name: str, window_length, periodic, fill, dtype, layout, device, requires_grad):
    """A window: `fill(tensor, length)` writes the weights; a periodic one is cut from a window longer by one."""
    if not hasattr(window_length, "__index__"):
        raise TypeError(f"{name}(): argument 'window_length' must be int, not {type(window_length).__name__}")
    dtype = dtypes.default if dtype is None else dtype
    if not dtype.is_floating_point:
        raise RuntimeError(f"{name} expects floating point dtypes, got: {dtype.name}")
    if window_length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={window_length}")
    made = fresh((int(window_length),), dtype, False, device, None, layout)
    if window_length == 1:
        made.fill_(1)
    elif window_length:
        fill(made, float(window_length + 1 if periodic else window_length))
    return made.requires_grad_() if requires_grad else made


@composite
def hann_window(
    window_length, periodic=True, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False
):
    """1/2 - 1/2 cos(2 pi i / (N - 1)); `periodic` windows have N one larger, for use with a Fourier transform."""

    def fill(made, length):
        raised_cosine.in_place(made, length, 0.5, 0.5, 0.0)

    return window("hann_window", window_length, periodic, fill, dtype, layout, device, requires_grad)


@composite
def hamming_window(
    window_length,
    periodic=True,
    alpha=0.54,
    beta=0.46,
    *,
    dtype=None,
    layout=None,
    device=None,
    requires_grad=False,
    pin_memory=False,
):
    """alpha - beta cos(2 pi i / (N - 1))."""

    def fill(made, length):
        raised_cosine.in_place(made, length, float(alpha), float(beta), 0.0)

    return window("hamming_window", window_length, periodic, fill, dtype, layout, device, requires_grad)


@composite
def blackman_window(
    window_length, periodic=True, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False
):
    """0.42 - 0.5 cos(2 pi i / (N - 1)) + 0.08 cos(4 pi i / (N - 1))."""

    def fill(made, length):
        raised_cosine.in_place(made, length, 0.42, 0.5, 0.08)

    return window("blackman_window", window_length, periodic, fill, dtype, layout, device, requires_grad)


@composite
def bartlett_window(
    window_length, periodic=True, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False
):
    """A triangle: 1 - |2 i / (N - 1) - 1|."""

    def fill(made, length):
        triangle.in_place(made, length)

    return window("bartlett_window", window_length, periodic, fill, dtype, layout, device, requires_grad)


@composite
def kaiser_window(
    window_length,
    periodic=True,
    beta=12.0,
    *,
    dtype=None,
    layout=None,
    device=None,
    requires_grad=False,
    pin_memory=False,
):
    """I0(beta sqrt(1 - (2 i / (N - 1) - 1) ** 2)) / I0(beta), I0 the modified Bessel function of order 0."""

    def fill(made, length):
        fill_bell(made, length, beta)

    return window("kaiser_window", window_length, periodic, fill, dtype, layout, device, requires_grad)
