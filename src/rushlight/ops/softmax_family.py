"""The softmax family."""

from __future__ import annotations

from ..ir import build as B
from .declare import op
from .reduction import check_floating


def prepared(x, dtype, name: str):
    x = x if dtype is None else B.cast(x, dtype)
    check_floating(name, x)
    return x


def shifted(x, dim):
    """x minus its maximum along `dim`, which keeps exponentials in range."""
    if type(x.shape[dim]) is int and x.shape[dim] == 0:
        return x
    return x - B.max(x, (dim,), True)


@op(method=True, out=True)
def softmax(input, dim: int, dtype: Dtype = None):
    """exp(input) / sum(exp(input)) along `dim`.

    >>> rushlight.softmax(rushlight.tensor([0.0, 0.0]), 0)
    tensor([0.5000, 0.5000])
    """
    x = prepared(input, dtype, "softmax")
    if x.ndim == 0:
        return B.ones_like(x)
    d = B.wrap_dim(dim, x.ndim)
    wide = B.cast(x, wide_type(x.dtype))
    e = B.exp(shifted(wide, d))
    return B.cast(e / B.sum(e, (d,), True), x.dtype)


def wide_type(dtype):
    """Half types compute in float32."""
    from ..ir.dtypes import float32

    return float32 if dtype.name in ("float16", "bfloat16") else dtype


@softmax.vjp
def _(cotangents, outputs, input, dim, dtype=None):
    y, g = outputs[0], cotangents[0]
    if input.ndim == 0:
        return B.zeros_like(input)
    y, g = B.cast(y, wide_type(y.dtype)), B.cast(g, wide_type(y.dtype))
    return y * (g - B.sum(g * y, (B.wrap_dim(dim, input.ndim),), True))


@op(method=True, out=True)
def log_softmax(input, dim: int, dtype: Dtype = None):
    """log(softmax(input)) along `dim`, without overflow."""
    x = prepared(input, dtype, "log_softmax")
    if x.ndim == 0:
        return B.zeros_like(x)
    d = B.wrap_dim(dim, x.ndim)
    wide = shifted(B.cast(x, wide_type(x.dtype)), d)
    return B.cast(wide - B.log(B.sum(B.exp(wide), (d,), True)), x.dtype)


@log_softmax.vjp
def _(cotangents, outputs, input, dim, dtype=None):
    y, g = outputs[0], cotangents[0]
    if input.ndim == 0:
        return B.zeros_like(input)
    y, g = B.cast(y, wide_type(y.dtype)), B.cast(g, wide_type(y.dtype))
    return g - B.exp(y) * B.sum(g, (B.wrap_dim(dim, input.ndim),), True)


@op
def softmin(input, dim: int, dtype: Dtype = None):
    """softmax(-input) along `dim`."""
    return softmax(-input, dim, dtype)
