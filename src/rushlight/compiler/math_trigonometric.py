"""Sine, cosine and tangent, with arguments reduced exactly however large they are."""

from __future__ import annotations

from .math_coefficients import COEFFICIENTS
from .math_exponential import round_to_integer
from .math_expression import Expr, absolute, fma, polynomial, quick_two_sum, two_product, two_sum, unlikely, where
from .math_reduction import reduce_huge

# pi / 2 in parts of 33 bits: whole multiples up to 2^20 are exact products
HALF_PI = (1.57079632673412561417, 6.07710050630396597660e-11, 2.02226624871116645580e-21, 8.47842766036889956997e-32)
HALF_PI_REST = 6.07710050650619224932e-11  # all that follows the first part
TWO_OVER_PI = 0.6366197723675814
LIMIT = 2.0**20


def reduce(x: Expr) -> tuple[Expr, Expr, Expr]:
    """x (double) as q pi/2 + hi + lo with |hi| <= pi/4; q is an i64, of which two bits count."""
    whole, q = round_to_integer(x * TWO_OVER_PI)
    first = fma(whole, -HALF_PI[0], x)
    second, second_low = two_sum(first, whole * -HALF_PI[1])
    third, third_low = two_sum(second, whole * -HALF_PI[2])
    low = fma(whole, -HALF_PI[3], second_low + third_low)
    high, low = quick_two_sum(third, low)
    return unlikely(~(absolute(x) < LIMIT), (high, low, q), lambda *parts: reduce_huge(x, LIMIT, *parts))


def reduce_float(x: Expr) -> tuple[Expr, Expr]:
    """x (float) as q pi/2 + r, computed in double."""
    wide = x.cast("fpext", "double")
    whole, q = round_to_integer(wide * TWO_OVER_PI)
    r = fma(whole, -HALF_PI_REST, fma(whole, -HALF_PI[0], wide))
    r, _, q = unlikely(~(absolute(x) < LIMIT), (r, r, q), lambda *parts: reduce_huge(wide, LIMIT, *parts))
    return r, q


def kernels(high: Expr, low: Expr | None) -> tuple[tuple[Expr, Expr], tuple[Expr, Expr]]:
    """sin and cos of high + low, |high| <= pi/4, each as a rounded part and the rest."""
    square = high * high
    sin_tail = high * square * polynomial(square, COEFFICIENTS["sin"][high.kind])
    half = square * 0.5
    cos_tail = square * square * polynomial(square, COEFFICIENTS["cos"][high.kind])
    one = high.constant(1)
    top, rest = quick_two_sum(one, -half)
    if low is not None:
        # d sin = cos r dr, d cos = -sin r dr, to first order in the lost part; 1 - r^2/2 stands for cos
        sin_tail = sin_tail + low * (1 - half)
        rest = rest - high * low
        product, error = two_product(high, high)
        rest = rest - ((product - square) + error) * 0.5
    return (high, sin_tail), (top, rest + cos_tail)


def _choose(q: Expr, sine: Expr, cosine: Expr, kind: str) -> Expr:
    """sin of the angle in quadrant q."""
    bits = q if kind == "double" else q.cast("trunc", "i32")
    result = where((bits & 1).ne(0), cosine, sine)
    sign = (bits & 2) << (62 if kind == "double" else 30)
    return (result.bits() ^ sign).as_float()


def _parts(x: Expr, precise: bool = False):
    """The quadrant and both kernels; `precise` keeps what rounding takes from a float's reduced argument."""
    if x.kind == "float":
        r, q = reduce_float(x)
        high = r.cast("fptrunc", "float")
        low = (r - high.cast("fpext", "double")).cast("fptrunc", "float") if precise else None
        return q, *kernels(high, low)
    high, low, q = reduce(x)
    return q, *kernels(high, low)


def sin_cos(x: Expr) -> tuple[Expr, Expr]:
    """Both functions from one reduction."""
    q, sine, cosine = _parts(x)
    sine, cosine = sine[0] + sine[1], cosine[0] + cosine[1]
    return where(x.eq(0), x, _choose(q, sine, cosine, x.kind)), _choose(q + 1, sine, cosine, x.kind)


def sin(x: Expr) -> Expr:
    return sin_cos(x)[0]


def cos(x: Expr) -> Expr:
    return sin_cos(x)[1]


def tan(x: Expr) -> Expr:
    """The quotient of the kernels, corrected by what rounding took from each."""
    q, sine, cosine = _parts(x, precise=True)
    sine, cosine = quick_two_sum(*sine), quick_two_sum(*cosine)
    odd = (q & 1).ne(0)
    top, top_low = (where(odd, a, b) for a, b in zip(cosine, sine))
    bottom, bottom_low = (where(odd, a, b) for a, b in zip(sine, cosine))
    quotient = top / bottom
    product, error = two_product(quotient, bottom)
    left = top.exact("fsub", product).exact("fsub", error) + top_low - quotient * bottom_low
    result = quotient + left / bottom
    result = where(odd, -result, result)
    return where(x.eq(0), x, result)


TRIGONOMETRIC = {"sin": sin, "cos": cos, "tan": tan}
