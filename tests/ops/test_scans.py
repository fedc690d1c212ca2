"""Running folds, differences and the trapezoidal rule against PyTorch."""

import rushlight as rl

from .parity import agree, numbers, table


@table(
    """
    X.cumsum(1)
    X.cumsum(0, dtype=T.int64)
    X.cumsum(5)
    S.cumsum(0)
    L([True, True]).cumsum(0)
    T.ones(3, dtype=T.int32).cumsum(0)
    T.ones(3, dtype=T.int32).cumsum_(0)
    X.t().cumsum(1)
    X.cumprod(1)
    (X * 1j).cumprod(0)
    L([True]).cumprod(0)
    X.logcumsumexp(0)
    (X * (1 + 2j)).logcumsumexp(1)
    L([1, 2]).logcumsumexp(0)
    L([1.0, math.nan, 3.0, 2.0]).cummax(0)
    L([1, 1, 2]).cummax(0)
    X.cummin(1)
    E.cummax(0)
    S.cummin(0)
    X.diff()
    X.diff(dim=0, n=2)
    X.diff(n=10)
    X.diff(n=0)
    X.diff(n=-1)
    S.diff()
    X.diff(prepend=S)
    X.diff(prepend=X[:, :1], append=X[:, :2])
    X.diff(prepend=X[:1])
    L([True, False]).diff()
    T.trapezoid(X)
    T.trapezoid(X, X * 2)
    T.trapezoid(X, dx=0.5)
    T.trapezoid(X, dim=0)
    T.trapezoid(X, Y)
    T.trapezoid(X, Y[:2])
    T.trapezoid(T.tensor([5, 3, 7], dtype=T.uint8), T.tensor([9, 2, 4], dtype=T.uint8))
    T.cumulative_trapezoid(T.tensor([100, 90, 7], dtype=T.int8), T.tensor([9, 2, 4]))
    T.trapezoid(T.tensor([100, 90, 7], dtype=T.int8), dx=0.5)
    T.trapezoid(T.zeros(2, 0))
    T.trapezoid(T.zeros(0, 2))
    T.trapz(L([1, 2, 3]))
    T.trapezoid(L([True]))
    T.cumulative_trapezoid(X)
    T.cumulative_trapezoid(X, Y[:3], dim=0)
    """
)
def test_values_and_errors(expression):
    agree(expression, numbers)


@table(
    """
    x.cumsum(1) * y
    x.cumprod(0) * y
    (x / 4).logcumsumexp(1) * y
    x.sin().cummax(1)[0] * y
    x.sin().cummin(0)[0] * y
    (x + 1j).cumprod(1)
    x.diff(n=2) * s
    T.trapezoid(x, y) * s
    T.cumulative_trapezoid(x, y) * s
    """
)
def test_gradients(expression):
    agree(f"gradients(lambda x, y, s: {expression})", numbers)


def test_trapezoids_of_narrow_numbers_wrap_around():
    """As in PyTorch: sums of two heights and steps backwards stay in the dtype."""
    y, x = rl.tensor([100, 50, 200], dtype=rl.uint8), rl.tensor([3, 1, 7], dtype=rl.uint8)
    assert rl.trapezoid(y, x).item() == 216 and rl.trapezoid(y).item() == 328
    assert rl.cumulative_trapezoid(y, x).tolist() == [106, 216]


def test_logcumsumexp_of_no_complex_numbers():
    assert rl.zeros(0, 3, dtype=rl.complex64).logcumsumexp(0).shape == (0, 3)
