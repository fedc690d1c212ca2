"""Functions that are exact: fmod and nextafter."""

from __future__ import annotations

from .math_expression import Expr, absolute, copy_sign, has_fma, iterate, two_product, where

MANTISSA = {"float": 23, "double": 52}
INFINITY = float("inf")


def fmod(a: Expr, b: Expr) -> Expr:
    """The remainder of truncated division, exactly: long division with many quotient bits a round."""
    defined = (absolute(a) < INFINITY) & b.ne(0) & ~b.is_nan()
    divisor = where(defined, absolute(b), 1)
    rest = where(defined, absolute(a), 0)
    width = MANTISSA[a.kind]
    # without a fused multiply-add the quotient must be short enough for an exact product
    bits = width - 1 if has_fma() else width // 2 - 1

    def step(rest: Expr, divisor: Expr) -> tuple[Expr, Expr]:
        gap = (rest.bits() >> width) - (divisor.bits() >> width) - bits
        shifted = divisor * (where(gap > 0, gap, 0) + (1 << (len_bits(a.kind) - 1)) - 1 << width).as_float()
        high, low = two_product((rest / shifted).intrinsic("llvm.trunc"), shifted)
        left = rest.exact("fsub", high).exact("fsub", low)
        # the rounded quotient may be one too large
        return where(left < 0, left.exact("fadd", shifted), left), divisor

    rest, _ = iterate((rest, divisor), lambda rest, divisor: rest >= divisor, step)
    return where(defined, copy_sign(rest, a), where(a.is_nan(), a, float("nan")))


def len_bits(kind: str) -> int:
    """Width of the exponent field."""
    return 8 if kind == "float" else 11


def next_after(a: Expr, b: Expr) -> Expr:
    """The float beside a in the direction of b."""
    bits = a.bits()
    step = where((b > a) ^ (a < 0), bits + 1, bits - 1)
    least = where(b < 0, bits.constant(1 - (1 << (MANTISSA[a.kind] + len_bits(a.kind)))), bits.constant(1))
    step = where(a.eq(0), least, step)
    return where(a.is_nan() | b.is_nan(), a + b, where(a.eq(b), b, step.as_float()))


FMOD = {"fmod": fmod}
