"""Linear maps."""

from __future__ import annotations

import math

from .. import ops
from ..core import Tensor
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter


class Identity(Module):
    """Returns its input; takes and ignores any arguments."""

    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class Linear(Module):
    """y = x Wᵀ + b.

    Input (*, in_features), output (*, out_features); `weight` is (out_features, in_features). Weight and
    bias start uniform in ±1/sqrt(in_features).
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True, device=None, dtype=None):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(ops.empty((out_features, in_features), device=device, dtype=dtype))
        self.register_parameter("bias", parameter_or_none(bias, (out_features,), device, dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws new initial values."""
        reset_weight_and_bias(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class NonDynamicallyQuantizableLinear(Linear):
    """A `Linear` that dynamic quantization leaves as it is: attention uses its weight without calling it."""


class Bilinear(Module):
    """y = x₁ᵀ A x₂ + b.

    Inputs (*, in1_features) and (*, in2_features), output (*, out_features); `weight` is
    (out_features, in1_features, in2_features).
    """

    def __init__(
        self, in1_features: int, in2_features: int, out_features: int, bias: bool = True, device=None, dtype=None
    ):
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got {in1_features}")
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        self.weight = Parameter(ops.empty((out_features, in1_features, in2_features), device=device, dtype=dtype))
        self.register_parameter("bias", parameter_or_none(bias, (out_features,), device, dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws new initial values."""
        bound = 1 / math.sqrt(self.weight.shape[1])
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )


def parameter_or_none(wanted: bool, shape: tuple[int, ...], device=None, dtype=None) -> Parameter | None:
    """An uninitialised parameter, or None where a layer does without."""
    return Parameter(ops.empty(shape, device=device, dtype=dtype)) if wanted else None


def reset_weight_and_bias(weight: Parameter, bias: Parameter | None) -> None:
    """The initial values of linear and convolution layers: uniform in ±1/sqrt(fan_in)."""
    init.kaiming_uniform_(weight, a=math.sqrt(5))  # the gain that makes the bound 1/sqrt(fan_in)
    if bias is not None:
        fan_in, _ = init.fans(weight)
        if fan_in > 0:
            bound = 1 / math.sqrt(fan_in)
            init.uniform_(bias, -bound, bound)
