"""The error function and its inverse, the gamma function's logarithm and its derivative."""

from __future__ import annotations

from .math_coefficients import COEFFICIENTS
from .math_exponential import exp_pair, exp_tail, log, log_pair, power_of_two, reduce_exponential
from .math_expression import (
    Expr,
    absolute,
    clamp,
    copy_sign,
    fma,
    horner,
    iterate,
    polynomial,
    quick_two_sum,
    square_root,
    two_product,
    two_sum,
    unlikely,
    where,
)
from .math_trigonometric import kernels

INFINITY = float("inf")
PI, PI_LOW = 3.141592653589793, 1.2246467991473532e-16
ERFC_CENTER = 1.1875  # e^(x^2) erfc(x) (1 + 2 x) stays near it


# -- the error function -----------------------------------------------------------------------------
def erf(x: Expr) -> Expr:
    """x + x P(x^2) up to 1, then 1 - erfc."""
    size = absolute(x)
    square = size * size
    small = fma(size, polynomial(square, COEFFICIENTS["erf"][x.kind]), size)
    if x.kind == "float":
        # erfc is e^Q(x) here: one polynomial and no division
        bounded = clamp(size, 0.0, 4.1)
        _, n, r = reduce_exponential(polynomial(bounded, COEFFICIENTS["log_erfc"]["float"]))
        s = power_of_two(n, "float")
        large = (1 - s) - s * exp_tail(r)
    else:
        large = 1 - _erfc_positive(clamp(size, 0.0, 6.0))
    return copy_sign(where(size < 1, small, large), x)


def _erfc_positive(x: Expr) -> Expr:
    """e^(-x^2) (C + P(t)) / (1 + 2 x) with t = (x - 3.75) / (x + 3.75), for x >= 1/2; the quotient is a pair."""
    t = (x - 3.75) / (x + 3.75)
    square, error = two_product(x, x)
    top, top_low = quick_two_sum(x.constant(ERFC_CENTER), polynomial(t, COEFFICIENTS["erfc"][x.kind]))
    bottom, bottom_low = two_sum(x * 2, x.constant(1))
    quotient = top / bottom
    product, lost = two_product(quotient, bottom)
    left = top.exact("fsub", product).exact("fsub", lost) + top_low - quotient * bottom_low
    return exp_pair(-square, -error, (quotient, left / bottom))


def _erfc_center(x: Expr) -> Expr:
    """1 - erf(x) up to 1/2."""
    return (1 - x) - x * polynomial(x * x, COEFFICIENTS["erf"][x.kind])


def erfc(x: Expr) -> Expr:
    size = absolute(x)
    tail = _erfc_positive(clamp(size, 0.5, {"float": 10.5, "double": 27.5}[x.kind]))
    tail = where(x < 0, 2 - tail, tail)
    return where(size < 0.5, _erfc_center(x), tail)


def erfcx(x: Expr) -> Expr:
    """e^(x^2) erfc(x): (C + P(t)) / (1 + 2 |x|) as in erfc, 2 e^(x^2) minus that below -1/2, the product near 0."""
    size = absolute(x)
    bounded = where(size < 1e30, size, 1e30)
    t = (bounded - 3.75) / (bounded + 3.75)
    positive = (polynomial(t, COEFFICIENTS["erfcx"][x.kind]) + ERFC_CENTER) * 0.5 / (size + 0.5)
    limited = clamp(x, {"float": -13.0, "double": -37.0}[x.kind], 0.5)
    growth = exp_pair(*two_product(limited, limited))
    result = where(x < 0, growth * 2 - positive, positive)
    return where(x.is_nan(), x, where(size < 0.5, growth * _erfc_center(x), result))


def erfinv(x: Expr) -> Expr:
    """x P(w) with w = -log(1 - x^2); polynomials in w near 0 and in sqrt w beyond (Giles)."""
    size = absolute(x)
    inside = where(size < 1, size, 0)
    product = (1 - inside) * (1 + inside)
    if x.kind == "float":
        w = -log(product)
        root = square_root(w)
        center, tail = horner(w, COEFFICIENTS["erfinv_center"]["float"]), root - 3
        factor = where(w < 5, center, horner(tail, COEFFICIENTS["erfinv_tail"]["float"]))
    else:
        high, low = log_pair(product)
        w, root, root_low = _root_of_logarithm(high, low)
        center = horner(w, COEFFICIENTS["erfinv_center"]["double"])
        tail = horner(root - 3.125, COEFFICIENTS["erfinv_tail"]["double"])
        far = horner(root - 5, COEFFICIENTS["erfinv_far"]["double"])
        # both polynomials rise almost as fast as the root
        factor = where(w < 5, center, where(w < 16, tail, far) + root_low)
    result = where(size.eq(1), INFINITY, inside * factor)
    return copy_sign(where((size > 1) | x.is_nan(), float("nan"), result), x)


def _root_of_logarithm(high: Expr, low: Expr) -> tuple[Expr, Expr, Expr]:
    """w = -(high + low) and its square root as a pair."""
    w = -high
    root = square_root(w)
    square, error = two_product(root, root)
    lost = (w - square) - error - low
    return w, root, where(root > 0, lost * 0.5 / root, 0)


# -- the gamma function -----------------------------------------------------------------------------
def in_double(function):
    """A function computed in double, for float operands too; it is told whether all digits of a double count."""

    def rule(x: Expr) -> Expr:
        if x.kind == "float":
            return function(x.cast("fpext", "double"), False).cast("fptrunc", "float")
        return function(x, True)

    return rule


