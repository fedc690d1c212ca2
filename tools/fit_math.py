"""Fit the polynomials of `compiler/math_coefficients.py` and print that file.

    python tools/fit_math.py > src/rushlight/compiler/math_coefficients.py

Each fit is a weighted least-squares fit at Chebyshev nodes in 60 digits, iterated with Lawson's reweighting
towards the minimax solution. The weight is the share that the fitted term has in the final result, so that the error
is small where it matters. Leading coefficients are rounded to the target precision first and the rest refitted, which
lets the later ones absorb the rounding of the earlier ones. Needs mpmath.
"""

from __future__ import annotations

import sys

import numpy as np
from mpmath import mp, mpf

mp.dps = 60
SQRT2 = mp.sqrt(2)


def rounded(value, kind: str) -> mpf:
    return mpf(float(np.float32(float(value)))) if kind == "float" else mpf(float(value))


def nodes(low, high, count: int) -> list:
    middle, radius = (mpf(low) + high) / 2, (mpf(high) - low) / 2
    return [middle + radius * mp.cos(mp.pi * (2 * i + 1) / (2 * count)) for i in range(count)]


def solve(points, values, weights, degree: int, fixed: list) -> list:
    """Weighted least squares for the coefficients after the fixed ones."""
    first = len(fixed)
    size = degree + 1 - first
    rest = [v - mp.polyval(fixed[::-1], x) if fixed else v for x, v in zip(points, values)]
    powers = [[x**k for k in range(2 * degree + 1)] for x in points]
    moments = [sum(w * p[k] for w, p in zip(weights, powers)) for k in range(2 * degree + 1)]
    matrix = mp.matrix(size, size)
    right = mp.matrix(size, 1)
    for i in range(size):
        right[i] = sum(w * p[first + i] * r for w, p, r in zip(weights, powers, rest))
        for j in range(size):
            matrix[i, j] = moments[2 * first + i + j]
    return fixed + list(mp.lu_solve(matrix, right))


def fit(name, function, low, high, degree: int, kind: str, weight=lambda x: mpf(1), keep: int = 4) -> tuple:
    """Coefficients, constant first, of the polynomial nearest to weight * function on [low, high]."""
    points = nodes(low, high, 3 * degree + 12)
    values = [function(x) for x in points]
    base = [weight(x) ** 2 for x in points]
    lawson = [mpf(1)] * len(points)
    for _ in range(12):
        result = solve(points, values, [b * w for b, w in zip(base, lawson)], degree, [])
        errors = [abs(mp.polyval(result[::-1], x) - v) * mp.sqrt(b) for x, v, b in zip(points, values, base)]
        lawson = [w * (e + max(errors) / 100) for w, e in zip(lawson, errors)]
        total = sum(lawson)
        lawson = [w / total for w in lawson]
    weights = [b * w for b, w in zip(base, lawson)]
    fixed: list = []
    for _ in range(min(keep, degree)):
        result = solve(points, values, weights, degree, fixed)
        fixed.append(rounded(result[len(fixed)], kind))
    result = [rounded(c, kind) for c in solve(points, values, weights, degree, fixed)]
    errors = [abs(mp.polyval(result[::-1], x) - v) * weight(x) for x, v in zip(points, values)]
    print(f"{name:18s} {kind:6s} degree {degree:2d}  error 2^{float(mp.log(max(errors), 2)):.1f}", file=sys.stderr)
    return tuple(float(c) for c in result)


def series(function, limit=1e-12):
    """A function of z = x^2 with a removable singularity at 0, evaluated beside it where it cancels."""
    return lambda z: function(z if z > limit else limit)


def odd_tail(function):
    """(f(x) - x) / x^3 as a function of z = x^2."""
    return series(lambda z: (function(mp.sqrt(z)) - mp.sqrt(z)) / (z * mp.sqrt(z)))


def share(function):
    """The share of the tail z * x in f(x)."""
    return series(lambda z: z * mp.sqrt(z) / function(mp.sqrt(z)))


def both(name, function, low, high, degrees, weight=lambda x: mpf(1), keep: int = 4) -> dict:
    kinds = ("float", "double")
    return {k: fit(name, function, low, high, d, k, weight, keep) for k, d in zip(kinds, degrees) if d is not None}


def odd(name, function, limit, degrees, keep: int = 4) -> dict:
    return both(name, odd_tail(function), 0, mpf(limit) ** 2, degrees, share(function), keep)


def near_zero(function, order: int):
    """function(x) / x^order with the value at 0 taken beside it."""
    tiny = mpf("1e-15")
    return lambda x: function(x if abs(x) > tiny else tiny) / (x if abs(x) > tiny else tiny) ** order


