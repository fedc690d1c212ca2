"""Matrix products: which kernel computes a `dot`.

- `gemm_rows`: at most `FEW` vectors with rows contiguous along k (linear layers at small batch, matrix times vector);
- `gemm_columns`: one vector with rows contiguous along n;
- `gemm`: everything else, by register tiles.

Small results of long sums are split along k, into a batch of pieces that `gemm_pieces` adds up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..ir.dtypes import float32
from ..ir.sizes import product
from . import gemm, gemm_columns, gemm_rows
from .dot_copy import copy
from .dot_shape import Product, contiguous, expand, is_number
from .gemm_batch import batch_params
from .gemm_element import is_half
from .gemm_pieces import Pieces, pieces_kernel
from .gemm_tile import has_pairs
from .target import host
from .templates import Array, template

FEW = 16  # vectors: beyond, packing pays
SHORT = 12  # steps along k per vector: below, adding up lanes takes too large a part of the time
CHUNK = 4096  # steps along k of a piece of a split sum
SHARE = 2**19  # multiplications that are worth a thread


@dataclass(slots=True)
class Epilogue:
    """What is done to a product before it is stored: relu(a @ b + bias).

    bias  of C's dtype; its shape broadcasts to that of C. (N,) is a linear layer's bias, (M, 1) adds one number
          per row, and C's own memory accumulates
    relu  negative results become zero
    """

    bias: Array | None = None
    relu: bool = False


@template("dot")
def lower_dot(context, node, operands, results, epilogue: Epilogue | None = None) -> None:
    """`dot(a, b)`: [*B, M, K] × [*B, K, N] → [*B, M, N], any strides, with an epilogue when fused."""
    (a, b), c = operands, results[0]
    if any(is_number(size, 0) for size in c.shape):
        return
    epilogue = epilogue or Epilogue()
    bias = expand(epilogue.bias, c.shape) if epilogue.bias else None
    p = Product(a, b, c, bias, epilogue.relu).merged()
    if _long(p):
        _lower_split(context, p)
    else:
        _lower_whole(context, p)


def _lower_whole(context, p: Product) -> None:
    if p.a.dtype.kind == "f":
        both = p, p.transposed()
        for q in both:
            if is_number(q.m, 1) and contiguous(q.b, -1) and not is_number(q.n, 1):
                return _lower_columns(context, q)
        for q in both:
            if contiguous(q.b, -2) and q.m <= FEW and q.k >= SHORT * q.m:
                return _lower_rows(context, q)
    if contiguous(p.c, -1):
        _lower_gemm(context, p)
    elif contiguous(p.c, -2):
        _lower_gemm(context, p.transposed())
    else:
        whole = context.temp(p.c.shape, p.c.dtype)
        _lower_gemm(context, replace(p, c=whole))
        copy(context, whole, p.c)


# -- long sums --------------------------------------------------------------------------------------
def _long(p: Product) -> bool:
    """Whether threads would lack work without splitting the sum."""
    return not p.batch and p.k >= 2 * CHUNK and p.m * p.n <= CHUNK * 4


def _lower_split(context, p: Product) -> None:
    pieces = (p.k + CHUNK - 1) // CHUNK
    dtype = float32 if is_half(p.c.dtype) else p.c.dtype
    sums = context.temp((pieces, p.m, p.n), dtype)
    a, b = _in_pieces(p.a, pieces, -1), _in_pieces(p.b, pieces, -2)
    _lower_whole(context, Product(a, b, sums, None, False, p.k))
    size, parts = p.c.dtype.itemsize, 2 if p.c.dtype.is_complex else 1
    params = [pieces, p.m, p.n * parts]
    for array in (p.c, p.bias):
        params += [s * size for s in array.strides] if array else [0, 0]
    kernel = pieces_kernel(Pieces(p.c.dtype, p.bias is not None, p.relu))
    context.launch(kernel, [sums, *p.arrays[2:]], params, p.m, 1 + SHARE // (4 * p.n * pieces))


def _in_pieces(array: Array, pieces, dim: int) -> Array:
    """The dimension that is summed over, cut into pieces that form a batch."""
    shape, strides = list(array.shape), array.strides
    shape[dim] = CHUNK
    return replace(array, shape=(pieces, *shape), strides=(CHUNK * strides[dim], *strides))


# -- launches ---------------------------------------------------------------------------------------
def _lower_gemm(context, p: Product) -> None:
    """By register tiles; C must have contiguous rows."""
    bias = None
    if p.bias:
        # a complex number that is the same in all columns has two parts that are not
        same = is_number(p.bias.strides[-1], 0) and not p.c.dtype.is_complex
        if not contiguous(p.bias, -1) and not same:
            p = replace(p, bias=_densify(context, p.bias))
        bias = "row" if contiguous(p.bias, -1) else "column"
    dtype, result = p.a.dtype, p.c.dtype
    forms = _form_of_a(p.a), _form_of_b(p.b)
    narrow = p.n <= host().lanes(result.itemsize)
    structure = gemm.Gemm(dtype, result, *forms, bias, p.relu, narrow, len(p.batch), p.total is not None)
    a_row, a_step, b_step, b_column = (s * dtype.itemsize for s in (*p.a.strides[-2:], *p.b.strides[-2:]))
    parts, columns = structure.parts, structure.tile.columns
    bias_row = p.bias.strides[-2] * result.itemsize if p.bias else 0
    params = [p.m, p.n * parts, p.k if p.total is None else p.total, a_row, a_step, b_step, b_column]
    params += [p.c.strides[-2] * result.itemsize, bias_row, p.k, *_batch_params(p)]
    panels, units = (p.n * parts + columns - 1) // columns, (p.m + gemm.UNIT - 1) // gemm.UNIT
    # a share should pay for its start, and pack a panel for a fair number of rows
    grain = units // ((units + 4) // 5) + SHARE // (columns * gemm.UNIT * p.k * parts + 1)
    range, scratch = product(p.batch) * panels * units, structure.scratch(p.m, p.k)
    context.launch(gemm.gemm_kernel(structure), p.arrays, params, range, grain, scratch)


def _form_of_a(a: Array) -> str:
    if contiguous(a, -1):
        # pairs are read where they lie unless the last one is half
        widened = is_half(a.dtype) and not (has_pairs(a.dtype) and a.shape[-1] % 2 == 0)
        return "rows" if widened else "direct"
    return "columns" if contiguous(a, -2) and not a.dtype.is_complex else "strided"


def _form_of_b(b: Array) -> str:
    if contiguous(b, -1):
        return "rows"
    return "columns" if contiguous(b, -2) else "strided"


def _lower_rows(context, p: Product) -> None:
    """A holds the few vectors, the columns of B are contiguous."""
    few = 1 if is_number(p.m, 1) else 2 if p.m <= 2 else 4
    packed = (is_half(p.a.dtype) and not has_pairs(p.a.dtype)) or not contiguous(p.a, -1)
    structure = gemm_rows.RowProduct(
        p.a.dtype, p.c.dtype, few, packed, p.bias is not None, p.relu, len(p.batch), p.total is not None
    )
    size, to = p.a.dtype.itemsize, p.c.dtype.itemsize
    params = [p.m, p.n, p.k if p.total is None else p.total, p.a.strides[-2] * size, p.a.strides[-1] * size]
    params += [p.b.strides[-1] * size, p.c.strides[-2] * to, p.c.strides[-1] * to]
    params += [s * to for s in p.bias.strides[-2:]] if p.bias else [0, 0]
    range = product(p.batch) * ((p.n + gemm_rows.BLOCK - 1) // gemm_rows.BLOCK)
    grain = 1 + SHARE // (4 * gemm_rows.BLOCK * p.m * p.k)
    scratch = p.m * p.k * structure.x_dtype.itemsize if packed else 0
    context.launch(gemm_rows.row_kernel(structure), p.arrays, [*params, p.k, *_batch_params(p)], range, grain, scratch)


def _lower_columns(context, p: Product) -> None:
    """A is one vector, the rows of B are contiguous."""
    structure = gemm_columns.ColumnProduct(
        p.a.dtype, p.c.dtype, p.bias is not None, p.relu, len(p.batch), p.total is not None
    )
    size, to = p.a.dtype.itemsize, p.c.dtype.itemsize
    params = [p.n, p.k if p.total is None else p.total, p.a.strides[-1] * size, p.b.strides[-2] * size]
    params += [p.c.strides[-1] * to, p.bias.strides[-1] * to if p.bias else 0, p.k, *_batch_params(p)]
    range = product(p.batch) * ((p.n + gemm_columns.UNIT - 1) // gemm_columns.UNIT)
    grain = 1 + SHARE // (4 * gemm_columns.UNIT * p.k + 1)
    context.launch(gemm_columns.column_kernel(structure), p.arrays, params, range, grain, structure.scratch)


def _batch_params(p: Product) -> list:
    arrays = dict(zip(("a", "b", "c", "bias"), p.arrays))
    strides = {name: array.strides for name, array in arrays.items()}
    return batch_params(p.batch, strides, {name: array.dtype.itemsize for name, array in arrays.items()})


def _densify(context, bias: Array) -> Array:
    """A copy of the bias with contiguous rows; other expanded dimensions stay expanded."""
    expanded = [is_number(stride, 0) for stride in bias.strides[:-1]] + [False]
    shape = tuple(1 if same else size for size, same in zip(bias.shape, expanded))
    dense = context.temp(shape, bias.dtype)
    copy(context, replace(bias, shape=shape), dense)
    strides = tuple(0 if same else stride for stride, same in zip(dense.strides, expanded))
    return replace(dense, shape=bias.shape, strides=strides)
