"""Functions on Values with PyTorch's promotion and broadcasting: what op bodies and derivative rules are written in.

Operands are Values or Python numbers. Each function records primitives in the current graph. Elementwise
functions are here; `shaping` holds those that arrange elements, `folding` those that reduce and contract.
Names follow PyTorch and so hide some of Python's built-ins in this module.
"""

from __future__ import annotations

import math

from . import dtypes
from .batching import batch_map, front, lead_all  # noqa: F401 - for batch rules
from .dtypes import bool_, float32, float64
from .folding import *  # noqa: F403
from .folding import HALVES
from .graph import Value
from .primitive import PRIMITIVES, fail
from .promote import (
    as_dtype,
    broadcast_shapes,
    broadcast_to,
    common_dtype,
    constant,
    float_dtype,
    is_weak,
    operand_type,
    together,
)
from .shaping import *  # noqa: F403
from .shaping import full_like, zeros_like
from .sizes import product  # noqa: F401 - for derivative rules


def _apply(name: str, operands, dtype, **attrs) -> Value:
    """A map over operands made alike; a result of run-time numbers alone is one, too."""
    result = PRIMITIVES[name](*together(operands, dtype), **attrs)
    result.weak = all_weak(operands)
    return result


def all_weak(operands) -> bool:
    return False not in [is_weak(x) for x in operands]


# -- arithmetic -------------------------------------------------------------------------------
def _keeps_precision(operands, dtype) -> bool:
    """Whether a half tensor meets a number of another type, which must not be rounded to half before it is used."""
    if dtype not in HALVES:
        return False
    return True in [type(x) is not Value or (not x.shape and x.dtype is not dtype) for x in operands]


def _arithmetic(name: str, operands, dtype) -> Value:
    if _keeps_precision(operands, dtype):
        return as_dtype(_apply(name, operands, float32), dtype)
    return _apply(name, operands, dtype)


def add(a, b) -> Value:
    """a + b; of bools, or."""
    return _arithmetic("add", (a, b), common_dtype(a, b))


def sub(a, b) -> Value:
    """a - b; RuntimeError for bools."""
    if bool_ in (operand_type(a)[0], operand_type(b)[0]):
        fail("sub", "subtraction, the `-` operator, with a bool is not supported; use `^`, `~` or `logical_not`")
    return _arithmetic("sub", (a, b), common_dtype(a, b))


def _bool_tensor(x) -> bool:
    return type(x) is Value and x.dtype is bool_


def mul(a, b) -> Value:
    """a * b; of bools, and."""
    return _arithmetic("mul", (a, b), common_dtype(a, b))


def div(a, b) -> Value:
    """True division: integers give the default floating point type."""
    dtype = common_dtype(a, b)
    if dtype.kind not in "fc" and all_weak((a, b)):
        dtype = float64
    return _arithmetic("div", (a, b), float_dtype(dtype))


def pow(a, b) -> Value:
    """a ** b; small integer powers become products."""
    dtype = common_dtype(a, b)
    if type(b) in (int, float) and dtype.kind in "fc":
        return _literal_power(as_dtype(a, dtype), b)
    dtype = dtypes.uint8 if dtype is bool_ else dtype
    return _arithmetic("pow", (a, b), dtype)


def _literal_power(x: Value, exponent) -> Value:
    """Exact short forms; each has the derivative of the power, at 0 as elsewhere."""
    if x.dtype in HALVES:
        return as_dtype(_literal_power(as_dtype(x, float32), exponent), x.dtype)
    if exponent == 0:
        return full_like(x, 1)
    if exponent == 1:
        return x
    if exponent == 2:
        return mul(x, x)
    if exponent == 3:
        return mul(mul(x, x), x)
    if exponent == 0.5:
        return sqrt(x)
    if exponent == -0.5:
        return rsqrt(x)
    if exponent == -1:
        return reciprocal(x)
    return _arithmetic("pow", (x, exponent), x.dtype)


def _quotient(name: str):
    def function(a, b) -> Value:
        return _apply(name, (a, b), common_dtype(a, b))

    function.__name__ = name
    return function