def elementary() -> dict:
    half = mp.log(2) / 2 * mpf("1.001")
    low, high = 1 / SQRT2 - 1 - mpf("1e-4"), SQRT2 - 1 + mpf("1e-4")
    quarter = (mp.pi / 4 * mpf("1.0005")) ** 2
    log_tail = near_zero(lambda f: mp.log(1 + f) - f + f * f / 2, 3)
    cos_tail = series(lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2, mpf("1e-9"))
    return {
        "exp": both("exp", near_zero(lambda r: mp.exp(r) - 1 - r, 2), -half, half, (4, 9), lambda r: r * r / mp.exp(r)),
        "expm1": both(
            "expm1", near_zero(lambda r: mp.exp(r) - 1 - r, 2), -half, half, (5, 10), lambda r: abs(r) + mpf("1e-9")
        ),
        "exp2": both(
            "exp2",
            near_zero(lambda r: mp.exp(r * mp.log(2)) - 1, 1),
            -0.5,
            0.5,
            (6, 11),
            lambda r: abs(r) + mpf("1e-9"),
            1,
        ),
        "log": both("log", log_tail, low, high, (7, 18), lambda f: f * f + mpf("1e-9")),
        "sin": both("sin", odd_tail(mp.sin), 0, quarter, (3, 6), share(mp.sin)),
        "cos": both("cos", cos_tail, 0, quarter, (2, 5), lambda z: z * z + mpf("1e-9")),
        "asin": odd("asin", mp.asin, 0.5, (4, 12)),
        "atan": odd("atan", mp.atan, 1, (8, 21)),
        "sinh": odd("sinh", mp.sinh, 1, (3, 6)),
        "tanh": odd("tanh", mp.tanh, 0.625, (4, 10)),
        "asinh": odd("asinh", mp.asinh, 0.5, (4, 11)),
        "atanh": odd("atanh", mp.atanh, 0.5, (5, 12)),
    }


def scaled_erfc(k):
    """e^(x^2) erfc(x) (1 + 2 x) - 1.1875, small everywhere, as a function of t = (x - k) / (x + k)."""

    def function(t):
        x = k * (1 + t) / (1 - t)
        return mp.erfc(x) * mp.exp(x * x) * (1 + 2 * x) - mpf("1.1875")

    return function


def inverse_erf(w):
    """erfinv(x) / x where w = -log(1 - x^2)."""
    x = mp.sqrt(-mp.expm1(-w)) if w > mpf("1e-12") else mpf("1e-6")
    return mp.erfinv(x) / x


def special() -> dict:
    k = mpf("3.75")
    t = lambda x: (mpf(x) - k) / (mpf(x) + k)  # noqa: E731
    root = mp.findroot(mp.digamma, 1.46)
    inverse = lambda w: 1 / mp.sqrt(w)  # noqa: E731

    def stirling(w):
        x = inverse(w)
        return (mp.loggamma(x) - (x - 0.5) * mp.log(x) + x - mp.log(2 * mp.pi) / 2) * x

    def asymptotic(w):
        x = inverse(w)
        return (mp.log(x) - 1 / (2 * x) - mp.digamma(x)) * x * x

    small = near_zero(lambda y: mp.loggamma(2 + y), 1)
    tail = series(lambda z: (mp.atanh(mp.sqrt(z)) * 2 / mp.sqrt(z) - 2 - z * 2 / 3) / z**2, mpf("1e-9"))
    low = mpf("1e-7")
    return {
        "erf": both("erf", series(lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1), 0, 1, (6, 13)),
        "log_erfc": {"float": fit("log_erfc", lambda x: mp.log(mp.erfc(x)), 0.97, 4.1, 8, "float", mp.erfc)},
        "erfc": {
            "float": fit("erfc", scaled_erfc(k), t("0.47"), t(11), 11, "float", keep=2),
            "double": fit("erfc", scaled_erfc(k), t("0.47"), t(28), 24, "double", keep=2),
        },
        "erfcx": {
            "float": fit("erfcx", scaled_erfc(k), -1, 1, 12, "float", keep=2),
            "double": fit("erfcx", scaled_erfc(k), -1, 1, 24, "double", keep=2),
        },
        "erfinv_center": {
            "float": fit("erfinv_center", inverse_erf, 0, 5, 10, "float"),
            "double": fit("erfinv_center", inverse_erf, 0, 5, 24, "double"),
        },
        "erfinv_tail": {
            "float": fit("erfinv_tail", lambda s: inverse_erf((s + 3) ** 2), 5**0.5 - 3, 1.1, 10, "float"),
            "double": fit("erfinv_tail", lambda s: inverse_erf((s + 3.125) ** 2), 5**0.5 - 3.125, 0.875, 24, "double"),
        },
        "erfinv_far": {"double": fit("erfinv_far", lambda s: inverse_erf((s + 5) ** 2), -1, 1.1, 18, "double")},
        "lgamma": {"double": fit("lgamma", small, -0.75, 0.5, 22, "double")},
        "stirling": {"double": fit("stirling", stirling, low, mpf(1) / 64, 7, "double", lambda w: w)},
        "digamma": {
            "double": fit("digamma", lambda y: mp.digamma(y + 1.5) / (y + 1.5 - root), -0.5, 0.5, 21, "double")
        },
        "digamma_tail": {"double": fit("digamma_tail", asymptotic, low, mpf("0.01"), 7, "double", lambda w: w)},
        "log_pair": both("log_pair", tail, 0, mpf("0.02947"), (2, 7), lambda z: z * z + low),
    }


def table() -> dict:
    return elementary() | special()


def main() -> None:
    print('"""Coefficients of the polynomials in `math_*`, constant first; printed by tools/fit_math.py."""\n')
    print("COEFFICIENTS = {")
    for name, kinds in table().items():
        print(f'    "{name}": {{')
        for kind, values in kinds.items():
            print(f'        "{kind}": (')
            for value in values:
                print(f"            {value!r},")
            print("        ),")
        print("    },")
    print("}")


if __name__ == "__main__":
    main()
