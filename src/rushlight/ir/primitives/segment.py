"""Reductions of runs of rows whose ends are data."""

from __future__ import annotations

from itertools import pairwise

from .. import build as B
from ..batching import batch_size
from ..dtypes import int64
from ..lazy import np
from ..primitive import PRIMITIVES, fail, primitive

KINDS = ("sum", "prod", "max", "min")


@primitive("index")
def segment_reduce(x, offsets, *index, kind):
    """result[s] = the reduction of the rows x[k], or x[index[k]], with offsets[s] <= k < offsets[s + 1].

    x: [N, ...]; offsets: int64[S + 1], not decreasing; index: int64[K]. Nothing reduces to 0, 1, -inf or inf (the
    lowest or highest integer). Bounds outside of the rows, or of the index, are IndexErrors.
    """
    fine = x.ndim >= 1 and kind in KINDS and len(index) <= 1 and x.dtype.kind != "b"
    fine = fine and (kind == "sum" or not x.dtype.is_complex)
    if not fine or any(i.ndim != 1 or i.dtype is not int64 for i in (offsets, *index)):
        fail(
            "segment_reduce", f"expected rows, int64 offsets and perhaps an index, got {x}, {offsets}, {index}, {kind}"
        )
    return (offsets.shape[0] - 1, *x.shape[1:]), x.dtype


@segment_reduce.numpy
def _(x, offsets, *index, kind):
    rows = x[index[0]] if index else x
    if (np.diff(offsets) < 0).any() or offsets[0] < 0 or offsets[-1] > len(rows):
        fail("segment_reduce", f"offsets {offsets} do not part {len(rows)} rows", IndexError)
    result = np.empty((len(offsets) - 1, *x.shape[1:]), x.dtype)
    for s, (first, last) in enumerate(pairwise(offsets)):
        result[s] = _folded(rows[first:last], kind)
    return result


def _folded(rows, kind: str):
    if kind in ("sum", "prod"):
        return getattr(rows, kind)(axis=0, dtype=rows.dtype)
    if len(rows):
        return getattr(rows, kind)(axis=0)
    if rows.dtype.kind == "f":
        return -np.inf if kind == "max" else np.inf
    limits = np.iinfo(rows.dtype)
    return limits.min if kind == "max" else limits.max


def segments_of(offsets, count):
    """The segment of each of `count` rows; rows outside of all belong to the nearest."""
    places = PRIMITIVES["searchsorted"](offsets, B.iota((count,)), right=True) - 1
    return B.minimum(B.maximum(places, 0), offsets.shape[0] - 2)


def inside(offsets, count, like):
    """1 for each row that belongs to a segment, 0 for others, to be multiplied with rows like `like`."""
    k = B.iota((count,))
    first, last = (B.reshape(B.narrow(offsets, 0, at, 1), ()) for at in (0, offsets.shape[0] - 1))
    flags = B.cast(B.logical_and(B.ge(k, first), B.lt(k, last)), like.dtype)
    return B.reshape(flags, (count, *(1,) * (like.ndim - 1)))


@segment_reduce.vjp
def _(node, g):
    x, offsets, *index = node.inputs
    count = index[0].shape[0] if index else x.shape[0]
    segment = segments_of(offsets, count)
    of_rows = B.take(g, segment, dim=0) * inside(offsets, count, g)
    if node.attrs["kind"] != "sum":
        rows = B.take(x, *index, dim=0) if index else x
        of_rows = of_rows * _slope(node, rows, segment)
    gx = B.put(B.zeros_like(x), of_rows, *index, dim=0, mode="add") if index else of_rows
    return [gx, *(None for _ in node.inputs[1:])]


def _slope(node, rows, segment):
    """How a segment's result grows with each of its rows; extremes share it among equals."""
    result, kind, offsets = node.outputs[0], node.attrs["kind"], node.inputs[1]
    if kind == "prod":
        return _others_product(rows, offsets, segment)
    equal = B.cast(B.eq(rows, B.take(result, segment, dim=0)), rows.dtype)
    return equal / B.take(segment_reduce(equal, offsets, kind="sum"), segment, dim=0)


def _others_product(rows, offsets, segment):
    """For each row the product of the others of its segment, which must not be divided by zero."""
    zero = B.eq(rows, 0)
    whole = B.take(segment_reduce(B.where(zero, 1, rows), offsets, kind="prod"), segment, dim=0)
    zeros = B.take(segment_reduce(B.cast(zero, rows.dtype), offsets, kind="sum"), segment, dim=0)
    alone = B.where(zero, whole, whole / B.where(zero, 1, rows))
    return B.where(B.eq(zeros - B.cast(zero, rows.dtype), 0), alone, 0)


@segment_reduce.jvp
def _(node, tangent, *_):
    x, offsets, *index = node.inputs
    if index:
        tangent = B.take(tangent, *index, dim=0)
    if node.attrs["kind"] != "sum":
        rows = B.take(x, *index, dim=0) if index else x
        slope = _slope(node, rows, segments_of(offsets, rows.shape[0]))
        tangent = tangent * slope
    return segment_reduce(tangent, offsets, kind="sum")


@segment_reduce.batch
def _(node, inputs, dims):
    x, offsets, *index = inputs
    if all(d is None for d in dims[1:]):
        x = B.move_dim(x, dims[0], x.ndim - 1)
        result = segment_reduce(x, offsets, *index, **node.attrs)
        return [result], [result.ndim - 1]
    return [_one_after_the_other(node, inputs, dims)], [0]


def _one_after_the_other(node, inputs, dims):
    """All samples' runs in one list; between those of two samples lies one more, which is left out."""
    size, (x, offsets, *index) = batch_size(inputs, dims), inputs
    shared, ends = dims[0] is None, node.inputs[1].shape[0]
    rows = node.inputs[0].shape[0]
    index = index[0] if index else B.iota((rows,))
    index = _each(index, dims[2] if len(dims) > 2 else None, size, 0 if shared else rows)
    offsets = _each(offsets, dims[1], size, node.inputs[2].shape[0] if len(dims) > 2 else rows)
    x = x if shared else B.reshape(B.front(x, dims[0]), (size * rows, *node.inputs[0].shape[1:]))
    runs = segment_reduce(x, offsets, index, **node.attrs)
    none = B.expand(B.narrow(runs, 0, 0, 1), (1, *runs.shape[1:]))
    runs = B.reshape(B.concat([runs, none]), (size, ends, *runs.shape[1:]))
    return B.narrow(runs, 1, 0, ends - 1)


def _each(places, dim, size, step):
    """Places in each sample as one list, those of sample b moved by b steps."""
    each = B.expand(places, (size, *places.shape)) if dim is None else B.front(places, dim)
    moved = each + B.unsqueeze(B.iota((size,)) * step, -1)
    return B.reshape(moved, (size * each.shape[1],))
