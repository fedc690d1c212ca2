"""Sparse tensors in another shape: dims exchanged, parts taken, several joined."""

from __future__ import annotations

from collections.abc import Callable

from .. import ops
from ..core import engine
from ..core.engine import Tensor
from ..ir import dtypes
from . import graph, lookup
from .convert import as_coo
from .dispatch import implements
from .parts import COO, CSC, CSR, compressed, coo, kind_of, parts_of


def wrap(dim: int, ndim: int) -> int:
    """A dim counted from the start; IndexError if there is none."""
    limit = max(ndim, 1)
    if not -limit <= dim < limit:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-limit}, {limit - 1}], but got {dim})")
    return dim % limit


def moved(input: Tensor, change: Callable, undo: Callable, title: str) -> Tensor:
    """A sparse tensor whose elements all stay, at other places: `undo` takes a cotangent, sparse or dense, back."""
    return graph.record(change(input.detach()), title, [input], lambda g: (undo(g),))


def require_coordinates(input: Tensor, name: str) -> None:
    if kind_of(input) != COO:
        raise NotImplementedError(
            f"Could not run 'aten::{name}' with arguments from the 'SparseCsrCPU' backend; use Tensor.to_sparse() first"
        )


# -- dims exchanged -----------------------------------------------------------------------------
@implements("permute")
def permute(input: Tensor, dims) -> Tensor:
    """Dims in another order; sparse dims stay among the sparse ones, dense dims among the dense ones."""
    order = tuple(wrap(d, input.ndim) for d in ((dims,) if isinstance(dims, int) else dims))
    if len(order) != input.ndim:
        raise RuntimeError(
            f"permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {input.ndim} is not equal to len(dims) = {len(order)}"
        )
    if len(set(order)) != len(order):
        raise RuntimeError("permute(sparse_coo): duplicate dims are not allowed.")
    inverse = tuple(sorted(range(len(order)), key=order.__getitem__))
    return moved(input, lambda x: permuted(x, order), lambda g: g.permute(inverse), "PermuteBackward0")


def permuted(input: Tensor, order: tuple) -> Tensor:
    """A sparse tensor with its dims in another order, outside of any graph."""
    if kind_of(input) != COO:
        return exchanged(input, order)
    parts = parts_of(input)
    count = parts.indices.shape[0]
    if any((d < count) != (i < count) for i, d in enumerate(order)):
        raise RuntimeError(
            "permute(sparse_coo): transpositions between sparse and dense dimensions are not allowed. Found order "
            f"{list(order)} of {count} sparse dims"
        )
    shape = tuple(input.shape[d] for d in order)
    if order[:count] == tuple(range(count)):
        indices, kept = parts.indices, parts.coalesced
    else:
        indices, kept = parts.indices.index_select(0, ops.tensor(list(order[:count]))), False
    new = parts.values.permute((0, *(d - count + 1 for d in order[count:]))) if order[count:] else parts.values
    return coo(indices, new, shape, kept)


def exchanged(input: Tensor, order: tuple) -> Tensor:
    """Rows of compressed rows are columns of compressed columns."""
    if order == (0, 1, *range(2, input.ndim)):
        return input.detach()
    if order[:2] != (1, 0) or order[2:] != tuple(range(2, input.ndim)):
        raise RuntimeError("compressed matrices can only have their two sparse dims exchanged")
    parts = parts_of(input)
    shape = (input.shape[1], input.shape[0], *input.shape[2:])
    return compressed(CSC if kind_of(input) == CSR else CSR, parts.pointers, parts.places, parts.values, shape)


