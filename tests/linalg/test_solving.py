"""Systems of equations, inverses and determinants."""

import numpy as np
import pytest
from ops.parity import agree, table

import rushlight as rl
from rushlight.autograd.gradcheck import gradcheck, gradgradcheck

from .matrices import DTYPES, draw, epsilon


@pytest.mark.parametrize("shape", [(3, 3), (1, 1), (2, 30, 30), (9, 5, 5), (0, 0), (0, 2, 2), (300, 300)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_against_numpy(shape, dtype):
    a, b = draw(shape, dtype), draw((*shape[:-1], 2), dtype, seed=1)
    a = (a + 2 * np.sqrt(shape[-1]) * np.eye(shape[-1])).astype(dtype)
    left, right = rl.from_numpy(a), rl.from_numpy(b)
    tolerance = {"rtol": 5000 * epsilon(dtype), "atol": 5000 * epsilon(dtype)}
    np.testing.assert_allclose(rl.linalg.solve(left, right).numpy(), np.linalg.solve(a, b), **tolerance)
    turned = rl.linalg.solve(left.mT, right.mT, left=False)
    np.testing.assert_allclose(turned.mT.numpy(), np.linalg.solve(a, b), **tolerance)
    np.testing.assert_allclose(rl.linalg.inv(left).numpy(), np.linalg.inv(a), **tolerance)
    sign, logarithm = np.linalg.slogdet(a)
    found = rl.linalg.slogdet(left)
    np.testing.assert_allclose(found.sign.numpy(), sign, **tolerance)
    np.testing.assert_allclose(found.logabsdet.numpy(), logarithm, **tolerance)
    if shape[-1] < 100:
        np.testing.assert_allclose(rl.det(left).numpy(), np.linalg.det(a), rtol=tolerance["rtol"])


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shape", [(3, 3), (5, 2, 2)], ids=str)
def test_derivatives(shape, dtype):
    a, b = (rl.from_numpy(draw(s, dtype)).requires_grad_() for s in (shape, (*shape[:-1], 2)))
    functions = {
        "solve": (rl.linalg.solve, (a, b)),
        "right": (lambda a, b: rl.linalg.solve(a, b.mT, left=False), (a, b)),
        "inv": (rl.linalg.inv, (a,)),
        "det": (rl.linalg.det, (a,)),
        "slogdet": (rl.linalg.slogdet, (a,)),
        "triangular": (lambda a, b: rl.linalg.solve_triangular(a, b, upper=True), (a, b)),
        "unit": (lambda a, b: rl.linalg.solve_triangular(a, b.mT, upper=False, left=False, unitriangular=True), (a, b)),
    }
    for function, arguments in functions.values():
        assert gradcheck(function, arguments, fast_mode=True)
        assert gradgradcheck(function, arguments, fast_mode=True)


def test_determinant_of_a_singular_matrix_has_its_cofactors_as_gradient():
    a = rl.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=rl.float64, requires_grad=True)
    rl.linalg.det(a).backward()
    np.testing.assert_allclose(a.grad.numpy(), [[4, -2], [-2, 1]], rtol=1e-12)


def names(module):
    a = module.tensor([[1.0, 2.0, 0.4], [2.0, -5.0, 1.0], [0.4, 1.0, 3.0]], dtype=module.float64)
    singular = module.stack([a, a * 0, a])
    return {"A": a, "S": singular, "B": a[:, :2], "I": module.eye(2, dtype=module.int64), "V": a[0]}


@table(
    """
    [T.linalg.solve(A, B), T.linalg.solve(A, V), T.linalg.solve(S[::2], V), T.linalg.solve(A, B.mT, left=False)]
    [T.linalg.solve(A, B).stride(), T.linalg.inv(A).stride(), T.linalg.solve(A, B.mT, left=False).stride()]
    T.linalg.solve_ex(A, B)
    [type(r).__name__ for r in (T.linalg.solve_ex(A, B), T.linalg.inv_ex(A), T.linalg.slogdet(A), T.slogdet(A))]
    [T.linalg.solve_ex(S, V).info, T.linalg.inv_ex(S).info]
    T.linalg.solve(S, B)
    T.linalg.solve_ex(S, B, check_errors=True)
    T.linalg.inv(S)
    T.linalg.inv_ex(S, check_errors=True)
    T.linalg.solve(B, A)
    T.linalg.solve(A, B[:2])
    T.linalg.solve(A, B.float())
    T.linalg.solve(A, V, left=False)
    T.linalg.solve(I, I)
    T.linalg.inv(A.half())
    T.linalg.inv(I)
    [T.inverse(A), A.inverse(), T.linalg.inv(A, out=T.empty(3, 3, dtype=T.float64))]
    T.linalg.solve(A, B, out=T.empty(0, dtype=T.float64))
    [T.linalg.det(S), T.det(A), A.det(), T.linalg.slogdet(S), A.slogdet(), T.logdet(S), A.logdet(), (-A).logdet()]
    T.linalg.det(B)
    T.linalg.det(I)
    T.linalg.det(T.empty(2, 0, 0))
    [T.linalg.solve_triangular(A, B, upper=True), T.linalg.solve_triangular(A, B.mT, upper=False, left=False)]
    T.linalg.solve_triangular(A, B, upper=True, unitriangular=True)
    T.linalg.solve_triangular(A * 0, B, upper=True)
    T.linalg.solve_triangular(A, B)
    T.linalg.solve_triangular(I, I, upper=True)
    [T.triangular_solve(B, A), B.triangular_solve(A, upper=False, transpose=True)]
    T.triangular_solve(B, S, unitriangular=True)
    T.triangular_solve(B, B)
    [T.linalg.tensorinv(T.eye(6).reshape(2, 3, 6) * 2), T.linalg.tensorinv(T.eye(6).reshape(6, 2, 3) * 2, ind=1)]
    T.linalg.tensorinv(A, ind=0)
    T.linalg.tensorinv(B, ind=1)
    T.linalg.tensorsolve(T.eye(6).reshape(2, 3, 6) * 2, T.arange(6.0).reshape(2, 3))
    T.linalg.tensorsolve(T.eye(6).reshape(2, 6, 3).float(), T.ones(2, 3), dims=(1,))
    T.linalg.tensorsolve(A, V)
    """
)
def test_parity(expression):
    agree(expression, names)
