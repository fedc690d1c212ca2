"""Incomplete gamma functions and Hurwitz's zeta function, computed in double."""

from __future__ import annotations

from fractions import Fraction
from math import factorial

from .math_exponential import exp, log, log1p
from .math_expression import Expr, absolute, iterate, square_root, where
from .math_special import lgamma

EPSILON = 2.0**-53
STEPS = 4000  # the longest series and fractions that are followed
INFINITY, NAN = float("inf"), float("nan")


def in_double(function):
    """A function of several operands that is computed in double, for float operands too."""

    def rule(*operands: Expr) -> Expr:
        if operands[0].kind == "float":
            return function(*(x.cast("fpext", "double") for x in operands)).cast("fptrunc", "float")
        return function(*operands)

    return rule


def bernoulli(count: int) -> list[Fraction]:
    """B_0 .. B_count, by their recurrence."""
    found = [Fraction(1)]
    for m in range(1, count + 1):
        row, total = Fraction(1), Fraction(0)
        for k, number in enumerate(found):
            total += row * number
            row = row * (m + 1 - k) / (k + 1)
        found.append(-total / (m + 1))
    return found


BERNOULLI = bernoulli(24)
EULER_MACLAURIN = [float(BERNOULLI[2 * j] / factorial(2 * j)) for j in range(1, 13)]
STIRLING = [float(BERNOULLI[2 * j] / (2 * j * (2 * j - 1))) for j in range(1, 9)]


# -- zeta -------------------------------------------------------------------------------------------
@in_double
def zeta(s: Expr, q: Expr) -> Expr:
    """The sum of (q + k) ** -s over k >= 0: terms up to q + k > 9, then Euler and Maclaurin's series."""
    whole = q.eq(q.intrinsic("llvm.floor"))
    valid = (s > 1) & ((q > 0) | (~whole & s.eq(s.intrinsic("llvm.floor"))))
    s_safe, q_safe = where(valid, s, 2), where(valid, q, 1)
    first = _power(q_safe, s_safe)

    def more(count: Expr, a: Expr, term: Expr, total: Expr) -> Expr:
        return ((count < 9) | (a < 9)) & (absolute(term) > absolute(total) * EPSILON)

    def step(count: Expr, a: Expr, term: Expr, total: Expr):
        going = more(count, a, term, total)
        following = _power(a + 1, s_safe)
        return (
            where(going, count + 1, count),
            where(going, a + 1, a),
            where(going, following, term),
            where(going, total + following, total),
        )

    _, a, term, total = iterate((q_safe.constant(0), q_safe, first, first), more, step)
    # the last term was counted whole; the series has half of it
    tail = term * a / (s_safe - 1) - term * 0.5
    factor, power = s_safe, term / a
    for j, coefficient in enumerate(EULER_MACLAURIN):
        tail = tail + power * factor * coefficient
        factor = factor * (s_safe + (2 * j + 1)) * (s_safe + (2 * j + 2))
        power = power / (a * a)
    result = where(absolute(term) > absolute(total) * EPSILON, total + tail, total)
    pole = s.eq(1) | ((s > 1) & whole & (q <= 0))
    result = where(valid, result, where(pole, s.constant(INFINITY), NAN))
    return where(s.is_nan() | q.is_nan(), NAN, result)


def _power(q: Expr, s: Expr) -> Expr:
    """q ** -s, for negative q and whole s too."""
    size = exp(-s * log(absolute(q)))
    odd = (s * 0.5).ne((s * 0.5).intrinsic("llvm.floor"))
    return where((q < 0) & odd, -size, size)


# -- incomplete gamma functions ---------------------------------------------------------------------
@in_double
def gammainc(a: Expr, x: Expr) -> Expr:
    """The lower one, regularised: P(a, x)."""
    return _incomplete(a, x)[0]


@in_double
def gammaincc(a: Expr, x: Expr) -> Expr:
    """The upper one, regularised: Q(a, x) = 1 - P(a, x)."""
    return _incomplete(a, x)[1]


def _incomplete(a: Expr, x: Expr) -> tuple[Expr, Expr]:
    finite = (a > 0) & (x > 0) & (a < INFINITY) & (x < INFINITY)
    a_safe, x_safe = where(finite, a, 1), where(finite, x, 1)
    rising = x_safe < a_safe + 1
    scale = _scale(a_safe, x_safe)
    lower = scale * _series(a_safe, where(rising, x_safe, 1))
    upper = scale * a_safe * _fraction(a_safe, where(rising, a_safe + 2, x_safe))
    lower, upper = where(rising, lower, 1 - upper), where(rising, 1 - lower, upper)
    # where an argument is 0 or infinite, x / a decides
    below = (x.eq(0) & (a > 0)) | (a.eq(INFINITY) & (x < INFINITY))
    above = (a.eq(0) & (x > 0)) | (x.eq(INFINITY) & (a < INFINITY))
    wrong = (a < 0) | (x < 0) | a.is_nan() | x.is_nan() | (a.eq(0) & x.eq(0)) | (a.eq(INFINITY) & x.eq(INFINITY))
    lower, upper = where(below, 0, where(above, 1, lower)), where(below, 1, where(above, 0, upper))
    return where(wrong, NAN, lower), where(wrong, NAN, upper)


def _scale(a: Expr, x: Expr) -> Expr:
    """x ** a exp(-x) / gamma(a + 1); for large a by Stirling's series, whose large terms cancel on paper."""
    large = a >= 10
    safe = where(large, a, 10)
    mu = (x - safe) / safe
    inverse = 1 / safe
    square = inverse * inverse
    correction = inverse.constant(STIRLING[-1])
    for number in reversed(STIRLING[:-1]):
        correction = correction * square + number
    far = exp(safe * (log1p(mu) - mu) - correction * inverse) / square_root(safe * 6.283185307179586)
    small = where(large, 1, a)
    near = exp(small * log(x) - x - lgamma(small + 1))
    return where(large, far, near)


def _series(a: Expr, x: Expr) -> Expr:
    """1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ..."""

    def more(n: Expr, term: Expr, total: Expr) -> Expr:
        return (term > total * EPSILON) & (n < STEPS)

    def step(n: Expr, term: Expr, total: Expr):
        following = term * x / (a + n)
        return n + 1, following, total + following

    return iterate((a.constant(1), a.constant(1), a.constant(1)), more, step)[2]


def _fraction(a: Expr, x: Expr) -> Expr:
    """Legendre's continued fraction of gamma(a, x) exp(x) / x ** a, by Lentz's method."""
    tiny = 1e-300
    start = x + 1 - a

    def more(n: Expr, b: Expr, c: Expr, d: Expr, change: Expr, value: Expr) -> Expr:
        return (absolute(change - 1) > EPSILON * 2) & (n < STEPS)

    def step(n: Expr, b: Expr, c: Expr, d: Expr, change: Expr, value: Expr):
        weight = n * (a - n)
        b = b + 2
        d = weight * d + b
        c = b + weight / c
        d = 1 / where(absolute(d) < tiny, tiny, d)
        c = where(absolute(c) < tiny, tiny, c)
        change = c * d
        return n + 1, b, c, d, change, value * change

    first = 1 / start
    begin = (a.constant(1), start, a.constant(1 / tiny), first, a.constant(2), first)
    return iterate(begin, more, step)[5]


GAMMA = {"zeta": zeta, "gammainc": gammainc, "gammaincc": gammaincc}
