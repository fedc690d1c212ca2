"""Tensors from numbers, nested sequences, arrays, buffers and other tensors."""

from __future__ import annotations

import warnings

from ..core import engine
from ..core.engine import Tensor
from ..ir import dtypes
from .creation import check_options
from .declare import composite
from .dtypes import dtype_argument

_COPY_WARNING = (
    "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
    "sourceTensor.detach().clone().requires_grad_(True), rather than {}(sourceTensor)."
)


@composite
def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False) -> Tensor:
    """A tensor with a copy of `data`: numbers, nested sequences, arrays or tensors.

    >>> rushlight.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    """
    if isinstance(data, Tensor):
        warnings.warn(_COPY_WARNING.format("tensor"), stacklevel=2)
    made = as_array(data, dtype, copy=True)
    engine.require_device(device)
    return made.requires_grad_() if requires_grad else made


_PLAIN = {list, float, int, tuple, bool}


def as_array(data, dtype, copy: bool) -> Tensor:
    """`data` as a tensor outside of any graph; arrays and tensors share memory unless `copy`."""
    if dtype is not None and type(dtype) is not dtypes.DType:
        dtype = dtype_argument(dtype)
    if type(data) in _PLAIN:
        return from_numbers(data, dtype)
    if isinstance(data, Tensor):
        source = data.detach() if type(data) is Tensor else Tensor._make_subclass(Tensor, data)
    elif hasattr(data, "__array_interface__") or hasattr(data, "__array__"):
        from ..interop.arrays import from_array

        source = from_array(data)
    else:
        return from_numbers(data, dtype)
    result = source if dtype is None else source.to(dtype)
    return result.clone() if copy and result._storage is source._storage else result


# -- nested sequences -------------------------------------------------------------------------------
def from_numbers(data, dtype) -> Tensor:
    """Python numbers or nested sequences; ValueError, TypeError or RuntimeError for what makes no tensor."""
    leaf = first_leaf(data)
    if isinstance(leaf, (str, bytes)):
        if leaf is not data:
            raise ValueError(f"too many dimensions '{type(leaf).__name__}'")
        raise TypeError(f"new(): invalid data type '{type(leaf).__name__}'")
    if not is_number(leaf):
        raise RuntimeError(f"Could not infer dtype of {type(leaf).__name__}")
    if dtype is None and type(leaf) not in (int, float, bool, complex):
        dtype = leaf_dtype(data)
    try:
        return engine.from_nested(data, dtype, dtypes.default, dtypes)
    except OverflowError:
        if dtype is None or dtype is dtypes.int64:
            raise ValueError("Overflow when unpacking long long") from None
        raise RuntimeError(f"value cannot be converted to type {dtype.name} without overflow") from None


def first_leaf(data):
    """The first thing in nested sequences that is none itself."""
    depth = 0
    while isinstance(data, (list, tuple, range, bytearray)) or (is_sequence(data) and depth < 64):
        if not len(data) or depth == 64:
            return 0.0
        data, depth = data[0], depth + 1
    return data


def is_sequence(data) -> bool:
    if isinstance(data, (str, bytes, dict, set, int, float, complex)):
        return False
    return (
        not isinstance(data, Tensor)
        and hasattr(data, "__len__")
        and hasattr(data, "__getitem__")
        and getattr(data, "ndim", 1) > 0
    )


def is_number(leaf) -> bool:
    return any(hasattr(leaf, name) for name in ("__index__", "__float__", "__complex__"))


def leaf_dtype(data):
    """The common dtype of leaves among which are tensors or array scalars."""
    if isinstance(data, Tensor):
        return data.dtype
    if isinstance(data, (float, bool, complex)) or type(data) is int:
        kind = {float: dtypes.default, bool: dtypes.bool_, complex: dtypes.default_complex(), int: dtypes.int64}
        return next(found for python_type, found in kind.items() if isinstance(data, python_type))
    if hasattr(data, "dtype"):
        return dtypes.dtype_named(data.dtype.name)
    if not is_sequence(data):
        return dtypes.int64 if hasattr(data, "__index__") else dtypes.default
    found = None
    for part in data:
        kind = leaf_dtype(part)
        found = kind if found is None else dtypes.promote_types(found, kind)
    return found or dtypes.default


def of_single_tensors(data, dtype) -> Tensor:
    """Sequences that hold tensors with dims: each must have one element."""
    return engine.from_nested(plain(data), dtype, dtypes.default, dtypes)


def plain(data):
    if isinstance(data, Tensor):
        if data.numel() != 1:
            raise TypeError("only tensors of a single element can be converted to a number")
        return data.item()
    return [plain(part) for part in data] if isinstance(data, (list, tuple)) else data


engine.bind("stack_nested", of_single_tensors)


# -- sharing where possible -------------------------------------------------------------------------
@composite
def as_tensor(data, dtype=None, device=None) -> Tensor:
    """`data` as a tensor, sharing memory with arrays and tensors (and their graph) where possible."""
    check_options(None, device)
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    return as_array(data, dtype, copy=False)


@composite
def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False) -> Tensor:
    """Anything as a tensor: tensors (with their graph), arrays, DLPack capsules, buffers, numbers and sequences.

    `copy` True always copies, False never does (ValueError where it must), None copies only where it must.
    """
    check_options(None, device)
    shared = shared_with(obj, dtype)
    if shared is None:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        made = as_array(obj, dtype, copy=True)
    else:
        made = shared if dtype is None else shared.to(dtype_argument(dtype))
        if made is not shared and copy is False:
            raise ValueError(f"can't alias tensor with dtype {shared.dtype} into dtype {dtype}.")
        made = made.clone() if copy and made is shared else made
    return made.detach().requires_grad_() if requires_grad and not made.requires_grad else made


def shared_with(obj, dtype):
    """A tensor over the memory of `obj`, or None if it has none to share."""
    if isinstance(obj, Tensor):
        return obj
    if (hasattr(obj, "__array_interface__") and getattr(obj, "ndim", 1)) or hasattr(obj, "__dlpack__"):
        return as_array(obj, None, copy=False)
    if isinstance(obj, (bytes, bytearray, memoryview)) or hasattr(obj, "__buffer__"):
        from ..interop.buffers import frombuffer

        return frombuffer(obj, dtype=dtypes.default if dtype is None else dtype_argument(dtype))
    return None


@composite(method=True, public=False)
def new_tensor(input, data, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """`tensor(data)` with the dtype of this tensor unless another is given."""
    if isinstance(data, Tensor):
        warnings.warn(_COPY_WARNING.format("tensor.new_tensor"), stacklevel=2)
    check_options(layout, device)
    made = as_array(data, dtype or input.dtype, copy=True)
    return made.requires_grad_() if requires_grad else made
