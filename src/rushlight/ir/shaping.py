"""Functions on Values that arrange elements: views, structure, indexing. Part of `ir.build`."""

from __future__ import annotations

import builtins

from ..core.engine import IndexOutOfRange
from . import dtypes
from .batching import move_dim
from .dtypes import int32, int64
from .graph import Value
from .primitive import PRIMITIVES, fail
from .promote import as_dtype, broadcast_shapes, broadcast_to, common_dtype, constant, number_dtype
from .sizes import hint, known_equal, product


def wrap_dim(dim: int, ndim: int) -> int:
    """A dimension counted from the end if negative; a 0-d tensor has dimensions 0 and -1."""
    rank = max(ndim, 1)
    if not -rank <= dim < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
    return dim % rank


def wrap_dims(dims, ndim: int) -> tuple[int, ...]:
    """Sorted different dimensions; all of them for None."""
    if dims is None:
        return tuple(range(ndim))
    dims = (dims,) if isinstance(dims, int) else dims
    wrapped = sorted(wrap_dim(d, ndim) for d in dims)
    if len(set(wrapped)) != len(wrapped):
        raise RuntimeError(f"dimensions must differ, got {tuple(dims)} for a tensor with {ndim} dimensions")
    return tuple(wrapped) if ndim else ()


# -- sources ----------------------------------------------------------------------------------
def full(shape, value, dtype=None) -> Value:
    """`shape` filled with a Python number or a 0-d Value; its own type if none is given."""
    if type(value) is Value:
        return broadcast_to(value if dtype is None else as_dtype(value, dtype), tuple(shape))
    if dtype is None:
        dtype = number_dtype(value)
        dtype = {"f": dtypes.default, "c": dtypes.default_complex()}.get(dtype.kind, dtype)
    return constant(value, shape, dtype)


def zeros(shape, dtype=None) -> Value:
    return constant(0, shape, dtype or dtypes.default)


def ones(shape, dtype=None) -> Value:
    return constant(1, shape, dtype or dtypes.default)


def full_like(x: Value, value, dtype=None) -> Value:
    return full(x.shape, value, dtype or x.dtype)


def zeros_like(x: Value, dtype=None) -> Value:
    return constant(0, x.shape, dtype or x.dtype)


def ones_like(x: Value, dtype=None) -> Value:
    return constant(1, x.shape, dtype or x.dtype)


def iota(shape, dim: int = 0, dtype=int64) -> Value:
    """`shape` filled with the index along `dim`."""
    return PRIMITIVES["iota"](shape=tuple(shape), dim=wrap_dim(dim, len(shape)), dtype=dtype)


def places(shape, *dims: int) -> list[Value]:
    """`iota` along each of `dims` for comparisons: int32 where that holds them, whose vectors hold twice as many."""
    dtype = int32 if all(shape[d] < 1 << 30 for d in dims) else int64
    return [iota(shape, d, dtype) for d in dims]


# -- views ------------------------------------------------------------------------------------
def reshape(x: Value, shape) -> Value:
    """Another shape for the same elements; one size may be -1 and is inferred."""
    shape = [shape] if isinstance(shape, int) else list(shape)
    unknown = [d for d, size in enumerate(shape) if type(size) is int and size == -1]
    if unknown:
        if len(unknown) > 1:
            fail("reshape", "only one dimension can be inferred")
        known = product(size for d, size in enumerate(shape) if d != unknown[0])
        if known == 0:
            fail("reshape", f"cannot infer a size of {tuple(shape)} for a tensor without elements")
        total = product(x.shape)
        if total % known != 0:
            fail("reshape", f"shape {tuple(shape)} is invalid for input {x}")
        inferred = total // known
        shape[unknown[0]] = 1 if hint(inferred) == 1 and inferred == 1 else inferred
    if len(shape) == x.ndim and builtins.all(a is b or a == b for a, b in zip(shape, x.shape)):
        return x
    return PRIMITIVES["reshape"](x, shape=tuple(shape))


def permute(x: Value, dims) -> Value:
    """Dimension d of the result is dimension dims[d] of x."""
    if len(tuple(dims)) != x.ndim:
        raise RuntimeError(
            f"permute(sparse_coo): number of dimensions in the tensor input does not match the length of the "
            f"desired ordering of "
            f"dimensions i.e. input.dim() = {x.ndim} is not equal to len(dims) = {len(tuple(dims))}"
        )
    dims = tuple(wrap_dim(d, x.ndim) for d in dims)
    return x if dims == tuple(range(x.ndim)) else PRIMITIVES["permute"](x, dims=dims)


