"""The import paths of `torch.utils`: thin names over the rooms where the code lives."""

from __future__ import annotations

from . import checkpoint, data, deterministic

_MODULES = {"collect_env", "dlpack", "hooks"}


def set_module(obj, mod: str) -> None:
    """Say in which module an object is defined."""
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod


def __getattr__(name: str):
    if name in _MODULES:
        from importlib import import_module

        return import_module(f".{name}", __name__)
    from ..absent import missing

    raise missing(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
