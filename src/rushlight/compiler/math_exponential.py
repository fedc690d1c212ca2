"""Exponentials, logarithms, powers and roots."""

from __future__ import annotations

from .math_coefficients import COEFFICIENTS
from .math_expression import (
    Expr,
    absolute,
    clamp,
    fma,
    polynomial,
    square_root,
    two_product,
    two_sum,
    where,
)
from .target import host

# n * LN2_HIGH is exact for every exponent n; high + low is ln 2 to twice the precision
LN2 = {
    "float": (0.693145751953125, 1.428606765330187e-06),
    "double": (0.693147180559663, 2.8235290563031577e-13),
}
LOG10_2 = {
    "float": (0.301025390625, 4.605039066518657e-06),
    "double": (0.30102999566383914, 1.42050232272661e-13),
}
# 1 / ln 2 and 1 / ln 10, in two parts for accuracy
LOG2_E = {
    "float": (1.4426950216293335, 1.925963033500011e-08),
    "double": (1.4426950408889634, 2.0355273740931033e-17),
}
LOG10_E = {
    "float": (0.4342944920063019, -1.0103049952192578e-08),
    "double": (0.4342944819032518, 1.098319650216765e-17),
}
MANTISSA = {"float": 23, "double": 52}
BIAS = {"float": 127, "double": 1023}
INFINITY = float("inf")


def round_to_integer(x: Expr) -> tuple[Expr, Expr]:
    """The nearest whole number to a small x, as a float and as an integer of the same width.

    Adding 1.5 * 2^mantissa leaves the integer in the low bits of the sum.
    """
    magic = 1.5 * 2.0 ** MANTISSA[x.kind]
    shifted = x.exact("fadd", x.constant(magic))
    return shifted.exact("fsub", shifted.constant(magic)), shifted.bits() - shifted.constant(magic).bits()


def power_of_two(n: Expr, kind: str) -> Expr:
    """2^n for integers n whose result is a normal number."""
    return ((n + BIAS[kind]) << MANTISSA[kind]).as_float()


def scale(x: Expr, whole: Expr, n: Expr) -> Expr:
    """x * 2^n for any n, given as a float and as an integer; overflow and denormals come out right."""
    if host().vector_bytes == 64 and 512 % (x.lanes * (32 if x.kind == "float" else 64)) == 0:
        scaled = _scale_instruction(x, whole)
        if scaled is not None:
            return scaled
    half = n.shift_arithmetic(1)
    return x * power_of_two(half, x.kind) * power_of_two(n - half, x.kind)


def _scale_instruction(x: Expr, whole: Expr) -> Expr | None:
    """AVX-512's scalef, on full registers."""
    suffix = {("float", 16): "ps.512", ("double", 8): "pd.512"}.get((x.kind, x.lanes))
    if suffix is None:
        return None
    f = x.f
    mask = f.const(-1, f"i{x.lanes}")
    rounding = f.const(4, "i32")  # the current mode
    name = f"llvm.x86.avx512.mask.scalef.{suffix}"
    return Expr(f, f.call(name, x.type, x.v, whole.v, f.const(0, x.type), mask, rounding))


def reduce_exponential(x: Expr) -> tuple[Expr, Expr, Expr]:
    """n = round(x / ln 2) as float and integer, and r = x - n ln 2."""
    whole, n = round_to_integer(x * LOG2_E[x.kind][0])
    high, low = LN2[x.kind]
    return whole, n, fma(whole, -low, fma(whole, -high, x))


def exp_tail(r: Expr) -> Expr:
    """e^r - 1 for |r| <= ln 2 / 2."""
    return fma(r * r, polynomial(r, COEFFICIENTS["exp"][r.kind]), r)


def exp(x: Expr) -> Expr:
    limit = {"float": (-104.0, 89.0), "double": (-746.0, 710.0)}[x.kind]
    whole, n, r = reduce_exponential(clamp(x, *limit))
    return scale(exp_tail(r) + 1, whole, n)


def exp2(x: Expr) -> Expr:
    limit = {"float": (-151.0, 129.0), "double": (-1076.0, 1025.0)}[x.kind]
    x = clamp(x, *limit)
    whole, n = round_to_integer(x)
    r = x - whole
    return scale(fma(r, polynomial(r, COEFFICIENTS["exp2"][x.kind]), 1), whole, n)


