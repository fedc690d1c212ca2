"""Reading and writing by index: `x[...]`, gather, scatter, take, put, masks."""

from __future__ import annotations

from ..core import engine
from ..core.engine import Tensor
from ..ir import build as B
from ..ir import dtypes
from ..ir.graph import Value
from ..ir.sizes import hint, product
from .copying import copy, fill
from .declare import Number, add_method, composite, op
from .index_parsing import parse


# -- where masks hold ---------------------------------------------------------------------------
def counted(mask) -> tuple:
    """(mask row-major, starts of its blocks' results, how many elements are not zero); see compiler.index_compact."""
    from ..compiler import index_compact as compact

    if isinstance(mask, Value):
        raise NotImplementedError("the number of true elements of a mask is data: it is not known while tracing")
    mask = mask.detach().contiguous()
    blocks = compact.block_count(mask.numel())
    starts = engine.empty_tensor(engine.layout_of((blocks + 1,), None, dtypes.int64))
    if not blocks:
        return mask, starts, 0
    launch(compact.count_kernel(mask.dtype), [mask, starts], [mask.numel()], blocks)
    launch(compact.starts_kernel(), [starts], [blocks], 1)
    return mask, starts, starts[blocks].item()


def launch(kernel, tensors: list, params: list, work: int, grain: int = 1) -> None:
    """Run a kernel on the memory of tensors."""
    engine.launch_kernel(kernel.address, [t.data_ptr() for t in tensors], params, work, grain)


@composite(method=True)
def nonzero(input, *, out=None, as_tuple=False):
    """The positions of all elements that are not zero: int64[count, dims], or with `as_tuple` one tensor per dim.

    >>> rushlight.tensor([0, 3, 0, 5]).nonzero()
    tensor([[1],
            [3]])
    """
    if as_tuple:
        return tuple(nonzero_columns(input.reshape((1,)) if input.ndim == 0 else input))
    found = positions(input)
    if out is None:
        return found
    from .writing import store

    return store(out, found, "nonzero")


def positions(mask) -> Tensor:
    """int64[count, dims], stored by columns."""
    from ..compiler.index_compact import block_count, positions_kernel

    mask, starts, total = counted(mask)
    shape = mask.shape
    result = engine.empty_tensor(engine.layout_of((total, len(shape)), (1, max(total, 1)), dtypes.int64))
    if result.numel():
        kernel = positions_kernel(mask.dtype, len(shape))
        launch(kernel, [mask, starts, result], [mask.numel(), 1, total, *shape], block_count(mask.numel()))
    return result


def nonzero_columns(mask) -> list:
    """One int64[count] per dim of the mask."""
    found = positions(mask)
    return [found[:, d] for d in range(mask.ndim)]


@composite
def argwhere(input):
    """`nonzero`: the positions of all elements that are not zero."""
    return positions(input)


add_method("argwhere", argwhere)


# -- x[...] -------------------------------------------------------------------------------------
def wrapped(index, size, name: str = "index"):
    """Indices counted from the end if negative, as int64."""
    index = B.cast(index, dtypes.int64)
    return B.where(B.lt(index, 0), index + size, index)


def together(x, indices, dim: int) -> list:
    """Index tensors of one shape for the dims from `dim` on, wrapped."""
    try:
        shape = B.broadcast_shapes(*(i.shape for i in indices))
    except RuntimeError:
        shapes = ", ".join(str([hint(n) for n in i.shape]) for i in indices)
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
        ) from None
    return [B.broadcast_to(wrapped(i, x.shape[dim + d]), shape) for d, i in enumerate(indices)]


@op(public=False)
def take_at(input, indices: list, dim: int):
    """The elements at `indices` of the dims from `dim` on, which the indices' shape replaces."""
    return B.take(input, *together(input, indices, dim), dim=dim)


