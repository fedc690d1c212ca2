"""Transform templates against NumPy: every way that lines are transformed, and every radix."""

import numpy as np
import pytest
from template_harness import bind, rebind

from rushlight.compiler.fft_plan import convolution_length, halves, is_smooth, radices
from rushlight.compiler.fft_table import table

RANDOM = np.random.default_rng(3)
EPSILON = {"complex64": 1.2e-7, "complex128": 2.3e-16}
# every radix, two and three passes, vectors along lines, and lines seen as matrices
LENGTHS = [1, 2, 3, 4, 5, 7, 8, 10, 12, 22, 34, 62, 100, 128, 256, 768, 1000, 2048]


def complex_numbers(*shape, dtype="complex64"):
    return (RANDOM.standard_normal(shape) + 1j * RANDOM.standard_normal(shape)).astype(dtype)


def real_numbers(*shape, dtype="float32"):
    return RANDOM.standard_normal(shape).astype(dtype)


def near(found, expected):
    """Within a few roundings of each pass, relative to the size of the whole."""
    epsilon = EPSILON.get(str(found.dtype), EPSILON["complex64" if found.dtype == "float32" else "complex128"])
    assert np.abs(found - expected).max() <= 6 * epsilon * np.abs(expected).max()


def fft(x, dim, inverse=False, scale=1.0, **keywords):
    attrs = {"dim": dim, "inverse": inverse, "scale": scale}
    bound = bind("fft", [x], [(x.shape, str(x.dtype))], attrs, fixed=(x.shape[dim],), **keywords)
    bound.run(3)
    wide = x.astype("complex128")
    expected = np.fft.ifft(wide, axis=dim, norm="forward") if inverse else np.fft.fft(wide, axis=dim)
    near(bound.outputs[0], expected * scale)