def expm1(x: Expr) -> Expr:
    limit = {"float": (-30.0, 89.0), "double": (-60.0, 710.0)}[x.kind]
    clamped = clamp(x, *limit)
    _, n, r = reduce_exponential(clamped)
    # half of 2^n, since 2^n itself overflows just below the largest finite result
    half = power_of_two(n - 1, x.kind)
    tail = r * r * polynomial(r, COEFFICIENTS["expm1"][x.kind])
    total, rest = two_sum(half - 0.5, half * r)
    result = (total + fma(half, tail, rest)) * 2
    return where(x.eq(0), x, result)


def exp_pair(high: Expr, low: Expr, factor: tuple[Expr, Expr] | None = None) -> Expr:
    """e^(high + low), times a factor (a pair) of moderate size; |high| at most 1400 (double) or 170 (float)."""
    whole, n, r = reduce_exponential(high)
    tail = exp_tail(r)
    tail = fma(low, 1 + tail, tail)
    result = tail + 1 if factor is None else factor[0] + fma(factor[0], tail, factor[1])
    return scale(result, whole, n)


def sigmoid(x: Expr) -> Expr:
    """1 / (1 + e^-x), with e^-x = s + s t: of 1 and s the larger is added last."""
    limit = {"float": (-104.0, 60.0), "double": (-746.0, 60.0)}[x.kind]
    _, n, r = reduce_exponential(-clamp(x, *limit))
    # scaled by 2^-k so that the sum stays finite where the result is denormal
    k = {"float": 32, "double": 128}[x.kind]
    s = power_of_two(n - k, x.kind)
    one = 2.0**-k
    return one / (fma(s, exp_tail(r), where(s < one, s, one)) + where(s > one, s, one))


def log_parts(x: Expr) -> tuple[Expr, Expr]:
    """x = 2^e m with m in [sqrt 1/2, sqrt 2): returns e as a float and m. x is positive and finite."""
    kind, width = x.kind, MANTISSA[x.kind]
    tiny = x < 2.0 ** (1 - BIAS[kind])
    x = where(tiny, x * 2.0 ** (width + 2), x)
    bits = x.bits()
    # counted from sqrt 1/2, so that the exponent field already says on which side of sqrt 2 the mantissa lies
    start = {"float": 0x3F3504F3, "double": 0x3FE6A09E667F3BCD}[kind]
    offset = bits - start
    e = offset.shift_arithmetic(width)
    m = ((offset & ((1 << width) - 1)) + start).as_float()
    e = e.to_float()
    return where(tiny, e - (width + 2), e), m


def log_tail(f: Expr) -> Expr:
    """log(1 + f) - f for 1 + f in [sqrt 1/2, sqrt 2)."""
    square = f * f
    return fma(square * f, polynomial(f, COEFFICIENTS["log"][f.kind]), square * -0.5)


def log_special(x: Expr, result: Expr) -> Expr:
    """What a logarithm yields at 0, infinity, NaN and below 0."""
    result = where(x < INFINITY, result, x)
    result = where(x.eq(0), -INFINITY, result)
    return where(x < 0, float("nan"), result)


def log(x: Expr) -> Expr:
    e, m = log_parts(x)
    f = m - 1
    high, low = LN2[x.kind]
    return log_special(x, fma(e, high, f + fma(e, low, log_tail(f))))


def _log_in_base(x: Expr, e_factor: tuple | None, factor: tuple) -> Expr:
    """log(x) times a factor given in two parts; `e_factor` is log 2 in that base."""
    e, m = log_parts(x)
    f = m - 1
    tail = fma(f, factor[1], log_tail(f) * factor[0])
    if e_factor is None:
        return log_special(x, e + fma(f, factor[0], tail))
    return log_special(x, fma(e, e_factor[0], fma(f, factor[0], fma(e, e_factor[1], tail))))


def log2(x: Expr) -> Expr:
    return _log_in_base(x, None, LOG2_E[x.kind])


def log10(x: Expr) -> Expr:
    return _log_in_base(x, LOG10_2[x.kind], LOG10_E[x.kind])


def log_of_sum(high: Expr, low: Expr, extra: Expr | int = 0) -> Expr:
    """log(high + low) + extra ln 2, for normal high > 0 and |low| far below it; accurate near 1."""
    kind = high.kind
    e, m = log_parts(high)
    # a power of two beyond the exponent range only meets a negligible `low`
    limit = float(BIAS[kind] - 1)
    shift = where(e > limit, limit, e).to_integer()
    f = (m - 1) + low * power_of_two(0 - shift, kind)
    e = e + extra
    ln2 = LN2[kind]
    return fma(e, ln2[0], f + fma(e, ln2[1], log_tail(f)))