@op(public=False, inplace=True, narrows=True)
def put_at(input, indices: list, values, dim: int, accumulate: bool = False):
    """`values` set, or added, at `indices` of the dims from `dim` on; a negative index counts from the end."""
    indices = together(input, indices, dim)
    shape = (*input.shape[:dim], *indices[0].shape, *input.shape[dim + len(indices) :])
    values = fitted_values(values, shape, input.dtype)
    if input.dtype is dtypes.bool_ and accumulate:
        counts = B.put(B.cast(input, dtypes.int32), B.cast(values, dtypes.int32), *indices, dim=dim, mode="add")
        return B.ne(counts, 0)
    return B.put(input, values, *indices, dim=dim, mode="add" if accumulate else "set")


def fitted_values(values, shape, dtype):
    """Values of exactly the shape that is written; leading dims of size 1 may be too many."""
    if not isinstance(values, Value):
        return B.full(shape, values, dtype)
    while values.ndim > len(shape) and type(values.shape[0]) is int and values.shape[0] == 1:
        values = B.reshape(values, values.shape[1:])
    try:
        return B.broadcast_to(B.cast(values, dtype), shape)
    except RuntimeError:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {[hint(n) for n in values.shape]} cannot be broadcast to indexing "
            f"result of shape {[hint(n) for n in shape]}"
        ) from None


def adjacent(x, indices: list) -> tuple:
    """(x, index tensors, first indexed dim): indices that are apart come first, and the result's dims with them."""
    dims = [d for d, index in enumerate(indices) if index is not None]
    kept = [indices[d] for d in dims]
    if dims[-1] - dims[0] + 1 == len(dims):
        return x, kept, dims[0]
    return x.permute(tuple(dims + [d for d in range(x.ndim) if d not in dims])), kept, 0


def getitem(x, index):
    """`x[index]` where the index holds tensors, lists, arrays, bools or NumPy integers."""
    if isinstance(index, Tensor) and index.dtype is dtypes.int64 and index.ndim and x.ndim:
        return take_at(x, [index], 0)
    basic, indices = parse(x, index)
    if basic is not None:
        x = x[basic]
    if not indices:
        return x if basic is not None else x[...]
    x, indices, dim = adjacent(x, indices)
    return take_at(x, indices, dim)


def setitem(x, index, value):
    """`x[index] = value`: written in place through a view, or by `index_put_`."""
    indices = ()
    if not is_basic(index):
        if isinstance(index, Tensor) and is_fill_mask(x, index, value):
            fill_masked.in_place(x, index, value)
            return
        basic, indices = parse(x, index)
        view = x if basic is None else x[basic]
    else:
        view = x[index]
    if indices:
        view, indices, dim = adjacent(view, indices)
        put_at.in_place(view, indices, assigned(x, value, same=True), dim)
    elif isinstance(value, Tensor):
        copy.in_place(view, without_leading_ones(value, view.ndim))
    else:
        fill.in_place(view, assigned(x, value))


_BASIC = frozenset((int, slice, type(None), type(Ellipsis)))


def is_basic(index) -> bool:
    """Whether an index makes a view."""
    if type(index) is tuple:
        return _BASIC.issuperset(map(type, index))
    return type(index) in _BASIC


def is_fill_mask(x, index, value) -> bool:
    """Whether a mask of the whole tensor is set to one number."""
    return index.dtype is dtypes.bool_ and index.shape == x.shape and isinstance(value, (bool, int, float, complex))


def assigned(x, value, same: bool = False):
    """A value that may be assigned: a tensor or a number; TypeError for others."""
    if isinstance(value, Tensor):
        if same and value.dtype is not x.dtype:
            raise RuntimeError(
                "Index put requires the source and destination dtypes match, got "
                f"{x.dtype.name} for the destination and {value.dtype.name} for the source."
            )
        return value
    if isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, complex):
        if not x.dtype.is_complex:
            raise RuntimeError(f"value cannot be converted to type {x.dtype.name} without overflow")
        return value
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        return value.item()
    raise TypeError(f"can't assign a {type(value).__name__} to a tensor of {x.dtype.name}")


def without_leading_ones(value, ndim: int):
    """The value without leading dims of size 1 beyond `ndim`."""
    extra = 0
    while value.ndim - extra > ndim and value.shape[extra] == 1:
        extra += 1
    return value.reshape(tuple(value.shape[extra:])) if extra else value


engine.bind("getitem", getitem)
engine.bind("setitem", setitem)


