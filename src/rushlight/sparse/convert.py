"""From one layout to another: dense, coordinates, compressed rows and columns; coalescing and masks."""

from __future__ import annotations

from .. import ops
from ..core.engine import Tensor
from ..ir import dtypes
from ..ops import memory_format
from . import lookup
from .graph import at_places, cotangent_of, record, values, wrapped
from .parts import COO, CSC, CSR, KINDS, TITLES, compressed, coo, kind_of, parts_of


# -- to dense -----------------------------------------------------------------------------------
def to_dense(input: Tensor, dtype=None, *, masked_grad: bool | None = None) -> Tensor:
    """All elements in memory. The gradient is that at the places of `input`, or with `masked_grad=False` all of it."""
    if dtype is not None:
        raise RuntimeError("dtype argument is not supported by sparse_to_dense")
    pattern = input.detach()
    made = scattered(pattern, parts_of(pattern).values)

    def rule(g):
        return (g,) if masked_grad is False else (cotangent_of(pattern, at_places(g, pattern)),)

    return record(made, "ToDenseBackward0", [input], rule)


def scattered(pattern: Tensor, new: Tensor) -> Tensor:
    """A dense tensor of zeros with the values `new` added at the places of a sparse one."""
    zeros = ops.zeros(tuple(pattern.shape), dtype=new.dtype)
    return added_at(zeros, pattern, new, once=getattr(parts_of(pattern), "coalesced", False))


def added_at(dense: Tensor, pattern: Tensor, new: Tensor, once: bool = False) -> Tensor:
    """A dense tensor with values added, in place, at the places of a sparse one; `once`: set, for places in zeros."""
    places = lookup.coordinates(pattern)
    if not places:
        return dense.add_(new.sum(0).to(new.dtype))
    return dense.index_put_(places, new, accumulate=not once) if new.numel() else dense


# -- coalescing ---------------------------------------------------------------------------------
def coalesce(input: Tensor) -> Tensor:
    """A COO tensor with its indices in order and each once; values of equal indices are added."""
    require_coo(input, "coalesce")
    parts = parts_of(input)
    if parts.coalesced:
        return input
    made = coalesced(parts.indices, parts.values, tuple(input.shape))
    return record(made, "CoalesceBackward0", [input], lambda g: (g,))


def coalesced(indices: Tensor, new: Tensor, shape: tuple) -> Tensor:
    """A coalesced COO tensor of indices and values in any order, outside of any graph."""
    if indices.shape[1] < 2:
        return coo(indices.clone(), new.clone(), shape, True)
    return coo(*summed_by_place(indices, new, shape), shape, True)


def summed_by_place(indices: Tensor, new: Tensor, shape: tuple) -> tuple[Tensor, Tensor]:
    """(indices in order and each once, the sums of the values of equal ones)"""
    sizes = shape[: indices.shape[0]]
    key, inverse = ops.unique(lookup.keys(indices, sizes), return_inverse=True)
    return lookup.unkeyed(key, sizes), summed(new, inverse, key.shape[0])


def summed(new: Tensor, group: Tensor, count: int) -> Tensor:
    """[count, ...]: the sums of the slices of `new` that belong to each group (for bools, whether one holds)."""
    zeros = ops.zeros((count, *new.shape[1:]), dtype=new.dtype)
    return zeros.index_put((group,), new, accumulate=True)


def require_coo(input: Tensor, name: str) -> None:
    if kind_of(input) != COO:
        raise RuntimeError(f"{name} expected sparse coordinate tensor layout but got {TITLES[kind_of(input)]}")


# -- to sparse ----------------------------------------------------------------------------------
def to_sparse(input: Tensor, sparse_dim=None, layout=None, blocksize=None, dense_dim=None) -> Tensor:
    """See `Tensor.to_sparse`."""
    if isinstance(sparse_dim, memory_format.TensorLayout):
        sparse_dim, layout = None, sparse_dim
    if sparse_dim is not None and layout is not None:
        raise RuntimeError("to_sparse: sparse_dim and layout cannot be given together")
    if layout in (memory_format.sparse_bsr, memory_format.sparse_bsc):
        raise NotImplementedError(
            f"to_sparse: block layouts ({layout}) are not supported; use sparse_csr or sparse_csc"
        )
    if blocksize is not None:
        raise RuntimeError("to_sparse: blocksize is for block layouts alone")
    if layout is memory_format.strided:
        raise RuntimeError("to_sparse: cannot convert to a strided layout; use to_dense()")
    if layout is not None and layout is not memory_format.sparse_coo:
        return to_compressed(input, "csr" if KINDS[layout] == CSR else "csc", dense_dim)
    if kind_of(input):
        return from_sparse(input, sparse_dim)
    return from_dense(input, input.ndim - (dense_dim or 0) if sparse_dim is None else sparse_dim)


