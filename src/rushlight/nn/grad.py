"""`rushlight.nn.grad`: the gradients of convolutions with respect to their input or weight."""

from __future__ import annotations

from ..core import Tensor
from ..ops.conv_gradients import conv_input, conv_weight

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]


def _input_gradient(dims: int):
    def function(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1) -> Tensor:
        sizes = _checked(f"conv{dims}d_input", input_size, dims, weight, grad_output)
        return conv_input(weight, grad_output, sizes[2:], stride, padding, dilation, groups)

    return _named(
        function, f"conv{dims}d_input", f"The gradient of the input, of shape `input_size`, of a `conv{dims}d` call."
    )


def _weight_gradient(dims: int):
    def function(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1) -> Tensor:
        sizes = _checked(f"conv{dims}d_weight", weight_size, dims, input, grad_output)
        return conv_weight(input, grad_output, sizes[2:], stride, padding, dilation, groups)

    return _named(
        function, f"conv{dims}d_weight", f"The gradient of the weight, of shape `weight_size`, of a `conv{dims}d` call."
    )


def _named(function, name: str, doc: str):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _checked(name: str, size, dims: int, *tensors: Tensor) -> tuple[int, ...]:
    shapes = [tuple(size), *(tuple(t.shape) for t in tensors)]
    if any(len(shape) != dims + 2 for shape in shapes):
        raise RuntimeError(f"{name}: expected {dims + 2} dims, batch and channels first, got shapes {shapes}")
    return shapes[0]


conv1d_input, conv2d_input, conv3d_input = map(_input_gradient, (1, 2, 3))
conv1d_weight, conv2d_weight, conv3d_weight = map(_weight_gradient, (1, 2, 3))
