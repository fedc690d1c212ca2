"""Element types as arguments: Python's types, defaults, promotion queries."""

from __future__ import annotations

from ..core import engine
from ..core.engine import Tensor
from ..ir import dtypes
from ..ir.dtypes import DType, promote_types
from .declare import OPS, composite

_PYTHON = {float: "default", int: dtypes.int64, bool: dtypes.bool_, complex: "complex"}
engine.register_static_type(DType)


def of_python_type(kind: type) -> DType:
    """The dtype that `dtype=float` (int, bool, complex) means."""
    found = _PYTHON[kind]
    if found == "default":
        return dtypes.float64
    return dtypes.complex128 if found == "complex" else found


@composite
def get_default_dtype() -> DType:
    """The dtype of floating point tensors made from Python numbers."""
    return dtypes.default


@composite
def set_default_dtype(dtype: DType) -> None:
    """Set the dtype of floating point tensors made from Python numbers."""
    if not isinstance(dtype, DType) or not dtype.is_floating_point:
        raise TypeError(f"only floating-point types are supported as the default type, got {dtype}")
    dtypes.default = dtype
    for op in OPS.values():  # plans and structures have the old default built in
        op.clear()
        op.structures.clear()


@composite
def is_tensor(obj) -> bool:
    """Whether the object is a tensor."""
    return isinstance(obj, Tensor)


@composite
def can_cast(from_: DType, to: DType) -> bool:
    """Whether promotion rules allow casting between the types."""
    return dtypes.category(from_) <= dtypes.category(to)


promote_types = composite(promote_types)


@composite
def result_type(tensor1, tensor2) -> DType:
    """The dtype of an arithmetic result of two operands, tensors or numbers."""
    return dtypes.result_type(describe(tensor1), describe(tensor2))


def describe(operand) -> tuple:
    if isinstance(operand, Tensor):
        return operand.dtype, operand.ndim == 0, False
    kind = bool if isinstance(operand, bool) else type(operand)
    return {bool: dtypes.bool_, int: dtypes.int64, float: dtypes.float64, complex: dtypes.complex128}[kind], True, True
