"""Settings of libraries that are not in use: kept where programs look for them, and put back after a `with`."""

from __future__ import annotations

import contextlib
from types import ModuleType


def set_all(module: ModuleType, **values) -> tuple:
    """Set those that are not None; returns what all of them were."""
    before = tuple(getattr(module, name) for name in values)
    for name, value in values.items():
        if value is not None:
            setattr(module, name, value)
    return before


@contextlib.contextmanager
def kept(module: ModuleType, **values):
    """Settings that hold within a `with`."""
    before = set_all(module, **values)
    try:
        yield
    finally:
        for name, value in zip(values, before):
            setattr(module, name, value)


class Verbose(contextlib.AbstractContextManager):
    """A `with` in which a library would print its calls: there is no such library, and nothing is printed."""

    def __init__(self, level: int):
        self.level = level

    def __exit__(self, *exception) -> None:
        """Nothing to restore."""
