"""What the maps mean, in NumPy: slow and right.

Functions of floats are computed in float64 (complex128) and rounded once, so that the oracle is
better than any kernel it judges. bfloat16 arrays travel as float32 arrays.
"""

from __future__ import annotations

import math

from .lazy import np


def _wide(function):
    """Compute in the widest type of the same kind, then round to the operand's type."""

    def rule(x):
        wide = "complex128" if x.dtype.kind == "c" else "float64"
        return np.asarray(function(x.astype(wide))).astype(x.dtype)

    return rule


def _numpy(name):
    return _wide(lambda x: getattr(np, name)(x))


def _elementwise(function):
    """A function of Python floats, applied to each element."""
    return _wide(lambda x: np.array([function(v) for v in x.ravel().tolist()], "float64").reshape(x.shape))


exp, exp2, expm1, log, log2, log10, log1p = map(_numpy, ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p"))
sin, cos, tan, arcsin, arccos, arctan = map(_numpy, ("sin", "cos", "tan", "arcsin", "arccos", "arctan"))
sinh, cosh, tanh, arcsinh, arccosh, arctanh = map(_numpy, ("sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh"))
reciprocal = _wide(lambda x: 1 / x)
rsqrt = _wide(lambda x: 1 / np.sqrt(x))
erf, erfc = _elementwise(math.erf), _elementwise(math.erfc)


@_wide
def sigmoid(x):
    if x.dtype.kind == "c":
        return 1 / (1 + np.exp(-x))
    small = np.exp(-np.abs(x))  # never overflows
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small))


def _lgamma(x: float) -> float:
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return math.inf
    return math.lgamma(x)


def _digamma(x: float) -> float:
    """Recurrence up to 10, then the asymptotic series; reflection for negative numbers."""
    if x == 0:
        return -math.copysign(math.inf, x)
    if math.isinf(x):
        return x if x > 0 else math.nan
    if x < 0:
        if x == math.floor(x):
            return math.nan
        fraction = x - round(x)  # small beside a pole, where it decides
        return _digamma(1 - x) - math.pi / math.tan(math.pi * fraction)
    shift = 0.0
    while x < 10:
        shift += 1 / x
        x += 1
    z = 1 / (x * x)
    series = z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z * (1 / 132 - z * (691 / 32760 - z / 12))))))
    return math.log(x) - 0.5 / x - series - shift


def _erfinv(y: float) -> float:
    """Giles' first approximation, then three steps of Halley's method on erfc in the tail, erf elsewhere."""
    if not abs(y) < 1:
        return math.copysign(math.inf, y) if abs(y) == 1 else math.nan
    if y == 0:
        return y
    w = math.log1p(-y * y)
    c = 2 / (math.pi * 0.147) + w / 2
    x = math.copysign(math.sqrt(math.sqrt(c * c - w / 0.147) - c), y)
    for _ in range(3):
        # near 1 the difference of erfs would lose every digit
        error = math.erf(x) - y if abs(y) < 0.5 else math.copysign(1, y) * ((1 - abs(y)) - math.erfc(abs(x)))
        step = error / (2 / math.sqrt(math.pi) * math.exp(-x * x))
        x -= step / (1 + x * step)
    return x


def _erfcx(x: float) -> float:
    """The product where it is exact, a continued fraction for large numbers."""
    if x < 0:
        return 2 * math.exp(x * x) - _erfcx(-x) if x > -26 else math.inf
    if x < 2:
        return math.exp(x * x) * math.erfc(x)
    fraction = x
    for k in range(80, 0, -1):
        fraction = x + 0.5 * k / fraction
    return 1 / (math.sqrt(math.pi) * fraction)


def _zeta(s: float, q: float) -> float:
    """A thousand terms of the sum and the first of Euler and Maclaurin's series for the rest."""
    if math.isnan(s) or math.isnan(q) or s < 1:
        return math.nan
    if s == 1 or (q <= 0 and q == math.floor(q)):
        return math.inf
    if q < 0 and s != math.floor(s):
        return math.nan
    count = 1000 - min(0, math.floor(q))
    total = math.fsum((q + k) ** -s for k in range(count))
    a = q + count
    return total + a ** (1 - s) / (s - 1) + 0.5 * a**-s + s * a ** (-s - 1) / 12


def _gammainc(a: float, x: float) -> float:
    """The series of P(a, x)."""
    if math.isnan(a + x) or a < 0 or x < 0 or (a == 0 and x == 0):
        return math.nan
    if a == 0 or math.isinf(x) or x > a + 60 + 12 * math.sqrt(a):
        return math.nan if math.isinf(a) else 1.0
    if x == 0 or math.isinf(a):
        return 0.0
    term = total = 1 / a
    n = a
    while term > total * 1e-17:
        n += 1
        term *= x / n
        total += term
    return total * math.exp(a * math.log(x) - x - math.lgamma(a))


def _slope(x: float, end: float, density, score) -> float:
    """How fast the quantile x moves: the score integrated from x to an end of the support, over the density at x.

    Places are given by their distance from the end where that is finite. With u = exp(s - exp(-s)) the distance goes
    down as exp(-u), or x grows by u: the trapezoidal rule then converges exponentially.
    """
    total, span = 0.0, abs(end - x)
    for k in range(-300, 400):
        s = k / 64
        u = math.exp(s - math.exp(-s))
        width = u * (1 + math.exp(-s)) / 64
        if math.isinf(end):
            total += score(x + u) * density(x + u) * width
        elif span * math.exp(-u) > 0:
            place = span * math.exp(-u)
            total += score(place) * density(place) * place * width
    return total / density(x if math.isinf(end) else span)


