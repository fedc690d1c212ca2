"""Operands made alike: PyTorch's type promotion and broadcasting, for Values and Python numbers."""

from __future__ import annotations

from . import dtypes
from .dtypes import DType, bool_, complex128, float64, int64, promote_types, result_type, uint64
from .graph import Value
from .primitive import PRIMITIVES
from .sizes import Sym

_NUMBER_DTYPES = {bool: bool_, int: int64, float: float64, complex: complex128}


def number_dtype(x) -> DType:
    """The type in which a Python number takes part; TypeError for anything else."""
    found = _NUMBER_DTYPES.get(type(x))
    if found is None:
        for kind in (bool, int, float, complex):  # subclasses and NumPy's float64 and complex128
            if isinstance(x, kind):
                return _NUMBER_DTYPES[kind]
        if type(x) is Sym or hasattr(x, "__index__"):
            return int64
        if hasattr(x, "__float__"):
            return float64
        raise TypeError(f"expected a tensor or a number, got {type(x).__name__}")
    return found


def is_weak(x) -> bool:
    """Whether x promotes as a Python number: a literal or a number known at run time."""
    return x.weak if type(x) is Value else True


def operand_type(x) -> tuple[DType, bool, bool]:
    """What `dtypes.result_type` wants to know of an operand."""
    if type(x) is Value:
        return x.dtype, not x.shape, x.weak
    return number_dtype(x), True, True


def common_dtype(*operands) -> DType:
    """The promoted type; run-time numbers among themselves stay as wide as Python's."""
    types = [operand_type(x) for x in operands]
    if all(weak for _, _, weak in types):
        dtype = types[0][0]
        for other, _, _ in types[1:]:
            dtype = promote_types(dtype, other)
        return dtype
    return result_type(*types)


def literal(x, dtype: DType):
    """A Python number as the kind of number that `dtype` holds; integers wrap as PyTorch's do, sizes stay symbols."""
    kind = dtype.kind
    if type(x) is Sym:
        return x
    if kind == "b":
        return bool(x)
    if kind in "ui":
        return wrap_integer(int(x) if dtype is uint64 and 0 <= x < 2**64 else _int64(x), dtype)
    if isinstance(x, int):
        _int64(x)
    return complex(x) if kind == "c" else float(x.real if isinstance(x, complex) else x)


def _int64(x) -> int:
    number = int(x)
    if not -(2**63) <= number < 2**63:
        raise OverflowError("int too big to convert: a number used with a tensor must fit in 64 bits")
    return number


def wrap_integer(number: int, dtype: DType) -> int:
    bits = 8 * dtype.itemsize
    number &= (1 << bits) - 1
    return number - (1 << bits) if dtype.kind == "i" and number >> (bits - 1) else number


def as_dtype(x, dtype: DType) -> Value:
    """x (a Value or a number) in the given type."""
    if type(x) is not Value:
        return constant(x, (), dtype)
    if x.dtype is dtype:
        return x
    result = PRIMITIVES["cast"](x, dtype=dtype)
    result.weak = x.weak
    return result


def constant(x, shape, dtype: DType) -> Value:
    return PRIMITIVES["constant"](value=literal(x, dtype), shape=tuple(shape), dtype=dtype)


def _is_one(size) -> bool:
    return type(size) is int and size == 1


def same_size(a, b) -> bool:
    return a is b or a == b


def broadcast_shapes(*shapes) -> tuple:
    """The shape that all expand to, aligned at the right; RuntimeError if there is none."""
    result: list = []
    for shape in shapes:
        if len(shape) > len(result):
            result = [1] * (len(shape) - len(result)) + result
        offset = len(result) - len(shape)
        for d in reversed(range(len(shape))):  # errors name the last dimension that does not fit
            have, size = result[offset + d], shape[d]
            if _is_one(have):
                result[offset + d] = size
            elif not _is_one(size) and not same_size(have, size):
                raise RuntimeError(
                    f"The size of tensor a ({have}) must match the size of tensor b ({size}) at non-singleton "
                    f"dimension {offset + d}; shapes {', '.join(str(list(shape)) for shape in shapes)}"
                )
    return tuple(result)


def broadcast_to(x: Value, shape) -> Value:
    """x expanded to `shape`, or x itself if it has that shape."""
    if len(x.shape) == len(shape) and all(a is b or a == b for a, b in zip(x.shape, shape)):
        return x
    result = PRIMITIVES["expand"](x, shape=tuple(shape))
    return result


def together(operands, dtype: DType) -> list[Value]:
    """Operands in one type and one shape; numbers become constants of that shape."""
    shape = broadcast_shapes(*(x.shape for x in operands if type(x) is Value))
    return [
        broadcast_to(as_dtype(x, dtype), shape) if type(x) is Value else constant(x, shape, dtype) for x in operands
    ]


def float_dtype(dtype: DType) -> DType:
    """The type of a result that is never an integer."""
    return dtype if dtype.kind in "fc" else dtypes.default
