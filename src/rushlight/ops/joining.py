"""Tensors put together from several, taken apart, repeated and rearranged."""

from __future__ import annotations

import sys
from itertools import accumulate, pairwise

from ..core import engine
from ..core.engine import Tensor
from ..ir import build as B
from ..ir import dtypes
from ..ir.graph import Value
from .checks import scalar_type
from .copying import converted
from .creation import fresh
from .declare import FUNCTIONS, composite, op, set_many, twin_of
from .notices import warn_user


# -- put together -------------------------------------------------------------------------------
@op(out="apart", alias=("concat", "concatenate"), channels=True, row_major=True)
def cat(tensors: list, dim: int = 0):
    """Tensors one after the other along `dim`; all other sizes must agree.

    >>> rushlight.cat([rushlight.zeros(1, 2), rushlight.ones(1, 2)])
    tensor([[0., 0.],
            [1., 1.]])
    """
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    check_tensors(tensors)
    for place, x in enumerate(tensors):
        if x.ndim == 0:
            raise RuntimeError(f"zero-dimensional tensor (at position {place}) cannot be concatenated")
    dtype = tensors[0].dtype
    for x in tensors[1:]:
        dtype = dtypes.promote_types(dtype, x.dtype)
    # a shape of (0,) goes with every other
    filled = [x for x in tensors if not is_nothing(x)] or tensors[:1]
    check_sizes("cat", filled, B.wrap_dim(dim, filled[0].ndim))
    return B.concat([B.cast(x, dtype) for x in filled], dim)


FEW = 8  # tensors that a kernel is made for: any number of them is another one
MANY = 128
SMALL = 2**20  # bytes that are copied at once; threads share more


def set_lists(made: engine.Op, stacked: bool) -> None:
    """Let a function take lists of any length without a kernel for each."""
    whole = twin_of(made)
    whole.most = MANY

    @set_many(made, FEW)
    def join(tensors, dim=0):
        found = engine.side_by_side(tensors, dim, stacked, SMALL if len(tensors) <= MANY else sys.maxsize)
        if found is not None:
            made, needs = found
            return recorded(made, tensors, dim, stacked) if needs else made
        if len(tensors) <= MANY:
            return whole(tensors, dim)
        check_tensors(tensors)
        at = dim if dim >= 0 or not stacked else dim + tensors[0].ndim + 1
        dtype = tensors[0].dtype
        for x in tensors[1:]:
            dtype = dtypes.promote_types(dtype, x.dtype)
        tensors = [x.to(dtype) for x in tensors]
        return cat([made(tensors[i : i + MANY], dim) for i in range(0, len(tensors), MANY)], at)


def recorded(made, tensors, dim: int, stacked: bool):
    """What `engine.side_by_side` made, with a node that takes the cotangent apart."""
    bounds = None if stacked else [0, *accumulate(x.shape[dim] for x in tensors)]

    def backward(cotangent):
        return engine.unbind(cotangent, dim) if stacked else engine.cut(cotangent, dim, bounds)

    engine.attach(engine.python_node("StackBackward0" if stacked else "CatBackward0", tensors, backward), made)
    return made


set_lists(cat, stacked=False)


def check_tensors(tensors) -> None:
    for place, x in enumerate(tensors):
        if not isinstance(x, (Tensor, Value)):
            raise TypeError(f"expected Tensor as element {place} in argument 0, but got {type(x).__name__}")


def is_nothing(x) -> bool:
    return x.ndim == 1 and type(x.shape[0]) is int and x.shape[0] == 0


def check_sizes(name: str, tensors, dim: int) -> None:
    """All shapes must be equal but for `dim`."""
    first = tensors[0]
    for place, x in enumerate(tensors):
        if x.ndim != first.ndim:
            raise RuntimeError(f"Tensors must have same number of dimensions: got {first.ndim} and {x.ndim}")
        for d, (a, b) in enumerate(zip(first.shape, x.shape)):
            if d != dim and a != b:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {int(a)} but got "
                    f"size {int(b)} for tensor number {place} in the list."
                )