# -- along one dim ------------------------------------------------------------------------------
@op(method=True, out=True)
def gather(input, dim: int, index, *, sparse_grad: bool = False):
    """result[i][j][k] = input[i][index[i][j][k]][k], for dim 1: one element of `dim` for each place of `index`."""
    check_index("gather", index)
    d = B.wrap_dim(dim, input.ndim)
    x, index = at_least_1d(input), at_least_1d(index)
    check_along("gather", x, index, d)
    return like_rank(B.gather(x, d, index), input, index)


@op(method=True, out=True)
def index_select(input, dim: int, index):
    """The slices of `dim` named by the 1-d tensor `index`."""
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError(f"index_select(): Expected dtype int32 or int64 for index, but got {index.dtype.name}")
    d = B.wrap_dim(dim, input.ndim)
    taken = B.take(at_least_1d(input), B.reshape(index, (product(index.shape),)), dim=d)
    if input.ndim == 0:
        if taken.shape[0] != 1:
            raise IndexError("index_select(): Index to scalar can have only 1 value")
        return B.reshape(taken, ())
    return taken


def check_index(name: str, index) -> None:
    if index.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")


def at_least_1d(x):
    return B.reshape(x, (1,)) if x.ndim == 0 else x


def like_rank(result, *sources):
    """A scalar's result is a scalar again."""
    return B.reshape(result, ()) if sources[-1].ndim == 0 else result


def check_along(name: str, x, index, dim: int) -> None:
    """An index must have the rank of what it indexes, and fit it but for `dim`."""
    if x.ndim != index.ndim:
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    if any(d != dim and n > m for d, (n, m) in enumerate(zip(index.shape, x.shape))):
        raise RuntimeError(
            f"Size does not match at dimension {dim} expected index {[hint(n) for n in index.shape]} to be no larger "
            f"than self {[hint(n) for n in x.shape]} apart from dimension {dim}"
        )


# -- masks --------------------------------------------------------------------------------------
@op(method=True)
def masked_fill(input, mask, value: Number):
    """`value`, a number or a 0-dim tensor, where the bool mask holds; `input` and `mask` broadcast."""
    return filled_where(input, mask, value)


@op(inplace=True, narrows=True, public=False)
def fill_masked(input, mask, value: Number):
    """`masked_fill` in the input's shape."""
    return filled_where(input, mask, value)


def filled_where(input, mask, value):
    if mask.dtype is not dtypes.bool_:
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {mask.dtype.name}")
    if isinstance(value, Value):
        if value.ndim:
            raise RuntimeError(
                f"masked_fill only supports a 0-dimensional value tensor, but got tensor with {value.ndim} "
                "dimension(s)."
            )
        if value.dtype.is_complex and not input.dtype.is_complex:
            raise RuntimeError(f"value cannot be converted to type {input.dtype.name} without overflow")
        value = B.cast(value, input.dtype)
    return B.cast(B.where(mask, value, input), input.dtype)


@composite(method=True)
def masked_fill_(input, mask, value):
    """Write `value` where the mask, which broadcasts to the input's shape, holds."""
    return fill_masked.in_place(input, mask, value)


@composite(method=True)
def masked_select(input, mask, *, out=None):
    """The elements where the bool mask holds, in row-major order; `input` and `mask` broadcast."""
    if mask.dtype is not dtypes.bool_:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = B.broadcast_shapes(tuple(input.shape), tuple(mask.shape))
    input, mask = input.expand(shape), mask.expand(shape)
    if input.requires_grad:
        found = take_at(*adjacent(input, nonzero_columns(mask))) if shape else input[mask]
    else:
        found = selected(input, mask)
    if out is None:
        return found
    from .writing import store

    return store(out, found, "masked_select")


def selected(x, mask) -> Tensor:
    """The values where the mask, of the same shape, holds; outside of any graph."""
    from ..compiler.index_compact import block_count, values_kernel

    mask, starts, total = counted(mask)
    x = x.detach().contiguous()
    result = engine.empty_tensor(engine.layout_of((total,), None, x.dtype))
    if total:
        launch(values_kernel(x.element_size()), [mask, starts, x, result], [mask.numel()], block_count(mask.numel()))
    return result