def from_sparse(input: Tensor, sparse_dim) -> Tensor:
    """A sparse tensor as COO."""
    have = input.ndim - parts_of(input).values.ndim + 1
    if sparse_dim is not None and sparse_dim != have:
        raise RuntimeError(
            f"to_sparse: conversion from {TITLES[kind_of(input)]} to Sparse with sparse_dim argument "
            "!=self.sparse_dim() is not supported"
        )
    return as_coo(input)


def as_coo(input: Tensor) -> Tensor:
    """A sparse tensor in coordinate form: itself if it is."""
    if kind_of(input) == COO:
        return input
    ordered = kind_of(input) == CSR and in_order(lookup.key_of(input))
    made = coo(lookup.stacked_coordinates(input), parts_of(input).values, input.shape, ordered)
    return record(made, "ToSparseBackward0", [input], lambda g: (g,))


def in_order(key: Tensor) -> bool:
    """Whether keys grow, each once."""
    return key.shape[0] < 2 or bool((key[1:] > key[:-1]).all().item())


def from_dense(input: Tensor, sparse_dim: int) -> Tensor:
    """The slices of a dense tensor that are not zero, as COO."""
    least = 1 if input.ndim else 0
    if not least <= sparse_dim <= input.ndim:
        raise RuntimeError(
            f"dense_to_sparse: sparse_dim argument must be in [{least},{input.ndim}] range, but {sparse_dim} is given"
        )
    data = input.detach()
    mask = data != 0
    if sparse_dim < input.ndim:
        mask = mask.reshape((*input.shape[:sparse_dim], -1)).any(-1) if input.numel() else mask.sum(-1).bool()
    indices = ops.nonzero(mask).t().contiguous()
    new = data[tuple(indices[d] for d in range(sparse_dim))] if sparse_dim else data.reshape(1)[: indices.shape[1]]
    made = coo(indices, new, input.shape, True)
    return record(made, "ToSparseBackward0", [input], lambda g: (dense_of(g),))


def dense_of(tensor: Tensor) -> Tensor:
    """A tensor in memory: itself if it is."""
    return to_dense(tensor, masked_grad=False) if kind_of(tensor) else tensor


# -- compressed ---------------------------------------------------------------------------------
def to_compressed(input: Tensor, which: str, dense_dim=None) -> Tensor:
    """A matrix as compressed rows ("csr") or columns ("csc")."""
    kind = CSR if which == "csr" else CSC
    if kind_of(input) == kind:
        return input
    if not kind_of(input):
        if input.ndim - (dense_dim or 0) != 2:
            raise RuntimeError(
                f"to_sparse_{which}: expected a matrix, got {input.ndim} dims of which {dense_dim or 0} are dense; "
                "batches of compressed matrices are not supported"
            )
        input = from_dense(input, 2)
    if parts_of(input).values.ndim - 1 != (dense_dim or parts_of(input).values.ndim - 1):
        raise RuntimeError(f"to_sparse_{which}: dense_dim must be that of the sparse tensor")
    if input.ndim - parts_of(input).values.ndim + 1 != 2:
        raise RuntimeError(f"to_sparse_{which}: expected 2 sparse dims, got a tensor of size {list(input.shape)}")
    return from_coordinates(coalesce(as_coo(input)), kind)


def from_coordinates(input: Tensor, kind: int) -> Tensor:
    """A coalesced COO matrix in compressed form."""
    rows, columns = lookup.coordinates(input)
    new = values(input)
    if kind == CSC:
        columns, order = ops.sort(columns, stable=True)
        rows, new = rows.index_select(0, order), new.index_select(0, order)
    outer, inner, count = (rows, columns, input.shape[0]) if kind == CSR else (columns, rows, input.shape[1])
    made = compressed(kind, lookup.pointers_of(outer, count), inner, new, input.shape)
    return wrapped(made, new, "ToSparseCsrBackward0" if kind == CSR else "ToSparseCscBackward0")


# -- masks --------------------------------------------------------------------------------------
def sparse_mask(input: Tensor, mask: Tensor) -> Tensor:
    """The elements of a tensor, dense or sparse, at the places of a sparse one."""
    if not kind_of(mask):
        raise RuntimeError(f"sparse_mask expected mask to be sparse but got {TITLES[0]}")
    if input.shape != mask.shape:
        raise RuntimeError(
            f"sparse_mask(): operands have incompatible sizes; self has size {list(input.shape)} but mask has size "
            f"{list(mask.shape)}"
        )
    pattern = mask.detach()
    new = at_places(input, pattern)
    from .parts import with_parts

    return wrapped(with_parts(pattern, new), new, "SparseMaskBackward0")


def int64_of(index: Tensor) -> Tensor:
    """An index tensor as int64."""
    return index if index.dtype is dtypes.int64 else index.to(dtypes.int64)
