"""Where values belong among sorted boundaries, and how many there are: search, counts, histograms."""

from __future__ import annotations

from ..core.engine import Tensor
from ..ir import build as B
from ..ir import dtypes
from ..ir.graph import Value
from ..ir.primitive import PRIMITIVES
from ..ir.sizes import product
from .checks import check_kinds, every_sample, scalar_type
from .copying import converted
from .creation import zeros
from .declare import Number, composite, op
from .named import named
from .reduction import aminmax


# -- search -------------------------------------------------------------------------------------
@op(public=False)
def searched(row, values: Number, right: bool, int32: bool, sorter=None):
    """How many elements of a sorted row lie before each value."""
    if not isinstance(values, Value):
        values = B.full((), values)
    dtype = dtypes.result_type((row.dtype, False, False), (values.dtype, not values.shape, values.weak))
    check_kinds("searchsorted_out_cpu", dtype, "buif")
    dtype = dtypes.float32 if dtype in (dtypes.float16, dtypes.bfloat16) else dtype
    dtype = dtypes.uint8 if dtype is dtypes.bool_ else dtype
    queries = B.reshape(values, (1,)) if values.ndim == 0 else values
    operands = [B.cast(row, dtype), B.cast(queries, dtype)] + ([] if sorter is None else [sorter])
    found = B.reshape(PRIMITIVES["searchsorted"](*operands, right=right), values.shape)
    return B.cast(found, dtypes.int32) if int32 else found


def check_search(row, values, right: bool, side, sorter) -> None:
    if side not in (None, "left", "right"):
        raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True"
        )
    if row.ndim == 0:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension"
        )
    if row.dtype.is_complex:
        raise NotImplementedError('"searchsorted_out_cpu" not implemented for complex dtypes')
    if isinstance(values, Tensor):
        check_queries(row, values)
    elif row.ndim != 1:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we got "
            f"boundaries tensor dim({row.ndim})"
        )
    if sorter is not None:
        check_sorter(row, sorter)


def check_queries(row, values) -> None:
    if values.ndim == 0 and row.ndim != 1:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we got "
            f"boundaries tensor dim({row.ndim}) and input value's dim(0) numel(1)"
        )
    if row.ndim != 1 and (row.ndim != values.ndim or tuple(row.shape[:-1]) != tuple(values.shape[:-1])):
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
            f"tensor and input value tensor must match, but we got boundaries tensor {list(row.shape)} and input value "
            f"tensor {list(values.shape)}"
        )


def check_sorter(row, sorter) -> None:
    if tuple(sorter.shape) != tuple(row.shape):
        raise RuntimeError(
            "torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor "
            f"{list(row.shape)} and got sorter tensor {list(sorter.shape)}"
        )
    if sorter.dtype is not dtypes.int64:
        raise RuntimeError(
            f"torch.searchsorted(): sorter must be a tensor of long dtype but got dtype {scalar_type(sorter.dtype)}"
        )
    sorter = every_sample(sorter)
    if sorter.numel() and not 0 <= sorter.min().item() <= sorter.max().item() < row.shape[-1]:
        raise RuntimeError("torch.searchsorted(): sorter index out of range")


@composite
def searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side=None, out=None, sorter=None):
    """Where each value would have to be put into a sorted row (one for all, or one for each row of values), int64.

    Before equal elements; behind them with `right` (or side="right"). `sorter` is the order that sorts the row.
    """
    check_search(sorted_sequence, input, right, side, sorter)
    found = searched(sorted_sequence, input, bool(right) or side == "right", out_int32, sorter)
    return written(out, found, "searchsorted")


def written(out, found, name: str):
    if out is None:
        return found
    from .writing import store

    if out.dtype is not found.dtype:
        raise RuntimeError(
            f"torch.{name}(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) depending on "
            "whether out_int32 flag is True, but we got output tensor's dtype "
            f"{scalar_type(out.dtype)} and out_int32 flag is {found.dtype is dtypes.int32}"
        )
    return store(out, found, name)


@composite
def bucketize(input, boundaries, *, out_int32=False, right=False, out=None):
    """For each value the number of sorted boundaries below it (with `right`, not above it)."""
    if boundaries.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return written(out, searched(boundaries, input, bool(right), out_int32), "bucketize")


# -- counts -------------------------------------------------------------------------------------
@op(public=False)
def tallied(places, weights, bins: int):
    """The number, or the sum of the weights, of each place."""
    dtype = dtypes.int64 if weights is None else weights.dtype if weights.dtype.kind == "f" else dtypes.float64
    amounts = B.full((), 1, dtype) if weights is None else B.cast(weights, dtype)
    return B.put(B.zeros((bins,), dtype), amounts, places, dim=0, mode="add")


@composite(method=True)
def bincount(input, weights=None, minlength=0):
    """How often each of 0, 1, .. occurs in a vector of integers, or the sums of their weights.

    >>> rushlight.bincount(rushlight.tensor([1, 3, 3]))
    tensor([0, 1, 0, 2])
    """
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if input.dtype.kind not in "iu":
        raise NotImplementedError(f"\"bincount_cpu\" not implemented for '{scalar_type(input.dtype)}'")
    if input.ndim == 1 and input.numel() == 0:
        return zeros((minlength,), dtype=dtypes.int64)
    low, high = (x.item() for x in aminmax(input))
    if input.ndim != 1 or low < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is not None and (weights.ndim != 1 or weights.shape[0] != input.shape[0]):
        raise RuntimeError("weights should be 1-d and have the same length as input")
    if weights is not None and weights.dtype not in (dtypes.float32, dtypes.float64):
        weights = converted(weights, dtypes.float64)
    return tallied(input, weights, max(minlength, high + 1))


