"""Rough costs, in simple vector instructions: what decides between computing again and storing."""

from __future__ import annotations

from ..ir.dtypes import DType

EXPENSIVE = 10  # from here on a value is kept rather than computed again

_FUNCTIONS = """exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
erf erfc erfcx erfinv lgamma digamma zeta gammainc gammaincc gamma_slope beta_slope sigmoid pow atan2 fmod remainder
floor_divide"""
_DIVISIONS = "div sqrt rsqrt reciprocal trunc_divide nextafter"
_WEIGHTS = dict.fromkeys(_FUNCTIONS.split(), 20) | dict.fromkeys(_DIVISIONS.split(), 4)


def weight(name: str, dtype: DType) -> int:
    """The cost of one `map` primitive for one vector of operands of type `dtype`."""
    cost = _WEIGHTS.get(name, 1)
    if dtype.kind in "ui" and name in ("floor_divide", "trunc_divide", "remainder", "fmod", "gcd", "pow"):
        cost = 20
    return cost * (3 if dtype.is_complex and cost > 1 else 1)
