"""Softmax over the elements that a sparse tensor holds: those it does not hold count as minus infinity."""

from __future__ import annotations

from .. import ops
from ..core.engine import Tensor
from . import graph, lookup
from .convert import as_coo, coalesce
from .parts import kind_of, parts_of
from .shape import wrap


def softmax(input: Tensor, dim: int, *, dtype=None) -> Tensor:
    """exp(x) / sum(exp(x)) along a dim, of the elements that are held.

    >>> s = rushlight.sparse_coo_tensor([[0, 0, 1], [0, 2, 1]], [0.0, 0.0, 7.0], (2, 3))
    >>> rushlight.sparse.softmax(s, 1).to_dense()
    tensor([[0.5000, 0.0000, 0.5000],
            [0.0000, 1.0000, 0.0000]])
    """
    return over(input, dim, dtype, "softmax")


def log_softmax(input: Tensor, dim: int, *, dtype=None) -> Tensor:
    """x - log(sum(exp(x))) along a dim, of the elements that are held.

    >>> s = rushlight.sparse_coo_tensor([[0, 0, 1], [0, 2, 1]], [0.0, 0.0, 7.0], (2, 3))
    >>> rushlight.sparse.log_softmax(s, 1).values()
    tensor([-0.6931, -0.6931,  0.0000])
    """
    return over(input, dim, dtype, "log_softmax")


def over(input: Tensor, dim: int, dtype, name: str) -> Tensor:
    if not kind_of(input):
        refuse_dense(name, input)
    source = coalesce(as_coo(input if dtype is None else input.to(dtype)))
    if source.dtype.kind != "f":
        raise NotImplementedError(f'"{name}" not implemented for {source.dtype.name}')
    d, count = wrap(dim, source.ndim), parts_of(source).indices.shape[0]
    new = graph.values(source)
    if d >= count:
        found = getattr(ops, name)(new, d - count + 1)
    elif not new.numel():
        found = new * 1
    else:
        found = by_group(new, *groups(source, d), name == "log_softmax")
    return graph.rebuilt(
        source.detach(), found, "SparseLogSoftmaxBackward0" if "log" in name else "SparseSoftmaxBackward0"
    )


def refuse_dense(name: str, input: Tensor) -> None:
    raise RuntimeError(f"sparse.{name} expects a sparse tensor, got layout {input.layout}; use {name}")


def groups(source: Tensor, d: int) -> tuple[Tensor, int]:
    """(for each element the number of the line along dim d that it lies in, how many such lines there are)"""
    indices = parts_of(source).indices
    rest = ops.cat([indices[:d], indices[d + 1 :]])
    sizes = tuple(n for e, n in enumerate(source.shape[: indices.shape[0]]) if e != d)
    key, inverse = ops.unique(lookup.keys(rest, sizes), return_inverse=True)
    return inverse, key.shape[0]


def by_group(new: Tensor, group: Tensor, count: int, log: bool) -> Tensor:
    """Softmax of the slices of `new` among those of the same group."""
    lowest = ops.full((count, *new.shape[1:]), float("-inf"), dtype=new.dtype)
    places = group.reshape((-1, *(1,) * (new.ndim - 1))).expand(tuple(new.shape))
    most = ops.scatter_reduce(lowest, 0, places, new.detach(), "amax")
    shifted = new - most.index_select(0, group)
    powers = shifted.exp()
    totals = ops.zeros((count, *new.shape[1:]), dtype=new.dtype).index_add(0, group, powers)
    if log:
        return shifted - totals.log().index_select(0, group)
    return powers / totals.index_select(0, group)
