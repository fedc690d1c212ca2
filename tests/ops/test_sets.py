"""Distinct elements and membership, against PyTorch and NumPy."""

import numpy as np
import pytest

import rushlight as rl

from .parity import agree, numbers, table

M = "L([[3, 1, 3], [1, 1, 2], [3, 1, 3], [1, 1, 1]])"
ALL = "return_inverse=True, return_counts=True"


@table(
    f"""
    T.unique({M})
    T.unique({M}, {ALL})
    T.unique({M}, dim=0, {ALL})
    T.unique({M}.t(), dim=1, {ALL})
    T.unique({M}, dim=-1, return_counts=True)
    {M}.unique()
    T.unique(L([True, False, True]))
    T.unique(L([math.nan, math.nan, 1.0]), return_counts=True)
    T.unique(S, return_inverse=True)
    T.unique(E, {ALL})
    T.unique(S, dim=0)
    T.unique(X.to(T.complex64))
    T.unique(T.zeros(3, 0), dim=0)
    T.unique(T.zeros(0, 3), dim=0)
    T.unique_consecutive(L([1, 1, 2, 1]), {ALL})
    T.unique_consecutive({M}, dim=0, {ALL})
    T.unique_consecutive(L([[3, 1], [3, 1], [1, 1]]), dim=0, {ALL})
    T.unique_consecutive(S, True, True)
    T.unique_consecutive(E)
    T.isin(X, L([1.0, 3.0]))
    T.isin(X, L([1.0, 3.0]), invert=True)
    T.isin(X, 1)
    T.isin(5, X)
    T.isin(X, X[1:].reshape(-1).repeat(3))
    T.isin(X, X[:0])
    T.isin(X.long(), L([1.5, 3]))
    T.isin(L([math.nan]), L([math.nan]))
    """
)
def test_values_and_errors(expression):
    agree(expression, numbers)


@pytest.mark.parametrize("columns", [1, 2, 5, 8])
def test_rows_like_numpy(columns):
    a = np.random.default_rng(columns).integers(-1, 2, (500, columns))
    expected = np.unique(a, axis=0, return_inverse=True, return_counts=True)
    for ours, theirs in zip(rl.unique(rl.tensor(a), dim=0, return_inverse=True, return_counts=True), expected):
        assert np.array_equal(ours.numpy(), theirs.reshape(ours.shape))