@implements("transpose")
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dims exchanged."""
    order = list(range(input.ndim))
    a, b = wrap(dim0, input.ndim), wrap(dim1, input.ndim)
    if not order:
        return input
    order[a], order[b] = order[b], order[a]
    return moved(input, lambda x: permuted(x, tuple(order)), lambda g: g.transpose(a, b), "TransposeBackward0")


@implements("t")
def t(input: Tensor) -> Tensor:
    """A matrix transposed."""
    if input.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D")
    return transpose(input, 0, 1) if input.ndim == 2 else input


@implements("transpose_", "swapaxes_", "swapdims_")
def transpose_(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """In-place form of `transpose`."""
    require_coordinates(input, "transpose_")
    return engine.become_sparse(input, transpose(input, dim0, dim1))


@implements("t_")
def t_(input: Tensor) -> Tensor:
    """In-place form of `t`."""
    require_coordinates(input, "t_")
    return engine.become_sparse(input, t(input))


@implements("adjoint")
def adjoint(input: Tensor) -> Tensor:
    """The last two dims exchanged, and conjugated."""
    return transpose(input, -2, -1).conj()


@implements("unsqueeze")
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """A dim of size 1 at `dim`: a sparse one if it comes among or right after the sparse dims."""
    require_coordinates(input, "unsqueeze")
    d = wrap(dim, input.ndim + 1)
    return moved(input, lambda x: unsqueezed(x, d), lambda g: squeezed_at(g, d), "UnsqueezeBackward0")


def unsqueezed(input: Tensor, d: int) -> Tensor:
    parts = parts_of(input)
    shape = (*input.shape[:d], 1, *input.shape[d:])
    count = parts.indices.shape[0]
    if d > count:
        return coo(parts.indices, parts.values.unsqueeze(d - count + 1), shape, parts.coalesced)
    zeros = ops.zeros((1, parts.indices.shape[1]), dtype=dtypes.int64)
    return coo(ops.cat([parts.indices[:d], zeros, parts.indices[d:]]), parts.values, shape, parts.coalesced)


def squeezed_at(grad: Tensor, d: int) -> Tensor:
    return select(grad, d, 0) if kind_of(grad) else grad.select(d, 0)


@implements("unsqueeze_")
def unsqueeze_(input: Tensor, dim: int) -> Tensor:
    """In-place form of `unsqueeze`."""
    return engine.become_sparse(input, unsqueeze(input, dim))


@implements("squeeze")
def squeeze(input: Tensor, dim=None) -> Tensor:
    """Dims of size 1 (all, or those named) taken away."""
    require_coordinates(input, "squeeze")
    dims = range(input.ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
    for d in sorted({wrap(d, input.ndim) for d in dims}, reverse=True):
        if input.ndim and input.shape[d] == 1:
            input = select(input, d, 0)
    return input


@implements("movedim")
def movedim(input: Tensor, source, destination) -> Tensor:
    """Dims `source` at the positions `destination`."""
    source, destination = ([v] if isinstance(v, int) else list(v) for v in (source, destination))
    places = {wrap(d, input.ndim): wrap(s, input.ndim) for s, d in zip(source, destination)}
    rest = iter([d for d in range(input.ndim) if d not in places.values()])
    return permute(input, [places[d] if d in places else next(rest) for d in range(input.ndim)])


# -- parts taken --------------------------------------------------------------------------------
@implements("select")
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """The slice `index` of a dim. Of the only sparse dim it is dense: the sum of its values."""
    if not input.ndim:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    d, index = wrap(dim, input.ndim), int(index)
    size = input.shape[d]
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(input.shape)} at dimension {d}"
        )
    source, index = as_coo(input), index % size
    parts = parts_of(source)
    shape = (*input.shape[:d], *input.shape[d + 1 :])
    count = parts.indices.shape[0]
    if d >= count:
        new = graph.values(source).select(d - count + 1, index)
        return graph.wrapped(coo(parts.indices, new, shape, parts.coalesced), new, "SelectBackward0")
    indices, new = lookup.take(source, ops.nonzero(parts.indices[d] == index).reshape(-1))
    if count == 1:
        return new.sum(0).to(new.dtype)
    rest = ops.cat([indices[:d], indices[d + 1 :]])
    return graph.wrapped(coo(rest, new, shape, parts.coalesced), new, "SelectBackward0")


@implements("narrow", "narrow_copy")
def narrow(input: Tensor, dim: int, start, length: int) -> Tensor:
    """`length` slices of a dim from `start` on, as a copy."""
    d, start = wrap(dim, input.ndim), int(start)
    size = input.shape[d]
    start = start + size if start < 0 else start
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if not 0 <= start <= size or start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    source = as_coo(input)
    parts = parts_of(source)
    shape = (*input.shape[:d], length, *input.shape[d + 1 :])
    count = parts.indices.shape[0]
    if d >= count:
        new = graph.values(source).narrow(d - count + 1, start, length)
        return graph.wrapped(coo(parts.indices, new, shape, parts.coalesced), new, "NarrowBackward0")
    places = parts.indices[d]
    indices, new = lookup.take(source, ops.nonzero((places >= start) & (places < start + length)).reshape(-1))
    indices = ops.cat([indices[:d], indices[d : d + 1] - start, indices[d + 1 :]])
    return graph.wrapped(coo(indices, new, shape, parts.coalesced), new, "NarrowBackward0")


@implements("index_select")
def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices of a dim that the vector `index` names, in its order."""
    if kind_of(index) or index.dtype not in (dtypes.int32, dtypes.int64) or index.ndim > 1:
        raise IndexError("index_select(): Expected a dense vector of int32 or int64 as index")
    d, index = wrap(dim, input.ndim), index.detach().reshape(-1).to(dtypes.int64)
    size = input.shape[d]
    if index.numel() and not -size <= index.min().item() <= index.max().item() < size:
        raise IndexError(f"index_select(): index contains an index out of range for dimension of size {size}")
    index = ops.where(index < 0, index + size, index)
    source = as_coo(input)
    parts = parts_of(source)
    shape = (*input.shape[:d], index.shape[0], *input.shape[d + 1 :])
    count = parts.indices.shape[0]
    if d >= count:
        new = graph.values(source).index_select(d - count + 1, index)
        return graph.wrapped(coo(parts.indices, new, shape, parts.coalesced), new, "IndexSelectBackward0")
    which, element = members(parts.indices[d], index)
    indices, new = lookup.take(source, element)
    indices = ops.cat([indices[:d], which.unsqueeze(0), indices[d + 1 :]])
    return graph.wrapped(coo(indices, new, shape, False), new, "IndexSelectBackward0")


