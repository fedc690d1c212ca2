"""Reductions: sums, extremes, means along dims."""

from __future__ import annotations

import functools
import math

from ..ir import build as B
from ..ir import dtypes
from ..ir.sizes import product
from .arithmetic import maximum, minimum
from .checks import check_kinds, scalar_type
from .declare import composite, op
from .named import extremes, named_call
from .notices import warn_of_freedom


def reduced_dims(x, dim) -> tuple:
    """Dims as non-negative numbers; None or () mean all."""
    if dim is None or dim == ():
        return tuple(range(x.ndim))
    return B.wrap_dims(dim if isinstance(dim, tuple) else (dim,), x.ndim)


def count(x, dims) -> int:
    return product(x.shape[d] for d in dims) if x.ndim else 1


def check_not_empty(name: str, x, dims) -> None:
    for d in dims:
        if x.ndim and type(x.shape[d]) is int and x.shape[d] == 0:
            raise IndexError(f"{name}(): Expected reduction dim {d} to have non-zero size.")


def check_any(name: str, numel) -> None:
    """RuntimeError for an extreme of nothing."""
    if type(numel) is int and numel == 0:
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim "
            f"with the 'dim' "
            "argument."
        )


def check_extreme(name: str, x, dim, dims) -> None:
    if dim is None or dim == ():
        check_any(name, product(x.shape))
    check_not_empty(name, x, dims)


def check_floating(name: str, x, dtype=None) -> None:
    if (dtype or x.dtype).kind not in "fc":
        raise RuntimeError(
            f"{name}(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
            f"Got: {scalar_type(dtype or x.dtype)}"
        )


@op(method=True, out="dtype")
def sum(input, dim: int | tuple | None = None, keepdim: bool = False, *, dtype: Dtype = None):
    """The sum over all elements or over `dim`; integers and bools sum as int64.

    >>> rushlight.tensor([[1, 2], [3, 4]]).sum(0)
    tensor([4, 6])
    """
    return B.sum(input, dim if dim != () else None, keepdim, dtype)


@op(method=True, out="dtype")
def nansum(input, dim: int | tuple | None = None, keepdim: bool = False, *, dtype: Dtype = None):
    """The sum with NaN counted as zero."""
    check_not_complex("nansum", input)
    x = B.where(B.isnan(input), 0.0, input) if input.dtype.kind in "fc" else input
    return B.sum(x, dim if dim != () else None, keepdim, dtype)


@op(method=True, out="dtype")
def mean(input, dim: int | tuple | None = None, keepdim: bool = False, *, dtype: Dtype = None):
    """The mean over all elements or over `dim`, of floating point or complex tensors."""
    check_floating("mean", input, dtype)
    return B.mean(input, dim if dim != () else None, keepdim, dtype)


@op(method=True, out=True)
def nanmean(input, dim: int | tuple | None = None, keepdim: bool = False, *, dtype: Dtype = None):
    """The mean of the elements that are not NaN."""
    check_floating("nanmean", input)
    check_not_complex("nansum", input)
    present = B.logical_not(B.isnan(input))
    total = B.sum(B.where(present, input, 0.0), dim if dim != () else None, keepdim, dtype)
    return total / B.sum(B.cast(present, input.dtype), dim if dim != () else None, keepdim)


@op(method=True, out="dtype")
def prod(input, dim: int | None = None, keepdim: bool = False, *, dtype: Dtype = None):
    """The product over all elements or over `dim`; integers and bools multiply as int64."""
    return B.prod(input, dim, keepdim, dtype)


def check_not_complex(name: str, x) -> None:
    if x.dtype.is_complex:
        raise RuntimeError(f"{name} on CPU does not support complex inputs")


# -- extremes -----------------------------------------------------------------------------------
def _evenly(x, y, g, dims, keepdim):
    """The cotangent of an extreme, shared by all elements that attain it."""
    y, g = (B.unreduce(v, x.shape, dims) for v in (y, g)) if not keepdim else (B.expand(v, x.shape) for v in (y, g))
    attained = B.logical_or(B.eq(x, y), B.logical_and(B.isnan(x), B.isnan(y)))
    mask = B.cast(attained, x.dtype)
    ties = B.expand(B.sum(mask, dims, True), x.shape) if dims else mask
    return g * mask / ties


def _extreme(name: str, function, word: str):
    def body(input, dim: int | tuple | None = (), keepdim: bool = False):
        check_kinds(f"{name[1:]}_values_cpu", input.dtype, "buif")
        dims = reduced_dims(input, dim)
        check_extreme(name, input, dim, dims)
        return function(input, dims, keepdim)

    body.__name__ = name
    body.__doc__ = f"The {word} element over all or several dims; ties share the gradient."
    made = op(body, method=True, out=True)

    @made.vjp
    def _(cotangents, outputs, input, dim=(), keepdim=False):
        return _evenly(input, outputs[0], cotangents[0], reduced_dims(input, dim), keepdim)

    return made


