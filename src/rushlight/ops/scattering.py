"""Reading and writing along one dim by an integer tensor: gather, scatter, and the `index_` family."""

from __future__ import annotations

import math

from ..ir import build as B
from ..ir import dtypes
from ..ir.graph import Value
from ..ir.sizes import hint, product
from .checks import check_kinds, fitting, scalar_type
from .declare import Number, composite, op
from .indexing import is_zero, wrapped
from .notices import warn_user


# -- what indices must be -----------------------------------------------------------------------
def check_index(name: str, index) -> None:
    if index.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")


def sizes(x) -> list:
    return [hint(n) for n in x.shape]


def at_least_1d(x):
    return B.reshape(x, (1,)) if x.ndim == 0 else x


def check_along(x, index, dim: int) -> None:
    """An index must have the rank of what it indexes, and fit it but for `dim`."""
    if x.ndim != index.ndim:
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    misfit = next((d for d, (n, m) in enumerate(zip(index.shape, x.shape)) if d != dim and n > m), None)
    if misfit is not None:
        raise RuntimeError(
            f"Size does not match at dimension {misfit} expected index {sizes(index)} to be no larger than self "
            f"{sizes(x)} apart from dimension {dim}"
        )


def check_vector(name: str, index) -> None:
    if index.ndim > 1:
        raise IndexError(f"{name}(): Index should have dimension 1 or 0 (got {index.ndim})")


def check_same(name: str, x, source, other: str = "source") -> None:
    if source.dtype is not x.dtype:
        raise RuntimeError(
            f"{name}(): self ({scalar_type(x.dtype)}) and {other} ({scalar_type(source.dtype)}) must have the same "
            f"dtype"
        )


# -- reading ------------------------------------------------------------------------------------
@op(method=True, out=True)
def gather(input, dim: int, index, *, sparse_grad: bool = False):
    """result[i][j][k] = input[i][index[i][j][k]][k], for dim 1: one element of `dim` for each place of `index`."""
    d = B.wrap_dim(dim, input.ndim)
    if is_zero(product(index.shape)):
        return B.zeros(index.shape, input.dtype)
    check_index("gather", index)
    x, places = at_least_1d(input), at_least_1d(index)
    check_along(x, places, d)
    return B.reshape(B.gather(x, d, places), index.shape)


@op(method=True, out=True)
def index_select(input, dim: int, index):
    """The slices of `dim` named by the 1-d tensor `index`."""
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    d, count = B.wrap_dim(dim, input.ndim), product(index.shape)
    if input.ndim == 0 and count != 1:
        raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {hint(count)} value(s)")
    taken = B.take(at_least_1d(input), B.reshape(index, (count,)), dim=d)
    return B.reshape(taken, ()) if input.ndim == 0 else taken


@op(method=True, out=True)
def take(input, index):
    """Elements of the flattened input; a negative index counts from the end."""
    if index.dtype is not dtypes.int64:
        raise RuntimeError(f"take(): Expected a long tensor for index, but got {scalar_type(index.dtype)}")
    total = product(input.shape)
    if is_zero(total) and not is_zero(product(index.shape)):
        raise IndexError("take(): tried to take from an empty tensor")
    return B.take(B.reshape(input, (total,)), wrapped(index, total), dim=0)


@composite(method=True)
def take_along_dim(input, indices, dim=None, *, out=None):
    """`gather` with all dims but `dim` broadcast; without `dim`, from the flattened input."""
    if indices.dtype is not dtypes.int64:
        raise RuntimeError(f"take_along_dim(): dtype of indices should be Long but got {scalar_type(indices.dtype)}")
    if dim is None:
        return gather_along(input.reshape((-1,)), 0, indices.reshape((-1,)), out=out)
    if input.ndim != indices.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{input.ndim} dimensions for input, and {indices.ndim} dimensions for indices"
        )
    d = B.wrap_dim(dim, input.ndim)
    common = list(B.broadcast_shapes(*((*x.shape[:d], 1, *x.shape[d + 1 :]) for x in (input, indices))))

    def spread(x):
        return x.expand((*common[:d], x.shape[d], *common[d + 1 :]))

    return gather_along(spread(input), d, spread(indices), out=out)


