"""Distances between all pairs of vectors."""

from __future__ import annotations

import math

from ..ir import build as B
from ..ir import dtypes
from .checks import scalar_type
from .declare import composite, op

MANY = 25  # from more vectors than this on, 2-norms come from a matrix product
MODES = {
    "use_mm_for_euclid_dist_if_necessary": 0,
    "use_mm_for_euclid_dist": 1,
    "donot_use_mm_for_euclid_dist": 2,
}


def norm_of_difference(d, p, dims):
    """The p-norm of differences over dims."""
    size = B.abs(d)
    if p == 0:
        return B.sum(B.cast(B.ne(d, 0), d.dtype), dims)
    if p == 1:
        return B.sum(size, dims)
    if p == 2:
        return B.root(B.sum(d * d, dims))
    if p == math.inf:
        empty = any(type(d.shape[axis]) is int and d.shape[axis] == 0 for axis in dims)
        return B.sum(size, dims) if empty else B.max(size, dims)
    return B.raised(B.sum(B.raised(size, p), dims), 1 / p)


def slope(d, distance, p):
    """How the p-norm of differences grows with each of them, 0 at 0; `distance` broadcasts against `d`."""
    if p == 0:
        return B.zeros_like(d)
    if p == 1:
        return B.sign(d)
    if p == math.inf:
        return B.sign(d) * B.cast(B.eq(B.abs(d), distance), d.dtype)
    none = B.logical_or(B.eq(distance, 0), B.eq(d, 0))
    ratio = B.abs(d) / B.where(B.eq(distance, 0), 1, distance)
    return B.where(none, 0, B.sign(d) * B.pow(B.where(none, 1, ratio), p - 1))


def by_product(x1, x2, mode: int) -> bool:
    return mode == 1 or (mode == 0 and (x1.shape[-2] > MANY or x2.shape[-2] > MANY))


@op(public=False)
def distances(x1, x2, p: Exponent, mode: int):
    """Distances of all rows of x1 to all rows of x2, per matrix of the batch."""
    if p == 2 and by_product(x1, x2, mode):
        a, b = B.sum(x1 * x1, (-1,), True), B.sum(x2 * x2, (-1,), True)
        squares = a + B.transpose(b, -1, -2) - 2 * B.dot(x1, B.transpose(x2, -1, -2))
        return B.root(B.maximum(squares, 0))
    return norm_of_difference(B.unsqueeze(x1, -2) - B.unsqueeze(x2, -3), p, (-1,))


@distances.vjp
def _(cotangents, outputs, x1, x2, p, mode):
    g, y = cotangents[0], outputs[0]
    if p == 2 and by_product(x1, x2, mode):
        weight = B.where(B.eq(y, 0), 0, g / B.where(B.eq(y, 0), 1, y))
        first = x1 * B.sum(weight, (-1,), True) - B.dot(weight, x2)
        turned = B.transpose(weight, -1, -2)
        return first, x2 * B.sum(turned, (-1,), True) - B.dot(turned, x1)
    d = B.unsqueeze(x1, -2) - B.unsqueeze(x2, -3)
    each = B.unsqueeze(g, -1) * slope(d, B.unsqueeze(y, -1), p)
    return B.sum(each, (-2,)), -B.sum(each, (-3,))


@composite
def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    """p-norm distances between all rows of x1 and all rows of x2.

    x1: (..., P, M); x2: (..., R, M); leading dims broadcast; result (..., P, R). With `compute_mode`
    "use_mm_for_euclid_dist" 2-norms come from a matrix product, as they do by default for more than 25 rows.
    """
    for number, x in ((1, x1), (2, x2)):
        if not x.is_floating_point():
            raise RuntimeError(f"cdist only supports floating-point dtypes, X{number} got: {scalar_type(x.dtype)}")
        if x.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, X{number} got: {x.ndim}D")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {int(x1.shape[-1])} X2: {int(x2.shape[-1])}"
        )
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    if compute_mode not in MODES and compute_mode is not None:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    batch = B.broadcast_shapes(tuple(x1.shape[:-2]), tuple(x2.shape[:-2]))
    x1, x2 = (x.expand((*batch, *x.shape[-2:])) if tuple(x.shape[:-2]) != batch else x for x in (x1, x2))
    return distances(x1, x2, float(p), MODES.get(compute_mode, 0))


def pairs_of(n):
    """The first and the second of each pair of n rows, in row-major order: number k is that of (i, j), i < j.

    i begins at i (2n - i - 1) / 2; the root that follows from that may be rounded past a whole number.
    """
    k = B.iota((n * (n - 1) // 2,))

    def start(i):
        return B.shift_right(i * (2 * n - 1 - i), 1)

    root = B.sqrt(B.cast((2 * n - 1) * (2 * n - 1) - 8 * k, dtypes.float64))
    i = B.cast((2 * n - 1 - root) * 0.5, dtypes.int64)
    i = i - B.cast(B.lt(k, start(i)), dtypes.int64)
    i = i + B.cast(B.ge(k, start(i + 1)), dtypes.int64)
    return i, k - start(i) + i + 1


@op(public=False)
def pair_distances(x, p: Exponent):
    """Distances of all pairs of rows."""
    first, second = pairs_of(x.shape[0])
    return norm_of_difference(B.take(x, first, dim=0) - B.take(x, second, dim=0), p, (-1,))


@pair_distances.vjp
def _(cotangents, outputs, x, p):
    first, second = pairs_of(x.shape[0])
    d = B.take(x, first, dim=0) - B.take(x, second, dim=0)
    each = B.unsqueeze(cotangents[0], -1) * slope(d, B.unsqueeze(outputs[0], -1), p)
    return [B.put(B.put(B.zeros_like(x), each, first, dim=0, mode="add"), -each, second, dim=0, mode="add")]


@composite
def pdist(input, p=2.0):
    """p-norm distances between all pairs of rows of a matrix: (N, M) gives N (N - 1) / 2 of them, row by row."""
    if input.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.ndim}D")
    if not input.is_floating_point():
        raise RuntimeError("pdist only supports floating-point dtypes")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    return pair_distances(input, float(p))
