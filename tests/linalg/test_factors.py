"""LU, LDL and QR factorizations, products of reflections, least squares, and names that PyTorch has removed."""

import numpy as np
import pytest
from ops.parity import agree, table

import rushlight as rl
from rushlight.autograd.gradcheck import gradcheck, gradgradcheck

from .matrices import DTYPES, adjoint, draw, epsilon

SHAPES = [(4, 4), (3, 5), (2, 5, 3), (40, 33), (0, 3), (3, 0), (0, 2, 2)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_products_of_factors(shape, dtype):
    a = draw(shape, dtype)
    x, tolerance = rl.from_numpy(a), 300 * epsilon(dtype) * max(shape)
    p, l, u = (t.numpy() for t in rl.linalg.lu(x))
    np.testing.assert_allclose(p @ l @ u, a, atol=tolerance)
    for mode in ("reduced", "complete"):
        q, r = (t.numpy() for t in rl.linalg.qr(x, mode=mode))
        np.testing.assert_allclose(q @ r, a, atol=tolerance)
        np.testing.assert_allclose(adjoint(q) @ q, np.eye(q.shape[-1]) + np.zeros((*shape[:-2], 1, 1)), atol=tolerance)
        assert not np.tril(r, -1).any()
    np.testing.assert_allclose(rl.linalg.qr(x, mode="r").R.numpy(), rl.linalg.qr(x).R.numpy(), atol=tolerance)
    reflections = rl.geqrf(x)
    whole = rl.linalg.qr(x, mode="complete").Q
    other = rl.from_numpy(draw((*shape[:-1], 2), dtype))
    if min(shape[-2:]):
        np.testing.assert_allclose(rl.ormqr(*reflections, other).numpy(), (whole @ other).numpy(), atol=tolerance)
        turned = rl.ormqr(*reflections, other, True, True)
        np.testing.assert_allclose(turned.numpy(), (whole.mH @ other).numpy(), atol=tolerance)
    if shape[-2] >= shape[-1]:
        np.testing.assert_allclose(rl.orgqr(*reflections).numpy(), rl.linalg.qr(x).Q.numpy(), atol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 6, 40])
def test_systems_by_factors(n, dtype):
    a, b = draw((2, n, n), dtype), draw((2, n, 3), dtype, seed=1)
    tolerance = {"rtol": 1e5 * epsilon(dtype), "atol": 1e5 * epsilon(dtype)}
    factors = rl.linalg.lu_factor(rl.from_numpy(a))
    for adjoint_, matrix in ((False, a), (True, adjoint(a))):
        found = rl.linalg.lu_solve(*factors, rl.from_numpy(b), adjoint=adjoint_)
        np.testing.assert_allclose(matrix @ found.numpy(), b, **tolerance)
        found = rl.linalg.lu_solve(*factors, rl.from_numpy(b).mT, left=False, adjoint=adjoint_)
        np.testing.assert_allclose(found.numpy() @ matrix, np.swapaxes(b, -1, -2), **tolerance)
    for hermitian in (False, True):
        s = a + (adjoint(a) if hermitian else np.swapaxes(a, -1, -2))
        factors = rl.linalg.ldl_factor(rl.from_numpy(s), hermitian=hermitian)
        found = rl.linalg.ldl_solve(*factors, rl.from_numpy(b), hermitian=hermitian)
        np.testing.assert_allclose(s @ found.numpy(), b, **tolerance)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 2), (2, 3)], ids=str)
def test_derivatives(shape, dtype):
    a, b = (rl.from_numpy(draw(s, dtype)).requires_grad_() for s in (shape, (*shape[:-1], 2)))
    functions = [
        (lambda a: rl.linalg.lu(a)[1:], (a,)),
        (rl.linalg.qr, (a,)),
        (lambda a, b: rl.linalg.lstsq(a, b).solution, (a, b)),
    ]
    if shape[-2] >= shape[-1]:
        scales = rl.from_numpy(draw((*shape[:-2], shape[-1]), dtype)).requires_grad_()
        functions += [(rl.linalg.householder_product, (a, scales)), (rl.ormqr, (a, scales, b))]
    for function, arguments in functions:
        assert gradcheck(function, arguments, fast_mode=True)
        assert gradgradcheck(function, arguments, fast_mode=True, atol=1e-4)


def test_a_gradient_plan_is_for_the_sizes_that_it_was_made_for():
    """Square matrices come first; what the backward pass of wider ones reads is more."""
    for shape in ((4, 4), (3, 5)):
        a = rl.from_numpy(draw(shape)).requires_grad_()
        q, r = rl.linalg.qr(a)
        (q.sum() + r.sum()).backward()
        assert a.grad.shape == shape


