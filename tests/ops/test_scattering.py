"""gather, scatter and the index_ family against PyTorch."""

from .parity import agree, numbers, table

R = "L([[0, 1, 2, 0], [0, 0, 1, 1], [2, 2, 2, 2]])"


@table(
    f"""
    X.gather(0, {R})
    X.gather(1, L([[0, 3], [1, 1]]))
    X.gather(0, T.tensor([[0, 1]], dtype=T.int32))
    X.gather(0, L([[0.0, 1]]))
    X.gather(0, L([0, 1]))
    X.gather(0, L([[3]]))
    X.gather(0, L([[-1]]))
    X.gather(1, L([[0, 1]] * 4))
    S.gather(0, L(0))
    S.gather(0, L([0]))
    Y.gather(0, L(1))
    X.gather(0, L([]).long())
    X.index_select(0, L([2, 0, 2]))
    X.index_select(0, L([-1]))
    X.index_select(0, L([[1]]))
    X.index_select(0, L([1.0]))
    X.index_select(0, L(1))
    S.index_select(0, L([0]))
    S.index_select(0, L([0, 0]))
    X.take(L([[0, -1], [5, 5]]))
    X.take(L([12]))
    T.take_along_dim(X, L([[0], [-1], [2]]), 1)
    T.take_along_dim(X, L([0, 5]))
    T.take_along_dim(X, L([[0, 2]]), 1)
    X.scatter(0, {R}, X)
    X.scatter(0, {R}, 9)
    X.scatter(0, {R}, X, reduce='add')
    X.scatter(0, {R}, 2, reduce='multiply')
    X.scatter(0, {R}, 2, reduce='sum')
    X.scatter(0, {R}, X.float())
    X.scatter(0, L([[0, 1] * 3]), X)
    X.scatter(0, L([[0, 1]]), L(3.0, dtype=T.float64))
    X.scatter(0, L([[0, 1], [0, 1]]), X[:1])
    S.scatter(0, L([0]), S)
    X.clone().scatter_(1, L([[0], [1], [2]]), value=1.0)
    X.scatter_add(1, L([[0, 0, 0, 3]]), X)
    X.index_add(0, L([0, 0]), X[:2], alpha=2)
    X.index_add(0, L([0, 3]), X[:2])
    X.index_add(0, L([0]), X[:2])
    X.index_add(0, L([0, 1]), X[:2].float())
    X.index_add(0, L([0, 1]), X[:2, :3])
    (X > 0).index_add(0, L([0, 1, 0]), X > 4)
    S.index_add(0, L([0]), S)
    X.index_copy(1, L([0, 3]), X[:, :2])
    X.index_copy(0, L([0, -1]), X[:2])
    X.index_copy(0, L([0]), X[0])
    X.index_fill(0, L([0, 2]), 1)
    X.index_fill(1, L([1]), S)
    X.index_fill(0, L([0]), L([1.0]))
    X.index_fill(0, L([[0]]), 1)
    X.index_fill(0, L([0]), 1j)
    X.put(L([[0, -1], [5, 6]]), X[:2, :2])
    X.t().contiguous().t().clone().put_(L([1, 5, 1]), Y[:3], accumulate=True)
    X.put(L([0, 1]), Y)
    T.select_scatter(X, Y[:3], 1, -1)
    T.slice_scatter(X, X[:, :2], 1, 0, None, 2)
    T.slice_scatter(X, X[:2], 0, -2)
    T.slice_scatter(X, X[:1], 0, -2)
    T.diagonal_scatter(X, Y[:3], 1)
    T.diagonal_scatter(X, Y[:2], -1)
    T.as_strided_scatter(X, Y.reshape(2, 2), (2, 2), (2, 1), 3)
    """
)
def test_values_and_errors(expression):
    agree(expression, numbers)


@table(
    "\n".join(
        f"X.scatter_reduce(0, {R}, X * 2 - 3, '{reduce}', include_self={own})"
        f"\nX.long().scatter_reduce(0, {R}, X.long() * 2 - 3, '{reduce}', include_self={own})"
        for reduce in ("sum", "prod", "mean", "amax", "amin", "other")
        for own in (True, False)
    )
    + "\n"
    + "\n".join(f"X.index_reduce(0, L([0, 2, 0]), X, '{r}', include_self=False)" for r in ("prod", "mean", "amax"))
)
def test_reductions(expression):
    agree(expression, numbers)


@table(
    f"""
    X.gather(0, {R})
    X.index_select(1, L([0, 2, 2]))
    X.take(L([0, 5, 5]))
    T.take_along_dim(X, L([[0], [-1], [2]]), 1)
    X.scatter(0, L([[0, 1, 2, 0], [1, 2, 0, 1], [2, 0, 1, 2]]), X * X)
    X.scatter_add(0, {R}, X * Y)
    X.scatter_reduce(0, {R}, X * Y, 'mean')
    X.scatter_reduce(0, {R}, X * Y, 'amax')
    X.scatter_reduce(0, {R}, X * Y, 'prod', include_self=False)
    X.index_add(1, L([0, 0, 3]), X[:, 1:] * S, alpha=2)
    X.index_copy(1, L([0, 3]), X[:, :2] * S)
    X.index_fill(1, L([0, 2]), S)
    X.put(L([0, 5]), Y[:2] * S)
    T.select_scatter(X, Y[:3], 1, -1)
    T.slice_scatter(X, X[:, :2] * S, 1, 0, None, 2)
    T.diagonal_scatter(X, Y[:3], 1)
    X.index_put((L([0, -1, 0]), L([1, 1, 1])), Y[:3], accumulate=True)
    """
)
def test_gradients(expression):
    agree(f"gradients(lambda X, Y, S: {expression})", numbers)
