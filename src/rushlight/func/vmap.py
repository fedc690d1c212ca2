"""`vmap`: a function of single samples becomes one of whole batches."""

from __future__ import annotations

import functools
from collections.abc import Callable

from ..autograd.levels import Level, enter, is_batched, leave
from ..core.engine import Tensor
from ..ops.declare import FUNCTIONS
from ..utils._pytree import broadcast_leaves, tree_flatten, tree_unflatten

RANDOMNESS = ("error", "same", "different")


def vmap(
    func: Callable,
    in_dims: int | tuple | None = 0,
    out_dims: int | tuple | None = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable:
    """A function that applies `func` to every sample along dims of its inputs, in one go.

    Inside `func` a tensor has the shape of a sample. Every op is planned once for the batch, so this is as quick as
    code written for batches. It nests, and gradients pass through it and can be taken inside of it.

    in_dims     the dim of each input to map over, None for what all samples share: an int for all inputs, or a tuple
                with an entry per input, which may be a tree like that input (dicts, lists, tuples)
    out_dims    where the samples lie in each output: an int for all, or a tree like the output; None for an output
                that is the same for all samples
    randomness  what random numbers do in `func`: "error", "different" for each sample, or the "same" for all
    chunk_size  how many samples to take at a time, to save memory (default: all)

    Keyword arguments are shared by all samples. `.item()`, control flow that depends on a tensor's numbers, results
    whose shape depends on data and `out=` raise RuntimeError, as does writing a batch into a tensor that all samples
    share. ValueError for dims that do not fit the inputs, or batches of different sizes.

    >>> dot = rushlight.vmap(rushlight.dot)
    >>> dot(rushlight.ones(2, 3), rushlight.arange(6.0).reshape(2, 3))
    tensor([ 3., 12.])
    >>> rushlight.vmap(rushlight.dot, in_dims=(0, None))(rushlight.eye(3), rushlight.arange(3.0))
    tensor([0., 1., 2.])
    """
    if randomness not in RANDOMNESS:
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if chunk_size is not None and (not isinstance(chunk_size, int) or chunk_size <= 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func, updated=())
    def mapped(*args, **kwargs):
        inputs = Inputs(func, in_dims, args)
        if chunk_size is None or chunk_size >= inputs.size:
            return run(func, inputs, inputs.leaves, inputs.size, out_dims, randomness, kwargs)
        return in_chunks(func, inputs, out_dims, randomness, kwargs, chunk_size)

    return mapped


def name_of(func) -> str:
    return getattr(func, "__name__", None) or repr(func)


class Inputs:
    """The arguments of a call as leaves, with the dim that is mapped over for each."""

    def __init__(self, func, in_dims, args: tuple):
        self.leaves, self.spec = tree_flatten(args)
        self.name = name_of(func)
        title = f"vmap({self.name}, in_dims={in_dims}, ...)(<inputs>)"
        if not isinstance(in_dims, (int, tuple)) or isinstance(in_dims, bool):
            raise ValueError(
                f"{title}: expected `in_dims` to be int or a (potentially nested) tuple matching the structure of "
                f"inputs, got: {type(in_dims)}."
            )
        if not args:
            raise ValueError(
                f"vmap({self.name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to "
                "vmap over a function with no inputs. The latter is unsupported."
            )
        dims = broadcast_leaves(in_dims, self.spec, is_leaf=None)
        if dims is None:
            raise ValueError(
                f"{title}: in_dims is not compatible with the structure of `inputs`. in_dims has structure "
                f"{tree_flatten(in_dims)[1]} but inputs has structure {self.spec}."
            )
        self.dims = [checked_dim(title, leaf, dim) for leaf, dim in zip(self.leaves, dims)]
        self.size = self.batch_size()

    def batch_size(self) -> int:
        sizes = [leaf.shape[dim] for leaf, dim in zip(self.leaves, self.dims) if dim is not None]
        if not sizes:
            raise ValueError(f"vmap({self.name}): at least one input must be mapped over: all in_dims are None")
        if any(size != sizes[0] for size in sizes):
            raise ValueError(
                f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the "
                "mapped dimension"
            )
        return sizes[0]


def checked_dim(title: str, leaf, dim) -> int | None:
    """A dim of a leaf, counted from the front."""
    if dim is None:
        return None
    if not isinstance(dim, int) or isinstance(dim, bool):
        raise ValueError(
            f"{title}: Got in_dim={dim} for an input but in_dim must be either an integer dimension or None."
        )
    if not isinstance(leaf, Tensor):
        raise ValueError(
            f"{title}: Got in_dim={dim} for an input but the input is of type {type(leaf)}. We cannot vmap over "
            "non-Tensor arguments, please use None as the respective in_dim"
        )
    if not -leaf.ndim <= dim < leaf.ndim:
        raise ValueError(
            f"{title}: Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {leaf.ndim} so "
            f"expected in_dim to satisfy -{leaf.ndim} <= in_dim < {leaf.ndim}."
        )
    return dim + leaf.ndim if dim < 0 else dim


def run(func, inputs: Inputs, leaves: list, size: int, out_dims, randomness: str, kwargs: dict):
    """One call of the function over `size` samples."""
    with Level(size, randomness) as level:
        samples = [leaf if dim is None else enter(leaf, dim, level) for leaf, dim in zip(leaves, inputs.dims)]
        found, spec = tree_flatten(func(*tree_unflatten(samples, inputs.spec), **kwargs))
        dims = output_dims(inputs.name, out_dims, spec)
        found = [collected(inputs.name, y, dim, level) for y, dim in zip(found, dims)]
    return tree_unflatten(found, spec)


def output_dims(name: str, out_dims, spec) -> list:
    """One dim (or None) per leaf of the output."""
    dims = broadcast_leaves(out_dims, spec)
    if dims is None and isinstance(out_dims, tuple) and len(out_dims) == 1 and spec.is_leaf():
        dims = list(out_dims)
    if dims is None or any(not (dim is None or isinstance(dim, int)) for dim in dims):
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of "
            f"`outputs`. out_dims has structure {tree_flatten(out_dims)[1]} but outputs has structure {spec}."
        )
    return dims


