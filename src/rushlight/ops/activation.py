"""Activation functions."""

from __future__ import annotations

import math

from ..ir import build as B
from ..ir.sizes import hint
from .checks import check_kinds, scalar_type
from .declare import FUNCTIONS, Tensor, op
from .widths import rounded_once

SQRT_HALF = math.sqrt(0.5)
SQRT_2_OVER_PI = math.sqrt(2 / math.pi)


@op(method=True, inplace=True)
def relu(input):
    """max(input, 0); NaN stays."""
    if input.dtype.kind == "b":
        raise RuntimeError("Boolean inputs not supported for relu")
    check_kinds("clamp_min_scalar_cpu", input.dtype, "uif")
    return B.where(B.lt(input, 0), 0, input)


@relu.vjp
def _(cotangents, outputs, input):
    return B.where(B.le(outputs[0], 0), 0, cotangents[0])


@op(inplace=True)
def relu6(input):
    """The input limited to [0, 6]."""
    check_limits("relu6", input)
    return B.where(B.le(input, 0), 0, B.where(B.ge(input, 6), 6, input))  # no slope at the limits themselves


@op(inplace=True)
def leaky_relu(input, negative_slope: float = 0.01):
    """The input, scaled by `negative_slope` below 0."""
    check_kinds("leaky_relu_cpu", input.dtype, "f")
    return B.where(B.gt(input, 0), input, input * negative_slope)


@op(inplace=True)
@rounded_once
def elu(input, alpha: float = 1.0):
    """The input above 0, alpha * (exp(input) - 1) below."""
    return exponential(input, alpha)


def exponential(x, alpha, rate=None):
    """x above 0, alpha * (exp(x * rate) - 1) below."""
    check_kinds("elu_cpu", x.dtype, "f")
    above = B.gt(x, 0)
    below = B.where(above, 0, x)
    return B.where(above, x, alpha * B.expm1(below if rate is None else below * rate))


@op(method=True, inplace=True)
@rounded_once
def selu(input):
    """The self-normalising exponential linear unit (Klambauer et al. 2017)."""
    alpha, scale = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
    return scale * exponential(input, alpha)


@op(method=True, inplace=True)
@rounded_once
def celu(input, alpha: float = 1.0):
    """max(0, x) + min(0, alpha * (exp(x / alpha) - 1)) (Barron 2017)."""
    return exponential(input, alpha, 1 / alpha)


@op(out=True)
@rounded_once
def gelu(input, *, approximate: str = "none"):
    """Gaussian error linear unit, x * Phi(x) (Hendrycks & Gimpel 2016); `approximate` is "none" or "tanh"."""
    check_kinds("GeluKernelImpl", input.dtype, "f")
    if approximate == "tanh":
        return 0.5 * input * (1 + B.tanh(SQRT_2_OVER_PI * (input + 0.044715 * (input * input * input))))
    if approximate != "none":
        raise RuntimeError("approximate argument must be either none or tanh.")
    return 0.5 * input * (1 + B.erf(input * SQRT_HALF))


@op(inplace=True)
@rounded_once
def silu(input):
    """x * sigmoid(x) (Elfwing et al. 2017)."""
    check_kinds("silu_cpu", input.dtype, "fc")
    return input * B.sigmoid(input)


@op(inplace=True)
@rounded_once
def mish(input):
    """x * tanh(softplus(x)) (Misra 2019)."""
    check_kinds("mish_cpu", input.dtype, "f")
    return input * B.tanh(softplus_of(input))


def softplus_of(x):
    """log(1 + exp(x)) without overflow."""
    return B.maximum(x, 0) + B.log1p(B.exp(-B.abs(x)))


@op(out=True)
@rounded_once
def softplus(input, beta: float = 1, threshold: float = 20):
    """log(1 + exp(beta * x)) / beta; x itself where beta * x exceeds `threshold`."""
    check_kinds("softplus_cpu", input.dtype, "f")
    scaled = input * beta
    above = B.gt(scaled, threshold)
    return B.where(above, input, B.log1p(B.exp(B.where(above, 0, scaled))) / beta)


@op(out=True)
@rounded_once
def logsigmoid(input):
    """log(sigmoid(x)) without overflow."""
    check_kinds("log_sigmoid_cpu", input.dtype, "f")
    return B.minimum(input, 0) - B.log1p(B.exp(-B.abs(input)))


@op
def softsign(input):
    """x / (1 + |x|)."""
    return input / (1 + B.abs(input))


@op
def tanhshrink(input):
    """x - tanh(x)."""
    return input - B.tanh(input)


@op(out=True)
def softshrink(input, lambd: float = 0.5):
    """x moved towards 0 by `lambd`, 0 in between."""
    check_kinds("softshrink_cpu", input.dtype, "f")
    return B.where(B.gt(input, lambd), input - lambd, B.where(B.lt(input, -lambd), input + lambd, input * 0))


