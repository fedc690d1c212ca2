"""Reductions and sums along axes."""

from __future__ import annotations

from ..core.engine import Tensor
from ..ir import dtypes
from ..ir.shaping import wrap_dims
from ..ops import FUNCTIONS as F

Axis = int | tuple[int, ...] | None


def _over(name: str, x: Tensor, axis: Axis, keepdims: bool, **options) -> Tensor:
    """A reduction of the catalogue over one, several, all or no axes."""
    return F[name](x, tuple(range(x.ndim)) if axis is None else axis, keepdims, **options)


def _summed_dtype(x: Tensor, dtype):
    """Unsigned integers add up as the widest unsigned type."""
    return dtypes.uint64 if dtype is None and x.dtype.kind == "u" else dtype


def sum(x: Tensor, /, *, axis: Axis = None, dtype=None, keepdims: bool = False) -> Tensor:
    """The sum over axes; integers add up as the widest type of their kind."""
    if axis == ():
        return x.to(_summed_dtype(x, dtype) or F["sum"](x).dtype, copy=True)
    return _over("sum", x, axis, keepdims, dtype=_summed_dtype(x, dtype))


def prod(x: Tensor, /, *, axis: Axis = None, dtype=None, keepdims: bool = False) -> Tensor:
    """The product over axes; integers multiply as the widest type of their kind."""
    dtype = _summed_dtype(x, dtype)
    if axis is None:
        result = F["prod"](x, dtype=dtype)
        return result.reshape((1,) * x.ndim) if keepdims else result
    axes = (axis,) if isinstance(axis, int) else axis
    result = x.to(dtype or F["prod"](x[:0] if x.ndim else x).dtype)
    for a in sorted(wrap_dims(axes, x.ndim), reverse=True):
        result = F["prod"](result, a, keepdims, dtype=result.dtype)
    return result.clone() if axes == () else result


def max(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The largest element over axes."""
    return x.clone() if axis == () else _over("amax", x, axis, keepdims)


def min(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The smallest element over axes."""
    return x.clone() if axis == () else _over("amin", x, axis, keepdims)


def mean(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The mean over axes."""
    return x.clone() if axis == () else _over("mean", x, axis, keepdims)


def var(x: Tensor, /, *, axis: Axis = None, correction: int | float = 0.0, keepdims: bool = False) -> Tensor:
    """The mean squared distance from the mean over axes, with n - `correction` as divisor."""
    if axis == ():
        return F["where"](F["isfinite"](x), 0.0, float("nan")).to(x.dtype) if correction < 1 else x * float("nan")
    return F["var"](x, axis, correction=correction, keepdim=keepdims)


def std(x: Tensor, /, *, axis: Axis = None, correction: int | float = 0.0, keepdims: bool = False) -> Tensor:
    """The square root of `var`."""
    if axis == ():
        return var(x, axis=axis, correction=correction)
    return F["std"](x, axis, correction=correction, keepdim=keepdims)


def all(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Whether no element is zero, over axes."""
    true = F["ne"](x, 0)
    return true if axis == () else _over("all", true, axis, keepdims)


def any(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Whether an element is not zero, over axes."""
    true = F["ne"](x, 0)
    return true if axis == () else _over("any", true, axis, keepdims)


def cumulative_sum(x: Tensor, /, *, axis: int | None = None, dtype=None, include_initial: bool = False) -> Tensor:
    """Sums of the elements up to each one along an axis (which only vectors need not name).

    With `include_initial` a zero comes first.
    """
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"cumulative_sum: an array with {x.ndim} axes needs an axis")
        axis = 0
    sums = F["cumsum"](x, axis, dtype=_summed_dtype(x, dtype))
    if not include_initial:
        return sums
    shape = list(sums.shape)
    shape[axis] = 1
    return F["cat"]([F["zeros"](shape, dtype=sums.dtype), sums], axis)
