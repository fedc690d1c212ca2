"""Functions that only ask for a tensor's size and dtype, or refuse what needs memory."""

from __future__ import annotations

from ..core import engine
from ..core.engine import Tensor
from ..ops import memory_format
from ..ops.dtypes import dtype_argument
from .construct import empty_of
from .convert import to_dense
from .dispatch import implements
from .parts import COO, LAYOUTS, kind_of, parts_of, with_parts
from .unary import clone

implements("to_dense")(to_dense)


def empty_like_with(input: Tensor, shape, dtype, layout, requires_grad: bool) -> Tensor:
    """An empty tensor of another one's kind, or of the layout asked for."""
    dtype = input.dtype if dtype is None else dtype_argument(dtype)
    if layout is memory_format.strided:
        from .. import ops

        return ops.zeros(tuple(shape), dtype=dtype, requires_grad=requires_grad)
    kind = kind_of(input)
    layout = LAYOUTS[kind] if layout is None else layout
    count = parts_of(input).indices.shape[0] if kind == COO and tuple(shape) == tuple(input.shape) else None
    return empty_of(tuple(shape), dtype, layout, requires_grad, count)


@implements("zeros_like")
def zeros_like(
    input: Tensor, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False, memory_format=None
) -> Tensor:
    """A sparse tensor of the same size without elements."""
    return empty_like_with(input, input.shape, dtype, layout, requires_grad)


@implements("empty_like")
def empty_like(input: Tensor, *, dtype=None, layout=None, requires_grad=False, **options) -> Tensor:
    """A sparse tensor of the same size: of a compressed one with the same places, of a COO one without elements."""
    if kind_of(input) == COO or layout not in (None, input.layout):
        return empty_like_with(input, input.shape, dtype, layout, requires_grad)
    new = parts_of(input).values
    made = with_parts(input, new.new_zeros(tuple(new.shape), dtype=dtype or new.dtype))
    return made.requires_grad_() if requires_grad else made


@implements("tensor")
def tensor(data: Tensor, *, dtype=None, device=None, requires_grad=False, pin_memory=False) -> Tensor:
    """A copy outside of any graph."""
    made = clone(data.detach() if dtype is None else data.detach().to(dtype))
    return made.requires_grad_() if requires_grad else made


@implements("new_zeros", "new_empty", "new")
def new_zeros(
    input: Tensor, *sizes, size=None, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False
) -> Tensor:
    """A sparse tensor of the same dtype and of the given size without elements."""
    from ..ops.creation import sizes_of

    return empty_like_with(input, sizes_of(sizes, size), dtype, layout, requires_grad)


@implements("zero_")
def zero_(input: Tensor) -> Tensor:
    """Drop all elements of a COO tensor; set those of a compressed one to zero."""
    if kind_of(input) != COO:
        return engine.become_sparse(input, with_parts(input, parts_of(input).values * 0))
    return engine.become_sparse(input, zeros_like(input.detach()))


@implements("numpy")
def numpy(input: Tensor, *, force: bool = False):
    """TypeError: arrays are dense."""
    raise TypeError("can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first.")


@implements("contiguous")
def contiguous(input: Tensor, memory_format=None) -> Tensor:
    """RuntimeError: there is no memory to be contiguous."""
    raise RuntimeError("unsupported memory format option Contiguous: sparse tensors have no memory of their own")


@implements("view")
def view(input: Tensor, *shape):
    """NotImplementedError: there is no memory to look at in another way."""
    raise NotImplementedError("Could not run 'aten::view' with arguments from the 'SparseCPU' backend")


@implements("reshape", "flatten")
def reshape(input: Tensor, *args, **kwargs):
    """RuntimeError: places would have to be numbered anew."""
    raise RuntimeError("reshape is not implemented for sparse tensors")


@implements("expand")
def expand(input: Tensor, *args, **kwargs):
    """RuntimeError: elements cannot be repeated without being held."""
    raise RuntimeError("expand is unsupported for Sparse tensors")
