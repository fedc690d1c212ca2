"""Tensors and their storages: `untyped_storage`, `set_`, `resize_`, `share_memory_`; element by element functions."""

from __future__ import annotations

import warnings

from ..core import engine
from ..core.engine import Storage, Tensor
from ..ops.declare import composite
from ..ops.memory_format import contiguous_format, preserve_format
from .pickling import bytes_of
from .storage_types import BaseStorage, TypedStorage, UntypedStorage, check_dtype, storage_class, typed


# -- a tensor's storage -----------------------------------------------------------------------------
@composite(method=True, public=False)
def untyped_storage(input) -> UntypedStorage:
    """The bytes that the tensor and its views lie in."""
    return UntypedStorage(input._storage)


@composite(method=True, public=False)
def storage(input) -> TypedStorage:
    """The memory of the tensor as elements of its dtype. Deprecated: use `untyped_storage`."""
    warnings.warn("TypedStorage is deprecated. Use tensor.untyped_storage() instead of tensor.storage()", stacklevel=2)
    return typed(input._storage, input.dtype)


@composite(method=True, public=False)
def storage_type(input) -> type:
    """The class of `storage()`."""
    return storage_class(input.dtype)


@composite(method=True, public=False)
def set_(input, source=None, storage_offset=0, size=None, stride=None):
    """Let the tensor lie in the memory of `source`, a tensor or storage, from now on; without it, become empty."""
    if input.requires_grad and input.is_leaf and engine.is_grad_enabled():
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    if source is None:
        source = engine.empty_tensor(engine.layout_of((0,), None, input.dtype))
    if isinstance(source, Tensor):
        if source.dtype is not input.dtype:
            raise RuntimeError(
                f"Could not set tensor of type {source.dtype.name} to a tensor of type {input.dtype.name}"
            )
        memory, shape, strides = source._storage, tuple(source.shape), source.stride()
        storage_offset = storage_offset or source.storage_offset()
    else:
        if not isinstance(source, BaseStorage):
            raise TypeError(
                f"set_(): argument 'source' (position 1) must be Tensor or Storage, not {type(source).__name__}"
            )
        check_dtype(source, input.dtype, "storage")
        memory = source._storage
        shape, strides = ((memory.nbytes // input.element_size() - storage_offset,) if size is None else size), None
    if size is not None:
        shape, strides = size, stride
        make_room(memory, engine.layout_of(tuple(size), stride, input.dtype), storage_offset)
    bits = input._layout.bits
    engine.set_tensor(input, engine.make_tensor(memory, storage_offset, shape, strides, input.dtype, bits=bits))
    return input


def make_room(memory: Storage, layout, offset: int) -> None:
    """Let a storage grow if it is too small for a tensor of a layout at an offset (in elements)."""
    needed = (offset + 1 + sum((n - 1) * step for n, step in zip(layout.shape, layout.strides))) * layout.dtype.itemsize
    if layout.numel and offset >= 0 and needed > memory.nbytes:
        memory.resize(needed)


# -- sizes ------------------------------------------------------------------------------------------
@composite(method=True, public=False)
def resize_(input, *sizes, size=None, memory_format=contiguous_format):
    """Give the tensor another shape, row-major; elements stay in memory, new ones are undefined."""
    from ..ops.creation import sizes_of

    if input.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    shape = sizes_of(sizes, size)
    if input.shape != shape:  # strides stay, too, where nothing changes
        engine.resize(input, shape)
    if memory_format not in (contiguous_format, preserve_format, None):
        from ..ops.memory_format import channels_last_strides

        strides = channels_last_strides(tuple(input.shape), memory_format)
        set_(input, UntypedStorage(input._storage), input.storage_offset(), tuple(input.shape), strides)
    return input


@composite
def resize_as_(input, the_template, *, memory_format=contiguous_format):
    """`resize_` to the shape of another tensor."""
    return resize_(input, tuple(the_template.shape), memory_format=memory_format)


composite(resize_as_, method=True, public=False)


# -- memory shared between processes ----------------------------------------------------------------
class SharedMemory:
    """The owner of a storage that lies in a segment. `left` is memory that the storage lay in before (see `move`)."""

    __slots__ = ("left", "segment")

    def __init__(self, segment):
        self.segment, self.left = segment, None


def is_shared_memory(storage: Storage) -> bool:
    """Whether other processes can map what a storage lies in."""
    return isinstance(storage.owner, SharedMemory)


@composite(method=True, public=False)
def share_memory_(input):
    """Move the tensor to memory that other processes share, with all that view the same memory.

    Child processes that are forked see it, and it is sent to others without a copy. NumPy arrays and other libraries
    that looked at the memory keep what they saw. Where a tensor made by `data` lies in the memory too, the tensor
    moves alone.

    Raises:
        RuntimeError: where there is no room for more shared memory
    """
    from .segments import share, shared_room
    from .sending import register

    if input._layout.sparse:
        raise NotImplementedError("share_memory_: quantized tensors are copied when they are sent; share int_repr()")
    register()
    old = input._storage
    if not share(old):
        moved = shared_room(old.nbytes)
        bytes_of(moved).copy_(bytes_of(old))
        place = input.storage_offset(), input.shape, input.stride(), input.dtype
        engine.swap_memory(input, engine.make_tensor(moved, *place, bits=input._layout.bits))
    return input


@composite(method=True, public=False)
def is_shared(input) -> bool:
    """Whether the tensor lies in memory that other processes can share."""
    return is_shared_memory(input._storage)


# -- Python functions, element by element -----------------------------------------------------------
def checked(name: str, *tensors) -> None:
    if any(t.requires_grad for t in tensors):
        raise RuntimeError(f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead.")


def write_elements(target: Tensor, values) -> Tensor:
    made = engine.empty_tensor(engine.layout_of(target.shape, None, target.dtype))
    engine.write_elements(made, values)
    return target.copy_(made)


@composite(method=True, public=False)
def apply_(input, callable):
    """Replace each element by what a Python function makes of it. Slow: one call for each element."""
    checked("apply_", input)
    return write_elements(input, map(callable, input.reshape(-1).tolist()))


@composite(method=True, public=False)
def map_(input, other, callable):
    """Replace each element by what a Python function makes of it and of that of `other`. Slow: a call for each."""
    checked("map_", input, other)
    others = other.expand(input.shape).reshape(-1).tolist()
    return write_elements(input, map(callable, input.reshape(-1).tolist(), others))


@composite(method=True, public=False)
def map2_(input, x, y, callable):
    """Replace each element by what a Python function makes of it and of those of `x` and `y`."""
    checked("map2_", input, x, y)
    others = [t.expand(input.shape).reshape(-1).tolist() for t in (x, y)]
    return write_elements(input, map(callable, input.reshape(-1).tolist(), *others))


__all__ = ["TypedStorage", "UntypedStorage"]
