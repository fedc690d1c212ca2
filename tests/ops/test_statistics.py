"""Medians, modes, quantiles and covariances against PyTorch."""

import rushlight as rl

from .parity import agree, numbers, table

N = "L([1.0, math.nan, 0, math.nan])"


@table(
    f"""
    X.median()
    X.median(1)
    X.median(0, True)
    {N}.median()
    {N}.median(0)
    {N}.nanmedian()
    {N}.nanmedian(0)
    L([math.nan, math.nan]).nanmedian(0)
    L([3, 1, 2, 5]).median(0)
    E.median()
    E.median(0)
    S.median(0)
    T.zeros(0, 3).median(1)
    L([True, False]).median()
    L([1, 2, 2, 3, 3]).mode()
    L([[1, 1, 2], [2, 3, 3]]).mode(0)
    L([[1, 1, 2], [2, 3, 3]]).mode(1, True)
    L([True, False]).mode()
    E.mode()
    S.mode()
    X.quantile(0.5)
    X.quantile(L([0.5, 0.1], dtype=T.float64), 1, keepdim=True)
    X.quantile(L(0.5, dtype=T.float64), 1, keepdim=True)
    X.quantile(0.3, keepdim=True)
    X.quantile(0.3, 1, interpolation='lower')
    X.quantile(0.3, 1, interpolation='higher')
    X.quantile(0.3, 1, interpolation='nearest')
    X.quantile(0.3, 1, interpolation='midpoint')
    X.quantile(0.3, interpolation='other')
    X.quantile(2.0)
    X.quantile(L([0.5]))
    X.quantile(L([[0.5]], dtype=T.float64))
    X.quantile(L([1.5], dtype=T.float64))
    X.long().quantile(0.5)
    X.half().quantile(0.5)
    E.quantile(0.5)
    S.quantile(0.5, 0)
    {N}.quantile(0.5)
    {N}.nanquantile(0.5)
    L([math.nan]).nanquantile(0.5)
    X.nanquantile(L([0.3, 0.8], dtype=T.float64), 0)
    T.cov(X)
    T.cov(Y)
    T.cov(S)
    T.cov(X, correction=0)
    T.cov(X, correction=5)
    T.cov(X, fweights=L([1, 2, 3, 1]))
    T.cov(X, aweights=L([1.0, 2, 3, 1]))
    T.cov(X, fweights=L([1, 2, 3, 1]), aweights=L([1.0, 2, 3, 1]))
    T.cov(X.long())
    T.cov(X * (1 + 2j))
    T.cov(T.zeros(2, 2, 2))
    T.cov(X, fweights=L([1.0, 2, 3, 1]))
    T.cov(X, fweights=L([1, 2]))
    T.cov(X, fweights=L([-1, 2, 3, 1]))
    T.corrcoef(X.sin())
    T.corrcoef(Y)
    T.corrcoef(X.sin() * (1 + 2j))
    """
)
def test_values_and_errors(expression):
    agree(expression, numbers)


@table(
    """
    x.sin().median() * s
    x.sin().median(1)[0] * s
    x.round(decimals=0).clamp(0, 2).median() * s
    x.sin().nanmedian(0)[0] * s
    x.sin().mode(1)[0] * s
    x.sin().quantile(0.3, 1) * s
    x.sin().nanquantile(0.7) * s
    T.cov(x.sin() * y)
    T.corrcoef(x.sin() * y)
    """
)
def test_gradients(expression):
    agree(f"gradients(lambda x, y, s: {expression})", numbers)


def test_weights_of_a_wider_type_keep_their_digits():
    x = rl.tensor([[1.5, 2, 9], [3, -4, 0.25]], dtype=rl.bfloat16)
    weights = rl.tensor([0.3, 0.7, 0.11])
    expected = rl.cov(x.double(), correction=0, aweights=weights.double())
    rl.testing.assert_close(rl.cov(x, correction=0, aweights=weights), expected.float())
