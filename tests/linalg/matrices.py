"""Matrices to test with, and ways to look at results that are defined up to phases."""

import numpy as np

import rushlight as rl

DTYPES = ("float32", "float64", "complex64", "complex128")


def draw(shape, dtype="float64", seed=0):
    """A NumPy array of normal numbers."""
    random = np.random.default_rng(seed)
    made = random.standard_normal(shape)
    return (made + 1j * random.standard_normal(shape) if dtype.startswith("complex") else made).astype(dtype)


def epsilon(dtype) -> float:
    return float(np.finfo(dtype).eps)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def hermitian(x):
    return x + x.mH


def weighted(vectors):
    """Columns times 1, 2, ..."""
    return vectors * rl.arange(1, vectors.shape[-1] + 1).to(vectors.dtype)
