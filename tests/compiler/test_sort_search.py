"""searchsorted against NumPy, and PyTorch where NaN is about."""

import numpy as np
import pytest
from template_harness import call

import rushlight.compiler.sort_search  # noqa: F401

RANDOM = np.random.default_rng(2)


def search(row, values, *sorter, right=False, **keywords):
    (out,) = call("searchsorted", [row, values, *sorter], [(values.shape, "int64")], {"right": right}, **keywords)
    return out


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int64", "float16", "float32", "float64"])
@pytest.mark.parametrize("length", [0, 1, 2, 50])
def test_one_row(dtype, length, right):
    row = np.sort(RANDOM.integers(0, 40, length).astype(dtype))
    values = RANDOM.integers(0, 45, (7, 9)).astype(dtype)
    expected = np.searchsorted(row, values, side="right" if right else "left")
    np.testing.assert_array_equal(search(row, values, right=right), expected)


def test_a_row_for_each_line_of_values():
    rows = np.sort(RANDOM.standard_normal((3, 4, 60)), -1)[..., ::2]
    values = RANDOM.standard_normal((3, 10, 4)).transpose(0, 2, 1)
    expected = np.stack([[np.searchsorted(r, v) for r, v in zip(*pair)] for pair in zip(rows, values)])
    for pieces in (1, 5):
        np.testing.assert_array_equal(search(rows, values, pieces=pieces), expected)


def test_sorter():
    row = RANDOM.standard_normal((2, 33)).astype(np.float32)
    order, values = np.argsort(row, -1), RANDOM.standard_normal((2, 8)).astype(np.float32)
    expected = np.stack([np.searchsorted(r, v, sorter=o) for r, o, v in zip(row, order, values)])
    np.testing.assert_array_equal(search(row, values, order), expected)


@pytest.mark.parametrize("right", [False, True])
def test_nan_as_in_pytorch(right):
    torch = pytest.importorskip("torch")
    row = np.array([-np.inf, 1, 2, 3, np.inf, np.nan, np.nan], np.float32)
    values = np.array([np.nan, 0, 2, 9, np.inf, -np.inf], np.float32)
    expected = torch.searchsorted(torch.from_numpy(row), torch.from_numpy(values), right=right)
    np.testing.assert_array_equal(search(row, values, right=right), expected)


def test_scalar_and_empty():
    row = np.arange(5.0)
    assert search(row, np.array(2.5)) == 3
    assert search(row, np.zeros((0, 2))).shape == (0, 2)
