"""Distinct elements. Every NaN is distinct from all others."""

from __future__ import annotations

from collections import namedtuple

from ..core.engine import Tensor
from ..ops import FUNCTIONS as F

UniqueAll = namedtuple("UniqueAll", "values indices inverse_indices counts")
UniqueCounts = namedtuple("UniqueCounts", "values counts")
UniqueInverse = namedtuple("UniqueInverse", "values inverse_indices")


def unique_values(x: Tensor, /) -> Tensor:
    """The distinct elements in order."""
    return F["unique"](x)


def unique_counts(x: Tensor, /) -> UniqueCounts:
    """The distinct elements in order, and how often each occurs."""
    return UniqueCounts(*F["unique"](x, return_counts=True))


def unique_inverse(x: Tensor, /) -> UniqueInverse:
    """The distinct elements in order, and where among them each element of the array is."""
    return UniqueInverse(*F["unique"](x, return_inverse=True))


def unique_all(x: Tensor, /) -> UniqueAll:
    """The distinct elements in order, where each occurs first, where among them each element is, and counts."""
    values, inverse, counts = F["unique"](x, return_inverse=True, return_counts=True)
    places = F["arange"](x.numel())
    first = F["full"](values.shape, x.numel()).index_reduce(0, inverse.reshape(-1), places, "amin")
    return UniqueAll(values, first, inverse, counts)
