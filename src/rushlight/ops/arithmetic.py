"""Arithmetic, comparison and logic on tensors and numbers."""

from __future__ import annotations

from ..ir import build as B
from .declare import Number, op


@op(method=True, inplace=True, out=True)
def add(input, other, *, alpha: Number = 1):
    """input + alpha * other, with broadcasting and type promotion.

    >>> rushlight.add(rushlight.tensor([1.0, 2.0]), 10)
    tensor([11., 12.])
    """
    return input + scaled(other, alpha)


@op(method=True, inplace=True, out=True, alias=("subtract",))
def sub(input, other, *, alpha: Number = 1):
    """input - alpha * other, with broadcasting and type promotion."""
    return input - scaled(other, alpha)


@op(method=True)
def rsub(input, other, *, alpha: Number = 1):
    """other - alpha * input."""
    return other - scaled(input, alpha)


def scaled(x, alpha):
    """alpha * x; the usual alpha of 1 costs nothing."""
    return x if type(alpha) is int and alpha == 1 else x * alpha


@op(method=True, inplace=True, out=True, alias=("multiply",))
def mul(input, other):
    """input * other, with broadcasting and type promotion."""
    return input * other


@op(method=True, inplace=True, out=True)
def true_divide(input, other):
    """input / other; integers give the default floating point type."""
    return input / other


@op(method=True, inplace=True, out=True, alias=("divide",))
def div(input, other, *, rounding_mode: str | None = None):
    """input / other; `rounding_mode` is None, "trunc" (towards zero) or "floor"."""
    if rounding_mode is None:
        return input / other
    if rounding_mode == "trunc":
        return B.trunc_divide(input, other)
    if rounding_mode == "floor":
        return B.floor_divide(input, other)
    raise RuntimeError(f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found {rounding_mode!r}")


@op(method=True, inplace=True, out=True)
def neg(input):
    """-input; RuntimeError for bools."""
    return -input
