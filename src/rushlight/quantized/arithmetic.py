"""`ops.quantized` for single elements: sums, products and activations with the scale and zero point of the result."""

from __future__ import annotations

import math

from .. import ops
from ..core import engine
from ..core.engine import Tensor
from ..ir import build as B
from ..ir.dtype_names import REPRESENTATION
from ..ir.dtypes import float32, int32
from ..ops.declare import Number, op
from .copies import as_read_by, require_per_tensor
from .copies import cat as joined
from .elementwise import numbers, offset, result
from .elementwise import relu as clamped
from .functions import dequantize, quantize_per_tensor
from .kernels import saturated
from .quantizers import (
    PerTensor,
    inverse,
    is_quantized,
    limits,
    quantized,
    quantizer_of,
    rewrap,
    single,
)


@op(public=False)
def quantized_sum(
    a, b, a_scale: Number, a_offset: Number, b_scale: Number, b_offset: Number, inverse: Number, zero_point: Number,
    integer: Dtype, least: Number,
):  # fmt: skip
    """(a * a_scale + a_offset) + (b * b_scale + b_offset) as integers, none below `least`."""
    x = B.cast(a, float32) * a_scale + a_offset
    y = B.cast(b, float32) * b_scale + b_offset
    found = saturated(B.round((x + y) * inverse) + B.cast(zero_point, float32), integer)
    return B.maximum(found, B.cast(least, integer))


@op(public=False)
def quantized_product(
    a, b, a_zero: Number, b_zero: Number, multiplier: Number, zero_point: Number, integer: Dtype, least: Number
):
    """(a - a_zero) * (b - b_zero) * multiplier as integers, none below `least`; the product of integers is exact."""
    product = (B.cast(a, int32) - B.cast(a_zero, int32)) * (B.cast(b, int32) - B.cast(b_zero, int32))
    rounded = B.round(B.cast(product, float32) * multiplier) + B.cast(zero_point, float32)
    return B.maximum(saturated(rounded, integer), B.cast(least, integer))


def operands(name: str, a, b) -> tuple:
    """The integers and quantizers of two operands, which must be of one quantized type."""
    if not (is_quantized(a) and is_quantized(b)) or a.dtype is not b.dtype:
        kinds = [t.dtype.name if isinstance(t, Tensor) else type(t).__name__ for t in (a, b)]
        raise RuntimeError(f"quantized::{name}: expected two quantized tensors of the same dtype, got {kinds}")
    require_per_tensor(name, a, b)
    return engine.integers_of(a), quantizer_of(a), engine.integers_of(b), quantizer_of(b)


def least_of(relu: bool, zero_point: int, integer) -> int:
    """The integer below which no result may be."""
    return zero_point if relu else limits(integer)[0]


def sum_of(a: Tensor, b: Tensor, scale: float, zero_point: int, relu: bool) -> Tensor:
    x, p, y, q = operands("add", a, b)
    made, integer = PerTensor(scale, zero_point), REPRESENTATION[a.dtype]
    read = (single(p.scale), offset(p), single(q.scale), offset(q))
    least = least_of(relu, made.zero_point, integer)
    return quantized(quantized_sum(x, y, *read, inverse(made.scale), made.zero_point, integer, least), made)


def product_of(a: Tensor, b: Tensor, scale: float, zero_point: int, relu: bool) -> Tensor:
    x, p, y, q = operands("mul", a, b)
    made, integer = PerTensor(scale, zero_point), REPRESENTATION[a.dtype]
    multiplier = single(single(single(p.scale) * single(q.scale)) * inverse(made.scale))
    least = least_of(relu, made.zero_point, integer)
    found = quantized_product(x, y, p.zero_point, q.zero_point, multiplier, made.zero_point, integer, least)
    return quantized(found, made)


def add(qa: Tensor, qb: Tensor, scale: float, zero_point: int) -> Tensor:
    """qa + qb with the scale and zero point given."""
    return sum_of(qa, qb, scale, zero_point, False)


def add_relu(qa: Tensor, qb: Tensor, scale: float, zero_point: int) -> Tensor:
    """max(qa + qb, 0) with the scale and zero point given."""
    return sum_of(qa, qb, scale, zero_point, True)


def mul(qa: Tensor, qb: Tensor, scale: float, zero_point: int) -> Tensor:
    """qa * qb with the scale and zero point given."""
    return product_of(qa, qb, scale, zero_point, False)


def mul_relu(qa: Tensor, qb: Tensor, scale: float, zero_point: int) -> Tensor:
    """max(qa * qb, 0) with the scale and zero point given."""
    return product_of(qa, qb, scale, zero_point, True)


