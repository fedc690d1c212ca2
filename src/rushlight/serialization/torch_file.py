"""PyTorch's files, read without running what is in them.

The zip form that PyTorch writes since 1.6 holds a pickle and one member a storage. A pickle is a program that calls
functions by name; here every name but a few is refused, and those few stand for checked functions of this file.
"""

from __future__ import annotations

import io
import pickle
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable

from ..core import Device, Size, Tensor
from ..core.engine import make_tensor
from ..ir import dtypes
from ..ir.dtype_names import REPRESENTATION, TITLES
from ..ir.dtypes import STORED, DType
from .archive import Archive, read_storage
from .tree import Damaged, as_class, check_geometry, quantized_of, sparse_of

_STORAGES = {
    "ByteStorage": dtypes.uint8, "CharStorage": dtypes.int8, "ShortStorage": dtypes.int16, "IntStorage": dtypes.int32,
    "LongStorage": dtypes.int64, "HalfStorage": dtypes.float16, "BFloat16Storage": dtypes.bfloat16,
    "FloatStorage": dtypes.float32, "DoubleStorage": dtypes.float64, "BoolStorage": dtypes.bool_,
    "ComplexFloatStorage": dtypes.complex64, "ComplexDoubleStorage": dtypes.complex128, "UntypedStorage": dtypes.uint8,
    **{f"{title}Storage": dtype for dtype, title in TITLES.items()},
}  # fmt: skip


SCHEMES = ("per_tensor_affine", "per_channel_affine", "per_channel_affine_float_qparams")


class _Allowed:
    """A callable that stands for a name in a pickle. It has no attributes that a pickle could set."""

    __slots__ = ("function",)

    def __init__(self, function: Callable):
        object.__setattr__(self, "function", function)

    def __call__(self, *args):
        return self.function(*args)

    def __setattr__(self, name: str, value) -> None:
        raise Damaged("a pickle that sets attributes of functions")

    def __setstate__(self, state) -> None:
        raise Damaged("a pickle that sets attributes of functions")


class _Storage:
    """A storage with its element type, as far as `_rebuild_tensor` needs it."""

    __slots__ = ("dtype", "memory")

    def __init__(self, memory, dtype: DType):
        self.memory, self.dtype = memory, dtype


def _check_sizes(values) -> list[int]:
    if not isinstance(values, tuple) or any(type(v) is not int or v < 0 for v in values):
        raise Damaged(f"a tensor with sizes or strides {str(values)[:60]}")
    return list(values)


def _rebuild_tensor(storage, offset, size, stride, requires_grad=False, hooks=None, metadata=None) -> Tensor:
    if not isinstance(storage, _Storage) or type(offset) is not int:
        raise Damaged("a tensor without a storage")
    size, stride, dtype = _check_sizes(size), _check_sizes(stride), storage.dtype
    check_geometry(size, stride, offset, dtype.itemsize, storage.memory.nbytes)
    metadata = metadata if isinstance(metadata, dict) else {}
    bits = (metadata.get("conj") is True and dtype.is_complex) + 2 * (metadata.get("neg") is True)
    tensor = make_tensor(storage.memory, offset, size, stride, dtype, bits=bits)
    return tensor.requires_grad_() if requires_grad is True and (dtype.kind in "fc") else tensor


def _rebuild_typed(storage, offset, size, stride, requires_grad, hooks, dtype, metadata=None) -> Tensor:
    if not isinstance(storage, _Storage) or not isinstance(dtype, DType) or dtype.code < 0:
        raise Damaged("a tensor of an unknown type")
    if storage.dtype not in (dtypes.uint8, dtype):
        raise Damaged(f"a tensor of {dtype.name} over a storage of {storage.dtype.name}")
    return _rebuild_tensor(_Storage(storage.memory, dtype), offset, size, stride, requires_grad, hooks, metadata)


def _rebuild_parameter(data, requires_grad, hooks, state=None) -> Tensor:
    if not isinstance(data, Tensor):
        raise Damaged("a parameter that is no tensor")
    return as_class(data.requires_grad_(requires_grad is True and data.dtype.kind in "fc"), "Parameter")


_LAYOUTS = {"torch.sparse_coo": 1, "torch.sparse_csr": 2, "torch.sparse_csc": 3}


def _rebuild_sparse(layout, data) -> Tensor:
    lengths = {1: (3, 4), 2: (4,), 3: (4,)}.get(layout, ())  # older files do not tell whether a tensor is coalesced
    if not isinstance(data, tuple) or len(data) not in lengths:
        raise Damaged("a sparse tensor of an unknown layout")
    parts, (shape, *flag) = (data[:2], data[2:]) if layout == 1 else (data[:3], data[3:])
    if not all(isinstance(part, Tensor) for part in parts):
        raise Damaged("a sparse tensor that is not made of tensors")
    return sparse_of(layout, _check_sizes(tuple(shape)), list(parts), flag == [True])


