"""The matrix exponential against PyTorch's in double precision, and its derivative."""

import numpy as np
import pytest
from ops.parity import agree, numbers, table

import rushlight as rl
from rushlight.autograd.gradcheck import gradcheck, gradgradcheck

from .matrices import DTYPES, draw, epsilon

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("scale", [1e-4, 1, 30])
@pytest.mark.parametrize("n", [9])
def test_values(dtype, scale, n):
    """Matrices of sizes far apart in one batch: each is halved as often as it needs."""
    a = draw((3, n, n), dtype) * np.array([scale, scale * 1e-3, 0], "float32")[:, None, None] / np.sqrt(n)
    a = a.astype(dtype)
    wide = torch.from_numpy(a.astype(np.result_type(dtype, "float64")))
    wanted = torch.linalg.matrix_exp(wide).numpy()
    found = rl.linalg.matrix_exp(rl.from_numpy(a)).numpy()
    errors = np.linalg.norm(found - wanted, axis=(-1, -2)) / np.linalg.norm(wanted, axis=(-1, -2))
    assert errors.max() < epsilon(dtype) * 8 * (1 + 4 * scale)


@table(
    """
    T.linalg.matrix_exp(X)
    T.linalg.matrix_exp(Y)
    T.linalg.matrix_exp(X[:, :3].long())
    T.linalg.matrix_exp(T.zeros(2, 0, 0)).shape
    T.linalg.matrix_exp(T.zeros(0, 2, 2)).shape
    T.linalg.matrix_exp(L([[[2.0]], [[3.0]]]))
    T.linalg.matrix_exp(L([[math.nan, 0], [0, 1]]))
    T.linalg.matrix_exp(L([[math.inf, 0], [0, 1]]))
    T.matrix_exp(X[:, :3] / 4)
    (X[:, :3] / 4).matrix_exp()
    gradients(lambda x, y, s: T.linalg.matrix_exp(x[:, :3] / s))
    """
)
def test_values_and_errors(expression):
    agree(expression, numbers)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_gradients(dtype):
    a = rl.from_numpy(draw((2, 3, 3), dtype)).requires_grad_()
    assert gradcheck(rl.linalg.matrix_exp, (a,), check_forward_ad=True)
    assert gradgradcheck(rl.linalg.matrix_exp, (a,), fast_mode=True)


def test_half_types_compute_in_single_precision():
    a = rl.from_numpy(draw((4, 4), "float32")).bfloat16()
    assert rl.equal(rl.linalg.matrix_exp(a), rl.linalg.matrix_exp(a.float()).bfloat16())


def test_vmap_takes_the_squarings_that_the_largest_sample_needs():
    a = rl.from_numpy(draw((3, 2, 4, 4))) * rl.tensor([0.01, 1.0, 20.0], dtype=rl.float64)[:, None, None, None]
    wanted = rl.stack([rl.linalg.matrix_exp(x) for x in a])
    assert rl.allclose(rl.vmap(rl.linalg.matrix_exp)(a), wanted)
    assert rl.allclose(rl.vmap(rl.vmap(rl.linalg.matrix_exp))(a), wanted)
