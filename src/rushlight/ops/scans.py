"""Running sums, products and extremes; differences and the trapezoidal rule."""

from __future__ import annotations

import math

from ..ir import build as B
from ..ir import dtypes
from ..ir.sizes import product
from .checks import scalar_type
from .declare import Number, composite, op
from .indexing import is_zero
from .named import extremes


@op(method=True, inplace=True, out=True, narrows=True)
def cumsum(input, dim: int, *, dtype: dtypes.DType | None = None):
    """The running sum along `dim`; integers and bools sum as int64.

    >>> rushlight.tensor([1, 2, 3]).cumsum(0)
    tensor([1, 3, 6])
    """
    return B.cumsum(input, dim, dtype)


@op(method=True, inplace=True, out=True, narrows=True)
def cumprod(input, dim: int, *, dtype: dtypes.DType | None = None):
    """The running product along `dim`; integers and bools multiply as int64."""
    return B.cumprod(input, dim, dtype)


@op(method=True, out=True)
def logcumsumexp(input, dim: int):
    """The logarithm of the running sum of exponentials along `dim`."""
    if input.dtype.kind not in "fc":
        raise NotImplementedError(f"\"logcumsumexp_out_cpu\" not implemented for '{scalar_type(input.dtype)}'")
    if input.dtype.is_complex:
        return complex_logcumsumexp(input, B.wrap_dim(dim, input.ndim))
    return B.logcumsumexp(input, dim)


def complex_logcumsumexp(x, dim: int):
    """m + log(sum of exp(x - m)), where m is the last element that outweighed the sum before it.

    The phase of m is kept whole, as adding one by one would do.
    """
    if x.ndim == 0 or is_zero(product(x.shape)):
        return x
    top = B.max(B.real(x), (dim,), True)
    top = B.where(B.isfinite(top), top, 0.0)
    sums = B.cumsum(B.exp(x - top), dim)
    before = B.shift(B.log(B.abs(sums)) + top, dim, 1, -math.inf)
    leads = B.where(B.gt(B.real(x), before), B.iota(x.shape, dim), 0)
    leading = B.gather(x, dim, B.cummax(leads, dim)[0])
    leading = B.where(B.isfinite(B.real(leading)), leading, B.zeros_like(leading))
    return leading + B.log(sums * B.exp(top - leading))


def _running(name: str, function, meaning: str):
    def body(input, dim: int):
        return function(input, dim)

    body.__name__, body.__doc__ = name + "_with_places", f"The running {meaning}, and where it is."
    pair = op(body, public=False)

    def public(input, dim, *, out=None):
        return extremes(name, pair(input, dim), out)

    public.__name__, public.__doc__ = name, f"(values, indices) of the running {meaning} along `dim`."
    return composite(public, method=True)


cummax, cummin = _running("cummax", B.cummax, "maximum"), _running("cummin", B.cummin, "minimum")


# -- differences --------------------------------------------------------------------------------
@op(method=True, out=True)
def diff(input, n: int = 1, dim: int = -1, prepend=None, append=None):
    """The n-th difference along `dim`: x[i + 1] - x[i], n times; of bools, whether they differ."""
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    if input.ndim == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    d = B.wrap_dim(dim, input.ndim)
    for extra in (prepend, append):
        if extra is not None:
            check_extra(input, extra, d)
    if n == 0:
        return input
    x = B.concat([v for v in (prepend, input, append) if v is not None], d)
    for _ in range(n):
        size = x.shape[d]
        if size == 0:
            break
        later, earlier = B.narrow(x, d, 1, size - 1), B.narrow(x, d, 0, size - 1)
        x = B.bit_xor(later, earlier) if x.dtype is dtypes.bool_ else later - earlier
    return x


def check_extra(x, extra, dim: int) -> None:
    if extra.ndim != x.ndim:
        raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    for d, (a, b) in enumerate(zip(x.shape, extra.shape)):
        if d != dim and a != b:
            raise RuntimeError(
                "diff expects the shape of tensor to prepend or append to match that of input except along the "
                f"differencing dimension; input.size({d}) = {int(a)}, but got tensor.size({d}) = {int(b)}"
            )


# -- the trapezoidal rule -------------------------------------------------------------------------
def doubled_areas(y, x, dx, dim: int):
    """Twice the area under each step, with its dim last. Whole numbers wrap around in their type, as in PyTorch."""
    d = B.wrap_dim(dim, y.ndim)
    y = B.move_dim(y, d, y.ndim - 1)
    size = y.shape[-1]
    heights = B.narrow(y, -1, 0, size - 1) + B.narrow(y, -1, 1, size - 1)
    if x is None:
        return heights * dx, d
    if x.ndim > 1:
        x = B.move_dim(x, B.wrap_dim(dim, x.ndim), x.ndim - 1)
    if x.shape[-1] != size:
        raise RuntimeError(
            "trapezoid: there must be one `x` value for each sample point along the dimension of integration, got "
            f"{int(x.shape[-1])} for {int(size)}"
        )
    return heights * (B.narrow(x, -1, 1, size - 1) - B.narrow(x, -1, 0, size - 1)), d


def check_trapezoid(name: str, *tensors) -> None:
    for t in tensors:
        if t is not None and t.dtype is dtypes.bool_:
            raise RuntimeError(f"{name}: received a bool input for `x` or `y`, but bool is not supported")


@op(alias=("trapz",))
def trapezoid(y, x=None, *, dx: Number = 1, dim: int = -1):
    """The integral of y along `dim` by the trapezoidal rule, at points `x` or `dx` apart."""
    check_trapezoid("trapezoid", y, x)
    d = B.wrap_dim(dim, y.ndim)
    if is_zero(y.shape[d]):
        dtype = y.dtype if y.dtype.kind in "fc" else dtypes.default
        return B.zeros((*y.shape[:d], *y.shape[d + 1 :]), dtype)
    if x is None:
        ends = B.select(y, d, 0) + B.select(y, d, y.shape[d] - 1)
        return (B.sum(y, (d,)) - ends / 2) * dx
    made, _ = doubled_areas(y, x, dx, dim)
    return B.sum(made, (made.ndim - 1,)) / 2


@op
def cumulative_trapezoid(y, x=None, *, dx: Number = 1, dim: int = -1):
    """The running integral of y along `dim` by the trapezoidal rule, at points `x` or `dx` apart."""
    check_trapezoid("cumulative_trapezoid", y, x)
    d = B.wrap_dim(dim, y.ndim)
    if is_zero(y.shape[d]):
        return B.zeros(y.shape, y.dtype if y.dtype.kind in "fc" else dtypes.default)
    made, d = doubled_areas(y, x, dx, dim)
    running = B.cumsum(made, made.ndim - 1) / 2
    return B.move_dim(running, running.ndim - 1, d)
