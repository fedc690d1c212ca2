"""The gradients of a convolution by themselves: what `nn.grad` names."""

from __future__ import annotations

from ..ir.primitives.contract import conv_input_grad, conv_weight_grad
from .convolution import per_dim
from .declare import op
from .matmul import check_same_dtype


@op(public=False)
def conv_input(weight, grad_output, shape: tuple, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int):
    """The gradient of the input, whose spatial sizes are `shape`."""
    check_same_dtype("conv_input", weight, grad_output)
    return conv_input_grad(
        grad_output, weight, shape=shape, groups=groups, **geometry(shape, stride, padding, dilation)
    )


@op(public=False)
def conv_weight(input, grad_output, shape: tuple, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int):
    """The gradient of the weight, whose kernel has the sizes `shape`."""
    check_same_dtype("conv_weight", input, grad_output)
    return conv_weight_grad(
        grad_output, input, shape=shape, groups=groups, **geometry(shape, stride, padding, dilation)
    )


def geometry(shape: tuple, stride, padding, dilation) -> dict:
    given = {"stride": stride, "padding": padding, "dilation": dilation}
    return {what: per_dim(value, len(shape), "convolution", what) for what, value in given.items()}
