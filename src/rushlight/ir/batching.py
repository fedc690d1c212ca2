"""What batch rules share: bringing the batch dimension of operands to the front."""

from __future__ import annotations

from .graph import Value
from .primitive import PRIMITIVES


def move_dim(x: Value, source: int, target: int) -> Value:
    """Dimension `source` placed at `target`, the others in order."""
    if source == target:
        return x
    order = [d for d in range(x.ndim) if d != source]
    order.insert(target, source)
    return PRIMITIVES["permute"](x, dims=tuple(order))


def front(x: Value, dim: int) -> Value:
    """The batch dimension first."""
    return move_dim(x, dim, 0)


def batch_size(inputs, dims):
    return next(x.shape[d] for x, d in zip(inputs, dims) if d is not None)


def lead_all(inputs, dims) -> list[Value]:
    """All operands with the batch first; those that have none are repeated."""
    size = batch_size(inputs, dims)
    return [
        front(x, d) if d is not None else PRIMITIVES["expand"](x, shape=(size, *x.shape)) for x, d in zip(inputs, dims)
    ]


def batch_map(prim, node, inputs, dims):
    """The batch rule of every map."""
    if len(inputs) == 1 or len(set(dims)) == 1:
        # element by element, any place of the batch dimension will do
        return [prim(*inputs, **node.attrs)], [dims[0]]
    return [prim(*lead_all(inputs, dims), **node.attrs)], [0]


def sum_batch(x: Value) -> Value:
    """The sum over a leading batch dimension; products of matrices contract it instead of making them all."""
    node = x.node
    name = None if node is None else node.prim.name
    if name == "permute" and node.attrs["dims"][0] == 0:
        return PRIMITIVES["permute"](sum_batch(node.inputs[0]), dims=tuple(d - 1 for d in node.attrs["dims"][1:]))
    if name == "reshape" and node.inputs[0].ndim and x.shape[0] == node.inputs[0].shape[0]:
        return PRIMITIVES["reshape"](sum_batch(node.inputs[0]), shape=tuple(x.shape[1:]))
    if name == "dot" and x.ndim == 3:
        a, b = node.inputs
        size, rows, inner = a.shape
        a = PRIMITIVES["reshape"](move_dim(a, 0, 1), shape=(rows, size * inner))
        return PRIMITIVES["dot"](a, PRIMITIVES["reshape"](b, shape=(size * inner, b.shape[2])))
    from . import build

    return build.sum(x, (0,), False, x.dtype)
