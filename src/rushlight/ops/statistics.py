"""Order statistics and moments: median, mode, quantiles, covariance."""

from __future__ import annotations

import math

from ..core.engine import Tensor
from ..ir import build as B
from ..ir import dtypes
from ..ir.sizes import product
from .checks import every_sample, scalar_type
from .declare import Number, composite, op
from .indexing import is_zero
from .named import extremes
from .reduction import check_not_empty
from .sorting import at_place


# -- median and mode ----------------------------------------------------------------------------
def check_median(x) -> None:
    if x.dtype.kind in "bc":
        raise NotImplementedError(f"\"median_cpu\" not implemented for '{scalar_type(x.dtype)}'")


def middle_place(x, dim: int, ignore_nan: bool):
    """Where the lower median along `dim` is; the first NaN counts, unless NaN is ignored."""
    places = B.sort(x, dim)[1]
    size = x.shape[dim]
    if x.dtype.kind != "f":
        return B.narrow(places, dim, (size - 1) // 2, 1)
    numbers = B.sum(B.logical_not(B.isnan(x)), (dim,), True)
    if ignore_nan:
        rank = B.maximum(B.floor_divide(numbers - 1, 2), 0)
    else:
        rank = B.where(B.eq(numbers, size), (size - 1) // 2, numbers)
    return B.gather(places, dim, rank)


def _median_along(name: str, ignore_nan: bool):
    def body(input, dim: int, keepdim: bool = False):
        check_median(input)
        d = B.wrap_dim(dim, input.ndim)
        check_not_empty(name, input, (d,))
        if input.ndim == 0:
            return input, B.full((), 0, dtypes.int64)
        return at_place(input, middle_place(input, d, ignore_nan), d, keepdim)

    body.__name__, body.__doc__ = name + "_along", "The lower median along a dim, and where it is."
    return op(body, public=False)


def _median_all(name: str, ignore_nan: bool):
    def body(input):
        check_median(input)
        total = product(input.shape)
        if is_zero(total):
            return B.full((), math.nan if input.dtype.kind == "f" else -(2**63), input.dtype)
        flat = B.reshape(input, (total,))
        return B.reshape(B.gather(flat, 0, middle_place(flat, 0, ignore_nan)), ())

    body.__name__, body.__doc__ = name + "_all", "The lower median of all elements; ties share the gradient."
    made = op(body, public=False)

    @made.vjp
    def _(cotangents, outputs, input):
        y = B.expand(outputs[0], input.shape)
        mask = B.cast(B.logical_or(B.eq(input, y), B.logical_and(B.isnan(input), B.isnan(y))), input.dtype)
        return [mask * (cotangents[0] / B.sum(mask))]

    return made


def _median(name: str, ignore_nan: bool, meaning: str):
    along, whole = _median_along(name, ignore_nan), _median_all(name, ignore_nan)

    def function(input, dim=None, keepdim=False, *, out=None):
        if dim is None:
            return whole(input)
        return extremes(name, along(input, dim, keepdim), out)

    function.__name__ = name
    function.__doc__ = (
        f"The median, the lower one of two: of all elements, or (values, indices) along `dim`; {meaning}."
    )
    return composite(function, method=True)


median = _median("median", False, "NaN if there is one")
nanmedian = _median("nanmedian", True, "NaN is ignored")


@op(public=False)
def mode_along(input, dim: int = -1, keepdim: bool = False):
    d = B.wrap_dim(dim, input.ndim)
    check_not_empty("mode", input, (d,))
    if input.ndim == 0:
        return input, B.full((), 0, dtypes.int64)
    ordered, places = B.sort(input, d)
    rank = B.iota(input.shape, d)
    starts = B.where(starts_run(ordered, d), rank, 0)
    length = rank - B.cummax(starts, d)[0]
    # the first of the longest runs, at its end
    return at_place(input, B.gather(places, d, B.argmax(length, d, True)), d, keepdim)


def starts_run(x, dim: int):
    """Where an element differs from the one before it; the first one does."""
    size = x.shape[dim]
    differs = B.ne(B.narrow(x, dim, 1, size - 1), B.narrow(x, dim, 0, size - 1))
    low = [int(d == dim) for d in range(x.ndim)]
    return B.pad(differs, low, [0] * x.ndim, True)


@composite(method=True)
def mode(input, dim=-1, keepdim=False, *, out=None):
    """(values, indices) of the most frequent element along `dim`, the smallest of several."""
    return extremes("mode", mode_along(input, dim, keepdim), out)


# -- quantiles ----------------------------------------------------------------------------------
_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


@op(public=False)
def quantiles(input, q, dim: int | None, ignore_nan: bool, interpolation: str):
    """[Q, *rest]: quantiles along `dim`, or of all elements."""
    if dim is None or input.ndim == 0:
        x = B.reshape(input, (product(input.shape),))
    else:
        x = B.move_dim(input, B.wrap_dim(dim, input.ndim), input.ndim - 1)
    places = B.sort(x, -1)[1]
    size = x.shape[-1]
    missing = B.sum(B.isnan(x), (x.ndim - 1,), True)
    if ignore_nan:
        last = B.cast(B.maximum(size - 1 - missing, 0), x.dtype)
        rank = q * last
    else:
        rank = B.where(B.gt(missing, 0), size - 1, q * B.full((), size - 1, x.dtype))
    values = interpolated(x, places, B.cast(rank, x.dtype), size, interpolation)
    return B.move_dim(values, values.ndim - 1, 0)


def interpolated(x, places, rank, size, interpolation: str):
    """The elements of sorted rows at fractional ranks [*, Q]."""
    last = x.ndim - 1

    def at(position):
        index = B.clamp(B.cast(position, dtypes.int64), 0, size - 1)
        return B.gather(x, last, B.gather(places, last, index))

    if interpolation == "lower":
        return at(B.floor(rank))
    if interpolation == "higher":
        return at(B.ceil(rank))
    if interpolation == "nearest":
        return at(B.round(rank))
    low, below = B.floor(rank), at(B.floor(rank))
    weight = rank - low if interpolation == "linear" else B.cast(B.where(B.eq(rank, low), 0.0, 0.5), x.dtype)
    above = at(B.ceil(rank))
    step = above - below
    between = B.where(B.lt(weight, 0.5), below + weight * step, above - step * (1 - weight))
    return B.where(B.eq(below, above), below + 0 * above, between)


def check_quantile(name: str, input, q, interpolation: str) -> None:
    if input.dtype not in (dtypes.float32, dtypes.float64):
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype")
    if interpolation not in _INTERPOLATIONS:
        raise RuntimeError(
            f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}"
        )
    if input.numel() == 0:
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    if not isinstance(q, Tensor):
        if not 0 <= q <= 1:
            raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {q}")
        return
    if q.ndim > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor")
    if q.dtype is not input.dtype:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor")
    q = every_sample(q)
    if q.numel() and not bool(((q >= 0) & (q <= 1)).all()):
        raise RuntimeError(f"{name}() q values must be in the range [0, 1]")


def _quantile(name: str, ignore_nan: bool, meaning: str):
    def function(input, q, dim=None, keepdim=False, *, interpolation="linear", out=None):
        check_quantile(name, input, q, interpolation)
        many = isinstance(q, Tensor) and q.ndim == 1
        points = q.reshape((-1,)) if isinstance(q, Tensor) else input.new_tensor([q])
        found = quantiles(input, points, dim, ignore_nan, interpolation)
        if keepdim:
            if dim is None:
                found = found.reshape((found.shape[0], *(1,) * input.ndim))
            elif input.ndim:
                found = found.unsqueeze(B.wrap_dim(dim, input.ndim) + 1)
        found = found if many else found.squeeze(0)
        if out is None:
            return found
        from .writing import store

        return store(out, found, name)

    function.__name__ = name
    function.__doc__ = (
        f"The q-th quantiles (q in [0, 1], a number or a vector, which becomes the first dim), {meaning}.\n\n"
        "    Between two elements: `interpolation` is linear, lower, higher, midpoint or nearest.\n    "
    )
    return composite(function, method=True)


quantile = _quantile("quantile", False, "NaN if there is a NaN")
nanquantile = _quantile("nanquantile", True, "ignoring NaN")


# -- covariance ---------------------------------------------------------------------------------
@op(public=False)
def covariance(input, fweights, aweights, correction: Number):
    """[V, N] -> [V, V]"""
    x = input if input.dtype.kind in "fc" else B.cast(input, dtypes.default)
    weights = fweights if aweights is None else aweights if fweights is None else fweights * aweights
    if weights is None:
        total = B.full((), x.shape[1], x.dtype.to_real())
        centred = weighted = x - B.mean(x, (1,), True)
    else:
        total = B.sum(weights)
        centred = x - B.sum(x * weights, (1,), True) / total
        weighted = centred * weights
    lost = correction if aweights is None else correction * B.sum(weights * aweights) / total
    return B.matmul(weighted, B.adjoint(centred)) / B.maximum(B.cast(total, weighted.dtype.to_real()) - lost, 0)


def check_weights(name: str, weights, observations: int, kinds: str, kind_name: str) -> None:
    if weights.ndim > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with {weights.ndim} dimensions"
        )
    if weights.dtype.kind not in kinds:
        raise RuntimeError(
            f"cov(): expected {name} to have {kind_name} dtype but got {name} with {scalar_type(weights.dtype)} dtype"
        )
    if weights.numel() != observations:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input but got "
            f"{weights.numel()} != {observations}"
        )
    if weights.numel() and every_sample(weights).min().item() < 0:
        raise RuntimeError(f"cov(): {name} cannot be negative")


