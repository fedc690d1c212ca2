"""Decompositions by random projection."""

import pytest

import rushlight as rl

from .matrices import draw


def of_rank(shape, rank, dtype="float64"):
    *batch, m, n = shape
    return rl.from_numpy(draw((*batch, m, rank), dtype)) @ rl.from_numpy(draw((*batch, rank, n), dtype, 1))


@pytest.mark.parametrize("shape", [(30, 20), (20, 30), (2, 12, 9)], ids=str)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_a_matrix_of_low_rank_is_found(shape, dtype):
    a = of_rank(shape, 4, dtype)
    U, S, V = rl.svd_lowrank(a, q=6)
    assert rl.allclose((U * S[..., None, :].to(U.dtype)) @ V.mH, a)
    assert rl.allclose(S[..., :4], rl.linalg.svdvals(a)[..., :4])
    assert rl.allclose(U.mH @ U, rl.eye(6, dtype=U.dtype).expand(*shape[:-2], 6, 6))


def test_a_matrix_is_subtracted():
    a, shift = of_rank((30, 20), 2), rl.ones(20, dtype=rl.float64)
    U, S, V = rl.svd_lowrank(a + shift, q=3, M=shift.expand(30, 20))
    assert rl.allclose(U * S @ V.mH, a)


def test_principal_components():
    a = of_rank((40, 10), 3) + 5
    U, S, V = rl.pca_lowrank(a, q=4)
    centred = a - a.mean(0)
    assert U.shape == (40, 4) and V.shape == (10, 4)
    assert rl.allclose(S[:3], rl.linalg.svdvals(centred)[:3])
    assert rl.allclose((centred @ V).norm(dim=0)[:3], S[:3])
    assert [t.shape[-1] for t in rl.pca_lowrank(rl.ones(4, 3), center=False)] == [3, 3, 3]


@pytest.mark.parametrize("options", [{"q": 5}, {"q": -1}, {"q": 2, "niter": -1}])
def test_nonsense_is_refused(options):
    with pytest.raises(ValueError, match="must be non-negative integer"):
        rl.pca_lowrank(rl.ones(4, 3), **options)


def test_gradient():
    a = of_rank((6, 5), 5).requires_grad_()
    rl.manual_seed(0)
    rl.svd_lowrank(a, q=5)[1].sum().backward()
    b = a.detach().requires_grad_()
    rl.linalg.svdvals(b).sum().backward()
    assert rl.allclose(a.grad, b.grad)
