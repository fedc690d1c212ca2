"""Windows: weights of M neighbouring samples, largest in the middle.

Common to all: `M` is the number of weights; with `sym` (the default) they are symmetric, for the design of filters;
without it they are one period of a window longer by one, for use with Fourier transforms. ValueError for a negative M,
for dtypes other than float32 and float64 and for layouts other than strided; a window of one weight is [1].
"""

from __future__ import annotations

import math

from ..ir import build as B
from ..ir import dtypes
from ..ops.creation import fresh
from ..ops.declare import op
from ..ops.memory_format import strided
from ..ops.windows import fill_bell, triangle

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]


# -- ops: each writes weights over a tensor -----------------------------------------------------------
@op(inplace=True, narrows=True, public=False)
def cosine_sum(input, step, coefficients: tuple):
    """sum over i of (-1)^i a[i] cos(i n step)."""
    angle = B.iota(input.shape, 0, dtypes.float64) * step
    total = B.full(input.shape, float(coefficients[0]), dtypes.float64)
    for i, a in enumerate(coefficients[1:], 1):
        total = total + (-1) ** i * a * B.cos(i * angle)
    return B.cast(total, input.dtype)


@op(inplace=True, narrows=True, public=False)
def half_wave(input, step):
    """sin((n + 1/2) step)."""
    return B.cast(B.sin((B.iota(input.shape, 0, dtypes.float64) + 0.5) * step), input.dtype)


@op(inplace=True, narrows=True, public=False)
def decay(input, center, tau):
    """exp(-|n - center| / tau)."""
    return B.cast(B.exp(-B.abs(B.iota(input.shape, 0, dtypes.float64) - center) / tau), input.dtype)


@op(inplace=True, narrows=True, public=False)
def normal_curve(input, center, std):
    """exp(-((n - center) / std)^2 / 2)."""
    return B.cast(B.exp(B.square((B.iota(input.shape, 0, dtypes.float64) - center) / std) * -0.5), input.dtype)


# -- what all share -----------------------------------------------------------------------------------
def window(name: str, M, fill, dtype, layout, device, requires_grad):
    """A new tensor of M weights, which `fill` writes if there is more than one."""
    if not hasattr(M, "__index__"):
        raise TypeError(f"{name}(): argument 'M' must be int, not {type(M).__name__}")
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout is not None and layout is not strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    dtype = dtypes.default if dtype is None else dtype
    if dtype not in (dtypes.float32, dtypes.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    made = fresh((int(M),), dtype, False, device, None, layout)
    if M == 1:
        made.fill_(1)
    elif M:
        fill(made)
    return made.requires_grad_() if requires_grad else made


def period(M: int, sym: bool) -> float:
    """How many steps the window takes from end to end."""
    return float(M - 1 if sym else M)


# -- sums of cosines ------------------------------------------------------------------------------------
def general_cosine(M, *, a, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """a[0] - a[1] cos(2 pi n / N) + a[2] cos(4 pi n / N) - ..., with N = M - 1, or M without `sym`.

    >>> rushlight.signal.windows.general_cosine(5, a=[0.5, 0.25, 0.25])
    tensor([0.5000, 0.2500, 1.0000, 0.2500, 0.5000])
    """
    if not isinstance(a, (list, tuple)):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    coefficients = tuple(map(float, a))

    def fill(made):
        cosine_sum.in_place(made, 2 * math.pi / period(M, sym), coefficients)

    return window("general_cosine", M, fill, dtype, layout, device, requires_grad)


def general_hamming(M, *, alpha=0.54, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """alpha - (1 - alpha) cos(2 pi n / N).

    >>> rushlight.signal.windows.general_hamming(3, alpha=0.75)
    tensor([0.5000, 1.0000, 0.5000])
    """
    a = [alpha, 1 - alpha]
    return general_cosine(M, a=a, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def hamming(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """0.54 - 0.46 cos(2 pi n / N).

    >>> rushlight.signal.windows.hamming(3)
    tensor([0.0800, 1.0000, 0.0800])
    """
    return general_hamming(M, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def hann(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """1/2 - 1/2 cos(2 pi n / N).

    >>> rushlight.signal.windows.hann(4, sym=False)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    a = 0.5
    return general_hamming(M, alpha=a, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def blackman(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N).

    >>> rushlight.signal.windows.blackman(6, sym=False)[1:]
    tensor([0.1300, 0.6300, 1.0000, 0.6300, 0.1300])
    """
    a = [0.42, 0.5, 0.08]
    return general_cosine(M, a=a, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def nuttall(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """Four terms with small side lobes: 0.3635819, 0.4891775, 0.1365995, 0.0106411 (Nuttall, 1981).

    >>> rushlight.signal.windows.nuttall(5)
    tensor([3.6280e-04, 2.2698e-01, 1.0000e+00, 2.2698e-01, 3.6280e-04])
    """
    a = [0.3635819, 0.4891775, 0.1365995, 0.0106411]
    return general_cosine(M, a=a, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


# -- others ---------------------------------------------------------------------------------------------
def bartlett(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """A triangle: 1 - |2 n / N - 1|.

    >>> rushlight.signal.windows.bartlett(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """

    def fill(made):
        triangle.in_place(made, period(M, sym) + 1)

    return window("bartlett", M, fill, dtype, layout, device, requires_grad)


def cosine(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """Half a wave: sin(pi (n + 1/2) / M), or over M + 1 without `sym`.

    >>> rushlight.signal.windows.cosine(3)
    tensor([0.5000, 1.0000, 0.5000])
    """

    def fill(made):
        half_wave.in_place(made, math.pi / (period(M, sym) + 1))

    return window("cosine", M, fill, dtype, layout, device, requires_grad)


def exponential(M, *, center=None, tau=1.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """exp(-|n - center| / tau); `center` is the middle by default, and only without `sym` any other place.

    >>> rushlight.signal.windows.exponential(3)
    tensor([0.3679, 1.0000, 0.3679])
    """
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")

    def fill(made):
        decay.in_place(made, float(period(M, sym) / 2 if center is None else center), float(tau))

    return window("exponential", M, fill, dtype, layout, device, requires_grad)


def gaussian(M, *, std=1.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """exp(-((n - middle) / std)^2 / 2).

    >>> rushlight.signal.windows.gaussian(3)
    tensor([0.6065, 1.0000, 0.6065])
    """
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")

    def fill(made):
        normal_curve.in_place(made, period(M, sym) / 2, float(std))

    return window("gaussian", M, fill, dtype, layout, device, requires_grad)


def kaiser(M, *, beta=12.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """I0(beta sqrt(1 - (2 n / N - 1)^2)) / I0(beta), I0 the modified Bessel function of order 0.

    >>> rushlight.signal.windows.kaiser(3, beta=4.0)
    tensor([0.0885, 1.0000, 0.0885])
    """
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")

    def fill(made):
        fill_bell(made, period(M, sym) + 1, beta)

    return window("kaiser", M, fill, dtype, layout, device, requires_grad)
