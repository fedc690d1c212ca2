"""Maps: primitives that work element by element on operands of one shape and dtype.

Each is one line: name, permitted kinds of dtype, NumPy meaning, and the derivative formula that both
vjp and jvp follow. A formula gives one partial derivative per input, as a Value or one of the marks
1, -1 and None (zero). For complex numbers it is the derivative of a holomorphic function f; a
cotangent is multiplied by conj(f'), PyTorch's convention, so that it is the direction of steepest ascent.
"""

from __future__ import annotations

import math

from .. import build as B
from .. import meaning as M
from ..dtypes import bool_, float32, float64
from ..lazy import np
from ..primitive import Primitive, check_dtype, fail, primitive

LN2, LN10 = math.log(2.0), math.log(10.0)
TWO_OVER_SQRT_PI = 2.0 / math.sqrt(math.pi)


def _declare(name: str, arity: int, kinds: str, numpy, derivative=None, result=None) -> Primitive:
    def shape(*inputs):
        if len(inputs) != arity:
            fail(name, f"expected {arity} operands, got {len(inputs)}")
        first = inputs[0]
        for other in inputs[1:]:
            if other.dtype is not first.dtype or other.shape != first.shape:
                fail(name, f"operands must have equal shapes and dtypes, got {first} and {other}")
        check_dtype(name, first, kinds)
        return first.shape, (result(first.dtype) if result else first.dtype)

    prim = Primitive(name, "map", shape, numpy=getattr(M, numpy) if hasattr(M, numpy) else _lazily(numpy))
    prim.batch_rule = lambda node, inputs, dims: B.batch_map(prim, node, inputs, dims)
    if derivative is not None:
        _derive(prim, derivative)
    return prim


def _lazily(name: str):
    return lambda *arrays: getattr(np, name)(*arrays)


def _derive(prim: Primitive, derivative) -> None:
    """Both derivative rules from the formula for the partial derivatives."""

    def partials(node):
        found = derivative(*node.inputs, node.outputs[0])
        return found if type(found) is tuple else (found,)

    def vjp(node, cotangent):
        return [_scaled(cotangent, p, conjugate=True) for p in partials(node)]

    def jvp(node, *tangents):
        terms = [_scaled(t, p) for t, p in zip(tangents, partials(node)) if t is not None and p is not None]
        total = None
        for term in terms:
            total = term if total is None else B.add(total, term)
        return total

    prim.vjp_rule, prim.jvp_rule = vjp, jvp


def _scaled(direction, partial, conjugate: bool = False):
    if partial is None:
        return None
    if type(partial) is int:
        return direction if partial == 1 else B.neg(direction)
    return B.mul(direction, B.conj(partial) if conjugate else partial)


def _unary(name, kinds, numpy, derivative=None, result=None):
    return _declare(name, 1, kinds, numpy, derivative, result)


def _binary(name, kinds, numpy, derivative=None, result=None):
    return _declare(name, 2, kinds, numpy, derivative, result)


def _bool(_):
    return bool_


# -- arithmetic -------------------------------------------------------------------------------
add = _binary("add", "buifc", "add", lambda a, b, y: (1, 1))
sub = _binary("sub", "uifc", "subtract", lambda a, b, y: (1, -1))
mul = _binary("mul", "buifc", "multiply", lambda a, b, y: (b, a))
div = _binary("div", "fc", "divide", lambda a, b, y: (1 / b, -y / b))
floor_divide = _binary("floor_divide", "uif", "floor_divide")
trunc_divide = _binary("trunc_divide", "uif", "trunc_divide")
remainder = _binary("remainder", "uif", "remainder", lambda a, b, y: (1, -B.floor_divide(a, b)))
fmod = _binary("fmod", "uif", "fmod", lambda a, b, y: (1, -B.trunc_divide(a, b)))
pow = _binary("pow", "uifc", "power", lambda a, b, y: (_pow_base(a, b), _pow_exponent(a, b, y)))
maximum = _binary("maximum", "buif", "maximum", lambda a, b, y: (_wins(a, b, B.lt), _wins(b, a, B.lt)))
minimum = _binary("minimum", "buif", "minimum", lambda a, b, y: (_wins(a, b, B.gt), _wins(b, a, B.gt)))
atan2 = _binary("atan2", "f", "arctan2", lambda a, b, y: _angle_slopes(a, b))
nextafter = _binary("nextafter", "f", "nextafter", lambda a, b, y: (1, None))
copysign = _binary("copysign", "f", "copysign", lambda a, b, y: (B.where(B.eq(a, 0), 0.0, y / a), None))
gcd = _binary("gcd", "ui", "gcd")
neg = _unary("neg", "uifc", "negative", lambda x, y: -1)


def _gamma_density(a, x):
    """x ** (a - 1) exp(-x) / gamma(a)."""
    return B.exp((a - 1) * B.log(x) - x - B.lgamma(a))


