"""Storages as objects, and tensors that change theirs: `untyped_storage`, `set_`, `resize_`, `share_memory_`."""

from __future__ import annotations

import warnings

from ..core import engine
from ..core.engine import Device, Storage, Tensor
from ..ir import dtypes
from ..ops.declare import FUNCTIONS, composite
from ..ops.from_data import from_numbers
from ..ops.memory_format import contiguous_format, preserve_format
from ..ops.tensor_types import NAMES
from .pickling import bytes_of


class UntypedStorage:
    """The bytes that a tensor, and all views of it, lie in."""

    dtype = dtypes.uint8

    def __init__(self, size: int | Storage = 0, *, device=None):
        engine.require_device(device)
        if not isinstance(size, Storage):
            size = engine.empty_tensor(engine.layout_of((int(size),), None, dtypes.uint8))._storage
        self._storage = size

    # -- facts --------------------------------------------------------------------------------------
    @property
    def device(self):
        return Device("cpu")

    is_cuda = property(lambda self: False)

    def nbytes(self) -> int:
        """The number of bytes."""
        return self._storage.nbytes

    def element_size(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    def size(self) -> int:
        """The number of elements."""
        return self._storage.nbytes // self.dtype.itemsize

    __len__ = size

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return self._storage.address

    @property
    def _cdata(self) -> int:
        return id(self._storage)

    def untyped(self) -> UntypedStorage:
        """The same memory as bytes."""
        return UntypedStorage(self._storage)

    def is_shared(self) -> bool:
        """Whether the memory is shared with child processes."""
        return is_shared_memory(self._storage)

    # -- elements -----------------------------------------------------------------------------------
    def as_tensor(self, dtype=None) -> Tensor:
        """The elements as a tensor over this memory."""
        dtype = dtype or self.dtype
        return engine.make_tensor(self._storage, 0, (self._storage.nbytes // dtype.itemsize,), None, dtype)

    def tolist(self) -> list:
        """The elements as Python numbers."""
        return self.as_tensor().tolist()

    def __getitem__(self, index):
        found = self.as_tensor()[index]
        return type(self)._over(found) if isinstance(index, slice) else found.item()

    def __setitem__(self, index, value) -> None:
        self.as_tensor()[index] = value.as_tensor() if isinstance(value, UntypedStorage) else value

    def __iter__(self):
        return iter(self.tolist())

    def fill_(self, value):
        """Set every element."""
        self.as_tensor().fill_(value)
        return self

    def copy_(self, source, non_blocking=False):
        """Copy the elements of another storage."""
        self.as_tensor().copy_(source.as_tensor())
        return self

    def clone(self):
        """A copy in fresh memory."""
        return type(self)._over(self.as_tensor().clone())

    def cpu(self):
        """This storage: all memory is the CPU's."""
        return self

    def __eq__(self, other) -> bool:
        return isinstance(other, UntypedStorage) and self._storage is other._storage

    def __hash__(self) -> int:
        return hash(id(self._storage))

    @classmethod
    def _over(cls, tensor: Tensor):
        return cls(bytes_of(tensor._storage)._storage)

    def __repr__(self) -> str:
        rows = "".join(f" {value}\n" for value in self.tolist())
        return f"{rows}[{type(self).__module__}.{type(self).__name__}({self._facts()}) of size {self.size()}]"

    def _facts(self) -> str:
        return "device=cpu"

    def __reduce__(self):
        return type(self), (self._storage,)


class TypedStorage(UntypedStorage):
    """The memory of a tensor as elements of one dtype."""

    def __init__(self, storage: Storage | UntypedStorage | int = 0, *, dtype=None):
        super().__init__(storage._storage if isinstance(storage, UntypedStorage) else storage)
        self.dtype = dtype or dtypes.default

    def __reduce__(self):
        return _typed, (self._storage, self.dtype)

    def clone(self):
        """A copy in fresh memory."""
        return _typed(self.as_tensor().clone()._storage, self.dtype)

    def __getitem__(self, index):
        found = self.as_tensor()[index]
        return _typed(found.clone()._storage, self.dtype) if isinstance(index, slice) else found.item()

    def _facts(self) -> str:
        return f"dtype={self.dtype}, device=cpu"


def _typed(storage: Storage, dtype) -> TypedStorage:
    return TypedStorage(storage, dtype=dtype)


class _StorageOf(TypedStorage):
    """A storage of the one dtype of its class, by size, by values, or over another storage."""

    kind = dtypes.float32

    def __init__(self, given=0):
        if not isinstance(given, (int, Storage, UntypedStorage)):
            given = from_numbers(given, self.kind)._storage
        elif isinstance(given, int):
            given = given * self.kind.itemsize
        super().__init__(given, dtype=self.kind)

    def __reduce__(self):
        return _typed, (self._storage, self.dtype)


FUNCTIONS.update({"UntypedStorage": UntypedStorage, "TypedStorage": TypedStorage})
for _name, _dtype in NAMES.items():
    _name = _name.replace("Tensor", "Storage")
    FUNCTIONS[_name] = type(_name, (_StorageOf,), {"kind": _dtype, "dtype": _dtype, "__doc__": _StorageOf.__doc__})


# -- a tensor's storage -----------------------------------------------------------------------------
@composite(method=True, public=False)
def untyped_storage(input) -> UntypedStorage:
    """The bytes that the tensor and its views lie in."""
    return UntypedStorage(input._storage)


@composite(method=True, public=False)
def storage(input) -> TypedStorage:
    """The memory of the tensor as elements of its dtype. Deprecated: use `untyped_storage`."""
    warnings.warn("TypedStorage is deprecated. Use tensor.untyped_storage() instead of tensor.storage()", stacklevel=2)
    return _typed(input._storage, input.dtype)


@composite(method=True, public=False)
def storage_type(input) -> type:
    """The class of `storage()`."""
    return TypedStorage


@composite(method=True, public=False)
def set_(input, source=None, storage_offset=0, size=None, stride=None):
    """Let the tensor lie in the memory of `source`, a tensor or storage, from now on; without it, become empty."""
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
        memory = source._storage
        shape, strides = ((memory.nbytes // input.element_size() - storage_offset,) if size is None else size), None
    if size is not None:
        shape, strides = size, stride
    bits = input._layout.bits
    engine.set_tensor(input, engine.make_tensor(memory, storage_offset, shape, strides, input.dtype, bits=bits))
    return input


# -- sizes ------------------------------------------------------------------------------------------
@composite(method=True, public=False)
def resize_(input, *sizes, size=None, memory_format=contiguous_format):
    """Give the tensor another shape, row-major; elements stay in memory, new ones are undefined."""
    from ..ops.creation import sizes_of

    if input.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    engine.resize(input, sizes_of(sizes, size))
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
    """Anonymous memory that child processes see, too."""

    def __init__(self, nbytes: int):
        import ctypes
        import mmap

        self.mapped = mmap.mmap(-1, max(nbytes, 1))
        self.memory = (ctypes.c_char * max(nbytes, 1)).from_buffer(self.mapped)
        self.address = ctypes.addressof(self.memory)


def is_shared_memory(storage: Storage) -> bool:
    return isinstance(storage.owner, SharedMemory)


@composite(method=True, public=False)
def share_memory_(input):
    """Move the tensor to memory that forked processes share; other views of its old memory stay where they are."""
    if is_shared_memory(input._storage):
        return input
    old = input._storage
    shared = SharedMemory(old.nbytes)
    moved = engine.borrow_storage(shared.address, old.nbytes, shared)
    bytes_of(moved).copy_(bytes_of(old))
    place = input.storage_offset(), input.shape, input.stride(), input.dtype
    engine.swap_memory(input, engine.make_tensor(moved, *place, bits=input._layout.bits))
    return input


@composite(method=True, public=False)
def is_shared(input) -> bool:
    """Whether the tensor lies in memory that forked processes share."""
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
