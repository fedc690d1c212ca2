"""Convolution and its gradients: the choice among the ways to compute them."""

from __future__ import annotations

from dataclasses import replace

from .conv_adjoint import partial_convs
from .conv_columns import launch_columns
from .conv_direct import direct_conv, direct_input_grad, direct_weight_grad
from .conv_grad_columns import launch_grad_columns
from .conv_repack import as_matrix, repack
from .conv_shape import ConvShape, is_contiguous, is_one
from .conv_tile import compute_dtype
from .conv_window import Window
from .dot import Epilogue
from .dot_copy import copy
from .templates import Array, template


@template("conv")
def lower_conv(context, node, operands, results, epilogue: Epilogue | None = None) -> None:
    """`conv(x, w)`: x [N, C, *S], w [O, C / groups, *K] → y [N, O, *P].

    `epilogue` adds a bias of shape (O,), one number per output channel, and clamps at zero.
    """
    x, w = operands
    shape = ConvShape.of(x, w, results[0], node.attrs)
    if x.dtype.kind != "f":
        direct_conv(context, shape)
        return
    start = tuple(-p for p in shape.padding)
    window = Window(shape.x, shape.output, shape.kernel, shape.stride, shape.dilation, start)
    launch_columns(context, window, weight_matrix(context, shape.w), shape.y, shape.groups, epilogue)


@template("conv_input_grad")
def lower_conv_input_grad(context, node, operands, results) -> None:
    """`conv_input_grad(gy, w)`: the gradient with respect to x, of spatial shape `shape`."""
    gy, w = operands
    shape = ConvShape.of(results[0], w, gy, node.attrs)
    if gy.dtype.kind != "f":
        direct_input_grad(context, shape)
        return
    for part in partial_convs(shape):
        weight = repack(context, part.weight, compute_dtype(gy.dtype), taps_last=True)
        launch_columns(context, part.window, weight, part.result, shape.groups)


@template("conv_weight_grad")
def lower_conv_weight_grad(context, node, operands, results) -> None:
    """`conv_weight_grad(gy, x)`: the gradient with respect to w, of kernel shape `shape`."""
    gy, x = operands
    shape = ConvShape.of(x, results[0], gy, node.attrs)
    if gy.dtype.kind != "f" or gy.dtype.itemsize == 2:
        direct_weight_grad(context, shape)
        return
    if not is_one(gy.strides[-1]):
        dense = context.temp(shape.y.shape, gy.dtype)
        copy(context, shape.y, dense)
        shape.y = dense
    target = shape.w if is_contiguous(shape.w) else context.temp(shape.w.shape, gy.dtype)
    start = tuple(-p for p in shape.padding)
    window = Window(shape.x, shape.output, shape.kernel, shape.stride, shape.dilation, start)
    launch_grad_columns(context, window, shape.y, as_matrix(target, 1), shape.groups)
    if target is not shape.w:
        copy(context, target, shape.w)


def weight_matrix(context, weight: Array) -> Array:
    """The weights [O, K] with contiguous rows, in the type of products."""
    dtype = compute_dtype(weight.dtype)
    if is_contiguous(weight) and dtype is weight.dtype:
        return as_matrix(weight, 1)
    one_group = replace(weight, shape=(1, *weight.shape), strides=(0, *weight.strides))
    return repack(context, one_group, dtype, taps_last=True)