def log1p(x: Expr) -> Expr:
    high, low = two_sum(x.constant(1), x)
    result = log_of_sum(high, low)
    result = where(x < INFINITY, result, x)
    result = where(x.eq(-1), -INFINITY, result)
    result = where(x < -1, float("nan"), result)
    return where(x.eq(0), x, result)


def rsqrt(x: Expr) -> Expr:
    return 1 / square_root(x)


def reciprocal(x: Expr) -> Expr:
    return 1 / x


def log_pair(x: Expr) -> tuple[Expr, Expr]:
    """log of a positive finite x as a pair hi + lo, to about 2^-64 for double and 2^-34 for float."""
    kind = x.kind
    e, m = log_parts(x)
    f = m - 1
    # s = f / (2 + f) as a pair; log(1 + f) = 2 s + 2 s^3 / 3 + s^5 P(s^2)
    bottom, bottom_low = two_sum(f, f.constant(2))
    s = f / bottom
    product, error = two_product(s, bottom)
    s_low = ((f - product) - error - s * bottom_low) / bottom
    square, square_low = two_product(s, s)
    square_low = fma(s, s_low * 2, square_low)
    third = {
        "float": (0.6666666865348816, -1.9868215517249155e-08),
        "double": (0.6666666666666666, 3.700743415417188e-17),
    }
    tail = polynomial(square, COEFFICIENTS["log_pair"][kind])
    factor, factor_low = two_sum(s.constant(third[kind][0]), square * tail)
    factor_low = factor_low + third[kind][1]
    cube, cube_low = two_product(square, s)
    cube_low = fma(square, s_low, fma(square_low, s, cube_low))
    term, term_low = two_product(cube, factor)
    term_low = fma(cube, factor_low, fma(cube_low, factor, term_low))
    ln2 = LN2[kind]
    high, low = two_sum(e * ln2[0], s * 2)
    high, low_2 = two_sum(high, term)
    return two_sum(high, low + low_2 + (fma(s_low, 2, term_low) + e * ln2[1]))


def pow(x: Expr, y: Expr) -> Expr:
    """x ** y as C99 defines it: |x| ** |y| from a logarithm in twice the precision."""
    kind = x.kind
    base = absolute(x)
    high, low = log_pair(where(base.eq(0) | (base >= INFINITY) | x.is_nan(), 1, base))
    limit = {"float": 1e4, "double": 1e6}[kind]
    bounded = clamp(y, -(2.0**100), 2.0**100)
    product, error = two_product(bounded, high)
    error = fma(bounded, low, error)
    inside = absolute(product) < limit
    product = clamp(product, *{"float": (-170.0, 170.0), "double": (-1400.0, 1400.0)}[kind])
    error = where(inside, error, 0)
    return _pow_special(x, y, base, exp_pair(product, error))


def _pow_special(x: Expr, y: Expr, base: Expr, result: Expr) -> Expr:
    whole = y.intrinsic("llvm.floor").eq(y)
    half = y * 0.5
    odd = whole & half.intrinsic("llvm.floor").ne(half) & (absolute(y) < INFINITY)
    rising = y > 0
    result = where(base.eq(0), where(rising, base.constant(0), INFINITY), result)
    result = where(base.eq(INFINITY), where(rising, base.constant(INFINITY), 0), result)
    grows = (base > 1) ^ (y < 0)
    at_infinity = where(grows, base.constant(INFINITY), 0)
    result = where(absolute(y).eq(INFINITY), where(base.eq(1), 1, at_infinity), result)
    negative = x.bits() < 0
    result = where(negative & odd, -result, result)
    undefined = (x < 0) & (base < INFINITY) & ~whole
    result = where(undefined | x.is_nan() | y.is_nan(), float("nan"), result)
    return where(y.eq(0) | x.eq(1), 1, result)


EXPONENTIAL = {
    "exp": exp,
    "exp2": exp2,
    "expm1": expm1,
    "log": log,
    "log2": log2,
    "log10": log10,
    "log1p": log1p,
    "sigmoid": sigmoid,
    "sqrt": square_root,
    "rsqrt": rsqrt,
    "reciprocal": reciprocal,
    "pow": pow,
}
