"""Whether tensors are equal, or nearly so."""

from __future__ import annotations

from ..core.engine import Tensor
from ..ir import build as B
from ..ir import dtypes
from ..ir.graph import Value
from .checks import scalar_type
from .declare import composite, op


@op(public=False)
def near(input, other, rtol: float, atol: float, equal_nan: bool):
    """Where two tensors of one dtype are close."""
    close = B.eq(input, other)
    if equal_nan and input.dtype.kind in "fc":
        close = B.logical_or(close, B.logical_and(B.isnan(input), B.isnan(other)))
    if input.dtype.kind not in "fc":
        input, other = B.cast(input, dtypes.float64), B.cast(other, dtypes.float64)
    actual = B.abs(input - other)
    allowed = atol + B.abs(rtol * other)
    return B.logical_or(close, B.logical_and(B.isfinite(actual), B.le(actual, allowed)))


def check_close(input, other, rtol, atol) -> None:
    for value in (input, other):
        if not isinstance(value, (Tensor, Value)):
            raise TypeError(f"isclose(): arguments must be Tensors, not {type(value).__name__}")
    if input.dtype is not other.dtype:
        raise RuntimeError(f"{scalar_type(input.dtype)} did not match {scalar_type(other.dtype)}")
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if tolerance < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {tolerance}")


@composite(method=True)
def isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Where |input - other| <= atol + rtol * |other|, or both are equal (or NaN, with `equal_nan`)."""
    check_close(input, other, rtol, atol)
    return near(input, other, float(rtol), float(atol), bool(equal_nan))


@op(public=False)
def all_close(input, other, rtol: float, atol: float, equal_nan: bool):
    return B.all(near(input, other, rtol, atol, equal_nan))


@composite(method=True)
def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements are close, as `isclose` has it; a bool."""
    check_close(input, other, rtol, atol)
    return bool(all_close(input, other, float(rtol), float(atol), bool(equal_nan)))


@op(public=False)
def all_equal(input, other):
    return B.all(B.eq(input, other))


@composite(method=True)
def equal(input, other):
    """Whether two tensors have one shape and equal elements; a bool."""
    if input.shape != other.shape:
        return False
    return bool(all_equal(input, other))
