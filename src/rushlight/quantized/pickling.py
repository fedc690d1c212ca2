"""Copies and pickles of quantized tensors: their storage, their place in it, and what reads it."""

from __future__ import annotations

from ..core import engine
from ..core.engine import Storage, Tensor
from ..interop.pickling import attributes, copy_of, dressed, leaf_copy
from ..ir.dtype_names import REPRESENTATION
from .dispatch import implements
from .functions import as_scale, as_zero_point, channels
from .quantizers import PerTensor, from_state, quantized, quantizer_of
from .schemes import SCHEMES, per_tensor_affine


def instance(made: Tensor, cls) -> Tensor:
    """A tensor as an instance of a subclass."""
    return made if cls is Tensor else Tensor._make_subclass(cls, made)


def from_storage(storage: Storage, offset: int, shape, stride, dtype, state: tuple) -> Tensor:
    """The quantized tensor that lies at a place of a storage."""
    integers = engine.make_tensor(storage, offset, shape, stride, REPRESENTATION[dtype])
    return quantized(integers, from_state(*state))


def from_parts(integers: Tensor, scheme: str, parameters: list) -> Tensor:
    """The quantized tensor over integers, its parameters checked as those of a user are."""
    scheme = SCHEMES[scheme]
    if scheme is per_tensor_affine:
        return quantized(integers, PerTensor(as_scale("load", parameters[0]), as_zero_point("load", parameters[1])))
    return quantized(integers, channels("load", *parameters))


def rebuild(cls, storage: Storage, offset: int, shape, stride, dtype, state: tuple, attributes: dict) -> Tensor:
    """The tensor of a pickle."""
    return dressed(instance(from_storage(storage, offset, shape, stride, dtype, state), cls), False, attributes)


@implements("reduce")
def reduce(tensor: Tensor, protocol: int) -> tuple:
    """See `object.__reduce_ex__`."""
    place = tensor.storage_offset(), tuple(tensor.shape), tensor.stride(), tensor.dtype
    parts = type(tensor), tensor._storage, *place, quantizer_of(tensor).state()
    return rebuild, (*parts, attributes(tensor))


def copied_storage(storage: Storage, memo: dict) -> Storage:
    """A storage with the same bytes, one for all tensors over the same memory, whatever their quantizers."""
    place = "quantized storage", storage.address, storage.nbytes
    if place not in memo:
        memo[place] = copy_of(storage, memo)
    return memo[place]


@implements("deepcopy")
def deepcopy(tensor: Tensor, memo: dict) -> Tensor:
    """A deep copy; see `Tensor.__deepcopy__`. Views of one tensor share memory in the copy, too."""

    def copied() -> Tensor:
        place = tensor.storage_offset(), tensor.shape, tensor.stride(), tensor.dtype
        made = from_storage(copied_storage(tensor._storage, memo), *place, quantizer_of(tensor).state())
        return instance(made, type(tensor))

    return leaf_copy(tensor, memo, copied)
