"""Functions of single elements that have a quantized form: on the integers where that is exact, else by the numbers."""

from __future__ import annotations

from .. import ops
from ..core import engine
from ..core.engine import Tensor
from ..ir.dtype_names import REPRESENTATION
from . import kernels
from .copies import integer_of, require_per_tensor
from .dispatch import implements
from .functions import dense, dequantize, quantize_per_tensor
from .quantizers import (
    PerTensor,
    adopt,
    inverse,
    qint8,
    qint32,
    quantized,
    quantizer_of,
    quint8,
    rewrap,
    single,
)


def numbers(input: Tensor) -> Tensor:
    """The numbers of a tensor that is quantized per tensor, as functions of single elements take them."""
    quantizer = quantizer_of(input)
    return kernels.scaled(dense(engine.integers_of(input)), single(quantizer.scale), offset(quantizer))


def offset(quantizer: PerTensor) -> float:
    """-scale * zero_point in float32: what is added to scaled integers."""
    return -single(single(quantizer.scale) * quantizer.zero_point)


def result(values: Tensor, scale: float, zero_point: int, dtype) -> Tensor:
    """The numbers that a function of single elements gives, quantized."""
    made = PerTensor(scale, zero_point)
    integer = REPRESENTATION[dtype]
    return quantized(kernels.quantize_rounded(values, inverse(made.scale), made.zero_point, integer), made)


def like(values: Tensor, input: Tensor) -> Tensor:
    """The same with the quantizer of another tensor."""
    quantizer = quantizer_of(input)
    return result(values, quantizer.scale, quantizer.zero_point, input.dtype)


def requantized(values: Tensor, source: Tensor) -> Tensor:
    """Numbers as integers with the quantizer of another tensor."""
    quantizer = quantizer_of(source)
    return quantize_per_tensor(values, quantizer.scale, quantizer.zero_point, source.dtype)


def limited(name: str, input: Tensor, low, high) -> Tensor:
    """The integers between those of two numbers."""
    require_per_tensor(name, input)
    low = None if low is None else integer_of(input, low)
    high = None if high is None else integer_of(input, high)
    return rewrap(engine.integers_of(input).clamp(low, high), input)


@implements("relu")
def relu(input: Tensor) -> Tensor:
    """max(input, 0): no integer below the zero point."""
    require_per_tensor("relu", input)
    return rewrap(engine.integers_of(input).clamp_min(quantizer_of(input).zero_point), input)


@implements("relu6")
def relu6(input: Tensor) -> Tensor:
    """The input limited to [0, 6]."""
    require_per_tensor("relu6", input)
    return rewrap(engine.integers_of(input).clamp(quantizer_of(input).zero_point, integer_of(input, 6.0)), input)


@implements("clamp", "clip")
def clamp(input: Tensor, min=None, max=None) -> Tensor:
    """The input limited to what is nearest to `min` and `max`, which are numbers."""
    if min is None and max is None:
        raise RuntimeError("At least one of 'min' or 'max' must not be None")
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        raise NotImplementedError("clamp: bounds of a quantized tensor are numbers; dequantize() it for others")
    return limited("clamp", input, min, max)


@implements("hardtanh")
def hardtanh(input: Tensor, min_val=-1.0, max_val=1.0) -> Tensor:
    """The input limited to [min_val, max_val]."""
    return limited("hardtanh", input, min_val, max_val)


@implements("threshold")
def threshold(input: Tensor, threshold, value) -> Tensor:
    """The input where it is above `threshold`, else `value`."""
    require_per_tensor("threshold", input)
    return requantized(ops.threshold(dequantize(input), threshold, value), input)


@implements("leaky_relu")
def leaky_relu(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """The input, scaled by `negative_slope` below 0."""
    require_per_tensor("leaky_relu", input)
    return like(ops.leaky_relu(numbers(input), negative_slope), input)


@implements("gelu")
def gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    """x * Phi(x), with the quantizer of the input."""
    require_per_tensor("gelu", input)
    return like(ops.gelu(numbers(input), approximate=approximate), input)


# what the numbers between the limits of a function are stored with: (scale, zero point)
UNIT = {quint8: (2.0**-8, 0), qint8: (2.0**-8, -128), qint32: (2.0**-32, -(2**31))}  # [0, 1)
AROUND_ZERO = {quint8: (2.0**-7, 128), qint8: (2.0**-7, 0), qint32: (2.0**-31, 0)}  # [-1, 1)


def declare_bounded(name: str, function, parameters: dict) -> None:
    def bounded(input: Tensor) -> Tensor:
        require_per_tensor(name, input)
        return result(function(numbers(input)), *parameters[input.dtype], input.dtype)

    implements(name)(bounded)


declare_bounded("sigmoid", ops.FUNCTIONS["sigmoid"], UNIT)
declare_bounded("hardsigmoid", ops.hardsigmoid, UNIT)
declare_bounded("tanh", ops.FUNCTIONS["tanh"], AROUND_ZERO)


def declare_in_place(name: str, function) -> None:
    def in_place(input: Tensor, *args, **kwargs) -> Tensor:
        found = function(input, *args, **kwargs)
        if isinstance(quantizer_of(found), PerTensor) and quantizer_of(found).is_same(quantizer_of(input)):
            engine.integers_of(input).copy_(engine.integers_of(found))
            return input
        return adopt(input, found)

    implements(name)(in_place)


for _name, _function in {
    "relu_": relu, "relu6_": relu6, "clamp_": clamp, "clip_": clamp, "hardtanh_": hardtanh, "threshold_": threshold,
    "leaky_relu_": leaky_relu,
}.items():  # fmt: skip
    declare_in_place(_name, _function)
