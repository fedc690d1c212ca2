"""Reading and writing by index: `x[...]`, `x[...] = y` and `index_put`."""

from __future__ import annotations

from ..core import engine
from ..core.engine import Tensor
from ..ir import build as B
from ..ir import dtypes
from ..ir.graph import Value
from ..ir.sizes import hint
from .checks import fitting, scalar_type
from .compaction import compacted, nonzero_columns
from .copying import converted, copy, fill
from .declare import Number, composite, op
from .index_parsing import MASKS, check_count, mask_positions, parse, plain


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


def selected(x, mask) -> Tensor:
    """The values where a mask of the same shape holds."""
    if x.requires_grad or (isinstance(x, Tensor) and x._layout.batch):
        return take_at(x.reshape((-1,)), nonzero_columns(mask.reshape((-1,))), 0)
    return compacted(x, mask)


def getitem(x, index):
    """`x[index]` where the index holds tensors, lists, arrays, bools or NumPy integers."""
    if isinstance(index, Tensor) and index.ndim and isinstance(x, Tensor):
        if index.dtype is dtypes.int64 and x.ndim:
            return take_at(x, [index], 0)
        if index.dtype is dtypes.bool_ and index.shape == x.shape:
            return selected(x, index)
    elif type(index) is tuple:
        found = plain(index, x.ndim)
        if found is not None:
            return take_at(x, *found)
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
    if index is False:
        return
    if not is_basic(index):
        value = filling(x, index, value)
        if isinstance(index, Tensor) and is_fill_mask(x, index, value):
            fill_masked.in_place(x, index, fitting(value, x.dtype))
            return
        found = plain(index if type(index) is tuple else (index,), x.ndim)
        if found is not None:
            put_at.in_place(x, found[0], assigned(x, value, same=True), found[1])
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
    """Whether a mask of the whole tensor is set to one number (under `vmap`, one for each sample)."""
    if index.dtype is not dtypes.bool_ or index.shape != x.shape:
        return False
    if isinstance(value, Tensor):
        return value.ndim == 0 and isinstance(index, Tensor) and bool(index._layout.batch)
    return isinstance(value, (bool, int, float, complex))


def filling(x, index, value):
    """The one element that masks are set to: it takes the dtype of what it fills. Other values as they are."""
    masks = index if isinstance(index, (tuple, list)) else (index,)
    if not isinstance(value, Tensor) or value.dtype is x.dtype or value.numel() != 1:
        return value
    if any(
        mask is not True and not isinstance(mask, slice) and getattr(mask, "dtype", None) is not dtypes.bool_
        for mask in masks
    ):
        return value
    return value if value.dtype.is_complex and not x.dtype.is_complex else converted(value, x.dtype)


def assigned(x, value, same: bool = False):
    """A value that may be assigned: a tensor or a number; TypeError for others."""
    if isinstance(value, Tensor):
        if same:
            check_match(x, value)
        return value
    if isinstance(value, (bool, int, float, complex)):
        return fitting(value, x.dtype)
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        return value.item()
    raise TypeError(f"can't assign a {type(value).__name__} to a tensor of {x.dtype.name}")


def without_leading_ones(value, ndim: int):
    """The value without leading dims of size 1 beyond `ndim`."""
    extra = 0
    while value.ndim - extra > ndim and value.shape[extra] == 1:
        extra += 1
    return value.reshape(tuple(value.shape[extra:])) if extra else value


def value_getitem(x: Value, index):
    """Indexing while tracing: tensors and lists among the items pick elements, all else makes a view."""
    items = index if type(index) is tuple else (index,)
    if not any(map(picks, items)):
        return basic_getitem(x, index)
    basic, indices = parse(x, index)
    x = x if basic is None else basic_getitem(x, basic)
    if not indices:
        return x
    x, indices, dim = adjacent(x, indices)
    return take_at(x, [literal(i) if isinstance(i, Tensor) else i for i in indices], dim)


def literal(index) -> Value:
    """A small index tensor as a part of the graph under construction."""
    numbers = [B.full((1,), number, dtypes.int64) for number in index.reshape((-1,)).tolist()]
    flat = B.concat(numbers, 0) if numbers else B.zeros((0,), dtypes.int64)
    return B.reshape(flat, tuple(index.shape))


def picks(item) -> bool:
    return isinstance(item, (Tensor, Value, list, bool, range)) or hasattr(item, "__array__")


basic_getitem = Value.__getitem__
Value.__getitem__ = value_getitem
engine.bind("getitem", getitem)
engine.bind("setitem", setitem)


@op(inplace=True, narrows=True, public=False)
def fill_masked(input, mask, value: Number):
    """`value` where the mask holds, in the input's shape."""
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


# -- index_put ----------------------------------------------------------------------------------
def index_columns(x, indices) -> list:
    """The index tensors of `index_put`, masks as positions."""
    if not isinstance(indices, (tuple, list)):
        raise TypeError(f"index_put(): argument 'indices' must be tuple of Tensors, not {type(indices).__name__}")
    for place, index in enumerate(indices):
        if not isinstance(index, (Tensor, Value)):
            raise TypeError(f"expected Tensor as element {place} in argument 0, but got {type(index).__name__}")
    found: list = []
    for place, index in enumerate(indices):
        found += mask_positions(x, index, len(found), place) if index.dtype in MASKS else [index]
    check_count(x, len(found))
    return found


@composite(method=True)
def index_put(input, indices, values, accumulate=False):
    """A copy of the input with `values` set, or added, at the places that a tuple of index tensors names."""
    check_match(input, values)
    return put_at(input, index_columns(input, indices), values, 0, accumulate)


@composite(method=True)
def index_put_(input, indices, values, accumulate=False):
    """In-place form of `index_put`."""
    values = values if accumulate else filling(input, indices, values)
    check_match(input, values)
    return put_at.in_place(input, index_columns(input, indices), values, 0, accumulate)


def check_match(x, values) -> None:
    if values.dtype is not x.dtype:
        raise RuntimeError(
            f"Index put requires the source and destination dtypes match, got {scalar_type(x.dtype)} for the "
            f"destination and "
            f"{scalar_type(values.dtype)} for the source."
        )


def add_at(flat, index, values) -> None:
    """Add values to places of a 1-d tensor, in place; places may repeat."""
    put_at.in_place(flat, [index], values, 0, True)


def is_zero(size) -> bool:
    return type(size) is int and size == 0


# -- membership ---------------------------------------------------------------------------------
def contains(x, element) -> bool:
    """`element in x`: whether any element equals it."""
    if not isinstance(element, (Tensor, int, float, complex)):
        raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")
    return bool((x == element).any())


engine.bind("contains", contains)
