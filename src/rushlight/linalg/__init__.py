"""`rushlight.linalg`: linear algebra. A file is loaded when one of its functions is first used."""

from __future__ import annotations

import importlib

from ..ir.failures import LinAlgError
from ..ops.explaining import explained

_FILES = {
    "definite": ("cholesky", "cholesky_ex"),
    "determinants": ("det", "slogdet"),
    "eigen": ("eig", "eigh", "eigvals", "eigvalsh"),
    "exponential": ("matrix_exp",),
    "inverses": ("inv", "inv_ex", "tensorinv"),
    "least_squares": ("lstsq",),
    "lu_factors": ("lu", "lu_factor", "lu_factor_ex", "lu_solve"),
    "norms": ("cond", "matrix_norm", "matrix_rank", "norm", "vector_norm"),
    "products": ("cross", "diagonal", "matmul", "matrix_power", "multi_dot", "vander", "vecdot"),
    "reflections": ("householder_product", "qr"),
    "singular": ("pinv", "svd", "svdvals"),
    "solving": ("solve", "solve_ex", "solve_triangular", "tensorsolve"),
    "symmetric": ("ldl_factor", "ldl_factor_ex", "ldl_solve"),
}
_HOMES = {name: file for file, names in _FILES.items() for name in names}
__all__ = sorted([*_HOMES, "LinAlgError"])


def __getattr__(name: str):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    found = globals()[name] = explained(found, f"linalg.{name}")
    return found


def __dir__():
    return sorted({*globals(), *_HOMES})
