"""The registry of templates: primitives that a hand-written kernel shape lowers, one function each."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..ir.dtypes import DType
from ..ir.sizes import contiguous_strides, product
from .launch import Buffer, Launch, Lowered

TEMPLATES: dict[str, Callable] = {}


def template(*primitives: str):
    """Register `lower(context, node, operands, results)` for the named primitives.

    `operands` and `results` are `Array`s: memory with strides. Results are allocated by the caller
    with the strides that the graph wants; the template writes every element of them.
    """

    def register(lower: Callable) -> Callable:
        for name in primitives:
            TEMPLATES[name] = lower
        return lower

    return register


@dataclass(slots=True)
class Array:
    """Where a tensor lies: a buffer, an offset and strides in elements (both may be symbolic)."""

    role: str  # "input" | "output" | "temp"
    index: int
    shape: tuple
    strides: tuple
    dtype: DType
    offset: Any = 0

    def buffer(self) -> Buffer:
        return Buffer(self.role, self.index, self.offset * self.dtype.itemsize)


class Context:
    """What a template may do: allocate temporaries and append launches."""

    def __init__(self, lowered: Lowered):
        self.lowered = lowered

    def temp(self, shape, dtype: DType, zeroed: bool = False) -> Array:
        """A contiguous temporary."""
        index = len(self.lowered.temps)
        self.lowered.temps.append(product(shape) * dtype.itemsize)
        if zeroed:
            self.lowered.zeroed.append(("temp", index))
        return Array("temp", index, tuple(shape), contiguous_strides(shape), dtype)

    def launch(self, kernel, arrays, params, range=1, grain=1, scratch=0) -> None:
        """Append a launch; `arrays` are the pointers in the order the kernel reads them."""
        buffers = [a.buffer() for a in arrays]
        self.lowered.launches.append(Launch(kernel, buffers, list(params), range, grain, scratch))


# Which module registers a primitive's template: loaded when the first such node is lowered.
_MODULES = {
    "dot": "dot",
    "byte_dot": "byte_dot",
    **dict.fromkeys(("conv", "conv_input_grad", "conv_weight_grad"), "conv"),
    **dict.fromkeys(("gather", "take"), "index"),
    **dict.fromkeys(("scatter", "put"), "index_write"),
    **dict.fromkeys(("max_pool", "max_pool_grad", "avg_pool", "avg_pool_grad"), "pool"),
    **dict.fromkeys(("adaptive_avg_pool", "adaptive_avg_pool_grad", "adaptive_max_pool"), "pool"),
    **dict.fromkeys(("cumsum", "cumprod", "logcumsumexp", "cummax", "cummin"), "scan"),
    **dict.fromkeys(("fft", "rfft", "irfft"), "fft"),
    "sort": "sort",
    "topk": "topk",
    "searchsorted": "sort_search",
    "segment_reduce": "segment",
    **dict.fromkeys(("cholesky", "cholesky_inverse", "lu_factor", "ldl_factor"), "lapack_factor"),
    **dict.fromkeys(("geqrf", "qr", "permutation_of"), "lapack_factor"),
    **dict.fromkeys(("solve_triangular", "solve", "inverse", "ldl_solve", "lstsq"), "lapack_solve"),
    **dict.fromkeys(("eigh", "eigvalsh", "eig", "eigvals", "svd", "svdvals", "claim"), "lapack_spectra"),
}


def template_for(name: str) -> Callable:
    """The template of a primitive; NotImplementedError if there is none."""
    if name not in TEMPLATES and name in _MODULES:
        importlib.import_module(f".{_MODULES[name]}", __package__)
    if name not in TEMPLATES:
        raise NotImplementedError(f"lower: no template for primitive {name}")
    return TEMPLATES[name]
