"""Masks and positions against PyTorch."""

import numpy as np

import rushlight as rl
from rushlight.compiler import index_compact
from rushlight.ops import compaction

from .parity import agree, numbers, table


@table(
    """
    X.masked_fill(X > 2, 7)
    X.masked_fill(Y > 2, S)
    Y.masked_fill(X > 2, 7)
    X.long().masked_fill(X > 2, 1.7)
    X.masked_fill(X > 2, 1j)
    X.masked_fill(X, 1)
    X.masked_fill(X > 2, Y)
    X.clone().masked_fill_(Y > 2, 7)
    X.masked_select(X > 2)
    X.masked_select(Y > 2)
    X.masked_select(X)
    X.t().masked_select(X.t() > 2)
    S.masked_select(S > 2)
    X.masked_scatter(X > 2, X)
    X.masked_scatter(X > 2, Y[:2])
    X.masked_scatter(X > 200, Y[:0])
    X.masked_scatter(X > 2, X.float())
    T.where(X > 2)
    T.where(X > 2, X, S)
    T.where(X > 2, X, 0)
    (X > 2).nonzero()
    (X > 2).nonzero(as_tuple=True)
    S.nonzero()
    S.nonzero(as_tuple=True)
    T.zeros(0, 3).nonzero()
    L([0, 1j]).nonzero()
    L([0.0, math.nan, -0.0]).nonzero()
    T.argwhere(X > 2)
    X.nonzero().stride()
    T.nonzero_static(X > 2, size=3)
    T.nonzero_static(X > 2, size=9, fill_value=-5)
    """
)
def test_values_and_errors(expression):
    agree(expression, numbers)


@table(
    """
    X.masked_fill(X > 2, S)
    X.masked_select(X > 2)
    X.masked_scatter(X > 2, X * S)
    X[X > 2]
    X[Y > 2.5, :][:, :2] if False else X[:, Y > 2.5]
    """
)
def test_gradients(expression):
    agree(f"gradients(lambda X, Y, S: {expression})", numbers)


def test_more_than_one_block():
    """Several blocks are counted one by one and joined."""
    assert compaction.BLOCK == index_compact.BLOCK
    a = np.random.default_rng(0).integers(0, 3, (3, 20000))
    x = rl.tensor(a)
    assert np.array_equal(x.nonzero().numpy(), np.argwhere(a))
    assert np.array_equal(x[x > 1].numpy(), a[a > 1])
