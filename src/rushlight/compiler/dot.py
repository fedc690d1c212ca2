"""Matrix products: `dot` brought to the form that a kernel computes, and the choice of the kernel."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..ir.sizes import Sym, contiguous_strides, product
from . import gemm
from .dot_copy import copy
from .templates import Array, template


@dataclass(slots=True)
class Epilogue:
    """What is done to a product before it is stored: relu(a @ b + bias).

    bias  of C's dtype; its shape broadcasts to that of C. (N,) is a linear layer's bias, (M, 1) adds one number
          per row, and C's own memory accumulates
    relu  negative results become zero
    """

    bias: Array | None = None
    relu: bool = False


@dataclass(slots=True)
class Product:
    """C[*batch, m, n] = A[*batch, m, k] B[*batch, k, n]; strides are (*batch, first, second), in elements.

    `bias` has C's shape, with strides of 0 where it is expanded.
    """

    a: Array
    b: Array
    c: Array
    bias: Array | None
    relu: bool

    @property
    def sizes(self) -> tuple:
        """m, n, k"""
        return self.c.shape[-2], self.c.shape[-1], self.a.shape[-1]

    @property
    def arrays(self) -> list[Array]:
        return [self.a, self.b, self.c] + ([self.bias] if self.bias else [])

    def transposed(self) -> Product:
        """The same product as C^T = B^T A^T."""
        a, b, c, *bias = map(_transpose, self.arrays)
        return Product(b, a, c, bias[0] if bias else None, self.relu)


@template("dot")
def lower_dot(context, node, operands, results, epilogue: Epilogue | None = None) -> None:
    """`dot(a, b)`: [*B, M, K] × [*B, K, N] → [*B, M, N], any strides, with an epilogue when fused."""
    (a, b), c = operands, results[0]
    if any(_is(size, 0) for size in c.shape):
        return
    epilogue = epilogue or Epilogue()
    bias = _expand(epilogue.bias, c.shape) if epilogue.bias else None
    p = _merge_batch(Product(a, b, c, bias, epilogue.relu))
    if _contiguous(p.c, -1):
        lower_product(context, p)
    elif _contiguous(p.c, -2):
        lower_product(context, p.transposed())
    else:
        whole = context.temp(p.c.shape, p.c.dtype)
        lower_product(context, replace(p, c=whole))
        copy(context, whole, p.c)


def lower_product(context, p: Product) -> None:
    """Launch the kernels of a product whose result has contiguous rows."""
    if p.bias and not (_contiguous(p.bias, -1) or _is(p.bias.strides[-1], 0)):
        p = replace(p, bias=_densify(context, p.bias))
    lower_gemm(context, p)


def lower_gemm(context, p: Product) -> None:
    m, n, k = p.sizes
    structure = _structure(p)
    size, parts = p.c.dtype.itemsize, structure.parts
    bias_row = p.bias.strides[-2] * size if p.bias else 0
    a, b = ((x.strides[-2] * size, x.strides[-1] * size) for x in (p.a, p.b))
    params = [m, n * parts, k, *a, *b, p.c.strides[-2] * size, bias_row, 0]
    for d in range(structure.batch):
        strides = [x.strides[d] * size for x in p.arrays] + [0] * (not p.bias)
        params += [p.c.shape[d], *strides]
    columns = structure.tile.columns
    panels, units = (n * parts + columns - 1) // columns, (m + gemm.UNIT - 1) // gemm.UNIT
    # a share should pay for its start, and pack a panel for a fair number of rows
    grain = units // ((units + 4) // 5) + 2**19 // (columns * gemm.UNIT * k * parts + 1)
    tasks = product(p.c.shape[:-2]) * panels * units
    kernel = gemm.gemm_kernel(structure)
    context.launch(kernel, p.arrays, params, tasks, grain, structure.scratch(m, k))


def _structure(p: Product) -> gemm.Gemm:
    dtype = p.c.dtype
    bias = None
    if p.bias:
        bias = "row" if _contiguous(p.bias, -1) else "column"
    return gemm.Gemm(dtype, _form_of_a(p.a), _form_of_b(p.b), bias, p.relu, len(p.c.shape) - 2)


def _form_of_a(a: Array) -> str:
    if _contiguous(a, -1):
        return "rows" if gemm.is_half(a.dtype) else "direct"
    return "columns" if _contiguous(a, -2) and not a.dtype.is_complex else "strided"


def _form_of_b(b: Array) -> str:
    if _contiguous(b, -1):
        return "rows"
    return "columns" if _contiguous(b, -2) else "strided"


# -- shapes and strides -----------------------------------------------------------------------------
def _is(size, number: int) -> bool:
    """Whether a size is this very number, without recording a guard: symbols are never 0 or 1."""
    return type(size) is int and size == number


def _same(x, y) -> bool:
    """Whether two sizes are equal for every value of their symbols."""
    if type(x) is Sym and type(y) is Sym:
        return x.key() == y.key()
    return type(x) is type(y) and x == y


def _contiguous(array: Array, dim: int) -> bool:
    return _is(array.shape[dim], 1) or array.strides[dim] == 1


def _transpose(array: Array) -> Array:
    *batch, rows, columns = range(len(array.shape))
    dims = (*batch, columns, rows)
    shape, strides = (tuple(x[d] for d in dims) for x in (array.shape, array.strides))
    return replace(array, shape=shape, strides=strides)


def _expand(bias: Array, shape: tuple) -> Array:
    """The bias as an array of C's shape."""
    missing = len(shape) - len(bias.shape)
    strides = [0] * missing
    for own, wanted, stride in zip(bias.shape, shape[missing:], bias.strides):
        strides.append(0 if _is(own, 1) and not _is(wanted, 1) else stride)
    return replace(bias, shape=tuple(shape), strides=tuple(strides))


