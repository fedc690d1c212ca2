"""Singular values, singular vectors and pseudo-inverses: what defines them, derivatives, errors."""

import numpy as np
import pytest
from ops.parity import agree, numbers, table

import rushlight as rl
from rushlight.autograd.gradcheck import gradcheck, gradgradcheck

from .matrices import DTYPES, adjoint, draw, epsilon, hermitian, weighted

SHAPES = [(3, 3), (2, 5, 3), (2, 3, 5), (1, 1), (40, 7), (7, 40), (0, 3), (3, 0), (2, 0, 3), (0, 2, 3)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("full", [True, False])
def test_svd(shape, dtype, full):
    """U S V^H = A with orthonormal U and V, and S in descending order."""
    a, k = draw(shape, dtype), min(shape[-2:])
    u, s, vh = (t.numpy() for t in rl.linalg.svd(rl.from_numpy(a), full_matrices=full))
    tolerance = 30 * epsilon(dtype) * max(shape)
    np.testing.assert_allclose(u[..., :k] * s[..., None, :] @ vh[..., :k, :], a, atol=tolerance * 10)
    for vectors in (u, adjoint(vh)):
        one = np.eye(vectors.shape[-1]) + np.zeros((*shape[:-2], 1, 1))
        np.testing.assert_allclose(adjoint(vectors) @ vectors, one, atol=tolerance)
    assert (np.diff(s) <= 0).all()
    assert u.shape[-1] == (shape[-2] if full else k) and vh.shape[-2] == (shape[-1] if full else k)
    np.testing.assert_allclose(rl.linalg.svdvals(rl.from_numpy(a)).numpy(), s, atol=tolerance * 10)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_pinv(shape, dtype):
    """Penrose's conditions."""
    a = draw(shape, dtype)
    p = rl.linalg.pinv(rl.from_numpy(a)).numpy()
    tolerance = 1000 * epsilon(dtype)
    assert p.shape == (*shape[:-2], shape[-1], shape[-2])
    for found, wanted in ((a @ p @ a, a), (p @ a @ p, p), (adjoint(a @ p), a @ p), (adjoint(p @ a), p @ a)):
        np.testing.assert_allclose(found, wanted, atol=tolerance)


@table(
    """
    T.linalg.svdvals(X)
    [p.abs() for p in T.linalg.svd(X.square().sin(), full_matrices=False)]
    [p.stride() for p in T.linalg.svd(X)]
    [p.stride() for p in T.linalg.svd(T.ones(2, 5, 3), full_matrices=False)]
    T.linalg.svd(X, driver='gesvd')
    T.linalg.svd(Y)
    T.linalg.svd(X.long())
    T.linalg.svd(X.bfloat16())
    T.linalg.svdvals(Y)
    T.linalg.svdvals(X, driver='gesvd')
    T.linalg.svdvals(X, out=T.empty(0, dtype=T.float64))
    T.linalg.svdvals(X, out=T.empty(0))
    T.linalg.svd(X, out=(T.empty(0), T.empty(0), T.empty(0)))
    [p.abs() for p in T.linalg.svd(X.square().sin(), False, out=tuple(T.empty(0, dtype=T.float64) for _ in range(3)))]
    T.linalg.svd(T.zeros(0, 3))
    T.linalg.svd(T.zeros(3, 0))
    T.linalg.svd(T.zeros(2, 0, 3), full_matrices=False)
    [p.abs() for p in T.svd(X.square().sin())]
    [p.shape for p in T.svd(X, some=False)]
    T.svd(X, compute_uv=False)
    [p.shape for p in X.svd()]
    T.svd(Y)
    T.linalg.pinv(X)
    T.linalg.pinv(X * (1 + 2j))
    T.linalg.pinv(X, 0.5)
    T.linalg.pinv(X, rcond=0.5)
    T.linalg.pinv(X, rtol=0.5)
    T.linalg.pinv(X, atol=5.0)
    T.linalg.pinv(X.reshape(2, 3, 2), atol=L([1.0, 5.0], dtype=T.float64))
    T.linalg.pinv(X, rtol=L([0.1, 0.9], dtype=T.float64))
    T.linalg.pinv(X.T @ X, hermitian=True)
    T.linalg.pinv(X, hermitian=True)
    T.linalg.pinv(X, atol=L(1j))
    T.linalg.pinv(Y)
    T.linalg.pinv(X.long())
    T.linalg.pinv(X.half())
    T.linalg.pinv(T.zeros(3, 0))
    T.linalg.pinv(X, out=T.empty(0, dtype=T.float64))
    T.pinverse(X, 1e-10)
    X.pinverse(1e-10)
    gradients(lambda x, y, s: [T.linalg.svdvals(x), x.square().sin().svd().S])
    gradients(lambda x, y, s: [p.abs() for p in T.linalg.svd(x.square().sin(), full_matrices=False)])
    gradients(lambda x, y, s: [p.abs() for p in T.linalg.svd(x.square().sin()[:, :3] * (1 + 2j))])
    gradients(lambda x, y, s: T.linalg.pinv(x.square().sin()))
    """
)
def test_values_and_errors(expression):
    agree(expression, numbers)


@pytest.mark.parametrize("function", [rl.linalg.svd, rl.linalg.svdvals, rl.linalg.pinv])
def test_what_is_not_finite_is_refused(function):
    a = rl.ones(3, 2, 2)
    a[1, 0, 1] = float("nan")
    with pytest.raises(rl.linalg.LinAlgError, match=r"\(Batch element 1\).*non-finite"):
        function(a)


def of_svd(full):
    def function(a):
        u, s, vh = rl.linalg.svd(a, full_matrices=full)
        k = s.shape[-1]
        return weighted(u)[..., :k] @ vh[..., :k, :], s

    return function


CASES = {
    "square": (of_svd(True), (2, 3, 3)),
    "tall": (of_svd(False), (5, 3)),
    "wide": (of_svd(False), (2, 3, 4)),
    "left": (lambda a: rl.linalg.svd(a, full_matrices=False).U.abs(), (4, 3)),
    "right": (lambda a: rl.linalg.svd(a, full_matrices=False).Vh.abs(), (4, 3)),
    "values": (rl.linalg.svdvals, (2, 3, 4)),
    "pinv": (rl.linalg.pinv, (4, 3)),
    "pinv-wide": (rl.linalg.pinv, (2, 2, 3)),
    "pinv-hermitian": (lambda a: rl.linalg.pinv(hermitian(a), hermitian=True), (3, 3)),
    "pinv-low-rank": (lambda a: rl.linalg.pinv(a[:, :2] @ a[:, :2].mH), (3, 3)),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_gradients(case, dtype):
    function, shape = CASES[case]
    a = rl.from_numpy(draw(shape, dtype)).requires_grad_()
    assert gradcheck(function, (a,), check_forward_ad=True)
    assert gradgradcheck(function, (a,), fast_mode=True, atol=1e-4)


def test_gradients_of_vectors_that_full_matrices_adds_are_ignored():
    a = rl.from_numpy(draw((4, 2))).requires_grad_()
    rl.linalg.svd(a).U[:, 2:].sum().backward()
    assert a.grad.abs().max() == 0


def test_a_loss_that_depends_on_phases_is_refused():
    a = rl.from_numpy(draw((3, 3), "complex128")).requires_grad_()
    with pytest.raises(RuntimeError, match=r"svd_backward: .*up to multiplication by e\^\{i phi\}"):
        rl.linalg.svd(a).U.real.sum().backward()
