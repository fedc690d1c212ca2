"""cat, stack, split and their kin against PyTorch."""

import numpy as np
import pytest

import rushlight as rl

from .parity import agree, numbers, table


@table(
    """
    T.cat([X, X], 1)
    T.cat([X, T.zeros(2, 4)])
    T.cat([X, T.zeros(0)])
    T.cat([T.zeros(0), T.zeros(0)])
    T.cat([X.long(), X.bool(), X.half()])
    T.cat([])
    T.cat([X, T.zeros(3, 5)])
    T.cat([X, Y])
    T.cat([X, None])
    T.cat([S, S])
    T.cat([X], dim=5)
    T.cat([X.t(), X.t()], dim=-1).stride()
    T.cat([T.zeros(1, 2, 2, 2).to(memory_format=T.channels_last)] * 2, 1).stride()
    T.cat([X, X], out=T.empty(0, dtype=T.float64))
    T.cat([X[:, :1]] * 70, 1)
    T.stack([X, X], 1)
    T.stack([S, S], -1)
    T.stack([X, Y])
    T.stack([])
    T.stack([X.long(), X])
    T.hstack([S, S])
    T.hstack([])
    T.hstack((Y, X))
    T.vstack([Y, X])
    T.row_stack([X, X])
    T.dstack([Y, Y])
    T.dstack([X, X])
    T.column_stack([X[:, 0], X])
    T.column_stack([S, S])
    T.atleast_1d(S, X)
    T.atleast_2d(Y)
    T.atleast_3d([S, Y, X])
    T.block_diag(X, S, Y)
    T.block_diag()
    T.block_diag(T.zeros(2, 2, 2))
    T.block_diag(X, L([[1]]))
    T.broadcast_tensors(X, S, Y)
    T.broadcast_tensors(X, T.zeros(5))
    T.broadcast_tensors()
    T.broadcast_to(S, (3,)).stride()
    T.meshgrid(Y, X[0], S)
    T.meshgrid(Y, X[0, :2], indexing='xy')
    T.meshgrid(Y, L([1]))
    T.meshgrid(X)
    T.meshgrid([Y, Y], indexing='ab')
    T.meshgrid()
    T.cartesian_prod(Y, X[0])
    T.cartesian_prod(Y)
    T.cartesian_prod(X)
    T.combinations(Y)
    T.combinations(Y, r=3, with_replacement=True)
    T.combinations(Y, 0)
    T.combinations(Y, 1)
    T.combinations(X)
    """
)
def test_joined(expression):
    agree(expression, numbers)


@table(
    """
    X.split(2)
    X.split([1, 2])
    T.split(X, split_size_or_sections=3, dim=1)
    X.split(split_size=3, dim=1)
    X.split((1, 1))
    X.split(0)
    X.split(-1)
    S.split(1)
    T.zeros(0, 2).split(0)
    T.zeros(0, 2).split(3)
    X.split(L(2))
    X.split_with_sizes([1, -1, 3])
    X.chunk(2, 1)
    X.chunk(5)
    X.chunk(0)
    S.chunk(1)
    T.zeros(0, 2).chunk(3)
    X.tensor_split(2)
    X.tensor_split((1,), 1)
    X.tensor_split(L([1, 3]), 1)
    X.tensor_split(L(2), 1)
    X.tensor_split(0)
    S.tensor_split(1)
    X.tensor_split((2, 1), 1)
    X.tensor_split((-1, 9), 1)
    X.hsplit(3)
    X.hsplit(2)
    Y.hsplit((1, 2))
    S.hsplit(1)
    X.hsplit(0)
    X.vsplit(2)
    X.vsplit([1])
    X.dsplit(2)
    """
)
def test_split(expression):
    agree(expression, numbers)


@table(
    """
    T.cat([X, X * S], 1)
    T.stack([X, X * S], 1)
    T.hstack([Y, S.reshape(1)])
    T.block_diag(X, S, Y)
    T.meshgrid(Y, Y)
    T.cartesian_prod(Y, Y)
    T.combinations(Y)
    [a * S for a in X.split(2)]
    [a * S for a in X.chunk(3, 1)]
    X.tensor_split((1,), 1)
    """
)
def test_gradients(expression):
    expression = expression.replace("X", "x").replace("Y", "y").replace("S", "s")
    agree(f"gradients(lambda x, y, s: {expression})", numbers)


def test_parts_are_views():
    x = rl.zeros(4, 3)
    for part in x.split(2):
        part.fill_(1)
    x.chunk(3, 1)[1].mul_(5)
    assert x.tolist() == [[1, 5, 1]] * 4


def test_sizes_need_not_be_known():
    """One structure serves other sizes: nothing is traced again."""

    def traced():
        return sum(len(known) for known in rl.cat.structures.values())

    rl.cat([rl.zeros(2, 7, dtype=rl.float64)] * 2, 1)
    before = traced()
    for n in (3, 5, 8):
        a = np.arange(2.0 * n).reshape(2, n)
        x = rl.tensor(a)
        assert np.array_equal(rl.cat([x, x], 1).numpy(), np.concatenate([a, a], 1))
    assert traced() == before


def test_shapes_broadcast():
    assert rl.broadcast_shapes((3,), (2, 1)) == (2, 3)
    with pytest.raises(RuntimeError):
        rl.broadcast_shapes((3,), (2,))


def test_long_lists_of_views_join_the_graph_of_their_base():
    base, w = rl.zeros(4), rl.ones(4, requires_grad=True)
    view = base[:2]
    base.add_(w)
    joined = rl.cat([view] + [rl.zeros(2)] * 100)
    joined.sum().backward()
    assert w.grad.tolist() == [1, 1, 0, 0]
