"""Scans: primitives whose element i folds the elements up to i along one dimension."""

from __future__ import annotations

from .. import build as B
from ..dtypes import int64
from ..lazy import np
from ..primitive import Primitive, check_dim, check_dtype


def _declare(name: str, kinds: str, numpy, outputs: int = 1) -> Primitive:
    def shape(x, *, dim):
        check_dtype(name, x, kinds)
        check_dim(name, dim, x.ndim)
        return (x.shape, x.dtype) if outputs == 1 else [(x.shape, x.dtype), (x.shape, int64)]

    prim = Primitive(name, "scan", shape, numpy=numpy, outputs=outputs)

    @prim.batch
    def _(node, inputs, dims):
        result = prim(B.front(inputs[0], dims[0]), dim=node.attrs["dim"] + 1)
        return [result] if outputs == 1 else list(result), [0] * outputs

    return prim


def _wide(function):
    def rule(x, *, dim):
        wide = {"f": "float64", "c": "complex128"}.get(x.dtype.kind, x.dtype)
        return function(x.astype(wide), dim).astype(x.dtype)

    return rule


def _logcumsumexp(x, dim):
    return np.logaddexp.accumulate(x, dim)


def _extremes(better):
    """Running extreme and its last place; the first NaN wins, then each later NaN."""

    def rule(x, *, dim):
        moved = np.moveaxis(x, dim, 0)
        values, indices = moved.copy(), np.zeros(moved.shape, "int64")
        for i in range(1, moved.shape[0]):
            take = np.isnan(moved[i]) | (~np.isnan(values[i - 1]) & better(moved[i], values[i - 1]))
            values[i] = np.where(take, moved[i], values[i - 1])
            indices[i] = np.where(take, i, indices[i - 1])
        return np.moveaxis(values, 0, dim), np.moveaxis(indices, 0, dim)

    return rule


cumsum = _declare("cumsum", "uifc", _wide(lambda x, dim: np.cumsum(x, dim, dtype=x.dtype)))
cumprod = _declare("cumprod", "uifc", _wide(lambda x, dim: np.cumprod(x, dim, dtype=x.dtype)))
logcumsumexp = _declare("logcumsumexp", "f", _wide(_logcumsumexp))
cummax = _declare("cummax", "buif", _extremes(lambda new, old: new >= old), outputs=2)
cummin = _declare("cummin", "buif", _extremes(lambda new, old: new <= old), outputs=2)


def _backward(function, x, dim: int):
    return B.flip(function(B.flip(x, (dim,))), (dim,))


def _recurrence(start, factor, dim: int):
    """h[i] = start[i] + factor[i] * h[i-1], by doubling: exact where factors are 0, and differentiable again."""
    step, size = 1, start.shape[dim]
    while size > step:
        start = start + factor * B.shift(start, dim, step, 0)
        factor = factor * B.shift(factor, dim, step, 0)
        step *= 2
    return start


def _recurrence_backward(start, factor, dim: int):
    """h[i] = start[i] + factor[i+1] * h[i+1]."""
    factor = B.shift(B.flip(factor, (dim,)), dim, 1, 0)
    return B.flip(_recurrence(B.flip(start, (dim,)), factor, dim), (dim,))


@cumsum.vjp
def _(node, g):
    dim = node.attrs["dim"]
    return [_backward(lambda t: cumsum(t, dim=dim), g, dim)]


cumsum.linear()


@cumprod.vjp
def _(node, g):
    x, y, dim = B.conj(node.inputs[0]), B.conj(node.outputs[0]), node.attrs["dim"]
    return [B.shift(y, dim, 1, 1) * _recurrence_backward(g, x, dim)]


@cumprod.jvp
def _(node, tangent):
    x, y, dim = node.inputs[0], node.outputs[0], node.attrs["dim"]
    return _recurrence(B.shift(y, dim, 1, 1) * tangent, x, dim)


def _logcumsumexp_factors(node):
    """exp(x[i] - y[i]) and exp(y[i-1] - y[i]), both at most 1; 0 where y is still -inf."""
    x, y, dim = node.inputs[0], node.outputs[0], node.attrs["dim"]
    nothing = B.eq(y, float("-inf"))
    finite = B.where(nothing, 0.0, y)
    before = B.shift(y, dim, 1, float("-inf"))
    return B.exp(x - finite), B.exp(before - finite)


@logcumsumexp.vjp
def _(node, g):
    own, carried = _logcumsumexp_factors(node)
    return [own * _recurrence_backward(g, carried, node.attrs["dim"])]


@logcumsumexp.jvp
def _(node, tangent):
    own, carried = _logcumsumexp_factors(node)
    return _recurrence(own * tangent, carried, node.attrs["dim"])


def _extreme_vjp(node, g, _):
    x, dim = node.inputs[0], node.attrs["dim"]
    return [B.scatter(B.zeros_like(x), dim, node.outputs[1], g, "add")]


def _extreme_jvp(node, tangent):
    return [B.gather(tangent, node.attrs["dim"], node.outputs[1]), None]


for _prim in (cummax, cummin):
    _prim.vjp(_extreme_vjp)
    _prim.jvp(_extreme_jvp)
