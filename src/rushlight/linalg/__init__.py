"""`rushlight.linalg`: linear algebra. A file is loaded when one of its functions is first used."""

from __future__ import annotations

import importlib

_FILES = {
    "eigen": ("eig", "eigh", "eigvals", "eigvalsh"),
    "exponential": ("matrix_exp",),
    "norms": ("cond", "matrix_norm", "matrix_rank", "norm", "vector_norm"),
    "products": ("cross", "diagonal", "matmul", "matrix_power", "multi_dot", "vander", "vecdot"),
    "singular": ("pinv", "svd", "svdvals"),
}
_HOMES = {name: file for file, names in _FILES.items() for name in names}
__all__ = sorted(_HOMES)


def __getattr__(name: str):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    return found


def __dir__():
    return sorted({*globals(), *_HOMES})