@op(public=False, out=True)
def gather_along(input, dim: int, index):
    """`gather` with negative indices that count from the end."""
    return B.gather(input, dim, wrapped(index, input.shape[dim])) if input.ndim else input


# -- writing along a dim ------------------------------------------------------------------------
def scattered_into(name: str, input, dim: int, index, src, mode: str):
    d = B.wrap_dim(dim, input.ndim)
    if is_zero(product(index.shape)):
        return input
    check_index(name, index)
    x, places = at_least_1d(input), at_least_1d(index)
    if isinstance(src, Value) and not src.weak:
        if src.dtype is not x.dtype:
            raise RuntimeError(f"{name}(): Expected self.dtype to be equal to src.dtype")
        src = at_least_1d(src)
        check_source(x, places, src, d)
    else:
        src = B.broadcast_to(B.cast(src, x.dtype), places.shape) if isinstance(src, Value) else src
        check_along(x, places, d)
    return B.reshape(B.scatter(x, d, places, src, mode), input.shape)


def check_source(x, index, src, dim: int) -> None:
    if index.ndim != x.ndim:
        raise RuntimeError("Index tensor must have the same number of dimensions as self tensor")
    if index.ndim != src.ndim:
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    for d, (i, n, s) in enumerate(zip(index.shape, x.shape, src.shape)):
        if (d != dim and i > n) or i > s:
            raise RuntimeError(
                f"Expected index {sizes(index)} to be no larger than self {sizes(x)} apart from dimension {dim} and to "
                f"be no larger size than src {sizes(src)}"
            )


@op(public=False, inplace=True)
def scatter_set(input, dim: int, index, src: Number, mode: str = "set"):
    """`src`, a tensor or a number, combined into `input` at the places that `index` names."""
    return scattered_into("scatter", input, dim, index, src, mode)


_REDUCE = {None: "set", "add": "add", "multiply": "mul"}


def _scatter_arguments(input, src, value, reduce) -> tuple:
    if (src is None) == (value is None):
        raise TypeError("scatter(): expected either src or value")
    if reduce is not None and src is not None:
        warn_user(
            "The reduce argument of scatter with Tensor src is deprecated and will be removed in a future release. Use "
            "scatter_reduce instead for more reduction options."
        )
    if reduce not in _REDUCE:
        raise RuntimeError("reduce argument must be either add or multiply.")
    return fitting(value if src is None else src, input.dtype), _REDUCE[reduce]


@composite(method=True)
def scatter(input, dim, index, src=None, *, value=None, reduce=None, out=None):
    """A copy of the input with result[i][index[i][j][k]][k] = src[i][j][k], for dim 1.

    `src` is a tensor, or a number (also by the name `value`); `reduce` is None, "add" or "multiply".
    """
    src, mode = _scatter_arguments(input, src, value, reduce)
    return written(out, scatter_set(input, dim, index, src, mode), "scatter")


@composite(method=True)
def scatter_(input, dim, index, src=None, *, value=None, reduce=None):
    """In-place form of `scatter`."""
    src, mode = _scatter_arguments(input, src, value, reduce)
    return scatter_set.in_place(input, dim, index, src, mode)


def written(out, result, name: str):
    """The result, in `out` if that is given."""
    if out is None:
        return result
    from .writing import store

    return store(out, result, name)


@op(method=True, inplace=True, out=True)
def scatter_add(input, dim: int, index, src):
    """A copy of the input with src[i][j][k] added at [i][index[i][j][k]][k], for dim 1."""
    return scattered_into("scatter_add", input, dim, index, src, "add")


