"""Norms where they are 0: derivatives of every order and mode count as 0 there, not as NaN."""

import pytest

import rushlight as rl

F = rl.nn.functional
AT_ZERO = {
    "2-norm": lambda x: x.norm(),
    "3-norm": lambda x: x.norm(3),
    "half-norm": lambda x: rl.linalg.vector_norm(x, 0.5),
    "negative norm": lambda x: rl.linalg.vector_norm(x, -1),
    "complex": lambda x: rl.linalg.vector_norm(rl.complex(x, x)),
    "matrix": lambda x: rl.linalg.matrix_norm(x.view(2, 2)),
    "dist": lambda x: rl.dist(x, x * 1),
    "pairwise": lambda x: F.pairwise_distance(x, x * 1, eps=0.0),
    "cdist": lambda x: rl.cdist(x[:, None], x[:, None]).sum(),
    "cdist by a product": lambda x: rl.cdist(x[:, None], x[:, None], compute_mode="use_mm_for_euclid_dist").sum(),
    "pdist": lambda x: rl.pdist(x[:, None], 3).sum(),
    "std": lambda x: x.std(),
    "std_mean": lambda x: rl.std_mean(x)[0],
}


@pytest.mark.parametrize("function", AT_ZERO.values(), ids=AT_ZERO)
def test_derivatives_at_zero(function):
    x, direction = rl.zeros(4, dtype=rl.float64), rl.tensor([1.0, 2, 3, 5], dtype=rl.float64)
    assert rl.func.grad(function)(x).tolist() == [0] * 4
    assert rl.func.jvp(function, (x,), (direction,))[1].item() == 0
    assert rl.func.hessian(function)(x).abs().sum().item() == 0


def test_rows_that_are_not_scaled_down_keep_their_gradient():
    def renormed(x):
        return x.view(2, 2).renorm(2, 0, 1).sum()

    x = rl.zeros(4)
    assert rl.func.grad(renormed)(x).tolist() == rl.func.jacfwd(renormed)(x).tolist() == [1] * 4
    assert rl.func.hessian(renormed)(x).abs().sum().item() == 0


@pytest.mark.parametrize("p, expected", [(0.5, 9.0), (-1, 0.0), (3, 65 ** (1 / 3)), (-0.5, 0.0)])
def test_norms_of_vectors_with_zeros(p, expected):
    x = rl.tensor([1.0, 0.0, -4.0], dtype=rl.float64)
    assert rl.linalg.vector_norm(x, p).item() == pytest.approx(expected)
