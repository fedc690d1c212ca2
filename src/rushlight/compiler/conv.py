"""Convolution and its gradients: the choice among the ways to compute them."""

from __future__ import annotations

from .conv_direct import direct_conv, direct_input_grad, direct_weight_grad
from .conv_shape import ConvShape
from .templates import template


@template("conv")
def lower_conv(context, node, operands, results) -> None:
    """`conv(x, w)`: x [N, C, *S], w [O, C / groups, *K] → y [N, O, *P]."""
    x, w = operands
    direct_conv(context, ConvShape.of(x, w, results[0], node.attrs))


@template("conv_input_grad")
def lower_conv_input_grad(context, node, operands, results) -> None:
    """`conv_input_grad(gy, w)`: the gradient with respect to x, of spatial shape `shape`."""
    gy, w = operands
    direct_input_grad(context, ConvShape.of(results[0], w, gy, node.attrs))


@template("conv_weight_grad")
def lower_conv_weight_grad(context, node, operands, results) -> None:
    """`conv_weight_grad(gy, x)`: the gradient with respect to w, of kernel shape `shape`."""
    gy, x = operands
    direct_weight_grad(context, ConvShape.of(x, results[0], gy, node.attrs))