amax, amin = _extreme("amax", B.max, "largest"), _extreme("amin", B.min, "smallest")


@op(out=True, public=False, exact=True)
def both_extremes(input, dim: int | None = None, keepdim: bool = False):
    """The smallest and the largest elements."""
    check_kinds("aminmax_cpu", input.dtype, "buif")
    dims = reduced_dims(input, dim)
    check_extreme("aminmax", input, dim, dims)
    return B.min(input, dims, keepdim), B.max(input, dims, keepdim)


@both_extremes.vjp
def _(cotangents, outputs, input, dim=None, keepdim=False):
    parts = [
        _evenly(input, y, g, reduced_dims(input, dim), keepdim) for y, g in zip(outputs, cotangents) if g is not None
    ]
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


@composite(method=True)
def aminmax(input, *, dim=None, axis=None, keepdim=False, out=None):
    """(min, max): the smallest and the largest elements, over all or one dim."""
    return named_call("aminmax", both_extremes, input, axis if dim is None else dim, keepdim, out=out)


def _place(name: str, function, word: str):
    def body(input, dim: int | None = None, keepdim: bool = False):
        check_kinds(f"{name}_cpu", input.dtype, "uif")
        if dim is None and product(input.shape) == 0:
            raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
        check_not_empty(name, input, () if dim is None else reduced_dims(input, dim))
        return function(input, dim, keepdim)

    body.__name__ = name
    body.__doc__ = f"Where the {word} element is (the first of equal ones), in the flat tensor or along `dim`; int64."
    return op(body, method=True, out=True, exact=True)


argmax, argmin = _place("argmax", B.argmax, "largest"), _place("argmin", B.argmin, "smallest")


def _with_place(name: str, place):
    def body(input, dim: int, keepdim: bool = False):
        check_kinds(name, input.dtype, "buif")
        check_not_empty(name, input, reduced_dims(input, dim))
        d = B.wrap_dim(dim, input.ndim)
        if input.ndim == 0:
            return B.cast(input, input.dtype), B.full((), 0, dtypes.int64)
        index = place(input, d, True)
        values = B.gather(input, d, index)
        return (values, index) if keepdim else (B.squeeze(values, d), B.squeeze(index, d))

    body.__name__, body.__doc__ = f"{name}_along", f"The {name} along a dim, and where it is."
    return op(body, public=False)


max_along, min_along = _with_place("max", B.argmax), _with_place("min", B.argmin)


@op(public=False, out=True)
def max_all(input):
    """The largest element of all."""
    check_kinds("max_all", input.dtype, "buif")
    check_any("max", product(input.shape))
    return B.max(input)


@op(public=False, out=True)
def min_all(input):
    """The smallest element of all."""
    check_kinds("min_all", input.dtype, "buif")
    check_any("min", product(input.shape))
    return B.min(input)


for _made in (max_all, min_all):

    @_made.vjp
    def _(cotangents, outputs, input):
        return _evenly(input, outputs[0], cotangents[0], tuple(range(input.ndim)), False)


def _dispatching(name: str, all_op, along_op, pair_op, word: str):
    def function(input, *args, **kwargs):
        out = kwargs.pop("out", None)
        other = args[0] if args else kwargs.get("other", kwargs.get("dim", kwargs.get("axis")))
        if other is None:
            return all_op(input) if out is None else all_op(input, out=out)
        if hasattr(other, "shape"):
            return pair_op(input, other) if out is None else pair_op(input, other, out=out)
        keepdim = args[1] if len(args) > 1 else kwargs.get("keepdim", kwargs.get("keepdims", False))
        return extremes(name, along_op(input, other, keepdim), out)

    function.__name__ = name
    function.__doc__ = (
        f"The {word} element: `{name}(input)` of all, `{name}(input, dim, keepdim)` along a dim with its places as "
        f"(values, indices), `{name}(input, other)` of two tensors element by element."
    )
    return composite(function, method=True)


max = _dispatching("max", max_all, max_along, maximum, "largest")
min = _dispatching("min", min_all, min_along, minimum, "smallest")


# -- truth --------------------------------------------------------------------------------------
@op(method=True, out=True, exact=True)
def any(input, dim: int | tuple | None = None, keepdim: bool = False):
    """Whether any element is not zero."""
    return as_uint8(input, B.any(input, dim, keepdim))


@op(method=True, out=True, exact=True)
def all(input, dim: int | tuple | None = None, keepdim: bool = False):
    """Whether no element is zero."""
    return as_uint8(input, B.all(input, dim, keepdim))


def as_uint8(input, result):
    return B.cast(result, dtypes.uint8) if input.dtype is dtypes.uint8 else result


@op(method=True)
def count_nonzero(input, dim: int | tuple | None = None):
    """The number of elements that are not zero."""
    return B.sum(B.ne(input, 0), dim if dim != () else None)