floor_divide, trunc_divide = _quotient("floor_divide"), _quotient("trunc_divide")
remainder, fmod = _quotient("remainder"), _quotient("fmod")
maximum, minimum = _quotient("maximum"), _quotient("minimum")


def _float_binary(name: str):
    def function(a, b) -> Value:
        dtype = common_dtype(a, b)
        return _apply(name, (a, b), float64 if all_weak((a, b)) else float_dtype(dtype))

    function.__name__ = name
    return function


atan2, nextafter, copysign, zeta, gammainc, gammaincc, gamma_slope = map(
    _float_binary, ("atan2", "nextafter", "copysign", "zeta", "gammainc", "gammaincc", "gamma_slope")
)


def beta_slope(x, a, b) -> Value:
    """How fast the quantile x of a beta distribution moves with its first parameter, over 1 - x."""
    return _apply("beta_slope", (x, a, b), float_dtype(common_dtype(x, a, b)))


def neg(x) -> Value:
    """-x; RuntimeError for bools."""
    if _bool_tensor(x):
        fail("neg", "negation, the `-` operator, on a bool tensor is not supported; use `~` or `logical_not`")
    return _apply("neg", (x,), common_dtype(x))


def abs(x) -> Value:
    """|x|; real for complex numbers."""
    return x if _bool_tensor(x) else _apply("abs", (x,), common_dtype(x))


def sign(x) -> Value:
    """-1, 0 or 1; x / |x| for complex numbers; 0 for NaN."""
    return _apply("sign", (x,), common_dtype(x))


def square(x) -> Value:
    return mul(x, x)


def root(x) -> Value:
    """The square root as norms have it: its derivative at 0 counts as 0, not as infinite."""
    zero = eq(x, 0)
    return where(zero, 0.0, sqrt(where(zero, 1.0, x)))


def raised(x, exponent) -> Value:
    """A size to a power, not 0, as norms have it: the derivative at 0 counts as 0."""
    zero = eq(x, 0)
    at_zero = (
        where(gt(exponent, 0), 0.0, math.inf) if isinstance(exponent, Value) else 0.0 if exponent > 0 else math.inf
    )
    return where(zero, at_zero, pow(where(zero, 1.0, x), exponent))


# -- bits, logic, comparison ------------------------------------------------------------------
bit_and, bit_or, bit_xor = _quotient("bit_and"), _quotient("bit_or"), _quotient("bit_xor")
gcd = _quotient("gcd")
shift_left, shift_right = _quotient("shift_left"), _quotient("shift_right")


def bit_not(x) -> Value:
    return _apply("bit_not", (x,), common_dtype(x))


def truth(x) -> Value:
    """x != 0 as a bool."""
    return x if _bool_tensor(x) else ne(x, 0)


def logical_and(a, b) -> Value:
    return _apply("bit_and", (truth(a), truth(b)), bool_)


def logical_or(a, b) -> Value:
    return _apply("bit_or", (truth(a), truth(b)), bool_)


def logical_xor(a, b) -> Value:
    return _apply("bit_xor", (truth(a), truth(b)), bool_)


def logical_not(x) -> Value:
    return _apply("bit_not", (truth(x),), bool_)


def _comparison(name: str):
    def function(a, b) -> Value:
        dtype = common_dtype(a, b)
        if dtype.is_complex and name not in ("eq", "ne"):
            fail(name, f"complex numbers have no order, got {a} and {b}", NotImplementedError)
        return _apply(name, (a, b), dtype)

    function.__name__ = name
    return function


eq, ne, lt, le, gt, ge = map(_comparison, ("eq", "ne", "lt", "le", "gt", "ge"))


def isfinite(x) -> Value:
    dtype = common_dtype(x)
    return _apply("isfinite", (x,), dtype) if dtype.kind in "fc" else full_like(x, True, bool_)


def isnan(x) -> Value:
    dtype = common_dtype(x)
    return _apply("isnan", (x,), dtype) if dtype.kind in "fc" else full_like(x, False, bool_)


