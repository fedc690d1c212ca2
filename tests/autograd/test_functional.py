"""Jacobians, Hessians and products with them."""

import pytest

import rushlight as rl
from rushlight.autograd import functional as F
from rushlight.testing import assert_close


def pair(a, b):
    return a.sin() * b.sum(), (a * a).sum() * b


A, B = rl.tensor([0.5, -1.0, 2.0]), rl.tensor([1.5, -0.5])
PAIR_JACOBIAN = (
    ((A.cos() * B.sum()).diag(), A.sin()[:, None].expand(3, 2)),
    (2 * B[:, None] * A, (A * A).sum() * rl.eye(2)),
)


@pytest.mark.parametrize("strategy", ["reverse-mode", "forward-mode"])
def test_jacobian(strategy):
    assert_close(F.jacobian(pair, (A, B), strategy=strategy), PAIR_JACOBIAN)
    assert_close(F.jacobian(rl.exp, A, strategy=strategy), A.exp().diag())
    assert tuple(F.jacobian(lambda x: x.sum(), rl.ones(2, 3), strategy=strategy).shape) == (2, 3)
    assert tuple(F.jacobian(lambda x: x[:0], A, strategy=strategy).shape) == (0, 3)


def test_products():
    u, v = (rl.tensor([1.0, 2.0, -1.0]), rl.tensor([0.5, 3.0])), (rl.tensor([2.0, 0.0, 1.0]), rl.tensor([1.0, -1.0]))
    (j00, j01), (j10, j11) = PAIR_JACOBIAN
    outputs, pushed = F.jvp(pair, (A, B), u)
    assert_close(outputs, pair(A, B))
    assert_close(pushed, (j00 @ u[0] + j01 @ u[1], j10 @ u[0] + j11 @ u[1]))
    _, pulled = F.vjp(pair, (A, B), v)
    assert_close(pulled, (v[0] @ j00 + v[1] @ j10, v[0] @ j01 + v[1] @ j11))


def test_hessian_and_its_products():
    def cubic(x):
        return (x**3).sum() + x[0] * x[1]

    expected = (6 * A).diag() + rl.tensor([[0.0, 1, 0], [1, 0, 0], [0, 0, 0]])
    v = rl.tensor([1.0, -2.0, 0.5])
    assert_close(F.hessian(cubic, A), expected)
    assert_close(F.hessian(cubic, A, outer_jacobian_strategy="forward-mode"), expected)
    for product in (F.hvp, F.vhp):
        value, found = product(cubic, A, v)
        assert_close((value, found), (cubic(A), expected @ v))


def test_hessian_of_several_inputs():
    blocks = F.hessian(lambda a, b: a.sum() ** 2 * b.sum(), (A, B))
    total = A.sum()
    assert_close(blocks[0][0], (2 * B.sum()).expand(3, 3))
    assert_close(blocks[0][1], (2 * total).expand(3, 2))
    assert_close(blocks[1][1], rl.zeros(2, 2))


def test_create_graph():
    x = A.clone().requires_grad_()
    F.jacobian(lambda x: x**3, x, create_graph=True).sum().backward()
    assert_close(x.grad, 6 * A)
    assert not F.jacobian(lambda x: x**3, x).requires_grad


def test_strict_and_wrong_calls():
    with pytest.raises(RuntimeError, match="does not require gradients"):
        F.jacobian(lambda x: rl.ones(2), A, strict=True)
    with pytest.raises(RuntimeError, match="independent"):
        F.jacobian(lambda a, b: a * 2, (A, B), strict=True)
    assert_close(F.jacobian(lambda a, b: a * 2, (A, B)), (2 * rl.eye(3), rl.zeros(3, 2)))
    with pytest.raises(TypeError, match="must be either a Tensor or a tuple"):
        F.jacobian(lambda x: 3, A)
    with pytest.raises(RuntimeError, match="single element"):
        F.hessian(lambda x: x, A)
    with pytest.raises(RuntimeError, match="invalid size"):
        F.jvp(lambda x: x, A, rl.ones(2))
    with pytest.raises(AssertionError, match="strategy"):
        F.jacobian(rl.exp, A, strategy="sideways")
