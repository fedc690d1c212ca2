"""A value as JSON and back. Plain JSON scalars stand for themselves; all else is an object with a "kind"."""

from __future__ import annotations

import base64
import math
from collections import Counter, OrderedDict
from collections.abc import Callable

from ..core import Device, Size, Tensor
from ..core.engine import integers_of, make_tensor
from ..ir.dtypes import STORED, DType, dtype_named
from .numpy_values import build_array, describe_array, is_array

DEEPEST = 200  # containers within containers
MOST_BYTES = 1 << 47  # of a tensor, if all its elements were stored: what a processor can address

_SEQUENCES = {list: "list", tuple: "tuple", set: "set", frozenset: "frozenset", Size: "size"}
_MAPPINGS = {dict: "dict", OrderedDict: "ordered_dict", Counter: "counter"}
_CONTAINERS = {kind: make for make, kind in (_SEQUENCES | _MAPPINGS).items()}


class Encoder:
    """Describes a value; collects the storages of its tensors in `storages`, each once."""

    def __init__(self):
        self.storages: list = []
        self._numbers: dict[tuple[int, int], int] = {}
        self._open: set[int] = set()  # containers around the current value

    def describe(self, value, path: str = "obj"):
        """The JSON value; TypeError or ValueError with the place of what can not be saved."""
        if value is None or isinstance(value, (bool, str)) or type(value) is int:
            return value
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else {"kind": "float", "value": repr(float(value))}
        if isinstance(value, Tensor):
            return self._tensor(value)
        if isinstance(value, complex):
            return {"kind": "complex", "parts": [self.describe(value.real), self.describe(value.imag)]}
        if isinstance(value, (bytes, bytearray)):
            return {"kind": "bytes", "base64": base64.b64encode(value).decode()}
        if isinstance(value, DType):
            return {"kind": "dtype", "name": value.name}
        if isinstance(value, Device):
            return {"kind": "device", "name": str(value)}
        if isinstance(value, (*_SEQUENCES, dict)) and not hasattr(value, "_fields"):
            return self._container(value, path)
        if type(value).__module__ == "numpy" and hasattr(value, "item") and getattr(value, "ndim", None) == 0:
            return self.describe(value.item(), path)
        if is_array(value):
            return describe_array(value, self._tensor)
        raise TypeError(self._refusal(value, path))

    def _refusal(self, value, path: str) -> str:
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        way_out = "files hold tensors, arrays, numbers, strings and containers of these"
        if hasattr(value, "state_dict"):
            way_out = "it holds code, which files never do: save its state_dict()"
        elif kind == "numpy.ndarray":
            way_out = "its elements are objects; save tolist()"
        return f"save: can not save a {kind} at {path}: {way_out}"

    def _container(self, value, path: str) -> dict:
        if id(value) in self._open:
            raise ValueError(f"save: {path} contains itself")
        if len(self._open) >= DEEPEST:
            raise ValueError(f"save: more than {DEEPEST} containers within each other at {path[:100]}...")
        self._open.add(id(value))
        try:
            if not isinstance(value, dict):
                kind = next(kind for cls, kind in reversed(_SEQUENCES.items()) if isinstance(value, cls))
                return {"kind": kind, "items": [self.describe(v, f"{path}[{i}]") for i, v in enumerate(value)]}
            return self._mapping(value, path)
        finally:
            self._open.discard(id(value))

    def _mapping(self, value: dict, path: str) -> dict:
        kind = next(kind for cls, kind in reversed(_MAPPINGS.items()) if isinstance(value, cls))
        items = [[self.describe(k, f"a key of {path}"), self.describe(v, f"{path}[{k!r}]")] for k, v in value.items()]
        described = {"kind": kind, "items": items}
        metadata = getattr(value, "_metadata", None)  # the versions of modules in a state_dict
        if metadata is not None:
            described["metadata"] = self.describe(metadata, f"{path}._metadata")
        return described

    def _tensor(self, tensor: Tensor) -> dict:
        if tensor.is_quantized:
            return self._quantized(tensor)
        if tensor._layout.sparse:
            return self._sparse(tensor)
        described = {
            "kind": "tensor",
            "dtype": tensor.dtype.name,
            "shape": list(tensor.shape),
            "stride": list(tensor.stride()),
            "offset": tensor.storage_offset(),
            "storage": self._storage_number(tensor._storage),
        }
        if tensor._layout.bits:
            described["bits"] = tensor._layout.bits
        return self._dressed(described, tensor)

    def _sparse(self, tensor: Tensor) -> dict:
        from ..sparse.pickling import state_of

        kind, shape, parts, coalesced = state_of(tensor)
        described = {"kind": "sparse", "layout": kind, "shape": list(shape), "parts": list(map(self._tensor, parts))}
        return self._dressed(described | {"coalesced": coalesced}, tensor)

    def _quantized(self, tensor: Tensor) -> dict:
        from ..quantized.quantizers import quantizer_of

        scheme, *parameters = quantizer_of(tensor).state()
        described = {"kind": "quantized", "integers": self._tensor(integers_of(tensor)), "scheme": scheme.name}
        return self._dressed(described | {"parameters": [self.describe(value) for value in parameters]}, tensor)

    def _dressed(self, described: dict, tensor: Tensor) -> dict:
        """A tensor's description with what any tensor may be beside its elements."""
        if tensor.requires_grad:
            described["requires_grad"] = True
        if type(tensor).__name__ in ("Parameter", "Buffer"):
            described["class"] = type(tensor).__name__
        return described

    def _storage_number(self, storage) -> int:
        key = storage.address, storage.nbytes
        if key not in self._numbers:
            self._numbers[key] = len(self.storages)
            self.storages.append(storage)
        return self._numbers[key]


