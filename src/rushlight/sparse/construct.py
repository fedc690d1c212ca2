"""Sparse tensors from indices and values, and empty ones."""

from __future__ import annotations

from .. import ops
from ..core import engine
from ..core.engine import Tensor
from ..ir import dtypes
from ..ops import memory_format
from ..ops.dtypes import dtype_argument
from . import invariants
from .graph import wrapped
from .parts import CSC, CSR, KINDS, compressed, coo, kind_of


def sparse_coo_tensor(
    indices, values=None, size=None, *, dtype=None, device=None, pin_memory=False, requires_grad=False,
    check_invariants=None, is_coalesced=None,
) -> Tensor:  # fmt: skip
    """A tensor of which only some elements are kept, with their coordinates (COO); the others are zero.

    Args:
        indices: int64[sparse_dim, nnz], a column for each element; a place may occur more than once: values add up
        values: [nnz, *dense sizes], the elements, which may be slices; they share memory with a tensor given here
        size: of the whole tensor; the smallest that fits if it is left out
        check_invariants: whether to check everything that can be checked. Indices are always checked
        is_coalesced: whether the indices are in order, each once

    Raises:
        RuntimeError: an index is out of range; sizes of indices, values and the tensor do not fit together

    >>> rushlight.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3)).to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 0.]])
    """
    check_device(device)
    if values is None or (size is None and is_sizes(values) and is_sizes(indices)):
        if not is_sizes(indices):
            raise TypeError("sparse_coo_tensor(): expected (size), (indices, values) or (indices, values, size)")
        return empty_of(tuple(int(n) for n in indices), dtype, memory_format.sparse_coo, requires_grad)
    indices = as_indices("indices", indices)
    values = as_values(values, dtype)
    indices = indices if indices.dtype is dtypes.int64 else indices.to(dtypes.int64)
    shape = invariants.check_sizes(indices, values, size)
    invariants.check_coordinates(indices, shape)
    if is_coalesced and (check_invariants or invariants.is_enabled()):
        invariants.check_order(indices, shape)
    made = wrapped(
        coo(indices, values, shape, bool(is_coalesced)), values, "SparseCooTensorWithDimsAndTensorsBackward0"
    )
    return made.detach().requires_grad_() if requires_grad else made


def is_sizes(value) -> bool:
    """Whether a value is a size: a tuple or list of ints."""
    return isinstance(value, (tuple, list)) and all(type(n) is int for n in value)


def as_indices(name: str, value) -> Tensor:
    """An index tensor, outside of any graph."""
    if isinstance(value, Tensor):
        if kind_of(value):
            raise TypeError(f"expected {name} to be a dense tensor, but got layout {value.layout}")
        made = value.detach()
    else:
        made = ops.tensor(value)
        made = made.to(dtypes.int64) if not made.numel() else made
    if made.dtype.kind == "c" or made.dtype is dtypes.bool_:
        raise TypeError(f"{name} must be an integer tensor, but got {made.dtype.name}")
    return made


def as_values(value, dtype) -> Tensor:
    """Values as a dense tensor of the dtype asked for, part of their graph."""
    dtype = None if dtype is None else dtype_argument(dtype)
    if not isinstance(value, Tensor):
        return ops.tensor(value, dtype=dtype)
    if kind_of(value):
        raise TypeError(f"expected values to be a dense tensor, but got layout {value.layout}")
    return value if dtype is None else value.to(dtype)


def check_device(device) -> None:
    if device is not None:
        engine.require_device(device)


