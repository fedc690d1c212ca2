"""Modules that hold modules, in order or by name."""

from __future__ import annotations

import operator
import warnings
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping

from .module import Module


def position(index, size: int, owner: str) -> int:
    """A sequence index as a non-negative int; IndexError when it is out of range."""
    index = operator.index(index)
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of range for {owner} of length {size}")
    return index % size


class _ModuleSequence(Module):
    """Modules named "0", "1", ...: indexing, slicing, insertion and deletion keep the names consecutive."""

    def _name(self, index) -> str:
        return list(self._modules)[position(index, len(self), type(self).__name__)]

    def _renumber(self, modules: Iterable[Module]) -> None:
        modules = list(modules)
        self._modules.clear()
        for i, module in enumerate(modules):
            self.add_module(str(i), module)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._name(index), module)

    def __delitem__(self, index: int | slice) -> None:
        names = list(self._modules)[index] if isinstance(index, slice) else [self._name(index)]
        for name in names:
            delattr(self, name)
        if all(name.isdigit() for name in self._modules):
            self._renumber(self._modules.values())

    def append(self, module: Module):
        """Adds a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]):
        """Adds modules at the end."""
        if isinstance(modules, (str, bytes, Mapping)) or not isinstance(modules, Iterable):
            raise TypeError(f"{type(self).__name__}.extend should be called with an iterable, but got {type(modules)}")
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index: int, module: Module):
        """Adds a module before position `index`."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        modules = list(self._modules.values())
        if not -len(modules) <= index <= len(modules):
            raise IndexError(f"Index out of range: {index}")
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def pop(self, index: int | slice = -1) -> Module:
        """Removes and returns a module."""
        module = self[index]
        del self[index]
        return module

    def __iadd__(self, modules: Iterable[Module]):
        return self.extend(modules)


class Sequential(_ModuleSequence):
    """Calls its modules one after another, each with the result of the one before.

    Takes modules, or an `OrderedDict` of named modules.

    >>> nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    Sequential(
      (0): Linear(in_features=2, out_features=3, bias=True)
      (1): ReLU()
    )
    """

    def __init__(self, *args):
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for i, module in enumerate(args):
                self.add_module(str(i), module)

    def forward(self, input):
        for module in self._modules.values():
            input = module(input)
        return input

    def __getitem__(self, index: int | slice):
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._name(index)]

    def __add__(self, other: Sequential) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(
                f"add operator supports only objects of Sequential class, but {type(other).__name__} is given."
            )
        return Sequential(*self, *other)

    def __mul__(self, times: int) -> Sequential:
        return Sequential(*(module for _ in range(_times(times)) for module in self))

    __rmul__ = __mul__

    def __imul__(self, times: int) -> Sequential:
        modules = list(self)
        for _ in range(_times(times) - 1):
            self.extend(modules)
        return self


def _times(times: int) -> int:
    if not isinstance(times, int):
        raise TypeError(f"unsupported operand type(s) for *: {Sequential} and {type(times)}")
    if times <= 0:
        raise ValueError(f"Non-positive multiplication factor {times} for {Sequential}")
    return times


class ModuleList(_ModuleSequence):
    """A list of modules."""

    def __init__(self, modules: Iterable[Module] | None = None):
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, index: int | slice):
        if isinstance(index, slice):
            return type(self)(list(self._modules.values())[index])
        return self._modules[self._name(index)]

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __repr__(self) -> str:
        """Runs of equal entries are printed once, as `(0-2): 3 x Linear(...)`."""
        groups: list[list] = []  # [first, last, text]
        for i, text in enumerate(map(repr, self)):
            if groups and groups[-1][2] == text:
                groups[-1][1] = i
            else:
                groups.append([i, i, text])
        if not groups:
            return f"{self._get_name()}()"
        lines = []
        for first, last, text in groups:
            label = f"({first}): " if first == last else f"({first}-{last}): {last - first + 1} x "
            lines.append(label + text.replace("\n", "\n  "))
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


class ModuleDict(Module):
    """A dictionary of modules, in order of insertion."""

    def __init__(self, modules: Mapping[str, Module] | Iterable | None = None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Removes all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Removes and returns a module."""
        return self._modules.pop(key)

    def keys(self):
        """The names."""
        return self._modules.keys()

    def items(self):
        """Pairs of name and module."""
        return self._modules.items()

    def values(self):
        """The modules."""
        return self._modules.values()

    def update(self, modules: Mapping[str, Module] | Iterable) -> None:
        """Adds modules from a mapping or from pairs, replacing those of the same name."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"ModuleDict.update should be called with an iterable of key/value pairs, but got {type(modules)}"
            )
        for name, module in modules.items() if hasattr(modules, "items") else modules:
            self[name] = module


class Container(Module):
    """A module with the given modules as its children: what `Module` itself does."""

    def __init__(self, **kwargs: Module):
        super().__init__()
        warnings.warn(
            "nn.Container is deprecated. All of it's functionality is now implemented in nn.Module. Subclass that "
            "instead.",
            FutureWarning,
            2,
        )
        for name, module in kwargs.items():
            self.add_module(name, module)