@op(out=True)
def stack(tensors: list, dim: int = 0):
    """Tensors of one shape along a new dim."""
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    check_tensors(tensors)
    first = tensors[0]
    for place, x in enumerate(tensors):
        if x.ndim != first.ndim or any(a != b for a, b in zip(x.shape, first.shape)):
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {[int(n) for n in first.shape]} at entry 0 and "
                f"{[int(n) for n in x.shape]} at entry {place}"
            )
    return B.stack(tensors, dim)


set_lists(stack, stacked=True)


def at_least(x, ndim: int):
    """A tensor with dims of size 1 added, as `atleast_2d` and its like do."""
    if x.ndim >= ndim:
        return x
    if ndim == 3 and x.ndim == 2:
        return x.unsqueeze(2)
    if x.ndim == 0:
        return x.reshape((1,) * ndim)
    return x.unsqueeze(0) if ndim == 2 else x.reshape((1, x.shape[0], 1))


def _at_least(ndim: int):
    def function(*tensors):
        if len(tensors) == 1:
            if isinstance(tensors[0], (tuple, list)):
                return tuple(at_least(x, ndim) for x in tensors[0])
            return at_least(tensors[0], ndim)
        return tuple(at_least(x, ndim) for x in tensors)

    function.__name__ = f"atleast_{ndim}d"
    function.__doc__ = f"The tensor, or a tuple of all tensors, with dims of size 1 added to make at least {ndim}."
    return composite(function)


atleast_1d, atleast_2d, atleast_3d = map(_at_least, (1, 2, 3))


def check_any(name: str, tensors) -> list:
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return list(tensors)


@composite
def hstack(tensors, *, out=None):
    """Tensors joined along their second dim, 1-d ones along their only one."""
    tensors = [at_least(x, 1) for x in check_any("hstack", tensors)]
    return cat(tensors, 0 if tensors[0].ndim == 1 else 1, out=out)


@composite(alias=("row_stack",))
def vstack(tensors, *, out=None):
    """Tensors, 1-d ones as rows, joined along their first dim."""
    return cat([at_least(x, 2) for x in check_any("vstack", tensors)], 0, out=out)


@composite
def dstack(tensors, *, out=None):
    """Tensors, with at least three dims each, joined along their third one."""
    return cat([at_least(x, 3) for x in check_any("dstack", tensors)], 2, out=out)


@composite
def column_stack(tensors, *, out=None):
    """Tensors, 1-d ones as columns, joined along their second dim."""
    columns = [x.reshape((x.numel(), 1)) if x.ndim <= 1 else x for x in check_any("column_stack", tensors)]
    return hstack(columns, out=out)


@op(public=False)
def blocks(tensors: list):
    """Matrices along the diagonal of a matrix of zeros."""
    dtype = tensors[0].dtype
    for x in tensors[1:]:
        dtype = dtypes.promote_types(dtype, x.dtype)
    total = 0
    for x in tensors:
        total = total + x.shape[1]
    rows, start = [], 0
    for x in tensors:
        end = start + x.shape[1]
        rows.append(B.pad(B.cast(x, dtype), (0, start), (0, total - end)))
        start = end
    return B.concat(rows, 0)


@set_many(blocks, 16)
def _(tensors):
    width, rows, start = sum(x.shape[1] for x in tensors), [], 0
    for x in tensors:
        rows.append(FUNCTIONS["pad"](x, (start, width - start - x.shape[1])))
        start += x.shape[1]
    return cat(rows, 0)


@composite
def block_diag(*tensors):
    """A matrix with the given matrices, rows or numbers along its diagonal, 0 elsewhere."""
    for place, x in enumerate(tensors):
        if x.ndim > 2:
            raise RuntimeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {place} has {x.ndim} "
                "dimensions"
            )
    if not tensors:
        return fresh((1, 0), None)
    dtype = dtypes.result_type(*((x.dtype, x.ndim == 0, False) for x in tensors))
    return blocks([at_least(converted(x, dtype), 2) for x in tensors])