@in_double
def lgamma(x: Expr, precise: bool) -> Expr:
    """log |gamma(x)|; below 0 by reflection: gamma(-a) gamma(a) = -pi / (a sin(pi a))."""
    size = absolute(x)
    high, low = _lgamma_positive(where(size < INFINITY, size, 1), precise)
    result = high + low

    def reflect(result: Expr) -> tuple[Expr]:
        sine = absolute(_sin_pi(size))
        top, top_low = _log(PI / (size * sine), precise)
        reflected, rest = two_sum(top, -high)
        reflected = reflected + (rest + (top_low - low))
        # near 0, log|gamma| is even
        reflected = where(size < 1e-30, result, reflected)
        return (where(x < 0, where(sine.eq(0), INFINITY, reflected), result),)

    (result,) = unlikely(x < 0, (result,), reflect)
    result = where(size.eq(0) | size.eq(INFINITY), INFINITY, result)
    return where(x.is_nan(), x, result)


def _log(x: Expr, precise: bool) -> tuple[Expr, Expr]:
    """log x as a pair; its second part is 0 where few digits are wanted."""
    return log_pair(x) if precise else (log(x), x.constant(0))


def _lgamma_positive(a: Expr, precise: bool) -> tuple[Expr, Expr]:
    """As a pair: y Q(y) for a = 2 + y after shifting by the recurrence, Stirling's series from 8 on."""
    middle = where(a < 8, a, 2)
    below = where(middle < 0.25, middle * (middle + 1), where(middle < 1.25, middle, 1))
    reduced, above = iterate(
        (middle, a.constant(1)),
        lambda z, product: z >= 2.5,
        lambda z, product: (where(z >= 2.5, z - 1, z), where(z >= 2.5, product * (z - 1), product)),
    )
    y = where(middle < 0.25, middle, where(middle < 1.25, middle - 1, reduced - 2))
    polynomial_part = y * polynomial(y, COEFFICIENTS["lgamma"]["double"])
    rising, large = middle < 1.25, a >= 8
    high, low = _log(where(large, a, where(rising, below, above)), precise)
    near, near_low = two_sum(polynomial_part, where(rising, -high, high))
    near_low = near_low + where(rising, -low, low)
    far, far_low = _stirling(a, high, low)
    return where(large, far, near), where(large, far_low, near_low)


def _stirling(a: Expr, high: Expr, low: Expr) -> tuple[Expr, Expr]:
    """(a - 1/2) log a - a + log(2 pi) / 2 + S(1 / a^2) / a, with log a = high + low."""
    inverse = 1 / a
    correction = inverse * polynomial(inverse * inverse, COEFFICIENTS["stirling"]["double"])
    factor = a - 0.5
    product, error = two_product(factor, high)
    total, rest = two_sum(product, -a)
    rest = rest + error + fma(factor, low, correction + 0.9189385332046728)
    huge = a > 2.0**60
    return where(huge, a * (high - 1), total), where(huge, 0, rest)


def _fraction(a: Expr) -> tuple[Expr, Expr, Expr]:
    """For a >= 0 and f = a - round(a): f, sin |pi f| and cos |pi f|."""
    f = a - a.intrinsic("llvm.roundeven")
    size = absolute(f)
    swap = size > 0.25
    turn = where(swap, 0.5 - size, size)
    angle, low = two_product(turn, turn.constant(PI))
    sine, cosine = kernels(angle, fma(turn, PI_LOW, low))
    sine, cosine = sine[0] + sine[1], cosine[0] + cosine[1]
    return f, where(swap, cosine, sine), where(swap, sine, cosine)


def _sin_pi(a: Expr) -> Expr:
    return _fraction(a)[1]


DIGAMMA_ROOT = (1.4616321449683622, 9.549995429965697e-17)


@in_double
def digamma(x: Expr, precise: bool) -> Expr:
    """The derivative of lgamma; below 0 by reflection."""
    size = absolute(x)
    result = _digamma_positive(where(size.eq(0), 1, size))

    def reflect(result: Expr) -> tuple[Expr]:
        f, sine, cosine = _fraction(size)
        reflected = result + 1 / size + copy_sign(cosine * PI / sine, f)
        reflected = where(size < 1e-30, 1 / size, reflected)
        return (where(x < 0, where(f.ne(0), reflected, float("nan")), result),)

    (result,) = unlikely(x < 0, (result,), reflect)
    return where(x.eq(0), copy_sign(x.constant(INFINITY), -x), result)


def _digamma_positive(a: Expr) -> Expr:
    """(a - root) P(a - 3/2) on [1, 2], reached by the recurrence from below 10; an asymptotic series above."""
    middle = where(a < 10, a, 1)
    small = middle < 1
    start = where(small, -(1 / middle), 0)
    z, total = iterate(
        (where(small, middle + 1, middle), start),
        lambda z, total: z > 2,
        lambda z, total: (where(z > 2, z - 1, z), where(z > 2, total + 1 / (z - 1), total)),
    )
    root = (z - DIGAMMA_ROOT[0]) - DIGAMMA_ROOT[1]
    near = fma(root, polynomial(z - 1.5, COEFFICIENTS["digamma"]["double"]), total)
    inverse = 1 / a
    square = inverse * inverse
    far = log(a) - fma(square, polynomial(square, COEFFICIENTS["digamma_tail"]["double"]), inverse * 0.5)
    return where(a < 10, near, far)


SPECIAL = {"erf": erf, "erfc": erfc, "erfcx": erfcx, "erfinv": erfinv, "lgamma": lgamma, "digamma": digamma}
