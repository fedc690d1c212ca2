"""Cholesky's factorization, and what is solved with it."""

import numpy as np
import pytest
from ops.parity import agree, table

import rushlight as rl
from rushlight.autograd.gradcheck import gradcheck, gradgradcheck

from .matrices import DTYPES, adjoint, draw, epsilon


def definite(shape, dtype="float64"):
    a = draw(shape, dtype)
    return (a @ adjoint(a) + np.eye(shape[-1])).astype(dtype)


@pytest.mark.parametrize("shape", [(3, 3), (1, 1), (2, 30, 30), (9, 5, 5), (0, 0), (0, 2, 2)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_factor_and_what_it_solves(shape, dtype):
    a, b = definite(shape, dtype), draw((*shape[:-1], 2), dtype)
    inverse, tolerance = np.linalg.inv(a), 3000 * epsilon(dtype)
    for upper in (False, True):
        factor = rl.linalg.cholesky(rl.from_numpy(a), upper=upper)
        f = factor.numpy()
        np.testing.assert_allclose(adjoint(f) @ f if upper else f @ adjoint(f), a, rtol=tolerance, atol=tolerance)
        assert not (np.tril(f, -1) if upper else np.triu(f, 1)).any()
        solved = rl.cholesky_solve(rl.from_numpy(b), factor, upper).numpy()
        np.testing.assert_allclose(solved, inverse @ b, rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(rl.cholesky_inverse(factor, upper).numpy(), inverse, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_derivatives(dtype):
    a, b = (rl.from_numpy(draw(s, dtype)).requires_grad_() for s in ((2, 3, 3), (2, 3, 1)))

    def factor(a, upper):
        return rl.linalg.cholesky(a @ a.mH + rl.eye(3, dtype=a.dtype), upper=upper)

    for upper in (False, True):
        assert gradcheck(lambda a, u=upper: factor(a, u), (a,))
        assert gradgradcheck(lambda a, u=upper: factor(a, u), (a,), fast_mode=True)
        assert gradcheck(lambda a, b, u=upper: rl.cholesky_solve(b, factor(a, u), u), (a, b))
        assert gradcheck(lambda a, u=upper: rl.cholesky_inverse(factor(a, u), u), (a,))


def names(module):
    a = module.tensor([[4.0, 2.0, 0.4], [2.0, 5.0, 1.0], [0.4, 1.0, 3.0]], dtype=module.float64)
    return {"A": a, "N": module.stack([a, -a, a]), "B": a[:, :2], "I": module.eye(2, dtype=module.int64)}


@table(
    """
    [T.linalg.cholesky(A).stride(), T.linalg.cholesky_ex(A)]
    T.linalg.cholesky_ex(N).info
    type(T.linalg.cholesky_ex(A)).__name__
    T.linalg.cholesky(N)
    T.linalg.cholesky_ex(N, check_errors=True)
    T.linalg.cholesky(A * float('nan'))
    [A.cholesky(), A.cholesky(True), T.cholesky(A, upper=True)]
    T.cholesky(N)
    T.linalg.cholesky(B)
    T.linalg.cholesky(A[0])
    T.linalg.cholesky(I)
    T.linalg.cholesky(A.half())
    T.linalg.cholesky(A, out=T.empty(3, 3, dtype=T.float32))
    T.linalg.cholesky(A, out=T.empty(0, dtype=T.float64))
    [T.linalg.cholesky(A, out=T.empty(3, 6, dtype=T.float64)[:, ::2])]
    T.linalg.cholesky(A + T.tensor([[0, 9, 9], [0, 0, 9], [0, 0, 0.0]]))
    T.cholesky_solve(B, A.tril())
    T.cholesky_solve(B, N[0:1].tril())
    T.cholesky_solve(B, B)
    B.cholesky_solve(A.triu(), upper=True)
    T.cholesky_inverse(A.tril())
    T.cholesky_inverse(A * 0)
    T.cholesky_inverse(B)
    """
)
def test_parity(expression):
    agree(expression, names)


def test_message():
    a = rl.eye(3).repeat(4, 1, 1)
    a[3, 1, 1] = -1
    with pytest.raises(rl.linalg.LinAlgError) as caught:
        rl.linalg.cholesky(a)
    assert str(caught.value) == (
        "linalg.cholesky: (Batch element 3): The factorization could not be completed because the input is not "
        "positive-definite (the leading minor of order 2 is not positive-definite)."
    )
    assert isinstance(caught.value, RuntimeError)
