"""Arithmetic on tensors and numbers."""

from __future__ import annotations

import math

from ..ir import build as B
from ..ir import dtypes
from ..ir.dtypes import category
from ..ir.graph import Value
from .checks import check_kinds, scalar_type
from .declare import Number, Tensor, composite, op
from .named import named_call


def check_tensor(name: str, *operands) -> None:
    """TypeError if all operands are numbers: then it is Python that computes with them."""
    if all(is_number(x) for x in operands):
        given = ", ".join("float" if kind_of(x) == "f" else "int" for x in operands)
        raise TypeError(f"{name}() received an invalid combination of arguments - got ({given}), but expected a Tensor")


def is_number(x) -> bool:
    return not isinstance(x, Value) or x.weak


def kind_of(x) -> str:
    """The kind of a tensor's or number's dtype: b, u, i, f or c."""
    return B.common_dtype(x).kind


def check_alpha(alpha, *operands) -> None:
    """A multiplier must be of a kind that the result can hold."""
    kinds = {kind_of(x) for x in operands}
    if kind_of(alpha) == "b" and kinds != {"b"}:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if kind_of(alpha) in "fc" and not kinds & set("fc"):
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if kind_of(alpha) == "c" and "c" not in kinds:
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")


@op(method=True, inplace=True, out=True)
def add(input: Number, other: Number, *, alpha: Number = 1):
    """input + alpha * other, with broadcasting and type promotion.

    >>> rushlight.add(rushlight.tensor([1.0, 2.0]), 10)
    tensor([11., 12.])
    """
    return input + multiplied(input, other, alpha)


@op(method=True, inplace=True, out=True, alias=("subtract",))
def sub(input: Number, other: Number, *, alpha: Number = 1):
    """input - alpha * other, with broadcasting and type promotion."""
    return input - multiplied(input, other, alpha)


@op(method=True)
def rsub(input, other: Number, *, alpha: Number = 1):
    """other - alpha * input."""
    return other - multiplied(other, input, alpha)


def multiplied(base, x, alpha):
    """alpha * x, to be combined with `base`."""
    if type(alpha) is int and alpha == 1:
        return x
    check_alpha(alpha, base, x)
    return B.mul(x, B.cast(alpha, dtypes.bool_)) if kind_of(base) == kind_of(x) == "b" else x * alpha


def scaled(x, alpha):
    """alpha * x in the dtype of x; the usual alpha of 1 costs nothing."""
    if type(alpha) is int and alpha == 1:
        return x
    return x * (B.cast(alpha, x.dtype) if category(B.common_dtype(alpha)) > category(x.dtype) else alpha)


@op(method=True, inplace=True, out=True, alias=("multiply",))
def mul(input: Number, other: Number):
    """input * other, with broadcasting and type promotion."""
    return input * other


@op(method=True, inplace=True, out=True)
def true_divide(input: Number, other: Number):
    """input / other; integers give the default floating point type."""
    return input / other


