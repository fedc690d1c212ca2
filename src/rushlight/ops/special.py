"""Special functions: entropy, the normal distribution, gamma and zeta; and the namespace that gathers them all."""

from __future__ import annotations

import math

from ..ir import build as B
from ..ir import dtypes
from .bessel import SPECIAL, i0, prepared, series, special
from .checks import check_kinds
from .declare import FUNCTIONS, OPS, Number, Tensor, add_method, op

SQRT_HALF, SQRT_TWO = math.sqrt(0.5), math.sqrt(2)
SQRT_TWO_OVER_PI = math.sqrt(2 / math.pi)
TAIL_SCALE, TAIL_SHIFT = (
    -17.07973519925409,
    1.3908406224085603,
)  # 1 / (root + 5) over areas from 5e-324 to 0.1, as [-1, 1]


def special_binary(name: str, kernel: str):
    """Declare a function of two numbers, one of which is a tensor."""

    def declare(function):
        def body(input: Number, other: Number):
            from .arithmetic import check_tensor

            check_tensor(name, input, other)
            dtype = B.float_dtype(B.common_dtype(input, other))
            check_kinds(kernel, dtype, "f")
            wide = dtypes.float32 if dtype.itemsize == 2 else dtype
            shape = B.broadcast_shapes(*(x.shape for x in (input, other) if hasattr(x, "shape")))
            input, other = (B.full(shape, x, wide) for x in (input, other))
            return B.cast(function(input, other), dtype)

        body.__name__, body.__doc__ = "special_" + name, function.__doc__
        SPECIAL[name] = made = op(body, out=True, public=False)
        return made

    return declare


# -- entropy and products with logarithms -------------------------------------------------------------
@special
def entr(x):
    """-x log(x); 0 at 0, -infinity below."""
    positive = B.gt(x, 0)
    value = -x * B.log(B.where(positive, x, 1.0))
    return B.where(B.isnan(x), x, B.where(positive, value, B.where(B.eq(x, 0), 0, -math.inf)))


@entr.vjp
def _(cotangents, outputs, input):
    return cotangents[0] * (-B.log(input) - 1)


@special_binary("xlog1py", "xlog1py_cpu")
def xlog1py(x, y):
    """x log(1 + y), 0 where x is 0."""
    zero = B.logical_and(B.eq(x, 0), B.logical_or(B.le(y, -1), B.eq(y, math.inf)))
    return B.where(zero, 0, x * B.log1p(B.where(zero, 0, y)))


@special_binary("zeta", "zeta")
def zeta(x, q):
    """Hurwitz's zeta function, the sum of (k + q) ** -x over k >= 0."""
    return B.zeta(x, q)


@zeta.vjp
def _(cotangents, outputs, input, other):
    """The derivative by `input` has no simple form: None, as if it were not there."""
    return None, cotangents[0] * -input * B.zeta(input + 1, other)


# -- the normal distribution ------------------------------------------------------------------------
@special
def erfcx(x):
    """exp(x ** 2) erfc(x), without overflow for large x."""
    return B.erfcx(x)


@special
def ndtr(x):
    """The area under the standard normal density up to x."""
    return 0.5 * B.erfc(x * -SQRT_HALF)


@special
def log_ndtr(x):
    """log(ndtr(x)), accurate for large negative x."""
    below = B.lt(x, -1)
    low, high = B.where(below, x, -1.0), B.where(below, -1.0, x)
    return B.where(
        below,
        B.log(B.erfcx(low * -SQRT_HALF) * 0.5) - low * low * 0.5,
        B.log1p(B.erfc(high * SQRT_HALF) * -0.5),
    )


@log_ndtr.vjp
def _(cotangents, outputs, input):
    below = B.lt(input, -1)  # above, erfcx overflows
    low, high = B.where(below, input, -1.0), B.where(below, -1.0, B.minimum(input, 40.0))
    density = B.where(below, 1 / B.erfcx(low * -SQRT_HALF), B.exp(high * high * -0.5) / B.erfc(high * -SQRT_HALF))
    return cotangents[0] * SQRT_TWO_OVER_PI * density