class Damaged(Exception):
    """What a file says can not be: the message tells what."""


class Decoder:
    """Builds the value of a description; `storage(number)` gives the storages it speaks of."""

    def __init__(self, storage: Callable):
        self.storage = storage

    def build(self, described, depth: int = 0):
        """The value; Damaged if the description is not one that `Encoder` makes."""
        if described is None or isinstance(described, (bool, int, float, str)):
            return described
        if depth > DEEPEST:
            raise Damaged(f"more than {DEEPEST} containers within each other")
        kind = described.get("kind") if isinstance(described, dict) else None
        kind = kind if isinstance(kind, str) else None
        if kind in _CONTAINERS:
            return self._container(described, kind, depth)
        build = getattr(self, f"_build_{kind}", None) if kind in _LEAVES else None
        if build is None:
            raise Damaged(f"unknown kind of value {str(kind)[:40]!r}")
        return build(described)

    def _container(self, described: dict, kind: str, depth: int):
        make, items = _CONTAINERS[kind], _listed(described, "items")
        if make not in _MAPPINGS:
            return _made(make, [self.build(item, depth + 1) for item in items])
        if any(not isinstance(item, list) or len(item) != 2 for item in items):
            raise Damaged("an entry of a dictionary is no pair")
        pairs = [(self.build(key, depth + 1), self.build(value, depth + 1)) for key, value in items]
        mapping = _made(dict if make is Counter else make, pairs)
        mapping = Counter(mapping) if make is Counter else mapping
        if "metadata" in described and make is OrderedDict:
            mapping._metadata = self.build(described["metadata"], depth + 1)
        return mapping

    def _build_float(self, described: dict) -> float:
        if described.get("value") not in ("nan", "inf", "-inf"):
            raise Damaged("a float that is none")
        return float(described["value"])

    def _build_complex(self, described: dict) -> complex:
        parts = [self.build(part) for part in _listed(described, "parts")]
        if len(parts) != 2 or not all(isinstance(part, float) for part in parts):
            raise Damaged("a complex number without two parts")
        return complex(*parts)

    def _build_bytes(self, described: dict) -> bytes:
        try:
            return base64.b64decode(described["base64"], validate=True)
        except (KeyError, TypeError, ValueError) as error:
            raise Damaged(f"bytes that are no base64 ({error})") from None

    def _build_dtype(self, described: dict) -> DType:
        name = described.get("name")
        if not isinstance(name, str) or name not in _DTYPES:
            raise Damaged(f"unknown dtype {str(name)[:40]!r}")
        return dtype_named(name)

    def _build_device(self, described: dict) -> Device:
        try:
            return Device(described.get("name"))
        except (TypeError, RuntimeError) as error:
            raise Damaged(str(error)) from None

    def _build_tensor(self, described: dict) -> Tensor:
        dtype = self._build_dtype({"name": described.get("dtype")})
        shape, stride = _sizes(described, "shape"), _sizes(described, "stride")
        offset, number = described.get("offset"), described.get("storage")
        if type(offset) is not int or type(number) is not int:
            raise Damaged("a tensor without offset or storage")
        storage = self.storage(number)
        check_geometry(shape, stride, offset, dtype.itemsize, storage.nbytes)
        bits = described.get("bits", 0)
        if (
            type(bits) is not int
            or not 0 <= bits <= (3 if dtype.is_complex else 2)
            or (bits == 1 and not dtype.is_complex)
        ):
            raise Damaged("a tensor with unknown bits")
        return _redressed(make_tensor(storage, offset, shape, stride, dtype, bits=bits), described)

    def _build_array(self, described: dict):
        content = described.get("bytes")
        if not isinstance(content, dict) or content.get("kind") != "tensor":
            raise Damaged("an array without bytes")
        try:
            return build_array(described.get("name"), _sizes(described, "shape"), self._build_tensor(content))
        except (ValueError, TypeError) as error:
            raise Damaged(str(error)) from None

    def _build_sparse(self, described: dict) -> Tensor:
        parts = _listed(described, "parts")
        if any(not isinstance(part, dict) or part.get("kind") != "tensor" for part in parts):
            raise Damaged("a sparse tensor that is not made of tensors")
        made = sparse_of(
            described.get("layout"),
            _sizes(described, "shape"),
            [self._build_tensor(part) for part in parts],
            described.get("coalesced") is True,
        )
        return _redressed(made, described)

    def _build_quantized(self, described: dict) -> Tensor:
        integers = described.get("integers")
        if not isinstance(integers, dict) or integers.get("kind") != "tensor":
            raise Damaged("a quantized tensor that is not made of integers")
        parameters = [self.build(value) for value in _listed(described, "parameters")]
        return _redressed(quantized_of(self._build_tensor(integers), described.get("scheme"), parameters), described)


