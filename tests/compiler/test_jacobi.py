"""Symmetric matrices in the lanes of vectors: every size of batch and matrix, hard scales, hard spectra."""

import numpy as np
import pytest

from rushlight.compiler import jacobi
from rushlight.compiler.lower import lower
from rushlight.compiler.run import run_lowered
from rushlight.ir import dtypes
from rushlight.ir.graph import Graph
from rushlight.ir.primitives import spectra


def decomposed(a, lower_triangle=True, pieces=1):
    """Values and vectors as the compiler computes them."""
    graph = Graph()
    with graph:
        x = graph.tensor(a.shape, getattr(dtypes, a.dtype.name))
        graph.returns(list(spectra.eigh(x, lower=lower_triangle, fails=None)))
    lowered = lower(graph)
    assert any(launch.kernel.name == "jacobi" for launch in lowered.launches)
    values, vectors, info = run_lowered(lowered, graph, [a], pieces=pieces)
    assert not info.any()
    return values, vectors


def symmetric(kind, count, n, dtype):
    random = np.random.default_rng(n)
    a = random.standard_normal((count, n, n))
    a = a + np.swapaxes(a, -1, -2)
    limits = np.finfo(dtype)
    if kind == "tiny":
        a = a * float(limits.tiny)
    if kind == "huge":
        a = a * (float(limits.max) / 16)
    if kind == "diagonal":
        a = np.round(a) * np.eye(n)
    if kind == "rank one":
        a = a[..., :1] @ np.swapaxes(a[..., :1], -1, -2)
    if kind == "zero":
        a = a * 0
    return a.astype(dtype)


@pytest.mark.parametrize("kind", ["plain", "tiny", "huge", "diagonal", "rank one", "zero"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("count", "n"), [(4, 3), (33, 8), (17, jacobi.LARGEST)])
def test_what_defines_eigenpairs(kind, dtype, count, n):
    a = symmetric(kind, count, n, dtype)
    values, vectors = decomposed(np.tril(a))
    scale = np.maximum(np.abs(a).max((1, 2), keepdims=True).astype("float64"), np.finfo(dtype).tiny)
    a, values = a / scale, values / scale[..., 0]
    tolerance = 20 * n * np.finfo(dtype).eps
    np.testing.assert_allclose(values, np.linalg.eigvalsh(a), atol=tolerance)
    np.testing.assert_allclose(a @ vectors, vectors * values[:, None, :], atol=tolerance)
    np.testing.assert_allclose(np.swapaxes(vectors, -1, -2) @ vectors, np.eye(n) + 0 * a, atol=tolerance)


def test_the_split_does_not_matter():
    a = np.triu(symmetric("plain", 50, 4, "float32"))
    for whole, split in zip(decomposed(a, False), decomposed(a, False, pieces=3)):
        np.testing.assert_array_equal(whole, split)