_MODES = {"sum": "add", "mean": "add", "prod": "mul", "amax": "max", "amin": "min"}


def neutral(mode: str, dtype):
    """What changes no other number when combined with it."""
    if mode in ("add", "mul"):
        return 0 if mode == "add" else 1
    if dtype.kind == "b":
        return mode == "min"
    if dtype.kind == "f":
        return -math.inf if mode == "max" else math.inf
    bits = 8 * dtype.itemsize - (dtype.kind == "i")
    least = -(1 << bits) if dtype.kind == "i" else 0
    return least if mode == "max" else (1 << bits) - 1


@op(method=True, inplace=True, out=True)
def scatter_reduce(input, dim: int, index, src, reduce: str, *, include_self: bool = True):
    """Like `scatter_add` for "sum", "prod", "mean", "amax" or "amin"; without `include_self`, of the sources alone."""
    return reduced_into("scatter_reduce", input, dim, index, src, reduce, include_self)


def reduced_into(name: str, input, dim, index, src, reduce, include_self):
    if reduce not in _MODES:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if is_zero(product(index.shape)):
        return input
    check_index(name, index)
    mode = _MODES[reduce]
    if mode in ("max", "min"):
        check_kinds(f"{name}_{reduce}_cpu", input.dtype, "buif")
    start = input
    if not include_self:
        start = scattered_into(name, input, dim, index, neutral(mode, input.dtype), "set")
    result = scattered_into(name, start, dim, index, src, mode)
    if reduce != "mean":
        return result
    counts = B.full(input.shape, int(include_self), dtypes.int64)
    ones = B.full(index.shape, 1, dtypes.int64)
    counts = B.cast(B.maximum(scattered_into(name, counts, dim, index, ones, "add"), 1), input.dtype)
    return result / counts if input.dtype.kind in "fc" else B.floor_divide(result, counts)


# -- whole slices -------------------------------------------------------------------------------
def slices(name: str, input, dim: int, index, source):
    """(input, dim, index, source) with at least one dim each, checked to fit."""
    check_vector(name, index)
    d = B.wrap_dim(dim, input.ndim)
    check_same(name, input, source)
    count = product(index.shape)
    have = source.shape[d] if source.ndim else 1
    if have != count:
        error = IndexError if name == "index_copy_" else RuntimeError
        raise error(
            f"{name}(): Number of indices ({hint(count)}) should be equal to source.size(dim): ({hint(have)}), "
            f"for dim: {d}"
        )
    rest = [*input.shape[:d], *input.shape[d + 1 :]], [*source.shape[:d], *source.shape[d + 1 :]]
    if len(rest[0]) != len(rest[1]) or any(a != b for a, b in zip(*rest)):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{sizes(input)} source.shape = {sizes(source)}"
        )
    shape = (*input.shape[:d], count, *input.shape[d + 1 :]) if input.ndim else (1,)
    return at_least_1d(input), d, B.reshape(index, (count,)), B.reshape(source, shape)


@op(method=True, inplace=True, out=True)
def index_add(input, dim: int, index, source, *, alpha: Number = 1):
    """A copy of the input with alpha * source added to the slices of `dim` that `index` names."""
    check_index("index_add", index)
    x, d, index, source = slices("index_add", input, dim, index, source)
    if not (type(alpha) is int and alpha == 1):
        source = B.cast(source * alpha, x.dtype)
    return B.reshape(B.put(x, source, index, dim=d, mode="add"), input.shape)


@op(method=True, inplace=True, out=True)
def index_copy(input, dim: int, index, source):
    """A copy of the input with the slices of `dim` that `index` names replaced by those of `source`."""
    if index.dtype is not dtypes.int64:
        raise RuntimeError("index_copy_(): Expected a long tensor for index")
    if input.ndim and source.ndim and input.ndim != source.ndim:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
            f"dimensionality ({source.ndim}), destination dimensionality ({input.ndim})"
        )
    x, d, index, source = slices("index_copy_", input, dim, index, source)
    return B.reshape(B.put(x, source, index, dim=d), input.shape)