def transpose(x: Value, dim0: int, dim1: int) -> Value:
    """Two dimensions exchanged."""
    order = list(range(x.ndim))
    dim0, dim1 = wrap_dim(dim0, x.ndim), wrap_dim(dim1, x.ndim)
    if not order:
        return x
    order[dim0], order[dim1] = order[dim1], order[dim0]
    return permute(x, order)


def expand(x: Value, shape) -> Value:
    """Sizes of 1 repeated and dimensions added at the left; -1 keeps a size."""
    new = len(shape) - x.ndim
    if new < 0:
        fail("expand", f"the number of sizes provided {tuple(shape)} must be at least the number of dimensions of {x}")
    wanted = []
    for d, size in enumerate(shape):
        if type(size) is int and size == -1:
            if d < new:
                fail("expand", f"-1 is not allowed in a leading, new dimension of {tuple(shape)}")
            size = x.shape[d - new]
        wanted.append(size)
    return broadcast_to(x, tuple(wanted))


def unsqueeze(x: Value, dim: int) -> Value:
    """A new dimension of size 1 at `dim`."""
    dim = wrap_dim(dim, x.ndim + 1)
    return PRIMITIVES["reshape"](x, shape=(*x.shape[:dim], 1, *x.shape[dim:]))


def squeeze(x: Value, dims=None) -> Value:
    """Without those of `dims` (all, for None) whose size is 1."""
    dims = wrap_dims(dims, x.ndim)
    return reshape(x, tuple(s for d, s in enumerate(x.shape) if d not in dims or s != 1))


def flatten(x: Value, start: int = 0, end: int = -1) -> Value:
    """Dimensions start to end (inclusive) as one."""
    start, end = wrap_dim(start, x.ndim), wrap_dim(end, x.ndim)
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if x.ndim == 0:
        return reshape(x, (1,))
    return reshape(x, (*x.shape[:start], product(x.shape[start : end + 1]), *x.shape[end + 1 :]))


def slice(x: Value, starts, sizes, steps=None) -> Value:
    """`sizes` elements from `starts`, `steps` apart, in every dimension."""
    starts, sizes = tuple(starts), tuple(sizes)
    steps = (1,) * x.ndim if steps is None else tuple(steps)
    whole = builtins.all(type(a) is int and a == 0 for a in starts) and builtins.all(map(known_equal, sizes, x.shape))
    if whole and builtins.all(type(a) is int and a == 1 for a in steps):
        return x
    return PRIMITIVES["slice"](x, starts=starts, sizes=sizes, steps=steps)


def narrow(x: Value, dim: int, start, size, step=1) -> Value:
    """`size` elements of one dimension from `start`."""
    dim = wrap_dim(dim, x.ndim)
    starts, sizes, steps = [0] * x.ndim, list(x.shape), [1] * x.ndim
    starts[dim], sizes[dim], steps[dim] = start, size, step
    return slice(x, starts, sizes, steps)


def select(x: Value, dim: int, index) -> Value:
    """One element of a dimension, which the result loses."""
    dim = wrap_dim(dim, x.ndim)
    one = narrow(x, dim, index, 1)
    return PRIMITIVES["reshape"](one, shape=(*x.shape[:dim], *x.shape[dim + 1 :]))