def _rebuild_quantized(storage, offset, size, stride, parameters, requires_grad=False, hooks=None, metadata=None):
    if not isinstance(storage, _Storage) or storage.dtype not in REPRESENTATION or not isinstance(parameters, tuple):
        raise Damaged("a quantized tensor of an unknown type")
    integers = _rebuild_tensor(_Storage(storage.memory, REPRESENTATION[storage.dtype]), offset, size, stride)
    scheme, *parameters = parameters
    return quantized_of(integers, scheme, parameters)


def _bytes(text, encoding) -> bytes:
    if encoding != "latin1" or not isinstance(text, str):
        raise Damaged("bytes in an unknown encoding")
    return text.encode("latin1")


def _device(kind: str, index=None) -> Device:
    return Device("cpu")  # wherever it was: this is where it is now


_FUNCTIONS = {
    "torch._utils _rebuild_tensor_v2": _rebuild_tensor,
    "torch._utils _rebuild_tensor_v3": _rebuild_typed,
    "torch._utils _rebuild_sparse_tensor": _rebuild_sparse,
    "torch.serialization _get_layout": lambda name: _LAYOUTS.get(name) if isinstance(name, str) else None,
    "torch._utils _rebuild_qtensor": _rebuild_quantized,
    "torch._utils _rebuild_parameter": _rebuild_parameter,
    "torch._utils _rebuild_parameter_with_state": _rebuild_parameter,
    "torch Size": lambda sizes=(): Size(_check_sizes(tuple(sizes))),
    "torch device": _device,
    "collections OrderedDict": OrderedDict,
    "collections Counter": Counter,
    "collections defaultdict": lambda factory=None, *items: defaultdict(None, *items),
    "_codecs encode": _bytes,
    **{f"{room} {make.__name__}": make for room in ("builtins", "__builtin__") for make in (set, frozenset, complex)},
    **{f"{room} {make.__name__}": make for room in ("builtins", "__builtin__") for make in (dict, list, bytearray)},
}
_CONSTANTS = {f"torch {dtype.name}": dtype for dtype in STORED}
_CONSTANTS |= {f"torch {name}": name for name in SCHEMES}  # of quantized tensors
_TYPES = {f"{room} {name}": dtype for room in ("torch", "torch.storage") for name, dtype in _STORAGES.items()}


class _Unpickler(pickle.Unpickler):
    def __init__(self, content: bytes, archive: Archive, prefix: str):
        super().__init__(io.BytesIO(content), encoding="utf-8")
        self.archive, self.prefix = archive, prefix
        self.storages: dict[str, object] = {}

    def find_class(self, module: str, name: str):
        full = f"{module} {name}"
        if full in _FUNCTIONS:
            return _Allowed(_FUNCTIONS[full])
        found = _CONSTANTS.get(full) or _TYPES.get(full)
        if found is None:
            raise Damaged(
                f"the file calls {module[:60]}.{name[:60]}, which is not one of the functions that build tensors and "
                "containers; save a state_dict() instead"
            )
        return found

    def persistent_load(self, reference) -> _Storage:
        if not (isinstance(reference, tuple) and len(reference) == 5 and reference[0] == "storage"):
            raise Damaged("an unknown kind of reference")
        _, dtype, key, _, count = reference
        member = f"{self.prefix}data/{key}"
        if not isinstance(dtype, DType) or member not in self.archive.members:
            raise Damaged(f"storage {str(key)[:40]!r} is missing")
        nbytes = self.archive.members[member][1]
        if type(count) is not int or count != nbytes // dtype.itemsize:
            raise Damaged(
                f"storage {str(key)[:40]!r} is said to hold {str(count)[:20]} elements of {dtype.name}, but has "
                f"{nbytes} bytes"
            )
        if member not in self.storages:
            self.storages[member] = read_storage(self.archive, member)
        return _Storage(self.storages[member], dtype)


def read_torch_file(archive: Archive, prefix: str):
    """The value in a PyTorch file; Damaged if it needs more than tensors and plain containers."""
    order = archive.read(prefix + "byteorder") if prefix + "byteorder" in archive.members else b"little"
    if order != b"little":
        raise Damaged("bytes in big-endian order")
    try:
        return _Unpickler(archive.read(prefix + "data.pkl"), archive, prefix).load()
    except Damaged:
        raise
    except Exception as error:  # a pickle can fail in any way
        raise Damaged(f"its pickle can not be read ({type(error).__name__}: {str(error)[:100]})") from None