def quantized_of(integers: Tensor, scheme, parameters: list) -> Tensor:
    """A quantized tensor over integers; Damaged if its parameters do not fit."""
    from ..quantized.pickling import from_parts

    try:
        return from_parts(integers, scheme, parameters)
    except (RuntimeError, TypeError, ValueError, IndexError, KeyError, AttributeError) as error:
        raise Damaged(f"a quantized tensor whose parts do not fit ({error})") from None


def sparse_of(kind, shape: list[int], parts: list, coalesced: bool) -> Tensor:
    """A sparse tensor of its parts; Damaged if they do not fit together."""
    from ..sparse.pickling import from_state

    if kind not in (1, 2, 3) or len(parts) != (2 if kind == 1 else 3):
        raise Damaged(f"a sparse tensor of {len(parts)} parts in an unknown layout")
    try:
        return from_state(kind, tuple(shape), tuple(part.detach() for part in parts), coalesced)
    except (RuntimeError, TypeError, IndexError, AttributeError) as error:
        raise Damaged(f"a sparse tensor whose parts do not fit ({error})") from None


def _redressed(tensor: Tensor, described: dict) -> Tensor:
    if described.get("requires_grad") is True:
        if not (tensor.dtype.is_floating_point or tensor.dtype.is_complex):
            raise Damaged(f"a tensor of {tensor.dtype.name} that requires gradients")
        tensor.requires_grad_(True)
    return as_class(tensor, described.get("class"))


_LEAVES = ("float", "complex", "bytes", "dtype", "device", "tensor", "sparse", "quantized", "array")
_DTYPES = {dtype.name for dtype in STORED}


def check_geometry(shape: list[int], stride: list[int], offset: int, itemsize: int, nbytes: int) -> None:
    """Damaged unless every element lies within a storage of `nbytes`."""
    if len(shape) != len(stride) or offset < 0:
        raise Damaged(f"a tensor of shape {shape[:8]}, strides {stride[:8]} and offset {offset}")
    if len(shape) > 64 or math.prod(shape) * itemsize > MOST_BYTES or max(shape, default=0) > MOST_BYTES:
        raise Damaged(f"a tensor of shape {shape[:8]}, larger than any memory")
    if max(stride, default=0) > MOST_BYTES or offset > MOST_BYTES:
        raise Damaged(f"a tensor with strides {stride[:8]} and offset {offset}")
    if 0 in shape:
        return
    last = offset + sum((size - 1) * step for size, step in zip(shape, stride))
    if (last + 1) * itemsize > nbytes:
        raise Damaged(
            f"a tensor of shape {shape[:8]}, strides {stride[:8]} and offset {offset} needs "
            f"{(last + 1) * itemsize} bytes of a storage that has {nbytes}"
        )


def _sizes(described: dict, name: str) -> list[int]:
    sizes = _listed(described, name)
    if any(type(size) is not int or size < 0 for size in sizes):
        raise Damaged(f"a tensor whose {name} is {sizes[:8]}")
    return sizes


def _listed(described: dict, name: str) -> list:
    if not isinstance(described.get(name), list):
        raise Damaged(f"no list of {name} where there should be one")
    return described[name]


def _made(make: type, items: list):
    try:
        return make(items)
    except TypeError as error:  # an unhashable key or member
        raise Damaged(str(error)) from None


def as_class(tensor: Tensor, name: str | None) -> Tensor:
    """The tensor as a parameter or buffer, if that is what it was."""
    if name not in ("Parameter", "Buffer"):
        return tensor
    from ..nn import parameter

    if name == "Buffer":
        return parameter.Buffer(tensor)
    if not (tensor.is_floating_point() or tensor.is_complex()):
        return parameter.Parameter(tensor, requires_grad=False)
    return parameter.Parameter(tensor, requires_grad=tensor.requires_grad)
