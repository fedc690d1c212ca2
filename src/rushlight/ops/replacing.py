"""Copies of a tensor with a part replaced: a slice, a diagonal, any strided view."""

from __future__ import annotations

from ..ir import build as B
from ..ir.sizes import hint
from .declare import composite, op
from .scattering import sizes


@op(method=True, out=True)
def select_scatter(input, src, dim: int, index: int):
    """A copy of the input with `src` as the slice at `index` of `dim`."""
    d = B.wrap_dim(dim, input.ndim)
    size = input.shape[d]
    if not -size <= index < size:
        raise IndexError(f"select(): index {index} out of range for tensor of size {sizes(input)} at dimension {d}")
    return replaced(input, B.unsqueeze(src, d), d, index + size if index < 0 else index, 1)


@op(method=True, out=True)
def slice_scatter(input, src, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1):
    """A copy of the input with `src` in the place of input[start:end:step] along `dim`."""
    d = B.wrap_dim(dim, input.ndim)
    size = input.shape[d]
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    first = clipped(0 if start is None else start, size)
    last = clipped(size if end is None else end, size)
    count = (last - first + step - 1) // step if last > first else 0
    if src.shape[d] != count:
        raise RuntimeError(f"expected src to have a size equal to the slice of self: {hint(count)}, got {sizes(src)}")
    return replaced(input, src, d, first, step)


def clipped(place, size):
    place = place + size if place < 0 else place
    return 0 if place < 0 else size if place > size else place


def replaced(input, src, dim: int, start, step):
    shape = (*input.shape[:dim], src.shape[dim], *input.shape[dim + 1 :])
    if len(shape) != src.ndim or any(a != b for a, b in zip(shape, src.shape)):
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = {sizes(src)}, slice size = "
            f"{[hint(n) for n in shape]}"
        )
    index = B.iota((src.shape[dim],)) * step + start
    return B.put(input, src, index, dim=dim)


@op(method=True, out=True)
def diagonal_scatter(input, src, offset: int = 0, dim1: int = 0, dim2: int = 1):
    """A copy of the input with `src` in the place of its diagonal."""
    first, second = B.wrap_dim(dim1, input.ndim), B.wrap_dim(dim2, input.ndim)
    order = [first, second, *(d for d in range(input.ndim) if d not in (first, second))]
    shape = B.diagonal(input, offset, first, second).shape
    if len(shape) != src.ndim or any(a != b for a, b in zip(shape, src.shape)):
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = {sizes(src)}, slice size = "
            f"{[hint(n) for n in shape]}"
        )
    step = B.iota(shape[-1:])
    rows, columns = step + max(-offset, 0), step + max(offset, 0)
    values = B.permute(src, (src.ndim - 1, *range(src.ndim - 1)))
    result = B.put(B.permute(input, order), B.cast(values, input.dtype), rows, columns, dim=0)
    return B.permute(result, [order.index(d) for d in range(input.ndim)])


@composite(method=True)
def as_strided_scatter(input, src, size, stride, storage_offset=None):
    """A copy of the input with `src` in the place of its view with any shape, strides and offset."""
    made = input.clone()
    made.as_strided(size, stride, storage_offset or 0).copy_(src)
    return made
