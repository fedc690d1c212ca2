"""Inverse trigonometric functions."""

from __future__ import annotations

from .math_coefficients import COEFFICIENTS
from .math_expression import Expr, absolute, copy_sign, horner, polynomial, square_root, two_product, where

# pi / 2 as a pair
HALF_PI = {
    "float": (1.5707963705062866, -4.371138828673793e-08),
    "double": (1.5707963267948966, 6.123233995736766e-17),
}


def _asin_parts(x: Expr) -> tuple[Expr, Expr, Expr, Expr]:
    """For |x| > 1/2, asin|x| = pi/2 - 2 asin(s) with s = sqrt((1 - |x|) / 2).

    Returns the mask of |x| <= 1/2, the argument (|x| or s), asin(argument) - argument, and what rounding took from s.
    """
    size = absolute(x)
    small = size <= 0.5
    square = where(small, size * size, 0.5 - size * 0.5)
    root = where(small, size, square_root(square))
    high, low = two_product(root, root)
    lost = (square.exact("fsub", high).exact("fsub", low)) / (root * 2)
    lost = where(small | root.eq(0), 0, lost)
    tail = root * square * polynomial(square, COEFFICIENTS["asin"][x.kind])
    return small, root, tail, lost


def asin(x: Expr) -> Expr:
    small, root, tail, lost = _asin_parts(x)
    high, low = HALF_PI[x.kind]
    large = high - ((root + (tail + (lost - low * 0.5))) * 2)
    return copy_sign(where(small, root + tail, large), x)


def acos(x: Expr) -> Expr:
    small, root, tail, lost = _asin_parts(x)
    high, low = HALF_PI[x.kind]
    negative = x < 0
    # pi/2 - asin x in the middle; 2 asin s near 1 and pi - 2 asin s near -1
    signed_root, signed_tail = where(negative, -root, root), where(negative, -tail, tail)
    middle = high - (signed_root + (signed_tail - low))
    near_one = (root + (tail + lost)) * 2
    near_minus_one = (high - (root + (tail + (lost - low)))) * 2
    return where(small, middle, where(negative, near_minus_one, near_one))


def _arctangent(t: Expr, swap: Expr) -> Expr:
    """atan t, or pi/2 - atan t where `swap` holds, for 0 <= t <= 1."""
    square = t * t
    # one chain: with the parts of even and odd powers apart, rounding errors would not cancel near 1
    tail = t * square * horner(square, COEFFICIENTS["atan"][t.kind])
    high, low = HALF_PI[t.kind]
    return where(swap, (high - t) - (tail - low), t + tail)


def atan(x: Expr) -> Expr:
    size = absolute(x)
    swap = size > 1
    return copy_sign(_arctangent(where(swap, 1 / size, size), swap), x)


def atan2(y: Expr, x: Expr) -> Expr:
    """The angle of the point (x, y), in [-pi, pi]."""
    rise, run = absolute(y), absolute(x)
    swap = rise > run
    top, bottom = where(swap, run, rise), where(swap, rise, run)
    quotient = top / bottom
    quotient = where(bottom.eq(0), 0, where(top.eq(float("inf")), 1, quotient))
    angle = _arctangent(quotient, swap)
    high, low = HALF_PI[x.kind]
    angle = where(x.bits() < 0, high * 2 - (angle - low * 2), angle)
    return where(x.is_nan() | y.is_nan(), float("nan"), copy_sign(angle, y))


INVERSE = {"asin": asin, "acos": acos, "atan": atan, "atan2": atan2}
