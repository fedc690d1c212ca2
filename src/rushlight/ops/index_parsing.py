"""What an index means: a basic part, which makes a view, and integer tensors that pick elements of that view."""

from __future__ import annotations

import warnings

from ..core import engine
from ..core.engine import Tensor
from ..ir import dtypes
from ..ir.graph import Value

FEW = 32  # a shorter list that holds sequences is an index of several dims
_INTEGERS = (dtypes.int64, dtypes.int32)
MASKS = (dtypes.bool_, dtypes.uint8)


def parse(x, index) -> tuple[tuple | None, list]:
    """(basic, indices): `x[basic]` (x itself, for None) is to be indexed by `indices`, a tensor or None for each dim.

    Masks have become the positions where they hold. `indices` is empty if `basic` says all.
    """
    items = [as_item(item) for item in items_of(index)]
    if all(isinstance(item, (Tensor, Value)) and item.dtype in _INTEGERS for item in items) and items:
        check_count(x, len(items))
        return None, items
    return split(x, items)


def plain(index, ndim: int):
    """(index tensors, first dim) for the commonest indices, whole slices and adjacent int64 tensors; else None."""
    tensors, first = [], 0
    for place, item in enumerate(index):
        if type(item) is slice:
            if item.start is not None or item.stop is not None or item.step is not None:
                return None
        elif isinstance(item, Tensor) and item.dtype is dtypes.int64 and item.ndim:
            if not tensors:
                first = place
            elif place != first + len(tensors):
                return None
            tensors.append(item)
        else:
            return None
    return (tensors, first) if tensors and len(index) <= ndim else None


def items_of(index) -> tuple:
    """An index as a tuple of items; a short list that holds sequences, slices or tensors counts as a tuple."""
    if type(index) is tuple:
        return index
    if isinstance(index, tuple):
        return tuple(index)
    if isinstance(index, list) and len(index) < FEW and any(map(is_structure, index)):
        warnings.warn(
            "Using a non-tuple sequence for multidimensional indexing is deprecated; use x[tuple(seq)] instead of "
            "x[seq]",
            stacklevel=5,
        )
        return tuple(index)
    return (index,)


def is_structure(item) -> bool:
    return item is None or item is Ellipsis or isinstance(item, (list, tuple, slice, range, Tensor, Value))


def as_item(item):
    """An item as a bool, an int, a slice, None, `...`, or a tensor of integers or a mask."""
    if item is None or item is Ellipsis or isinstance(item, (int, slice)):
        return item
    if isinstance(item, (Tensor, Value)):
        return as_tensor_item(item)
    if isinstance(item, (list, tuple, range)) or hasattr(item, "__array__"):
        return as_tensor_item(tensor_of(item))
    if hasattr(item, "__index__"):
        return item.__index__()
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got "
        f"{type(item).__name__})"
    )


def as_tensor_item(item):
    if item.dtype in _INTEGERS:
        return item.item() if isinstance(item, Tensor) and item.ndim == 0 and not item._layout.batch else item
    if item.dtype not in MASKS:
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    if item.dtype is dtypes.uint8:
        if item.ndim == 0:
            return item.item()
        warnings.warn("indexing with dtype uint8 is now deprecated, please use a dtype bool instead.", stacklevel=6)
    return bool(item) if item.ndim == 0 and isinstance(item, Tensor) else item


def tensor_of(sequence) -> Tensor:
    """A list, range or array as an index tensor; an empty one holds integers."""
    from .from_data import as_array

    if type(sequence) is list and sequence and type(sequence[0]) is int:
        return engine.from_nested(sequence, dtypes.int64, dtypes.default, dtypes)
    found = as_array(list(sequence) if isinstance(sequence, range) else sequence, None, copy=False)
    if not isinstance(sequence, Tensor) and found.numel() == 0 and found.dtype.kind == "f":
        return found.to(dtypes.int64)
    return found.to(dtypes.int64) if found.dtype.kind in "iu" and hasattr(sequence, "__array__") else found


def width(item) -> int:
    """How many dims of the tensor an item uses up."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    return item.ndim if isinstance(item, (Tensor, Value)) and item.dtype in MASKS else 1


def check_count(x, used: int) -> None:
    if used > x.ndim:
        if x.ndim == 0 and used == 1:
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to "
                "convert a 0-dim tensor to a number"
            )
        raise IndexError(f"too many indices for tensor of dimension {x.ndim}")


def split(x, items: list) -> tuple[tuple, list]:
    """Separate the items that make a view from those that pick elements."""
    used = sum(map(width, items))
    check_count(x, used)
    basic, indices, dim = [], [], 0
    for place, item in enumerate(items):
        if item is Ellipsis:
            count = x.ndim - used
            used = x.ndim  # a second one means nothing
            basic += [slice(None)] * count
            indices += [None] * count
            dim += count
        elif isinstance(item, bool):
            basic.append(None)
            indices.append(truth_index(item))
        elif isinstance(item, (Tensor, Value)):
            parts = mask_positions(x, item, dim, place) if item.dtype in MASKS else [item]
            basic += [slice(None)] * len(parts)
            indices += parts
            dim += len(parts)
        else:
            basic.append(item)
            indices += [] if isinstance(item, int) else [None]
            dim += 0 if item is None else 1
    while indices and indices[-1] is None:
        indices.pop()
    whole = all(type(item) is slice and item == slice(None) for item in basic)
    return None if whole else tuple(basic), indices


def truth_index(value: bool) -> Tensor:
    """Index of a new dim of size 1: all of it or nothing."""
    from .creation import filled

    return filled((int(value),), 0, dtypes.int64)


def mask_positions(x, mask, dim: int, place: int) -> list:
    """The coordinates where a mask of the dims from `dim` on holds."""
    from .compaction import nonzero_columns

    for d, size in enumerate(mask.shape):
        if size != x.shape[dim + d]:
            raise IndexError(
                f"The shape of the mask {list(mask.shape)} at index {d} does not match the shape of the indexed tensor "
                f"{list(x.shape)} at index {dim + d}"
            )
    return nonzero_columns(mask)
