"""Modules under further names: import paths of PyTorch whose contents live elsewhere here."""

from __future__ import annotations

import importlib
import sys
import types


class Alias(types.ModuleType):
    """A module that looks its names up in other modules, the first that has one, when they are asked for."""

    def __init__(self, name: str, homes: list[str], also: dict | None = None):
        super().__init__(name, f"Names that live in {', '.join(homes)}.")
        self.__dict__["_homes"] = homes
        self.__dict__.update(also or {})

    def __getattr__(self, name: str):
        if name == "__all__":
            return [*self._public()]
        if not (name.startswith("__") and name.endswith("__")):
            for home in map(importlib.import_module, self._homes):
                if hasattr(home, name):
                    return getattr(home, name)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")

    def _public(self) -> dict:
        """What the homes define under public names."""
        found = {}
        for home in map(importlib.import_module, self._homes):
            listed = getattr(home, "__all__", None)
            for name, value in vars(home).items():
                own = getattr(value, "__module__", None) == home.__name__ and name[0] != "_"
                if own if listed is None else name in listed:
                    found[name] = value
        return found

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._public()})


def install(package: str, table: dict[str, str], also: dict[str, dict] | None = None) -> None:
    """Makes `package.name` importable for each name of a table, whose values are modules below `rushlight`.

    Several are separated by blanks. `also` has names that no module has under the wanted name.
    """
    for name, homes in table.items():
        full = f"{package}.{name}"
        made = Alias(full, [f"rushlight.{home}" for home in homes.split()], (also or {}).get(name))
        made = sys.modules.setdefault(full, made)
        owner, _, last = full.rpartition(".")
        place = vars(sys.modules[owner])
        place.setdefault("__path__", [])  # a package, or else nothing can be imported from below it
        place.setdefault(last, made)
