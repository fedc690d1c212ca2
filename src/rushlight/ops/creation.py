"""Tensors from nothing, from numbers and from arrays."""

from __future__ import annotations

from ..core import engine
from ..core.engine import Size, Tensor
from ..ir import dtypes
from .copying import fill
from .declare import composite
from .memory_format import contiguous_format, preserve_format

SMALL = 1 << 16  # bytes below which clearing memory on the caller's thread is quickest


def sizes_of(size: tuple) -> tuple:
    """Sizes given as `f(2, 3)` or `f((2, 3))`, as plain ints."""
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        size = tuple(size[0])
    for n in size:
        if not hasattr(n, "__index__") or isinstance(n, bool):
            raise TypeError(f"sizes must be integers, got {type(n).__name__} in {size}")
    return tuple(n.__index__() for n in size)


def fresh(shape: tuple, dtype, requires_grad=False, device=None, strides=None) -> Tensor:
    """An uninitialised tensor."""
    if device is not None:
        engine.Device(device)
    made = engine.empty_tensor(engine.layout_of(shape, strides, dtype or dtypes.default))
    return made.requires_grad_() if requires_grad else made


def filled(shape: tuple, value, dtype, requires_grad=False, device=None, strides=None) -> Tensor:
    """A tensor of one value."""
    made = fresh(shape, dtype, False, device, strides)
    if value == 0 and made.nbytes <= SMALL:
        engine.clear_memory(made)
    elif made.numel():
        fill.in_place(made, value)
    return made.requires_grad_() if requires_grad else made


def _write_out(out, made):
    from .writing import store

    return store(out, made)


@composite
def empty(
    *size,
    out=None,
    dtype=None,
    layout=None,
    device=None,
    requires_grad=False,
    pin_memory=False,
    memory_format=contiguous_format,
):
    """A tensor of uninitialised memory."""
    shape = sizes_of(size)
    strides = None
    if memory_format is not contiguous_format and memory_format is not preserve_format:
        from .memory_format import channels_last_strides

        strides = channels_last_strides(shape, memory_format)
    made = fresh(shape, dtype, requires_grad, device, strides)
    return made if out is None else _write_out(out, made)


@composite
def zeros(*size, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """A tensor of zeros.

    >>> rushlight.zeros(2, 2)
    tensor([[0., 0.],
            [0., 0.]])
    """
    made = filled(sizes_of(size), 0, dtype, requires_grad, device)
    return made if out is None else _write_out(out, made)


@composite
def ones(*size, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """A tensor of ones."""
    made = filled(sizes_of(size), 1, dtype, requires_grad, device)
    return made if out is None else _write_out(out, made)


@composite
def full(size, fill_value, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """A tensor filled with `fill_value`, whose type decides the dtype unless one is given."""
    if dtype is None:
        dtype = inferred(fill_value)
    size = size if isinstance(size, (tuple, list)) else (size,)
    made = filled(sizes_of((size,)), fill_value, dtype, requires_grad, device)
    return made if out is None else _write_out(out, made)


def inferred(value):
    """The dtype of a tensor made from a Python number."""
    if isinstance(value, Tensor):
        return value.dtype
    if isinstance(value, bool):
        return dtypes.bool_
    if isinstance(value, int):
        return dtypes.int64
    return dtypes.default_complex() if isinstance(value, complex) else dtypes.default


def zeros_for(like: Tensor) -> Tensor:
    """Zeros of a tensor's shape and dtype, row-major."""
    return filled(tuple(like.shape), 0, like.dtype)


def ones_for(like: Tensor) -> Tensor:
    """Ones of a tensor's shape and dtype, row-major."""
    return filled(tuple(like.shape), 1, like.dtype)


@composite
def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False) -> Tensor:
    """A tensor with a copy of `data`: numbers, nested sequences, arrays or tensors.

    >>> rushlight.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    """
    made = as_array(data, dtype, copy=True)
    if device is not None:
        engine.Device(device)
    return made.requires_grad_() if requires_grad else made


def as_array(data, dtype, copy: bool) -> Tensor:
    """`data` as a tensor outside of any graph; arrays and tensors share memory unless `copy`."""
    if isinstance(data, Tensor):
        source = data.detach()
    elif hasattr(data, "__array_interface__") or hasattr(data, "__array__"):
        from ..interop.arrays import from_array

        source = from_array(data)
    else:
        return engine.from_nested(data, dtype, dtypes.default, dtypes)
    result = source if dtype is None else source.to(dtype)
    return result.clone() if copy and result._storage is source._storage else result


@composite
def as_tensor(data, dtype=None, device=None) -> Tensor:
    """`data` as a tensor, sharing memory with arrays and tensors where possible."""
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    return as_array(data, dtype, copy=False)


@composite
def empty_like(input, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=preserve_format):
    """Uninitialised memory of the shape, dtype and dim order of `input`."""
    return fresh(tuple(input.shape), dtype or input.dtype, requires_grad, device, strides_like(input, memory_format))


def strides_like(input, memory_format):
    """Strides of a dense tensor with the dim order of `input` (None: row-major)."""
    from .copying import format_strides

    if memory_format is not preserve_format:
        return format_strides(input, memory_format)
    if input.is_contiguous():
        return None
    if engine.dense_order(input._layout) is not None:
        return input.stride()
    order = sorted(range(input.ndim), key=lambda d: (-input.stride(d), d))
    strides, step = [0] * input.ndim, 1
    for dim in reversed(order):
        strides[dim] = step
        step *= max(input.shape[dim], 1)
    return tuple(strides)


def _like(name: str, value):
    def function(input, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=preserve_format):
        strides = strides_like(input, memory_format)
        return filled(tuple(input.shape), value, dtype or input.dtype, requires_grad, device, strides)

    function.__name__ = name
    function.__doc__ = f"{name.split('_')[0].capitalize()} of the shape, dtype and dim order of `input`."
    return composite(function)


zeros_like, ones_like = _like("zeros_like", 0), _like("ones_like", 1)


@composite
def full_like(
    input, fill_value, *, dtype=None, layout=None, device=None, requires_grad=False, memory_format=preserve_format
):
    """`fill_value` in the shape, dtype and dim order of `input`."""
    strides = strides_like(input, memory_format)
    return filled(tuple(input.shape), fill_value, dtype or input.dtype, requires_grad, device, strides)


def _new(name: str, make):
    def method(input, *size, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
        return make(sizes_of(size), dtype or input.dtype, requires_grad, device)

    method.__name__ = name
    method.__doc__ = f"`{name[4:]}` with the dtype of this tensor unless another is given."
    return composite(method, method=True, public=False)


new_empty = _new("new_empty", fresh)
new_zeros = _new("new_zeros", lambda shape, *rest: filled(shape, 0, *rest))
new_ones = _new("new_ones", lambda shape, *rest: filled(shape, 1, *rest))


@composite(method=True, public=False)
def new_full(input, size, fill_value, *, dtype=None, device=None, requires_grad=False):
    """`full` with the dtype of this tensor unless another is given."""
    return filled(sizes_of((size,)), fill_value, dtype or input.dtype, requires_grad, device)


@composite(method=True, public=False)
def new_tensor(input, data, *, dtype=None, device=None, requires_grad=False):
    """`tensor(data)` with the dtype of this tensor unless another is given."""
    return tensor(data, dtype=dtype or input.dtype, device=device, requires_grad=requires_grad)


__all__ = ["Size", "Tensor", "empty", "full", "ones", "tensor", "zeros"]