def _pow_base(a, b):
    """b * a**(b-1), and 0 where b is 0 (even at a = 0)."""
    return B.where(B.eq(b, 0), 0, b * B.pow(a, b - 1))


def _pow_exponent(a, b, y):
    """y * log(a), and 0 at a = 0 unless b is negative."""
    return B.where(B.logical_and(B.eq(a, 0), B.ge(B.real(b), 0)), 0, y * B.log(a))


def _angle_slopes(a, b):
    """b and -a over a² + b²; 0 where both are 0."""
    square = a * a + b * b
    nowhere = B.eq(square, 0)
    inverse = B.where(nowhere, 0.0, 1 / B.where(nowhere, 1.0, square))
    return b * inverse, -a * inverse


def _wins(a, b, loses):
    """Weight of a in an extreme of a and b: 1, or 1/2 in a tie; NaN counts as winning on both sides."""
    return B.where(B.eq(a, b), 0.5, B.where(loses(a, b), 0.0, B.full_like(a, 1.0)))


# -- bits, comparison -------------------------------------------------------------------------
bit_and = _binary("bit_and", "bui", "bitwise_and")
bit_or = _binary("bit_or", "bui", "bitwise_or")
bit_xor = _binary("bit_xor", "bui", "bitwise_xor")
bit_not = _unary("bit_not", "bui", "invert")
shift_left = _binary("shift_left", "ui", "shift_left")
shift_right = _binary("shift_right", "ui", "shift_right")
eq = _binary("eq", "buifc", "equal", result=_bool)
ne = _binary("ne", "buifc", "not_equal", result=_bool)
lt = _binary("lt", "buif", "less", result=_bool)
le = _binary("le", "buif", "less_equal", result=_bool)
gt = _binary("gt", "buif", "greater", result=_bool)
ge = _binary("ge", "buif", "greater_equal", result=_bool)
isfinite = _unary("isfinite", "fc", "isfinite", result=_bool)
isnan = _unary("isnan", "fc", "isnan", result=_bool)

# -- functions --------------------------------------------------------------------------------
exp = _unary("exp", "fc", "exp", lambda x, y: y)
exp2 = _unary("exp2", "fc", "exp2", lambda x, y: y * LN2)
expm1 = _unary("expm1", "fc", "expm1", lambda x, y: y + 1)
log = _unary("log", "fc", "log", lambda x, y: 1 / x)
log2 = _unary("log2", "fc", "log2", lambda x, y: 1 / (x * LN2))
log10 = _unary("log10", "fc", "log10", lambda x, y: 1 / (x * LN10))
log1p = _unary("log1p", "fc", "log1p", lambda x, y: 1 / (x + 1))
sqrt = _unary("sqrt", "fc", "sqrt", lambda x, y: 0.5 / y)
rsqrt = _unary("rsqrt", "fc", "rsqrt", lambda x, y: -0.5 * (y * y * y))
reciprocal = _unary("reciprocal", "fc", "reciprocal", lambda x, y: -(y * y))
sin = _unary("sin", "fc", "sin", lambda x, y: B.cos(x))
cos = _unary("cos", "fc", "cos", lambda x, y: -B.sin(x))
tan = _unary("tan", "fc", "tan", lambda x, y: 1 + y * y)
asin = _unary("asin", "fc", "arcsin", lambda x, y: B.rsqrt(1 - x * x))
acos = _unary("acos", "fc", "arccos", lambda x, y: -B.rsqrt(1 - x * x))
atan = _unary("atan", "fc", "arctan", lambda x, y: 1 / (1 + x * x))
sinh = _unary("sinh", "fc", "sinh", lambda x, y: B.cosh(x))
cosh = _unary("cosh", "fc", "cosh", lambda x, y: B.sinh(x))
tanh = _unary("tanh", "fc", "tanh", lambda x, y: 1 - y * y)
asinh = _unary("asinh", "fc", "arcsinh", lambda x, y: B.rsqrt(1 + x * x))
acosh = _unary("acosh", "fc", "arccosh", lambda x, y: B.rsqrt(x - 1) * B.rsqrt(x + 1))
atanh = _unary("atanh", "fc", "arctanh", lambda x, y: 1 / (1 - x * x))
erf = _unary("erf", "f", "erf", lambda x, y: TWO_OVER_SQRT_PI * B.exp(-(x * x)))
erfc = _unary("erfc", "f", "erfc", lambda x, y: -TWO_OVER_SQRT_PI * B.exp(-(x * x)))
erfinv = _unary("erfinv", "f", "erfinv", lambda x, y: (1 / TWO_OVER_SQRT_PI) * B.exp(y * y))
lgamma = _unary("lgamma", "f", "lgamma", lambda x, y: B.digamma(x))
digamma = _unary("digamma", "f", "digamma", lambda x, y: B.trigamma(x))
erfcx = _unary("erfcx", "f", "erfcx", lambda x, y: 2 * x * y - TWO_OVER_SQRT_PI)
zeta = _binary("zeta", "f", "zeta", lambda s, q, y: (None, -s * B.zeta(s + 1, q)))
gammainc = _binary("gammainc", "f", "gammainc", lambda a, x, y: (None, _gamma_density(a, x)))
gammaincc = _binary("gammaincc", "f", "gammaincc", lambda a, x, y: (None, -_gamma_density(a, x)))
gamma_slope = _binary("gamma_slope", "f", "gamma_slope")  # how fast a quantile moves with a parameter: (a, x)
beta_slope = _declare("beta_slope", 3, "f", "beta_slope")  # (x, a, b), by a, over 1 - x
sigmoid = _unary("sigmoid", "fc", "sigmoid", lambda x, y: y * (1 - y))
floor = _unary("floor", "f", "floor")
ceil = _unary("ceil", "f", "ceil")
trunc = _unary("trunc", "f", "trunc")
round = _unary("round", "f", "rint")

