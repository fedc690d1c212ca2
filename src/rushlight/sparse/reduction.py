"""Sums and other reductions of sparse tensors."""

from __future__ import annotations

from .. import ops
from ..core.engine import Tensor
from ..ir import dtypes
from . import graph, lookup
from .convert import as_coo, coalesce, summed_by_place
from .dispatch import implements
from .parts import COO, coo, kind_of, parts_of
from .shape import unsqueeze, wrap


def sum(input: Tensor, dim=None, dtype=None) -> Tensor:
    """The sum of all elements (dense), or over dims: sparse while a sparse dim is left.

    >>> s = rushlight.sparse_coo_tensor([[0, 1, 1], [0, 0, 1]], [1.0, 2.0, 3.0], (2, 2))
    >>> rushlight.sparse.sum(s, 0).to_dense()
    tensor([3., 3.])
    """
    if not kind_of(input):
        raise RuntimeError(f"sparse.sum expects a sparse tensor, got layout {input.layout}")
    return total(input, dim, dtype=dtype)


@implements("sum")
def total(input: Tensor, dim=None, keepdim: bool = False, *, dtype=None) -> Tensor:
    """The sum over all or some dims."""
    if dtype is not None:
        input = input.to(dtype)
    if dim is None or (not isinstance(dim, int) and not len(dim)):
        return graph.values(input).sum() if not keepdim else graph.values(input).sum().reshape((1,) * input.ndim)
    dims = sorted({wrap(d, input.ndim) for d in ((dim,) if isinstance(dim, int) else dim)})
    if len(dims) != (1 if isinstance(dim, int) else len(dim)):
        raise RuntimeError(f"dim appears multiple times in the list of dims: {list(dim)}")
    result = over_dims(as_coo(input), dims)
    if not keepdim:
        return result
    for d in dims:
        result = unsqueeze(result, d) if kind_of(result) else result.unsqueeze(d)
    return result


def over_dims(input: Tensor, dims: list[int]) -> Tensor:
    """The sum of a COO tensor over dims."""
    indices, new = parts_of(input).indices, graph.values(input)
    count = indices.shape[0]
    dense = [d - count + 1 for d in dims if d >= count]
    new = new.sum(dense) if dense else new.to(accumulated(new.dtype))
    kept = [d for d in range(count) if d not in dims]
    if not kept:
        return new.sum(0)
    shape = tuple(n for d, n in enumerate(input.shape) if d not in dims)
    if len(kept) == count:
        made = coo(indices, new, shape, parts_of(input).coalesced)
        return graph.wrapped(made, new, "SparseSumBackward0")
    indices, new = summed_by_place(indices.index_select(0, ops.tensor(kept)), new, shape)
    return graph.wrapped(coo(indices, new, shape, True), new, "SparseSumBackward0")


def accumulated(dtype):
    """What elements are summed in: int64 for integers and bools."""
    return dtypes.int64 if dtype.kind in "bui" else dtype


def merged_values(input: Tensor) -> Tensor:
    """The values of a tensor's elements, each place once."""
    return graph.values(coalesce(input) if kind_of(input) == COO else input)


@implements("any")
def any(input: Tensor, dim=None, keepdim: bool = False) -> Tensor:
    """Whether an element is not zero (of the whole tensor)."""
    if dim is not None:
        raise NotImplementedError("any: sparse tensors are only reduced over all dims")
    return merged_values(input).any()


@implements("norm")
def norm(input: Tensor, p="fro", dim=None, keepdim: bool = False, out=None, dtype=None) -> Tensor:
    """The norm of all elements."""
    dims = None if dim is None else {wrap(d, input.ndim) for d in ((dim,) if isinstance(dim, int) else dim)}
    if dims and len(dims) != input.ndim:
        raise RuntimeError(
            "norm_sparse currently only supports full reductions, so 'dim' must either be empty or contain all "
            "dimensions of the input"
        )
    order = 2 if p in ("fro", None) else p
    found = merged_values(input).reshape(-1).norm(order, dtype=dtype)
    return found.reshape((1,) * input.ndim) if keepdim else found


@implements("item")
def item(input: Tensor):
    """The only element as a Python number."""
    return input.detach().to_dense().item()


@implements("is_nonzero")
def is_nonzero(input: Tensor) -> bool:
    """Whether the only element is not zero."""
    if input.numel() != 1:
        empty = "no values" if not input.numel() else "more than one value"
        raise RuntimeError(f"Boolean value of Tensor with {empty} is ambiguous")
    return bool(item(input))


@implements("equal", anywhere=True)
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same size and elements, of which those that are 0 need not be held."""
    if input.shape != other.shape or input.dtype is not other.dtype:
        return False
    if not (kind_of(input) and kind_of(other)) or parts_of(input).values.ndim != parts_of(other).values.ndim:
        return ops.equal(input.to_dense(), other.to_dense())
    return all(ops.equal(a, b) for a, b in zip(not_zero(input), not_zero(other)))


def not_zero(input: Tensor) -> tuple[Tensor, Tensor]:
    """(indices, values) of the elements of a sparse tensor that are not 0, in order."""
    source = coalesce(as_coo(input.detach()))
    mask = parts_of(source).values != 0
    mask = mask.flatten(1).any(1) if mask.ndim > 1 else mask
    return lookup.take(source, ops.nonzero(mask).reshape(-1))
