"""Products of vectors and matrices against PyTorch."""

import pytest
from ops.parity import agree, numbers, table

import rushlight as rl


@table(
    """
    T.linalg.vander(L([1, 2, 3]))
    T.linalg.vander(L([1, 2, 3]), N=2)
    T.linalg.vander(L([1, 2, 3]), N=6)
    T.linalg.vander(L([1, 2, 3]), 6)
    T.linalg.vander(L([1, 2, 3]), N=1)
    T.linalg.vander(X)
    T.linalg.vander(S)
    T.linalg.vander(S, N=2)
    T.linalg.vander(L([True, False]))
    T.linalg.vander(Y.bfloat16())
    T.linalg.vander(L([1, 2], dtype=T.uint8))
    T.linalg.vander(Y * 1j)
    T.linalg.vander(T.zeros(0, 3)).shape
    T.linalg.vander(E)
    T.linalg.vecdot(X, X)
    T.linalg.vecdot(X, Y)
    T.linalg.vecdot(X[0], X[1])
    T.linalg.vecdot(X[0], X[0, :1])
    T.linalg.vecdot(X, X, dim=0)
    T.linalg.vecdot(X, X, dim=5)
    T.linalg.vecdot(X, X.float())
    T.linalg.vecdot(X.long(), X.long())
    T.linalg.vecdot(X * (1 + 1j), X * 1j)
    T.linalg.vecdot(S, S)
    T.linalg.vecdot(T.zeros(3, 0), T.zeros(3, 0))
    T.linalg.vecdot(X, X, out=T.empty(3))
    T.linalg.multi_dot([X])
    T.linalg.multi_dot([])
    T.linalg.multi_dot([X, X.T, X])
    T.linalg.multi_dot([Y, X.T, X])
    T.linalg.multi_dot([Y, X.T, X[:, 0]])
    T.linalg.multi_dot([Y, Y])
    T.linalg.multi_dot([X, X])
    T.linalg.multi_dot([X, X.T, Y])
    T.linalg.multi_dot([X, X.T.float()])
    T.linalg.multi_dot([X, X.T[None], X])
    T.linalg.multi_dot([X[None], X.T])
    T.linalg.multi_dot((X, X.T), out=T.empty(3, 3, dtype=T.float64))
    T.linalg.multi_dot((X, X.T), out=T.empty(3, 3))
    T.linalg.multi_dot([T.zeros(0, 3), T.zeros(3, 2), T.zeros(2, 0)])
    T.linalg.multi_dot(X)
    T.chain_matmul(X, X.T, X)
    T.chain_matmul(X)
    T.chain_matmul()
    T.chain_matmul(X, X)
    T.chain_matmul(Y, X)
    T.linalg.cross(L([1, 2, 3]), L([3, 2, 1]))
    T.linalg.cross(X.T, X.T.flip(0))
    T.linalg.cross(X, X)
    T.linalg.cross(X, X * X, dim=0)
    T.linalg.cross(X[:, :3], X[:1, :3])
    T.linalg.cross(X[:, :3], L([[1, 2, 3]]))
    T.linalg.cross(X[:, :3], X[0, :3])
    T.linalg.diagonal(X.reshape(2, 3, 2))
    T.linalg.diagonal(X, offset=1)
    T.linalg.diagonal(X, 1)
    T.linalg.diagonal(Y)
    T.linalg.matmul(X, X.T)
    T.linalg.matrix_power(X[:, :3], 5)
    T.linalg.matrix_power(X[:, :3], 0)
    T.linalg.matrix_power(X[:, :3].mul(0.7).square().sin(), -2)
    T.linalg.matrix_power(X, 0)
    T.linalg.matrix_power(Y, 0)
    T.linalg.matrix_power(X[:, :3], 2.5)
    T.linalg.matrix_power(X[:, :3].long(), 3)
    T.linalg.matrix_power(X[:, :3].long(), -3)
    T.linalg.matrix_power(T.zeros(2, 0, 0), 3)
    gradients(lambda x, y, s: T.linalg.multi_dot([y, x.T, x]))
    gradients(lambda x, y, s: T.linalg.vander(y / 4))
    gradients(lambda x, y, s: T.linalg.vecdot(x * (1 + 2j), y * 1j))
    gradients(lambda x, y, s: [T.linalg.matrix_power(x[:, :3].mul(0.7).square().sin(), n) for n in (0, 1, 3, -2)])
    """
)
def test_products(expression):
    agree(expression, numbers)


def test_multi_dot_takes_the_cheapest_order(monkeypatch):
    """(10 x 1000)(1000 x 5)(5 x 1000): the first two first."""
    from rushlight.ops import matmul

    seen, plain = [], matmul.mm
    monkeypatch.setattr(matmul, "mm", lambda a, b: seen.append((a.shape, b.shape)) or plain(a, b))
    rl.linalg.multi_dot([rl.ones(10, 1000), rl.ones(1000, 5), rl.ones(5, 1000)])
    assert seen == [((10, 1000), (1000, 5)), ((10, 5), (5, 1000))]


def test_matrix_power_is_exact_and_takes_square_matrices():
    x = rl.eye(3) * 2
    assert rl.matrix_power(x, 10).tolist() == (rl.eye(3) * 1024).tolist()
    with pytest.raises(RuntimeError, match="square matrices, but they are 2 by 3"):
        rl.matrix_power(rl.ones(2, 3), 2)