@composite(method=True)
def cov(input, *, correction=1, fweights=None, aweights=None):
    """The covariance matrix of variables (rows) from observations (columns), with N - `correction` as the divisor.

    `fweights` counts how often each observation occurs, `aweights` weighs its importance.
    """
    if input.ndim > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {input.ndim} dimensions"
        )
    if input.dtype is dtypes.bool_:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    x = input.reshape((1, -1)) if input.ndim < 2 else input
    if fweights is not None:
        check_weights("fweights", fweights, x.shape[1], "ui", "integral")
    if aweights is not None:
        check_weights("aweights", aweights, x.shape[1], "f", "floating point")
    made = covariance(x, fweights, aweights, correction)
    return made.squeeze()


@composite(method=True)
def corrcoef(input):
    """The matrix of Pearson's correlation coefficients of variables (rows) from observations (columns)."""
    if input.ndim > 2:
        raise RuntimeError(
            f"corrcoef(): expected input to have two or fewer dimensions but got an input with {input.ndim} dimensions"
        )
    return normalised(cov(input))


@op(public=False)
def normalised(c):
    """A covariance matrix divided by the deviations of its rows and columns; parts clipped to [-1, 1]."""
    if c.ndim == 0:
        return c / c
    deviation = B.sqrt(B.real(B.diagonal(c)))
    result = c / B.unsqueeze(deviation, 1) / B.unsqueeze(deviation, 0)
    if c.dtype.is_complex:
        return B.complex(B.clamp(B.real(result), -1, 1), B.clamp(B.imag(result), -1, 1))
    return B.clamp(result, -1, 1)