@composite(method=True)
def index_fill(input, dim, index, value):
    """A copy of the input with `value`, a number or a 0-dim tensor, in the slices of `dim` that `index` names."""
    return fill_slices(input, dim, index, fitting(value, input.dtype))


@composite(method=True)
def index_fill_(input, dim, index, value):
    """In-place form of `index_fill`."""
    return fill_slices.in_place(input, dim, index, fitting(value, input.dtype))


@op(public=False, inplace=True)
def fill_slices(input, dim: int, index, value: Number):
    """`index_fill`, once the number is known to fit."""
    if index.dtype is not dtypes.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if index.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    if isinstance(value, Value):
        if value.ndim:
            raise RuntimeError(
                "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                f"{value.ndim} dimension(s)."
            )
        if value.dtype.is_complex and not input.dtype.is_complex:
            raise RuntimeError("index_fill_(): Converting complex Scalar to non-complex type is not supported")
    d, x, count = B.wrap_dim(dim, input.ndim), at_least_1d(input), product(index.shape)
    index = wrapped(B.reshape(index, (count,)), x.shape[d])
    value = B.cast(value, x.dtype) if isinstance(value, Value) else B.full((), value, x.dtype)
    return B.reshape(B.put(x, value, index, dim=d), input.shape)


_INDEX_MODES = {"prod": "prod", "mean": "mean", "amax": "amax", "amin": "amin"}


@op(method=True, inplace=True, out=True)
def index_reduce(input, dim: int, index, source, reduce: str, *, include_self: bool = True):
    """Slices of `source` combined into those of `dim` that `index` names, by "prod", "mean", "amax" or "amin"."""
    if reduce not in _INDEX_MODES:
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    x, d, index, source = slices("index_reduce", input, dim, index, source)
    shape = tuple(n if e == d else 1 for e, n in enumerate(source.shape))
    spread = B.expand(B.reshape(index, shape), source.shape)
    return B.reshape(reduced_into("index_reduce", x, d, spread, source, reduce, include_self), input.shape)


# -- flat places --------------------------------------------------------------------------------
@op(method=True, public=True)
def put(input, index, source, accumulate: bool = False):
    """A copy of the input whose elements at `index`, counted in the flattened tensor, are set or added to."""
    return put_flat(input, index, source, accumulate)


@op(public=False, inplace=True)
def put_places(input, index, source, accumulate: bool):
    """`put` in place."""
    return put_flat(input, index, source, accumulate)


def put_flat(input, index, source, accumulate: bool):
    if index.dtype is not dtypes.int64:
        raise RuntimeError(f"put_(): Expected a long tensor for index, but got {scalar_type(index.dtype)}")
    if source.dtype is not input.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{scalar_type(input.dtype)} and source.dtype = {scalar_type(source.dtype)}"
        )
    if product(index.shape) != product(source.shape):
        raise IndexError("put_(): Expected source and index to have the same number of elements")
    total = product(input.shape)
    if is_zero(total) and not is_zero(product(index.shape)):
        raise IndexError("put_(): tried to put elements into an empty tensor")
    if is_zero(total):
        return input
    places, left = [], wrapped(B.reshape(index, (product(index.shape),)), total)
    for size in reversed(input.shape[1:]):
        places.insert(0, B.remainder(left, size))
        left = B.floor_divide(left, size)
    values = B.reshape(source, left.shape)
    mode = "add" if accumulate else "set"
    return B.reshape(B.put(at_least_1d(input), values, left, *places, dim=0, mode=mode), input.shape)


@composite(method=True)
def put_(input, index, source, accumulate=False):
    """Set, or add to, the elements at `index`, counted in the flattened tensor."""
    return put_places.in_place(input, index, source, accumulate)
