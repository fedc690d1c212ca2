"""Functions on Values that fold elements: reductions, scans, matrix products, order. Part of `ir.build`."""

from __future__ import annotations

from .dtypes import bfloat16, bool_, float16, float32, int64
from .graph import Value
from .primitive import PRIMITIVES, fail
from .promote import as_dtype, broadcast_shapes, broadcast_to, common_dtype, constant
from .shaping import reshape, unsqueeze, wrap_dim, wrap_dims
from .sizes import product

HALVES = (float16, bfloat16)


def unreduce(y: Value, shape, dims) -> Value:
    """A reduction's result repeated over `dims` of the shape that was reduced."""
    kept = tuple(1 if d in dims else s for d, s in enumerate(shape))
    return broadcast_to(reshape(y, kept), tuple(shape))


def sum_to(x: Value, shape) -> Value:
    """x summed over what expanding `shape` to x.shape repeated: the adjoint of broadcasting."""
    new = x.ndim - len(shape)
    repeated = [d + new for d, s in enumerate(shape) if type(s) is int and s == 1 and not _is_one(x.shape[d + new])]
    dims = (*range(new), *repeated)
    return reshape(sum(x, dims), shape) if dims else x


def _is_one(size) -> bool:
    return type(size) is int and size == 1


def _finish(x: Value, y: Value, dims, keepdim: bool) -> Value:
    return reshape(y, tuple(1 if d in dims else s for d, s in enumerate(x.shape))) if keepdim else y


def _reduce(name: str, x: Value, dims, keepdim: bool) -> Value:
    dims = wrap_dims(dims, x.ndim)
    y = PRIMITIVES[name](x, dims=dims) if dims else x
    return _finish(x, y, dims, keepdim)


def _accumulate(name: str, x: Value, dims, keepdim: bool, dtype) -> Value:
    """A sum or product: integers in int64, half types in float32 and rounded once."""
    if dtype is None:
        dtype = int64 if x.dtype.kind in "bui" else x.dtype
    if dtype is bool_:
        return any(x, dims, keepdim) if name == "reduce_sum" else all(x, dims, keepdim)
    wide = float32 if dtype in HALVES else dtype
    return as_dtype(_reduce(name, as_dtype(x, wide), dims, keepdim), dtype)


def sum(x: Value, dims=None, keepdim: bool = False, dtype=None) -> Value:
    """Sum over dims (None: all). Integers and bools sum in int64; half types in float32, then rounded."""
    return _accumulate("reduce_sum", x, dims, keepdim, dtype)


def prod(x: Value, dims=None, keepdim: bool = False, dtype=None) -> Value:
    return _accumulate("reduce_prod", x, dims, keepdim, dtype)


def mean(x: Value, dims=None, keepdim: bool = False, dtype=None) -> Value:
    """The sum over the number of elements; RuntimeError for integers."""
    dtype = dtype or x.dtype
    if dtype.kind not in "fc":
        fail("mean", f"the input dtype must be either a floating point or complex dtype, got {dtype}")
    wide = float32 if dtype in HALVES else dtype
    total = sum(as_dtype(x, wide), dims, keepdim)
    count = product(x.shape[d] for d in wrap_dims(dims, x.ndim))
    return as_dtype(PRIMITIVES["div"](total, constant(count, total.shape, wide)), dtype)


def max(x: Value, dims=None, keepdim: bool = False) -> Value:
    """Largest element, NaN if there is one."""
    return _reduce("reduce_max", x, dims, keepdim)


def min(x: Value, dims=None, keepdim: bool = False) -> Value:
    return _reduce("reduce_min", x, dims, keepdim)


def any(x: Value, dims=None, keepdim: bool = False) -> Value:
    """Whether some element is not 0; bool."""
    return _reduce("reduce_any", _truth(x), dims, keepdim)


def all(x: Value, dims=None, keepdim: bool = False) -> Value:
    return _reduce("reduce_all", _truth(x), dims, keepdim)


def _truth(x: Value) -> Value:
    return x if x.dtype is bool_ else PRIMITIVES["ne"](x, constant(0, x.shape, x.dtype))


def _place(name: str, x: Value, dim, keepdim: bool) -> Value:
    if dim is None:
        y = PRIMITIVES[name](reshape(x, (product(x.shape),)), dim=0)
        return reshape(y, (1,) * x.ndim) if keepdim else y
    if x.ndim == 0:
        wrap_dim(dim, 0)
        return constant(0, (), int64)
    dim = wrap_dim(dim, x.ndim)
    return _finish(x, PRIMITIVES[name](x, dim=dim), (dim,), keepdim)


