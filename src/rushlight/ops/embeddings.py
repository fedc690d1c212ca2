"""Tables looked up by index: one-hot rows, embeddings and bags of embeddings."""

from __future__ import annotations

import math

from ..core.engine import IndexOutOfRange, Tensor, is_grad_enabled, set_grad_mode
from ..ir import build as B
from ..ir import dtypes
from ..ir.primitive import PRIMITIVES
from .activation import FUNCTIONAL
from .checks import every_sample, scalar_type
from .declare import composite, op
from .indexing import is_zero, put_at
from .reduction import aminmax
from .segments import check_order, run_lengths


def check_table(name: str, weight, indices) -> None:
    if weight.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    if indices.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"{scalar_type(indices.dtype)} instead (while checking arguments for {name})"
        )


@op(public=False)
def embedded(weight, indices, padding_idx: int = -1, scale_grad_by_freq: bool = False):
    """Rows of a table; the row `padding_idx` (none if negative) gets no gradient."""
    check_table("embedding", weight, indices)
    return B.take(weight, indices, dim=0)


@embedded.vjp
def _(cotangents, outputs, weight, indices, padding_idx=-1, scale_grad_by_freq=False):
    g = cotangents[0]
    if padding_idx >= 0:
        g = B.where(B.unsqueeze(B.eq(indices, padding_idx), -1), 0, g)
    if scale_grad_by_freq:
        g = g / B.unsqueeze(frequencies(indices, weight, g.dtype), -1)
    return [B.put(B.zeros_like(weight), g, indices, dim=0, mode="add"), None]


def frequencies(indices, weight, dtype):
    """For each index how often it occurs."""
    ones = B.ones(indices.shape, dtype)
    counts = B.put(B.zeros(weight.shape[:1], dtype), ones, indices, dim=0, mode="add")
    return B.take(counts, indices, dim=0)


@op(public=False)
def limited(rows, max_norm: float, norm_type: float):
    """Rows scaled to a norm of at most `max_norm`."""
    largest = B.eq(norm_type, math.inf)
    p = B.where(largest, 1.0, norm_type)
    norm = B.pow(B.sum(B.pow(B.abs(rows), p), (1,), True), 1 / p)
    norm = B.where(largest, B.max(B.abs(rows), (1,), True), norm)
    return B.where(B.gt(norm, max_norm), rows * (max_norm / (norm + 1e-7)), rows)


def renormalise(weight, indices, max_norm, norm_type) -> None:
    """Scale, in place and unseen by autograd, the rows that are used to a norm of at most `max_norm`."""
    recording = is_grad_enabled()
    set_grad_mode(False)
    try:
        flat = indices.reshape((-1,))
        rows = limited(embedded(weight.detach(), flat), float(max_norm), float(norm_type))
        put_at.in_place(weight.detach(), [flat], rows, 0)
    finally:
        set_grad_mode(recording)


def wrapped_padding(padding_idx, weight) -> int:
    """The row for padding, counted from the start; -1 for none."""
    if padding_idx is None:
        return -1
    rows = weight.shape[0]
    if not -rows <= padding_idx < rows:
        raise AssertionError("Padding_idx must be within num_embeddings")
    return padding_idx % rows


@composite
def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    """Row i of the table (V, D) for every index i: (*) to (*, D)."""
    if sparse and records(weight):
        return sparse_rows(weight, indices, padding_idx, scale_grad_by_freq)
    return embedded(weight, indices, padding_idx, scale_grad_by_freq)


def functional_embedding(
    input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False
):
    """Row i of the table (V, D) for every index i: (*) to (*, D).

    The row `padding_idx` gets no gradient. With `max_norm` the rows used are first scaled, in place, to a
    `norm_type`-norm of at most `max_norm`; with `scale_grad_by_freq` gradients are divided by how often a row is used;
    with `sparse` the table's gradient is sparse: it holds only the rows that are used.
    """
    padding_idx = wrapped_padding(padding_idx, weight)
    if max_norm is not None:
        renormalise(weight, input, max_norm, norm_type)
    if sparse and records(weight):
        return sparse_rows(weight, input, padding_idx, scale_grad_by_freq)
    return embedded(weight, input, padding_idx, scale_grad_by_freq)


