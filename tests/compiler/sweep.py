"""Errors of the math functions in units in the last place, over bit patterns of all exponents."""

from __future__ import annotations

import math

import numpy as np
from single_map import apply

LIMITS = {"lgamma": 4.0, "digamma": 4.0}
UNARY = [
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sqrt",
    "rsqrt",
    "reciprocal",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "lgamma",
    "digamma",
    "sigmoid",
]
BINARY = ["pow", "atan2"]
# functions without a NumPy meaning are compared with mpmath (double) or Python's math (float)
UNKNOWN_TO_NUMPY = {"erf", "erfc", "erfcx", "erfinv", "lgamma", "digamma"}


def samples(dtype, count: int, seed: int = 0) -> np.ndarray:
    """Random bit patterns, then even grids and values around 1, and special values."""
    random = np.random.default_rng(seed)
    unsigned = np.uint32 if dtype == np.float32 else np.uint64
    patterns = random.integers(0, np.iinfo(unsigned).max, count // 2, unsigned, endpoint=True).view(dtype)
    grids = [np.linspace(-low, low, count // 12) for low in (1, 3, 10, 100, 1000)]
    near_one = 1 + np.concatenate([np.geomspace(1e-16, 1, count // 24), -np.geomspace(1e-16, 1, count // 24)])
    tiny = np.finfo(dtype).tiny
    special = [0.0, -0.0, 1, -1, 2, -2, 0.5, -0.5, np.inf, -np.inf, np.nan, tiny, -tiny, tiny / 4, np.finfo(dtype).max]
    with np.errstate(all="ignore"):
        return np.concatenate([patterns, *grids, near_one, special]).astype(dtype)


def reference(name: str, arrays) -> np.ndarray:
    """The exact result in a wider type: float64 for float32, long double (or mpmath) for float64."""
    single = arrays[0].dtype == np.float32
    with np.errstate(all="ignore"):
        wide = [a.astype(np.float64 if single else np.longdouble) for a in arrays]
        if name in UNKNOWN_TO_NUMPY:
            return _by_elements(name, arrays[0])
        if name in BINARY:
            # float_power's double is not accurate enough beyond 2^-53, long double is
            function = np.power if name == "pow" else np.arctan2
            return function(*(a.astype(np.longdouble) for a in arrays))
        return _numpy_function(name)(wide[0])


def _numpy_function(name: str):
    own = {
        "rsqrt": lambda x: 1 / np.sqrt(x),
        "reciprocal": lambda x: 1 / x,
        "sigmoid": lambda x: np.where(x < 0, np.exp(x), 1) / (1 + np.exp(-np.abs(x))),
    }
    arcs = {n: getattr(np, n.replace("a", "arc", 1)) for n in ("asin", "acos", "atan", "asinh", "acosh", "atanh")}
    return (own | arcs).get(name) or getattr(np, name)


def _by_elements(name: str, x: np.ndarray) -> np.ndarray:
    plain = {"erf": math.erf, "erfc": math.erfc, "lgamma": math.lgamma}
    if x.dtype == np.float32 and name in plain:
        return np.array([_poles(name, plain[name], float(v)) for v in x])
    import mpmath

    # float32 needs fewer digits, which is faster
    mpmath.mp.prec = 80 if x.dtype == np.float32 else 140
    functions = {
        "erf": mpmath.erf,
        "erfc": mpmath.erfc,
        "erfcx": lambda v: _scaled_erfc(mpmath.mpf(v)),
        "erfinv": mpmath.erfinv,
        "lgamma": lambda v: mpmath.re(mpmath.loggamma(v)),
        "digamma": mpmath.digamma,
    }
    return np.array([_wide(_poles(name, functions[name], v)) for v in x.astype(np.float64).tolist()])


def _scaled_erfc(v):
    """exp(v^2) erfc(v), by its asymptotic series where the factors leave all ranges."""
    import mpmath

    if v < -40:
        return math.inf
    if v > 1e4:
        return (1 - 1 / (2 * v * v)) / (v * mpmath.sqrt(mpmath.pi)) if v != math.inf else 0.0
    return mpmath.exp(v * v) * mpmath.erfc(v)


def _poles(name: str, function, v: float):
    """The function with the values that PyTorch has at poles, at infinity and out of its domain."""
    if v != v:
        return v
    if name == "lgamma" and (math.isinf(v) or (v <= 0 and v == math.floor(v))):
        return math.inf
    if name == "digamma":
        if v == 0:
            return math.copysign(math.inf, -v)
        if math.isinf(v) or (v < 0 and v == math.floor(v)):
            return v if v == math.inf else math.nan
    if name == "erfinv" and abs(v) >= 1:
        return math.copysign(math.inf, v) if abs(v) == 1 else math.nan
    if name == "erfc" and v > 30:
        return 0.0
    try:
        return function(v)
    except OverflowError:
        return math.inf


def _wide(v) -> np.longdouble:
    """An mpmath number as a long double, through a sum of two doubles."""
    high = float(v)
    return np.longdouble(high) + (np.longdouble(float(v - high)) if math.isfinite(high) else 0)


def errors(got: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """|got - exact| in units in the last place of the result's type; infinite where only one is NaN or infinite."""
    info = np.finfo(got.dtype)
    with np.errstate(all="ignore"):
        rounded = exact.astype(got.dtype)
        magnitude = np.maximum(np.abs(exact.astype(np.longdouble)), np.longdouble(info.tiny))
        magnitude = np.where(np.isfinite(magnitude), magnitude, 1)
        unit = np.ldexp(np.longdouble(1), np.frexp(magnitude)[1] - 1 - info.nmant)
        distance = np.abs(got.astype(np.longdouble) - exact) / unit
        same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
        # the largest finite number beside an overflow is one unit away
        edge = np.isinf(got) ^ np.isinf(rounded)
        near = edge & (np.abs(np.where(np.isinf(got), rounded, got)) >= info.max * (1 - 2 * info.eps))
        distance = np.where(near, 1.0, distance)
        return np.where(same & ~np.isfinite(got), 0.0, np.where(np.isnan(distance), np.inf, distance)).astype(float)


def operands(name: str, dtype, count: int) -> list[np.ndarray]:
    if name not in BINARY:
        return [samples(dtype, count)]
    first, second = samples(dtype, count, 1), samples(dtype, count, 2)
    random = np.random.default_rng(3)
    if name == "pow":
        # exponents that bring the result into range, for half of the points
        with np.errstate(all="ignore"):
            fitted = random.uniform(-1, 1, len(first)) * np.log(np.finfo(dtype).max) / np.abs(np.log(np.abs(first)))
            second = np.where(random.random(len(first)) < 0.6, np.nan_to_num(fitted, nan=2.0), second).astype(dtype)
        return [np.where(random.random(len(first)) < 0.7, np.abs(first), first), second]
    return [first, random.permutation(second)]


def worst(name: str, dtype, count: int, lanes: int = 16):
    """(largest error, operands there, result) of a function over `count` points."""
    arrays = operands(name, dtype, count)
    got = apply(name, arrays, np.dtype(dtype).name, lanes=lanes)
    exact = reference(name, arrays)
    distance = errors(got, exact)
    if name in ("lgamma", "digamma"):
        distance = _near_zeros(distance, arrays[0], got, exact)
    i = int(np.argmax(distance))
    return float(distance[i]), [a[i] for a in arrays], got[i], exact[i]


def _near_zeros(distance, x, got, exact):
    """Below 0 these functions are differences that cancel at zeros between floats: there the terms set the unit."""
    with np.errstate(all="ignore"):
        term = np.maximum(np.abs(exact), 1 + np.log1p(np.abs(x)))
        relative = np.abs(got.astype(np.longdouble) - exact) / (term * np.finfo(got.dtype).eps)
    return np.where((x < 0) & np.isfinite(relative), np.minimum(distance, relative.astype(float)), distance)
