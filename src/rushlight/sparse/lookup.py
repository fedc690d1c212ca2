"""Where the elements of sparse tensors lie: coordinates, linear keys, and finding the elements of one in another."""

from __future__ import annotations

from .. import ops
from ..core.engine import Tensor
from ..ir import dtypes
from .parts import COO, CSR, kind_of, parts_of

_LARGEST = (1 << 63) - 1


def coordinates(tensor: Tensor) -> tuple[Tensor, ...]:
    """One int64[nnz] for each sparse dim: where the elements lie, in the order of the values."""
    parts = parts_of(tensor)
    if kind_of(tensor) == COO:
        return tuple(parts.indices[d] for d in range(parts.indices.shape[0]))
    outer, places = expanded(parts.pointers, parts.places.shape[0]), parts.places.to(dtypes.int64)
    return (outer, places) if kind_of(tensor) == CSR else (places, outer)


def stacked_coordinates(tensor: Tensor) -> Tensor:
    """int64[sparse_dim, nnz]: the indices of a COO tensor, or those of compressed rows or columns as one would be."""
    return parts_of(tensor).indices if kind_of(tensor) == COO else ops.stack(list(coordinates(tensor)))


def expanded(pointers: Tensor, count: int) -> Tensor:
    """The row of each of `count` elements, given where rows begin."""
    numbers = ops.arange(count, dtype=dtypes.int64)
    return ops.searchsorted(pointers.to(dtypes.int64), numbers, right=True) - 1


def pointers_of(rows: Tensor, count: int) -> Tensor:
    """Where each of `count` rows begins, and the number of elements, given the rows of elements in order."""
    return ops.searchsorted(rows, ops.arange(count + 1, dtype=dtypes.int64))


def keys(indices: Tensor, sizes) -> Tensor:
    """int64[nnz]: the places in the flattened sparse dims; RuntimeError if these have more than int64 can count."""
    total = 1
    for size in sizes:
        total *= size
    if total > _LARGEST:
        raise RuntimeError(f"the places of a sparse tensor of size {list(sizes)} cannot be numbered: int64 overflows")
    if not sizes:
        return ops.zeros(indices.shape[1], dtype=dtypes.int64)
    key = indices[0]
    for d, size in enumerate(sizes[1:], 1):
        key = key * size + indices[d]
    return key


def unkeyed(key: Tensor, sizes) -> Tensor:
    """int64[sparse_dim, nnz]: the inverse of `keys`."""
    if not sizes:
        return ops.zeros(0, key.shape[0], dtype=dtypes.int64)
    found = []
    for size in sizes[:0:-1]:
        outside = ops.floor_divide(key, size)
        found.append(key - outside * size)
        key = outside
    return ops.stack([key, *found[::-1]])


def key_of(tensor: Tensor) -> Tensor:
    """The keys of a sparse tensor's elements in the order of the values."""
    indices = stacked_coordinates(tensor)
    return keys(indices, tuple(tensor.shape[: indices.shape[0]]))


def is_distinct(tensor: Tensor) -> bool:
    """Whether each place of a sparse tensor occurs once; of compressed ones that is taken for granted."""
    parts = parts_of(tensor)
    if kind_of(tensor) != COO or parts.coalesced:
        return True
    if parts.distinct is None:
        parts.distinct = parts.indices.shape[1] < 2 or ops.unique(key_of(tensor)).shape[0] == parts.indices.shape[1]
    return parts.distinct


def mean_by_place(pattern: Tensor, new: Tensor) -> tuple[Tensor, Tensor]:
    """(the places of a COO tensor in order, each once; the mean of the slices of `new` that belong to each)"""
    key, group, counts = ops.unique(key_of(pattern), return_inverse=True, return_counts=True)
    shape = (key.shape[0], *(1,) * (new.ndim - 1))
    total = ops.zeros((key.shape[0], *new.shape[1:]), dtype=new.dtype).index_add(0, group, new)
    return unkeyed(key, tuple(pattern.shape[: parts_of(pattern).indices.shape[0]])), total / counts.reshape(shape)


def places_in(sorted_keys: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
    """(the place of each wanted key among sorted ones, whether it is there); the place is 0 where it is not."""
    place = ops.searchsorted(sorted_keys, wanted)
    place = ops.where(place < sorted_keys.shape[0], place, 0)
    return place, sorted_keys.index_select(0, place) == wanted


def found_in(tensor: Tensor, pattern: Tensor) -> Tensor:
    """The elements of a sparse tensor at the places of another one of the same shape, 0 where it has none."""
    from .convert import as_coo, coalesce
    from .graph import values

    source = coalesce(as_coo(tensor))
    new = values(source)
    dense_dims = parts_of(pattern).values.ndim - 1
    if new.ndim - 1 != dense_dims:
        raise RuntimeError(
            f"sparse_mask: the number of sparse dimensions differs: {tensor.ndim - new.ndim + 1} and "
            f"{pattern.ndim - dense_dims}"
        )
    wanted = key_of(pattern)
    if not new.shape[0]:
        return new.new_zeros((wanted.shape[0], *new.shape[1:]))
    place, there = places_in(key_of(source), wanted)
    mask = there.reshape((-1, *(1,) * dense_dims))
    return ops.where(mask, new.index_select(0, place), ops.zeros((), dtype=new.dtype))


def take(tensor: Tensor, keep: Tensor) -> tuple[Tensor, Tensor]:
    """(indices, values) of the elements of a COO tensor that `keep` numbers; the values are part of its graph."""
    from .graph import values

    return parts_of(tensor).indices.index_select(1, keep), values(tensor).index_select(0, keep)
