"""Element types as arguments: Python's types, defaults, limits, promotion queries."""

from __future__ import annotations

import warnings

from ..core import engine
from ..core.engine import Tensor
from ..ir import dtypes
from ..ir.dtypes import DType, finfo, iinfo, promote_types
from .declare import OPS, composite

engine.register_static_type(DType)


# -- dtypes as arguments ----------------------------------------------------------------------------
def of_python_type(kind: type) -> DType:
    """The dtype that `dtype=float` (int, bool, complex) means."""
    return {float: dtypes.float64, int: dtypes.int64, bool: dtypes.bool_, complex: dtypes.complex128}[kind]


def dtype_argument(dtype) -> DType:
    """What a `dtype=` argument means; TypeError for what is no dtype."""
    if isinstance(dtype, DType):
        return dtype
    if dtype in (float, int, bool, complex):
        return of_python_type(dtype)
    raise TypeError(f"argument 'dtype' must be {dtypes._MODULE}.dtype, not {type(dtype).__name__}")


# -- the default ------------------------------------------------------------------------------------
@composite
def get_default_dtype() -> DType:
    """The dtype of floating point tensors made from Python numbers."""
    return dtypes.default


@composite
def set_default_dtype(d) -> None:
    """Set the dtype of floating point tensors made from Python numbers; TypeError unless it is floating point."""
    if not isinstance(d, DType) or not d.is_floating_point or d.code < 0:
        raise TypeError(f"only floating-point types are supported as the default type, got {d}")
    if d is dtypes.default:
        return
    dtypes.default = d
    for op in OPS.values():  # plans and structures have the old default built in
        op.clear()
        op.structures.clear()


@composite
def set_default_tensor_type(t) -> None:
    """Set the default dtype by a type such as `FloatTensor`, or its name."""
    warnings.warn(
        "set_default_tensor_type() is deprecated as of PyTorch 2.1, please use set_default_dtype() and "
        "set_default_device() as alternatives.",
        stacklevel=2,
    )
    from .tensor_types import type_named

    found = type_named(t) if isinstance(t, str) else t
    if not hasattr(found, "dtype"):
        raise TypeError(f"invalid type object: expected a tensor type, got {t!r}")
    set_default_dtype(found.dtype)


@composite
def set_default_device(device) -> None:
    """Where tensors are made whose functions are given no `device`, in this thread; None is the CPU.

    Where the device is not there, making them raises an error.
    """
    engine.set_default_device(device)


@composite
def get_default_device():
    """Where tensors are made whose functions are given no `device`."""
    return engine.default_device()


# -- questions --------------------------------------------------------------------------------------
@composite
def is_tensor(obj) -> bool:
    """Whether the object is a tensor."""
    return isinstance(obj, Tensor)


@composite
def is_storage(obj) -> bool:
    """Whether the object is a storage."""
    from ..interop.storage import TypedStorage, UntypedStorage

    return isinstance(obj, (TypedStorage, UntypedStorage))


@composite
def is_floating_point(input) -> bool:
    """Whether the dtype is a real floating point type."""
    return input.is_floating_point()


@composite
def is_complex(input) -> bool:
    """Whether the dtype is complex."""
    return input.is_complex()


@composite
def is_signed(input) -> bool:
    """Whether the dtype has negative numbers."""
    return input.is_signed()


@composite
def numel(input) -> int:
    """The number of elements."""
    return input.numel()


@composite(method=True)
def is_nonzero(input) -> bool:
    """Whether the one element of the tensor is not zero; RuntimeError for other sizes."""
    count = input.numel()
    if count != 1:
        kind = "no values" if count == 0 else "more than one value"
        raise RuntimeError(f"Boolean value of Tensor with {kind} is ambiguous")
    return bool(input.item())


@composite(method=True)
def is_same_size(input, other) -> bool:
    """Whether two tensors have one shape."""
    return input.shape == other.shape


@composite(method=True, public=False)
def is_pinned(input, device=None) -> bool:
    """False: no memory is pinned."""
    return False


# -- promotion --------------------------------------------------------------------------------------
@composite
def can_cast(from_, to) -> bool:
    """Whether promotion rules allow casting between the types."""
    return dtypes.can_cast(dtype_argument(from_), dtype_argument(to))


def _promote(type1, type2) -> DType:
    """The smallest type that holds both."""
    return promote_types(dtype_argument(type1), dtype_argument(type2))


_promote.__name__ = "promote_types"
composite(_promote)


@composite
def result_type(tensor1, tensor2) -> DType:
    """The dtype of an arithmetic result of two operands, tensors or numbers."""
    return dtypes.result_type(describe(tensor1), describe(tensor2))


def describe(operand) -> tuple:
    """(dtype, has no dims, is a Python number), as promotion asks."""
    if isinstance(operand, Tensor):
        return operand.dtype, operand.ndim == 0, False
    for kind in (bool, int, float, complex):
        if isinstance(operand, kind):
            return of_python_type(kind), True, True
    raise TypeError(f"result_type(): expected a tensor or a number, got {type(operand).__name__}")


__all__ = ["finfo", "iinfo"]
