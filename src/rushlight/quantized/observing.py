"""Observing the range of numbers while faking the quantization that suits it: one step of training with it."""

from __future__ import annotations

from ..core.engine import Tensor
from ..ir import build as B
from ..ops.declare import Number, composite, op
from .fake import check_range, fake_quantize_per_channel_affine, fake_quantize_per_tensor_affine
from .kernels import quantization_parameters

INFINITE = float("inf")


@op(public=False, mutates=("running_min", "running_max", "scale", "zero_point"))
def observe_range(
    least: Tensor, most: Tensor, running_min: Tensor, running_max: Tensor, scale: Tensor, zero_point: Tensor,
    rate: Number, quant_min: int, quant_max: int, symmetric: bool,
):  # fmt: skip
    """Move the running range towards a new one, and take the parameters that suit it; infinite ends are unset."""
    low = B.where(B.isinf(running_min), least, running_min + rate * (least - running_min))
    high = B.where(B.isinf(running_max), most, running_max + rate * (most - running_max))
    found, zero = quantization_parameters(low, high, quant_min, quant_max, symmetric)
    return low, high, B.cast(found, scale.dtype), B.cast(zero, zero_point.dtype)


@composite
def fused_moving_avg_obs_fake_quant(
    input, observer_on, fake_quant_on, running_min, running_max, scale, zero_point, averaging_const: float,
    quant_min: int, quant_max: int, ch_axis: int, per_row_fake_quant: bool = False, symmetric_quant: bool = False,
):  # fmt: skip
    """Track the range of the input with a moving average, choose scale and zero point for it, and quantize in fake.

    Args:
        input: float32 of any shape
        observer_on, fake_quant_on: tensors of one number: whether to observe, and whether to quantize
        running_min, running_max: float32[1], or [channels] with `per_row_fake_quant`: written; infinite at first
        scale, zero_point: float32 and int32 of the same shape: written
        averaging_const: how much of the new range enters the average
        quant_min, quant_max: the range of the integers
        ch_axis: the dim of the channels
        per_row_fake_quant: whether there is a range for each channel
        symmetric_quant: whether ranges are as wide on either side of 0

    >>> low, high = rushlight.tensor([float("inf")]), rushlight.tensor([float("-inf")])
    >>> scale, zero_point = rushlight.ones(1), rushlight.zeros(1, dtype=rushlight.int32)
    >>> on = rushlight.ones(1)
    >>> x = rushlight.tensor([0.0, 1.0, 2.55])
    >>> rushlight.fused_moving_avg_obs_fake_quant(x, on, on, low, high, scale, zero_point, 0.01, 0, 255, 0)
    tensor([0.0000, 1.0000, 2.5500])
    >>> high, scale
    (tensor([2.5500]), tensor([0.0100]))
    """
    if not 0 <= ch_axis < max(input.ndim, 1):
        raise RuntimeError(f"Error in fused_moving_avg_obs_fake_quant_cpu: ch_axis must be < self.dim(), got {ch_axis}")
    check_range(quant_min, quant_max)
    if observer_on.item():
        observe(
            input.detach(), running_min, running_max, scale, zero_point, averaging_const, quant_min, quant_max,
            ch_axis if per_row_fake_quant else None, symmetric_quant,
        )  # fmt: skip
    if not fake_quant_on.item():
        return input
    if per_row_fake_quant:
        return fake_quantize_per_channel_affine(input, scale, zero_point, ch_axis, quant_min, quant_max)
    return fake_quantize_per_tensor_affine(input, scale, zero_point, quant_min, quant_max)


def observe(input, running_min, running_max, scale, zero_point, rate, low, high, axis, symmetric) -> None:
    """Write the range and the parameters of a tensor, or of each of its channels."""
    rows = input.reshape(1, -1) if axis is None else input.movedim(axis, 0).reshape(input.shape[axis], -1)
    least, most = rows.aminmax(dim=1)
    for part, start in ((running_min, INFINITE), (running_max, -INFINITE), (scale, 1), (zero_point, 0)):
        if axis is not None and not part.numel():
            part.resize_(len(least)).fill_(start)
        elif part.numel() != len(least):
            raise RuntimeError(f"expected ranges and parameters of {len(least)} elements, got {list(part.shape)}")
    observe_range(least, most, running_min, running_max, scale, zero_point, rate, low, high, bool(symmetric))
