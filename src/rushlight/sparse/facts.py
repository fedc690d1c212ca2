"""What a sparse tensor says of itself: its parts, and how many there are."""

from __future__ import annotations

from ..core.engine import Tensor
from . import graph
from .convert import require_coo
from .parts import COO, CSC, CSR, TITLES, kind_of, parts_of


def indices(input: Tensor) -> Tensor:
    """See `Tensor.indices`."""
    require_coo(input, "indices")
    if not parts_of(input).coalesced:
        raise RuntimeError("Cannot get indices on an uncoalesced tensor, please call .coalesce() first")
    return parts_of(input).indices.detach()


def values(input: Tensor) -> Tensor:
    """See `Tensor.values`."""
    if not kind_of(input):
        raise RuntimeError(f"values expected sparse tensor layout but got {TITLES[0]}")
    if kind_of(input) == COO and not parts_of(input).coalesced:
        raise RuntimeError("Cannot get values on an uncoalesced tensor, please call .coalesce() first")
    return graph.values(input)


def raw_indices(input: Tensor) -> Tensor:
    """See `Tensor._indices`."""
    require_coo(input, "_indices")
    return parts_of(input).indices.detach()


def raw_values(input: Tensor) -> Tensor:
    """See `Tensor._values`."""
    require_coo(input, "_values")
    return parts_of(input).values.detach()


def require_sparse(input: Tensor, name: str) -> None:
    if not kind_of(input):
        raise NotImplementedError(f"Could not run 'aten::{name}' with arguments from the 'CPU' backend: it needs a "
                                  "sparse tensor")  # fmt: skip


def nnz(input: Tensor) -> int:
    """See `Tensor._nnz`."""
    require_sparse(input, "_nnz")
    return parts_of(input).values.shape[0]


def is_coalesced(input: Tensor) -> bool:
    """See `Tensor.is_coalesced`."""
    require_coo(input, "is_coalesced")
    return parts_of(input).coalesced


def declare_coalesced(input: Tensor, coalesced: bool) -> Tensor:
    """See `Tensor._coalesced_`."""
    require_coo(input, "_coalesced_")
    parts_of(input).coalesced = bool(coalesced)
    return input


def sparse_dim(input: Tensor) -> int:
    """See `Tensor.sparse_dim`."""
    require_sparse(input, "sparse_dim")
    return parts_of(input).indices.shape[0] if kind_of(input) == COO else 2


def dense_dim(input: Tensor) -> int:
    """See `Tensor.dense_dim`."""
    require_sparse(input, "dense_dim")
    return parts_of(input).values.ndim - 1


def part_of(input: Tensor, name: str, kind: int, part: str) -> Tensor:
    """One of the index tensors of a compressed tensor of one kind."""
    if kind_of(input) != kind:
        which = "row" if kind == CSR else "column"
        raise RuntimeError(f"{name} expected sparse {which} compressed tensor layout but got {TITLES[kind_of(input)]}")
    return getattr(parts_of(input), part).detach()


def crow_indices(input: Tensor) -> Tensor:
    """See `Tensor.crow_indices`."""
    return part_of(input, "crow_indices", CSR, "pointers")


def col_indices(input: Tensor) -> Tensor:
    """See `Tensor.col_indices`."""
    return part_of(input, "col_indices", CSR, "places")


def ccol_indices(input: Tensor) -> Tensor:
    """See `Tensor.ccol_indices`."""
    return part_of(input, "ccol_indices", CSC, "pointers")


def row_indices(input: Tensor) -> Tensor:
    """See `Tensor.row_indices`."""
    return part_of(input, "row_indices", CSC, "places")
