"""COO tensors given another size in place."""

from __future__ import annotations

from .. import ops
from ..core import engine
from ..core.engine import Tensor
from .construct import empty_of
from .convert import require_coo
from .parts import LAYOUTS, coo, kind_of, parts_of


def check_dims(input: Tensor, size, sparse_dim: int, dense_dim: int) -> tuple:
    """The new size as a tuple of ints; RuntimeError unless it has as many dims as are asked for."""
    if sparse_dim + dense_dim != len(size):
        raise RuntimeError(
            "'len(size) == sparse_dim + dense_dim' is not satisfied: "
            f"len(size) = {len(size)}, sparse_dim = {sparse_dim}, dense_dim = {dense_dim}"
        )
    if input.requires_grad:
        raise RuntimeError("sparse_resize_: a tensor that requires gradients cannot be resized")
    return tuple(int(n) for n in size)


def sparse_resize_(input: Tensor, size, sparse_dim: int, dense_dim: int) -> Tensor:
    """See `Tensor.sparse_resize_`."""
    require_coo(input, "sparse_resize_")
    shape = check_dims(input, size, sparse_dim, dense_dim)
    parts = parts_of(input)
    nnz, have = parts.values.shape[0], parts.indices.shape[0]
    if not nnz:
        made = empty_of(shape, input.dtype, LAYOUTS[kind_of(input)], False, sparse_dim)
        return engine.become_sparse(input, made)
    if sparse_dim != have:
        raise RuntimeError(f"changing the number of sparse dimensions (from {have} to {sparse_dim}) on a non-empty "
                           "sparse tensor is not supported")  # fmt: skip
    if dense_dim != input.ndim - have:
        raise RuntimeError(f"changing the number of dense dimensions (from {input.ndim - have} to {dense_dim}) on a "
                           "non-empty sparse tensor is not supported")  # fmt: skip
    for what, old, new in (
        ("sparse", input.shape[:have], shape[:have]), ("dense", input.shape[have:], shape[have:]),
    ):  # fmt: skip
        if any(n < m for m, n in zip(old, new)):
            raise RuntimeError(
                f"shrinking the size of {what} dimensions (from {list(old)} to {list(new)}) on a non-empty sparse "
                "tensor is not supported; narrow() takes a part, and sparse_resize_and_clear_() drops the elements"
            )
    values = parts.values
    if tuple(input.shape[have:]) != shape[have:]:
        values = ops.zeros((nnz, *shape[have:]), dtype=input.dtype)
        values[tuple(slice(0, n) for n in parts.values.shape)] = parts.values
    return engine.become_sparse(input, coo(parts.indices, values, shape, parts.coalesced))


def sparse_resize_and_clear_(input: Tensor, size, sparse_dim: int, dense_dim: int) -> Tensor:
    """See `Tensor.sparse_resize_and_clear_`."""
    require_coo(input, "sparse_resize_and_clear_")
    shape = check_dims(input, size, sparse_dim, dense_dim)
    return engine.become_sparse(input, empty_of(shape, input.dtype, LAYOUTS[kind_of(input)], False, sparse_dim))


def resize_as_sparse_(input: Tensor, the_template: Tensor) -> Tensor:
    """See `Tensor.resize_as_sparse_`."""
    require_coo(the_template, "resize_as_sparse_")
    count = parts_of(the_template).indices.shape[0]
    return sparse_resize_(input, the_template.shape, count, the_template.ndim - count)
