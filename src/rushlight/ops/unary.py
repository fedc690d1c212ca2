"""Functions of one number, element by element."""

from __future__ import annotations

import math

from ..ir import build as B
from ..ir import dtypes
from .checks import check_kinds
from .declare import FUNCTIONS, Number, composite, op
from .widths import wide_type

_FUNCTIONS = {
    "exp": "e to the power of the input",
    "exp2": "2 to the power of the input",
    "expm1": "exp(input) - 1, accurate near 0",
    "log": "The natural logarithm",
    "log2": "The logarithm to base 2",
    "log10": "The logarithm to base 10",
    "log1p": "log(1 + input), accurate near 0",
    "sqrt": "The square root",
    "rsqrt": "1 / sqrt(input)",
    "reciprocal": "1 / input",
    "sin": "The sine, of radians",
    "cos": "The cosine, of radians",
    "tan": "The tangent, of radians",
    "asin": "The arc sine, in radians",
    "acos": "The arc cosine, in radians",
    "atan": "The arc tangent, in radians",
    "sinh": "The hyperbolic sine",
    "cosh": "The hyperbolic cosine",
    "tanh": "The hyperbolic tangent",
    "asinh": "The inverse hyperbolic sine",
    "acosh": "The inverse hyperbolic cosine",
    "atanh": "The inverse hyperbolic tangent",
    "erf": "The error function",
    "erfc": "1 - erf(input), accurate for large inputs",
    "erfinv": "The inverse of erf",
    "lgamma": "The logarithm of the absolute value of the gamma function",
    "digamma": "The derivative of lgamma",
    "sigmoid": "1 / (1 + exp(-input))",
    "floor": "The largest integer not above the input",
    "ceil": "The smallest integer not below the input",
    "trunc": "The input without its fraction",
    "abs": "The absolute value (the modulus of complex numbers)",
    "sign": "-1, 0 or 1 by the sign of the input",
}
_ALIASES = {
    "asin": ("arcsin",),
    "acos": ("arccos",),
    "atan": ("arctan",),
    "asinh": ("arcsinh",),
    "acosh": ("arccosh",),
    "atanh": ("arctanh",),
    "abs": ("absolute",),
    "trunc": ("fix",),
}


_KINDS = {
    "floor": ("floor_vml_cpu", "uif"),
    "ceil": ("ceil_vml_cpu", "uif"),
    "trunc": ("trunc_vml_cpu", "uif"),
    "abs": ("abs_cpu", "uifc"),
    "sign": ("sign_cpu", "buif"),
}


def _declare(name: str, summary: str):
    function = getattr(B, name)
    kernel, kinds = _KINDS.get(name, (name + "_cpu", "buifc"))

    def body(input):
        check_kinds(kernel, input.dtype, kinds)
        return function(input)

    body.__name__, body.__doc__ = name, f"{summary}, element by element."
    return op(body, method=True, inplace=True, out=True, alias=_ALIASES.get(name, ()))


for _name, _summary in _FUNCTIONS.items():
    globals()[_name] = _declare(_name, _summary)


def uses_output(declared, rule):
    """Derivatives that read the result instead of computing it again, so that the input may be overwritten."""

    @declared.vjp
    def _(cotangents, outputs, input):
        return rule(cotangents[0], outputs[0])


uses_output(globals()["exp"], lambda g, y: g * B.conj(y))
uses_output(globals()["tanh"], lambda g, y: g * B.conj(1 - y * y))
uses_output(globals()["sigmoid"], lambda g, y: g * B.conj((1 - y) * y))
uses_output(globals()["sqrt"], lambda g, y: g / B.conj(2 * y))
uses_output(globals()["reciprocal"], lambda g, y: -g * B.conj(y * y))
uses_output(globals()["rsqrt"], lambda g, y: -0.5 * g * B.conj(y * y * y))


@op(method=True, inplace=True, out=True)
def round(input, *, decimals: int = 0):
    """The nearest integer, halves to even; with `decimals`, to that many places."""
    if decimals == 0:
        check_kinds("round_vml_cpu", input.dtype, "uif")
        return B.round(input)
    check_kinds("round_cpu", input.dtype, "f")
    scale = 10.0 ** abs_int(decimals)
    x = B.cast(input, wide_type(input.dtype))
    return B.cast(B.round(x * scale) / scale if decimals > 0 else B.round(x / scale) * scale, input.dtype)


def abs_int(n: int) -> int:
    return n if n >= 0 else -n


@op(method=True, inplace=True, out=True)
def frac(input):
    """The fraction of the input, with its sign."""
    check_kinds("frac_cpu", input.dtype, "f")
    return input - B.trunc(input)


@op(method=True, inplace=True, out=True)
def square(input):
    """input * input."""
    return B.pow(input, 2)


@op(method=True, keeps=True)
def positive(input):
    """The input itself; RuntimeError for bools."""
    if input.dtype is dtypes.bool_:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


@op(method=True, inplace=True, out=True, alias=("negative",))
def neg(input):
    """-input; RuntimeError for bools."""
    return -input