def collected(name: str, output, dim, level: Level):
    """An output with all samples."""
    if dim is None:
        if isinstance(output, Tensor) and is_batched(output, level):
            raise ValueError(
                f"vmap({name}, ...): `{name}` can not return a Tensor that is vmapped over when out_dim is None"
            )
        return output
    if not isinstance(output, Tensor):
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(output)}. Did you mean to set "
            "out_dims= to None for output?"
        )
    if not -output.ndim - 1 <= dim <= output.ndim:
        raise IndexError(
            f"vmap({name}, ...): out_dim={dim} is out of range for an output of dimensionality {output.ndim}: expected "
            f"it in [{-output.ndim - 1}, {output.ndim}]"
        )
    return leave(output, dim, level)


def in_chunks(func, inputs: Inputs, out_dims, randomness: str, kwargs: dict, chunk_size: int):
    """Calls over parts of the batch, and their outputs joined."""
    parts = [
        [leaf] * -(-inputs.size // chunk_size) if dim is None else leaf.split(chunk_size, dim)
        for leaf, dim in zip(inputs.leaves, inputs.dims)
    ]
    chunks = []
    for start, leaves in zip(range(0, inputs.size, chunk_size), zip(*parts)):
        size = min(chunk_size, inputs.size - start)
        found, spec = tree_flatten(run(func, inputs, list(leaves), size, out_dims, randomness, kwargs))
        chunks.append(found)
    dims = output_dims(inputs.name, out_dims, spec)
    joined = [ys[0] if dim is None else FUNCTIONS["cat"](ys, dim) for ys, dim in zip(map(list, zip(*chunks)), dims)]
    return tree_unflatten(joined, spec)