def test_what_has_no_derivative_says_so():
    a = rl.from_numpy(draw((4, 2))).requires_grad_()
    for call in (
        lambda: rl.linalg.qr(a, mode="complete").Q.sum().backward(),
        lambda: rl.linalg.qr(a, mode="r").R.sum().backward(),
        lambda: rl.geqrf(a).a.sum().backward(),
    ):
        with pytest.raises(RuntimeError, match="derivative|differentiable"):
            call()


def names(module):
    a = module.tensor([[1.0, 2.0, 0.4], [2.0, -5.0, 1.0], [0.4, 1.0, 3.0]], dtype=module.float64)
    lu = module.tensor([[2.0, 1.0], [0.5, 3.0]]), module.tensor([2, 2], dtype=module.int32)
    return {
        "A": a,
        "S": module.stack([a, a * 0, a]),
        "B": a[:, :2],
        "I": module.eye(2, dtype=module.int64),
        "V": a[0],
        "LU": lu,
        "bad": module.tensor([3, -2], dtype=module.int32),
    }


@table(
    """
    [T.linalg.lu_factor(A), T.linalg.lu_factor(B), T.linalg.lu_factor_ex(S), T.linalg.lu(B.mT)]
    [type(r).__name__ for r in (T.linalg.lu_factor(A), T.linalg.lu(A), T.linalg.qr(A))]
    [type(r).__name__ for r in (T.qr(A), T.geqrf(A), T.linalg.lstsq(A, B))]
    T.linalg.lu_factor(S)
    T.linalg.lu_factor_ex(S, check_errors=True)
    T.linalg.lu_factor(A, pivot=False)
    T.linalg.lu_factor(V)
    T.linalg.lu_factor(I)
    [A.lu(), T.lu(S, get_infos=True)]
    [T.lu_unpack(*LU), T.lu_unpack(*LU, unpack_data=False), T.lu_unpack(*LU, unpack_pivots=False)]
    T.lu_unpack(LU[0], bad)
    T.lu_unpack(LU[0], I)
    [T.linalg.lu_solve(*LU, LU[0]), T.lu_solve(LU[0], *LU), LU[0].lu_solve(*LU)]
    T.linalg.lu_solve(LU[0], bad, LU[0])
    T.linalg.lu_solve(LU[0], LU[0][0], LU[0])
    T.linalg.lu_solve(*LU, A.float())
    [T.linalg.ldl_factor(A), T.linalg.ldl_factor_ex(A)]
    T.linalg.ldl_factor_ex(A * 0).info
    T.linalg.ldl_factor(A * 0)
    T.linalg.ldl_factor(B)
    T.linalg.ldl_solve(LU[0], T.tensor([100, 1], dtype=T.int32), LU[0])
    [T.linalg.qr(A).Q.stride(), T.linalg.qr(B, mode='complete').R.stride(), T.linalg.qr(B, mode='r')]
    T.linalg.qr(A, mode='x')
    T.linalg.qr(I)
    T.linalg.qr(V)
    [p.shape for p in A[:, :2].qr(some=False)]
    T.linalg.householder_product(B.mT, V)
    T.linalg.householder_product(A, V.float())
    T.ormqr(B, V[:2], I)
    [p.shape for p in T.linalg.lstsq(B, A)]
    [T.linalg.lstsq(B, A, driver=d) for d in ('gels', 'gelsd', 'gelss')]
    [T.linalg.lstsq(B, V, driver='gelsd'), T.linalg.lstsq(B.mT, B.mT[:, :2]), T.linalg.lstsq(S[:1], A[None])]
    T.linalg.lstsq(A * 0, A, driver='gelsd')
    T.linalg.lstsq(A, B, rcond=0.9, driver='gelsd').rank
    T.linalg.lstsq(A, B, driver='x')
    T.linalg.lstsq(A, B[:2])
    T.linalg.lstsq(I, I)
    [T.solve, T.lstsq] and T.solve(A, B)
    A.lstsq(B)
    A.symeig()
    T.eig(A)
    """
)
def test_parity(expression):
    agree(expression, names)


def test_printing_of_named_results():
    assert repr(rl.linalg.slogdet(rl.eye(2))) == (
        "rushlight.return_types.linalg_slogdet(\nsign=tensor(1.),\nlogabsdet=tensor(0.))"
    )


def test_pivots_of_others_never_reach_lapack():
    """A block of two rows that is cut off would make it read past the end."""
    factors, right = rl.eye(3), rl.ones(3, 1)
    for pivots in ([1, 2, -3], [-1, 2, 3], [0, 1, 2], [4, 1, 1], [-9, -9, 3]):
        with pytest.raises(RuntimeError, match="Pivots given to ldl_solve"):
            rl.linalg.ldl_solve(factors, rl.tensor(pivots, dtype=rl.int32), right)