# -- taken apart --------------------------------------------------------------------------------
def cut(x, dim: int, bounds: list) -> tuple:
    """The parts of `dim` between consecutive bounds."""
    if isinstance(x, Tensor):
        return engine.cut(x, dim, bounds)
    lead = (slice(None),) * dim
    return tuple(x[(*lead, slice(a, max(a, b)))] for a, b in pairwise(bounds))


@composite
def split(tensor, split_size_or_sections, dim=0):
    """Views of the parts of `dim`: of a given size each (the last may be smaller), or of the listed sizes.

    >>> [part.shape for part in rushlight.zeros(5).split(2)]
    [rushlight.Size([2]), rushlight.Size([2]), rushlight.Size([1])]
    """
    if isinstance(split_size_or_sections, (tuple, list)):
        return split_with_sizes(tensor, split_size_or_sections, dim)
    step = int(split_size_or_sections)
    if tensor.ndim == 0:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    if step < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={step}")
    d = B.wrap_dim(dim, tensor.ndim)
    size = int(tensor.shape[d])
    if step == 0 and size:
        raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {size}")
    return cut(tensor, d, [*range(0, size, step or 1), size] if size else [0, 0])


@composite(method=True)
def unsafe_split(input, split_size, dim=0):
    """`split`, for results that are not looked at together."""
    return split(input, split_size, dim)


@composite(method="split", public=False)
def split_method(input, split_size, dim=0):
    """Views of the parts of `dim`: see `split`."""
    return split(input, split_size, dim)


@composite(method=True, alias=("unsafe_split_with_sizes",))
def split_with_sizes(input, split_sizes, dim=0):
    """Views of the parts of `dim` of the listed sizes."""
    if input.ndim == 0:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    d, wanted = B.wrap_dim(dim, input.ndim), [int(n) for n in split_sizes]
    if any(n < 0 for n in wanted):
        raise RuntimeError(
            f"split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={wanted}"
        )
    if sum(wanted) != input.shape[d]:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {int(input.shape[d])} (input tensor's size at "
            f"dimension {d}), but got split_sizes={wanted}"
        )
    return cut(input, d, [0, *accumulate(wanted)])


@composite(method=True, alias=("unsafe_chunk",))
def chunk(input, chunks, dim=0):
    """Views of at most `chunks` parts of `dim`, all of one size but perhaps the last."""
    if input.ndim == 0:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    d = B.wrap_dim(dim, input.ndim)
    size = int(input.shape[d])
    step = -(-size // chunks)
    return cut(input, d, [*range(0, size, step), size] if size else [0] * (chunks + 1))


@composite(method=True)
def tensor_split(
    input, indices_or_sections=None, dim=0, *, indices=None, sections=None, tensor_indices_or_sections=None
):
    """Views of the parts of `dim`: a number of nearly equal ones, or those between the given indices."""
    if input.ndim == 0:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    given = (indices_or_sections, indices, sections, tensor_indices_or_sections)
    chosen = next((v for v in given if v is not None), None)
    if isinstance(chosen, Tensor):
        if chosen.dtype is not dtypes.int64 or chosen.ndim > 1:
            raise RuntimeError(
                "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional int64 "
                f"tensor, but got a tensor with {chosen.ndim} dims and dtype {scalar_type(chosen.dtype)}"
            )
        chosen = chosen.tolist()
    d = B.wrap_dim(dim, input.ndim)
    size = int(input.shape[d])
    if isinstance(chosen, (tuple, list)):
        places = [slice(int(i)).indices(size)[1] for i in chosen]
        return cut(input, d, [0, *places, size])
    if chosen <= 0:
        raise RuntimeError(f"number of sections must be larger than 0, got {chosen}")
    short, longer = divmod(size, chosen)
    return cut(input, d, [0, *accumulate([short + 1] * longer + [short] * (chosen - longer))])


def _split_along(name: str, least: int, dim: int):
    def function(input, indices_or_sections=None, *, indices=None, sections=None):
        if input.ndim < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {input.ndim} "
                "dimensions!"
            )
        chosen = next((v for v in (indices_or_sections, indices, sections) if v is not None), None)
        along = 0 if input.ndim == 1 else dim
        if isinstance(chosen, int) and (chosen == 0 or input.shape[along] % chosen):
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {along}, but the size of the dimension "
                f"{int(input.shape[along])} is not divisible by the split_size {chosen}!"
            )
        return tensor_split(input, chosen, along)

    function.__name__ = name
    function.__doc__ = f"`tensor_split` along dim {dim}; a number of parts must divide its size."
    return composite(function, method=True)


