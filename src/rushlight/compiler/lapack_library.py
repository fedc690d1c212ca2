"""LAPACK as a library: OpenBLAS from the wheel `scipy-openblas32`, loaded when the first factorization is lowered."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from contextlib import contextmanager

from ..core.engine import bind, team_size_address
from ..ir.dtypes import DType
from ..ir.failures import failure

LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
# One thread unless a kernel asks for more: batches are shared among our own threads. Idle threads of OpenBLAS wait for
# 2 ** 18 cycles instead of 2 ** 26 before they sleep: ours want the processors.
SURROUNDINGS = {"OPENBLAS_NUM_THREADS": "1", "OPENBLAS_THREAD_TIMEOUT": "18"}


@functools.cache
def library():
    """The loaded library; RuntimeError if it is not installed."""
    import ctypes

    bind("failure", failure)
    path = library_path()
    if path is None:
        raise RuntimeError(
            "linear algebra needs LAPACK, which the package scipy-openblas32 brings: pip install scipy-openblas32"
        )
    with environment(SURROUNDINGS):
        return ctypes.CDLL(path)


def library_path() -> str | None:
    """Where the wheel keeps its shared library. Importing the package would load it with the environment as it is."""
    import importlib.util

    found = importlib.util.find_spec("scipy_openblas32")
    for place in found.submodule_search_locations or () if found else ():
        folder = os.path.join(place, "lib")
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            if name.startswith("libscipy_openblas"):
                return os.path.join(folder, name)
    return None


@contextmanager
def environment(variables: dict) -> Iterator[None]:
    """Environment variables for as long as a library reads them."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@functools.cache
def function_address(name: str) -> int:
    """The address of one of the library's functions, by the name that its headers have."""
    import ctypes

    return ctypes.cast(getattr(library(), "scipy_" + name), ctypes.c_void_p).value


def routine_address(routine: str, dtype: DType) -> int:
    """The address of a LAPACK or BLAS routine, named without its type: `potrf` for float64 is `dpotrf_`."""
    return function_address(LETTERS[dtype.name] + routine + "_")


def thread_addresses() -> list[int]:
    """What a kernel calls for the number of our threads, and to set how many threads OpenBLAS uses."""
    return [team_size_address(), function_address("openblas_set_num_threads")]
