"""Modules that hold parameters, in order or by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ..core import Tensor
from .containers import position
from .module import Module
from .parameter import Parameter


class _ParameterContainer(Module):
    """Tensors become parameters; other values are kept as they are. Prints one line an entry."""

    def _put(self, name: str, value) -> None:
        if isinstance(value, Tensor) and not isinstance(value, Parameter):
            value = Parameter(value)
        setattr(self, name, value)

    def extra_repr(self) -> str:
        return "\n".join(f"  ({name}): {self._described(getattr(self, name))}" for name in self._names())

    def _described(self, value) -> str:
        if not isinstance(value, Tensor):
            return f"Object of type: {type(value).__name__}"
        kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
        sizes = "x".join(map(str, value.shape))
        return f"{kind} containing: [{self._type_of(value)} of size {sizes}]"

    @staticmethod
    def _type_of(value: Tensor):
        return value.dtype

    def __call__(self, *args, **kwargs):
        raise RuntimeError(f"{type(self).__name__} should not be called.")


class ParameterList(_ParameterContainer):
    """A list of parameters (and other values)."""

    def __init__(self, values: Iterable | None = None):
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def _names(self) -> list[str]:
        return [str(i) for i in range(self._size)]

    def __getitem__(self, index: int | slice):
        if isinstance(index, slice):
            return type(self)([getattr(self, name) for name in self._names()[index]])
        return getattr(self, str(position(index, self._size, type(self).__name__)))

    def __setitem__(self, index: int, value) -> None:
        self._put(str(position(index, self._size, type(self).__name__)), value)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator:
        return (getattr(self, name) for name in self._names())

    def append(self, value):
        """Adds a value at the end."""
        self._size += 1
        self._put(str(self._size - 1), value)
        return self

    def extend(self, values: Iterable):
        """Adds values at the end."""
        if isinstance(values, Tensor) or not isinstance(values, Iterable):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in values:
            self.append(value)
        return self

    def __iadd__(self, values: Iterable):
        return self.extend(values)


class ParameterDict(_ParameterContainer):
    """A dictionary of parameters (and other values), in order of insertion."""

    def __init__(self, parameters: Mapping | Iterable | None = None):
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def _names(self) -> list[str]:
        return list(self._keys)

    @staticmethod
    def _type_of(value: Tensor) -> str:
        return value.type()

    def __getitem__(self, key: str):
        if key not in self._keys:
            raise KeyError(key)
        return getattr(self, key)

    def __setitem__(self, key: str, value) -> None:
        if not isinstance(key, str):
            raise TypeError(f"Index given to ParameterDict cannot be used as a key as it is not a string (type is "
                            f"'{type(key).__name__}').")  # fmt: skip
        self._keys[key] = None
        self._put(key, value)

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def keys(self):
        """The names."""
        return self._keys.keys()

    def values(self):
        """The values."""
        return (self[key] for key in self._keys)

    def items(self):
        """Pairs of name and value."""
        return ((key, self[key]) for key in self._keys)

    def get(self, key: str, default=None):
        """The value of a name, or `default`."""
        return self[key] if key in self._keys else default

    def setdefault(self, key: str, default=None):
        """The value of a name, set to `default` first if it was missing."""
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str):
        """Removes and returns a value."""
        value = self[key]
        del self[key]
        return value

    def popitem(self):
        """Removes and returns the pair that came last."""
        key = list(self._keys)[-1]
        return key, self.pop(key)

    def clear(self) -> None:
        """Removes all values."""
        for key in list(self._keys):
            del self[key]

    def copy(self) -> ParameterDict:
        """A dictionary with the same values."""
        return ParameterDict(self.items())

    @classmethod
    def fromkeys(cls, keys: Iterable[str], default=None) -> ParameterDict:
        """A dictionary with one value for all names."""
        return cls((key, default) for key in keys)

    def update(self, parameters: Mapping | Iterable) -> None:
        """Adds values from a mapping or from pairs, replacing those of the same name."""
        for key, value in parameters.items() if hasattr(parameters, "items") else parameters:
            self[key] = value

    def __or__(self, other: ParameterDict) -> ParameterDict:
        joined = self.copy()
        joined.update(other)
        return joined

    def __ior__(self, other: ParameterDict) -> ParameterDict:
        self.update(other)
        return self
