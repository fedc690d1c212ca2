"""Means, variances and medians of valid elements."""

from __future__ import annotations

from ..ir import dtypes
from ..ops import FUNCTIONS
from ..ops.dtypes import iinfo
from .masks import dims_of, filled, prepared


def total_and_count(x, mask, dims, keepdim):
    """The sum of valid elements, and how many they are."""
    valid = x.new_ones((), dtype=dtypes.bool_).expand(x.shape) if mask is None else mask
    return filled(x, mask, 0).sum(dims, keepdim), valid.sum(dims, keepdim)


def mean(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The mean of valid elements; NaN where there are none. Whole numbers need a floating or complex `dtype`.

    >>> rushlight.masked.mean(rushlight.tensor([1.0, 8.0, 3.0]), mask=rushlight.tensor([True, False, True]))
    tensor(2.)
    """
    x, mask = prepared("mean", input, dtype, mask)
    if x.dtype.kind not in "fc":
        which = "Input dtype" if dtype is None else "Optional dtype"
        raise ValueError(
            f"mean(): Could not infer output dtype. {which} must be either a floating point or complex dtype. "
            f"Got: {x.dtype}"
        )
    total, count = total_and_count(x, mask, dims_of(dim), keepdim)
    return total / count


def var(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """The variance of valid elements: squared distances from their mean over their number less `correction`.

    unbiased    True: correction=1, False: correction=0
    correction  1 unless given
    dtype       what the input is converted to before; whole numbers become float32 without one

    NaN where nothing is valid, or where there are no more than `correction` equal elements.

    >>> rushlight.masked.var(rushlight.tensor([1.0, 8.0, 3.0]), 0, mask=rushlight.tensor([True, False, True]))
    tensor(2.)
    """
    return variance("var", input, dim, unbiased, correction, keepdim, dtype, mask)


def std(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """The standard deviation of valid elements: the root of `var`.

    >>> rushlight.masked.std(rushlight.tensor([1.0, 8.0, 5.0]), 0, False, mask=rushlight.tensor([True, False, True]))
    tensor(2.)
    """
    return variance("std", input, dim, unbiased, correction, keepdim, dtype, mask).sqrt()


def variance(name: str, input, dim, unbiased, correction, keepdim, dtype, mask):
    if unbiased is not None and correction is not None:
        raise AssertionError(f"masked.{name}: Only one of unbiased and correction may be given")
    if correction is None:
        correction = 0 if unbiased is False else 1
    x, mask = prepared(name, input, dtype, mask, dtypes.float32)
    dims = dims_of(dim)
    total, count = total_and_count(x, mask, dims, True)
    deviation = x - total / count
    squares, count = total_and_count(deviation * deviation.conj(), mask, dims, keepdim)
    # a fractional correction of half types: the divisor is float32
    return (squares / (count - correction).clamp(min=0)).to(x.dtype)


def median(input, dim=-1, *, keepdim=False, dtype=None, mask=None):
    """The median of valid elements along a dim, the lower of two; NaN where there are none (and NaNs left out).

    Whole numbers have no NaN: ValueError if nothing is valid somewhere.

    >>> rushlight.masked.median(rushlight.tensor([4, 9, 2, 6]), mask=rushlight.tensor([True, False, True, True]))
    tensor(4)
    """
    x, mask = prepared("median", input, dtype, mask)
    if x.dtype.is_complex:
        raise NotImplementedError("masked.median: complex numbers have no order")
    if x.dtype.is_floating_point:
        return FUNCTIONS["nanmedian"](filled(x, mask, float("nan")), dim, keepdim)[0]
    if mask is None:
        mask = x.new_ones((), dtype=dtypes.bool_).expand(x.shape)
    count = mask.sum(dim, True)
    if x.ndim and bool((count == 0).any()):
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    # elements left out are sorted behind all valid ones
    order = filled(x, mask, True if x.dtype.kind == "b" else iinfo(x.dtype).max).sort(dim)[0]
    found = order.gather(dim, (count - 1) // 2)
    return found if keepdim else found.squeeze(dim)