def argmax(x: Value, dim=None, keepdim: bool = False) -> Value:
    """Place of the first largest element (of the flattened tensor, for None); int64."""
    return _place("argmax", x, dim, keepdim)


def argmin(x: Value, dim=None, keepdim: bool = False) -> Value:
    return _place("argmin", x, dim, keepdim)


# -- scans and order --------------------------------------------------------------------------
def _scan(name: str, x: Value, dim: int, dtype) -> Value:
    if dtype is None:
        dtype = int64 if x.dtype.kind in "bui" else x.dtype
    wide = float32 if dtype in HALVES else dtype
    x = as_dtype(x, wide)
    if x.ndim == 0:
        wrap_dim(dim, 0)
        return as_dtype(x, dtype)
    return as_dtype(PRIMITIVES[name](x, dim=wrap_dim(dim, x.ndim)), dtype)


def cumsum(x: Value, dim: int, dtype=None) -> Value:
    """Running sum; types as in `sum`."""
    return _scan("cumsum", x, dim, dtype)


def cumprod(x: Value, dim: int, dtype=None) -> Value:
    return _scan("cumprod", x, dim, dtype)


def logcumsumexp(x: Value, dim: int) -> Value:
    """log of the running sum of exp."""
    return _scan("logcumsumexp", x, dim, x.dtype)


def _with_places(name: str, x: Value, dim: int, **attrs) -> tuple[Value, Value]:
    """Primitives that yield values and indices; a 0-d tensor is handled as a row of one."""
    dim = wrap_dim(dim, x.ndim)
    if x.ndim == 0:
        return tuple(reshape(y, ()) for y in PRIMITIVES[name](reshape(x, (1,)), dim=0, **attrs))
    return PRIMITIVES[name](x, dim=dim, **attrs)


def cummax(x: Value, dim: int) -> tuple[Value, Value]:
    """Running largest element and its place."""
    return _with_places("cummax", x, dim)


def cummin(x: Value, dim: int) -> tuple[Value, Value]:
    return _with_places("cummin", x, dim)


def sort(x: Value, dim: int = -1, descending: bool = False) -> tuple[Value, Value]:
    """Stable order: values and the places they came from."""
    return _with_places("sort", x, dim, descending=descending)


def topk(x: Value, k, dim: int = -1, largest: bool = True) -> tuple[Value, Value]:
    return _with_places("topk", x, dim, k=k, largest=largest)


# -- matrix product ---------------------------------------------------------------------------
def dot(a: Value, b: Value) -> Value:
    """[*A, M, K] x [*B, K, N] with batch dimensions broadcast, in the common type."""
    dtype = common_dtype(a, b)
    a, b = as_dtype(a, dtype), as_dtype(b, dtype)
    if a.shape[:-2] != b.shape[:-2]:
        batch = broadcast_shapes(a.shape[:-2], b.shape[:-2])
        a, b = broadcast_to(a, (*batch, *a.shape[-2:])), broadcast_to(b, (*batch, *b.shape[-2:]))
    return PRIMITIVES["dot"](a, b)


def matmul(a: Value, b: Value) -> Value:
    """The product as `@` means it: vectors are rows at the left and columns at the right."""
    if a.ndim == 0 or b.ndim == 0:
        fail("matmul", f"both arguments need at least one dimension, got {a} and {b}")
    if a.ndim == 1 and b.ndim == 1:
        return reshape(dot(unsqueeze(a, 0), unsqueeze(b, 1)), ())
    if a.ndim == 1:
        y = dot(unsqueeze(a, 0), b)
        return reshape(y, (*y.shape[:-2], y.shape[-1]))
    if b.ndim == 1:
        y = dot(a, unsqueeze(b, 1))
        return reshape(y, y.shape[:-1])
    if b.ndim == 2 and a.ndim > 2:
        # a shared right matrix: the batch is more rows of one product
        rows = dot(reshape(a, (product(a.shape[:-1]), a.shape[-1])), b)
        return reshape(rows, (*a.shape[:-1], b.shape[-1]))
    return dot(a, b)


__all__ = [name for name, item in globals().items() if callable(item) and item.__module__ == __name__]
