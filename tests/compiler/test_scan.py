"""Scan templates against NumPy."""

import numpy as np
import pytest
from template_harness import bind, call, rebind

import rushlight.compiler.scan as scan_template

RANDOM = np.random.default_rng(5)
INTEGERS = ["uint8", "int8", "int16", "int32", "int64"]
FLOATS = ["float16", "float32", "float64"]


def numbers(shape, dtype):
    x = RANDOM.standard_normal(shape) * (2 if np.dtype(dtype).kind in "fc" else 50)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * RANDOM.standard_normal(shape)
    return (x > 60 if dtype == "bool" else x.astype(np.int64) if dtype == "uint8" else x).astype(dtype)


def scan(name, x, dim=-1, **keywords):
    shapes = [(x.shape, str(x.dtype))]
    if name in ("cummax", "cummin"):
        shapes.append((x.shape, "int64"))
    return call(name, [x], shapes, {"dim": dim % max(x.ndim, 1)}, **keywords)


def wide(x):
    return x.astype({"f": "float64", "c": "complex128"}.get(x.dtype.kind, x.dtype))


def extremes(name, x, dim):
    better = np.greater_equal if name == "cummax" else np.less_equal
    moved = np.moveaxis(x, dim, 0)
    values, indices = moved.copy(), np.zeros(moved.shape, np.int64)
    for i in range(1, len(moved)):
        later = np.isnan(moved[i]) | (~np.isnan(values[i - 1]) & better(moved[i], values[i - 1]))
        values[i] = np.where(later, moved[i], values[i - 1])
        indices[i] = np.where(later, i, indices[i - 1])
    return np.moveaxis(values, 0, dim), np.moveaxis(indices, 0, dim)


def check(name, x, dim=-1, **keywords):
    results = scan(name, x, dim, **keywords)
    if name in ("cummax", "cummin"):
        for actual, expected in zip(results, extremes(name, x, dim)):
            np.testing.assert_array_equal(actual, expected)
        return
    accumulate = {"cumsum": np.add, "cumprod": np.multiply, "logcumsumexp": np.logaddexp}[name].accumulate
    with np.errstate(over="ignore"):
        expected = accumulate(wide(x), dim).astype(x.dtype)
    if x.dtype.kind in "iu":
        np.testing.assert_array_equal(results[0], expected)
    else:
        rounding = {2: 2e-3, 4: 2e-6}.get(x.real.dtype.itemsize, 1e-13)
        size = np.abs(np.nan_to_num(wide(x), posinf=0, neginf=0))
        scale = size.cumsum(dim).max(initial=1) if name == "cumsum" else 1e-30
        np.testing.assert_allclose(results[0], expected, rtol=rounding, atol=rounding * scale)


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("dtype", INTEGERS + FLOATS + ["complex64", "complex128"])
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_sums_and_products(name, dtype, dim):
    x = numbers((3, 21, 37), dtype)
    check(name, x / 2 if name == "cumprod" and x.dtype.kind in "fc" else x, dim)


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("dtype", ["bool", *INTEGERS, *FLOATS])
@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_extremes(name, dtype, dim):
    check(name, numbers((3, 21, 37), dtype), dim)


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("dtype", FLOATS)
def test_log_of_sums(dtype, dim):
    check("logcumsumexp", numbers((3, 21, 37), dtype) * 20, dim)


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("name", ["cumsum", "cumprod", "logcumsumexp", "cummax", "cummin"])
def test_special_numbers(name, dim):
    special = np.array([np.inf, -np.inf, 0.0, -0.0, 1.0, 2.0, -3.0, 0.5], np.float32)
    x = RANDOM.choice(special, (40, 40))
    x[RANDOM.random((40, 40)) < 0.02] = np.nan
    with np.errstate(invalid="ignore"):
        check(name, x, dim)
    check(name, np.full((17, 17), -np.inf, np.float32), dim)


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "logcumsumexp", "cummax"])
def test_strides(name):
    x = numbers((20, 9, 46), "float32")[:, ::-1, ::2].transpose(2, 0, 1)
    for dim in range(3):
        for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0)):
            check(name, x, dim, orders=[order] * (2 if name == "cummax" else 1))


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "logcumsumexp", "cummax"])
@pytest.mark.parametrize("length", [1, 2, 7, 8, 9, 64, 129])
def test_lengths(name, length):
    check(name, numbers((5, length), "float32"))
    check(name, numbers((length, 5), "float64"), 0)


def test_products_do_not_overflow_before_their_time():
    x = np.array([1e-200, 1e-150, 1e200, 1e150, 2.0, 1e-100, 1e-200, 1e-200, 1e250] * 3)
    check("cumprod", x)
    check("cumprod", np.stack([x, x], 1), 0)


@pytest.mark.parametrize("dtype", ["float32", "int64", "float16"])
@pytest.mark.parametrize("name", ["cumsum", "cumprod", "logcumsumexp", "cummax", "cummin"])
def test_long_rows_in_blocks(name, dtype, monkeypatch):
    if name == "logcumsumexp" and dtype == "int64":
        return
    monkeypatch.setattr(scan_template, "LONG", 1000)
    monkeypatch.setattr(scan_template, "BLOCK", 128)
    x = numbers((3, 1777), dtype) if dtype != "float16" else numbers((3, 1777), dtype) / 16
    results = [scan(name, x, pieces=pieces) for pieces in (1, 2, 9)]
    check(name, x)
    check(name, numbers((2, 3 * 1200), dtype)[:, ::3])
    for other in results[1:]:
        for a, b in zip(results[0], other):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "logcumsumexp", "cummax", "cummin"])
def test_bool_scalar_and_empty(name):
    assert scan(name, np.array(2.5))[0] == 2.5
    assert scan(name, np.zeros((3, 0)))[0].shape == (3, 0)
    assert scan(name, np.zeros((0, 3)))[0].shape == (0, 3)


@pytest.mark.parametrize("name", ["cumsum", "logcumsumexp", "cummin"])
def test_pieces_do_not_matter(name):
    x = numbers((7, 11, 33), "float32")
    for dim in range(3):
        results = [scan(name, x, dim, pieces=pieces)[0] for pieces in (1, 2, 13)]
        for other in results[1:]:
            np.testing.assert_array_equal(results[0], other)


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("name", ["cumsum", "cummax"])
def test_one_lowering_serves_other_sizes(name, dim):
    x = numbers((3, 40, 70), "float32")
    shapes = [(x.shape, "float32"), (x.shape, "int64")][: 1 + (name == "cummax")]
    bound = bind(name, [x], shapes, {"dim": dim})
    other = numbers((5, 33, 129), "float32")
    again = rebind(bound, [other], dict(zip(x.shape, other.shape)))
    again.run(2)
    expected = extremes(name, other, dim)[0] if name == "cummax" else np.cumsum(other.astype(float), dim)
    np.testing.assert_allclose(again.outputs[0], expected, rtol=1e-5, atol=1e-4)


def test_long_lowering_serves_other_sizes(monkeypatch):
    monkeypatch.setattr(scan_template, "LONG", 1000)
    monkeypatch.setattr(scan_template, "BLOCK", 128)
    bound = bind("cumsum", [np.zeros(1500)], [((1500,), "float64")], {"dim": 0})
    x = numbers(7001, "float64")
    again = rebind(bound, [x], {1500: 7001})
    again.run(5)
    np.testing.assert_allclose(again.outputs[0], np.cumsum(x), rtol=1e-12, atol=1e-12)
