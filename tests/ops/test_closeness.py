"""isclose, allclose and equal against PyTorch."""

from .parity import agree, numbers, table


@table(
    """
    T.isclose(X, X + 1e-6)
    T.isclose(X, S)
    T.isclose(X, X.float())
    T.isclose(X, 2)
    T.isclose(L([math.nan, math.inf, -math.inf]), L([math.nan, math.inf, math.inf]))
    T.isclose(L([math.nan]), L([math.nan]), equal_nan=True)
    T.isclose(L([1, 2]), L([1, 3]))
    T.isclose(L([1j]), L([1j + 1e-9]))
    T.isclose(X, X, rtol=-1)
    T.isclose(X, X + 0.5, 0, 0.6)
    T.allclose(X, X + 1e-9)
    T.allclose(X, X + 1)
    T.allclose(X, X.float())
    T.equal(X, X.clone())
    T.equal(X, X + 1)
    T.equal(X, Y)
    T.equal(X, X.float())
    T.equal(E, E)
    T.equal(L([math.nan]), L([math.nan]))
    """
)
def test_values_and_errors(expression):
    agree(expression, numbers)
