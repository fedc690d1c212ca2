"""Histograms of points in several dimensions."""

from __future__ import annotations

from ..core.engine import Tensor
from ..ir import build as B
from ..ir import dtypes
from ..ir.primitive import PRIMITIVES
from ..ir.sizes import product
from .binning import limits
from .checks import check_kinds, scalar_type
from .declare import composite, op
from .named import named


@op(public=False)
def counted_between(points, edges: list, weight, density: bool):
    """[M, N] and N vectors of increasing edges: how many points lie in each box, or the sums of their weights."""
    number = points.shape[0]
    place, inside = B.zeros((number,), dtypes.int64), B.full((number,), True, dtypes.bool_)
    for dim, marks in enumerate(edges):
        x, bins = B.select(points, 1, dim), marks.shape[0] - 1
        at = PRIMITIVES["searchsorted"](marks, x, right=True) - 1
        at = B.where(B.eq(x, B.select(marks, 0, bins)), bins - 1, at)  # the last bin has both of its ends
        inside = B.logical_and(inside, B.logical_and(B.ge(at, 0), B.lt(at, bins)))
        place = place * bins + at
    amounts = B.full((number,), 1, points.dtype) if weight is None else B.reshape(weight, (number,))
    amounts = B.where(inside, amounts, B.zeros_like(amounts))
    shape = [marks.shape[0] - 1 for marks in edges]
    boxes = product(shape)
    counts = B.put(B.zeros((boxes,), amounts.dtype), amounts, B.where(inside, place, 0), dim=0, mode="add")
    counts = B.reshape(counts, shape)
    if not density:
        return counts
    total = B.sum(counts)
    for dim, marks in enumerate(edges):
        widths = B.narrow(marks, 0, 1, shape[dim]) - B.narrow(marks, 0, 0, shape[dim])
        counts = counts / B.reshape(widths, (shape[dim], *(1,) * (len(shape) - 1 - dim)))
    return counts / total


@composite
def histogramdd(input, bins, *, range=None, weight=None, density=False):
    """(hist, bin_edges): how many of the points (..., N) lie in each box of an N-dimensional grid.

    Args:
        input: the points, of a floating point type
        bins: N vectors of increasing edges, or N numbers of equal bins, or one number for all dims
        range: 2·N numbers, the ends of equal bins in each dim; those of the data by default
        weight: (...), what each point counts
        density: divide so that the integral over all boxes is 1

    >>> hist, edges = rushlight.histogramdd(rushlight.tensor([[0., 1.], [1., 0.], [2., 0.], [2., 2.]]), bins=[2, 2])
    >>> hist
    tensor([[0., 1.],
            [2., 1.]])
    """
    if input.ndim < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    check_kinds("histogramdd", input.dtype, "f")
    count = input.shape[-1]
    bins = [bins] * count if isinstance(bins, int) else list(bins)
    if len(bins) != count:
        raise RuntimeError("histogramdd: The size of bins must be equal to the innermost dimension of the input.")
    check_weight(input, weight)
    points = input.detach().reshape(-1, count)
    given = any(isinstance(b, Tensor) for b in bins)
    edges = given_edges(input, bins) if given else equal_edges(points, bins, range)
    return named("histogramdd", (counted_between(points, edges, weight, bool(density)), tuple(edges)))


def given_edges(input, bins: list) -> list:
    for dim, marks in enumerate(bins):
        if not isinstance(marks, Tensor):
            raise TypeError(f"expected Tensor as element {dim} in argument 1, but got {type(marks).__name__}")
        if marks.dtype is not input.dtype:
            raise RuntimeError(
                "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with dtype "
                f"{scalar_type(input.dtype)} and bins for dimension {dim} with dtype {scalar_type(marks.dtype)}"
            )
        if marks.ndim != 1 or marks.numel() == 0:
            raise RuntimeError(
                "torch.histogramdd: bins tensor should have one dimension and at least 1 element, but got shape "
                f"{list(marks.shape)} in the bins tensor for dimension {dim}"
            )
    return bins


def equal_edges(points, bins: list, range) -> list:
    from .ranges import linspace

    if range is not None and len(range) != 2 * len(bins):
        raise RuntimeError(
            f"torch.histogramdd: for a {len(bins)}-dimensional histogram range should have {2 * len(bins)} elements, "
            f"but got {len(range)}"
        )
    found = []
    for dim, number in enumerate(bins):
        if number <= 0:
            raise RuntimeError(f"torch.histogramdd(): bins must be > 0, but got {number} for dimension {dim}")
        low, high = (0, 0) if range is None else range[2 * dim : 2 * dim + 2]
        if range is None and not points.shape[0]:
            low, high = 0, 1
        low, high = limits("torch.histogramdd()", points[:, dim], low, high, 0.5)
        found.append(linspace(low, high, number + 1, dtype=points.dtype))
    return found


def check_weight(input, weight) -> None:
    if weight is None:
        return
    if weight.shape != input.shape[:-1]:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor "
            f"excluding its innermost dimension, but got input with shape {list(input.shape)} and weight with shape "
            f"{list(weight.shape)}"
        )
    if weight.dtype is not input.dtype:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same "
            f"dtype, but got input({scalar_type(input.dtype)}), and weight({scalar_type(weight.dtype)})"
        )