# -- functions that are not holomorphic ---------------------------------------------------------
abs = _unary("abs", "uifc", "absolute", result=lambda dtype: dtype.to_real())
sign = _unary("sign", "buifc", "sign")
real = _unary("real", "c", "real", result=lambda dtype: dtype.to_real())
imag = _unary("imag", "c", "imag", result=lambda dtype: dtype.to_real())
conj = _unary("conj", "c", "conjugate")
complex = _binary("complex", "f", "join_complex", result=lambda dtype: _complex_of(dtype))


def _complex_of(dtype):
    if dtype not in (float32, float64):
        fail("complex", f"expected float32 or float64 parts, got {dtype}")
    return dtype.to_complex()


@abs.vjp
def _(node, cotangent):
    x = node.inputs[0]
    return [B.mul(cotangent, B.sign(x))]


@abs.jvp
def _(node, tangent):
    return B.real(B.mul(B.conj(B.sign(node.inputs[0])), tangent))


def _sign_derivative(node, direction):
    """The direction's part across x/|x|, over |x|; 0 at 0. It is its own adjoint."""
    x, y = node.inputs[0], node.outputs[0]
    if not x.dtype.is_complex:
        return None
    across = direction - y * B.cast(B.real(direction * B.conj(y)), x.dtype)
    length = B.abs(x)
    zero = B.eq(length, 0)
    return B.where(zero, 0, across / B.where(zero, 1.0, length))


sign.vjp(lambda node, cotangent: [_sign_derivative(node, cotangent)])
sign.jvp(_sign_derivative)
real.vjp(lambda node, cotangent: [B.complex(cotangent, B.zeros_like(cotangent))])
real.jvp(lambda node, tangent: B.real(tangent))
imag.vjp(lambda node, cotangent: [B.complex(B.zeros_like(cotangent), cotangent)])
imag.jvp(lambda node, tangent: B.imag(tangent))
conj.vjp(lambda node, cotangent: [B.conj(cotangent)])
conj.jvp(lambda node, tangent: B.conj(tangent))
complex.vjp(lambda node, cotangent: [B.real(cotangent), B.imag(cotangent)])


@complex.jvp
def _(node, re, im):
    return B.complex(*(B.zeros_like(node.inputs[0]) if t is None else t for t in (re, im)))


# -- choice -----------------------------------------------------------------------------------
@primitive("map")
def where(condition, a, b):
    """a where the condition holds, b elsewhere."""
    if condition.dtype is not bool_ or not condition.shape == a.shape == b.shape or a.dtype is not b.dtype:
        fail("where", f"expected a bool and two operands of equal shapes and dtypes, got {condition}, {a}, {b}")
    return a.shape, a.dtype


where.numpy(lambda condition, a, b: np.where(condition, a, b))
where.batch(lambda node, inputs, dims: B.batch_map(where, node, inputs, dims))


@where.vjp
def _(node, cotangent):
    condition, zero = node.inputs[0], B.zeros_like(cotangent)
    return [None, where(condition, cotangent, zero), where(condition, zero, cotangent)]


@where.jvp
def _(node, _, a, b):
    zero = B.zeros_like(node.outputs[0])
    return where(node.inputs[0], zero if a is None else a, zero if b is None else b)


@primitive("map")
def cast(x, *, dtype):
    """Convert to dtype; a complex number loses its imaginary part, a float its fraction."""
    return x.shape, dtype


cast.numpy(lambda x, *, dtype: M.cast(x, dtype))
cast.batch(lambda node, inputs, dims: B.batch_map(cast, node, inputs, dims))


@cast.vjp
def _(node, cotangent):
    return [_cast_if_differentiable(cotangent, node.inputs[0].dtype)]


@cast.jvp
def _(node, tangent):
    return _cast_if_differentiable(tangent, node.outputs[0].dtype)


def _cast_if_differentiable(direction, dtype):
    return B.cast(direction, dtype) if dtype.kind in "fc" else None
