"""Bessel functions and Airy's, from Chebyshev series (`special_coefficients`) on a few intervals.

Of the asymptotic parts J(x) = sqrt(2 / (pi x)) (P cos a - Q sin a), Y = sqrt(2 / (pi x)) (P sin a + Q cos a) with
a = x - pi/4 (order 0) or x - 3 pi/4 (order 1), P and x Q are series in 1 / x^2. The others are series in 1 / x of
sqrt(x) exp(-x) I and sqrt(x) exp(x) K. (Abramowitz & Stegun, 9 and 10.4.)
"""

from __future__ import annotations

import math

from ..ir import build as B
from ..ir import dtypes
from .checks import check_kinds
from .declare import op
from .special_coefficients import SERIES

INFINITY, NAN = math.inf, math.nan
TWO_OVER_PI = 2 / math.pi
SPECIAL: dict = {}  # what `rushlight.special` has


# -- series -----------------------------------------------------------------------------------------
def series(name: str, t):
    """The sum of c_k T_k(t) by Clenshaw's recurrence; as many terms as the type of t has use for."""
    coefficients = SERIES[name]
    if t.dtype is not dtypes.float64:
        least = 1e-9 * max(map(abs, coefficients))
        coefficients = coefficients[: max(k for k, c in enumerate(coefficients) if abs(c) > least) + 1]
    twice, last, before = t + t, None, None
    for c in reversed(coefficients[1:]):
        current = c if last is None else twice * last + c if before is None else twice * last - before + c
        last, before = current, last
    return t * last - before + coefficients[0]


def prepared(x, name: str):
    """The argument in the type to compute with: float32 for half types, the default type for integers."""
    dtype = B.float_dtype(x.dtype)
    check_kinds(name, dtype, "f")
    return B.cast(x, dtypes.float32 if dtype.itemsize == 2 else dtype), dtype


def special(function, public: bool = False):
    """Declare a function of one number for `rushlight.special`, and a method of tensors if `public`."""

    def body(input):
        x, dtype = prepared(input, function.__name__)
        return B.cast(function(x), dtype)

    name = function.__name__
    body.__name__, body.__doc__ = name if public else "special_" + name, function.__doc__
    SPECIAL[name] = made = op(body, out=True, public=public, method=public, inplace=public)
    return made


def split(x, at: float):
    """The argument limited to [0, at] and to [at, infinity), for the two sides of a function."""
    return B.minimum(x, at), B.maximum(x, at)


# -- modified, first kind ---------------------------------------------------------------------------
def scaled_i(order: int, size):
    """exp(-x) I(x) for x >= 0."""
    low, high = split(size, 8.0)
    near = series(f"i{order}_near", low * 0.25 - 1)
    near = near * low if order else near
    return B.where(B.lt(size, 8.0), near, series(f"i{order}_far", 16 / high - 1) * B.rsqrt(high))


def i_of(order: int, size):
    return B.exp(size) * scaled_i(order, size)


def i0(x):
    """The modified Bessel function of the first kind and order 0."""
    return i_of(0, B.abs(x))


i0 = special(i0, public=True)


@special
def i0e(x):
    """exp(-|x|) i0(x)."""
    return scaled_i(0, B.abs(x))


@special
def i1(x):
    """The modified Bessel function of the first kind and order 1."""
    return B.sign(x) * i_of(1, B.abs(x)) + B.where(B.isnan(x), x, 0)


@special
def i1e(x):
    """exp(-|x|) i1(x)."""
    return B.sign(x) * scaled_i(1, B.abs(x)) + B.where(B.isnan(x), x, 0)


def slope_over(x, y):
    """y / x, 1/2 at 0: what I1(x) / x tends to."""
    zero = B.eq(x, 0)
    return B.where(zero, 0.5, y / B.where(zero, 1.0, x))


@i0.vjp
def _(cotangents, outputs, input):
    return cotangents[0] * i1(input)


@i0e.vjp
def _(cotangents, outputs, input):
    return cotangents[0] * (i1e(input) - B.sign(input) * outputs[0])


@i1.vjp
def _(cotangents, outputs, input):
    return cotangents[0] * (i0(input) - slope_over(input, outputs[0]))


@i1e.vjp
def _(cotangents, outputs, input):
    return cotangents[0] * (i0e(input) - B.sign(input) * outputs[0] - slope_over(input, outputs[0]))


