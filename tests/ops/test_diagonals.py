"""Diagonals and triangles against PyTorch."""

from .parity import agree, numbers, table


@table(
    """
    X.diag()
    X.diag(1)
    X.diag(5)
    Y.diag(1)
    Y.diag(-1)
    S.diag()
    T.zeros(2, 2, 2).diag()
    T.diagflat(X, 1)
    X.diagonal(-1)
    X.diagonal(10)
    X.diagonal(0, 0, 0)
    Y.diagonal()
    T.diag_embed(X, 1, 0, 2)
    T.diag_embed(X, -2)
    T.diag_embed(X, 1, 2, 0)
    T.diag_embed(X, 0, 0, 0)
    X.tril()
    X.tril(-1)
    X.triu(1)
    (X > 0).tril()
    (X * 1j).triu(-1)
    X.clone().tril_(1)
    Y.tril()
    T.zeros(0, 3).tril()
    T.tril_indices(3, 4, -1)
    T.triu_indices(3, 4, 1)
    T.triu_indices(3, 4, dtype=T.int32)
    T.tril_indices(3, -4)
    T.tril_indices(0, 3)
    X.trace()
    X.int().trace()
    Y.trace()
    L([[True]]).trace()
    """
)
def test_values_and_errors(expression):
    agree(expression, numbers)


@table(
    """
    x.diag(1)
    y.diag(-1) * s
    x.diagonal(1) * s
    T.diag_embed(x, 1) * s
    x.tril(-1) * s
    x.triu(1) * s
    x.trace() * s
    """
)
def test_gradients(expression):
    agree(f"gradients(lambda x, y, s: {expression})", numbers)