def rfft(x, dim, scale=1.0, **keywords):
    n = x.shape[dim]
    shape = tuple(n // 2 + 1 if d == dim else size for d, size in enumerate(x.shape))
    dtype = "complex64" if x.dtype == "float32" else "complex128"
    fixed = (n, n // 2 + 1)
    bound = bind("rfft", [x], [(shape, dtype)], {"dim": dim, "scale": scale}, fixed=fixed, **keywords)
    bound.run(3)
    near(bound.outputs[0], np.fft.rfft(x.astype("float64"), axis=dim) * scale)


def irfft(x, dim, n, scale=1.0, **keywords):
    shape = tuple(n if d == dim else size for d, size in enumerate(x.shape))
    dtype = "float32" if x.dtype == "complex64" else "float64"
    fixed = (n, n // 2 + 1)
    bound = bind("irfft", [x], [(shape, dtype)], {"dim": dim, "n": n, "scale": scale}, fixed=fixed, **keywords)
    bound.run(3)
    near(bound.outputs[0], np.fft.irfft(x.astype("complex128"), n, dim, norm="forward") * scale)


@pytest.mark.parametrize("n", LENGTHS)
def test_complex(n):
    fft(complex_numbers(3, n), 1)  # fewer lines than lanes
    fft(complex_numbers(37, n), 1, inverse=True, scale=0.5)
    fft(complex_numbers(n, 37), 0)  # neighbours as lanes, and a tile that reaches back
    fft(complex_numbers(2, n, 19), 1, orders=[(0, 2, 1)])  # neighbours are read, lines written
    fft(complex_numbers(2, 19, n)[:, :, ::-1][:, ::2], 2)  # backwards


@pytest.mark.parametrize("n", LENGTHS[1::3])
def test_double_precision(n):
    fft(complex_numbers(5, n, dtype="complex128"), 1)
    fft(complex_numbers(n, 11, dtype="complex128"), 0, inverse=True, scale=2.0)


@pytest.mark.parametrize("n", [n for n in LENGTHS if n % 2 == 0])
def test_real(n):
    h = n // 2 + 1
    rfft(real_numbers(37, n), 1)
    rfft(real_numbers(n, 37), 0, 0.5)
    rfft(real_numbers(n, 3), 0)
    irfft(complex_numbers(37, h), 1, n)
    irfft(complex_numbers(h, 37), 0, n, 0.5)
    irfft(complex_numbers(h, 3), 0, n)
    rfft(real_numbers(5, n, dtype="float64"), 1)
    irfft(complex_numbers(5, h, dtype="complex128"), 1, n)


@pytest.mark.parametrize("n", [1 << 15, 1 << 17, 3 * 10**4])
def test_long(n):
    fft(complex_numbers(n), 0)
    fft(complex_numbers(2, n), 1, inverse=True, scale=1 / n)
    rfft(real_numbers(1, n), 1)
    irfft(complex_numbers(1, n // 2 + 1), 1, n)
    rfft(real_numbers(3, 2 * n)[:, ::2], 1)


def test_other_sizes_of_the_same_length():
    bound = bind(
        "fft",
        [complex_numbers(40, 48)],
        [((40, 48), "complex64")],
        {"dim": 1, "inverse": False, "scale": 1.0},
        fixed=(48,),
    )
    for rows in (3, 17, 90):
        x = complex_numbers(rows, 48)
        again = rebind(bound, [x], {40: rows})
        again.run(2)
        near(again.outputs[0], np.fft.fft(x.astype("complex128")))


def test_no_lines():
    bound = bind(
        "fft",
        [complex_numbers(0, 4)],
        [((0, 4), "complex64")],
        {"dim": 1, "inverse": False, "scale": 1.0},
        symbolic=False,
    )
    bound.run()


def test_values_that_are_not_numbers_stay_in_their_line():
    x = complex_numbers(20, 64)
    x[3, 5] = np.nan
    bound = bind("fft", [x], [((20, 64), "complex64")], {"dim": 1, "inverse": False, "scale": 1.0}, symbolic=False)
    bound.run()
    assert np.isnan(bound.outputs[0][3]).all() and np.isfinite(np.delete(bound.outputs[0], 3, 0)).all()


# -- plans and tables ---------------------------------------------------------------------------------
def test_plans():
    for n in (*range(1, 400), 1 << 20, 31 * 31 * 64, 3**9):
        if is_smooth(n):
            assert np.prod(radices(n), dtype=int) == n and max(radices(n)) <= 31
        long, short = halves(n)
        assert long * short == n and long >= short
        assert 2 * n - 1 <= convolution_length(n) <= 2.4 * n and is_smooth(convolution_length(n))


@pytest.mark.parametrize("n", [1, 7, 8, 12, 1000, 1 << 16])
def test_roots_are_exact_to_rounding(n):
    roots = table("float64", n, (n, 1, 1), step=1)
    made = np.ctypeslib.as_array((np.ctypeslib.ctypes.c_double * (2 * n)).from_address(roots.address)).reshape(n, 2)
    angle = 2 * np.longdouble(np.arctan(np.longdouble(1))) * 4 * np.arange(n) / n
    np.testing.assert_allclose(made[:, 0], np.cos(angle).astype(float), atol=1.2e-16)
    np.testing.assert_allclose(made[:, 1], -np.sin(angle).astype(float), atol=1.2e-16)
    assert roots.address % 64 == 0 and table("float64", n, (n, 1, 1), step=1) is roots


@pytest.mark.parametrize("n", [2 * 3 * 11025, 2 * 3**10, 1 << 17])
def test_long_lines_that_are_not_contiguous(n):
    fft(complex_numbers(2 * n)[::2], 0)
    fft(complex_numbers(n, 2), 0, orders=[(1, 0)])
    rfft(real_numbers(n, 2), 0)
    rfft(real_numbers(2, n), 1, orders=[(1, 0)])
    rfft(real_numbers(n + 1)[1:], 0)
    irfft(complex_numbers(n // 2 + 1, 2), 0, n)
    irfft(complex_numbers(2, n // 2 + 1), 1, n, orders=[(1, 0)])
