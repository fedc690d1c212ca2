"""Discrete Fourier transforms along one dimension, times a number `scale`.

`order`: the dimensions of the result from outermost to innermost in memory, where nothing else decides; None for
row-major. Lengths along `dim` are plain integers: they decide how a transform is computed.
"""

from __future__ import annotations

from .. import build as B
from ..lazy import np
from ..primitive import check_dim, check_dtype, fail, primitive


def _length(name: str, x, dim: int) -> int:
    """The size along a checked dimension: always a plain number."""
    check_dim(name, dim, x.ndim)
    n = int(x.shape[dim])
    if n < 1:
        fail(name, f"expected at least one number along dimension {dim}, got {x}")
    return n


def _resized(x, dim: int, size: int) -> tuple:
    return (*x.shape[:dim], size, *x.shape[dim + 1 :])


@primitive("transform")
def fft(x, *, dim, inverse, scale, order):
    """y[k] = scale * sum over j of x[j] exp(-+ 2 pi i j k / n), with + if `inverse`."""
    check_dtype("fft", x, "c")
    return _resized(x, dim, _length("fft", x, dim)), x.dtype


@primitive("transform")
def rfft(x, *, dim, scale, order):
    """The first n // 2 + 1 numbers of `fft` of real x; the others are conjugates of these."""
    check_dtype("rfft", x, "f")
    return _resized(x, dim, _length("rfft", x, dim) // 2 + 1), x.dtype.to_complex()


@primitive("transform")
def irfft(x, *, dim, n, scale, order):
    """The real inverse `fft` of n numbers, of which x has the first n // 2 + 1; those that must be real count so."""
    check_dtype("irfft", x, "c")
    if type(n) is not int or n < 1 or _length("irfft", x, dim) != n // 2 + 1:
        fail("irfft", f"expected {n} // 2 + 1 numbers along dimension {dim}, got {x}")
    return _resized(x, dim, n), x.dtype.to_real()


# -- meaning --------------------------------------------------------------------------------------
@fft.numpy
def _(x, *, dim, inverse, scale, order):
    function, wide = (np.fft.ifft if inverse else np.fft.fft), x.astype("complex128")
    return (function(wide, axis=dim, norm="forward" if inverse else None) * scale).astype(x.dtype)


@rfft.numpy
def _(x, *, dim, scale, order):
    made = np.fft.rfft(x.astype("float64"), axis=dim) * scale
    return made.astype("complex64" if x.dtype == "float32" else "complex128")


@irfft.numpy
def _(x, *, dim, n, scale, order):
    made = np.fft.irfft(x.astype("complex128"), n, dim, norm="forward") * scale
    return made.astype("float32" if x.dtype == "complex64" else "float64")


# -- derivatives: all are linear ------------------------------------------------------------------
for _prim in (fft, rfft, irfft):
    _prim.linear()


@fft.vjp
def _(node, g):
    return [fft(g, **{**node.attrs, "inverse": not node.attrs["inverse"]})]


@rfft.vjp
def _(node, g):
    a, n = node.attrs, int(node.inputs[0].shape[node.attrs["dim"]])
    return [irfft(_paired(g, a["dim"], n, 0.5), n=n, **a)]


@irfft.vjp
def _(node, g):
    a = dict(node.attrs)
    n = a.pop("n")
    return [_paired(rfft(g, **a), a["dim"], n, 2.0)]


def _paired(x, dim: int, n: int, factor: float):
    """Times `factor` where a number stands for its conjugate as well: everywhere but at frequencies 0 and n / 2."""
    size = n // 2 + 1
    k = B.iota(x.shape, dim)
    alone = B.eq(k, 0) if n % 2 else B.logical_or(B.eq(k, 0), B.eq(k, size - 1))
    return B.where(alone, x, x * factor)


def _batch(node, inputs, dims):
    """The batch stays where it is: any dimension but the transformed one will do."""
    a, dim, batch = dict(node.attrs), node.attrs["dim"], dims[0]
    x = inputs[0]
    a["dim"] = dim + 1 if batch <= dim else dim
    if a["order"] is not None:
        a["order"] = (batch, *(d + 1 if d >= batch else d for d in a["order"]))
    return [node.prim(x, **a)], [batch]


for _prim in (fft, rfft, irfft):
    _prim.batch(_batch)
