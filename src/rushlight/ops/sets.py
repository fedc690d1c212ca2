"""Tensors as sets: distinct elements and slices, membership."""

from __future__ import annotations

from ..core.engine import Tensor
from ..ir import build as B
from ..ir import dtypes
from ..ir.graph import Value
from ..ir.primitive import PRIMITIVES
from ..ir.sizes import product
from .checks import scalar_type
from .compaction import nonzero_columns
from .creation import fresh
from .declare import composite, op
from .indexing import is_zero
from .statistics import starts_run

FEW = 16  # elements to compare one by one with: cheaper than sorting them


# -- runs of equal slices -----------------------------------------------------------------------
@op(public=False)
def ranked(input):
    """[n, m] -> int64[n, m]: for each column, the number of different smaller elements."""
    ordered, places = B.sort(input, 0)
    ranks = B.cumsum(B.cast(starts_run(ordered, 0), dtypes.int64), 0) - 1
    return B.scatter(ranks, 0, places, ranks)


@op(public=False)
def paired(ranks):
    """Neighbouring columns of ranks as one key each."""
    rows = ranks.shape[0]
    if ranks.shape[1] % 2 == 1:
        ranks = B.pad(ranks, (0, 0), (0, 1))
    pairs = B.reshape(ranks, (rows, ranks.shape[1] // 2, 2))
    return B.select(pairs, 2, 0) * rows + B.select(pairs, 2, 1)


@op(public=False)
def run_starts(input):
    """[n, m] -> bool[n]: whether a row differs from the one before it."""
    rows = input.shape[0]
    differs = B.ne(B.narrow(input, 0, 1, rows - 1), B.narrow(input, 0, 0, rows - 1))
    return B.pad(B.any(differs, (1,)), (1,), (0,), True)


@op(public=False)
def run_numbers(starts):
    """0 for the first run, 1 for the next, .."""
    return B.cumsum(B.cast(starts, dtypes.int64), 0) - 1


def lexicographic_ranks(rows):
    """int64[n]: the number of different rows that come before each row of [n, m] in lexicographic order."""
    ranks = ranked(rows)
    while ranks.shape[1] > 1:
        ranks = ranked(paired(ranks))
    return ranks.reshape((-1,))


def run_lengths(starts):
    """How long each run is, given the places where runs start."""
    (first,) = nonzero_columns(starts)
    return lengths(first, starts.shape[0])


@op(public=False)
def lengths(first, total: int):
    following = B.concat([B.narrow(first, 0, 1, first.shape[0] - 1), B.full((1,), total, dtypes.int64)], 0)
    return following - first


def as_rows(x, dim):
    """(a matrix with one row for each slice of `dim`, or each element; dim; the number of rows)"""
    if dim is None:
        return x.reshape((-1, 1)), None
    d = B.wrap_dim(dim, x.ndim)
    if x.ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    if any(n == 0 for e, n in enumerate(x.shape) if e != d):
        raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    return x.movedim(d, 0).reshape((x.shape[d], -1 if x.shape[d] else 1)), d


def check_unique(x) -> None:
    if x.dtype.is_complex:
        raise NotImplementedError(f"\"unique\" not implemented for '{scalar_type(x.dtype)}'")


@composite(method=True)
def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The distinct elements in order, or the distinct slices of `dim` in lexicographic order.

    With `return_inverse` also where each element of the input went, with `return_counts` how often each occurs.
    """
    check_unique(input)
    x = input.detach()
    rows, d = as_rows(x, dim)
    if rows.shape[0] == 0:
        values, inverse, counts = x if d is not None else x.reshape((0,)), empty_places(), empty_places()
    elif rows.shape[1] == 1:
        values, inverse, counts = distinct_elements(rows.reshape((-1,)), return_inverse, return_counts)
        values = values if d is None else shaped_like_slices(values, x, d)
    else:
        ranks = lexicographic_ranks(rows)
        count = ranks.max().item() + 1
        values = x.index_select(d, last_places(ranks, count))
        inverse, counts = ranks, tally(ranks, count) if return_counts else None
    return results(input, d, values, inverse if return_inverse else None, counts if return_counts else None)


def empty_places():
    return fresh((0,), dtypes.int64)


def shaped_like_slices(values, x, d: int):
    return values.reshape(tuple(-1 if e == d else 1 for e in range(x.ndim)))


def distinct_elements(x, want_inverse: bool, want_counts: bool) -> tuple:
    """(values in order, places of the elements among them, counts) of a vector."""
    ordered, places = sorted_elements(x)
    starts = run_starts(ordered.reshape((-1, 1)))
    inverse = placed(run_numbers(starts), places) if want_inverse else None
    return ordered[starts], inverse, run_lengths(starts) if want_counts else None


@op(public=False)
def sorted_elements(x):
    return B.sort(x, 0)


@op(public=False)
def placed(numbers, places):
    return B.scatter(numbers, 0, places, numbers)


@op(public=False)
def last_places(ranks, count: int):
    """For each rank a row that has it: the last one."""
    return B.put(B.zeros((count,), dtypes.int64), B.iota(ranks.shape), ranks, dim=0)


@op(public=False)
def tally(ranks, count: int):
    return B.put(B.zeros((count,), dtypes.int64), B.full(ranks.shape, 1, dtypes.int64), ranks, dim=0, mode="add")


def results(input, d, values, inverse, counts):
    """The values, alone or with what else was asked for."""
    if inverse is not None and d is None:
        inverse = inverse.reshape(tuple(input.shape))
    found = tuple(v for v in (values, inverse, counts) if v is not None)
    return found[0] if len(found) == 1 else found


@composite(method=True)
def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """The elements (or slices of `dim`) without those equal to the one before; see `unique`."""
    x = input.detach()
    rows, d = as_rows(x, dim)
    if rows.shape[0] == 0:
        values, inverse, counts = x if d is not None else x.reshape((0,)), empty_places(), empty_places()
    else:
        starts = run_starts(rows)
        (first,) = nonzero_columns(starts)
        values = x.reshape((-1,))[first] if d is None else x.index_select(d, first)
        inverse = run_numbers(starts) if return_inverse else None
        counts = lengths(first, rows.shape[0]) if return_counts else None
    return results(input, d, values, inverse if return_inverse else None, counts if return_counts else None)


# -- membership ---------------------------------------------------------------------------------
@op(public=False)
def among(elements, test_elements, invert: bool):
    """Whether each element equals one of `test_elements`."""
    if not isinstance(elements, Value) or elements.weak:
        elements = B.full((), elements, test_elements.dtype)
    if not isinstance(test_elements, Value) or test_elements.weak:
        test_elements = B.full((), test_elements, elements.dtype)
    dtype = dtypes.promote_types(elements.dtype, test_elements.dtype)
    dtype = dtypes.uint8 if dtype is dtypes.bool_ else dtype
    x, tests = B.cast(elements, dtype), B.reshape(B.cast(test_elements, dtype), (product(test_elements.shape),))
    count = tests.shape[0]
    if is_zero(count):
        found = B.full(x.shape, False, dtypes.bool_)
    elif count <= FEW:
        found = B.any(B.eq(B.unsqueeze(x, -1), tests), (x.ndim,))
    else:
        ordered = B.sort(tests, 0)[0]
        queries = B.reshape(x, (product(x.shape),))
        wide = dtypes.float32 if dtype in (dtypes.float16, dtypes.bfloat16) else dtype
        place = PRIMITIVES["searchsorted"](B.cast(ordered, wide), B.cast(queries, wide), right=False)
        near = B.take(ordered, B.minimum(place, count - 1), dim=0)
        found = B.reshape(B.eq(near, queries), x.shape)
    return B.logical_not(found) if invert else found


@composite
def isin(
    elements=None, test_elements=None, *, element=None, test_element=None, assume_unique=False, invert=False, out=None
):
    """Whether each element (of a tensor or number) is one of `test_elements`; with `invert`, whether it is not."""
    elements = element if elements is None else elements
    test_elements = test_element if test_elements is None else test_elements
    if not isinstance(elements, (Tensor, Value)) and not isinstance(test_elements, (Tensor, Value)):
        raise TypeError("isin(): one of elements and test_elements must be a tensor")
    found = among(elements, test_elements, bool(invert))
    if out is None:
        return found
    from .writing import store

    return store(out, found, "isin")
