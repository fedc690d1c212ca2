"""How quantiles of the gamma and beta distributions move with a parameter, computed in double.

For a distribution function F(x; a) of density p a quantile moves by dx/da = -(dF/da) / p. F is a series or a continued
fraction (the one that converges) times a power of x; either is followed together with its derivative by a.
"""

from __future__ import annotations

from .math_exponential import log, log1p
from .math_expression import Expr, absolute, iterate, square_root, where
from .math_gamma import EPSILON, INFINITY, NAN, STEPS
from .math_special import digamma

LARGE = 1e4  # gamma distributions of such shapes are almost normal


def in_double(function):
    """A function of several operands that is computed in double; for float operands series end sooner."""

    def rule(*operands: Expr) -> Expr:
        if operands[0].kind != "float":
            return function(*operands, EPSILON)
        return function(*(x.cast("fpext", "double") for x in operands), 1e-10).cast("fptrunc", "float")

    return rule


# -- gamma ------------------------------------------------------------------------------------------
@in_double
def gamma_slope(a: Expr, x: Expr, precision: float) -> Expr:
    """dx/da of a gamma distribution's quantile x (scale 1, shape a)."""
    valid = (a > 0) & (x > 0) & (a < INFINITY) & (x < INFINITY)
    a_safe, x_safe = where(valid, a, 1), where(valid, x, 1)
    large = a_safe >= LARGE
    a_near, x_near = where(large, 1, a_safe), where(large, 1, x_safe)
    rising = x_near < a_near + 1
    lower = _lower_slope(a_near, where(rising, x_near, 1), precision)
    upper = _upper_slope(a_near, where(rising, a_near + 2, x_near), precision)
    near = where(rising, lower, upper)
    result = where(large, _normal_slope(where(large, a_safe, LARGE), where(large, x_safe, LARGE)), near)
    return where(valid, result, where((a > 0) & x.eq(0), a.constant(0), NAN))


def _lower_slope(a: Expr, x: Expr, precision: float) -> Expr:
    """By the series S = sum of x^n / ((a + 1) ... (a + n)): F / p = S x / a."""

    def more(n: Expr, term: Expr, change: Expr, total: Expr, slope: Expr) -> Expr:
        return ((term > total * precision) | (absolute(change) > absolute(slope) * precision)) & (n < STEPS)

    def step(n: Expr, term: Expr, change: Expr, total: Expr, slope: Expr):
        ratio, size = x / (a + n), a + n
        change = change * ratio - term * ratio / size
        term = term * ratio
        return n + 1, term, change, total + term, slope + change

    one, zero = a.constant(1), a.constant(0)
    _, _, _, total, slope = iterate((one, one, zero, one, zero), more, step)
    return (total * (digamma(a + 1) - log(x)) - slope) * x / a


def _upper_slope(a: Expr, x: Expr, precision: float) -> Expr:
    """By the continued fraction V of (1 - F) / p = V x."""
    value, slope = _followed(lambda n: (n * (a - n), n), lambda n: (x + 1 - a + n * 2, a.constant(-1)), a, precision)
    return x * (value * (log(x) - digamma(a)) + slope)


def _normal_slope(a: Expr, x: Expr) -> Expr:
    """By the expansion of x in powers of 1 / sqrt(a) about the normal quantile z (Cornish and Fisher)."""
    root = square_root(a)
    base = (x - a) / root
    z = base
    for _ in range(6):
        third = (z * z - 1) / (root * 3)
        z = base - third - (z * z * z - z * 7) / (a * 36)
    cubic = (z * z * z - z * 7) / (a * root * 72)
    square = z * z
    return 1 + z / (root * 2) - cubic + (square * square * 3 + square * 7 - 16) / (a * a * 810)


