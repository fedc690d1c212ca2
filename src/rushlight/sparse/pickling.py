"""Copies and pickles of sparse tensors: made of their parts, with what dense tensors carry, too."""

from __future__ import annotations

from ..core.engine import Tensor
from ..ir import dtypes
from .dispatch import implements
from .parts import Coordinates, compressed, coo, kind_of, parts_of


def state_of(tensor: Tensor) -> tuple:
    """(kind, size, the dense tensors it is made of, whether it is known to be coalesced)"""
    parts = parts_of(tensor)
    if isinstance(parts, Coordinates):
        return kind_of(tensor), tuple(tensor.shape), (parts.indices, parts.values), parts.coalesced
    return kind_of(tensor), tuple(tensor.shape), (parts.pointers, parts.places, parts.values), False


def from_state(kind: int, shape: tuple, parts, is_coalesced: bool) -> Tensor:
    """The tensor that `state_of` describes, its parts checked as those of a user are."""
    from . import invariants
    from .parts import COO

    if kind == COO:
        indices, values = parts
        if indices.dtype is not dtypes.int64:
            raise RuntimeError(f"indices must be int64, but got {indices.dtype.name}")
        invariants.check_coordinates(indices, invariants.check_sizes(indices, values, shape))
        return coo(indices, values, shape, is_coalesced)
    pointers, places, values = parts
    invariants.check_compressed(kind, pointers, places, values, tuple(shape))
    return compressed(kind, pointers, places, values, shape)


def rebuild(cls, kind: int, shape: tuple, parts, is_coalesced: bool, requires_grad: bool, attributes: dict) -> Tensor:
    """The tensor of a pickle."""
    from ..interop.pickling import dressed

    return dressed(instance(from_state(kind, shape, parts, is_coalesced), cls), requires_grad, attributes)


def instance(made: Tensor, cls) -> Tensor:
    """A tensor as an instance of a subclass (a Parameter, say)."""
    return made if cls is Tensor else Tensor._make_subclass(cls, made)


@implements("reduce")
def reduce(tensor: Tensor, protocol: int) -> tuple:
    """See `object.__reduce_ex__`."""
    from ..interop.pickling import attributes

    return rebuild, (type(tensor), *state_of(tensor), tensor.requires_grad, attributes(tensor))


@implements("deepcopy")
def deepcopy(tensor: Tensor, memo: dict) -> Tensor:
    """A leaf's deep copy; see `Tensor.__deepcopy__`."""
    from ..interop.pickling import leaf_copy

    return leaf_copy(tensor, memo, lambda: instance(tensor.detach().clone(), type(tensor)))
