"""The math functions' errors over all exponents, and their values where formulas are delicate."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from single_map import apply
from sweep import BINARY, LIMITS, UNARY, UNKNOWN_TO_NUMPY, worst

ULP = Path(__file__).resolve().parents[2] / "benchmarks" / "ulp.py"


@pytest.mark.parametrize("name", UNARY + BINARY)
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=lambda d: d.__name__)
def test_error_is_at_most_two_units(name, dtype):
    slow = name in UNKNOWN_TO_NUMPY
    if slow and (dtype == np.float64 or name in ("erfinv", "digamma")):
        pytest.importorskip("mpmath")
    error, at, got, exact = worst(name, dtype, 1200 if slow else 60_000)
    assert error <= LIMITS.get(name, 2.0), f"{name}{tuple(at)} = {got!r}, not {exact!r}: {error:.2f} ulp"


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_huge_angles_are_reduced_exactly(name):
    x = np.array([2.0**k for k in range(18, 1024, 3)] + [6381956970095103 * 2.0**797, 1e22, -1e22, 1.7e308])
    expected = getattr(np, name)(x.astype(np.longdouble))
    for lanes in (1, 8):
        np.testing.assert_allclose(apply(name, [x], "float64", lanes=lanes), expected.astype(float), rtol=3e-16)
    single = x[x < 3e38].astype(np.float32)
    expected = getattr(np, name)(single.astype(np.longdouble)).astype(np.float32)
    np.testing.assert_allclose(apply(name, [single], "float32"), expected, rtol=2e-7)


def test_lanes_do_not_change_a_result():
    x = np.random.default_rng(0).normal(0, 5, 64).astype(np.float32)
    for name in ("exp", "sin", "tanh", "erf", "lgamma"):
        results = [apply(name, [x], "float32", lanes=lanes) for lanes in (1, 4, 8, 16, 32)]
        for other in results[1:]:
            np.testing.assert_array_equal(other, results[0])


def test_fmod_is_exact_over_all_exponents():
    random = np.random.default_rng(1)
    for bits, dtype in ((np.uint32, np.float32), (np.uint64, np.float64)):
        a, b = (random.integers(0, np.iinfo(bits).max, 3000, bits).view(dtype) for _ in range(2))
        b[:500] = np.abs(b[:500]) * np.finfo(dtype).tiny  # many denormal divisors
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(apply("fmod", [a, b], a.dtype.name, lanes=8), np.fmod(a, b))


CUT_POINTS = [complex(x, y) for x in (-2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0) for y in (-0.0, 0.0, -2.0, 2.0, 0.5)]


@pytest.mark.parametrize("name", ["sqrt", "log", "asin", "acos", "atan", "asinh", "acosh", "atanh"])
def test_branch_cuts(name):
    """Both sides of each cut, told apart by the sign of a zero."""
    z = np.array(CUT_POINTS)
    numpy_name = name.replace("a", "arc", 1) if name[0] == "a" else name
    with np.errstate(all="ignore"):
        expected = getattr(np, numpy_name)(z)
    if name == "atan":
        # NumPy's arctan is nan or inf at +-i in different versions
        keep = ~((z.real == 0) & (np.abs(z.imag) == 1))
        z, expected = z[keep], expected[keep]
    got = apply(name, [z], "complex128", lanes=8)
    np.testing.assert_allclose(got.real, expected.real, rtol=1e-14, atol=1e-16)
    np.testing.assert_allclose(got.imag, expected.imag, rtol=1e-14, atol=1e-16)


def test_complex_division_and_modulus_do_not_overflow():
    big = np.array([1e300 + 1e300j, 1e-300 + 1e-300j, 3e307 - 1e307j, 5e-324 + 5e-324j] * 2)
    np.testing.assert_allclose(apply("div", [big, big], "complex128", lanes=8), np.ones(8), rtol=1e-15)
    np.testing.assert_allclose(apply("abs", [big], "float64", lanes=8), np.abs(big), rtol=1e-15)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(apply("sqrt", [big], "complex128", lanes=8), np.sqrt(big), rtol=1e-15)
        np.testing.assert_allclose(apply("log", [big], "complex128", lanes=8), np.log(big), rtol=1e-15)


def test_atanh_beside_its_poles():
    z = np.array([1 + 1e-200j, -1 + 1e-30j, 1 - 1e-10j, 1 + 1e-320j] * 2)
    np.testing.assert_allclose(apply("atanh", [z], "complex128", lanes=8), np.arctanh(z), rtol=1e-15)


def test_complex_logarithm_keeps_its_digits_near_the_unit_circle():
    angle = np.linspace(0.1, 3, 64)
    z = np.cos(angle) + 1j * np.sin(angle)
    re, im = z.real.astype(np.longdouble), z.imag.astype(np.longdouble)
    exact = np.log1p((re - 1) * (re + 1) + im * im) / 2
    got = apply("log", [z], "complex128", lanes=8).real
    assert np.abs(got - exact).max() < 1e-18  # of values around 1e-17


@pytest.mark.parametrize("level", ["avx2", "sse2"])
def test_lower_instruction_sets(level):
    """The same formulas without AVX-512 and without fused multiply-add."""
    names = ["exp", "log1p", "tanh", "sin", "tan", "pow", "asinh", "atan2"]
    command = [sys.executable, str(ULP), "--points", "5000", *names]
    environment = os.environ | {"RUSHLIGHT_ISA": level}
    table = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100, check=True).stdout
    rows = [line.split() for line in table.splitlines()[1:]]
    assert [row[0] for row in rows] == names
    assert all(float(error) <= 2 for row in rows for error in row[1:3]), table
