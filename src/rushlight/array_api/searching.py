"""Places of elements, order, and elements by place."""

from __future__ import annotations

from ..core.engine import Tensor
from ..ops import FUNCTIONS as F


def argmax(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Where the largest element is along an axis, or in the flat array; the first of several."""
    return _place("argmax", x, axis, keepdims)


def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Where the smallest element is along an axis, or in the flat array; the first of several."""
    return _place("argmin", x, axis, keepdims)


def _place(name: str, x: Tensor, axis, keepdims: bool) -> Tensor:
    found = F[name](x) if axis is None else F[name](x, axis, keepdims)
    return found.reshape((1,) * x.ndim) if axis is None and keepdims else found


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """Where elements are not zero: an array of places for each axis."""
    if x.ndim == 0:
        raise ValueError("nonzero: expected an array with at least one axis")
    return F["nonzero"](x, as_tuple=True)


def searchsorted(x1: Tensor, x2: Tensor, /, *, side: str = "left", sorter: Tensor | None = None) -> Tensor:
    """Where elements of `x2` would go into the sorted vector `x1`: before equal ones, or behind them ("right")."""
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: expected side 'left' or 'right', got {side!r}")
    return F["searchsorted"](x1, x2, side=side, sorter=sorter)


def where(condition: Tensor, x1: Tensor, x2: Tensor, /) -> Tensor:
    """Elements of `x1` where a condition holds, of `x2` elsewhere."""
    return F["where"](condition, x1, x2)


def sort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The elements in order along an axis."""
    return F["sort"](x, dim=axis, descending=descending, stable=stable).values


def argsort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The places that put elements in order along an axis."""
    return F["sort"](x, dim=axis, descending=descending, stable=stable).indices


def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """The slices of an axis (which only vectors need not name) at the places of a vector."""
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"take: an array with {x.ndim} axes needs an axis")
        axis = 0
    return F["index_select"](x, axis, indices)
