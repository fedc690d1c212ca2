"""segment_reduce against NumPy: kinds, dtypes, widths that leave tails, empty runs, bounds that lead outside."""

from itertools import pairwise

import numpy as np
import pytest
from template_harness import call

import rushlight.compiler.segment  # noqa: F401

RANDOM = np.random.default_rng(3)
OFFSETS = np.array([0, 3, 3, 40, 41])
NOTHING = {"sum": 0, "prod": 1, "max": -np.inf, "min": np.inf}


def reduced(x, offsets, index=None, kind="sum", **keywords):
    inputs = [x, offsets] if index is None else [x, offsets, index]
    shape = (len(offsets) - 1, *x.shape[1:])
    return call("segment_reduce", inputs, [(shape, str(x.dtype))], {"kind": kind}, **keywords)[0]


def expected(rows, offsets, kind):
    fold = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min}[kind]
    runs = [rows[a:b].astype(np.result_type(rows.dtype, "float64")) for a, b in pairwise(offsets)]
    return np.stack([fold(r, axis=0) if len(r) else np.full(r.shape[1:], NOTHING[kind]) for r in runs])


@pytest.mark.parametrize("kind", ["sum", "prod", "max", "min"])
@pytest.mark.parametrize("shape", [(41,), (41, 1), (41, 16), (41, 67), (41, 3, 45)])
def test_kinds_and_widths(kind, shape):
    x = RANDOM.uniform(0.5, 1.5, shape).astype(np.float32)
    np.testing.assert_allclose(reduced(x, OFFSETS, kind=kind), expected(x, OFFSETS, kind), rtol=1e-5)


@pytest.mark.parametrize("dtype, tolerance", [("float16", 2e-3), ("float64", 1e-13), ("complex64", 1e-6), ("int32", 0)])
def test_dtypes(dtype, tolerance):
    x = RANDOM.integers(1, 9, (41, 20)).astype(dtype) * dtype_unit(dtype)
    rows = x.astype("complex128" if x.dtype.kind == "c" else "float64")
    want = np.stack([rows[a:b].sum(0) for a, b in pairwise(OFFSETS)])
    np.testing.assert_allclose(reduced(x, OFFSETS), want, rtol=tolerance)


def dtype_unit(dtype):
    return np.complex64(1 + 2j) if dtype == "complex64" else np.ones((), dtype)


def test_rows_by_index_and_strides():
    table, index = RANDOM.standard_normal((30, 50)).astype(np.float32), RANDOM.integers(0, 30, 41)
    for x in (table, table[::-2], table.T.copy().T, table[:, ::2]):
        picked = index % len(x)
        for pieces in (1, 4):
            got = reduced(x, OFFSETS, picked, pieces=pieces)
            np.testing.assert_allclose(got, expected(x[picked], OFFSETS, "sum"), rtol=1e-5, atol=1e-5)


def test_long_sums_are_exact():
    x = np.full((100_000, 17), 0.1, np.float32)
    np.testing.assert_allclose(reduced(x, np.array([0, 100_000])), 1e4, rtol=1e-6)


def test_nan_wins_extremes():
    x = np.array([[1, np.nan], [2, 3]] * 9, np.float32)
    assert np.isnan(reduced(x, np.array([0, 18]), kind="max")).tolist() == [[False, True]]


@pytest.mark.parametrize("offsets", [[0, 42], [-1, 3], [5, 2, 41], [0, 1 << 60]])
def test_bounds_that_lead_outside(offsets):
    with pytest.raises(IndexError, match="out of bounds"):
        reduced(np.ones((41, 3), np.float32), np.array(offsets))


def test_an_index_that_leads_outside():
    for bad in (-1, 30):
        with pytest.raises(IndexError, match=f"index {bad} is out of bounds for dimension 0 with size 30"):
            reduced(np.ones((30, 3), np.float32), np.array([0, 2]), np.array([0, bad]))
    with pytest.raises(IndexError):
        reduced(np.ones((0, 3), np.float32), np.array([0, 1]), np.array([0]))
