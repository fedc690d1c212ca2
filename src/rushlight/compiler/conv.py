"""Convolution and its gradients: the choice among the ways to compute them."""

from __future__ import annotations

from .conv_columns import launch_columns
from .conv_direct import direct_conv, direct_input_grad, direct_weight_grad
from .conv_repack import repack
from .conv_shape import ConvShape
from .conv_tile import compute_dtype
from .conv_window import Window
from .dot import Epilogue
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
    direct_input_grad(context, ConvShape.of(results[0], w, gy, node.attrs))


@template("conv_weight_grad")
def lower_conv_weight_grad(context, node, operands, results) -> None:
    """`conv_weight_grad(gy, x)`: the gradient with respect to w, of kernel shape `shape`."""
    gy, x = operands
    direct_weight_grad(context, ConvShape.of(x, results[0], gy, node.attrs))


def weight_matrix(context, weight: Array) -> Array:
    """The weights with everything but their first dimension contiguous, in the type of products."""
    dtype, step, contiguous = compute_dtype(weight.dtype), 1, True
    for size, stride in zip(reversed(weight.shape[1:]), reversed(weight.strides[1:])):
        contiguous = contiguous and (size == 1 or stride == step)
        step = step * size
    return weight if contiguous and dtype is weight.dtype else repack(context, weight, dtype)
