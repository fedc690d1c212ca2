"""Pooling over windows of the trailing spatial dimensions, of which `shape` (or `kernel`) gives the number.

`shape` is the spatial shape of the result: the output's for pools, the input's for gradients.
"""

from __future__ import annotations

import math
from itertools import product as positions

from .. import build as B
from ..dtypes import int64
from ..lazy import np
from ..primitive import Primitive, check_dtype, check_steps, fail, primitive


def _replaced(name: str, x, shape, *geometry) -> tuple:
    """x's shape with its trailing spatial dimensions replaced; all geometry has one int for each of them."""
    if x.ndim < len(shape) or any(len(g) != len(shape) for g in geometry):
        fail(name, f"expected {len(shape)} spatial dimensions in {x}, got geometry {geometry}")
    check_steps(name, *geometry)
    return (*x.shape[: x.ndim - len(shape)], *shape)


@primitive("window", outputs=2)
def max_pool(x, *, kernel, stride, padding, dilation, shape):
    """Largest element of each window, and its int64 flat place in the input's plane: the first of equal
    ones, the last NaN. Padding never wins."""
    check_dtype("max_pool", x, "uif")
    result = _replaced("max_pool", x, shape, kernel, stride, padding, dilation)
    return [(result, x.dtype), (result, int64)]


@primitive("window")
def max_pool_grad(gy, indices, *, shape):
    """Add each element of gy at its flat place in a zero plane of `shape`."""
    if indices.dtype is not int64 or gy.shape != indices.shape:
        fail("max_pool_grad", f"expected int64 indices shaped like the cotangent, got {gy} and {indices}")
    return _replaced("max_pool_grad", gy, shape), gy.dtype


@primitive("window")
def avg_pool(x, *, kernel, stride, padding, shape, count_include_pad, divisor):
    """Sum of each window over `divisor`, or over its number of elements, with or without padding."""
    check_dtype("avg_pool", x, "f")
    return _replaced("avg_pool", x, shape, kernel, stride, padding), x.dtype


@primitive("window")
def avg_pool_grad(gy, *, shape, kernel, stride, padding, count_include_pad, divisor):
    """The adjoint of avg_pool."""
    check_dtype("avg_pool_grad", gy, "f")
    return _replaced("avg_pool_grad", gy, shape, kernel, stride, padding), gy.dtype


@primitive("window")
def adaptive_avg_pool(x, *, shape):
    """Mean of window i of `shape[d]`, which spans [floor(i*size/out), ceil((i+1)*size/out))."""
    check_dtype("adaptive_avg_pool", x, "f")
    return _replaced("adaptive_avg_pool", x, shape), x.dtype


@primitive("window")
def adaptive_avg_pool_grad(gy, *, shape):
    """The adjoint of adaptive_avg_pool."""
    check_dtype("adaptive_avg_pool_grad", gy, "f")
    return _replaced("adaptive_avg_pool_grad", gy, shape), gy.dtype


@primitive("window", outputs=2)
def adaptive_max_pool(x, *, shape):
    """As max_pool, over the windows of adaptive_avg_pool."""
    check_dtype("adaptive_max_pool", x, "uif")
    result = _replaced("adaptive_max_pool", x, shape)
    return [(result, x.dtype), (result, int64)]


# -- meaning: every window is a list of ranges in the input -------------------------------------------
def _fixed_windows(spatial, kernel, stride, padding, dilation, shape):
    """(output place, one range of input places per dimension) for every window, without the padding."""
    for place in positions(*map(range, shape)):
        starts = [o * s - p for o, s, p in zip(place, stride, padding)]
        spans = zip(starts, kernel, dilation, spatial)
        yield place, [[i for i in range(a, a + k * d, d) if 0 <= i < size] for a, k, d, size in spans]