# -- compressed ---------------------------------------------------------------------------------
def sparse_compressed_tensor(
    compressed_indices, plain_indices, values, size=None, *, dtype=None, layout=None, device=None, pin_memory=False,
    requires_grad=False, check_invariants=None,
) -> Tensor:  # fmt: skip
    """A matrix of which only some elements are kept, by rows (`layout=sparse_csr`) or by columns (`sparse_csc`).

    Args:
        compressed_indices: int64 or int32 [rows + 1], where each row (column) begins among the elements
        plain_indices: of the same dtype [nnz], the column (row) of each element
        values: [nnz, *dense sizes]
        size: of the whole tensor; the smallest that fits if it is left out
        check_invariants: whether to check also that the places in a row are in order, each once

    Raises:
        RuntimeError: indices that are out of range or do not fit together
        NotImplementedError: a layout of blocks, or a batch of matrices
    """
    check_device(device)
    if layout in (memory_format.sparse_bsr, memory_format.sparse_bsc):
        raise NotImplementedError(f"block layouts ({layout}) are not supported; use sparse_csr or sparse_csc")
    if KINDS.get(layout) not in (CSR, CSC):
        raise RuntimeError(
            f"sparse_compressed_tensor expected sparse compressed tensor layout but got {layout or 'none'}"
        )
    kind = KINDS[layout]
    pointers, places = as_indices("compressed_indices", compressed_indices), as_indices("plain_indices", plain_indices)
    values = as_values(values, dtype)
    shape = invariants.compressed_size(kind, pointers, places, values, size)
    invariants.check_compressed(kind, pointers, places, values, shape)
    if check_invariants or (check_invariants is None and invariants.is_enabled()):
        invariants.check_rows_in_order(kind, pointers, places)
    made = wrapped(compressed(kind, pointers, places, values, shape), values, "SparseCompressedTensorBackward0")
    return made.detach().requires_grad_() if requires_grad else made


def sparse_csr_tensor(crow_indices, col_indices, values, size=None, **options) -> Tensor:
    """A matrix of which only some elements are kept, row by row (CSR); see `sparse_compressed_tensor`.

    >>> rushlight.sparse_csr_tensor([0, 1, 2], [1, 0], [3.0, 4.0], (2, 2)).to_dense()
    tensor([[0., 3.],
            [4., 0.]])
    """
    return by_layout(memory_format.sparse_csr, crow_indices, col_indices, values, size, options)


def sparse_csc_tensor(ccol_indices, row_indices, values, size=None, **options) -> Tensor:
    """A matrix of which only some elements are kept, column by column (CSC); see `sparse_compressed_tensor`."""
    return by_layout(memory_format.sparse_csc, ccol_indices, row_indices, values, size, options)


def by_layout(layout, pointers, places, values, size, options: dict) -> Tensor:
    """A compressed tensor of one layout, which a caller may name once more."""
    if options.pop("layout", None) not in (None, layout):
        raise RuntimeError(f"expected layout {layout}")
    return sparse_compressed_tensor(pointers, places, values, size, layout=layout, **options)


def sparse_bsr_tensor(crow_indices, col_indices, values, size=None, **options) -> Tensor:
    """NotImplementedError: blocks are not supported."""
    raise NotImplementedError("block layouts (sparse_bsr) are not supported; use sparse_csr_tensor")


def sparse_bsc_tensor(ccol_indices, row_indices, values, size=None, **options) -> Tensor:
    """NotImplementedError: blocks are not supported."""
    raise NotImplementedError("block layouts (sparse_bsc) are not supported; use sparse_csc_tensor")


# -- without elements ---------------------------------------------------------------------------
def empty_of(shape: tuple, dtype, layout, requires_grad: bool = False, sparse_dim: int | None = None) -> Tensor:
    """A sparse tensor without elements."""
    dtype = dtypes.default if dtype is None else dtype_argument(dtype)
    if layout not in KINDS:
        raise NotImplementedError(f"layout {layout} is not supported; use sparse_coo, sparse_csr or sparse_csc")
    kind = KINDS[layout]
    if kind in (CSR, CSC):
        if len(shape) != 2:
            raise RuntimeError(f"compressed layouts hold matrices, got size {list(shape)}; use sparse_coo")
        pointers = ops.zeros(shape[0 if kind == CSR else 1] + 1, dtype=dtypes.int64)
        made = compressed(kind, pointers, ops.zeros(0, dtype=dtypes.int64), ops.zeros(0, dtype=dtype), shape)
    else:
        count = len(shape) if sparse_dim is None else sparse_dim
        new = ops.zeros((0, *shape[count:]), dtype=dtype)
        made = coo(ops.zeros((count, 0), dtype=dtypes.int64), new, shape, False)
    return made.requires_grad_() if requires_grad else made
