"""Complex arithmetic and functions on pairs of registers, with the branch cuts of C99 and NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from . import math
from .math_exponential import exp_tail, log_of_sum, reduce_exponential, scale
from .math_expression import Expr, absolute, clamp, copy_sign, fma, square_root, two_product, two_sum, where
from .math_trigonometric import sin_cos

INFINITY = float("inf")
MANTISSA = {"float": 23, "double": 52}
BIAS = {"float": 127, "double": 1023}
LN2 = 0.6931471805599453

COMPLEX: dict[str, Callable] = {}


class Complex(NamedTuple):
    """A complex number in registers."""

    re: Expr
    im: Expr

    def __add__(self, other: Complex) -> Complex:
        return Complex(self.re + other.re, self.im + other.im)

    def __sub__(self, other: Complex) -> Complex:
        return Complex(self.re - other.re, self.im - other.im)

    def __neg__(self) -> Complex:
        return Complex(-self.re, -self.im)

    def __mul__(self, other: Complex) -> Complex:
        return Complex(
            fma(self.re, other.re, -(self.im * other.im)),
            fma(self.re, other.im, self.im * other.re),
        )

    def times_i(self) -> Complex:
        return Complex(-self.im, self.re)

    def over_i(self) -> Complex:
        return Complex(self.im, -self.re)


def emit(f, name: str, args, exponent=None):
    """Emit a `map` primitive whose operands are complex, given as pairs of values; bool or real results are one."""
    operands = [Complex(Expr(f, a[0]), Expr(f, a[1])) for a in args]
    if name == "pow" and exponent in SMALL_POWERS and not isinstance(exponent, bool):
        result = SMALL_POWERS[exponent](*operands[:1])
    else:
        result = COMPLEX[name](*operands)
    return (result.re.v, result.im.v) if isinstance(result, Complex) else result.v


def rule(name: str):
    """Register the meaning of a primitive on `Complex` operands."""

    def register(function: Callable) -> Callable:
        COMPLEX[name] = function
        return function

    return register


def choose(mask: Expr, a: Complex, b: Complex) -> Complex:
    return Complex(where(mask, a.re, b.re), where(mask, a.im, b.im))


# -- arithmetic -------------------------------------------------------------------------------------
COMPLEX |= {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a: -a,
    "real": lambda a: a.re,
    "imag": lambda a: a.im,
    "conj": lambda a: Complex(a.re, -a.im),
    "eq": lambda a, b: a.re.eq(b.re) & a.im.eq(b.im),
    "ne": lambda a, b: a.re.ne(b.re) | a.im.ne(b.im),
    "isnan": lambda a: a.re.is_nan() | a.im.is_nan(),
    "isfinite": lambda a: (absolute(a.re) < INFINITY) & (absolute(a.im) < INFINITY),
}


@rule("div")
def divide(a: Complex, b: Complex) -> Complex:
    """Smith's division: by the larger part of b first, so that nothing overflows on the way."""
    swap = absolute(b.im) > absolute(b.re)
    large, small = where(swap, b.im, b.re), where(swap, b.re, b.im)
    x, y = where(swap, a.im, a.re), where(swap, a.re, a.im)
    # b = 0 gives a / 0, as for real numbers
    ratio = where(small.eq(0) | absolute(large).eq(INFINITY) & (absolute(small) < INFINITY), small * 0, small / large)
    bottom = fma(small, ratio, large)
    re, im = fma(y, ratio, x) / bottom, fma(x, -ratio, y) / bottom
    return Complex(re, where(swap, -im, im))


@rule("reciprocal")
def reciprocal(a: Complex) -> Complex:
    return divide(Complex(a.re.constant(1), a.re.constant(0)), a)


def exponent_scale(x: Expr) -> tuple[Expr, Expr, Expr]:
    """For a magnitude x: 2^-e and 2^e with x 2^-e near 1, and e as a float; e is limited so that both are normal."""
    width, bias = MANTISSA[x.kind], BIAS[x.kind]
    e = (x.bits() >> width) - bias
    e = where(e > bias - 2, bias - 2, where(e < 2 - bias, 2 - bias, e))
    return ((bias - e) << width).as_float(), ((bias + e) << width).as_float(), e.to_float()


@rule("abs")
def modulus(a: Complex) -> Expr:
    """sqrt(re^2 + im^2), scaled; infinite if a part is, even beside NaN."""
    x, y = absolute(a.re), absolute(a.im)
    largest = where(x > y, x, y)
    down, up, _ = exponent_scale(largest)
    p, q = x * down, y * down
    result = square_root(fma(p, p, q * q)) * up
    return where(x.eq(INFINITY) | y.eq(INFINITY), INFINITY, result)