def isinf(x) -> Value:
    """Infinite in any part."""
    dtype = common_dtype(x)
    if dtype.is_complex:
        return logical_or(isinf(real(x)), isinf(imag(x)))
    return eq(abs(x), math.inf) if dtype.is_floating_point else full_like(x, False, bool_)


# -- choice -----------------------------------------------------------------------------------
def where(condition, a, b) -> Value:
    """a where the condition holds, b elsewhere, in the common type of a and b."""
    dtype = common_dtype(a, b)
    shape = broadcast_shapes(*(x.shape for x in (condition, a, b) if type(x) is Value))
    condition = broadcast_to(truth(condition), shape)
    a, b = (broadcast_to(as_dtype(x, dtype), shape) if type(x) is Value else constant(x, shape, dtype) for x in (a, b))
    return PRIMITIVES["where"](condition, a, b)


def cast(x, dtype) -> Value:
    """x in another type; a complex number loses its imaginary part."""
    return as_dtype(x, dtype)


def clamp(x, low=None, high=None) -> Value:
    """x limited to [low, high]; NaN stays."""
    x = x if low is None else maximum(x, low)
    return x if high is None else minimum(x, high)


# -- functions --------------------------------------------------------------------------------
def _float_unary(name: str):
    def function(x) -> Value:
        dtype = common_dtype(x)
        return _apply(name, (x,), float64 if dtype.kind not in "fc" and is_weak(x) else float_dtype(dtype))

    function.__name__ = name
    return function


exp, exp2, expm1, log, log2, log10, log1p, sqrt, rsqrt, reciprocal = map(
    _float_unary, ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal")
)
sin, cos, tan, asin, acos, atan = map(_float_unary, ("sin", "cos", "tan", "asin", "acos", "atan"))
sinh, cosh, tanh, asinh, acosh, atanh = map(_float_unary, ("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"))
erf, erfc, erfcx, erfinv, lgamma, digamma, sigmoid = map(
    _float_unary, ("erf", "erfc", "erfcx", "erfinv", "lgamma", "digamma", "sigmoid")
)


def _rounding(name: str):
    def function(x) -> Value:
        dtype = common_dtype(x)
        return _apply(name, (x,), dtype) if dtype.kind in "fc" else as_dtype(x, dtype)

    function.__name__ = name
    return function


floor, ceil, trunc, round = map(_rounding, ("floor", "ceil", "trunc", "round"))


def trigamma(x) -> Value:
    """The derivative of digamma: recurrence up to 6 and the asymptotic series; reflection below 1/2."""
    reflected = lt(x, 0.5)
    z = where(reflected, 1 - x, x)
    total = 0
    for _ in range(6):
        total = total + reciprocal(z * z)
        z = z + 1
    w = reciprocal(z * z)
    series = w * (1 / 6 - w * (1 / 30 - w * (1 / 42 - w * (1 / 30 - w * (5 / 66 - w * (691 / 2730 - w * (7 / 6)))))))
    total = total + (1 + 0.5 / z + series) / z
    sine = sin(math.pi * where(reflected, x - floor(x), 0.5))
    return where(reflected, (math.pi * math.pi) / (sine * sine) - total, total)


# -- complex ----------------------------------------------------------------------------------
def complex(re, im) -> Value:
    """re + i * im, of two float32 or float64 operands."""
    return _apply("complex", (re, im), common_dtype(re, im))


def real(x) -> Value:
    return PRIMITIVES["real"](x) if x.dtype.is_complex else x


def imag(x) -> Value:
    return PRIMITIVES["imag"](x) if x.dtype.is_complex else zeros_like(x)


def conj(x) -> Value:
    return PRIMITIVES["conj"](x) if type(x) is Value and x.dtype.is_complex else x


def angle(x) -> Value:
    """The argument in (-pi, pi]; of real numbers 0, pi, or NaN."""
    if x.dtype.is_complex:
        return atan2(imag(x), real(x))
    x = cast(x, float_dtype(x.dtype))
    return where(lt(x, 0), math.pi, where(isnan(x), x, 0.0))


# Last, because they are written with the functions above: the primitives' rules, and arithmetic on Values.
from . import operators, primitives  # noqa: E402, F401