# -- numbers ----------------------------------------------------------------------------------------
def number_of(name: str, value) -> float:
    """A number given as one or as a tensor of one; RuntimeError unless it is finite."""
    number = float(value.item() if isinstance(value, Tensor) else value)
    if not math.isfinite(number):
        raise RuntimeError(f"quantized::{name}: expected a finite number, got {number}")
    return number


def add_scalar(qa: Tensor, b) -> Tensor:
    """qa + b: the zero point moves, or where it cannot the range widens."""
    require_per_tensor("add_scalar", qa)
    quantizer, (low, high) = quantizer_of(qa), limits(REPRESENTATION[qa.dtype])
    if quantizer.scale == 0:
        raise RuntimeError("quantized::add_scalar: the scale of the tensor is 0")
    zero = quantizer.zero_point - round(number_of("add_scalar", b) / single(quantizer.scale))
    if low <= zero <= high:
        return quantized(engine.integers_of(qa).clone(), PerTensor(quantizer.scale, zero))
    steps, end = ((high - zero), low) if zero < low else ((zero - low), high)
    scale = steps / (high - low) * quantizer.scale
    shifted = quantized(engine.integers_of(qa), PerTensor(quantizer.scale, zero))
    return quantize_per_tensor(dequantize(shifted), scale, end, qa.dtype)


def mul_scalar(qa: Tensor, b) -> Tensor:
    """qa * b: the scale changes; a negative factor reverses the integers, 0 gives zeros with scale 1."""
    require_per_tensor("mul_scalar", qa)
    quantizer, integer, factor = quantizer_of(qa), REPRESENTATION[qa.dtype], number_of("mul_scalar", b)
    low, high = limits(integer)
    integers = engine.integers_of(qa)
    if factor > 0:
        return quantized(integers.clone(), PerTensor(quantizer.scale * factor, quantizer.zero_point))
    if factor < 0:
        mirrored = ((low + high) - integers.to(ops.FUNCTIONS["tensor"](0).dtype)).to(integer)
        return quantized(mirrored, PerTensor(quantizer.scale * -factor, high - (quantizer.zero_point - low)))
    return quantized(integers * 0, PerTensor(1.0, 0))


def add_scalar_relu(qa: Tensor, b) -> Tensor:
    """max(qa + b, 0)."""
    return clamped(add_scalar(qa, b))


def mul_scalar_relu(qa: Tensor, b) -> Tensor:
    """max(qa * b, 0)."""
    return clamped(mul_scalar(qa, b))


# -- others -----------------------------------------------------------------------------------------
def cat(qx: list, dim: int, scale: float | None = None, zero_point: int | None = None) -> Tensor:
    """Tensors behind each other, with the scale and zero point given or those of the first."""
    if scale is None and zero_point is None:
        return joined(qx, dim)
    first = quantizer_of(qx[0])
    made = PerTensor(first.scale if scale is None else scale, first.zero_point if zero_point is None else zero_point)
    target = rewrap(engine.integers_of(qx[0])[..., :0] if qx[0].ndim else engine.integers_of(qx[0]), qx[0], made)
    return quantized(ops.cat([as_read_by(part, target) for part in qx], dim), made)


def cat_relu(qx: list, dim: int, scale: float | None = None, zero_point: int | None = None) -> Tensor:
    """`cat` without negative numbers."""
    return clamped(cat(qx, dim, scale, zero_point))


def activation(function):
    """An activation whose result has the scale and zero point given behind its own arguments."""

    def quantized_activation(qx: Tensor, output_scale: float, output_zero_point: int, *args, **kwargs) -> Tensor:
        require_per_tensor(function.__name__, qx)
        return result(function(numbers(qx), *args, **kwargs), output_scale, output_zero_point, qx.dtype)

    quantized_activation.__name__ = function.__name__
    quantized_activation.__doc__ = f"`{function.__name__}` of the numbers, quantized with what is given."
    return quantized_activation


hardswish, sigmoid, elu, celu = (activation(getattr(ops, name)) for name in ("hardswish", "sigmoid", "elu", "celu"))


def leaky_relu(qx: Tensor, negative_slope: float, inplace: bool, output_scale: float, output_zero_point: int):
    """`leaky_relu` of the numbers, quantized with what is given."""
    require_per_tensor("leaky_relu", qx)
    return result(ops.leaky_relu(numbers(qx), negative_slope), output_scale, output_zero_point, qx.dtype)


def relu6(qx: Tensor, inplace: bool = False) -> Tensor:
    """The input limited to [0, 6]."""
    return ops.relu6(qx)


def clamp(qx: Tensor, min=None, max=None) -> Tensor:
    """The input limited to what is nearest to two numbers."""
    return qx.clamp(min, max)