@rule("sign")
def sign(a: Complex) -> Complex:
    """a / |a|, and 0 at 0."""
    size = modulus(a)
    zero = size.eq(0)
    return Complex(where(zero, 0, a.re / size), where(zero, 0, a.im / size))


# -- exponential and logarithm ----------------------------------------------------------------------
@rule("exp")
def exp(a: Complex) -> Complex:
    """e^x (cos y + i sin y), scaled last, so that a cosine near 0 may rescue an overflow."""
    limit = {"float": (-170.0, 170.0), "double": (-1400.0, 1400.0)}[a.re.kind]
    whole, n, r = reduce_exponential(clamp(a.re, *limit))
    factor = exp_tail(r) + 1
    sine, cosine = sin_cos(a.im)
    re, im = scale(factor * cosine, whole, n), scale(factor * sine, whole, n)
    im = where(a.im.eq(0), a.im, im)
    re = where(a.im.eq(0), scale(factor, whole, n), re)
    # e^-inf is 0 whatever the angle; e^(inf + i inf) is inf + i nan
    vanishes = a.re.eq(-INFINITY) & ~(absolute(a.im) < INFINITY)
    grows = a.re.eq(INFINITY) & ~(absolute(a.im) < INFINITY)
    re = where(vanishes, 0, where(grows, INFINITY, re))
    return Complex(re, where(vanishes, 0, where(a.re.is_nan() & a.im.ne(0), float("nan"), im)))


@rule("exp2")
def exp2(a: Complex) -> Complex:
    return exp(Complex(a.re * LN2, a.im * LN2))


@rule("expm1")
def expm1(a: Complex) -> Complex:
    """Re = expm1(x) cos y - 2 sin(y/2)^2."""
    half = math.call("sin", a.im * 0.5)
    full = exp(a)
    # cos y = 1 - 2 sin(y/2)^2
    re = fma(math.call("expm1", a.re), 1 - half * half * 2, half * half * -2)
    return Complex(where(absolute(a.re) < 40, re, full.re - 1), full.im)


