"""Copies and pickles of tensors: those that share memory share it still in the copy."""

from __future__ import annotations

import copyreg

from ..core import engine
from ..core.engine import Storage, Tensor
from ..ir import dtypes


def bytes_of(storage: Storage) -> Tensor:
    """A storage's memory as a uint8 tensor over it."""
    return engine.make_tensor(storage, 0, (storage.nbytes,), None, dtypes.uint8)


def copy_of(storage: Storage, memo: dict) -> Storage:
    """A storage with the same bytes, one for each original in a deep copy."""
    found = memo.get(id(storage))
    if found is None:
        found = memo[id(storage)] = bytes_of(storage).clone()._storage
        memo.setdefault(id(memo), []).append(storage)  # the original must outlive its key
    return found


def deepcopy(tensor: Tensor, memo: dict) -> Tensor:
    """A leaf's deep copy: values, gradient, strides and the user's attributes; RuntimeError for results of ops."""
    return leaf_copy(tensor, memo, lambda: placed(copy_of(tensor._storage, memo), tensor, type(tensor)))


def leaf_copy(tensor: Tensor, memo: dict, copy_elements) -> Tensor:
    """A deep copy with what tensors of all layouts carry; `copy_elements()` makes the tensor itself."""
    found = memo.get(id(tensor))
    if found is not None:
        return found
    if not tensor.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment. "
            "Use detach().clone() for a copy outside of the graph."
        )
    from copy import deepcopy as copied

    made = memo[id(tensor)] = copy_elements()
    if tensor.requires_grad:
        made.requires_grad_()
    if tensor.grad is not None:
        made.grad = copied(tensor.grad, memo)
    for name, value in attributes(tensor).items():
        setattr(made, name, copied(value, memo))
    return made


def placed(storage: Storage, like: Tensor, kind: type) -> Tensor:
    """A tensor that lies in `storage` as another one does in its own."""
    place = like.storage_offset(), like.shape, like.stride(), like.dtype
    return engine.make_tensor(storage, *place, kind, like._layout.bits)


def attributes(tensor: Tensor) -> dict:
    """What users set on a tensor, or on an instance of their subclass."""
    return tensor._attributes | getattr(tensor, "__dict__", {})


def reduce(tensor: Tensor, protocol: int) -> tuple:
    """Pickled as its whole storage (once for all tensors that share it) and its place in that."""
    place = tensor.storage_offset(), tuple(tensor.shape), tensor.stride(), tensor.dtype, tensor.requires_grad
    return rebuild, (type(tensor), tensor._storage, *place, attributes(tensor), tensor._layout.bits)


def rebuild(kind: type, storage: Storage, offset: int, shape, stride, dtype, requires_grad: bool, attributes, bits=0):
    """The tensor of a pickle."""
    return dressed(engine.make_tensor(storage, offset, shape, stride, dtype, kind, bits), requires_grad, attributes)


def dressed(made: Tensor, requires_grad: bool, attributes: dict) -> Tensor:
    """A tensor with what its pickle says beside its elements."""
    for name, value in attributes.items():
        setattr(made, name, value)
    return made.requires_grad_() if requires_grad else made


def reduce_storage(storage: Storage) -> tuple:
    import ctypes

    return rebuild_storage, (ctypes.string_at(storage.address, storage.nbytes),)


def rebuild_storage(content: bytes) -> Storage:
    """A storage with the given bytes."""
    import ctypes

    storage = engine.empty_tensor(engine.layout_of((len(content),), None, dtypes.uint8))._storage
    ctypes.memmove(storage.address, content, len(content))
    return storage


copyreg.pickle(Storage, reduce_storage)
engine.bind("deepcopy", deepcopy)
engine.bind("reduce", reduce)
