"""Fake quantization: floats that a quantized tensor could hold, with gradients as if nothing had been rounded.

y = (clamp(round(x / scale) + zero_point, quant_min, quant_max) - zero_point) * scale. The gradient of x passes where
nothing was clamped (Bengio et al. 2013); that of a learnable scale is the one of Esser et al. 2020 (LSQ).
"""

from __future__ import annotations

from ..core.engine import Tensor
from ..ir import build as B
from ..ir import dtypes
from ..ir.dtypes import float32
from ..ir.folding import sum_to
from ..ops.checks import check_kinds, scalar_type
from ..ops.declare import Number, composite, op
from .functions import as_scale, as_zero_point
from .quantizers import single

KERNEL = "fake_quantize_tensor_cachemask_kernel_type_handling"


def places(input, scale, zero_point):
    """The integers of numbers before they are clamped, as floats; half types compute in float32.

    Whole zero points are added to what is rounded, others before.
    """
    x = input if input.dtype is dtypes.float64 else B.cast(input, float32)
    scaled = x * B.cast(1 / B.cast(scale, float32), x.dtype)
    offset = B.cast(zero_point, x.dtype)
    return B.round(scaled + offset) if zero_point.dtype.kind == "f" else B.round(scaled) + offset


def inside(places, low, high):
    """Where nothing is clamped; NaN is outside."""
    return B.logical_and(B.ge(places, B.cast(low, places.dtype)), B.le(places, B.cast(high, places.dtype)))


def faked(input, scale, zero_point, low, high):
    """The numbers that integers in a range stand for; NaN becomes the lowest."""
    found = places(input, scale, zero_point)
    low, high = B.cast(low, found.dtype), B.cast(high, found.dtype)
    above = B.where(B.gt(found, low), found, low)
    limited = B.where(B.lt(above, high), above, high)
    number = (B.cast(limited, float32) - B.cast(zero_point, float32)) * B.cast(scale, float32)
    return B.cast(number, input.dtype)


@op(public=False)
def fake_quantize(input, scale: Number, zero_point: Number, quant_min: Number, quant_max: Number):
    """Fake quantization with parameters that are numbers, or tensors that broadcast; these have no gradient."""
    check_kinds(KERNEL, input.dtype, "f")
    return faked(input, scale, zero_point, quant_min, quant_max)


@fake_quantize.vjp
def _(cotangents, outputs, input, scale, zero_point, quant_min, quant_max):
    mask = inside(places(input, scale, zero_point), quant_min, quant_max)
    return B.where(mask, cotangents[0], 0), None, None, None, None


# -- one scale --------------------------------------------------------------------------------------
@composite
def fake_quantize_per_tensor_affine(input, scale, zero_point, quant_min: int, quant_max: int):
    """The numbers nearest to the input's among those that integers of a range stand for.

    Args:
        input: floats of any shape
        scale: the step between numbers, a number or a tensor of one
        zero_point: the integer that stands for 0.0, an integer or a tensor of one
        quant_min, quant_max: the range of the integers

    The gradient passes unchanged where the integer is in the range, and is 0 elsewhere.

    Raises:
        RuntimeError: `quant_min` is above `quant_max`, or the zero point out of their range

    >>> rushlight.fake_quantize_per_tensor_affine(rushlight.tensor([0.04, 0.26, 9.0]), 0.1, 0, 0, 10)
    tensor([0.0000, 0.3000, 1.0000])
    """
    name = "fake_quantize_per_tensor_affine"
    check_range(quant_min, quant_max)
    number = not isinstance(scale, Tensor) and not isinstance(zero_point, Tensor)
    scale, zero_point = as_scale(name, scale), as_zero_point(name, zero_point)
    if number and not quant_min <= zero_point <= quant_max:
        refuse_zero_point(zero_point, quant_min, quant_max)
    return fake_quantize(input, single(scale), zero_point, quant_min, quant_max)


def check_range(quant_min: int, quant_max: int) -> None:
    if quant_min > quant_max:
        raise RuntimeError(f"`quant_min` should be less than or equal to `quant_max`, got {quant_min} and {quant_max}")


def refuse_zero_point(zero_point, quant_min: int, quant_max: int):
    raise RuntimeError(
        f"`zero_point` must be between `quant_min` and `quant_max`, got {zero_point} for [{quant_min}, {quant_max}]"
    )


# -- channels ---------------------------------------------------------------------------------------
@composite
def fake_quantize_per_channel_affine(input, scale, zero_point, axis: int, quant_min: int, quant_max: int):
    """`fake_quantize_per_tensor_affine` with a scale and zero point for each place along a dim.

    Args:
        input: floats of any shape
        scale: float32[input.shape[axis]]
        zero_point: int32, float16 or float32 of the same shape
        axis: the dim of the channels
        quant_min, quant_max: the range of the integers

    Raises:
        RuntimeError: parameters of other dtypes or shapes; a zero point out of the range

    >>> scale, zero_point = rushlight.tensor([0.1, 1.0]), rushlight.tensor([0, 0], dtype=rushlight.int32)
    >>> rushlight.fake_quantize_per_channel_affine(rushlight.ones(2, 2) * 0.26, scale, zero_point, 0, 0, 255)
    tensor([[0.3000, 0.3000],
            [0.0000, 0.0000]])
    """
    check_channels(input, scale, zero_point, axis, quant_min, quant_max)
    if len(zero_point) and zero_point.dtype is dtypes.int32:
        least, most = zero_point.aminmax()
        if not (quant_min <= least.item() and most.item() <= quant_max):
            refuse_zero_point((least.item(), most.item()), quant_min, quant_max)
    return fake_quantize(input, *aligned(input, axis, scale, zero_point), quant_min, quant_max)


