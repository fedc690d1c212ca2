"""Eigenvalues and eigenvectors: what defines them, derivatives, errors."""

import numpy as np
import pytest
from ops.parity import agree, numbers, table

import rushlight as rl
from rushlight.autograd.gradcheck import gradcheck, gradgradcheck

from .matrices import DTYPES, adjoint, draw, epsilon, hermitian, weighted

SHAPES = [(3, 3), (2, 5, 5), (1, 1), (40, 40), (2, 0, 0), (0, 3, 3), (2, 30, 4, 4), (5, 24, 24), (5, 25, 25)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("uplo", "LU")
def test_eigh(shape, dtype, uplo):
    """A V = V L with orthonormal V and ascending L, from one triangle: the other holds something else."""
    a = draw(shape, dtype)
    triangle = np.tril if uplo == "L" else np.triu
    whole = triangle(a, -1 if uplo == "L" else 1)
    whole = whole + adjoint(whole) + np.eye(shape[-1]) * np.real(a)
    values, vectors = (t.numpy() for t in rl.linalg.eigh(rl.from_numpy(a), uplo))
    tolerance = 30 * epsilon(dtype) * max(shape[-1], 1)
    np.testing.assert_allclose(whole @ vectors, vectors * values[..., None, :], atol=tolerance * 10)
    np.testing.assert_allclose(adjoint(vectors) @ vectors, np.eye(shape[-1]) + np.zeros(shape), atol=tolerance)
    assert (np.diff(values) >= 0).all()
    alone = rl.linalg.eigvalsh(rl.from_numpy(a), uplo).numpy()
    np.testing.assert_allclose(alone, values, atol=tolerance * 10)


@pytest.mark.parametrize("shape", SHAPES[:7], ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_eig(shape, dtype):
    """A V = V L with columns of length 1."""
    a = draw(shape, dtype)
    values, vectors = (t.numpy() for t in rl.linalg.eig(rl.from_numpy(a)))
    tolerance = 100 * epsilon(dtype) * max(shape[-1], 1)
    np.testing.assert_allclose(a @ vectors, vectors * values[..., None, :], atol=tolerance * 10)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=-2), np.ones(shape[:-1]), atol=tolerance)
    alone = rl.linalg.eigvals(rl.from_numpy(a)).numpy()
    np.testing.assert_allclose(np.sort_complex(alone), np.sort_complex(values), atol=tolerance * 100)
    assert values.dtype == vectors.dtype == alone.dtype == np.result_type(dtype, "complex64")


def matrix(module):
    """A (3, 3), symmetric B, complex C, and a function that drops phases."""
    a = module.arange(9.0, dtype=module.float64).reshape(3, 3)
    a = (a * a).sin() + a / 5
    return {**numbers(module), "A": a, "B": a + a.T, "C": a + 1j * a.T.cos(), "absolute": lambda p: [p[0], p[1].abs()]}


@table(
    """
    absolute(T.linalg.eigh(B))
    absolute(T.linalg.eigh(A, UPLO='u'))
    absolute(T.linalg.eigh(C))
    T.linalg.eigvalsh(B)
    T.linalg.eigh(B)[1].stride()
    T.linalg.eigh(T.stack([B, B]))[1].stride()
    T.linalg.eig(C)[1].stride()
    T.linalg.eigh(A, 'x')
    T.linalg.eigh(A, UPLO='lower')
    T.linalg.eigh(X)
    T.linalg.eigh(Y)
    T.linalg.eigh(B.long())
    T.linalg.eigh(B.half())
    T.linalg.eigh(B, out=(T.empty(0), T.empty(0)))
    absolute(T.linalg.eigh(B, out=(T.empty(0, dtype=T.float64), T.empty(0, dtype=T.float64))))
    T.linalg.eigvalsh(B, out=T.empty(0, dtype=T.float64))
    T.linalg.eigvalsh(B, out=T.empty(0))
    T.linalg.eig(X)
    T.linalg.eigvals(X)
    T.linalg.eig(B.half())
    T.linalg.eigvals(T.diag(Y))
    T.linalg.eig(T.zeros(2, 0, 0))
    T.linalg.eig(T.full((2, 2), math.inf))
    T.linalg.eig(A, out=(T.empty(0), T.empty(0)))
    T.linalg.eigvals(A, out=T.empty(0))
    T.linalg.eigvals(T.diag(Y), out=T.empty(0, dtype=T.complex128))
    T.eig(A)
    T.symeig(A)
    gradients(lambda x, y, s: T.linalg.eigvalsh(x.square()[:, :3].sin() + x.T[:3] @ x[:, :3]))
    gradients(lambda x, y, s: T.linalg.eigh(x.T @ x / 9 + y.diag() * s)[1].abs())
    gradients(lambda x, y, s: [p.abs() for p in T.linalg.eig(x.square()[:, :3].sin())])
    gradients(lambda x, y, s: T.linalg.eigvals(x.square()[:, :3].sin()).abs())
    """
)
def test_values_and_errors(expression):
    agree(expression, matrix)


