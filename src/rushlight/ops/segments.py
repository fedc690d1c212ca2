"""Reductions of consecutive runs along a dimension."""

from __future__ import annotations

import math

from ..core.engine import IndexOutOfRange
from ..ir import build as B
from ..ir import dtypes
from ..ir.primitive import PRIMITIVES
from .checks import every_sample
from .declare import FUNCTIONS, Number, composite, op

KINDS = ("sum", "mean", "max", "min", "prod")


@op(public=False)
def reduce_segments(data, offsets, reduce: str, initial: Number = None):
    """Reduces rows offsets[s] to offsets[s + 1] of (N, ...), for each s; the mean of nothing is NaN, or `initial`."""
    offsets = B.cast(offsets, dtypes.int64)
    kind = "sum" if reduce == "mean" else reduce
    result = PRIMITIVES["segment_reduce"](data, offsets, kind=kind)
    if initial is not None:
        result = _with_initial(result, initial, kind)
    if reduce != "mean":
        return result
    lengths = run_lengths(offsets, result)
    nothing = math.nan if initial is None else result
    return B.where(B.eq(lengths, 0), nothing, result / lengths)


def _with_initial(result, initial, kind: str):
    if kind == "sum":
        return result + initial
    if kind == "prod":
        return result * initial
    return B.where((B.gt if kind == "max" else B.lt)(initial, result), initial, result)


def run_lengths(offsets, like):
    """How long each run is, as numbers of the dtype of `like` that broadcast against it."""
    count = offsets.shape[0] - 1
    lengths = B.narrow(offsets, 0, 1, count) - B.narrow(offsets, 0, 0, count)
    return B.reshape(B.cast(lengths, like.dtype), (count, *(1,) * (like.ndim - 1)))


@composite
def segment_reduce(data, reduce, *, lengths=None, indices=None, offsets=None, axis=0, unsafe=False, initial=None):
    """Reduces consecutive runs of `data` along `axis`: "sum", "mean", "max", "min" or "prod".

    data: (..., N, *) of floating point. Either lengths (..., S), which add up to N in each row, or offsets (..., S + 1)
    give the runs, where `axis` is their last dimension; result (..., S, *). `initial` takes part in every run; without
    it nothing reduces to 0, NaN, -inf, inf and 1.

    >>> rushlight.segment_reduce(rushlight.tensor([1.0, 2.0, 3.0, 4.0]), "max", lengths=rushlight.tensor([3, 1]))
    tensor([3., 4.])
    """
    if reduce not in KINDS:
        raise RuntimeError(f"segment_reduce(): reduction {reduce!r} is not supported; expected one of {KINDS}")
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet; index the data first")
    if not data.is_floating_point():
        raise RuntimeError(f"segment_reduce(): expected data of floating point, got {data.dtype.name}")
    bounds = lengths if offsets is None else offsets
    if bounds is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    if bounds.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError(f"segment_reduce(): expected int64 or int32 lengths or offsets, got {bounds.dtype.name}")
    axis = axis % data.ndim if -data.ndim <= axis < data.ndim else axis
    if axis != bounds.ndim - 1 or bounds.shape[:-1] != data.shape[:axis]:
        raise RuntimeError(
            f"segment_reduce(): expected axis to be the last dimension of lengths or offsets and the ones before it to "
            f"be those of data, got axis {axis}, shapes {tuple(bounds.shape)} and {tuple(data.shape)}"
        )
    try:
        return _by_rows(data, reduce, bounds, offsets is None, axis, initial)
    except IndexOutOfRange:
        check_order("segment_reduce", bounds)
        raise


def check_order(name: str, offsets) -> None:
    """IndexOutOfRange for offsets of which one is less than the one before it: asked once a kernel has failed."""
    before, after = (every_sample(offsets).narrow(-1, at, offsets.shape[-1] - 1) for at in (0, 1))
    wrong = (after < before).nonzero()
    if len(wrong):
        *batch, place = wrong[0].tolist()
        low, high = (int(part[(*batch, place)]) for part in (after, before))
        raise IndexOutOfRange(
            f"{name}(): offsets must be non-negative and non-decreasing, but {low} follows {high} at position "
            f"{place + 1}"
        )


def _by_rows(data, reduce: str, bounds, by_length: bool, axis: int, initial):
    """All rows of a batch as one list of runs: between those of two rows lies one more, which is left out."""
    before, count, rest = data.shape[:axis], data.shape[axis], data.shape[axis + 1 :]
    offsets = offsets_of(bounds.long(), count) if by_length else bounds.long()
    if axis == 0:
        return reduce_segments(data, offsets, reduce, initial)
    ends = offsets.shape[-1]
    if before.numel() == 0:
        return data.new_zeros((*before, ends - 1, *rest))
    if offsets.numel() and ((offsets < 0) | (offsets > count)).any().item():
        raise IndexError(f"segment_reduce(): offsets must lie between 0 and the {count} elements of a row")
    lines = offsets.reshape((-1, ends))
    starts = FUNCTIONS["arange"](lines.shape[0]).unsqueeze(-1) * count
    runs = reduce_segments(data.flatten(0, axis), (lines + starts).flatten(), reduce, initial)
    runs = FUNCTIONS["cat"]([runs, runs[:1]]).reshape((*before, ends, *rest))
    return runs.narrow(axis, 0, ends - 1)


def offsets_of(lengths, count: int):
    """Where runs of these lengths begin and end, along the last dim; they must make up a row of `count` elements."""
    if lengths.numel() and (lengths.amin() < 0).item():
        raise RuntimeError("lengths contains negative value!")
    zero = lengths.new_zeros((*lengths.shape[:-1], 1))
    offsets = FUNCTIONS["cat"]([zero, lengths.cumsum(-1)], -1)
    if not (offsets[..., -1] == count).all().item():
        raise RuntimeError("segment_reduce(): Expected all rows of lengths along axis to sum to data.size(axis)")
    return offsets
