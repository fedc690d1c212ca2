"""Elements repeated, turned and moved: repeat, roll, flip, rotations, dims in another order."""

from __future__ import annotations

from ..core import engine
from ..core.engine import Tensor
from ..ir import build as B
from ..ir import dtypes
from ..ir.primitive import PRIMITIVES
from ..ir.sizes import hint, product
from .checks import scalar_type
from .copying import converted
from .declare import add_method, composite, op
from .indexing import is_zero
from .shape import expand, reshape, squeeze, t, transpose, unsqueeze


# -- repeated -----------------------------------------------------------------------------------
@op(method=True, public=False)
def repeat(input, repeats: tuple):
    """Copies of the tensor side by side, repeats[d] times along dim d; further leading dims may be given.

    >>> rushlight.tensor([1, 2]).repeat(2, 2)
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    new = len(repeats) - input.ndim
    if new < 0:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    shape = (*(1,) * new, *input.shape)
    total = tuple(n * r for n, r in zip(shape, repeats))
    if any(r < 0 for r in repeats):
        raise RuntimeError(f"Trying to create tensor with negative dimension: {list(map(hint, total))}")
    split = B.reshape(input, tuple(n for size in shape for n in (1, size)))
    return B.reshape(B.expand(split, tuple(n for pair in zip(repeats, shape) for n in pair)), total)


@composite(method=True)
def tile(input, *repeats, dims=None):
    """`repeat`, with the repeats of missing leading dims 1: `tile(input, 2, 3)` or `tile(input, (2, 3))`."""
    dims = repeats if dims is None else dims
    dims = tuple(dims[0]) if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else tuple(dims)
    return repeat(input, (*(1,) * (input.ndim - len(dims)), *dims))


@op(public=False)
def repeated_evenly(input, repeats: int, dim: int):
    """Each slice of `dim` `repeats` times in a row."""
    spread = B.unsqueeze(input, dim + 1)
    shape = (*input.shape[: dim + 1], repeats, *input.shape[dim + 1 :])
    total = (*input.shape[:dim], input.shape[dim] * repeats, *input.shape[dim + 1 :])
    return B.reshape(B.expand(spread, shape), total)


@op(public=False)
def repeated_places(ends, total: int):
    """For each of `total` results the slice it repeats, given where the repeats of each slice end."""
    return PRIMITIVES["searchsorted"](ends, B.iota((total,)), right=True)


@composite(method=True)
def repeat_interleave(input, repeats=None, dim=None, *, output_size=None):
    """Each slice of `dim` (each element of the flattened tensor, without) `repeats` times in a row.

    `repeats` is a number, or a tensor with one for each slice. `repeat_interleave(repeats)` gives the places instead.
    """
    if repeats is None:
        if input.ndim != 1 or input.dtype not in (dtypes.int64, dtypes.int32):
            raise RuntimeError("repeat_interleave only accepts 1D int32 or int64 vectors as repeats")
        return converted(interleaved_places(input, output_size), input.dtype)
    if dim is None:
        input, dim = input.reshape((-1,)), 0
    d = B.wrap_dim(dim, input.ndim)
    if input.ndim == 0:
        input = input.reshape((1,))
    if isinstance(repeats, Tensor) and repeats.numel() == 1:
        repeats = repeats.item()
    if not isinstance(repeats, Tensor):
        if repeats < 0:
            raise RuntimeError("Repeats must be non-negative")
        return repeated_evenly(input, int(repeats), d)
    if repeats.dtype not in (dtypes.int64, dtypes.int32):
        raise NotImplementedError(f"\"repeat_interleave_cpu\" not implemented for '{scalar_type(repeats.dtype)}'")
    if repeats.ndim != 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if repeats.shape[0] != input.shape[d]:
        raise RuntimeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {repeats.shape[0]} and "
            f"input.size({d}) = {input.shape[d]}"
        )
    return input.index_select(d, interleaved_places(repeats, output_size))


def interleaved_places(repeats, output_size):
    """i repeats[i] times, for all i in order."""
    if repeats.numel() and repeats.min().item() < 0:
        raise RuntimeError("repeats can not be negative")
    ends = repeats.cumsum(0)
    total = ends[-1].item() if repeats.numel() else 0
    if output_size is not None and output_size != total:
        raise RuntimeError("allocated size does not match required size")
    return repeated_places(ends, total)


# -- turned -------------------------------------------------------------------------------------
@op(method=True, public=True)
def roll(input, shifts: int | tuple, dims: int | tuple = ()):
    """Elements moved by `shifts` along `dims` (of the flattened tensor, without dims); what leaves comes in again."""
    shifts = shifts if isinstance(shifts, tuple) else (shifts,)
    dims = dims if isinstance(dims, tuple) else (dims,)
    if not shifts:
        raise RuntimeError("`shifts` required")
    if not dims and len(shifts) == 1:
        total = product(input.shape)
        return B.reshape(rolled(B.reshape(input, (total,)), shifts[0], 0), input.shape)
    if len(shifts) != len(dims):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    if input.ndim == 0:
        raise IndexError(f"Dimension specified as {dims[0]} but tensor has no dimensions")
    for shift, dim in zip(shifts, dims):
        input = rolled(input, shift, B.wrap_dim(dim, input.ndim))
    return input


def rolled(x, shift: int, dim: int):
    size = x.shape[dim]
    if is_zero(size) or (type(size) is int and size == 1):
        return x
    start = (size - shift) % size
    if start == 0:
        return x
    return B.concat([B.narrow(x, dim, start, size - start), B.narrow(x, dim, 0, start)], dim)


@op(method=True, channels=True)
def flip(input, dims: tuple):
    """The order along `dims` reversed."""
    wrapped = [B.wrap_dim(d, input.ndim) for d in dims]
    for d in wrapped:
        if wrapped.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    return B.flip(input, tuple(wrapped)) if input.ndim else input


@composite(method=True)
def fliplr(input):
    """The columns (dim 1) in reverse order."""
    if input.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return flip(input, (1,))


@composite(method=True)
def flipud(input):
    """The rows (dim 0) in reverse order."""
    if input.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return flip(input, (0,))


@composite(method=True)
def rot90(input, k=1, dims=(0, 1)):
    """The plane of two dims turned by k quarters, from the first dim towards the second."""
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if input.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {input.ndim}")
    first, second = (B.wrap_dim(d, input.ndim) for d in dims)
    if first == second:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    quarters = k % 4
    if quarters == 0:
        return input.clone()
    if quarters == 2:
        return flip(input, (first, second))
    return transpose(flip(input, (second if quarters == 1 else first,)), first, second)


# -- dims in another order ----------------------------------------------------------------------
@op(view=True, method=True, alias=("moveaxis",))
def movedim(input, source: int | tuple, destination: int | tuple):
    """Dims `source` at the positions `destination`; the others keep their order. A view."""
    source, destination = (list(v) if isinstance(v, (tuple, list)) else [v] for v in (source, destination))
    if len(source) != len(destination):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({source} dims) should contain the same number "
            f"of dims as destination ({destination} dims)"
        )
    wanted = [B.wrap_dim(d, input.ndim) for d in source]
    places = [B.wrap_dim(d, input.ndim) for d in destination]
    for name, given, dims in (("source", source, wanted), ("destination", destination, places)):
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({given})")
    if input.ndim == 0:
        return B.permute(input, ())
    rest = iter(d for d in range(input.ndim) if d not in wanted)
    at = dict(zip(places, wanted))
    return B.permute(input, tuple(at[d] if d in at else next(rest) for d in range(input.ndim)))


@op(view=True, method=True)
def unflatten(input, dim: int, sizes: tuple):
    """Dim `dim` as several dims of the given sizes, one of which may be -1."""
    if input.ndim == 0:
        raise RuntimeError("unflatten: expected a tensor with dims, got one of 0 dims; use reshape")
    d = B.wrap_dim(dim, input.ndim)
    size = input.shape[d]
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    known = product(n for n in sizes if n != -1)
    if sizes.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    if (sizes.count(-1) and (known == 0 or size % known != 0)) or (not sizes.count(-1) and known != size):
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {d} ({int(size)}) in the "
            "input tensor"
        )
    sizes = tuple(size // known if n == -1 else n for n in sizes)
    return B.reshape(input, (*input.shape[:d], *sizes, *input.shape[d + 1 :]))


@op(view=True, method="unfold", public=False)
def windows(input, dimension: int, size: int, step: int):
    """Windows of `size` elements, `step` apart, of one dim as a new last dim. A view."""
    d = B.wrap_dim(dimension, input.ndim)
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    x = B.reshape(input, (1,)) if input.ndim == 0 else input
    if size > x.shape[d]:
        raise RuntimeError(f"maximum size for tensor at dimension {d} is {int(x.shape[d])} but size is {size}")
    made = B.unfold(x, d, size, step)
    return B.reshape(made, (size,)) if input.ndim == 0 else made


@composite(method=True)
def narrow_copy(input, dim, start, length):
    """A copy of `length` elements of `dim` from `start`."""
    return input.narrow(dim, start, length).clone()


@composite(method=True, public=False)
def expand_as(input, other):
    """`expand` to the shape of `other`."""
    return expand(input, tuple(other.shape))


@composite(method=True, public=False)
def reshape_as(input, other):
    """`reshape` to the shape of `other`."""
    return reshape(input, tuple(other.shape))


@composite(method=True)
def ravel(input):
    """The elements in row-major order, side by side; a copy is made only if they do not lie so already."""
    return reshape(input, (-1,)).contiguous()


# -- transposes ---------------------------------------------------------------------------------
@op(view=True, method=True)
def adjoint(input):
    """The last two dims exchanged, and conjugated."""
    if input.ndim == 0:
        return B.conj(input)
    if input.ndim == 1:
        raise RuntimeError("tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return B.adjoint(input)


def _mt(input):
    """The last two dims exchanged."""
    if input.ndim == 1:
        raise RuntimeError("tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return input if input.ndim == 0 else transpose(input, -2, -1)


def _h(input):
    """The conjugate transpose of a matrix."""
    if input.ndim not in (0, 2):
        more = " For batches of matrices, consider using tensor.mH" if input.ndim > 2 else ""
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {input.ndim}-D tensor.{more}")
    return adjoint(input)


for _name, _function in (("mT", _mt), ("mH", adjoint), ("H", _h)):
    add_method(_name, property(_function))


# -- views in place -----------------------------------------------------------------------------
def _in_place(name: str, function) -> None:
    def method(input, *args, **kwargs):
        return engine.become_view(input, function(input, *args, **kwargs))

    method.__name__ = name
    method.__doc__ = f"In-place form of `{name[:-1]}`: the tensor itself gets another shape over the same memory."
    add_method(name, method)


for _name, _function in {
    "t_": t,
    "transpose_": transpose,
    "swapaxes_": transpose,
    "swapdims_": transpose,
    "squeeze_": squeeze,
    "unsqueeze_": unsqueeze,
}.items():
    _in_place(_name, _function)
