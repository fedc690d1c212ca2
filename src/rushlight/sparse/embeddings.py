"""Rows of a table whose gradient is sparse: only the rows that were used are in it."""

from __future__ import annotations

from .. import ops
from ..core.engine import Tensor
from ..ir import dtypes
from . import graph
from .parts import coo


def rows_of_table(weight: Tensor, indices: Tensor, padding_idx: int = -1) -> Tensor:
    """Row i of a table (V, D) for every index i; the gradient of the table has one element for each index.

    Indices that equal `padding_idx` add nothing to it.
    """
    made = ops.embeddings.embedded(weight.detach(), indices)
    places = indices.detach().reshape(-1).to(dtypes.int64, copy=True)  # the gradient must outlive a batch
    keep = ops.nonzero(places != padding_idx).reshape(-1) if padding_idx >= 0 else None
    shape = tuple(weight.shape)

    def rule(g):
        new, rows = g.reshape(-1, shape[1]), places
        if keep is not None:
            new, rows = new.index_select(0, keep), rows.index_select(0, keep)
        return (graph.wrapped(coo(rows.unsqueeze(0), new, shape, False), new, "EmbeddingSparseBackward0"),)

    return graph.record(made, "EmbeddingBackward0", [weight], rule)


def check_scale(name: str, scale_grad_by_freq: bool) -> None:
    """RuntimeError: gradients that are divided by how often a row is used are dense."""
    if scale_grad_by_freq:
        raise RuntimeError(f"{name}: scale_grad_by_freq not supported with sparse gradients")


def members(weight: Tensor, input: Tensor, padding_idx: int) -> tuple[Tensor, Tensor, int]:
    """Bags of a table as bags of a table of their own rows: (that table, indices, padding row or -1)."""
    rows = rows_of_table(weight, input.reshape(-1), padding_idx)
    numbers = ops.arange(input.numel()).reshape(tuple(input.shape))
    padded = ops.nonzero(input.reshape(-1) == padding_idx) if padding_idx >= 0 else None
    if padded is None or not padded.shape[0]:
        return rows, numbers, -1
    first = padded[0, 0].item()
    return rows, ops.where(input == padding_idx, first, numbers), first
