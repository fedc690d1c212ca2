"""Copies, fills and casts."""

from __future__ import annotations

from ..core import engine
from ..core.engine import Tensor
from ..ir import build as B
from ..ir import dtype_names, dtypes
from .checks import fitting
from .declare import FUNCTIONS, Number, add_method, composite, op
from .dtypes import dtype_argument
from .memory_format import channels_last_strides, contiguous_format, preserve_format
from .notices import warn_of_cast


@op(public=False)
def copied(input):
    """The same values in fresh memory."""
    return B.cast(input, input.dtype)


@op(inplace=True, narrows=True, public=False)
def copy(input, src):
    """`src`, broadcast and cast, in the place of `input`."""
    return B.broadcast_to(B.cast(src, input.dtype), input.shape)


def warn_of_lost_parts(key: tuple) -> None:
    """Warn of a copy of complex numbers into real ones."""
    if isinstance(key[0], engine.Layout) and isinstance(key[1], engine.Layout):
        warn_of_cast(key[1].dtype, key[0].dtype)


copy.declaration.notice = warn_of_lost_parts


def copy_(input, src=None, non_blocking=False, *, other=None):
    """Copy `src` (or `other`) into this tensor, with broadcasting and casting; returns the tensor."""
    src = other if src is None else src
    return copy.in_place(input, src)


add_method("copy_", copy_)


@op(public=False, inplace=True, narrows=True)
def fill(input, value: Number):
    """`value` everywhere."""
    return (
        B.full_like(input, value)
        if not hasattr(value, "shape")
        else B.broadcast_to(B.cast(value, input.dtype), input.shape)
    )


@composite(method=True)
def fill_(input, value):
    """Set every element to `value`, a number or a 0-dim tensor."""
    if not isinstance(input, Tensor):
        raise TypeError(f"fill_(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    if isinstance(value, Tensor) and value.ndim:
        raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions.")
    value = fitting(value, input.dtype)
    if input._layout.overlapping:
        fill.in_place(unexpanded(input), value)
        return input
    return fill.in_place(input, value)


def unexpanded(input):
    """The part of an expanded tensor that has memory of its own."""
    return input[tuple(slice(0, 1) if stride == 0 else slice(None) for stride in input.stride())]


@composite(method=True)
def zero_(input):
    """Set every element to zero."""
    return fill_(input, 0) if input._layout.overlapping else fill.in_place(input, 0)


@composite(method=True)
def clone(input, *, memory_format=preserve_format):
    """A copy in fresh memory; dense layouts keep their strides unless another format is asked for."""
    if memory_format is preserve_format:
        return copied(input)
    return strided_copy(input, format_strides(input, memory_format))


def format_strides(input, memory_format):
    if memory_format is contiguous_format:
        return None
    return channels_last_strides(input.shape, memory_format)


def strided_copy(input, strides):
    """A differentiable copy with given strides (None: row-major)."""
    layout = engine.layout_of(input.shape, strides, input.dtype)
    made = engine.empty_tensor(engine.extended_layout(layout, input._layout.batch) if input._layout.batch else layout)
    return copy.in_place(made, input)


@composite(method=True)
def contiguous(input, memory_format=contiguous_format):
    """The tensor itself if it is laid out so, else a copy that is."""
    if memory_format is contiguous_format and input.is_contiguous():
        return input
    return input if input.is_contiguous(memory_format) else strided_copy(input, format_strides(input, memory_format))


@op(keeps=True, public=False)
def converted(input, dtype: Dtype):
    """The values in another dtype; the tensor itself if it has that dtype."""
    return B.cast(input, dtype)


converted.declaration.notice = lambda key: warn_of_cast(key[0].dtype, key[1])


def cast_for_gradient(gradient, dtype):
    """A gradient in the dtype of what it belongs to (the real part for real dtypes)."""
    return converted(gradient.real if gradient.is_complex() and not dtype.is_complex else gradient, dtype)


@composite(method=True)
def to(input, *args, device=None, dtype=None, non_blocking=False, copy=False, memory_format=preserve_format):
    """The tensor in another dtype or on another device: `to(dtype)`, `to(device, dtype)`, `to(other)`, or by keyword.

    All forms take `non_blocking` and `copy` after that. The result is the tensor itself if nothing changes, unless
    `copy`.
    """
    if args:
        device, dtype, copy = destination(args, device, dtype, copy)
    elif dtype is not None and type(dtype) is not dtypes.DType:
        dtype = dtype_argument(dtype)
    if device is not None:
        engine.require_device(device)
    result = input if dtype is None else converted(input, dtype)
    if memory_format is not preserve_format and memory_format is not None:
        return clone(result, memory_format=memory_format) if copy else contiguous(result, memory_format)
    return clone(result) if copy and result is input else result


def destination(args: tuple, device, dtype, copy) -> tuple:
    """(device, dtype, copy) that the arguments of `to` ask for."""
    first, rest = args[0], args[1:]
    if isinstance(first, Tensor):
        dtype = first.dtype
    elif first is None or isinstance(first, (str, int, engine.Device)):
        device = first if first is not None else device
        if rest and not isinstance(rest[0], bool):
            dtype, rest = rest[0], rest[1:]
    elif isinstance(first, (dtypes.DType, type)):
        dtype = first
    else:
        raise TypeError(f"to(): expected a dtype, device or tensor, got {type(first).__name__}")
    if len(rest) > 2 or any(not isinstance(flag, bool) for flag in rest):
        raise TypeError("to(): expected non_blocking and copy, two bools, after what to convert to")
    return device, dtype if dtype is None else dtype_argument(dtype), rest[1] if len(rest) == 2 else copy


@composite(method=True)
def cpu(input, memory_format=preserve_format):
    """The tensor on the CPU: itself."""
    return input


@composite(method=True)
def type_as(input, other):
    """The tensor in the dtype of `other`."""
    return converted(input, other.dtype)


def _add_cast(name: str, dtype) -> None:
    def cast(input, memory_format=preserve_format):
        result = converted(input, dtype)
        kept = memory_format is preserve_format or (result is input and memory_format is contiguous_format)
        return result if kept else contiguous(result, memory_format)

    cast.__name__ = name
    cast.__doc__ = f"The tensor as {dtype.name}."
    add_method(name, cast)


for _name, _dtype in {
    "float": dtypes.float32,
    "double": dtypes.float64,
    "half": dtypes.float16,
    "bfloat16": dtypes.bfloat16,
    "int": dtypes.int32,
    "long": dtypes.int64,
    "short": dtypes.int16,
    "char": dtypes.int8,
    "byte": dtypes.uint8,
    "bool": dtypes.bool_,
    "cfloat": dtypes.complex64,
    "cdouble": dtypes.complex128,
    "chalf": dtype_names.NAMED["complex32"],
}.items():
    _add_cast(_name, _dtype)

engine.bind("copied", copied)
FUNCTIONS["detach"] = lambda input: input.detach()