# -- spread ---------------------------------------------------------------------------------------
def variance(x, dims, correction: int | float, keepdim: bool):
    """The sum of squared distances from the mean over max(0, n - correction), in two passes over a cached row."""
    if x.dtype.kind not in "fc":
        raise RuntimeError(f"std and var only support floating point and complex dtypes, got {scalar_type(x.dtype)}")
    centred = x - B.mean(x, dims, True)
    squares = centred * centred if x.dtype.kind == "f" else B.real(centred * B.conj(centred))
    n = count(x, dims)
    freedom = n - correction
    freedom = freedom if freedom > 0 else 0
    total = B.sum(squares, dims, keepdim)
    return total / freedom


def spread_arguments(name: str, args, kwargs):
    """The forms (unbiased), (dim, unbiased, keepdim) and (dim, correction=, keepdim=) as (dim, correction, keepdim)."""
    names = ["dim", "unbiased", "keepdim"]
    if args and isinstance(args[0], bool):
        names = ["unbiased"]
    given = dict(zip(names, args)) | kwargs
    unknown = given.keys() - {"dim", "axis", "unbiased", "correction", "keepdim", "keepdims"}
    if unknown or len(args) > len(names):
        raise TypeError(f"{name}() received an invalid combination of arguments: {', '.join(sorted(unknown))}")
    dim = given.get("dim", given.get("axis"))
    dim = tuple(dim) if isinstance(dim, list) else dim
    correction = given.get("correction")
    if correction is None:
        correction = 0 if given.get("unbiased") is False else 1
    return dim, correction, given.get("keepdim", given.get("keepdims", False))


@op(public=False)
def var_of(input, dim: int | tuple | None, correction: int | float, keepdim: bool):
    """The variance."""
    return variance(input, reduced_dims(input, dim), correction, keepdim)


@op(public=False)
def std_of(input, dim: int | tuple | None, correction: int | float, keepdim: bool):
    """The standard deviation."""
    return B.root(variance(input, reduced_dims(input, dim), correction, keepdim))


@op(public=False)
def var_mean_of(input, dim: int | tuple | None, correction: int | float, keepdim: bool):
    """The variance and the mean."""
    dims = reduced_dims(input, dim)
    return variance(input, dims, correction, keepdim), B.mean(input, dims, keepdim)


@op(public=False)
def std_mean_of(input, dim: int | tuple | None, correction: int | float, keepdim: bool):
    """The standard deviation and the mean."""
    dims = reduced_dims(input, dim)
    return B.root(variance(input, dims, correction, keepdim)), B.mean(input, dims, keepdim)


def _notice_freedom(name: str, key: tuple) -> None:
    shape, dims, correction = key[0].shape, key[1], key[2]
    dims = (dims,) if isinstance(dims, int) else dims or range(len(shape))
    reduced = [n for d, n in enumerate(shape) if d in dims or d - len(shape) in dims]
    warn_of_freedom(name, math.prod(reduced), correction)


def _spread(name: str, made, word: str):
    made.declaration.notice = functools.partial(_notice_freedom, name)

    def function(input, *args, out=None, **kwargs):
        dim, correction, keepdim = spread_arguments(name, args, kwargs)
        return made(input, dim, correction, keepdim) if out is None else made(input, dim, correction, keepdim, out=out)

    function.__name__ = name
    function.__doc__ = (
        f"The {word} over all elements or `dim`: `{name}(input, dim=None, correction=1, keepdim=False)`; "
        f"`unbiased=False` is "
        "correction 0."
    )
    return composite(function, method=not name.endswith("mean"))


var, std = _spread("var", var_of, "variance"), _spread("std", std_of, "standard deviation")
var_of.accepts_out = std_of.accepts_out = True
var_mean = _spread("var_mean", var_mean_of, "variance and mean")
std_mean = _spread("std_mean", std_mean_of, "standard deviation and mean")


# -- logarithms of sums -----------------------------------------------------------------------------
def logsumexp_of(x, dims, keepdim: bool):
    top = B.max(B.real(x), dims, True)
    top = B.cast(B.where(B.eq(B.abs(top), math.inf), 0.0, top), x.dtype)
    total = B.log(B.sum(B.exp(x - top), dims, True)) + top
    return total if keepdim else B.squeeze(total, dims) if x.ndim else total


@op(method=True, out=True)
def logsumexp(input, dim: int | tuple, keepdim: bool = False):
    """log(sum(exp(input))) along `dim`, without overflow."""
    x = input if input.dtype.kind in "fc" else B.cast(input, dtypes.default)
    dims = reduced_dims(x, dim)
    if product(x.shape[d] for d in dims) == 0:
        return B.log(B.sum(B.exp(x), dims, keepdim))
    return logsumexp_of(x, dims, keepdim)


@logsumexp.vjp
def _(cotangents, outputs, input, dim, keepdim=False):
    dims = reduced_dims(input, dim)
    g, y = (v if keepdim else B.unreduce(v, input.shape, dims) for v in (cotangents[0], outputs[0]))
    weights = B.exp(input - B.where(B.eq(B.real(y), -math.inf), 0.0, y))
    return g * B.conj(weights)