def check_channels(input, scale, zero_point, axis: int, quant_min: int, quant_max: int) -> None:
    if scale.dtype not in (float32, dtypes.bfloat16):
        raise RuntimeError(f"Scale must be Float or BFloat16, found {scalar_type(scale.dtype)}")
    if zero_point.dtype not in (dtypes.int32, float32, dtypes.float16):
        raise RuntimeError(f"Zero-point must be Int32, Float or Half, found {scalar_type(zero_point.dtype)}")
    check_lengths(input, scale, zero_point, axis)
    check_range(quant_min, quant_max)


def check_lengths(input, scale, zero_point, axis: int) -> None:
    for name, part in (("scale", scale), ("zero point", zero_point)):
        if part.ndim != 1:
            raise RuntimeError(f"{name} should be a 1-D tensor, got shape {list(part.shape)}")
    if scale.numel() != zero_point.numel():
        raise RuntimeError(
            f"scale and zero-point need to have the same dimensions, got {scale.numel()} and {zero_point.numel()}"
        )
    if axis >= max(input.ndim, 1):
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-input.ndim}, {input.ndim - 1}], but got {axis})"
        )
    if axis < 0:
        raise RuntimeError(f"`axis` must be between 0 and number of dimensions of input, got {axis}")
    if input.ndim and input.shape[axis] != scale.numel():
        raise RuntimeError(
            f"dimensions of scale and zero-point are not consistent with input tensor: {scale.numel()} for "
            f"{input.shape[axis]} places along dim {axis}"
        )


def aligned(input, axis: int, *parameters):
    """Parameters of channels in the shape in which they broadcast with the input."""
    shape = [1] * input.ndim
    if input.ndim:
        shape[axis] = -1
    return [part.reshape(shape) for part in parameters]


# -- learnable parameters ---------------------------------------------------------------------------
@op(public=False)
def fake_quantize_learnable(
    input, scale: Tensor, zero_point: Tensor, quant_min: Number, quant_max: Number, grad_factor: Number
):
    """Fake quantization whose scale and zero point have gradients; the zero point is rounded and clamped first."""
    check_kinds(KERNEL, input.dtype, "f")
    return faked(input, scale, whole(zero_point, quant_min, quant_max), quant_min, quant_max)


def whole(zero_point, low, high):
    """The integer nearest to a zero point within a range."""
    low, high = B.cast(low, zero_point.dtype), B.cast(high, zero_point.dtype)
    return B.cast(B.minimum(B.maximum(B.round(zero_point), low), high), dtypes.int32)


@fake_quantize_learnable.vjp
def _(cotangents, outputs, input, scale, zero_point, quant_min, quant_max, grad_factor):
    g = cotangents[0]
    zero = whole(zero_point, quant_min, quant_max)
    place = places(input, scale, zero)
    mask = inside(place, quant_min, quant_max)
    end = B.where(B.lt(place, B.cast(quant_min, place.dtype)), quant_min, quant_max)
    step = (outputs[0] - input) / scale  # how far rounding moved, in integers
    by_scale = g * B.where(mask, step, B.cast(end, step.dtype) - zero) * grad_factor
    by_zero = B.where(mask, 0, -g * scale * grad_factor)
    grad_scale = B.cast(sum_to(by_scale, scale.shape), scale.dtype)
    grad_zero = B.cast(sum_to(by_zero, zero_point.shape), zero_point.dtype)
    return B.where(mask, g, 0), grad_scale, grad_zero, None, None, None


@composite
def _fake_quantize_learnable_per_tensor_affine(
    input, scale, zero_point, quant_min: int, quant_max: int, grad_factor: float = 1.0
):
    """Fake quantization with a scale and zero point (float tensors of one element) that are learned.

    `grad_factor` scales their gradients.
    """
    check_range(quant_min, quant_max)
    if scale.numel() != 1 or zero_point.numel() != 1:
        raise RuntimeError(
            f"scale and zero point must have one element, got {list(scale.shape)} and {list(zero_point.shape)}"
        )
    return fake_quantize_learnable(input, *fitting(input, scale, zero_point), quant_min, quant_max, grad_factor)


def fitting(input, *parameters):
    """Parameters of one element in a shape that broadcasts without adding dims."""
    return [part if part.ndim <= input.ndim else part.reshape(()) for part in parameters]


@composite
def _fake_quantize_learnable_per_channel_affine(
    input, scale, zero_point, axis: int, quant_min: int, quant_max: int, grad_factor: float = 1.0
):
    """Fake quantization with a scale and zero point for each place along a dim (float tensors) that are learned."""
    check_range(quant_min, quant_max)
    check_lengths(input, scale, zero_point, axis)
    shaped = aligned(input, axis, scale, zero_point)
    return fake_quantize_learnable(input, *shaped, quant_min, quant_max, grad_factor)
