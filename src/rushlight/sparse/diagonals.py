"""Sparse matrices from their diagonals."""

from __future__ import annotations

from .. import ops
from ..core.engine import Tensor
from ..ir import dtypes
from ..ops import memory_format
from . import graph
from .convert import to_compressed
from .parts import coo


def spdiags(diagonals: Tensor, offsets: Tensor, shape, layout=None) -> Tensor:
    """A sparse matrix whose diagonals are the rows of `diagonals`: row i lies on the diagonal `offsets[i]`.

    Element j of a row lies in column j, so rows of diagonals above the main one start late, those below end early.

    >>> rushlight.sparse.spdiags(rushlight.ones(2, 3), rushlight.tensor([0, 1]), (3, 3)).to_dense()
    tensor([[1., 1., 0.],
            [0., 1., 1.],
            [0., 0., 1.]])
    """
    diagonals = diagonals.unsqueeze(0) if diagonals.ndim == 1 else diagonals
    offsets = offsets.reshape(1) if offsets.ndim == 0 else offsets
    shape = tuple(int(n) for n in shape)
    check(diagonals, offsets, shape, layout)
    column = ops.arange(diagonals.shape[1]).expand(tuple(diagonals.shape))
    row = column - offsets.unsqueeze(1)
    inside = (row >= 0) & (row < shape[0]) & (column < shape[1])
    places = ops.nonzero(inside).t().contiguous()
    new = diagonals[places[0], places[1]]
    indices = ops.stack([row[inside], column[inside]])
    made = graph.wrapped(coo(indices, new, shape, False), new, "SpdiagsBackward0")
    if layout in (memory_format.sparse_csr, memory_format.sparse_csc):
        return to_compressed(made, "csr" if layout is memory_format.sparse_csr else "csc")
    return made


def check(diagonals: Tensor, offsets: Tensor, shape: tuple, layout) -> None:
    """RuntimeError or ValueError for arguments that describe no matrix."""
    if diagonals.ndim != 2:
        raise RuntimeError("Diagonals must be vector or matrix")
    if len(shape) != 2:
        raise RuntimeError("Output shape must be 2d")
    if offsets.ndim != 1 or offsets.shape[0] != diagonals.shape[0]:
        raise RuntimeError(
            f"Number of diagonals ({diagonals.shape[0]}) does not match the number of offsets ({offsets.numel()})"
        )
    if offsets.dtype is not dtypes.int64:
        raise RuntimeError(f"Offset Tensor must have dtype Long, got {offsets.dtype.name}")
    if ops.unique(offsets).shape[0] != offsets.shape[0]:
        raise RuntimeError("Offset tensor contains duplicate values")
    allowed = (None, memory_format.sparse_coo, memory_format.sparse_csr, memory_format.sparse_csc)
    if layout not in allowed:
        raise RuntimeError(f"Only output layouts (sparse_coo, sparse_csc and sparse_csr) are supported, got {layout}")
