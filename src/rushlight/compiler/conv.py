"""Convolution and its gradients: the choice among the ways to compute them.

Integers and complex numbers take plain loops. Depthwise convolutions have kernels of their own. All others are products
of blocks, by rows of channels if these are contiguous in the image, else by columns of pixels.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace

from ..ir.dtypes import float32
from . import winograd_cost
from .conv_adjoint import adjoint_window, count_phases, partial_convs, taps_reversed
from .conv_columns import launch_columns
from .conv_copy import as_matrix, contiguous, copy_image, dense_like, permuted, weight_matrix, with_contiguous_side
from .conv_depthwise import Filters, launch_depthwise
from .conv_direct import direct_conv, direct_input_grad, direct_weight_grad
from .conv_fold import covered_axes_folded
from .conv_grad_columns import launch_grad_columns
from .conv_grad_depthwise import launch_grad_depthwise
from .conv_grad_rows import launch_grad_rows
from .conv_rows import launch_rows
from .conv_shape import ConvShape, is_contiguous, is_one
from .conv_window import Window
from .dot import Epilogue
from .templates import Array, template
from .winograd import launch_winograd
from .winograd_gradient import launch_weight_gradient

MOST_PHASES = 64  # convolutions that an input's gradient is split in; each is planned on its own


@template("conv")
def lower_conv(context, node, operands, results, epilogue: Epilogue | None = None) -> None:
    """`conv(x, w)`: x [N, C, *S], w [O, C / groups, *K] → y [N, O, *P].

    `epilogue` adds a bias of shape (O,), one number per output channel, and clamps at zero.
    """
    x, w = operands
    shape = ConvShape.of(x, w, results[0], node.attrs)
    epilogue = epilogue or Epilogue()
    if x.dtype.kind != "f":
        direct_conv(context, shape, epilogue.bias, epilogue.relu)
        return
    with single_precision(context, shape, "y") as shape, covered_axes_folded(context, shape, "y") as shape:
        shape.x = with_contiguous_side(context, shape.x)
        bias = vector_of(context, epilogue.bias, shape.x.dtype) if epilogue.bias else None
        forward(context, shape, bias, epilogue.relu)


@template("conv_input_grad")
def lower_conv_input_grad(context, node, operands, results) -> None:
    """`conv_input_grad(gy, w)`: the gradient with respect to x, of spatial shape `shape`."""
    gy, w = operands
    shape = ConvShape.of(results[0], w, gy, node.attrs)
    if gy.dtype.kind != "f":
        direct_input_grad(context, shape)
        return
    with single_precision(context, shape, "x") as shape, covered_axes_folded(context, shape, "x") as shape:
        shape.y = with_contiguous_side(context, shape.y)
        input_grad(context, shape)


@template("conv_weight_grad")
def lower_conv_weight_grad(context, node, operands, results) -> None:
    """`conv_weight_grad(gy, x)`: the gradient with respect to w, of kernel shape `shape`."""
    gy, x = operands
    shape = ConvShape.of(x, results[0], gy, node.attrs)
    if gy.dtype.kind != "f":
        direct_weight_grad(context, shape)
        return
    with single_precision(context, shape, "w") as shape, covered_axes_folded(context, shape, "w") as shape:
        shape.x, shape.y = with_contiguous_side(context, shape.x), with_contiguous_side(context, shape.y)
        weight_grad(context, shape)


@contextmanager
def single_precision(context, shape: ConvShape, result: str):
    """Yields the same convolution in float32 if it is one of a half type; its `result` is converted back."""
    if shape.x.dtype.itemsize > 2:
        yield shape
        return
    arrays = {name: getattr(shape, name) for name in "xwy"}
    copies = {name: dense_like(context, array, float32) for name, array in arrays.items()}
    for name in copies.keys() - {result}:
        copy_image(context, arrays[name], copies[name])
    yield replace(shape, **copies)
    copy_image(context, copies[result], arrays[result])


def forward(context, shape: ConvShape, bias: Array | None, relu: bool) -> None:
    start = tuple(-p for p in shape.padding)
    window = Window(shape.x, shape.output, shape.kernel, shape.stride, shape.dilation, start)
    if is_depthwise(shape, shape.x, shape.y):
        launch_depthwise(context, Filters(window), filters(context, shape), shape.y, bias, relu)
        return
    one_group = replace(shape.w, shape=(1, *shape.w.shape), strides=(0, *shape.w.strides))
    launch_product(context, window, one_group, shape.y, shape.groups, bias, relu)


def input_grad(context, shape: ConvShape) -> None:
    if is_depthwise(shape, shape.y, shape.x):
        window = Filters(adjoint_window(shape), shape.stride[1:])
        launch_depthwise(context, window, filters(context, shape), shape.x)
        return
    total, meeting = count_phases(shape)
    if meeting > MOST_PHASES:
        direct_input_grad(context, shape)
        return
    if total > MOST_PHASES:
        from .lapack import fill_zero

        fill_zero(context, shape.x)
    for part in partial_convs(shape, total <= MOST_PHASES):
        launch_product(context, part.window, part.weight, part.result, shape.groups)


def launch_product(context, window: Window, weight: Array, result: Array, groups: int, bias=None, relu=False) -> None:
    """A convolution with weights [G, O / G, C / G, *taps] by rows or columns."""
    by_rows = channels_contiguous(window.image)
    if groups == 1 and winograd_cost.pays(window, *weight.shape[1:3], result.shape[0]):
        if window.dilation[2] < 0:
            window, weight = taps_reversed(window, weight)
        launch_winograd(context, window, weight, result, bias, relu)
        return
    if by_rows and window.dilation[2] < 0:
        window, weight = taps_reversed(window, weight)  # neighbouring taps are then neighbours in memory
    matrix = weight_matrix(context, weight, taps_last=not by_rows)
    (launch_rows if by_rows else launch_columns)(context, window, matrix, result, groups, bias, relu)


def weight_grad(context, shape: ConvShape) -> None:
    start = tuple(-p for p in shape.padding)
    window = Window(shape.x, shape.output, shape.kernel, shape.stride, shape.dilation, start)
    depthwise = is_depthwise(shape, shape.x, shape.y)
    by_rows = channels_contiguous(shape.x) and not depthwise
    # sums come out as [O, K] with K = (tap, channel) by rows, else (channel, tap)
    order, back = ((0, 2, 3, 4, 1), (0, 4, 1, 2, 3)) if by_rows else (range(5), range(5))
    result = permuted(shape.w, order)
    sums = result if is_contiguous(result) else context.temp(result.shape, result.dtype)
    target = as_matrix(sums, 1)
    if not depthwise and shape.groups == 1 and winograd_cost.gradient_pays(window, *shape.w.shape[:2], shape.batch):
        launch_weight_gradient(context, window, shape.y, target, not by_rows)
    elif depthwise:
        launch_grad_depthwise(context, Filters(window), shape.y, target)
    elif by_rows:
        pixels = as_matrix(contiguous(context, shape.y, order), 4)
        launch_grad_rows(context, window, pixels, target, shape.groups)
    else:
        gradient = shape.y if is_one(shape.y.strides[4]) else contiguous(context, shape.y)
        launch_grad_columns(context, window, gradient, target, shape.groups)
    if sums is not result:
        copy_image(context, permuted(sums, back), shape.w)


def is_depthwise(shape: ConvShape, image: Array, result: Array) -> bool:
    """Whether there is one filter per channel, over planes that the depthwise kernels read and write."""
    flat = all(map(is_one, (shape.input[0], shape.kernel[0], shape.output[0])))
    if not flat or not is_one(shape.channels) or shape.w.shape[0] != shape.groups:
        return False
    return all(is_one(a.strides[4]) or is_one(a.strides[1]) for a in (image, result))


def filters(context, shape: ConvShape) -> Array:
    """The weights of a depthwise convolution as [C, taps]."""
    return as_matrix(contiguous(context, shape.w), 1)


def channels_contiguous(image: Array) -> bool:
    """Whether to take an image by its channels rather than by its rows."""
    channels, columns, step = image.shape[1], image.shape[4], image.strides[4]
    if not is_one(image.strides[1]) or (is_one(channels) and is_one(step)):
        return False
    return is_one(columns) or step >= channels


def vector_of(context, bias: Array, dtype) -> Array:
    """[O], contiguous and in the type of sums."""
    image = replace(bias, shape=(1, *bias.shape, 1, 1, 1), strides=(0, *bias.strides, 0, 0, 0))
    if bias.dtype is not dtype:
        copy = dense_like(context, image, dtype)
        copy_image(context, image, copy)
        image = copy
    return replace(contiguous(context, image), shape=bias.shape, strides=(1,))
