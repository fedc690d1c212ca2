"""Tensors put together from several, taken apart, repeated and rearranged."""

from __future__ import annotations

from ..ir import build as B
from ..ir import dtypes
from .declare import op


# -- put together -------------------------------------------------------------------------------
@op(out=True, alias=("concat", "concatenate"), channels=True)
def cat(tensors: list, dim: int = 0):
    """Tensors one after the other along `dim`; all other sizes must agree.

    >>> rushlight.cat([rushlight.zeros(1, 2), rushlight.ones(1, 2)])
    tensor([[0., 0.],
            [1., 1.]])
    """
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for place, x in enumerate(tensors):
        if x.ndim == 0:
            raise RuntimeError(f"zero-dimensional tensor (at position {place}) cannot be concatenated")
    dtype = tensors[0].dtype
    for x in tensors[1:]:
        dtype = dtypes.promote_types(dtype, x.dtype)
    # a shape of (0,) goes with every other
    filled = [x for x in tensors if not is_nothing(x)] or tensors[:1]
    check_sizes("cat", filled, B.wrap_dim(dim, filled[0].ndim))
    return B.concat([B.cast(x, dtype) for x in filled], dim)


def is_nothing(x) -> bool:
    return x.ndim == 1 and type(x.shape[0]) is int and x.shape[0] == 0


def check_sizes(name: str, tensors, dim: int) -> None:
    """All shapes must be equal but for `dim`."""
    first = tensors[0]
    for place, x in enumerate(tensors):
        if x.ndim != first.ndim:
            raise RuntimeError(f"Tensors must have same number of dimensions: got {first.ndim} and {x.ndim}")
        for d, (a, b) in enumerate(zip(first.shape, x.shape)):
            if d != dim and a != b:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {int(a)} but got "
                    f"size {int(b)} for tensor number {place} in the list."
                )


@op(out=True)
def stack(tensors: list, dim: int = 0):
    """Tensors of one shape along a new dim."""
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    first = tensors[0]
    for place, x in enumerate(tensors):
        if x.ndim != first.ndim or any(a != b for a, b in zip(x.shape, first.shape)):
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {[int(n) for n in first.shape]} at entry 0 and "
                f"{[int(n) for n in x.shape]} at entry {place}"
            )
    return B.stack(tensors, dim)