def _densify(context, bias: Array) -> Array:
    """A copy of the bias with contiguous rows; expanded dimensions stay expanded."""
    shape = tuple(1 if _is(stride, 0) else size for size, stride in zip(bias.shape, bias.strides))
    dense = context.temp(shape, bias.dtype)
    copy(context, replace(bias, shape=shape), dense)
    strides = tuple(0 if _is(old, 0) else new for old, new in zip(bias.strides, dense.strides))
    return replace(dense, shape=bias.shape, strides=strides)


def _merge_batch(p: Product) -> Product:
    """Drop batch dimensions of size 1, join neighbours that are one dimension in memory, fold them into m or n."""
    keep = [d for d, size in enumerate(p.c.shape[:-2]) if not _is(size, 1)]
    p = _map_arrays(p, lambda array: _pick(array, keep))
    d = len(p.c.shape) - 4
    while d >= 0:
        if all(_joins(array, d, d + 1) for array in p.arrays):
            p = _map_arrays(p, lambda array: _join(array, d))
        d -= 1
    return _fold_batch(p)


def _fold_batch(p: Product) -> Product:
    """One product instead of a batch when all share B: the rows of all matrices follow each other."""
    if len(p.c.shape) == 3 and _is(p.b.strides[0], 0):
        if all(_joins(array, 0, 1) for array in p.arrays if array is not p.b):
            b = _pick(p.b, [])
            p = _map_arrays(p, lambda array: b if array is p.b else _join(array, 0))
    return p


def _map_arrays(p: Product, change) -> Product:
    a, b, c, *bias = (change(array) for array in p.arrays)
    return Product(a, b, c, bias[0] if bias else None, p.relu)


def _pick(array: Array, batch: list[int]) -> Array:
    shape, strides = ((*(x[d] for d in batch), *x[-2:]) for x in (array.shape, array.strides))
    return replace(array, shape=shape, strides=strides)


def _joins(array: Array, outer: int, inner: int) -> bool:
    return _same(array.strides[outer], array.shape[inner] * array.strides[inner])


def _join(array: Array, d: int) -> Array:
    """Dimensions d and d + 1 as one."""
    shape = (*array.shape[:d], array.shape[d] * array.shape[d + 1], *array.shape[d + 2 :])
    return replace(array, shape=shape, strides=(*array.strides[:d], *array.strides[d + 1 :]))