def of_eigh(a):
    values, vectors = rl.linalg.eigh(hermitian(a))
    return values, weighted(vectors) @ vectors.mH


def of_eig(a):
    values, vectors = rl.linalg.eig(a)
    return values.abs(), vectors.abs()


FUNCTIONS = [of_eigh, of_eig, lambda a: rl.linalg.eigvalsh(hermitian(a), "U"), lambda a: rl.linalg.eigvals(a).abs()]


@pytest.mark.parametrize("function", FUNCTIONS, ids=["eigh", "eig", "eigvalsh", "eigvals"])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_gradients(function, dtype):
    a = rl.from_numpy(draw((2, 3, 3), dtype)).requires_grad_()
    assert gradcheck(function, (a,), check_forward_ad=True)
    assert gradgradcheck(function, (a,), fast_mode=True, atol=1e-4)


@pytest.mark.parametrize("function", [lambda a: rl.linalg.eigh(hermitian(a)), rl.linalg.eig], ids=["eigh", "eig"])
def test_a_loss_that_depends_on_phases_is_refused(function):
    a = rl.from_numpy(draw((3, 3), "complex128")).requires_grad_()
    with pytest.raises(RuntimeError, match=r"up to multiplication by e\^\{i phi\}"):
        function(a)[1].real.sum().backward()


def test_values_keep_vectors_for_their_gradient():
    """One decomposition serves both directions where a gradient is asked for."""
    a = rl.from_numpy(draw((3, 3))).requires_grad_()
    assert rl.linalg.eigvalsh(a).grad_fn.name() == "LinalgEighBackward0"


@pytest.mark.parametrize("n", [2, 30])
@pytest.mark.parametrize("number", [float("nan"), float("inf")])
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_what_is_not_finite_spoils_its_matrix_alone(n, number, dtype):
    a = draw((5, n, n), dtype)
    a[3, n - 1, 0] = number
    values, vectors = rl.linalg.eigh(rl.from_numpy(a))
    for found in (
        values,
        vectors.flatten(1),
        rl.linalg.eigvalsh(rl.from_numpy(a)),
        rl.linalg.eigvals(rl.from_numpy(a)),
    ):
        assert found.isnan().all(-1).tolist() == found.isnan().any(-1).tolist() == [i == 3 for i in range(5)]
    with pytest.raises(rl.linalg.LinAlgError, match=r"\(Batch element 3\).*non-finite"):
        rl.linalg.eig(rl.from_numpy(a))


def test_tangents_belong_to_the_vectors_whatever_was_planned_before():
    """Few matrices after many of the same structure: both the vectors and their tangents must choose alike."""
    rl.linalg.eigh(rl.from_numpy(draw((6, 2, 2), "float32")))  # the first of its structure may decide for others
    rl.linalg.eigh(rl.from_numpy(draw((6, 2, 2))))
    a = rl.from_numpy(draw((2, 3, 3))).requires_grad_()
    assert gradcheck(of_eigh, (a,), check_forward_ad=True)
