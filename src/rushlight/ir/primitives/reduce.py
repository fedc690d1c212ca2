"""Reductions: primitives that fold the elements along some dimensions, which the result loses."""

from __future__ import annotations

from .. import build as B
from ..dtypes import int64
from ..lazy import np
from ..primitive import Primitive, check_dim, check_dims, check_dtype, fail


def _kept(name: str, x, dims) -> tuple:
    check_dims(name, dims, x.ndim)
    return tuple(s for d, s in enumerate(x.shape) if d not in dims)


def _declare(name: str, kinds: str, numpy, empty: bool = True) -> Primitive:
    def shape(x, *, dims):
        check_dtype(name, x, kinds)
        if not empty and any(x.shape[d] == 0 for d in dims):
            fail(name, f"expected at least one element along {dims}, got {x}")
        return _kept(name, x, dims), x.dtype

    prim = Primitive(name, "reduce", shape, numpy=lambda x, *, dims: numpy(x, tuple(dims)))

    @prim.batch
    def _(node, inputs, batch_dims):
        x = B.front(inputs[0], batch_dims[0])
        return [prim(x, dims=tuple(d + 1 for d in node.attrs["dims"]))], [0]

    return prim


def _wide(function):
    """Fold floats in float64 and round once."""

    def rule(x, dims):
        wide = {"f": "float64", "c": "complex128"}.get(x.dtype.kind)
        return np.asarray(getattr(np, function)(x.astype(wide) if wide else x, dims, dtype=wide or x.dtype)).astype(
            x.dtype
        )

    return rule


reduce_sum = _declare("reduce_sum", "uifc", _wide("sum"))
reduce_prod = _declare("reduce_prod", "uifc", _wide("prod"))
reduce_max = _declare("reduce_max", "buif", lambda x, dims: np.max(x, dims), empty=False)
reduce_min = _declare("reduce_min", "buif", lambda x, dims: np.min(x, dims), empty=False)
reduce_any = _declare("reduce_any", "b", lambda x, dims: np.any(x, dims))
reduce_all = _declare("reduce_all", "b", lambda x, dims: np.all(x, dims))

reduce_sum.vjp(lambda node, g: [B.unreduce(g, node.inputs[0].shape, node.attrs["dims"])])
reduce_sum.linear()


# -- product ----------------------------------------------------------------------------------
def _products_of_others(x, dims):
    """For each element the product of the other ones along `dims`: exact where elements are 0."""
    kept = tuple(d for d in range(x.ndim) if d not in dims)
    order = kept + tuple(dims)
    row = B.reshape(B.permute(x, order), (*(x.shape[d] for d in kept), B.product(x.shape[d] for d in dims)))
    last = row.ndim - 1
    before = B.shift(B.cumprod(row, last), last, 1, 1)
    after = B.flip(B.shift(B.cumprod(B.flip(row, (last,)), last), last, 1, 1), (last,))
    back = B.reshape(before * after, tuple(x.shape[d] for d in order))
    return B.permute(back, tuple(sorted(range(x.ndim), key=order.__getitem__)))


@reduce_prod.vjp
def _(node, g):
    x, dims = node.inputs[0], node.attrs["dims"]
    return [B.unreduce(g, x.shape, dims) * B.conj(_products_of_others(x, dims))]


@reduce_prod.jvp
def _(node, tangent):
    x, dims = node.inputs[0], node.attrs["dims"]
    return reduce_sum(tangent * _products_of_others(x, dims), dims=dims)


# -- extremes: the derivative is shared evenly among ties ------------------------------------------
def _shares(node):
    x, dims = node.inputs[0], node.attrs["dims"]
    ties = B.cast(B.eq(x, B.unreduce(node.outputs[0], x.shape, dims)), x.dtype)
    return ties / B.unreduce(reduce_sum(ties, dims=dims), x.shape, dims)


def _extreme_vjp(node, g):
    return [B.unreduce(g, node.inputs[0].shape, node.attrs["dims"]) * _shares(node)]


def _extreme_jvp(node, tangent):
    return reduce_sum(tangent * _shares(node), dims=node.attrs["dims"])


for _prim in (reduce_max, reduce_min):
    _prim.vjp(_extreme_vjp)
    _prim.jvp(_extreme_jvp)


# -- places of extremes ---------------------------------------------------------------------------
def _declare_arg(name: str, numpy) -> Primitive:
    def shape(x, *, dim):
        check_dtype(name, x, "buif")
        check_dim(name, dim, x.ndim)
        if x.shape[dim] == 0:
            fail(name, f"expected at least one element along {dim}, got {x}", IndexError)
        return _kept(name, x, (dim,)), int64

    prim = Primitive(name, "reduce", shape, numpy=numpy)

    @prim.batch
    def _(node, inputs, dims):
        return [prim(B.front(inputs[0], dims[0]), dim=node.attrs["dim"] + 1)], [0]

    return prim


argmax = _declare_arg("argmax", lambda x, *, dim: np.argmax(x, dim))
argmin = _declare_arg("argmin", lambda x, *, dim: np.argmin(x, dim))