def log_modulus(a: Complex) -> Expr:
    """log |a|: x^2 + y^2 as a pair, so that |a| near 1 loses nothing."""
    x, y = absolute(a.re), absolute(a.im)
    largest = where(x > y, x, y)
    far = (largest > 2.0 ** (BIAS[x.kind] // 2 - 2)) | (largest < 2.0 ** -(BIAS[x.kind] // 4))
    down, _, e = exponent_scale(largest)
    down, e = where(far, down, 1), where(far, e, 0)
    p, p_low = two_product(x * down, x * down)
    q, q_low = two_product(y * down, y * down)
    high, low = two_sum(p, q)
    high, low = two_sum(high, low + (p_low + q_low))
    result = log_of_sum(where(high > 0, high, 1), low, e * 2) * 0.5
    result = where(largest.eq(0), -INFINITY, result)
    return where(x.eq(INFINITY) | y.eq(INFINITY), INFINITY, where(x.is_nan() | y.is_nan(), float("nan"), result))


@rule("log")
def log(a: Complex) -> Complex:
    return Complex(log_modulus(a), math.call("atan2", a.im, a.re))


@rule("log2")
def log2(a: Complex) -> Complex:
    result = log(a)
    return Complex(result.re * (1 / LN2), result.im * (1 / LN2))


@rule("log10")
def log10(a: Complex) -> Complex:
    result = log(a)
    return Complex(result.re * 0.4342944819032518, result.im * 0.4342944819032518)


@rule("log1p")
def log1p(a: Complex) -> Complex:
    """|1 + a|^2 - 1 = x (2 + x) + y^2, used directly near 0."""
    total = a.re + 1
    shifted = Complex(total, a.im)
    near = (absolute(a.re) < 0.5) & (absolute(a.im) < 0.5)
    small = Complex(where(near, a.re, 0), where(near, a.im, 0))
    p, p_low = two_product(small.re, small.re + 2)
    q, q_low = two_product(small.im, small.im)
    high, rest = two_sum(p, q)
    rest = rest + (p_low + q_low)
    one_plus, back = two_sum(high, high.constant(1))
    close = log_of_sum(one_plus, back + rest) * 0.5
    return Complex(where(near, close, log_modulus(shifted)), math.call("atan2", a.im, total))


@rule("pow")
def power(a: Complex, b: Complex) -> Complex:
    """e^(b log a); 0 ** 0 is 1 and 0 ** b is 0 where Re b > 0."""
    result = exp(b * log(a))
    base_zero = a.re.eq(0) & a.im.eq(0)
    result = choose(base_zero & (b.re > 0), Complex(a.re.constant(0), a.re.constant(0)), result)
    return choose(b.re.eq(0) & b.im.eq(0), Complex(a.re.constant(1), a.re.constant(0)), result)


@rule("sigmoid")
def sigmoid(a: Complex) -> Complex:
    e = exp(-a)
    return reciprocal(Complex(e.re + 1, e.im))


# -- roots ------------------------------------------------------------------------------------------
@rule("sqrt")
def sqrt(a: Complex) -> Complex:
    """With t = sqrt((|x| + |a|) / 2): t + i y / (2 t) for x >= 0, and mirrored below."""
    x, y = absolute(a.re), absolute(a.im)
    largest = where(x > y, x, y)
    width, bias = MANTISSA[x.kind], BIAS[x.kind]
    e = ((largest.bits() >> width) - bias) & -2
    e = where(e > bias - 3, bias - 3, where(e < 5 - bias, 5 - bias, e))
    down = ((bias - e) << width).as_float()
    up = ((bias + e.shift_arithmetic(1)) << width).as_float()
    p, q = x * down, y * down
    t = square_root((p + square_root(fma(p, p, q * q))) * 0.5)
    other = where(q.eq(0), 0, q / (t * 2))
    t, other = t * up, other * up
    re = where(a.re < 0, other, t)
    im = where(a.re < 0, t, other)
    infinite = y.eq(INFINITY)
    re = where(infinite, INFINITY, where(x.eq(INFINITY), where(a.re < 0, where(y.is_nan(), y, 0), INFINITY), re))
    im = where(infinite, INFINITY, where(x.eq(INFINITY), where(a.re < 0, INFINITY, where(y.is_nan(), y, 0)), im))
    return Complex(re, copy_sign(im, a.im))


@rule("rsqrt")
def rsqrt(a: Complex) -> Complex:
    return reciprocal(sqrt(a))


# -- hyperbolic and trigonometric ---------------------------------------------------------------------
@rule("sinh")
def sinh(a: Complex) -> Complex:
    sine, cosine = sin_cos(a.im)
    far = exponential_half(a, cosine, sine)
    large = absolute(a.re) > 20
    re = where(large, copy_sign(absolute(far.re), a.re * cosine), math.call("sinh", a.re) * cosine)
    im = where(large, far.im, math.call("cosh", a.re) * sine)
    return Complex(_keep_zero(a.re, re), im)


def _keep_zero(x: Expr, result: Expr) -> Expr:
    """The result, but x where x is a zero: its sign lasts, even beside NaN."""
    return where(x.eq(0), x, result)


def exponential_half(a: Complex, cosine: Expr, sine: Expr) -> Complex:
    """e^|x| / 2 times (cos y, sin y), which sinh and cosh approach for large |x|."""
    limit = {"float": 170.0, "double": 1400.0}[a.re.kind]
    whole, n, r = reduce_exponential(clamp(absolute(a.re), 0.0, limit))
    factor = exp_tail(r) + 1
    return Complex(scale(factor * cosine, whole - 1, n - 1), scale(factor * sine, whole - 1, n - 1))


@rule("cosh")
def cosh(a: Complex) -> Complex:
    sine, cosine = sin_cos(a.im)
    far = exponential_half(a, cosine, sine)
    large = absolute(a.re) > 20
    re = where(large, far.re, math.call("cosh", a.re) * cosine)
    im = where(large, where(a.re < 0, -far.im, far.im), math.call("sinh", a.re) * sine)
    return Complex(re, im)


@rule("tanh")
def tanh(a: Complex) -> Complex:
    """Kahan's: with t = tan y, s = sinh x: (b r s + i t) / (1 + b s^2), b = 1 + t^2, r = sqrt(1 + s^2)."""
    limit = {"float": 9.0, "double": 20.0}[a.re.kind]
    far = absolute(a.re) > limit
    t = math.call("tan", a.im)
    s = math.call("sinh", clamp(a.re, -limit, limit))
    b = fma(t, t, 1)
    bottom = fma(b * s, s, 1)
    # tan is never infinite at a float, but its square may overflow beside a zero s only if s^2 does not count
    re = b * square_root(fma(s, s, 1)) * s / bottom
    near = Complex(re, t / bottom)
    decay = math.call("exp", absolute(a.re) * -2)
    sine, cosine = sin_cos(a.im)
    im = sine * cosine * 4 * decay
    endless, wild = absolute(a.re).eq(INFINITY), ~(absolute(a.im) < INFINITY)
    im = where(endless & wild, 0, im)
    re = where(wild & ~endless, float("nan"), copy_sign(a.re.constant(1), a.re))
    result = choose(far, Complex(re, im), near)
    return Complex(_keep_zero(a.re, result.re), _keep_zero(a.im, result.im))


@rule("sin")
def sin(a: Complex) -> Complex:
    return sinh(a.times_i()).over_i()


@rule("cos")
def cos(a: Complex) -> Complex:
    return cosh(a.times_i())


@rule("tan")
def tan(a: Complex) -> Complex:
    return tanh(a.times_i()).over_i()


# -- inverses, by Kahan's "Branch cuts for complex elementary functions" ------------------------------
def _roots(a: Complex) -> tuple[Complex, Complex]:
    """sqrt(1 - a) and sqrt(1 + a); only the real part moves, which keeps the sign of a zero imaginary part."""
    return sqrt(Complex(1 - a.re, -a.im)), sqrt(Complex(1 + a.re, a.im))


def _far(a: Complex) -> Expr:
    """Where 1 is lost beside a and products of roots would overflow."""
    limit = {"float": 1e8, "double": 1e20}[a.re.kind]
    return (absolute(a.re) > limit) | (absolute(a.im) > limit)


@rule("asin")
def asin(a: Complex) -> Complex:
    minus, plus = _roots(a)
    re = math.call("atan2", a.re, minus.re * plus.re - minus.im * plus.im)
    im = math.call("asinh", minus.re * plus.im - minus.im * plus.re)
    far = _far(a)
    # asin(a) approaches atan2(x, |y|) and log 2|a|
    far_im = copy_sign(log_modulus(a) + LN2, a.im)
    re = where(far, math.call("atan2", a.re, absolute(a.im)), re)
    return Complex(_keep_zero(a.re, re), where(far, far_im, im))


@rule("acos")
def acos(a: Complex) -> Complex:
    minus, plus = _roots(a)
    re = math.call("atan2", minus.re, plus.re) * 2
    im = math.call("asinh", plus.re * minus.im - plus.im * minus.re)
    far = _far(a)
    far_im = -copy_sign(log_modulus(a) + LN2, a.im)
    return Complex(where(far, math.call("atan2", absolute(a.im), a.re), re), where(far, far_im, im))


@rule("asinh")
def asinh(a: Complex) -> Complex:
    return asin(a.times_i()).over_i()


@rule("acosh")
def acosh(a: Complex) -> Complex:
    """i acos(a) or -i acos(a), whichever has a real part that is not negative."""
    angle = acos(a)
    return Complex(absolute(angle.im), copy_sign(angle.re, a.im))


@rule("atanh")
def atanh(a: Complex) -> Complex:
    """log1p(4 |x| / ((1 - |x|)^2 + y^2)) / 4 and atan2(2 y, (1 - |x|)(1 + |x|) - y^2) / 2."""
    x, y = absolute(a.re), absolute(a.im)
    limit = {"float": 1e15, "double": 1e150}[x.kind]
    far = (x > limit) | (y > limit)
    near_x, near_y = where(far, 2, x), where(far, 0, y)
    gap = 1 - near_x
    square = near_y * near_y
    re = math.call("log1p", near_x * 4 / fma(gap, gap, square)) * 0.25
    # beside 1 the square of y would be lost: there it is log(2 / y) / 2
    re = where(gap.eq(0) & (near_y < 1e-15), (LN2 - math.call("log", near_y)) * 0.5, re)
    im = math.call("atan2", near_y * 2, fma(gap, 1 + near_x, -square)) * 0.5
    # beyond: 1 / a for the real part and a right angle for the imaginary one
    re = where(far, absolute(divide(Complex(a.re.constant(1), a.re.constant(0)), a).re), re)
    re = where(x.eq(INFINITY) | y.eq(INFINITY), 0, re)
    im = where(far, 1.5707963267948966, im)
    return Complex(_keep_zero(a.re, copy_sign(re, a.re)), copy_sign(im, a.im))


@rule("atan")
def atan(a: Complex) -> Complex:
    return atanh(a.times_i()).over_i()


SMALL_POWERS = {
    1: lambda a: a,
    2: lambda a: a * a,
    3: lambda a: a * a * a,
    0.5: sqrt,
    -0.5: rsqrt,
    -1: reciprocal,
}