@special
def ndtri(p):
    """The inverse of ndtr: where the area reaches p."""
    middle = p - 0.5
    centre = middle * series("ndtri_center", B.minimum(middle * middle, 0.1601) * (2 / 0.1601) - 1)
    # beyond, nearly the root of -2 log of the smaller area: their quotient is a series in 1 / (root + 5)
    area = B.minimum(p, 1 - p)
    inside = B.logical_and(B.gt(area, 0), B.lt(area, 0.1))
    root = B.sqrt(-2 * B.log(B.where(inside, area, 0.05)))
    tail = root * series("ndtri_tail", TAIL_SCALE / (root + 5) + TAIL_SHIFT)
    found = B.where(inside, B.where(B.lt(middle, 0), -tail, tail), centre)
    outside = B.where(B.eq(p, 0), -math.inf, B.where(B.eq(p, 1), math.inf, math.nan))
    return B.where(B.le(area, 0), outside, found)


@ndtri.vjp
def _(cotangents, outputs, input):
    return cotangents[0] * math.sqrt(2 * math.pi) * B.exp(outputs[0] * outputs[0] * 0.5)


# -- gamma ------------------------------------------------------------------------------------------
@op(public=False, inplace=True, out=True)
def polygamma_of(input, n: int):
    """The n-th derivative of digamma."""
    x, dtype = prepared(input, "polygamma")
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if n == 0:
        found = B.digamma(x)
    elif n == 1:
        found = B.trigamma(x)
    else:
        found = B.zeta(float(n + 1), x) * ((-1.0) ** (n + 1) * (math.gamma(n + 1) if n <= 170 else math.inf))
    return B.cast(found, dtype)


@polygamma_of.vjp
def _(cotangents, outputs, input, n):
    return cotangents[0] * polygamma_of(input, n + 1)


def polygamma(n, input, *, out=None):
    """The n-th derivative of digamma; n is an integer that is not negative."""
    return polygamma_of(input, n) if out is None else polygamma_of(input, n, out=out)


add_method("polygamma", lambda input, n: polygamma_of(input, n))
add_method("polygamma_", lambda input, n: polygamma_of.in_place(input, n))


def _incomplete(name: str, function, doc: str):
    def body(input, other: Tensor):
        dtype = B.common_dtype(input, other)
        check_kinds(name + "_cpu", dtype, "f")
        return function(input, other)

    body.__name__, body.__doc__ = name, doc
    made = op(body, method=True, inplace=True, out=True)

    @made.vjp
    def _(cotangents, outputs, input, other):
        """x ** (a - 1) exp(-x) / gamma(a) by x; the derivative by a has no simple form: None."""
        input, other = (B.cast(x, outputs[0].dtype) for x in (input, other))
        density = B.exp((input - 1) * B.log(other) - other - B.lgamma(input))
        return None, cotangents[0] * (density if function is B.gammainc else -density)

    return made


igamma = _incomplete("igamma", B.gammainc, "The regularised lower incomplete gamma function P(input, other).")
igammac = _incomplete("igammac", B.gammaincc, "The regularised upper incomplete gamma function Q(input, other).")

# -- names elsewhere --------------------------------------------------------------------------------
FUNCTIONS["polygamma"] = SPECIAL["polygamma"] = polygamma

for _name, _ours in {
    "digamma": "digamma",
    "erf": "erf",
    "erfc": "erfc",
    "erfinv": "erfinv",
    "exp2": "exp2",
    "expit": "sigmoid",
    "expm1": "expm1",
    "gammainc": "igamma",
    "gammaincc": "igammac",
    "gammaln": "lgamma",
    "log1p": "log1p",
    "log_softmax": "log_softmax",
    "logit": "logit",
    "logsumexp": "logsumexp",
    "multigammaln": "mvlgamma",
    "psi": "digamma",
    "round": "round",
    "sinc": "sinc",
    "softmax": "softmax",
    "xlogy": "xlogy",
}.items():
    SPECIAL[_name] = OPS[_ours]
SPECIAL["modified_bessel_i0"], SPECIAL["modified_bessel_i1"] = i0, SPECIAL["i1"]