def _adaptive_windows(spatial, shape):
    for place in positions(*map(range, shape)):
        spans = zip(place, spatial, shape)
        yield place, [list(range(i * size // out, -(-(i + 1) * size // out))) for i, size, out in spans]


def _max_over(x, shape, windows):
    n = len(shape)
    lead = x.shape[: x.ndim - n]
    values, indices = np.empty((*lead, *shape), x.dtype), np.zeros((*lead, *shape), "int64")
    flat = np.arange(math.prod(x.shape[x.ndim - n :])).reshape(x.shape[x.ndim - n :])
    for place, ranges in windows:
        found = x[(..., *np.ix_(*ranges))].reshape(*lead, -1)
        nan = np.isnan(found)
        last_nan = found.shape[-1] - 1 - np.argmax(nan[..., ::-1], -1)
        best = np.where(nan.any(-1), last_nan, np.argmax(found, -1))
        values[(..., *place)] = np.take_along_axis(found, best[..., None], -1)[..., 0]
        indices[(..., *place)] = flat[np.ix_(*ranges)].reshape(-1)[best]
    return values, indices


@max_pool.numpy
def _(x, *, kernel, stride, padding, dilation, shape):
    spatial = x.shape[x.ndim - len(shape) :]
    return _max_over(x, shape, _fixed_windows(spatial, kernel, stride, padding, dilation, shape))


@adaptive_max_pool.numpy
def _(x, *, shape):
    return _max_over(x, shape, _adaptive_windows(x.shape[x.ndim - len(shape) :], shape))


@max_pool_grad.numpy
def _(gy, indices, *, shape):
    n = len(shape)
    lead = gy.shape[: gy.ndim - n]
    planes, size = math.prod(lead), math.prod(shape)
    gx = np.zeros((planes, size), _wide(gy))
    rows = np.arange(planes)[:, None]
    np.add.at(gx, (rows, indices.reshape(planes, -1)), gy.reshape(planes, -1))
    return gx.reshape(*lead, *shape).astype(gy.dtype)


def _wide(x):
    return "float64" if x.dtype.kind == "f" else x.dtype


def _averaging(spatial, kernel, stride, padding, shape, count_include_pad, divisor):
    """(place, ranges, what the window's sum is divided by)."""
    for place, ranges in _fixed_windows(spatial, kernel, stride, padding, (1,) * len(shape), shape):
        count = math.prod(map(len, ranges))
        if count_include_pad:
            starts = [o * s - p for o, s, p in zip(place, stride, padding)]
            count = math.prod(min(a + k, n + p) - a for a, k, n, p in zip(starts, kernel, spatial, padding))
        yield place, ranges, divisor if divisor is not None else count


def _adaptive_averaging(spatial, shape):
    for place, ranges in _adaptive_windows(spatial, shape):
        yield place, ranges, math.prod(map(len, ranges))


def _mean_over(x, shape, windows):
    n = len(shape)
    y = np.empty((*x.shape[: x.ndim - n], *shape), x.dtype)
    axes = tuple(range(-n, 0))
    for place, ranges, count in windows:
        y[(..., *place)] = x[(..., *np.ix_(*ranges))].sum(axes, dtype="float64") / count
    return y


def _spread_over(gy, shape, windows):
    n = len(shape)
    gx = np.zeros((*gy.shape[: gy.ndim - n], *shape))
    for place, ranges, count in windows:
        gx[(..., *np.ix_(*ranges))] += gy[(..., *place)].astype("float64")[(..., *([None] * n))] / count
    return gx.astype(gy.dtype)


@avg_pool.numpy
def _(x, *, kernel, stride, padding, shape, count_include_pad, divisor):
    spatial = x.shape[x.ndim - len(shape) :]
    return _mean_over(x, shape, _averaging(spatial, kernel, stride, padding, shape, count_include_pad, divisor))


@avg_pool_grad.numpy
def _(gy, *, shape, kernel, stride, padding, count_include_pad, divisor):
    output = gy.shape[gy.ndim - len(shape) :]
    return _spread_over(gy, shape, _averaging(shape, kernel, stride, padding, output, count_include_pad, divisor))


@adaptive_avg_pool.numpy
def _(x, *, shape):
    return _mean_over(x, shape, _adaptive_averaging(x.shape[x.ndim - len(shape) :], shape))


@adaptive_avg_pool_grad.numpy
def _(gy, *, shape):
    return _spread_over(gy, shape, _adaptive_averaging(shape, gy.shape[gy.ndim - len(shape) :]))


# -- derivatives ------------------------------------------------------------------------------
def _at_indices(x, indices, n: int):
    """Elements of x's planes (its n last dimensions) at flat indices."""
    lead = x.shape[: x.ndim - n]
    flat = B.reshape(x, (*lead, B.product(x.shape[x.ndim - n :])))
    places = B.reshape(indices, (*lead, B.product(indices.shape[indices.ndim - n :])))
    return B.reshape(B.gather(flat, len(lead), places), indices.shape)


def _max_vjp(node, g, _):
    x, n = node.inputs[0], len(node.attrs["shape"])
    return [max_pool_grad(g, node.outputs[1], shape=x.shape[x.ndim - n :])]


def _max_jvp(node, tangent):
    return [_at_indices(tangent, node.outputs[1], len(node.attrs["shape"])), None]


for _prim in (max_pool, adaptive_max_pool):
    _prim.vjp(_max_vjp)
    _prim.jvp(_max_jvp)


@max_pool_grad.vjp
def _(node, g):
    return [_at_indices(g, node.inputs[1], len(node.attrs["shape"])), None]


@max_pool_grad.jvp
def _(node, tangent, _):
    return max_pool_grad(tangent, node.inputs[1], **node.attrs)


def _adjoint(prim: Primitive, other: Primitive) -> None:
    """The derivative of a linear pool is the other one, with the operand's spatial shape as its `shape`."""

    @prim.vjp
    def _(node, g):
        x, n = node.inputs[0], len(node.attrs["shape"])
        return [other(g, **{**node.attrs, "shape": x.shape[x.ndim - n :]})]

    prim.linear()


_adjoint(avg_pool, avg_pool_grad)
_adjoint(avg_pool_grad, avg_pool)
_adjoint(adaptive_avg_pool, adaptive_avg_pool_grad)
_adjoint(adaptive_avg_pool_grad, adaptive_avg_pool)


def _batch(node, inputs, dims):
    """Leading dimensions are free, so a batch is one more."""
    result = node.prim(*B.lead_all(inputs, dims), **node.attrs)
    count = node.prim.n_outputs
    return [result] if count == 1 else list(result), [0] * count


for _prim in (
    max_pool,
    max_pool_grad,
    avg_pool,
    avg_pool_grad,
    adaptive_avg_pool,
    adaptive_avg_pool_grad,
    adaptive_max_pool,
):
    _prim.batch(_batch)
