"""Storages as objects: the bytes that tensors share (`UntypedStorage`), and the same seen as elements of one dtype."""

from __future__ import annotations

from ..core import engine
from ..core.engine import Device, Storage, Tensor
from ..ir import dtypes
from ..ir.dtype_names import REPRESENTATION, TITLES
from ..ops.checks import scalar_type
from ..ops.declare import FUNCTIONS
from ..ops.from_data import from_numbers
from ..ops.tensor_types import NAMES
from .pickling import bytes_of, copy_of

CASTS = {
    "bool": dtypes.bool_, "byte": dtypes.uint8, "char": dtypes.int8, "short": dtypes.int16, "int": dtypes.int32,
    "long": dtypes.int64, "half": dtypes.float16, "bfloat16": dtypes.bfloat16, "float": dtypes.float32,
    "double": dtypes.float64, "complex_float": dtypes.complex64, "complex_double": dtypes.complex128,
}  # fmt: skip


class BaseStorage:
    """What both kinds of storage do: `self._storage` is the memory, `self.dtype` how it is read."""

    dtype = dtypes.uint8
    is_cuda = is_sparse = is_sparse_csr = is_hpu = False
    filename = None
    _storage: Storage

    # -- facts --------------------------------------------------------------------------------------
    @property
    def device(self):
        return Device("cpu")

    def get_device(self) -> int:
        """-1: the memory is the processor's."""
        return -1

    def nbytes(self) -> int:
        """The number of bytes."""
        return self._storage.nbytes

    def element_size(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    def size(self) -> int:
        """The number of elements."""
        return self._storage.nbytes // self.dtype.itemsize

    def __len__(self) -> int:
        return self.size()

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return self._storage.address

    @property
    def _cdata(self) -> int:
        return id(self._storage)

    def is_shared(self) -> bool:
        """Whether the memory is shared with child processes."""
        from .storage import is_shared_memory

        return is_shared_memory(self._storage)

    def is_pinned(self, device=None) -> bool:
        """False: memory is pinned for accelerators."""
        return False

    def resizable(self) -> bool:
        """Whether `resize_` may move the memory: no other library and no running kernel looks at it."""
        return self._storage.resizable

    # -- elements -----------------------------------------------------------------------------------
    def as_tensor(self, dtype=None) -> Tensor:
        """The elements as a tensor over this memory."""
        dtype = dtype or self.dtype
        dtype = REPRESENTATION.get(dtype, dtype)
        return engine.make_tensor(self._storage, 0, (self._storage.nbytes // dtype.itemsize,), None, dtype)

    def tolist(self) -> list:
        """The elements as Python numbers."""
        return self.as_tensor().tolist()

    def _place(self, index) -> int:
        if not hasattr(index, "__index__"):
            raise RuntimeError(f"can't index a {type(self)} with {type(index)}")
        index, size = index.__index__(), self.size()
        if not -size <= index < size:
            raise IndexError(f"index {index} out of range for storage of size {size}")
        return index

    def __iter__(self):
        return iter(self.tolist())

    def fill_(self, value):
        """Set every element."""
        self.as_tensor().fill_(value)
        return self

    def copy_(self, source, non_blocking=False):
        """Copy the bytes of another storage, which must have as many."""
        if not isinstance(source, BaseStorage):
            raise TypeError(f"copy_: expected a storage, got {type(source).__name__}")
        if source.nbytes() != self.nbytes():
            raise RuntimeError(
                f"size does not match, self was {self.nbytes()} bytes but src was {source.nbytes()} bytes"
            )
        bytes_of(self._storage).copy_(bytes_of(source._storage))
        return self

    def share_memory_(self):
        """Move to memory that other processes share, with all tensors that lie in this storage.

        Raises:
            RuntimeError: where a tensor made by `data` lies in the memory too, or there is no room for more
        """
        from .segments import share
        from .sending import register

        register()
        if not share(self._storage):
            raise RuntimeError("share_memory_: a tensor made by `data` lies in the memory; share that tensor instead")
        return self

    def cpu(self):
        """This storage: all memory is the processor's."""
        return self

    def cuda(self, device=None, non_blocking=False):
        """Raises: there is no such device."""
        return engine.require_device("cuda" if device is None else device)

    def to(self, *, device, non_blocking=False):
        """This storage, or an error for a device that is not there."""
        engine.require_device(device)
        return self

    def pin_memory(self, device=None):
        """Raises: memory is pinned for accelerators, and there is none."""
        raise RuntimeError("pin_memory: there is no accelerator to pin memory for")

    def __eq__(self, other) -> bool:
        return isinstance(other, BaseStorage) and self._storage is other._storage

    def __hash__(self) -> int:
        return hash(id(self._storage))

    def __repr__(self) -> str:
        rows = "".join(f" {value}\n" for value in self.tolist())
        return f"{rows}[{type(self).__module__}.{type(self).__name__}({self._facts()}) of size {self.size()}]"

    def __copy__(self):
        return self.clone()


def _add_cast(name: str, dtype) -> None:
    def cast(self) -> TypedStorage:
        return typed(self.as_tensor().to(dtype, copy=True)._storage, dtype)

    cast.__name__, cast.__doc__ = name, f"The elements as {dtype.name}, in fresh memory."
    setattr(BaseStorage, name, cast)


for _name, _dtype in CASTS.items():
    _add_cast(_name, _dtype)


class UntypedStorage(BaseStorage):
    """The bytes that a tensor, and all views of it, lie in: `UntypedStorage(size)`, or of a sequence of numbers.

    >>> storage = rushlight.ones(2).untyped_storage()
    >>> storage.nbytes(), storage[4:].tolist()
    (8, [0, 0, 128, 63])
    """

    def __init__(self, size: int | list | Storage = 0, *, device=None):
        engine.require_device(device)
        if not isinstance(size, (Storage, int)):
            size = from_numbers([int(number) & 255 for number in size], dtypes.uint8)._storage
        elif isinstance(size, int):
            size = engine.empty_tensor(engine.layout_of((size,), None, dtypes.uint8))._storage
        self._storage = size

    @classmethod
    def _new_shared(cls, size: int, *, device="cpu") -> UntypedStorage:
        """A storage of so many bytes in memory that processes share."""
        return cls(size, device=device).share_memory_()

    def untyped(self) -> UntypedStorage:
        """This storage."""
        return self

    def type(self, dtype=None, non_blocking=False) -> str:
        """The name of the class."""
        if dtype is not None:
            raise RuntimeError("type: bytes have no dtype to change; read them with as_tensor(dtype)")
        return f"{UntypedStorage.__module__}.{UntypedStorage.__name__}"

    def new(self) -> UntypedStorage:
        """An empty storage."""
        return UntypedStorage(0)

    def resize_(self, size: int) -> UntypedStorage:
        """Change the number of bytes; those that fit stay, new ones are undefined. Tensors see the memory still.

        Raises:
            RuntimeError: where another library, or a tensor made by `data`, looks at the memory
        """
        self._storage.resize(size)
        return self

    def clone(self) -> UntypedStorage:
        """A copy in fresh memory."""
        return UntypedStorage(bytes_of(self._storage).clone()._storage)

    def byteswap(self, dtype) -> None:
        """Reverse the bytes of each element of a dtype, in place."""
        whole = self.nbytes() // dtype.itemsize * dtype.itemsize
        rows = bytes_of(self._storage)[:whole].reshape(-1, dtype.to_real().itemsize)
        rows.copy_(rows.flip(1))

    def __getitem__(self, index):
        if not isinstance(index, slice):
            return bytes_of(self._storage)[self._place(index)].item()
        start, stop, step = index.indices(self.size())
        if step != 1:
            raise RuntimeError(f"Trying to slice with a step of {step}, but only a step of 1 is supported")
        return UntypedStorage(self._storage.part(start, max(start, stop)))

    def __setitem__(self, index, value) -> None:
        place = index if isinstance(index, slice) else self._place(index)
        bytes_of(self._storage)[place] = value.as_tensor() if isinstance(value, BaseStorage) else value

    def _facts(self) -> str:
        return "device=cpu"

    def __reduce__(self):
        return UntypedStorage, (self._storage,)

    def __deepcopy__(self, memo):
        return UntypedStorage(copy_of(self._storage, memo))


class TypedStorage(BaseStorage):
    """The memory of a tensor as elements of one dtype. Deprecated: use `UntypedStorage`."""

    def __init__(self, *args, wrap_storage=None, dtype=None, device=None):
        engine.require_device(device)
        given = args[0] if args else 0 if wrap_storage is None else wrap_storage
        self.dtype = dtype or dtypes.default
        self._storage = memory_of(given, self.dtype)

    def _new_shared(self, size: int, *, device="cpu") -> TypedStorage:
        """A storage of so many elements of the same dtype in memory that processes share."""
        return TypedStorage(size, dtype=self.dtype, device=device).share_memory_()

    def untyped(self) -> UntypedStorage:
        """The same memory as bytes."""
        return UntypedStorage(self._storage)

    _untyped_storage = property(untyped)

    def pickle_storage_type(self) -> str:
        """The name of the class of storages of this dtype."""
        return storage_class(self.dtype).__name__

    def type(self, dtype=None, non_blocking=False):
        """The name of the class of storages of this dtype, or a copy of the elements in another dtype."""
        if dtype is None:
            kind = storage_class(self.dtype)
            return f"{kind.__module__}.{kind.__name__}"
        name = dtype.rpartition(".")[2] if isinstance(dtype, str) else dtype.__name__
        if name not in LEGACY:
            raise RuntimeError(f"type: {name} is no class of storages")
        return typed(self.as_tensor().to(LEGACY[name].dtype, copy=True)._storage, LEGACY[name].dtype)

    def resize_(self, size: int) -> None:
        """Change the number of elements; those that fit stay, new ones are undefined."""
        self._storage.resize(size * self.dtype.itemsize)

    def clone(self) -> TypedStorage:
        """A copy in fresh memory."""
        return typed(bytes_of(self._storage).clone()._storage, self.dtype)

    def __getitem__(self, index):
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        return self.as_tensor()[self._place(index)].item()

    def __setitem__(self, index, value) -> None:
        place = index if isinstance(index, slice) else self._place(index)
        self.as_tensor()[place] = value.as_tensor() if isinstance(value, BaseStorage) else value

    def _facts(self) -> str:
        return f"dtype={self.dtype}, device=cpu"

    def __reduce__(self):
        return typed, (self._storage, self.dtype)

    def __deepcopy__(self, memo):
        return typed(copy_of(self._storage, memo), self.dtype)


def memory_of(given, dtype) -> Storage:
    """The memory of a storage, fresh memory for a number of elements, or that of a sequence's numbers."""
    if isinstance(given, Storage):
        return given
    if isinstance(given, BaseStorage):
        return given._storage
    dtype = REPRESENTATION.get(dtype, dtype)
    if isinstance(given, int):
        return engine.empty_tensor(engine.layout_of((given,), None, dtype))._storage
    return from_numbers(given, dtype)._storage


def typed(storage: Storage, dtype) -> TypedStorage:
    """Memory as elements of a dtype."""
    return TypedStorage(storage, dtype=dtype)


def check_dtype(storage: BaseStorage, dtype, name: str) -> None:
    """RuntimeError for elements of another dtype; bytes can be read as any."""
    if isinstance(storage, TypedStorage) and storage.dtype is not dtype:
        raise RuntimeError(
            f"Expected a Storage of type {scalar_type(dtype)} or an UntypedStorage, but got type "
            f"{scalar_type(storage.dtype)} for argument 1 '{name}'"
        )


class _OfOneType(type):
    """Storages of one dtype: every storage of that dtype is an instance."""

    def __instancecheck__(cls, obj) -> bool:
        return isinstance(obj, TypedStorage) and obj.dtype is cls.dtype

    def __call__(cls, given=0, *, wrap_storage=None):
        """By size, of numbers, or over another storage."""
        return TypedStorage(given if wrap_storage is None else wrap_storage, dtype=cls.dtype)


LEGACY = {
    name.replace("Tensor", "Storage"): _OfOneType(name.replace("Tensor", "Storage"), (), {"dtype": dtype})
    for name, dtype in NAMES.items()
}
LEGACY |= {f"{title}Storage": _OfOneType(f"{title}Storage", (), {"dtype": dtype}) for dtype, title in TITLES.items()}
for _kind in LEGACY.values():
    _kind.__module__, _kind.__doc__ = dtypes._MODULE, f"Storages of {_kind.dtype.name}."


def storage_class(dtype) -> type:
    """The class of storages of a dtype; TypedStorage for those that have none."""
    return next((kind for kind in LEGACY.values() if kind.dtype is dtype), TypedStorage)


FUNCTIONS.update({"UntypedStorage": UntypedStorage, "TypedStorage": TypedStorage, "Storage": LEGACY["FloatStorage"]})
FUNCTIONS.update(LEGACY)
