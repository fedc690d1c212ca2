"""Convolution and its gradients: the choice among the ways to compute them."""

from __future__ import annotations

from dataclasses import replace

from .conv_adjoint import partial_convs
from .conv_columns import launch_columns
from .conv_depthwise import Filters, launch_depthwise
from .conv_direct import direct_conv, direct_input_grad, direct_weight_grad
from .conv_grad_columns import launch_grad_columns
from .conv_grad_depthwise import launch_grad_depthwise
from .conv_grad_rows import launch_grad_rows
from .conv_repack import as_matrix, repack
from .conv_rows import launch_rows
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
    epilogue = epilogue or Epilogue()
    bias = epilogue.bias and contiguous(context, epilogue.bias)
    if is_depthwise(shape, shape.x, shape.y):
        weight = as_matrix(contiguous(context, shape.w), 1)
        launch_depthwise(context, Filters(forward_window(shape)), weight, shape.y, bias, epilogue.relu)
        return
    by_rows = channels_contiguous(shape.x)
    one_group = replace(shape.w, shape=(1, *shape.w.shape), strides=(0, *shape.w.strides))
    weight = weight_matrix(context, one_group, by_rows)
    launch = launch_rows if by_rows else launch_columns
    launch(context, forward_window(shape), weight, shape.y, shape.groups, bias, epilogue.relu)


@template("conv_input_grad")
def lower_conv_input_grad(context, node, operands, results) -> None:
    """`conv_input_grad(gy, w)`: the gradient with respect to x, of spatial shape `shape`."""
    gy, w = operands
    shape = ConvShape.of(results[0], w, gy, node.attrs)
    if gy.dtype.kind != "f":
        direct_input_grad(context, shape)
        return
    if is_depthwise(shape, shape.y, shape.x):
        weight = as_matrix(contiguous(context, shape.w), 1)
        launch_depthwise(context, Filters(adjoint_window(shape), shape.stride[1:]), weight, shape.x)
        return
    by_rows = channels_contiguous(shape.y)
    for part in partial_convs(shape):
        if by_rows:
            part = part.with_taps_reversed()
        weight = weight_matrix(context, part.weight, by_rows)
        launch = launch_rows if by_rows else launch_columns
        launch(context, part.window, weight, part.result, shape.groups)


@template("conv_weight_grad")
def lower_conv_weight_grad(context, node, operands, results) -> None:
    """`conv_weight_grad(gy, x)`: the gradient with respect to w, of kernel shape `shape`."""
    gy, x = operands
    shape = ConvShape.of(x, results[0], gy, node.attrs)
    if gy.dtype.kind != "f" or gy.dtype.itemsize == 2:
        direct_weight_grad(context, shape)
        return
    depthwise = is_depthwise(shape, shape.x, shape.y)
    by_rows = channels_contiguous(shape.x) and not depthwise
    order = (0, 2, 3, 4, 1) if by_rows else (0, 1, 2, 3, 4)
    result = permuted(shape.w, order)
    target = result if is_contiguous(result) else context.temp(result.shape, gy.dtype)
    matrix, window = as_matrix(target, 1), forward_window(shape)
    if depthwise:
        launch_grad_depthwise(context, Filters(window), shape.y, matrix)
    elif by_rows:
        launch_grad_rows(context, window, pixel_matrix(context, shape.y), matrix, shape.groups)
    else:
        gradient = shape.y if is_one(shape.y.strides[4]) else contiguous(context, shape.y)
        launch_grad_columns(context, window, gradient, matrix, shape.groups)
    if target is not result:
        copy(context, target, result)


def forward_window(shape: ConvShape) -> Window:
    start = tuple(-p for p in shape.padding)
    return Window(shape.x, shape.output, shape.kernel, shape.stride, shape.dilation, start)


def is_depthwise(shape: ConvShape, image: Array, result: Array) -> bool:
    """Whether there is one filter per channel, over planes that the depthwise kernels read and write."""
    flat = all(map(is_one, (shape.input[0], shape.kernel[0], shape.output[0]))) and image.dtype.itemsize > 2
    if not flat or not is_one(shape.channels) or shape.w.shape[0] != shape.groups:
        return False
    return all(is_one(a.strides[4]) or is_one(a.strides[1]) for a in (image, result))


def adjoint_window(shape: ConvShape) -> Window:
    """The window through which x sees gy spread apart by the stride."""
    dilation = tuple(-d for d in shape.dilation)
    return Window(shape.y, shape.input, shape.kernel, (1,) * len(dilation), dilation, shape.padding)


def channels_contiguous(image: Array) -> bool:
    """Whether to take an image by its channels rather than by its rows; half types go by rows."""
    channels, columns, step = image.shape[1], image.shape[4], image.strides[4]
    if not is_one(image.strides[1]) or image.dtype.itemsize == 2 or (is_one(channels) and is_one(step)):
        return False
    return is_one(columns) or step >= channels


def weight_matrix(context, weight: Array, by_rows: bool) -> Array:
    """Weights [group, row, column, *taps] as a matrix [group * row, K] of the type of products.

    K is (column, taps), or (taps, column) for a convolution by rows.
    """
    dtype = compute_dtype(weight.dtype)
    ordered = permuted(weight, (0, 1, 3, 4, 5, 2)) if by_rows else weight
    if dtype is weight.dtype and is_contiguous(ordered):
        return as_matrix(ordered, 2)
    return repack(context, weight, dtype, taps_last=not by_rows)


def permuted(array: Array, order) -> Array:
    shape, strides = (tuple(numbers[d] for d in order) for numbers in (array.shape, array.strides))
    return replace(array, shape=shape, strides=strides)


def contiguous(context, array: Array) -> Array:
    """The array, or a contiguous copy of it."""
    if is_contiguous(array):
        return array
    dense = context.temp(array.shape, array.dtype)
    copy(context, array, dense)
    return dense


def pixel_matrix(context, image: Array) -> Array:
    """[N, C, *S] as [N * S, C] with contiguous channels, copied if need be."""
    return as_matrix(contiguous(context, permuted(image, (0, 2, 3, 4, 1))), 4)