def _gamma_slope(a: float, x: float) -> float:
    if not (a > 0 and x > 0 and a < math.inf and x < math.inf):
        return 0.0 if a > 0 and x == 0 else math.nan
    center = (a - 1) * math.log(x) - x
    parts = (lambda t: math.exp((a - 1) * math.log(t) - t - center)), (lambda t: math.log(t) - _digamma(a))
    return -_slope(x, 0.0, *parts) if x < a else _slope(x, math.inf, *parts)


def _beta_slope(x: float, a: float, b: float) -> float:
    if not (0 < x < 1 and 0 < a < math.inf and 0 < b < math.inf):
        if x == 1 and 0 < a < math.inf and 0 < b < math.inf:
            return (_digamma(a + b) - _digamma(a)) / b
        return math.nan if math.isnan(a) or math.isnan(b) else 0.0
    lower, shift = x < a / (a + b), _digamma(a + b) - _digamma(a)
    center = (a - 1) * math.log(x) + (b - 1) * math.log1p(-x)

    def density(distance):
        near, far = math.log(distance), math.log1p(-distance)
        low, high = (near, far) if lower else (far, near)
        return math.exp((a - 1) * low + (b - 1) * high - center)

    def score(distance):
        return (math.log(distance) if lower else math.log1p(-distance)) + shift

    return (-_slope(x, 0.0, density, score) if lower else _slope(x, 1.0, density, score)) / (1 - x)


def _pairs(function):
    """A function of several Python floats, applied to the elements at each place."""

    def rule(a, *others):
        values = [function(*v) for v in zip(*(x.ravel().tolist() for x in (a, *others)))]
        return np.array(values, "float64").reshape(a.shape).astype(a.dtype)

    return rule


erfcx, zeta, gammainc = _elementwise(_erfcx), _pairs(_zeta), _pairs(_gammainc)
gammaincc = _pairs(lambda a, x: 1 - _gammainc(a, x))
gamma_slope, beta_slope = _pairs(_gamma_slope), _pairs(_beta_slope)
lgamma, digamma, erfinv = _elementwise(_lgamma), _elementwise(_digamma), _elementwise(_erfinv)


def sign(x):
    if x.dtype.kind == "b":
        return x
    if x.dtype.kind == "c":
        length = np.abs(x)
        return np.where(length == 0, 0, x / np.where(length == 0, 1, length)).astype(x.dtype)
    return np.where(np.isnan(x), 0, np.sign(x)).astype(x.dtype) if x.dtype.kind == "f" else np.sign(x)


def absolute(x):
    return np.abs(x)


def trunc_divide(a, b):
    if a.dtype.kind == "f":
        return np.trunc(a / b)
    quotient = np.floor_divide(a, b)
    inexact = (np.remainder(a, b) != 0) & ((a < 0) != (b < 0))
    return (quotient + inexact).astype(a.dtype)


def power(a, b):
    if a.dtype.kind == "i":
        # only 1 and -1 have an integer reciprocal; every other negative power rounds to 0
        negative = np.where(np.abs(a) == 1, a ** (b & 1), 0)
        return np.where(b < 0, negative, a ** np.where(b < 0, 0, b)).astype(a.dtype)
    if a.dtype.kind == "u":
        return np.power(a, b)
    wide = "complex128" if a.dtype.kind == "c" else "float64"
    return np.power(a.astype(wide), b.astype(wide)).astype(a.dtype)


def arctan2(a, b):
    return np.arctan2(a.astype("float64"), b.astype("float64")).astype(a.dtype)


def shift_left(a, b):
    bits = 8 * a.dtype.itemsize
    inside = (b >= 0) & (b < bits)
    return np.where(inside, np.left_shift(a, np.where(inside, b, 0)), 0).astype(a.dtype)


def shift_right(a, b):
    bits = 8 * a.dtype.itemsize
    inside = (b >= 0) & (b < bits)
    gone = np.where(a < 0, -1, 0).astype(a.dtype) if a.dtype.kind == "i" else np.zeros_like(a)
    return np.where(inside, np.right_shift(a, np.where(inside, b, 0)), gone).astype(a.dtype)


def join_complex(re, im):
    result = np.empty(re.shape, "complex64" if re.dtype == "float32" else "complex128")
    result.real, result.imag = re, im
    return result


def cast(x, dtype):
    if x.dtype.kind == "c" and dtype.kind not in "cb":
        x = x.real
    if x.dtype.kind == "f" and dtype.kind in "ui":
        x = np.trunc(np.nan_to_num(x, nan=0.0))
        x = (
            np.where(x >= 2.0**63, x.astype("uint64").astype("int64"), x.astype("int64"))
            if dtype.name == "uint64"
            else x
        )
        x = x.astype("int64")
    return x.astype(dtype.numpy_name or "float32")


def round_to_bfloat16(x):
    """A float32 array whose numbers are rounded to bfloat16, to nearest even."""
    shape = np.shape(x)  # NumPy would give a 0-d array one dimension below
    x = np.ascontiguousarray(x, "float32")
    bits = x.view("uint32")
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype("uint32").view("float32")
    return np.where(np.isnan(x), x, rounded).reshape(shape)
