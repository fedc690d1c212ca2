"""Hyperbolic functions and their inverses."""

from __future__ import annotations

from .math_coefficients import COEFFICIENTS
from .math_exponential import exp_tail, log_of_sum, reduce_exponential, scale
from .math_expression import (
    Expr,
    absolute,
    clamp,
    copy_sign,
    fma,
    polynomial,
    quick_two_sum,
    square_root,
    two_product,
    two_sum,
    where,
)

INFINITY = float("inf")


def odd_polynomial(x: Expr, name: str) -> Expr:
    """x + x^3 P(x^2)."""
    square = x * x
    return fma(x * square, polynomial(square, COEFFICIENTS[name][x.kind]), x)


def half_exp(x: Expr) -> Expr:
    """e^x / 2 for x >= 0, finite up to where sinh overflows."""
    whole, n, r = reduce_exponential(clamp(x, 0.0, {"float": 90.0, "double": 711.0}[x.kind]))
    return scale(exp_tail(r) + 1, whole - 1, n - 1)


def sinh(x: Expr) -> Expr:
    size = absolute(x)
    half = half_exp(size)
    large = half - 0.25 / half
    return copy_sign(where(size < 1, odd_polynomial(size, "sinh"), large), x)


def cosh(x: Expr) -> Expr:
    half = half_exp(absolute(x))
    return half + 0.25 / half


def tanh(x: Expr) -> Expr:
    size = absolute(x)
    limit = {"float": 10.0, "double": 20.0}[x.kind]
    _, n, r = reduce_exponential(clamp(size * 2, 0.0, 2 * limit))
    from .math_exponential import power_of_two

    s = power_of_two(n, x.kind)
    large = 1 - 2 / fma(s, exp_tail(r), s + 1)
    return copy_sign(where(size < 0.625, odd_polynomial(size, "tanh"), large), x)


def asinh(x: Expr) -> Expr:
    """log(|x| + sqrt(x^2 + 1)), the argument of the logarithm as a pair."""
    size = absolute(x)
    huge = size > {"float": 2.0**14, "double": 2.0**30}[x.kind]
    bounded = where(huge, 1, size)
    square, error = two_product(bounded, bounded)
    total, low = two_sum(square, square.constant(1))
    root, root_low = _root_of_pair(total, low + error)
    high, low = two_sum(bounded, root)
    high, low = where(huge, size, high), where(huge, 0, low + root_low)
    large = log_of_sum(high, low, where(huge, size.constant(1), 0))
    result = where(size < 0.5, odd_polynomial(size, "asinh"), large)
    return copy_sign(where(size < INFINITY, result, size), x)


def _root_of_pair(high: Expr, low: Expr) -> tuple[Expr, Expr]:
    """sqrt(high + low) as a pair, for positive high."""
    root = square_root(high)
    square, error = two_product(root, root)
    return root, (high.exact("fsub", square).exact("fsub", error) + low) / (root * 2)


def acosh(x: Expr) -> Expr:
    """log(1 + t + sqrt(2 t + t^2)) with t = x - 1."""
    huge = x > {"float": 2.0**14, "double": 2.0**30}[x.kind]
    t, t_low = two_sum(where(huge | (x <= 1), 1, x), x.constant(-1))
    square, error = two_product(t, t)
    total, low = two_sum(square, t * 2)
    positive = total > 0
    root, root_low = _root_of_pair(where(positive, total, 1), low + error)
    root, root_low = where(positive, root, 0), where(positive, root_low, 0)
    high, low = two_sum(t, root)
    low = low + root_low + t_low
    one_plus, rest = two_sum(high, high.constant(1))
    high, low = where(huge, x, one_plus), where(huge, 0, rest + low)
    high, low = quick_two_sum(high, low)
    result = log_of_sum(high, low, where(huge, x.constant(1), 0))
    result = where(x < INFINITY, result, x)
    return where(x < 1, float("nan"), result)


def atanh(x: Expr) -> Expr:
    """log((1 + x) / (1 - x)) / 2, a polynomial for small x."""
    size = absolute(x)
    inside = where(size < 1, size, 0)
    quotient = inside * 2 / (1 - inside)
    high, low = two_sum(quotient, quotient.constant(1))
    result = where(size < 0.5, odd_polynomial(size, "atanh"), log_of_sum(high, low) * 0.5)
    result = where(size.eq(1), INFINITY, result)
    return copy_sign(where((size > 1) | x.is_nan(), float("nan"), result), x)


HYPERBOLIC = {"sinh": sinh, "cosh": cosh, "tanh": tanh, "asinh": asinh, "acosh": acosh, "atanh": atanh}
