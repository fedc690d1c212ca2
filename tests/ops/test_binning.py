"""Search, counts and histograms against PyTorch."""

import rushlight as rl

from .parity import agree, numbers, table


@table(
    """
    T.searchsorted(Y, 2)
    T.searchsorted(Y, X)
    T.searchsorted(Y, X, right=True)
    T.searchsorted(Y, X, side='right', out_int32=True)
    T.searchsorted(Y, X, side='left', right=True)
    T.searchsorted(Y, X, side='other')
    T.searchsorted(X, X[:, :1])
    T.searchsorted(X, Y)
    T.searchsorted(S, Y)
    T.searchsorted(X, S)
    T.searchsorted(Y, S)
    T.searchsorted(L([1, 2, 3]), 2.5)
    T.searchsorted(L([3.0, 1, 2]), L([2.0]), sorter=L([1, 2, 0]))
    T.searchsorted(Y, S.reshape(1), sorter=L([0, 1]))
    T.searchsorted(Y, S.reshape(1), sorter=L([0, 1, 2, 5]))
    T.searchsorted(Y, S.reshape(1), sorter=L([0.0, 1, 2, 3]))
    T.searchsorted(Y, Y[:0])
    T.searchsorted(Y[:0], Y)
    T.bucketize(X, Y)
    T.bucketize(X, Y, right=True)
    T.bucketize(2, Y)
    T.bucketize(Y, X)
    T.bincount(L([1, 3, 3]))
    T.bincount(L([1, 3]), L([0.5, 0.25]))
    T.bincount(L([1, 3]), T.tensor([1, 2], dtype=T.int32))
    T.bincount(L([1, 1]), minlength=5)
    T.bincount(E.long(), minlength=3)
    T.bincount(L([1, -3]))
    T.bincount(L([1.0]))
    T.bincount(L([[1]]))
    T.bincount(L([1]), minlength=-1)
    T.bincount(L([1, 3]), L([0.5]))
    T.bincount(L([True]))
    T.histc(X)
    T.histc(X, 4, 0, 7)
    T.histc(X, 4, 7, 2)
    T.histc(X, 0)
    T.histc(X.long(), 4)
    T.histc(L([1.0, 1.0]), 3)
    T.histc(L([math.nan, 1.0]), 3)
    T.histc(L([math.nan, 1.0]), 3, 0, 2)
    T.histc(E, 3)
    T.histogram(X, 4)
    T.histogram(X, 4, range=(2.0, 7.0))
    T.histogram(X, L([0.0, 3.0, 5.0, 20.0], dtype=T.float64), density=True)
    T.histogram(X, 4, weight=X)
    T.histogram(S, 2)
    T.histogram(X[:0], 2)
    T.histogram(X, 0)
    T.histogram(X, L([0, 3]))
    """
)
def test_values_and_errors(expression):
    agree(expression, numbers)


def test_bin_edges_have_memory_of_their_own():
    edges = rl.tensor([0.0, 1.0, 2.0])
    assert rl.histogram(rl.rand(5), edges).bin_edges.data_ptr() != edges.data_ptr()
