"""Tensors from nothing: uninitialised or filled with one value."""

from __future__ import annotations

import math

from ..core import engine
from ..core.engine import Tensor
from ..ir import dtypes
from .checks import fitting, scalar_type
from .copying import fill, format_strides
from .declare import composite
from .dtypes import dtype_argument
from .memory_format import channels_last_strides, contiguous_format, preserve_format, strided
from .results import dim_order
from .writing import store

SMALL = 1 << 16  # bytes below which clearing memory on the caller's thread is quickest


# -- arguments --------------------------------------------------------------------------------------
def sizes_of(given: tuple, size=None, name: str = "size") -> tuple:
    """Sizes given as `f(2, 3)`, `f((2, 3))` or `f(size=(2, 3))`, as plain ints."""
    if size is not None:
        if given:
            raise TypeError(f"got multiple values for argument '{name}'")
        given = size if isinstance(size, (tuple, list)) else (size,)
    elif not given:
        raise TypeError(f"missing 1 required positional argument: '{name}'")
    elif isinstance(given[0], (tuple, list)) and len(given) == 1:
        given = given[0]
    for n in given:
        if type(n) is not int:
            return unusual_sizes(given, name)
    return tuple(given)


def unusual_sizes(given, name: str) -> tuple:
    """Sizes among which are other things than ints."""
    for place, n in enumerate(given):
        if not hasattr(n, "__index__") or isinstance(n, bool):
            raise TypeError(
                f"argument '{name}' must be tuple of ints, but found element of type {type(n).__name__} at pos {place}"
            )
    return tuple([n.__index__() for n in given])


def empty_sparse(shape: tuple, dtype, layout, requires_grad: bool) -> Tensor:
    """A sparse tensor without elements."""
    from . import sparsity

    return sparsity.empty_sparse(shape, dtype, layout, requires_grad)


def check_options(layout, device) -> None:
    """Dense tensors are strided and live on the CPU; RuntimeError otherwise."""
    engine.require_device(device)
    if layout is not None and layout is not strided:
        raise RuntimeError(f"full(...) is not implemented for sparse layout {layout}")


def place_of(input, device):
    """The device of what is made like another tensor: that one's, unless one is given."""
    return input.device if device is None else device


def fresh(shape: tuple, dtype, requires_grad=False, device=None, strides=None, layout=None, like=None) -> Tensor:
    """An uninitialised tensor; under `vmap` one with a sample for each that `like` has."""
    if layout is not None and layout is not strided:
        return empty_sparse(shape, dtype, layout, requires_grad)
    if device is not None or layout is not None or engine.default_is_absent():
        check_options(layout, device)
    if dtype is not None and type(dtype) is not dtypes.DType:
        dtype = dtype_argument(dtype)
    sample = engine.layout_of(shape, strides, dtypes.default if dtype is None else dtype)
    if like is not None and like._layout.batch:
        sample = engine.extended_layout(sample, like._layout.batch)
    made = engine.empty_tensor(sample)
    return made.requires_grad_() if requires_grad else made


def filled(
    shape: tuple, value, dtype, requires_grad=False, device=None, strides=None, layout=None, like=None
) -> Tensor:
    """A tensor of one value."""
    if layout is not None and layout is not strided and is_plain_zero(value):
        return empty_sparse(shape, dtype, layout, requires_grad)
    if layout is not None:
        check_options(layout, None)
    made = fresh(shape, dtype, False, device, strides, layout, like)
    if made.nbytes <= SMALL and is_plain_zero(value):
        engine.clear_memory(made)
    else:
        value = fitting(value, made.dtype)
        if made.numel():
            fill.in_place(made, value)
    return made.requires_grad_() if requires_grad else made


def is_plain_zero(value) -> bool:
    """Whether all bits of the value are 0, which those of -0.0 are not."""
    return value == 0 and type(value) in (int, bool, float) and math.copysign(1, value) == 1


def delivered(made: Tensor, out, requires_grad: bool = False) -> Tensor:
    """A result, or `out` with the result in it."""
    made = made if out is None else store(out, made)
    return made.requires_grad_() if requires_grad else made


def dtype_for(out, dtype):
    """The dtype to make: that of `out`, which must agree with `dtype`."""
    if dtype is not None:
        dtype = dtype_argument(dtype)
    if out is None:
        return dtype
    if dtype is not None and dtype is not out.dtype:
        raise RuntimeError(
            f"dtype {scalar_type(dtype)} does not match dtype of out parameter ({scalar_type(out.dtype)})"
        )
    return out.dtype


