"""Diagonals and triangles of matrices."""

from __future__ import annotations

from ..ir import build as B
from ..ir import dtypes
from .creation import fresh
from .declare import Number, composite, op


@op(view=True, method=True)
def diagonal(input, offset: int = 0, dim1: int = 0, dim2: int = 1):
    """The diagonal of two dims as a new last dim; `offset` > 0 lies above the main one. A view."""
    first, second = check_plane(input.ndim, dim1, dim2)
    return B.diagonal(input, offset, first, second)


def check_plane(ndim: int, dim1: int, dim2: int) -> tuple:
    first, second = B.wrap_dim(dim1, ndim), B.wrap_dim(dim2, ndim)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return first, second


@op(method=True)
def diag_embed(input, offset: int = 0, dim1: int = -2, dim2: int = -1):
    """The last dim on the diagonal `offset` of two new dims, with zeros elsewhere."""
    first, second = check_plane(input.ndim + 1, dim1, dim2)
    filled = embedded(input, offset)
    rest = iter(range(input.ndim - 1))
    order = [input.ndim - 1 if d == first else input.ndim if d == second else next(rest) for d in range(input.ndim + 1)]
    return B.permute(filled, order)


def embedded(x, offset: int):
    """[*, n] -> [*, n + |offset|, n + |offset|]"""
    size = x.shape[-1] + abs(offset)
    x = B.pad(x, (0,) * x.ndim, (*(0,) * (x.ndim - 1), abs(offset)))
    shape = (*x.shape[:-1], size, size)
    # the element belongs to the row above the main diagonal, to the column below it
    spread = B.expand(B.unsqueeze(x, -1 if offset >= 0 else -2), shape)
    row, column = B.places((size, size), 0, 1)
    on = B.eq(column - row, offset)
    return B.where(on, spread, B.zeros_like(spread))


@op(method=True, out=True)
def diag(input, diagonal: int = 0):
    """The matrix with a vector on its diagonal, or a copy of a matrix's diagonal."""
    if input.ndim == 1:
        return embedded(input, diagonal)
    if input.ndim == 2:
        return B.diagonal(input, diagonal)
    raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D")


@composite(method="fill_diagonal_", public=False)
def fill_diagonal_(input, fill_value, wrap=False):
    """Set the main diagonal, in place: of a matrix, or of a tensor whose dims are all of one size.

    With `wrap`, a matrix with more rows than columns has the diagonal anew below it, one row left out in between.
    """
    if input.ndim < 2:
        raise RuntimeError("dimensions must larger than 1")
    if input.ndim > 2 and len(set(input.shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    along = sum(input.stride())
    input.as_strided((min(input.shape),), (along,)).fill_(fill_value)
    rows, columns = input.shape[:2]
    if wrap and input.ndim == 2 and rows > columns:
        step, start = (columns + 1) * input.stride(0), input.storage_offset()
        blocks, rest = divmod(rows, columns + 1)
        input.as_strided((blocks, columns), (step, along)).fill_(fill_value)
        input.as_strided((rest,), (along,), start + blocks * step).fill_(fill_value)
    return input


@composite(method=True)
def diagflat(input, offset=0):
    """The matrix with all elements of the input on its diagonal."""
    return diag(input.reshape((-1,)), offset)


@op(method=True, out=True)
def trace(input):
    """The sum of a matrix's diagonal."""
    if input.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.ndim}")
    if input.dtype is dtypes.bool_:
        raise NotImplementedError("\"trace\" not implemented for 'Bool'")
    return B.sum(B.diagonal(input))


def _triangle(name: str, keeps, meaning: str):
    def body(input, diagonal: Number = 0):
        if input.ndim < 2:
            raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
        plane = input.shape[-2:]
        kept = keeps(B.iota(plane, 1) - B.iota(plane, 0), diagonal)
        return B.where(kept, input, B.zeros_like(input))

    body.__name__ = name
    body.__doc__ = f"The elements of each matrix on and {meaning} the diagonal `diagonal`, zeros elsewhere."
    return op(body, method=True, inplace=True, out=True, row_major=True)


tril, triu = _triangle("tril", B.le, "below"), _triangle("triu", B.ge, "above")


def _places(name: str, keeps, meaning: str):
    def mask(row: int, col: int, offset: int):
        return keeps(B.iota((row, col), 1) - B.iota((row, col), 0), offset)

    mask.__name__ = name + "_mask"
    mask = op(mask, public=False)

    def function(
        row, col, offset=0, *, dtype=dtypes.int64, device=None, layout=None, pin_memory=False, requires_grad=False
    ):
        from .compaction import positions

        for given, size in (("row", row), ("col", col)):
            if size < 0:
                raise RuntimeError(f"{given} must be non-negative, got{size}")
        if not row or not col:
            return fresh((2, 0), dtype)
        found = positions(mask(int(row), int(col), int(offset))).t()
        return found if dtype in (None, dtypes.int64) else found.to(dtype)

    function.__name__ = name
    function.__doc__ = f"Rows and columns (2, n) of the places on and {meaning} a diagonal of a row x col matrix."
    return composite(function)


tril_indices, triu_indices = _places("tril_indices", B.le, "below"), _places("triu_indices", B.ge, "above")
