"""Sums, products, extremes and norms of valid elements."""

from __future__ import annotations

from ..ir import dtypes
from ..ops import FUNCTIONS
from ..ops.dtypes import iinfo
from .masks import dims_of, filled, full_mask, highest, lowest, prepared


def sum(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The sum of valid elements; 0 where there are none. Whole numbers add up in int64.

    dim    a dim, several, or None for all
    dtype  what the input is converted to before

    >>> x = rushlight.tensor([[-3, -2, -1], [0, 1, 2]])
    >>> rushlight.masked.sum(x, 1, mask=rushlight.tensor([[True, False, True], [False, False, False]]))
    tensor([-4,  0])
    """
    x, mask = prepared("sum", input, dtype, mask, dtypes.int64)
    return filled(x, mask, 0).sum(dims_of(dim), keepdim)


def prod(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The product of valid elements; 1 where there are none. Whole numbers multiply in int64.

    >>> rushlight.masked.prod(rushlight.tensor([2.0, 3.0, 4.0]), mask=rushlight.tensor([True, False, True]))
    tensor(8.)
    """
    x, mask = prepared("prod", input, dtype, mask, dtypes.int64)
    dims = dims_of(dim)
    dims = range(x.ndim) if dims is None else dims if isinstance(dims, (tuple, list)) else (dims,)
    dims = tuple(d + x.ndim if d < 0 and x.ndim else d for d in dims)
    if len(set(dims)) < len(dims):
        raise RuntimeError(f"masked.prod: a dim appears multiple times in the list of dims {dims}")
    x = filled(x, mask, 1)
    for d in sorted(dims, reverse=True):
        x = x.prod(d, keepdim)
    return x


def amax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The maximum of valid elements, in `dtype`; the lowest number (-inf for floats) where there are none.

    >>> rushlight.masked.amax(rushlight.tensor([1.0, 5.0, 3.0]), mask=rushlight.tensor([True, False, True]))
    tensor(3.)
    """
    return extreme("amax", lowest, input, dim, keepdim, dtype, mask)


def amin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The minimum of valid elements, in `dtype`; the highest number (inf for floats) where there are none.

    >>> rushlight.masked.amin(rushlight.tensor([1.0, 5.0, 3.0]), mask=rushlight.tensor([False, True, True]))
    tensor(3.)
    """
    return extreme("amin", highest, input, dim, keepdim, dtype, mask)


def extreme(name: str, identity, input, dim, keepdim, dtype, mask):
    x, mask = prepared(name, input, None, mask)
    if mask is not None:
        x = filled(x, mask, identity(name, x.dtype))
    dims = dims_of(dim)
    found = getattr(x, name)(() if dims is None else dims, keepdim)
    return found if dtype is None else found.to(dtype)


def argmax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Where the maximum of valid elements is, in `dtype` (the input's unless given, as in PyTorch).

    Without `dim`: the place in the flattened input. Where nothing is valid: 0.

    >>> rushlight.masked.argmax(rushlight.tensor([1, 5, 3]), 0, mask=rushlight.tensor([True, False, True]))
    tensor(2)
    """
    return place_of_extreme("argmax", lowest, input, dim, keepdim, dtype, mask)


def argmin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Where the minimum of valid elements is, in `dtype` (the input's unless given, as in PyTorch).

    Without `dim`: the place in the flattened input. Where nothing is valid: 0.

    >>> rushlight.masked.argmin(rushlight.tensor([1, 5, 3]), 0, mask=rushlight.tensor([False, True, True]))
    tensor(2)
    """
    return place_of_extreme("argmin", highest, input, dim, keepdim, dtype, mask)


def place_of_extreme(name: str, identity, input, dim, keepdim, dtype, mask):
    x, mask = prepared(name, input, None, mask)
    if mask is not None:
        x = filled(x, mask, identity(name, x.dtype))
    return getattr(x, name)(dim, keepdim).to(input.dtype if dtype is None else dtype)


def norm(input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The vector norm of valid elements, as `linalg.vector_norm` has it; 0 (inf for negative orders) without any.

    >>> rushlight.masked.norm(rushlight.tensor([3.0, 7.0, 4.0]), 2, mask=rushlight.tensor([True, False, True]))
    tensor(5.)
    """
    from ..linalg.norms import vector_norm

    x, mask = prepared("norm", input, dtype, mask)
    ord = 2.0 if ord is None else ord
    return vector_norm(filled(x, mask, float("inf") if ord < 0 else 0), ord, dims_of(dim), keepdim)


def logsumexp(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """log(sum(exp(valid elements))), without overflow; -inf (the lowest number of whole types) where there are none.

    Whole numbers compute in the default type and are converted back, towards zero, unless `dtype` is given.

    >>> rushlight.masked.logsumexp(rushlight.tensor([2.0, 9.0]), 0, mask=rushlight.tensor([True, False]))
    tensor(2.)
    """
    whole = dtype is not None and dtype.kind in "bui"
    x, mask = prepared("logsumexp", input, dtypes.default if whole else dtype, mask, dtypes.default)
    target = input.dtype if dtype is None else dtype
    dims = dims_of(dim)
    found = filled(x, mask, -float("inf")).logsumexp(tuple(range(x.ndim)) if dims is None else dims, keepdim)
    if target.kind not in "bui":
        return found
    return (found if target.kind == "b" else found.clamp(min=iinfo(target).min)).to(target)


def logaddexp(input, other, *, dtype=None, input_mask=None, other_mask=None):
    """log(exp(input) + exp(other)) of valid elements, each with a mask of its own; the result is converted to `dtype`.

    >>> x, mask = rushlight.tensor([-100.0, -200.0]), rushlight.tensor([True, False])
    >>> rushlight.masked.logaddexp(x, rushlight.tensor([-1.0, -2.0]), input_mask=mask, other_mask=mask)
    tensor([-1., -inf])
    """
    nothing = -float("inf")
    x, _ = prepared("logaddexp", input, None, None)
    y, _ = prepared("logaddexp", other, None, None)
    x = filled(x, full_mask("logaddexp", x, input_mask), nothing)
    y = filled(y, full_mask("logaddexp", y, other_mask), nothing)
    found = FUNCTIONS["logaddexp"](x, y)
    return found if dtype is None else found.to(dtype)