def diagonal(x: Value, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Value:
    offset = builtins.max(
        -(1 << 40), builtins.min(offset, 1 << 40)
    )  # beyond any size: what it is multiplied by stays in range
    return PRIMITIVES["diagonal"](x, offset=offset, dim1=wrap_dim(dim1, x.ndim), dim2=wrap_dim(dim2, x.ndim))


def unfold(x: Value, dim: int, size, step) -> Value:
    """Windows along `dim`, as a new last dimension."""
    return PRIMITIVES["unfold"](x, dim=wrap_dim(dim, x.ndim), size=size, step=step)


def view_as_real(x: Value) -> Value:
    return PRIMITIVES["view_as_real"](x)


def view_as_complex(x: Value) -> Value:
    return PRIMITIVES["view_as_complex"](x)


def adjoint(x: Value) -> Value:
    """The last two dimensions exchanged, and conjugated."""
    x = transpose(x, -1, -2)
    return PRIMITIVES["conj"](x) if x.dtype.is_complex else x


# -- structure --------------------------------------------------------------------------------
def pad(x: Value, low, high, value=0) -> Value:
    """Elements of `value` before and after each dimension; negative counts cut instead."""
    low, high = tuple(low), tuple(high)
    if builtins.any(n < 0 for n in (*low, *high)):
        starts = [0 if n >= 0 else -n for n in low]
        sizes = [s - a - (0 if n >= 0 else -n) for s, a, n in zip(x.shape, starts, high)]
        x = slice(x, starts, sizes)
        low, high = (tuple(n if n >= 0 else 0 for n in side) for side in (low, high))
    if builtins.all(type(n) is int and n == 0 for n in (*low, *high)):
        return x
    value = constant(value, (), x.dtype).node.attrs["value"]
    return PRIMITIVES["pad"](x, low=low, high=high, value=value)


def concat(inputs, dim: int = 0) -> Value:
    """Tensors one after the other along `dim`, in their common type."""
    inputs = list(inputs)
    dtype = common_dtype(*inputs)
    inputs = [as_dtype(x, dtype) for x in inputs]
    return inputs[0] if len(inputs) == 1 else PRIMITIVES["concat"](*inputs, dim=wrap_dim(dim, inputs[0].ndim))


def stack(inputs, dim: int = 0) -> Value:
    """Tensors of one shape along a new dimension."""
    inputs = list(inputs)
    dim = wrap_dim(dim, inputs[0].ndim + 1)
    return concat([unsqueeze(x, dim) for x in inputs], dim)


def flip(x: Value, dims) -> Value:
    dims = wrap_dims(dims, x.ndim)
    return PRIMITIVES["flip"](x, dims=dims) if dims else x


def shift(x: Value, dim: int, count: int, fill) -> Value:
    """Elements moved `count` places up along `dim`; `fill` comes in, what leaves is lost."""
    size = x.shape[dim]
    if count >= size:
        return full_like(x, fill)
    low, high = [0] * x.ndim, [0] * x.ndim
    low[dim] = count
    return pad(narrow(x, dim, 0, size - count), low, high, fill)


def slice_adjoint(g: Value, shape, starts, steps) -> Value:
    """Zeros of `shape` with g at the places that a slice took."""
    for dim, (step, size) in enumerate(zip(steps, g.shape)):
        if not (type(step) is int and step == 1) and size > 1:
            # step - 1 zeros after every element but the last
            spread = unsqueeze(g, dim + 1)
            spread = pad(spread, [0] * spread.ndim, [step - 1 if d == dim + 1 else 0 for d in range(spread.ndim)])
            spread = reshape(spread, (*g.shape[:dim], size * step, *g.shape[dim + 1 :]))
            g = narrow(spread, dim, 0, (size - 1) * step + 1)
    return pad(g, starts, [total - start - size for total, start, size in zip(shape, starts, g.shape)])


# -- indexing ---------------------------------------------------------------------------------
def gather(x: Value, dim: int, index: Value) -> Value:
    dim = wrap_dim(dim, x.ndim)
    return PRIMITIVES["gather"](x, as_dtype(index, int64), dim=dim)


def scatter(x: Value, dim: int, index: Value, src, mode: str = "set") -> Value:
    """A copy of x with src (a Value or a number; its leading part, if larger than index) combined into it."""
    index = as_dtype(index, int64)
    check_room("scatter", x, (dim,), index)
    if type(src) is not Value:
        src = constant(src, index.shape, x.dtype)
    if src.ndim == index.ndim:
        src = slice(src, [0] * src.ndim, [s if s is i or s == i else i for s, i in zip(src.shape, index.shape)])
    return PRIMITIVES["scatter"](x, index, src, dim=wrap_dim(dim, x.ndim), mode=mode)


def take(x: Value, *indices: Value, dim: int = 0) -> Value:
    """x at indices (broadcast together) in dimensions dim, dim + 1, ..."""
    return PRIMITIVES["take"](x, *_together_indices(indices), dim=wrap_dim(dim, x.ndim))


def put(x: Value, values: Value, *indices: Value, dim: int = 0, mode: str = "set") -> Value:
    """A copy of x with values, broadcast to what `take` yields, set or added there."""
    indices = _together_indices(indices)
    check_room("put", x, range(dim, dim + len(indices)), indices[0])
    shape = (*x.shape[:dim], *indices[0].shape, *x.shape[dim + len(indices) :])
    values = broadcast_to(as_dtype(values, x.dtype), shape)
    return PRIMITIVES["put"](x, values, *indices, dim=dim, mode=mode)


def check_room(name: str, x: Value, dims, index: Value) -> None:
    """No index names a place in a dim of size 0, where no kernel runs that would say so."""
    for dim in dims:
        if type(x.shape[dim]) is int and x.shape[dim] == 0 and product(index.shape) != 0:
            fail(name, f"an index is out of bounds for dimension {dim} with size 0", IndexOutOfRange)


def _together_indices(indices) -> list[Value]:
    shape = broadcast_shapes(*(i.shape for i in indices))
    return [broadcast_to(as_dtype(i, int64), shape) for i in indices]


__all__ = [name for name, item in globals().items() if callable(item) and item.__module__ == __name__]
__all__ += ["broadcast_shapes", "broadcast_to", "move_dim"]