@op(method=True, out=True)
def hardshrink(input, lambd: float = 0.5):
    """x outside of [-lambd, lambd], 0 inside."""
    check_kinds("hardshrink_cpu", input.dtype, "f")
    return B.where(B.logical_and(B.ge(input, -lambd), B.le(input, lambd)), 0, input)


@op(inplace=True)
def hardtanh(input, min_val: float = -1.0, max_val: float = 1.0):
    """The input limited to [min_val, max_val]."""
    check_limits("hardtanh", input)
    low, high = (B.cast(limit, input.dtype) for limit in (min_val, max_val))
    return B.where(B.le(input, low), low, B.where(B.ge(input, high), high, input))  # no slope at the limits


def check_limits(name: str, x) -> None:
    if x.dtype.kind == "b":
        raise RuntimeError(f"Bool inputs not supported for {name}")
    check_kinds(f"{name}_cpu", x.dtype, "uif")


@op(inplace=True)
@rounded_once
def hardsigmoid(input):
    """x / 6 + 1/2 limited to [0, 1]."""
    check_kinds("hardsigmoid_cpu", input.dtype, "f")
    return B.where(B.le(input, -3), 0, B.where(B.ge(input, 3), 1, (input + 3) / 6))


@op(inplace=True)
@rounded_once
def hardswish(input):
    """x * hardsigmoid(x) (Howard et al. 2019)."""
    check_kinds("hardswish_cpu", input.dtype, "f")
    middle = B.where(B.ge(B.abs(input), 3), 0, input)  # the slope of infinity times itself is none
    return B.where(B.le(input, -3), 0, B.where(B.ge(input, 3), input, middle * (middle + 3) / 6))


@op(inplace=True, out=True)
def threshold(input, threshold: float, value: float):
    """x above `threshold`, `value` elsewhere."""
    check_kinds("threshold_cpu", input.dtype, "uif")
    threshold, value = (B.cast(number, input.dtype) for number in (threshold, value))
    return B.where(B.le(input, threshold), value, input)


@op(method=True)
def prelu(input, weight: Tensor):
    """x above 0, weight * x below, with one weight or one per channel (dim 1)."""
    check_kinds("prelu_cpu", input.dtype, "f")
    check_slopes(input, weight)
    if input.ndim == 0:
        weight = B.reshape(weight, ())
    elif weight.ndim == 1 and input.ndim > 1:
        weight = B.reshape(weight, (1, weight.shape[0], *(1,) * (input.ndim - 2)))
    return B.where(B.gt(input, 0), 1, weight) * input


def check_slopes(x, weight) -> None:
    if weight.dtype is not x.dtype:
        raise RuntimeError(
            f"prelu: Type promoting not supported. Got {scalar_type(x.dtype)} and {scalar_type(weight.dtype)}"
        )
    if weight.ndim > 1:
        raise RuntimeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}")
    if weight.ndim == 1 and weight.shape[0] != 1:
        if x.ndim == 0:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = x.shape[1] if x.ndim > 1 else 1
        if weight.shape[0] != channels:
            raise RuntimeError(
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{hint(weight.shape[0])} and "
                f"channel size = {hint(channels)}."
            )


@op(out=True)
@rounded_once
def glu(input, dim: int = -1):
    """a * sigmoid(b), where a and b are the halves along `dim`."""
    check_kinds("glu_cpu", input.dtype, "f")
    if input.ndim == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    d = B.wrap_dim(dim, input.ndim)
    if input.shape[d] % 2 != 0:
        raise RuntimeError(f"Halving dimension must be even, but dimension {d} is size {int(input.shape[d])}")
    half = input.shape[d] // 2
    return B.narrow(input, d, 0, half) * B.sigmoid(B.narrow(input, d, half, half))


def _with_inplace(name: str, check=None) -> None:
    """F.relu(x, inplace=True) and the like: `inplace` chooses the form that overwrites."""
    declared = FUNCTIONS[name]

    def function(input, *args, inplace=False, **kwargs):
        if args and len(args) == len(declared.names) and isinstance(args[-1], bool):
            *args, inplace = args
        if check is not None:
            check(*args, **kwargs)
        return (declared.in_place if inplace else declared)(input, *args, **kwargs)

    function.__name__, function.__doc__ = name, declared.__doc__
    FUNCTIONAL[name] = function


def check_order(min_val=-1.0, max_val=1.0) -> None:
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")


FUNCTIONAL: dict = {}  # what nn.functional has under the op's name
for _name in (
    "relu",
    "relu6",
    "leaky_relu",
    "elu",
    "selu",
    "celu",
    "silu",
    "mish",
    "hardsigmoid",
    "hardswish",
    "threshold",
):
    _with_inplace(_name)
_with_inplace("hardtanh", check_order)


def functional_softshrink(input, lambd=0.5, *, out=None):
    """x moved towards 0 by `lambd`, 0 in between."""
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}.")
    return softshrink(input, lambd) if out is None else softshrink(input, lambd, out=out)


FUNCTIONAL["softshrink"] = functional_softshrink
