"""Arithmetic, comparison and logic on tensors and numbers."""

from __future__ import annotations

from ..ir import build as B
from .declare import Number, composite, op


@op(method=True, inplace=True, out=True)
def add(input, other, *, alpha: Number = 1):
    """input + alpha * other, with broadcasting and type promotion.

    >>> rushlight.add(rushlight.tensor([1.0, 2.0]), 10)
    tensor([11., 12.])
    """
    return input + scaled(other, alpha)


@op(method=True, inplace=True, out=True, alias=("subtract",))
def sub(input, other, *, alpha: Number = 1):
    """input - alpha * other, with broadcasting and type promotion."""
    return input - scaled(other, alpha)


@op(method=True)
def rsub(input, other, *, alpha: Number = 1):
    """other - alpha * input."""
    return other - scaled(input, alpha)


def scaled(x, alpha):
    """alpha * x; the usual alpha of 1 costs nothing."""
    return x if type(alpha) is int and alpha == 1 else x * alpha


@op(method=True, inplace=True, out=True, alias=("multiply",))
def mul(input, other):
    """input * other, with broadcasting and type promotion."""
    return input * other


@op(method=True, inplace=True, out=True)
def true_divide(input, other):
    """input / other; integers give the default floating point type."""
    return input / other


@op(method=True, inplace=True, out=True, alias=("divide",))
def div(input, other, *, rounding_mode: str | None = None):
    """input / other; `rounding_mode` is None, "trunc" (towards zero) or "floor"."""
    if rounding_mode is None:
        return input / other
    if rounding_mode == "trunc":
        return B.trunc_divide(input, other)
    if rounding_mode == "floor":
        return B.floor_divide(input, other)
    raise RuntimeError(f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found {rounding_mode!r}")


@op(method=True, inplace=True, out=True)
def floor_divide(input, other):
    """The floor of input / other."""
    return B.floor_divide(input, other)


@op(method=True, inplace=True, out=True)
def remainder(input, other):
    """The remainder with the sign of `other`, Python's %."""
    return B.remainder(input, other)


@op(method=True, inplace=True, out=True)
def fmod(input, other):
    """The remainder with the sign of `input`, C's fmod."""
    return B.fmod(input, other)


@op(method=True, inplace=True, out=True)
def pow(input, exponent):
    """input ** exponent."""
    return B.pow(input, exponent)


@op(method=True, inplace=True, out=True)
def atan2(input, other):
    """The angle of the point (other, input), in radians."""
    return B.atan2(input, other)


@op(method=True, inplace=True, out=True)
def copysign(input, other):
    """The magnitude of `input` with the sign of `other`."""
    return B.copysign(input, other)


@op(method=True, inplace=True, out=True)
def nextafter(input, other):
    """The next floating point number after `input` towards `other`."""
    return B.nextafter(input, other)


@op(method=True, out=True)
def maximum(input, other):
    """The larger of two, NaN if either is."""
    return B.maximum(input, other)


@op(method=True, out=True)
def minimum(input, other):
    """The smaller of two, NaN if either is."""
    return B.minimum(input, other)


@op(method=True, out=True)
def fmax(input, other):
    """The larger of two; a NaN loses against a number."""
    return B.where(B.isnan(input), other, B.where(B.isnan(other), input, B.maximum(input, other)))


@op(method=True, out=True)
def fmin(input, other):
    """The smaller of two; a NaN loses against a number."""
    return B.where(B.isnan(input), other, B.where(B.isnan(other), input, B.minimum(input, other)))


@op(method=True, inplace=True, out=True)
def hypot(input, other):
    """sqrt(input ** 2 + other ** 2) without overflow."""
    return B.abs(B.complex(input, other))


@op(method=True, inplace=True, out=True, alias=("clip",))
def clamp(input, min: Number = None, max: Number = None):
    """The input limited to [min, max]; numbers or tensors, either may be None; NaN stays."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    return B.clamp(input, min, max)


@op(method=True, inplace=True, out=True)
def addcmul(input, tensor1, tensor2, *, value: Number = 1):
    """input + value * tensor1 * tensor2."""
    return input + scaled(tensor1 * tensor2, value)


@op(method=True, inplace=True, out=True)
def addcdiv(input, tensor1, tensor2, *, value: Number = 1):
    """input + value * tensor1 / tensor2, for floating point tensors."""
    return input + scaled(tensor1 / tensor2, value)


@op(method=True, inplace=True, out=True)
def lerp(input, end, weight):
    """input + weight * (end - input)."""
    return B.where(B.lt(B.abs(weight), 0.5), input + weight * (end - input), end - (end - input) * (1 - weight))


@op(method=True, inplace=True, out=True)
def xlogy(input, other):
    """input * log(other), 0 where input is 0."""
    zero = B.logical_and(B.eq(input, 0), B.logical_not(B.isnan(other)))
    return B.where(zero, 0.0, input * B.log(B.where(zero, 1.0, other)))


@op(method=True, inplace=True, out=True)
def logaddexp(input, other):
    """log(exp(input) + exp(other)), without overflow."""
    top = B.maximum(input, other)
    same = B.eq(input, other)
    return top + B.where(same, 0.6931471805599453, B.log1p(B.exp(-B.abs(B.where(same, 0.0, input - other)))))


@op(method=True, inplace=True, out=True)
def logaddexp2(input, other):
    """log2(2 ** input + 2 ** other), without overflow."""
    top = B.maximum(input, other)
    same = B.eq(input, other)
    return top + B.where(same, 1.0, B.log2(1 + B.exp2(-B.abs(B.where(same, 0.0, input - other)))))


def _declare(name: str, summary: str, function, alias=()):
    def body(input, other):
        return function(input, other)

    body.__name__, body.__doc__ = name, f"{summary}, with broadcasting."
    globals()[name] = op(body, method=True, inplace=True, out=True, alias=alias)


for _name, _summary, _function, _alias in (
    ("eq", "Where input == other", B.eq, ()),
    ("ne", "Where input != other", B.ne, ("not_equal",)),
    ("lt", "Where input < other", B.lt, ("less",)),
    ("le", "Where input <= other", B.le, ("less_equal",)),
    ("gt", "Where input > other", B.gt, ("greater",)),
    ("ge", "Where input >= other", B.ge, ("greater_equal",)),
    ("logical_and", "Where both are not zero", B.logical_and, ()),
    ("logical_or", "Where one is not zero", B.logical_or, ()),
    ("logical_xor", "Where exactly one is not zero", B.logical_xor, ()),
    ("bitwise_and", "The bits set in both", B.bit_and, ()),
    ("bitwise_or", "The bits set in one", B.bit_or, ()),
    ("bitwise_xor", "The bits set in exactly one", B.bit_xor, ()),
    ("bitwise_left_shift", "input * 2 ** other, by shifting bits", B.shift_left, ()),
    ("bitwise_right_shift", "input / 2 ** other, by shifting bits", B.shift_right, ()),
):
    _declare(_name, _summary, _function, _alias)


@op(method=True, inplace=True, out=True)
def logical_not(input):
    """Where the input is zero."""
    return B.logical_not(input)


@op(method=True, inplace=True, out=True)
def bitwise_not(input):
    """All bits flipped; of bools, not."""
    return B.bit_not(input)


@op(out=True)
def where(condition, input, other):
    """`input` where the condition holds, `other` elsewhere."""
    return B.where(condition, input, other)


@composite(method="where", public=False)
def where_method(input, condition, other):
    """This tensor where the condition holds, `other` elsewhere."""
    return where(condition, input, other)
