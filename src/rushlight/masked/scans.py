"""Cumulative sums and products of valid elements."""

from __future__ import annotations

from .masks import filled, prepared


def cumsum(input, dim, *, dtype=None, mask=None):
    """The sum of valid elements up to each place along a dim, in `dtype` (the input's unless given).

    >>> rushlight.masked.cumsum(rushlight.tensor([1.0, 9.0, 2.0]), 0, mask=rushlight.tensor([True, False, True]))
    tensor([1., 1., 3.])
    """
    x, mask = prepared("cumsum", input, dtype, mask)
    return filled(x, mask, 0).cumsum(dim, dtype=x.dtype)


def cumprod(input, dim, *, dtype=None, mask=None):
    """The product of valid elements up to each place along a dim, in `dtype` (the input's unless given).

    >>> rushlight.masked.cumprod(rushlight.tensor([2.0, 9.0, 3.0]), 0, mask=rushlight.tensor([True, False, True]))
    tensor([2., 2., 6.])
    """
    x, mask = prepared("cumprod", input, dtype, mask)
    return filled(x, mask, 1).cumprod(dim, dtype=x.dtype)