@op(method=True, inplace=True, out=True, alias=("divide",))
def div(input: Number, other: Number, *, rounding_mode: str | None = None):
    """input / other; `rounding_mode` is None, "trunc" (towards zero) or "floor"."""
    if rounding_mode is None:
        return input / other
    if rounding_mode == "trunc":
        return B.trunc_divide(input, other)
    if rounding_mode == "floor":
        return B.floor_divide(input, other)
    raise RuntimeError(f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found {rounding_mode!r}")


@op(method=True, inplace=True, out=True)
def floor_divide(input: Number, other: Number):
    """The floor of input / other: quotients are rounded down, not towards 0.

    >>> rushlight.floor_divide(rushlight.tensor([-7, 7]), 2)
    tensor([-4,  3])
    """
    return B.floor_divide(input, other)


@op(method=True, inplace=True, out=True)
def remainder(input: Number, other: Number):
    """The remainder with the sign of `other`, Python's %."""
    check_tensor("remainder", input, other)
    return B.remainder(input, other)


@op(method=True, inplace=True, out=True)
def fmod(input, other: Number):
    """The remainder with the sign of `input`, C's fmod."""
    return B.fmod(input, other)


@op(method=True, inplace=True, out=True, natural="exponent")
def pow(input: Number, exponent: Number):
    """input ** exponent."""
    check_tensor("pow", input, exponent)
    if kind_of(input) == kind_of(exponent) == "b":
        if not is_number(exponent):
            check_kinds("pow", dtypes.bool_, "uifc")
        return B.logical_or(input, B.logical_not(exponent))
    return B.pow(input, exponent)


@op(method=True, inplace=True, out=True, exact=True)
def float_power(input: Number, exponent: Number):
    """input ** exponent in float64 (complex128 for complex operands)."""
    check_tensor("float_power", input, exponent)
    wide = dtypes.complex128 if "c" in (kind_of(input), kind_of(exponent)) else dtypes.float64
    input = input if is_number(input) else B.cast(input, wide)
    return B.cast(B.pow(input, exponent if is_number(exponent) else B.cast(exponent, wide)), wide)


@op(method=True, inplace=True, out=True, alias=("arctan2",))
def atan2(input, other: Tensor):
    """The angle of the point (other, input), in radians."""
    return B.atan2(input, other)


@op(method=True, inplace=True, out=True)
def copysign(input, other: Number):
    """The magnitude of `input` with the sign of `other`."""
    return B.copysign(input, other)


@op(method=True, inplace=True, out=True)
def nextafter(input, other: Tensor):
    """The next floating point number after `input` towards `other`."""
    check_kinds("nextafter_cpu", B.common_dtype(input, other), "f")
    return B.nextafter(input, other)


@op(method=True, out=True)
def maximum(input, other: Tensor):
    """The larger of two, NaN if either is."""
    return B.maximum(input, other)


@op(method=True, out=True)
def minimum(input, other: Tensor):
    """The smaller of two, NaN if either is."""
    return B.minimum(input, other)


@op(method=True, out=True)
def fmax(input, other: Tensor):
    """The larger of two; a NaN loses against a number."""
    return B.where(B.isnan(input), other, B.where(B.isnan(other), input, B.maximum(input, other)))


@op(method=True, out=True)
def fmin(input, other: Tensor):
    """The smaller of two; a NaN loses against a number."""
    return B.where(B.isnan(input), other, B.where(B.isnan(other), input, B.minimum(input, other)))


def _apart(made, wins):
    """An extreme that a NaN loses passes its cotangent to the first operand where the two are equal, or both NaN."""

    @made.vjp
    def _(cotangents, outputs, input, other):
        first = B.logical_or(wins(input, other), B.isnan(other))
        return B.where(first, cotangents[0], 0), B.where(first, 0, cotangents[0])


_apart(fmax, B.ge), _apart(fmin, B.le)


@op(method=True, inplace=True, out=True)
def hypot(input, other: Tensor):
    """sqrt(input ** 2 + other ** 2) without overflow."""
    dtype = B.common_dtype(input, other)
    check_kinds("hypot_cpu", dtype, "f")
    if dtype.itemsize > 2:
        return B.abs(B.complex(input, other))
    wide = (B.cast(x, dtypes.float32) for x in (input, other))
    return B.cast(B.abs(B.complex(*wide)), dtype)


@op(method=True, inplace=True, out=True, alias=("clip",))
def clamp(input, min: Number = None, max: Number = None):
    """The input limited to [min, max]; numbers or tensors, either may be None; NaN stays."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    return B.clamp(input, min, max)


@clamp.vjp
def _(cotangents, outputs, input, min=None, max=None):
    """All of it to what lies within, limits included; a limit has that of what lies beyond."""
    g = cotangents[0]
    below = None if min is None else B.lt(input, min)
    above = None if max is None else B.gt(input, max)
    if min is not None and max is not None:  # a lower limit that is not below the upper one is never met
        of_min, of_max = B.logical_and(below, B.lt(min, max)), B.logical_or(above, B.lt(max, min))
    else:
        of_min, of_max = below, above
    beyond = below if above is None else above if below is None else B.logical_or(below, above)
    limits = (None if mask is None else B.where(mask, g, 0) for mask in (of_min, of_max))
    return B.where(beyond, 0, g), *limits


@op(method=True, inplace=True, out=True)
def clamp_min(input, min: Number):
    """The larger of the input and `min`, a number or a tensor."""
    return B.clamp(input, min, None)


@clamp_min.vjp
def _(cotangents, outputs, input, min):
    below = B.lt(input, min)
    return B.where(below, 0, cotangents[0]), B.where(below, cotangents[0], 0)


@op(method=True, inplace=True, out=True)
def clamp_max(input, max: Number):
    """The smaller of the input and `max`, a number or a tensor."""
    return B.clamp(input, None, max)


@clamp_max.vjp
def _(cotangents, outputs, input, max):
    above = B.gt(input, max)
    return B.where(above, 0, cotangents[0]), B.where(above, cotangents[0], 0)


@op(method=True, inplace=True, out=True)
def addcmul(input, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1):
    """input + value * tensor1 * tensor2."""
    check_kinds("addcmul_cpu_out", B.common_dtype(input, tensor1, tensor2), "uifc")
    return input + scaled(tensor1 * tensor2, value)


@op(method=True, inplace=True, out=True)
def addcdiv(input, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1):
    """input + value * tensor1 / tensor2, for floating point tensors."""
    if kind_of(tensor1) in "bui" and kind_of(tensor2) in "bui":
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported. addcdiv: use (input + value * "
            "torch.trunc(tensor1 / tensor2)) for "
            "integers or (input + value * tensor1 / tensor2) for floats"
        )
    return input + scaled(tensor1 / tensor2, value)


@op(method=True, inplace=True, out=True)
def lerp(input, end: Tensor, weight: Number):
    """input + weight * (end - input)."""
    check_kinds("lerp_kernel_scalar" if weight.weak else "lerp_kernel_tensor", input.dtype, "fc")
    for name, x in (("end", end), ("weight", weight)):
        if x.dtype is not input.dtype and not x.weak:
            raise RuntimeError(f"expected dtype {input.dtype.name} for `{name}` but got dtype {x.dtype.name}")
    return B.where(B.lt(B.abs(weight), 0.5), input + weight * (end - input), end - (end - input) * (1 - weight))


@op(method=True, inplace=True, out=True)
def xlogy(input: Number, other: Number):
    """input * log(other), 0 where input is 0."""
    check_tensor("xlogy", input, other)
    dtype = B.float_dtype(B.common_dtype(input, other))
    check_kinds("xlogy_cpu", dtype, "f")
    endless = B.logical_or(B.le(other, 0), B.eq(other, math.inf))  # elsewhere 0 * log(other) is 0, of slope log(other)
    zero = B.logical_and(B.eq(input, 0), endless)
    return B.where(zero, 0.0, input * B.cast(B.log(B.where(zero, 1.0, other)), dtype))


@op(method=True, out=True)
def logaddexp(input, other: Tensor):
    """log(exp(input) + exp(other)), without overflow."""
    dtype = B.common_dtype(input, other)
    check_kinds("logaddexp_cpu", dtype, "fc")
    input, other = B.cast(input, dtype), B.cast(other, dtype)
    if dtype.is_complex:
        top = B.cast(B.maximum(B.real(input), B.real(other)), dtype)
        top = B.where(B.isfinite(top), top, 0.0)
        return top + B.log(B.exp(input - top) + B.exp(other - top))
    top = B.maximum(input, other)
    same = B.eq(input, other)
    return top + B.where(same, 0.6931471805599453, B.log1p(B.exp(-B.abs(B.where(same, 0.0, input - other)))))


@op(method=True, out=True)
def logaddexp2(input, other: Tensor):
    """log2(2 ** input + 2 ** other), without overflow."""
    dtype = B.common_dtype(input, other)
    check_kinds("logaddexp2_cpu", dtype, "f")
    input, other = B.cast(input, dtype), B.cast(other, dtype)
    top = B.maximum(input, other)
    same = B.eq(input, other)
    return top + B.where(same, 1.0, B.log2(1 + B.exp2(-B.abs(B.where(same, 0.0, input - other)))))


@op(method=True, inplace=True, out=True)
def ldexp(input, other: Tensor):
    """input * 2 ** other; whole powers in steps, for 2 ** other alone may overflow where the product does not."""
    if other.dtype.kind not in "bui" or input.dtype.is_complex:
        return input * B.pow(2.0, other)
    x = input if input.dtype.kind == "f" else B.cast(input, dtypes.default)
    wide = B.cast(x, softened(x.dtype))
    most = 126 if wide.dtype.itemsize == 4 else 1022
    rest = B.cast(B.clamp(other, -3 * most, 3 * most) if other.dtype.kind == "i" else other, wide.dtype)
    last = B.clamp(rest, -most, most)
    second = B.clamp(rest - last, -most, most)
    first = B.clamp(rest - last - second, -most, most)
    # the largest step last: what is rounded to a subnormal number is rounded once
    return B.cast(wide * B.exp2(first) * B.exp2(second) * B.exp2(last), x.dtype)


@op(public=False, visible=2, out=True)
def mantissa_and_exponent(input):
    """See `frexp`."""
    if input.dtype.kind != "f":
        raise RuntimeError(f"torch.frexp() only supports floating-point dtypes, got {scalar_type(input.dtype)}")
    wide = B.cast(input, softened(input.dtype))
    tiny = B.lt(B.abs(wide), LEAST_NORMAL[wide.dtype.name])  # their logarithm needs all the digits of a normal number
    scaled_up = B.where(tiny, wide * 2.0**60, wide)
    still = B.logical_or(B.eq(wide, 0), B.logical_not(B.isfinite(wide)))
    exponent = B.floor(B.log2(B.abs(B.where(still, 1.0, scaled_up)))) + 1
    # in two steps: 2 ** -exponent alone may overflow
    half = B.floor(exponent * 0.5)
    mantissa = scaled_up * B.exp2(-half) * B.exp2(half - exponent)
    below, above = B.lt(B.abs(mantissa), 0.5), B.ge(B.abs(mantissa), 1)  # where the logarithm was rounded
    mantissa = B.where(below, mantissa * 2, B.where(above, mantissa * 0.5, mantissa))
    exponent = exponent + B.where(below, -1.0, B.where(above, 1.0, 0.0)) - B.where(tiny, 60.0, 0.0)
    return B.cast(B.where(still, wide, mantissa), input.dtype), B.cast(B.where(still, 0.0, exponent), dtypes.int32)


@composite(method=True)
def frexp(input, *, out=None):
    """(mantissa, exponent) with input = mantissa * 2 ** exponent and 1/2 <= |mantissa| < 1; the exponent is int32."""
    return named_call("frexp", mantissa_and_exponent, input, out=out)


LEAST_NORMAL = {"float32": 2.0**-126, "float64": 2.0**-1022}


def softened(dtype):
    """float32 for half types."""
    return dtypes.float32 if dtype.itemsize == 2 else dtype


@op(method=True, inplace=True, out=True)
def heaviside(input, values: Tensor):
    """The step function: 0 below 0, 1 above, `values` at 0."""
    if input.dtype is not values.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    if input.dtype.is_complex:
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    zero = B.cast(B.eq(input, 0), dtypes.bool_)
    return B.where(zero, values, B.cast(B.gt(input, 0), input.dtype))


@op(method=True, inplace=True, out=True)
def gcd(input, other: Tensor):
    """The greatest common divisor of integers, not negative; gcd(0, 0) is 0."""
    return B.gcd(input, other)


@op(method=True, inplace=True, out=True)
def lcm(input, other: Tensor):
    """The least common multiple of integers, not negative; 0 if either is 0."""
    divisor = B.gcd(input, other)
    return B.abs(B.trunc_divide(input, B.where(B.eq(divisor, 0), 1, divisor)) * other)