def members(places: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
    """All pairs (number of the wanted place, number of an element that lies there), in the order of the wanted."""
    ordered, order = ops.sort(places, stable=True)
    first = ops.searchsorted(ordered, wanted)
    return spread(first, ops.searchsorted(ordered, wanted, right=True) - first, order)


def spread(first: Tensor, lengths: Tensor, order: Tensor | None) -> tuple[Tensor, Tensor]:
    """Spans, each from `first` on and so long, written out: (number of the span, its members, by `order`)."""
    which = ops.repeat_interleave(ops.arange(lengths.shape[0]), lengths)
    before = lengths.cumsum(0) - lengths
    member = ops.arange(which.shape[0]) - (before - first).index_select(0, which)
    return which, member if order is None else order.index_select(0, member)


@implements("unbind")
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """All slices of a dim."""
    return tuple(select(input, dim, i) for i in range(input.shape[wrap(dim, input.ndim)]))


@implements("split")
def split(input: Tensor, split_size_or_sections, dim: int = 0) -> tuple[Tensor, ...]:
    """A dim cut into parts of a size, or of several sizes."""
    size = input.shape[wrap(dim, input.ndim)]
    given = split_size_or_sections
    if isinstance(given, int):
        given = [min(given, size - i) for i in range(0, size, max(given, 1))] or [0]
    if sum(given) != size:
        raise RuntimeError(f"split_with_sizes expects split_sizes to sum exactly to {size}, but got {list(given)}")
    starts = [sum(given[:i]) for i in range(len(given))]
    return tuple(narrow(input, dim, start, length) for start, length in zip(starts, given))


@implements("chunk")
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """A dim cut into at most `chunks` parts."""
    if chunks < 1:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    size = input.shape[wrap(dim, input.ndim)]
    return split(input, max(-(-size // chunks), 1), dim)


@implements("getitem")
def getitem(input: Tensor, index):
    """Integers, slices of step 1, None and `...`; other indices are NotImplementedError."""
    items = index if isinstance(index, tuple) else (index,)
    used = sum(1 for i in items if i is not None and i is not Ellipsis)
    if used > input.ndim:
        raise IndexError(f"too many indices for tensor of dimension {input.ndim}")
    d = 0
    for item in items:
        if item is Ellipsis:
            d += input.ndim - d - remaining(items)
        elif item is None:
            input, d = unsqueeze(input, d), d + 1
        elif isinstance(item, slice):
            input, d = sliced(input, d, item), d + 1
        elif isinstance(item, bool) or not hasattr(item, "__index__") or getattr(item, "ndim", 0):
            raise NotImplementedError(
                "Could not run 'aten::index.Tensor' with arguments from the 'SparseCPU' backend; use index_select"
            )
        else:
            input = select(input, d, item.__index__())
    return input


def remaining(items: tuple) -> int:
    """How many dims the items after `...` use."""
    after = items[[i is Ellipsis for i in items].index(True) + 1 :]
    return sum(1 for i in after if i is not None)


def sliced(input: Tensor, d: int, item: slice) -> Tensor:
    start, stop, step = item.indices(input.shape[d])
    if step != 1:
        raise NotImplementedError("sparse tensors are sliced with step 1; use index_select for others")
    if (start, stop) == (0, input.shape[d]):
        return input
    return narrow(input, d, start, max(stop - start, 0))


# -- several joined -----------------------------------------------------------------------------
@implements("cat")
def cat(tensors, dim: int = 0) -> Tensor:
    """Sparse tensors one after the other along a dim."""
    tensors = check_parts(tensors)
    first = tensors[0]
    d = wrap(dim, first.ndim)
    count = parts_of(first).indices.shape[0]
    for position, x in enumerate(tensors):
        if x.ndim != first.ndim or any(m != n for e, (m, n) in enumerate(zip(x.shape, first.shape)) if e != d):
            raise RuntimeError(
                f"All tensors must have the same shape: {list(first.shape)} (except in the concatenating dimension), "
                f"but found shape: {list(x.shape)} at position {position}"
            )
        if parts_of(x).indices.shape[0] != count:
            raise RuntimeError(
                f"All tensors must have the same sparse_dim and dense_dim: {count}, {first.ndim - count}, but tensor "
                f"at position {position} has {parts_of(x).indices.shape[0]}, {x.ndim - parts_of(x).indices.shape[0]}"
            )
    shape = [*first.shape[:d], sum(x.shape[d] for x in tensors), *first.shape[d + 1 :]]
    indices, new = joined(tensors, d, count, shape)
    return graph.wrapped(coo(indices, new, shape, False), new, "CatBackward0")


def check_parts(tensors) -> list[Tensor]:
    for position, x in enumerate(tensors):
        if kind_of(x) != COO:
            kind = "dense" if not kind_of(x) else f"{x.layout}"
            raise RuntimeError(f"Concatenating sparse tensors, but a {kind} tensor was found at position {position}.")
    return list(tensors)


def joined(tensors: list, d: int, count: int, shape: list) -> tuple[Tensor, Tensor]:
    """(indices, values) of all tensors, moved along dim d to where each begins."""
    all_indices, all_values, before = [], [], 0
    for x in tensors:
        indices, new = parts_of(x).indices, graph.values(x)
        if d < count:
            indices = ops.cat([indices[:d], indices[d : d + 1] + before, indices[d + 1 :]])
        else:
            low, high = before, shape[d] - before - x.shape[d]
            parts = [new.new_zeros((*new.shape[: d - count + 1], n, *new.shape[d - count + 2 :])) for n in (low, high)]
            new = ops.cat([parts[0], new, parts[1]], d - count + 1)
        all_indices.append(indices)
        all_values.append(new)
        before += x.shape[d]
    return ops.cat(all_indices, 1), ops.cat(all_values)


@implements("stack")
def stack(tensors, dim: int = 0) -> Tensor:
    """Sparse tensors along a new dim, which is sparse."""
    tensors = check_parts(tensors)
    for x in tensors[1:]:
        if x.shape != tensors[0].shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(tensors[0].shape)} at entry 0 and "
                f"{list(x.shape)} at another"
            )
    d = wrap(dim, tensors[0].ndim + 1)
    return cat([unsqueeze(x, d) for x in tensors], d)