hsplit, vsplit, dsplit = _split_along("hsplit", 1, 1), _split_along("vsplit", 2, 0), _split_along("dsplit", 3, 2)


# -- combined -----------------------------------------------------------------------------------
def listed(tensors) -> list:
    """Tensors given one by one or as one list."""
    return list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else list(tensors)


@composite
def broadcast_tensors(*tensors):
    """Views of the tensors in their common shape."""
    tensors = listed(tensors)
    shape = B.broadcast_shapes(*(tuple(x.shape) for x in tensors))
    return tuple(x if x.shape == shape else x.expand(shape) for x in tensors)


@composite
def broadcast_shapes(*shapes):
    """The shape that tensors of the given shapes broadcast to."""
    shapes = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    if any(n < 0 for shape in shapes for n in shape):
        raise RuntimeError(f"Trying to create tensor with negative dimension: {shapes}")
    return engine.Size(B.broadcast_shapes(*shapes))


@composite(method=True)
def broadcast_to(input, size):
    """`expand`: dims of size 1 repeated to `size` without copying."""
    return input.expand(tuple(size))


@composite
def meshgrid(*tensors, indexing=None):
    """For n vectors, n views of shape (len(t0), len(t1), ...): grid i varies along dim i (0 and 1 swapped for "xy")."""
    tensors = check_any("meshgrid", listed(tensors))
    if indexing is None:
        warn_user("meshgrid: in an upcoming release, it will be required to pass the indexing argument.")
        indexing = "ij"
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    for x in tensors:
        if x.ndim > 1:
            raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {list(x.shape)}")
        if x.dtype is not tensors[0].dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    swapped = indexing == "xy" and len(tensors) > 1
    if swapped:
        tensors[:2] = tensors[1::-1]
    shape = tuple(x.numel() for x in tensors)
    grids = [
        x.reshape((*(1,) * d, shape[d], *(1,) * (len(shape) - d - 1))).expand(shape) for d, x in enumerate(tensors)
    ]
    if swapped:
        grids[:2] = grids[1::-1]
    return tuple(grids)


def check_vector(x) -> None:
    if x.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(x.shape)}")


@composite
def cartesian_prod(*tensors):
    """All combinations of one element of each vector, as rows in lexicographic order; one vector stays as it is."""
    tensors = listed(tensors)
    for x in tensors:
        check_vector(x)
    if len(tensors) == 1:
        return tensors[0]
    return stack([x.reshape((-1,)) for x in meshgrid(*tensors, indexing="ij")], 1)


@op(public=False)
def positions_along(input):
    """0, 1, ... for the elements of a vector."""
    return B.iota(input.shape)


@composite
def combinations(input, r=2, with_replacement=False):
    """All subsets of `r` elements of a vector, as rows in order of their places; with repeats if wished."""
    check_vector(input)
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return fresh((0,), input.dtype)
    grids = meshgrid(*[positions_along(input)] * r, indexing="ij")
    chosen = None
    for left, right in pairwise(grids):
        ordered = left <= right if with_replacement else left < right
        chosen = ordered if chosen is None else chosen & ordered
    if chosen is None:
        return input.reshape((-1, 1)).clone()
    return stack([input[grid[chosen]] for grid in grids], 1)
