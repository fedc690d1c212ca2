"""Masks: filling, selecting and scattering where they hold."""

from __future__ import annotations

from ..ir import build as B
from ..ir import dtypes
from ..ir.sizes import product
from .checks import fitting, scalar_type
from .declare import Number, composite, op
from .indexing import fill_masked, filled_where, is_zero, selected


@op(public=False, row_major=True)
def fill_both(input, mask, value: Number):
    """`masked_fill`, once the number is known to fit."""
    return filled_where(input, mask, value)


@composite(method=True)
def masked_fill(input, mask, value):
    """`value`, a number or a 0-dim tensor, where the bool mask holds; `input` and `mask` broadcast."""
    return fill_both(input, mask, fitting(value, input.dtype))


@composite(method=True)
def masked_fill_(input, mask, value):
    """Write `value` where the mask, which broadcasts to the input's shape, holds."""
    return fill_masked.in_place(input, mask, fitting(value, input.dtype))


@composite(method=True)
def masked_select(input, mask, *, out=None):
    """The elements where the bool mask holds, in row-major order; `input` and `mask` broadcast."""
    if mask.dtype is not dtypes.bool_:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = B.broadcast_shapes(tuple(input.shape), tuple(mask.shape))
    found = selected(input.expand(shape), mask.expand(shape))
    if out is None:
        return found
    from .writing import store

    return store(out, found, "masked_select")


@op(method=True, inplace=True)
def masked_scatter(input, mask, source):
    """The elements of `source`, in order, at the places where the mask holds; the input's elements elsewhere."""
    if source.dtype is not input.dtype:
        raise RuntimeError(
            f"masked_scatter: expected self and source to have same dtypes but got {scalar_type(input.dtype)} and "
            f"{scalar_type(source.dtype)}"
        )
    if mask.dtype is not dtypes.bool_:
        raise RuntimeError(
            f"masked_scatter_ only supports boolean masks, but got mask with dtype {scalar_type(mask.dtype)}"
        )
    shape = B.broadcast_shapes(input.shape, mask.shape)
    input, mask = B.broadcast_to(input, shape), B.broadcast_to(mask, shape)
    total, available = product(shape), product(source.shape)
    if is_zero(total):
        return input
    rank = B.cumsum(B.cast(B.reshape(mask, (total,)), dtypes.int64), 0) - 1
    place = B.where(mask, B.reshape(rank, shape), 0)
    if is_zero(available):
        # an index that is out of bounds if the mask holds anywhere
        source, place = B.zeros((1,), input.dtype), B.where(mask, 1, 0)
    return B.where(mask, B.take(B.reshape(source, (product(source.shape),)), place, dim=0), input)
