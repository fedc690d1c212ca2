"""What all masked functions share: their input, their mask, and what stands for elements left out."""

from __future__ import annotations

from ..core.engine import Tensor
from ..ir import dtypes
from ..ops.dtypes import iinfo
from ..ops.memory_format import strided


def prepared(name: str, input, dtype, mask, whole=None):
    """The input in `dtype` (in `whole`, if it holds whole numbers), and the mask as bools of its shape, or None."""
    if not isinstance(input, Tensor):
        raise TypeError(f"masked.{name}: expected a Tensor as input, got {type(input).__name__}")
    if input.layout is not strided:
        raise NotImplementedError(f"masked.{name}: {input.layout} tensors are not supported; use input.to_dense()")
    if dtype is None and input.dtype.kind in "bui":
        dtype = whole
    return input if dtype is None else input.to(dtype), full_mask(name, input, mask)


def full_mask(name: str, input, mask):
    """The mask as bools of the input's shape, or None."""
    if mask is None:
        return None
    if not isinstance(mask, Tensor):
        raise TypeError(f"masked.{name}: expected a Tensor as mask, got {type(mask).__name__}")
    if mask.ndim > input.ndim:
        raise IndexError(
            f"masked.{name}: expected a mask that broadcasts to the input, but its shape {tuple(mask.shape)} has more "
            f"dims than the input's {tuple(input.shape)}"
        )
    return mask.to(dtypes.bool_).expand(input.shape)


def filled(x, mask, identity):
    """x with `identity` in place of the elements left out."""
    return x if mask is None else x.masked_fill(~mask, identity)


def dims_of(dim):
    """The dims to reduce, None for all of them."""
    return None if dim is None or (isinstance(dim, (tuple, list)) and not dim) else dim


def lowest(name: str, dtype):
    """The number below all others of a dtype."""
    check_ordered(name, dtype)
    return -float("inf") if dtype.is_floating_point else iinfo(dtype).min


def highest(name: str, dtype):
    """The number above all others of a dtype."""
    check_ordered(name, dtype)
    return float("inf") if dtype.is_floating_point else iinfo(dtype).max


def check_ordered(name: str, dtype) -> None:
    if dtype.is_complex or dtype is dtypes.bool_:
        raise NotImplementedError(f"masked.{name}: there is no identity for {dtype}; convert the input first")