@op(public=False)
def binned(input, low: float, high: float, bins: int, weight=None):
    """Counts, or sums of weights, of the elements in equal bins of [low, high]; those outside are left out."""
    x = B.reshape(input, (product(input.shape),))
    wide = B.cast(x, dtypes.float64) if x.dtype.kind != "f" else x
    inside = B.logical_and(B.ge(wide, low), B.le(wide, high))
    place = (wide - low) * (bins / (high - low))
    place = B.clamp(B.cast(B.where(inside, place, 0.0), dtypes.int64), 0, bins - 1)
    dtype = input.dtype if weight is None else weight.dtype
    amounts = B.full(x.shape, 1, dtype) if weight is None else B.reshape(weight, x.shape)
    amounts = B.where(inside, amounts, B.zeros_like(amounts))
    return B.put(B.zeros((bins,), dtype), amounts, place, dim=0, mode="add")


def limits(name: str, input, low, high, margin: float) -> tuple:
    """The range of a histogram: as given, or that of the data; widened if it is a point."""
    if low == high and input.numel():
        low, high = (x.item() for x in aminmax(input))
    if not (abs(low) < float("inf") and abs(high) < float("inf")):
        raise RuntimeError(f"{name}: range of [{low}, {high}] is not finite")
    if low > high:
        raise RuntimeError(f"{name}: max must be larger than min")
    return (low - margin, high + margin) if low == high else (low, high)


@composite(method=True)
def histc(input, bins=100, min=0, max=0, *, out=None):
    """How many elements lie in each of `bins` equal parts of [min, max], or of the data's range if both are equal."""
    if input.dtype.kind not in "f":
        raise NotImplementedError(f"\"histogram_cpu\" not implemented for '{scalar_type(input.dtype)}'")
    if bins <= 0:
        raise RuntimeError(f"torch.histc(): bins must be > 0, but got {bins}")
    low, high = limits("torch.histc()", input, min, max, 1)
    found = binned(input.detach(), float(low), float(high), bins)
    if out is None:
        return found
    from .writing import store

    return store(out, found, "histc")


@op(public=False)
def binned_between(input, edges, weight, density: bool):
    """Counts between increasing edges; the last bin has both of its ends."""
    x = B.reshape(input, (product(input.shape),))
    bins = edges.shape[0] - 1
    place = PRIMITIVES["searchsorted"](edges, x, right=True) - 1
    place = B.where(B.eq(x, B.select(edges, 0, bins)), bins - 1, place)
    inside = B.logical_and(B.ge(place, 0), B.lt(place, bins))
    amounts = B.full(x.shape, 1, x.dtype) if weight is None else B.reshape(weight, x.shape)
    amounts = B.where(inside, amounts, B.zeros_like(amounts))
    counts = B.put(B.zeros((bins,), amounts.dtype), amounts, B.where(inside, place, 0), dim=0, mode="add")
    if not density:
        return counts
    widths = B.narrow(edges, 0, 1, bins) - B.narrow(edges, 0, 0, bins)
    return counts / B.sum(counts) / widths


@composite(method=True)
def histogram(input, bins=100, *, range=None, weight=None, density=False, out=None):
    """(hist, bin_edges): counts, or sums of weights, in `bins` equal bins of `range`, or between the given edges.

    With `density`, divided so that the integral over all bins is 1.
    """
    if input.dtype.kind != "f":
        raise NotImplementedError(f"\"histogram_cpu\" not implemented for '{scalar_type(input.dtype)}'")
    check_histogram(input, bins, range, weight)
    if isinstance(bins, Tensor):
        edges = bins.clone()
    else:
        from .ranges import linspace

        low, high = limits("torch.histogram()", input, *(range or ((0, 0) if input.numel() else (0, 1))), 0.5)
        edges = linspace(low, high, bins + 1, dtype=input.dtype)
    found = binned_between(input.detach(), edges, weight, bool(density))
    return named("histogram", stored(out, (found, edges)))


def stored(out, parts):
    if out is None:
        return parts
    from .writing import store_all

    return store_all("histogram", out, parts)


def check_histogram(input, bins, range, weight) -> None:
    if isinstance(bins, Tensor):
        if range is not None:
            raise TypeError("histogram(): received an invalid combination of arguments: bin edges and a range")
        if bins.dtype is not input.dtype:
            raise RuntimeError(
                "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with dtype "
                f"{scalar_type(input.dtype)} and bins for dimension 0 with dtype {scalar_type(bins.dtype)}"
            )
        if bins.ndim != 1:
            raise RuntimeError(
                f"torch.histogramdd: bins tensor should have one dimension, but got {bins.ndim} dimensions in the bins "
                "tensor for dimension 0"
            )
        if bins.numel() == 0:
            raise RuntimeError("torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements")
    elif bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins}")
    if weight is not None:
        if tuple(weight.shape) != tuple(input.shape):
            raise RuntimeError(
                "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor "
                f"excluding its innermost dimension, but got input with shape {list(input.shape)} and weight with "
                f"shape {list(weight.shape)}"
            )
        if weight.dtype is not input.dtype:
            raise RuntimeError(
                "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same "
                "dtype"
            )
