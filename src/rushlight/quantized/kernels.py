"""Numbers to integers and back: the ops behind all functions on quantized tensors.

Rounding is to the nearest integer, ties to even, once the zero point has been added in float32. What is
out of range becomes the nearest integer of the range; NaN becomes the greatest, of 32 bits the least.
"""

from __future__ import annotations

from ..ir import build as B
from ..ir import dtypes
from ..ir.dtypes import float32, float64, int32, int64
from ..ops.declare import Number, op
from .quantizers import limits


def saturated(rounded, integer):
    """Whole floats as integers of a type, those out of its range as its limits."""
    low, high = limits(integer)
    if integer is not int32:
        below = B.where(B.lt(rounded, float(high)), rounded, float(high))  # NaN goes here
        return B.cast(B.where(B.gt(below, float(low)), below, float(low)), integer)
    above = B.where(B.gt(rounded, float(low)), rounded, float(low))
    fits = B.lt(above, float(high + 1))  # float32 has the power of two, not what is one less
    return B.where(fits, B.cast(B.where(fits, above, 0.0), integer), B.cast(high, integer))


@op(public=False)
def quantize_affine(input, inverse: Number, zero_point: Number, integer: Dtype):
    """round(input * inverse + zero_point), for one scale; `inverse` is that of the scale in float32."""
    return saturated(B.round(placed(input, inverse, zero_point, integer)), integer)


def placed(input, inverse, zero_point, integer):
    """input * inverse + zero_point in float32: rounded once for eight bits (where processors can), twice for more."""
    if integer is not int32:
        return input * inverse + B.cast(zero_point, float32)
    product = rounded_to_float32(B.cast(input, float64) * B.cast(inverse, float64))
    return B.cast(product + B.cast(zero_point, float64), float32)


@op(public=False)
def quantize_channels(input, scales, zero_points, integer: Dtype):
    """round(input / scale + zero_point), scales and zero points in shapes that broadcast."""
    return saturated(B.round(input * (1 / B.cast(scales, float32)) + B.cast(zero_points, float32)), integer)


@op(public=False)
def dequantize_affine(integers, scale: Number, zero_point: Number):
    """(integers - zero_point) * scale in float32."""
    return differences(integers, zero_point) * B.cast(scale, float32)


@op(public=False)
def dequantize_channels(integers, scales, zero_points):
    """(integers - zero_points) * scales in shapes that broadcast: in float64, if zero points are integers."""
    if zero_points.dtype.kind == "f":
        return (B.cast(integers, float32) - zero_points) * scales
    return B.cast((B.cast(integers, float64) - B.cast(zero_points, float64)) * scales, float32)


def differences(integers, zero_point):
    """integers - zero_point in float32, rounded once."""
    if integers.dtype is not int32 or zero_point.dtype.kind == "f":
        return B.cast(integers, float32) - B.cast(zero_point, float32)  # exact for eight bits
    return B.cast(B.cast(integers, int64) - B.cast(zero_point, int64), float32)


@op(public=False)
def scaled(integers, scale: Number, offset: Number):
    """integers * scale + offset in float32: what numbers are where both sides of a function are quantized."""
    return B.cast(integers, float32) * scale + offset


@op(public=False)
def quantize_rounded(input, inverse: Number, zero_point: Number, integer: Dtype):
    """round(input * inverse) + zero_point, as results of functions of quantized tensors are rounded."""
    return saturated(B.round(input * inverse) + B.cast(zero_point, float32), integer)


# -- parameters from data ---------------------------------------------------------------------------
SMALLEST_SCALE = 6.0999998822808266e-05  # 6.1e-5 in float32: what the reference implementations allow


def quantization_parameters(low, high, least: int, greatest: int, symmetric: bool):
    """float64 scales and float64 whole zero points with which [low, high] fits in integers from `least` to `greatest`.

    The range is widened to have 0 in it, which an integer stands for exactly. With `symmetric` a range that lies on
    both sides of 0 becomes as wide on either.
    """
    low, high = B.cast(low, float64), B.cast(high, float64)
    steps = greatest - least
    spans = B.logical_and(B.lt(low, 0.0), B.gt(high, 0.0))
    if symmetric:
        bound, other = -(steps // 2 + 1), steps // 2
        widest = B.maximum(B.abs(low / float(bound)), B.abs(high / float(other)))
        low = B.where(spans, rounded_to_float32(widest * bound), low)
        high = B.where(spans, rounded_to_float32(widest * other), high)
    low, high = B.minimum(low, 0.0), B.maximum(high, 0.0)
    scale = (high - low) / float(steps)
    narrow = rounded_to_float32(scale)
    useless = B.logical_or(B.eq(narrow, 0.0), B.isinf(1 / B.cast(narrow, float32)))
    scale = B.where(useless, 0.1, scale)
    low, high, scale = widened(low, high, scale, steps)
    found = nearest_zero(low, high, scale, least, greatest)
    if symmetric:
        found = B.where(spans, (least + greatest) / 2.0, found)
    return scale, B.clamp(B.round(found), float(least), float(greatest))


def rounded_to_float32(x):
    return B.cast(B.cast(x, float32), float64)


def widened(low, high, scale, steps: int):
    """Range and scale, the latter at least SMALLEST_SCALE."""
    smallest = SMALLEST_SCALE
    small = B.lt(scale, smallest)
    factor = rounded_to_float32(smallest / rounded_to_float32(scale))
    whole = rounded_to_float32(smallest * float(steps))
    new_low = B.where(B.eq(low, 0.0), low, B.where(B.eq(high, 0.0), -whole, rounded_to_float32(low * factor)))
    new_high = B.where(B.eq(low, 0.0), whole, B.where(B.eq(high, 0.0), high, rounded_to_float32(high * factor)))
    return B.where(small, new_low, low), B.where(small, new_high, high), B.where(small, smallest, scale)


def nearest_zero(low, high, scale, least: int, greatest: int):
    """The place of 0, counted from the end of the range where that is more exact."""
    from_low, from_high = least - low / scale, greatest - high / scale
    error_low = abs(least) - B.abs(low / scale)
    error_high = abs(greatest) - B.abs(high / scale)
    return B.where(B.lt(error_low, error_high), from_low, from_high)


@op(public=False)
def parameters_of_range(low, high, least: int, greatest: int, symmetric: bool):
    """Scale (float64) and zero point (int64) for each range; see `quantization_parameters`."""
    scale, zero_point = quantization_parameters(low, high, least, greatest, symmetric)
    return scale, B.cast(zero_point, dtypes.int64)
