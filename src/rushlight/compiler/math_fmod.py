"""Functions that are exact: fmod and nextafter."""

from __future__ import annotations

from .math_exponential import MANTISSA, power_of_two
from .math_expression import Expr, absolute, copy_sign, has_fma, iterate, two_product, where

INFINITY = float("inf")


def fmod(a: Expr, b: Expr) -> Expr:
    """The remainder of truncated division, exactly: long division with many quotient bits a round."""
    defined = (absolute(a) < INFINITY) & b.ne(0) & ~b.is_nan()
    divides = defined & (absolute(b) < INFINITY)
    divisor = where(divides, absolute(b), 1)
    rest = where(divides, absolute(a), 0)
    width = MANTISSA[a.kind]
    # without a fused multiply-add the quotient must be short enough for an exact product
    bits = width - 1 if has_fma() else width // 2 - 1
    exponent = _exponent_field(divisor)

    def step(rest: Expr) -> tuple[Expr]:
        gap = _exponent_field(rest) - exponent - bits
        gap = where(gap > 0, gap, 0)
        half = gap >> 1
        shifted = divisor * power_of_two(half, a.kind) * power_of_two(gap - half, a.kind)
        high, low = two_product((rest / shifted).intrinsic("llvm.trunc"), shifted)
        left = rest.exact("fsub", high).exact("fsub", low)
        # the rounded quotient may be one too large
        return (where(left < 0, left.exact("fadd", shifted), left),)

    (rest,) = iterate((rest,), lambda rest: rest >= divisor, step)
    result = where(divides, copy_sign(rest, a), where(defined, a, float("nan")))
    return where(a.is_nan(), a, result)


def _exponent_field(x: Expr) -> Expr:
    """The biased exponent of x > 0, below 1 for denormals."""
    width = MANTISSA[x.kind]
    tiny = (x.bits() >> width).eq(0)
    return where(tiny, ((x * 2.0**64).bits() >> width) - 64, x.bits() >> width)


def next_after(a: Expr, b: Expr) -> Expr:
    """The float beside a in the direction of b."""
    bits = a.bits()
    step = where((b > a) ^ (a < 0), bits + 1, bits - 1)
    least = where(b < 0, bits.constant(1 - (1 << (31 if a.kind == "float" else 63))), bits.constant(1))
    step = where(a.eq(0), least, step)
    return where(a.is_nan() | b.is_nan(), a + b, where(a.eq(b), b, step.as_float()))


FMOD = {"fmod": fmod}