def records(weight) -> bool:
    """Whether a gradient of the table may be asked for."""
    return isinstance(weight, Tensor) and weight.requires_grad and is_grad_enabled()


def sparse_rows(weight, indices, padding_idx: int, scale_grad_by_freq: bool):
    """Rows of a table whose gradient is sparse."""
    from ..sparse import embeddings

    check_table("embedding", weight, indices)
    embeddings.check_scale("embedding_backward", scale_grad_by_freq)
    return embeddings.rows_of_table(weight, indices, padding_idx)


functional_embedding.__name__ = "embedding"
FUNCTIONAL["embedding"] = functional_embedding


# -- bags ---------------------------------------------------------------------------------------
def bag_members(weight, indices, per_sample_weights, padding_idx: int, scale: bool):
    """(rows of the table for the indices, weighted; whether each counts, as 0 or 1)"""
    rows = embedded(weight, indices, padding_idx, scale)
    rows = B.cast(rows, dtypes.float32) if rows.dtype.itemsize < 4 else rows
    counts = B.ne(indices, padding_idx) if padding_idx >= 0 else B.full(indices.shape, True, dtypes.bool_)
    if per_sample_weights is not None:
        rows = rows * B.unsqueeze(B.cast(per_sample_weights, rows.dtype), -1)
    return rows, counts


@op(public=False)
def even_bags(weight, indices, per_sample_weights, mode: str, padding_idx: int, scale: bool):
    """Bags that are the rows of a matrix of indices (B, N): (B, D)."""
    check_table("embedding_bag", weight, indices)
    rows, counts = bag_members(weight, indices, per_sample_weights, padding_idx, scale)
    present = B.unsqueeze(counts, -1)
    sizes = B.unsqueeze(B.sum(B.cast(counts, rows.dtype), (1,)), -1)
    if mode == "max" and not is_zero(indices.shape[1]):
        highest = B.max(B.where(present, rows, -math.inf), (1,))
        return B.cast(B.where(B.eq(sizes, 0), B.zeros_like(highest), highest), weight.dtype)
    total = B.sum(B.where(present, rows, B.zeros_like(rows)), (1,))
    return B.cast(total / B.maximum(sizes, 1) if mode == "mean" else total, weight.dtype)


@op(public=False)
def ragged_bags(weight, indices, offsets, per_sample_weights, mode: str, padding_idx: int, scale: bool, last: bool):
    """Bags of a vector of indices, each from its offset to the next (with `last` the last one is an end): (B, D)."""
    check_table("embedding_bag", weight, indices)
    bounds, indices = B.cast(offsets, dtypes.int64), B.cast(indices, dtypes.int64)
    if not last:
        bounds = B.concat([bounds, B.full((1,), indices.shape[0], dtypes.int64)])
    kind = "max" if mode == "max" else "sum"
    if per_sample_weights is None and padding_idx < 0 and not scale:
        reduced = PRIMITIVES["segment_reduce"](weight, bounds, indices, kind=kind)
        sizes = run_lengths(bounds, reduced)
    else:
        rows, counts = bag_members(weight, indices, per_sample_weights, padding_idx, scale)
        rows = B.where(B.unsqueeze(counts, -1), rows, -math.inf if mode == "max" else 0)
        reduced = PRIMITIVES["segment_reduce"](rows, bounds, kind=kind)
        sizes = B.unsqueeze(PRIMITIVES["segment_reduce"](B.cast(counts, rows.dtype), bounds, kind="sum"), -1)
    if mode == "max":
        return B.cast(B.where(B.eq(sizes, 0), B.zeros_like(reduced), reduced), weight.dtype)
    return B.cast(reduced / B.maximum(sizes, 1) if mode == "mean" else reduced, weight.dtype)


