"""Some eigenpairs of large symmetric matrices."""

import pytest

import rushlight as rl
from rushlight.autograd.gradcheck import gradcheck

from .matrices import draw


def definite(n, seed=0, batch=()):
    """Eigenvalues 1, 4, 9, ..."""
    basis = rl.linalg.qr(rl.from_numpy(draw((*batch, n, n), seed=seed)))[0]
    return basis * rl.arange(1.0, n + 1, dtype=rl.float64) ** 2 @ basis.mT


@pytest.mark.parametrize("largest", [True, False, None])
@pytest.mark.parametrize("method", ["ortho", "basic", None])
def test_eigenpairs(largest, method):
    a = definite(30)
    E, X = rl.lobpcg(a, k=3, largest=largest, method=method)
    wanted = rl.tensor([1.0, 4, 9] if largest is False else [900.0, 841, 784], dtype=rl.float64)
    assert rl.allclose(E, wanted, rtol=1e-6)
    assert rl.allclose(a @ X, X * E, atol=1e-3)
    assert rl.allclose(X.mT @ X, rl.eye(3, dtype=rl.float64))


def test_generalised_problem_with_preconditioner():
    a, b = definite(20), definite(20, 1) / 100 + rl.eye(20, dtype=rl.float64)
    E, X = rl.lobpcg(a, k=2, B=b, iK=a.inverse(), largest=False)
    wanted = rl.linalg.eigvals(rl.linalg.solve(b, a)).real.sort().values[:2]
    assert rl.allclose(E.sort().values, wanted, rtol=1e-5)
    assert rl.allclose(X.mT @ b @ X, rl.eye(2, dtype=rl.float64))


def test_batches_and_starts():
    a = definite(12, batch=(2, 2))
    start = rl.from_numpy(draw((2, 2, 12, 2), seed=3))
    E, X = rl.lobpcg(a, X=start)
    assert E.shape == (2, 2, 2) and X.shape == (2, 2, 12, 2)
    assert rl.allclose(E, rl.tensor([144.0, 121], dtype=rl.float64).expand(2, 2, 2))


def test_tracker_sees_and_stops_the_iteration():
    steps = []

    def tracker(state):
        steps.append((state.ivars["istep"], state.E.clone(), state.X.shape, state.tvars["rerr"].shape))
        state.bvars["force_stop"] = len(steps) == 3

    rl.lobpcg(definite(30), k=2, n=3, tracker=tracker)
    assert [step for step, *_ in steps] == [0, 1, 2]
    assert all(E.shape == (3,) and X == (30, 3) and rerr == (2,) for _, E, X, rerr in steps)
    steps.clear()
    rl.lobpcg(definite(30), k=1, niter=0, tracker=lambda state: steps.append(state))
    assert len(steps) == 1


def test_errors():
    with pytest.raises(ValueError, match="smaller than 3 x the number of requested eigenpairs"):
        rl.lobpcg(rl.eye(8), k=3)
    with pytest.raises(ValueError, match="expected method"):
        rl.lobpcg(rl.eye(8), method="other")


def test_gradient():
    a = definite(9).requires_grad_()
    start = rl.from_numpy(draw((9, 2), seed=2))

    def function(x):
        E, X = rl.lobpcg((x + x.mT) / 2, X=start, tol=1e-12)
        return E, X.abs()

    assert gradcheck(function, (a,), atol=1e-4)
    with pytest.raises(RuntimeError, match="B=None"):
        rl.lobpcg(a, B=rl.eye(9, dtype=rl.float64))