# -- from sizes -------------------------------------------------------------------------------------
@composite
def empty(
    *sizes,
    size=None,
    out=None,
    dtype=None,
    layout=None,
    device=None,
    requires_grad=False,
    pin_memory=False,
    memory_format=contiguous_format,
):
    """A tensor of uninitialised memory."""
    if size is out is layout is device is None and memory_format is contiguous_format and not requires_grad:
        made = engine.filled_tensor(sizes, None, dtypes.default if dtype is None else dtype)
        if made is not None:
            return made
    shape = sizes_of(sizes, size)
    strides = None
    if memory_format is not contiguous_format and memory_format is not preserve_format and memory_format is not None:
        strides = channels_last_strides(shape, memory_format)
    if out is not None:
        dtype_for(out, dtype)
        if out.shape != shape:
            engine.resize(out, shape)
        return out
    return fresh(shape, dtype, requires_grad, device, strides, layout)


@composite
def zeros(*sizes, size=None, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor of zeros.

    >>> rushlight.zeros(2, 2)
    tensor([[0., 0.],
            [0., 0.]])
    """
    if size is out is layout is device is None and not requires_grad:
        made = engine.filled_tensor(sizes, 0, dtypes.default if dtype is None else dtype)
        if made is not None:
            return made
    dtype = dtype if out is None else dtype_for(out, dtype)
    return delivered(filled(sizes_of(sizes, size), 0, dtype, False, device, None, layout), out, requires_grad)


@composite
def ones(*sizes, size=None, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor of ones.

    >>> rushlight.ones(3)
    tensor([1., 1., 1.])
    """
    if size is out is layout is device is None and not requires_grad:
        made = engine.filled_tensor(sizes, 1, dtypes.default if dtype is None else dtype)
        if made is not None:
            return made
    dtype = dtype if out is None else dtype_for(out, dtype)
    return delivered(filled(sizes_of(sizes, size), 1, dtype, False, device, None, layout), out, requires_grad)


@composite
def full(size, fill_value, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor filled with `fill_value`, a number or 0-dim tensor, whose type decides the dtype unless one is given.

    >>> rushlight.full((2,), 7)
    tensor([7, 7])
    """
    if out is layout is device is None and not requires_grad and type(size) is tuple and fill_value is not None:
        made = engine.filled_tensor((size,), fill_value, inferred(fill_value) if dtype is None else dtype)
        if made is not None:
            return made
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"full(): argument 'size' (position 1) must be tuple of ints, not {type(size).__name__}")
    dtype = dtype_for(out, dtype) or inferred(fill_value)
    made = filled(sizes_of((size,)), scalar("full", fill_value), dtype, False, device, None, layout)
    return delivered(made, out, requires_grad)


def scalar(name: str, value):
    """A number, given as such or as a 0-dim tensor."""
    if isinstance(value, Tensor):
        if value.ndim:
            raise TypeError(f"{name}(): argument 'fill_value' must be Number, not Tensor")
        return value.item()
    if value is None:
        raise TypeError(f"{name}(): argument 'fill_value' must be Number, not NoneType")
    return value


def inferred(value):
    """The dtype of a tensor made from a Python number."""
    if isinstance(value, Tensor):
        return value.dtype
    if isinstance(value, bool):
        return dtypes.bool_
    if hasattr(type(value), "__index__"):
        return dtypes.int64
    return dtypes.default_complex() if isinstance(value, complex) else dtypes.default


@composite
def scalar_tensor(s, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A 0-dim tensor of a number, of the default dtype unless another is given."""
    return filled((), scalar("scalar_tensor", s), dtype, requires_grad, device, None, layout)


@composite
def empty_strided(size, stride, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """Uninitialised memory of a shape with given strides, in elements."""
    size, stride = sizes_of((tuple(size),)), sizes_of((tuple(stride),), None, "stride")
    if len(size) != len(stride):
        raise RuntimeError(
            f"dimensionality of sizes ({len(size)}) must match dimensionality of strides ({len(stride)})"
        )
    if any(s < 0 for s in stride):
        raise RuntimeError(f"strides must not be negative: sizes={list(size)} and strides={list(stride)}")
    return fresh(size, dtype, requires_grad, device, stride, layout)


@composite
def empty_permuted(
    size, physical_layout, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False
):
    """Uninitialised memory whose dims lie in the order `physical_layout`, outermost first."""
    size, order = sizes_of((tuple(size),)), tuple(physical_layout)
    if len(size) != len(order):
        raise RuntimeError(f"Number of dimensions in size ({len(size)}) does not match the layout's ({len(order)})")
    if any(not 0 <= d < len(size) for d in order):
        raise RuntimeError(f"Dimension out of range (expected to be between 0 and {len(size) - 1}, but got {order})")
    if len(set(order)) != len(order):
        raise RuntimeError("Duplicate dim not allowed")
    return fresh(size, dtype, requires_grad, device, dense_strides(size, order), layout)


def dense_strides(shape: tuple, order) -> tuple:
    """Strides without gaps for dims in a given order, outermost first."""
    strides, step = [0] * len(shape), 1
    for dim in reversed(order):
        strides[dim] = step
        step *= max(shape[dim], 1)
    return tuple(strides)


# -- like another tensor ----------------------------------------------------------------------------
def zeros_for(like: Tensor) -> Tensor:
    """Zeros of a tensor's shape and dtype, row-major."""
    return filled(tuple(like.shape), 0, like.dtype)


def ones_for(like: Tensor) -> Tensor:
    """Ones of a tensor's shape and dtype, row-major."""
    return filled(tuple(like.shape), 1, like.dtype)


def strides_like(input, memory_format):
    """Strides of a dense tensor with the dim order of `input` (None: row-major)."""
    if memory_format is not preserve_format and memory_format is not None:
        return format_strides(input, memory_format)
    if input.is_contiguous():
        return input.stride()  # those of dims of size 1 are kept, too
    if engine.dense_order(input._layout) is not None:
        return input.stride()
    return dense_strides(tuple(input.shape), dim_order(input._layout))


@composite
def empty_like(
    input,
    *,
    dtype=None,
    layout=None,
    device=None,
    requires_grad=False,
    pin_memory=False,
    memory_format=preserve_format,
):
    """Uninitialised memory of the shape, dtype and dim order of `input`."""
    if memory_format is preserve_format and layout is device is None and not requires_grad:
        made = engine.filled_like(input, None, input.dtype if dtype is None else dtype)
        if made is not None:
            return made
    strides = strides_like(input, memory_format)
    place, dtype = place_of(input, device), dtype or input.dtype
    return fresh(tuple(input.shape), dtype, requires_grad, place, strides, layout, input)


def _like(name: str, value):
    def function(
        input,
        *,
        dtype=None,
        layout=None,
        device=None,
        requires_grad=False,
        pin_memory=False,
        memory_format=preserve_format,
    ):
        if memory_format is preserve_format and layout is device is None and not requires_grad:
            made = engine.filled_like(input, value, input.dtype if dtype is None else dtype)
            if made is not None:
                return made
        strides = strides_like(input, memory_format)
        place = place_of(input, device)
        return filled(tuple(input.shape), value, dtype or input.dtype, requires_grad, place, strides, layout, input)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name.split('_')[0].capitalize()} of the shape, dtype and dim order of `input`."
    return composite(function)


zeros_like, ones_like = _like("zeros_like", 0), _like("ones_like", 1)


@composite
def full_like(
    input,
    fill_value,
    *,
    dtype=None,
    layout=None,
    device=None,
    requires_grad=False,
    pin_memory=False,
    memory_format=preserve_format,
):
    """`fill_value` in the shape, dtype and dim order of `input`."""
    if memory_format is preserve_format and layout is device is None and not requires_grad:
        made = engine.filled_like(input, scalar("full_like", fill_value), input.dtype if dtype is None else dtype)
        if made is not None:
            return made
    strides, value = strides_like(input, memory_format), scalar("full_like", fill_value)
    place = place_of(input, device)
    return filled(tuple(input.shape), value, dtype or input.dtype, requires_grad, place, strides, layout, input)


# -- methods: the dtype of this tensor --------------------------------------------------------------
def _new(name: str, value, make):
    def method(input, *sizes, size=None, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
        if size is layout is device is None and not requires_grad and type(input) is Tensor and not input._layout.batch:
            made = engine.filled_tensor(sizes, value, input.dtype if dtype is None else dtype)
            if made is not None:
                return made
        place = place_of(input, device)
        return make(sizes_of(sizes, size), dtype or input.dtype, requires_grad, place, None, layout, input)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"`{name[4:]}` with the dtype of this tensor unless another is given."
    return composite(method, method=True, public=False)


new_empty = _new("new_empty", None, fresh)
new_zeros = _new("new_zeros", 0, lambda shape, *rest: filled(shape, 0, *rest))
new_ones = _new("new_ones", 1, lambda shape, *rest: filled(shape, 1, *rest))


@composite(method=True, public=False)
def new_full(input, size, fill_value, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """`full` with the dtype of this tensor unless another is given."""
    value = scalar("new_full", fill_value)
    place = place_of(input, device)
    return filled(sizes_of((size,)), value, dtype or input.dtype, requires_grad, place, None, layout, input)


@composite(method=True, public=False)
def new_empty_strided(
    input, size, stride, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False
):
    """`empty_strided` with the dtype of this tensor unless another is given."""
    made = empty_strided(size, stride, dtype=dtype or input.dtype, layout=layout, device=place_of(input, device))
    if input._layout.batch:
        made = fresh(tuple(made.shape), made.dtype, strides=made.stride(), like=input)
    return made.requires_grad_() if requires_grad else made