def check_bags(input, weight, offsets, mode, scale_grad_by_freq, per_sample_weights) -> None:
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if per_sample_weights is not None:
        if tuple(per_sample_weights.shape) != tuple(input.shape):
            raise ValueError(
                f"embedding_bag: If per_sample_weights ({tuple(per_sample_weights.shape)}) is not None, then it "
                f"must have the same shape as the input ({tuple(input.shape)})"
            )
        if mode != "sum":
            raise NotImplementedError(
                "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' "
                f"(got mode='{mode}'). Please open a feature request on GitHub."
            )
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if input.ndim == 2 and offsets is not None:
        raise ValueError(
            "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
            f"sequences. However, found offsets of type {type(offsets)}"
        )
    if input.ndim == 1:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got None")
        if offsets.ndim != 1:
            raise ValueError("offsets has to be a 1D Tensor")
        check_offsets(input, offsets)
    if input.ndim not in (1, 2):
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}")


def check_offsets(input, offsets) -> None:
    if offsets.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError(f"expected offsets to be of type Long or Int, but got {scalar_type(offsets.dtype)}")
    if offsets.numel() and offsets[0].item() != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. "
            f"However, got {offsets[0].item()}"
        )
    if offsets.numel() and offsets[-1].item() > input.numel():
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length ({input.numel()}), but got {offsets[-1].item()}"
        )


def embedding_bag(
    input,
    weight,
    offsets=None,
    max_norm=None,
    norm_type=2,
    scale_grad_by_freq=False,
    mode="mean",
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
):
    """Sums, means or maxima (`mode`) of bags of rows of the table (V, D): (B, D).

    `input` (B, N) holds B bags of N indices; a vector (N,) comes with `offsets` (B,), where each bag starts (with
    `include_last_offset` also where the last one ends). Sums may be weighted by `per_sample_weights`. Indices that
    equal `padding_idx` count for nothing.
    """
    if weight.dtype in (dtypes.int64, dtypes.int32) and input.dtype.kind == "f":
        input, weight = weight, input  # the order of old
    check_bags(input, weight, offsets, mode, scale_grad_by_freq, per_sample_weights)
    padding_idx = wrapped_padding(padding_idx, weight)
    if max_norm is not None:
        renormalise(weight, input, max_norm, norm_type)
    if sparse and mode == "max":
        raise ValueError("max mode does not support sparse weights")
    if sparse and records(weight):
        from ..sparse import embeddings

        check_table("embedding_bag", weight, input)
        embeddings.check_scale("embedding_backward", scale_grad_by_freq)
        weight, input, padding_idx = embeddings.members(weight, input, padding_idx)
    options = (mode, padding_idx, bool(scale_grad_by_freq))
    if input.ndim == 2:
        return even_bags(weight, input, per_sample_weights, *options)
    try:
        return ragged_bags(weight, input, offsets, per_sample_weights, *options, bool(include_last_offset))
    except IndexOutOfRange:
        check_order("embedding_bag", offsets)
        raise


FUNCTIONAL["embedding_bag"] = embedding_bag


# -- one-hot ------------------------------------------------------------------------------------
@op(public=False)
def hot(input, count: int):
    shape = (*input.shape, count)
    return B.cast(B.eq(B.expand(B.unsqueeze(input, -1), shape), B.iota(shape, len(shape) - 1)), dtypes.int64)


def one_hot(tensor, num_classes=-1):
    """int64 (*, num_classes): 1 at the place that each element of an int64 tensor (*) names, 0 elsewhere.

    Without `num_classes`, one more than the greatest element.
    """
    if tensor.dtype is not dtypes.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if tensor.numel() == 0:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return hot(tensor, num_classes)
    if num_classes == -1 and tensor._layout.batch:
        raise RuntimeError("vmap: one_hot needs num_classes inside of vmap: the number of classes depends on data")
    lowest, highest = (x.item() for x in aminmax(every_sample(tensor)))
    if lowest < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = highest + 1
    elif num_classes < 1:
        raise RuntimeError("num_classes should be positive")
    elif highest >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return hot(tensor, num_classes)


FUNCTIONAL["one_hot"] = one_hot