@op(method=True, inplace=True, out=True)
def sgn(input):
    """The sign; of complex numbers z / |z|, 0 for 0."""
    return B.sign(input)


@op(method=True, out=True, exact=True)
def signbit(input):
    """Whether the sign bit is set (-0.0 and negative numbers)."""
    check_kinds("signbit_cpu", input.dtype, "buif")
    if not input.dtype.is_floating_point:
        return B.lt(input, 0) if input.dtype is not dtypes.bool_ else B.full_like(input, False, dtypes.bool_)
    return B.lt(B.copysign(B.ones_like(input), input), 0)


@op(method=True, inplace=True, out=True)
def nan_to_num(input, nan: float = 0.0, posinf: float = None, neginf: float = None):
    """NaN and infinities replaced: by `nan`, and by the largest and smallest numbers unless given."""
    if input.dtype.is_complex:
        return B.complex(*(nan_to_num(part, nan, posinf, neginf) for part in (B.real(input), B.imag(input))))
    if input.dtype.kind != "f":
        return input
    nan = 0.0 if nan is None else nan
    largest = LARGEST[input.dtype.name]
    high = largest if posinf is None else posinf
    low = -largest if neginf is None else neginf
    replaced = B.where(B.eq(input, math.inf), high, B.where(B.eq(input, -math.inf), low, input))
    return B.cast(B.where(B.isnan(input), nan, replaced), input.dtype)


LARGEST = {
    "float16": 65504.0,
    "bfloat16": 3.3895313892515355e38,
    "float32": 3.4028234663852886e38,
    "float64": 1.7976931348623157e308,
}


@op(method=True, inplace=True, out=True)
def logit(input, eps: Number | None = None):
    """log(input / (1 - input)); inputs are clamped to [eps, 1 - eps] if eps is given."""
    check_kinds("logit_cpu", input.dtype, "buif")
    x = B.cast(input, B.float_dtype(input.dtype))
    x = x if eps is None else B.where(B.lt(x, eps), eps, B.minimum(x, 1 - eps))
    return B.log(x / (1 - x))


@logit.vjp
def _(cotangents, outputs, input, eps=None):
    """NaN outside of [0, 1]; 0 where clamped."""
    low, outside = (0.0, math.nan) if eps is None else (eps, 0.0)
    inside = B.logical_and(B.ge(input, low), B.le(input, 1 - low))
    return B.where(inside, cotangents[0] / (input * (1 - input)), outside)


def check_real(name: str, x) -> None:
    if x.dtype.is_complex:
        raise RuntimeError(f"{name} is not supported for complex tensors.")


@op(method=True, inplace=True, out=True)
def deg2rad(input):
    """Degrees as radians."""
    check_real("deg2rad", input)
    return input * (math.pi / 180)


@op(method=True, inplace=True, out=True)
def rad2deg(input):
    """Radians as degrees."""
    check_real("rad2deg", input)
    return input * (180 / math.pi)


@op(method=True, inplace=True, out=True)
def mvlgamma(input, p: int):
    """The multivariate log-gamma function of dimension p."""
    if not 0 < p <= 1024:
        raise RuntimeError(f"mvlgamma: p has to be in [1, 1024], got {p}")
    total = p * (p - 1) / 4 * math.log(math.pi)
    if p <= 8:
        for i in range(p):
            total = total + B.lgamma(input - i / 2)
        return total
    shape = (*input.shape, p)
    steps = B.expand(B.cast(B.iota((p,), 0, dtypes.int64), input.dtype), shape)
    return total + B.sum(B.lgamma(B.expand(B.unsqueeze(input, -1), shape) - steps / 2), (-1,))


@op(method=True, inplace=True, out=True)
def sinc(input):
    """sin(pi x) / (pi x), 1 at 0."""
    x = input * math.pi
    zero = B.eq(x, 0)
    safe = B.where(zero, 1.0, x)
    return B.where(zero, 1.0, B.sin(safe) / safe)


for _name in ("isnan", "isfinite", "isinf"):
    _body = (lambda function: lambda input: function(input))(getattr(B, _name))
    _body.__name__, _body.__doc__ = _name, f"Where {_name[2:]}, as a bool tensor."
    globals()[_name] = op(_body, method=True)


def check_ordered(name: str, x) -> None:
    if x.dtype.is_complex:
        raise RuntimeError(f"{name} does not support complex inputs.")


@op(method=True, out=True, exact=True)
def isposinf(input):
    """Where +infinity."""
    check_ordered("isposinf", input)
    return B.eq(input, math.inf)


@op(method=True, out=True, exact=True)
def isneginf(input):
    """Where -infinity."""
    check_ordered("isneginf", input)
    return B.eq(input, -math.inf)


@composite(method=True)
def isreal(input):
    """Where the imaginary part is zero."""
    return input.imag == 0 if input.is_complex() else FUNCTIONS["ones_like"](input, dtype=dtypes.bool_)