# -- modified, second kind --------------------------------------------------------------------------
def k_of(order: int, x, scaled: bool):
    low, high = split(B.where(B.gt(x, 0), x, 1.0), 2.0)
    growth, logarithm = series(f"k{order}_near", low * low * 0.5 - 1), B.log(low * 0.5)
    near = growth / low + logarithm * i_of(1, low) if order else growth - logarithm * i_of(0, low)
    far = series(f"k{order}_far", 4 / high - 1) * B.rsqrt(high)
    if scaled:
        near = near * B.exp(low)
    else:
        far = far * B.exp(-high)
    value = B.where(B.le(x, 2.0), near, far)
    return B.where(B.eq(x, 0), INFINITY, B.where(B.gt(x, 0), value, NAN))


@special
def modified_bessel_k0(x):
    """The modified Bessel function of the second kind and order 0; NaN below 0."""
    return k_of(0, x, False)


@special
def modified_bessel_k1(x):
    """The modified Bessel function of the second kind and order 1; NaN below 0."""
    return k_of(1, x, False)


@special
def scaled_modified_bessel_k0(x):
    """exp(x) modified_bessel_k0(x)."""
    return k_of(0, x, True)


@special
def scaled_modified_bessel_k1(x):
    """exp(x) modified_bessel_k1(x)."""
    return k_of(1, x, True)


# -- first and second kind --------------------------------------------------------------------------
def waves(order: int, x):
    """P, Q and the phase, of x >= 8."""
    t = 128 / (x * x) - 1
    phase = x - (0.75 if order else 0.25) * math.pi
    return series(f"p{order}_far", t), series(f"q{order}_far", t) / x, phase


def j_near(order: int, x):
    value = series(f"j{order}_near", x * x / 32 - 1)
    return value * x if order else value


def j_of(order: int, size):
    low, high = split(size, 8.0)
    p, q, phase = waves(order, high)
    far = B.sqrt(TWO_OVER_PI / high) * (p * B.cos(phase) - q * B.sin(phase))
    return B.where(B.lt(size, 8.0), j_near(order, low), B.where(B.eq(size, INFINITY), 0, far))


def y_of(order: int, x):
    low, high = split(B.where(B.gt(x, 0), x, 1.0), 8.0)
    near = series(f"y{order}_near", low * low / 32 - 1)
    logarithm = B.log(low) * j_near(order, low)
    near = near * low + TWO_OVER_PI * (logarithm - 1 / low) if order else near + TWO_OVER_PI * logarithm
    p, q, phase = waves(order, high)
    far = B.sqrt(TWO_OVER_PI / high) * (p * B.sin(phase) + q * B.cos(phase))
    value = B.where(B.le(x, 8.0), near, B.where(B.eq(x, INFINITY), 0, far))
    return B.where(B.eq(x, 0), -INFINITY, B.where(B.gt(x, 0), value, NAN))


@special
def bessel_j0(x):
    """The Bessel function of the first kind and order 0."""
    return j_of(0, B.abs(x))


@special
def bessel_j1(x):
    """The Bessel function of the first kind and order 1."""
    return B.where(B.lt(x, 0), -1.0, 1.0) * j_of(1, B.abs(x))


@special
def bessel_y0(x):
    """The Bessel function of the second kind and order 0; NaN below 0."""
    return y_of(0, x)


@special
def bessel_y1(x):
    """The Bessel function of the second kind and order 1; NaN below 0."""
    return y_of(1, x)


@special
def spherical_bessel_j0(x):
    """sin(x) / x, 1 at 0."""
    zero = B.eq(x, 0)
    safe = B.where(zero, 1.0, x)
    return B.where(zero, 1.0, B.where(B.eq(B.abs(x), INFINITY), 0, B.sin(safe) / safe))


# -- Airy -------------------------------------------------------------------------------------------
AIRY = 3.0  # beyond, the asymptotic forms
ZETA = 2 / 3 * AIRY**1.5


@special
def airy_ai(x):
    """Airy's function Ai."""
    _, size = split(B.abs(x), AIRY)
    root = B.sqrt(size)
    zeta, quarter = size * root * (2 / 3), B.rsqrt(B.sqrt(size)) * (1 / math.sqrt(math.pi))
    right = 0.5 * quarter * B.exp(-zeta) * series("airy_right", 2 * ZETA / zeta - 1)
    t = 2 * ZETA * ZETA / (zeta * zeta) - 1
    phase = zeta - 0.25 * math.pi
    left = quarter * (series("airy_left_p", t) * B.cos(phase) + series("airy_left_q", t) / zeta * B.sin(phase))
    middle = series("airy_middle", B.clamp(x, -AIRY, AIRY) * (1 / AIRY))
    return B.where(B.gt(x, AIRY), right, B.where(B.lt(x, -AIRY), left, middle))
