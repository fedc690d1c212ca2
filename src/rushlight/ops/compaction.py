"""Where elements are not zero: their positions, and the values there. The sizes of results depend on data."""

from __future__ import annotations

from functools import cache

from ..core import engine
from ..core.engine import Tensor, empty_tensor, launch_kernel, layout_of
from ..ir import dtypes
from ..ir.graph import Value
from .copying import fill
from .declare import FUNCTIONS, composite

BLOCK = 1 << 14  # elements that one thread counts at a time: that of compiler.index_compact
_PAIR = layout_of((2,), None, dtypes.int64)


@cache
def kernel(name: str, *arguments) -> int:
    """The address of a kernel of `compiler.index_compact`."""
    from ..compiler import index_compact

    return getattr(index_compact, name + "_kernel")(*arguments).address


def counted(mask) -> tuple:
    """(mask row-major, where the results of each block start, how many elements are not zero)"""
    if isinstance(mask, Value):
        raise NotImplementedError("the number of true elements of a mask is data: it is not known while tracing")
    if any(stride for _, _, stride in mask._layout.batch or ()):
        raise RuntimeError(
            "vmap: nonzero, masks as indices, masked_select and unique give results whose shape depends on data, "
            "which differs from sample to sample: use where() or masked_fill() inside of vmap, or nonzero_static "
            "outside of it"
        )
    mask = (mask.detach() if mask.requires_grad else mask).contiguous()
    count = mask.numel()
    if count > BLOCK:
        blocks = -(-count // BLOCK)
        starts = empty_tensor(layout_of((blocks + 1,), None, dtypes.int64))
        launch_kernel(kernel("count", mask.dtype), [mask.data_ptr(), starts.data_ptr()], [count], blocks, 1)
        launch_kernel(kernel("starts"), [starts.data_ptr()], [blocks], 1, 1)
        return mask, starts, starts[blocks].item()
    starts = empty_tensor(_PAIR)
    engine.clear_memory(starts)
    if count:  # one block, which starts at 0: its count is the total
        launch_kernel(kernel("count", mask.dtype), [mask.data_ptr(), starts.data_ptr() + 8], [count], 1, 1)
    return mask, starts, starts[1].item()


def positions(mask) -> Tensor:
    """int64[count, dims], stored by columns."""
    mask, starts, total = counted(mask)
    shape, count = mask.shape, mask.numel()
    result = empty_tensor(layout_of((total, len(shape)), (1, total or 1), dtypes.int64))
    if total and shape:
        pointers = [mask.data_ptr(), starts.data_ptr(), result.data_ptr()]
        address = kernel("positions", mask.dtype, len(shape))
        launch_kernel(address, pointers, [count, 1, total, *shape], -(-count // BLOCK), 1)
    return result


def compacted(x, mask) -> Tensor:
    """The values where a mask of the same shape holds; outside of any graph."""
    mask, starts, total = counted(mask)
    x, count = FUNCTIONS["resolve_neg"](x.detach().resolve_conj()).contiguous(), mask.numel()
    result = empty_tensor(layout_of((total,), None, x.dtype))
    if total:
        pointers = [mask.data_ptr(), starts.data_ptr(), x.data_ptr(), result.data_ptr()]
        launch_kernel(kernel("values", x.itemsize), pointers, [count], -(-count // BLOCK), 1)
    return result


def nonzero_columns(mask) -> list:
    """One int64[count] per dim of the mask."""
    found = positions(mask)
    return [found[:, d] for d in range(mask.ndim)]


@composite(method=True)
def nonzero(input, *, out=None, as_tuple=False):
    """The positions of all elements that are not zero: int64[count, dims], or with `as_tuple` one tensor per dim.

    >>> rushlight.tensor([0, 3, 0, 5]).nonzero()
    tensor([[1],
            [3]])
    """
    if as_tuple:
        return tuple(nonzero_columns(input.reshape((1,)) if input.ndim == 0 else input))
    found = positions(input)
    if out is None:
        return found
    from .writing import store

    return store(out, found, "nonzero")


@composite(method=True)
def argwhere(input):
    """The positions of all elements that are not zero, as `nonzero` has them."""
    return positions(input)


@composite(method=True)
def nonzero_static(input, *, size, fill_value=-1, out=None):
    """The first `size` positions that `nonzero` finds, filled up with `fill_value`: int64[size, dims]."""
    found = positions(input)[:size]
    made = empty_tensor(layout_of((size, input.ndim), None, dtypes.int64))
    fill.in_place(made, fill_value)
    made[: found.shape[0]] = found
    if out is None:
        return made
    from .writing import store

    return store(out, made, "nonzero_static")


FUNCTIONS["where"].with_fewer = engine.Composite(lambda condition: nonzero(condition, as_tuple=True), "where")