def _followed(weight, denominator, like: Expr, precision: float) -> tuple[Expr, Expr]:
    """1 / (b_0 + w_1 / (b_1 + w_2 / (b_2 + ...))) and its derivative, by Lentz's method.

    `weight(n)` and `denominator(n)` give a number and its derivative.
    """
    tiny = 1e-300

    def more(n: Expr, c: Expr, gc: Expr, d: Expr, gd: Expr, change: Expr, value: Expr, slope: Expr) -> Expr:
        moving = (absolute(change - 1) > precision * 2) | (absolute(gc * d + c * gd) > max(precision, 1e-13))
        return moving & (n < STEPS)

    def step(n: Expr, c: Expr, gc: Expr, d: Expr, gd: Expr, change: Expr, value: Expr, slope: Expr):
        (w, gw), (b, gb) = weight(n), denominator(n)
        below = w * d + b
        below = where(absolute(below) < tiny, tiny, below)
        gd = -(gw * d + w * gd + gb) / (below * below)
        d = 1 / below
        gc = gb + (gw - w * gc / c) / c
        c = b + w / c
        c = where(absolute(c) < tiny, tiny, c)
        change = c * d
        return n + 1, c, gc, d, gd, change, value * change, slope * change + value * (gc * d + c * gd)

    zero = like.constant(0)
    b, gb = denominator(zero)
    first, slope = 1 / b, -gb / (b * b)
    # c begins at infinity: its reciprocal and that one's derivative vanish
    begin = (like.constant(1), like.constant(1 / tiny), zero, first, slope, like.constant(2), first, slope)
    return iterate(begin, more, step)[6:]


# -- beta -------------------------------------------------------------------------------------------
@in_double
def beta_slope(x: Expr, a: Expr, b: Expr, precision: float) -> Expr:
    """dx/da over 1 - x, for the quantile x of the beta distribution with the parameters a and b."""
    valid = (x > 0) & (x <= 1) & (a > 0) & (b > 0) & (a < INFINITY) & (b < INFINITY)
    x, a, b = where(valid, x, 0.5), where(valid, a, 1), where(valid, b, 1)
    rising = x * (a + b + 2) < a + 1
    swapped_x = where(rising, x, 1 - x)
    # the fraction is that of the shorter tail, whose first parameter may be a or b
    p, q = where(rising, a, b), where(rising, b, a)
    by_p = where(rising, a.constant(1), 0)
    value, slope = _beta_fraction(p, q, swapped_x, by_p, 1 - by_p, precision)
    power = where(rising, log(x) - 1 / p, log1p(-swapped_x))
    factor = value * (power - digamma(a) + digamma(a + b)) + slope
    result = where(rising, -factor, factor) * x / p
    return where(valid, result, where(a.is_nan() | b.is_nan(), a.constant(NAN), 0))


def _beta_fraction(p: Expr, q: Expr, x: Expr, gp: Expr, gq: Expr, precision: float) -> tuple[Expr, Expr]:
    """The continued fraction of the incomplete beta function, and its derivative where p and q move by gp and gq.

    Its even and odd steps are taken together (its even part), so that one rule has all weights.
    """

    def numerator(m: Expr) -> tuple[Expr, Expr]:
        """The weight of step 2 m."""
        # at m = 0 the weight is 0 whatever is below
        top, below = m * (q - m) * x, where(m < 1, 1, p + m * 2 - 1) * (p + m * 2)
        change = m * gq * x / below - top * gp * (p * 2 + m * 4 - 1) / (below * below)
        return top / below, change

    def odd(m: Expr) -> tuple[Expr, Expr]:
        """The weight of step 2 m + 1."""
        first, second = p + m, p + q + m
        below = (p + m * 2) * (p + m * 2 + 1)
        top = -(first * second) * x
        change = -(gp * second + first * (gp + gq)) * x / below - top * gp * (p * 2 + m * 4 + 1) / (below * below)
        return top / below, change

    def weight(n: Expr) -> tuple[Expr, Expr]:
        # -d(2n-1) d(2n)
        (u, gu), (v, gv) = odd(n - 1), numerator(n)
        return -(u * v), -(gu * v + u * gv)

    def denominator(n: Expr) -> tuple[Expr, Expr]:
        # 1 + d(2n) + d(2n+1); at n = 0 the even weight is 0
        (u, gu), (v, gv) = numerator(n), odd(n)
        return 1 + u + v, gu + gv

    return _followed(weight, denominator, p, precision)


QUANTILE = {"gamma_slope": gamma_slope, "beta_slope": beta_slope}
