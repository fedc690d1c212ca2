"""Batch normalisation with fixed statistics folded into the layer before it."""

from __future__ import annotations

import copy

from ... import ops
from ...core import Tensor
from ..parameter import Parameter


def _scale_and_shift(bias, mean: Tensor, var: Tensor, eps: float, bn_weight, bn_bias) -> tuple[Tensor, Tensor]:
    """What the norm multiplies its input by, and what it adds to that if the input lacks `bias`."""
    scale = ops.rsqrt(var + eps)
    scale = scale if bn_weight is None else bn_weight * scale
    shift = -mean * scale if bias is None else (bias - mean) * scale
    return scale, shift if bn_bias is None else shift + bn_bias


def _parameters(weight: Tensor, bias: Tensor, like_weight: Tensor, like_bias) -> tuple[Parameter, Parameter]:
    dtype = like_weight.dtype if like_bias is None else like_bias.dtype
    needs_grad = like_weight.requires_grad if like_bias is None else like_bias.requires_grad
    return Parameter(weight.to(like_weight.dtype), like_weight.requires_grad), Parameter(bias.to(dtype), needs_grad)


def fuse_conv_bn_weights(
    conv_w: Tensor, conv_b, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float, bn_w, bn_b, transpose: bool = False
) -> tuple[Parameter, Parameter]:
    """Weight and bias of the one convolution that equals a convolution followed by batch normalisation.

    `bn_rm`, `bn_rv` are the running mean and variance; `conv_b`, `bn_w` and `bn_b` may be None.
    """
    scale, shift = _scale_and_shift(conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
    shape = [1] * conv_w.ndim
    shape[1 if transpose else 0] = -1
    return _parameters(conv_w * scale.reshape(shape), shift, conv_w, conv_b)


def fuse_linear_bn_weights(
    linear_w: Tensor, linear_b, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float, bn_w, bn_b
) -> tuple[Parameter, Parameter]:
    """Weight and bias of the one linear layer that equals a linear layer followed by batch normalisation."""
    scale, shift = _scale_and_shift(linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
    return _parameters(linear_w * scale.unsqueeze(-1), shift, linear_w, linear_b)


def _fused(layer, bn, fuse, *more):
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("Fusion needs running statistics: the norm was made with track_running_stats=False")
    fused = copy.deepcopy(layer)
    statistics = bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    fused.weight, fused.bias = fuse(fused.weight, fused.bias, *statistics, *more)
    return fused


def fuse_conv_bn_eval(conv, bn, transpose: bool = False):
    """A convolution that equals `bn(conv(x))`; both modules must be in evaluation mode (AssertionError).

    `transpose` says that `conv` is a transposed convolution.

    >>> conv, bn = nn.Conv2d(3, 8, 3).eval(), nn.BatchNorm2d(8).eval()
    >>> x = rushlight.randn(1, 3, 5, 5)
    >>> bool(rushlight.allclose(nn.utils.fuse_conv_bn_eval(conv, bn)(x), bn(conv(x)), atol=1e-5))
    True
    """
    return _fused(conv, bn, fuse_conv_bn_weights, transpose)


def fuse_linear_bn_eval(linear, bn):
    """A linear layer that equals `bn(linear(x))`; both modules must be in evaluation mode (AssertionError)."""
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1")
    return _fused(linear, bn, fuse_linear_bn_weights)
