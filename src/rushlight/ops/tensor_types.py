"""The names of old: `FloatTensor` and its kin, `Tensor(2, 3)`, `Tensor.new`, `Tensor.type`."""

from __future__ import annotations

import warnings

from ..core import engine
from ..core.engine import Size, Tensor
from ..ir import dtypes
from .creation import fresh, sizes_of
from .declare import FUNCTIONS, add_method, composite
from .dtypes import dtype_argument
from .from_data import as_array
from .memory_format import preserve_format
from .shape import reshape


class TensorType(type):
    """The class of `FloatTensor`: tensors of its dtype are its instances, calls make such tensors."""

    def __instancecheck__(cls, instance) -> bool:
        return isinstance(instance, Tensor) and instance.dtype is cls.dtype and not instance._layout.sparse

    def __call__(cls, *args, device=None, **kwargs):
        return construct(cls.dtype, *args, device=device, **kwargs)

    def __repr__(cls) -> str:
        return f"<class '{cls.__module__}.{cls.__name__}'>"


NAMES = {
    "BoolTensor": dtypes.bool_,
    "ByteTensor": dtypes.uint8,
    "CharTensor": dtypes.int8,
    "ShortTensor": dtypes.int16,
    "IntTensor": dtypes.int32,
    "LongTensor": dtypes.int64,
    "HalfTensor": dtypes.float16,
    "BFloat16Tensor": dtypes.bfloat16,
    "FloatTensor": dtypes.float32,
    "DoubleTensor": dtypes.float64,
    "ComplexFloatTensor": dtypes.complex64,
    "ComplexDoubleTensor": dtypes.complex128,
}
WIDE = {"UInt16Tensor": dtypes.uint16, "UInt32Tensor": dtypes.uint32, "UInt64Tensor": dtypes.uint64}  # without a class
_TYPES = {
    name: TensorType(name, (), {"dtype": dtype, "__module__": dtypes._MODULE, "is_cuda": False})
    for name, dtype in NAMES.items()
}
_BY_DTYPE = {dtype: name for name, dtype in (NAMES | WIDE).items()}
FUNCTIONS.update({name: made for name, made in _TYPES.items() if not name.startswith("Complex")})


def type_named(name: str):
    """`FloatTensor` from "torch.FloatTensor"; ValueError for other names."""
    short = name.rpartition(".")[2]
    if short == "Tensor":
        return _TYPES[_BY_DTYPE[dtypes.default]]
    if short not in _TYPES:
        raise ValueError(f"invalid type: '{name}'")
    return _TYPES[short]


# -- construction -----------------------------------------------------------------------------------
def construct(dtype, *args, device=None, data=None, size=None) -> Tensor:
    """A tensor of given sizes (uninitialised), of a sequence's numbers, or over another tensor's memory."""
    if device is not None:
        engine.require_device(device)
    if data is not None or size is not None:
        args = (data if data is not None else Size(size),)
    if not args:
        return fresh((0,), dtype)
    (first, *rest) = args
    if rest or type(first) is int or isinstance(first, Size):
        return fresh(legacy_sizes(args), dtype)
    if isinstance(first, Tensor):
        return sharing(first, dtype)
    if hasattr(first, "_storage") and hasattr(first, "untyped"):
        from ..interop.storage_types import check_dtype

        check_dtype(first, dtype, "storage")
        return first.as_tensor(dtype)
    if isinstance(first, str):
        raise TypeError("new(): invalid data type 'str'")
    if not hasattr(first, "__len__"):
        raise TypeError(f"new(): data must be a sequence (got {type(first).__name__})")
    return as_array(first, dtype, copy=True)


def legacy_sizes(args: tuple) -> tuple:
    try:
        return sizes_of(args)
    except TypeError:
        kinds = ", ".join(type(a).__name__ for a in args)
        raise TypeError(f"new() received an invalid combination of arguments - got ({kinds})") from None


def sharing(source: Tensor, dtype) -> Tensor:
    if source.dtype is not dtype:
        raise TypeError(f"expected a tensor of dtype {dtype.name} (got {source.dtype.name})")
    return source.detach()


def legacy_constructor(*args, **kwargs) -> Tensor:
    """`Tensor(...)`: of the default dtype, or sharing the memory of another tensor of any dtype."""
    if len(args) == 1 and not kwargs and isinstance(args[0], Tensor):
        return args[0].detach()
    return construct(dtypes.default, *args, **kwargs)


engine.bind("legacy_constructor", legacy_constructor)
engine.set_unset_layout(engine.layout_of((0,), None, dtypes.float32))


@composite(method=True, public=False)
def new(input, *args, **kwargs):
    """`Tensor(...)` with the dtype of this tensor."""
    return construct(input.dtype, *args, **kwargs)


# -- conversion -------------------------------------------------------------------------------------
def type_(input, dtype=None, non_blocking=False, memory_format=preserve_format):
    """The name of the tensor's type; with a dtype, a type or its name, the tensor converted to that."""
    if dtype is None:
        return f"{dtypes._MODULE}.{_BY_DTYPE[input.dtype]}"
    if isinstance(dtype, str):
        dtype = type_named(dtype)
    if isinstance(dtype, TensorType):
        dtype = dtype.dtype
    elif dtype is Tensor:
        dtype = dtypes.default
    return input.to(dtype_argument(dtype))


type_.__name__ = "type"
composite(type_, method=True, public=False)


# -- methods under former names ---------------------------------------------------------------------
@composite(method=True, public=False)
def resize(input, *sizes):
    """`reshape` with a warning: unlike `resize_` it keeps the number of elements."""
    warnings.warn("non-inplace resize is deprecated", UserWarning, 2)
    return reshape(input, legacy_sizes(sizes))


@composite(method=True, public=False)
def resize_as(input, tensor):
    """`reshape` to the shape of another tensor, with a warning."""
    warnings.warn("non-inplace resize_as is deprecated", UserWarning, 2)
    return reshape(input, tuple(tensor.shape))


@composite(method=True, public=False)
def reinforce(input, reward):
    """RuntimeError: gradients of drawn numbers come from distributions' `log_prob`."""
    raise RuntimeError("reinforce() was removed. Use the log_prob of a distribution instead.")


def __reversed__(input):
    """The slices of dim 0 in the opposite order, as a tensor; a tensor without dims itself."""
    return input.flip(0) if input.ndim else input


def __long__(input) -> int:
    """The one element as an int."""
    return int(input)


def __nonzero__(input) -> bool:
    """Whether the one element is not zero."""
    return bool(input)


def __div__(input, other):
    """True division, as Python 2 called it."""
    return input / other


def __rdiv__(input, other):
    """True division with the operands exchanged."""
    return other / input


def __idiv__(input, other):
    """True division in place."""
    return input.div_(other)


for _method in (__reversed__, __long__, __nonzero__, __div__, __rdiv__, __idiv__):
    add_method(_method.__name__, _method)
