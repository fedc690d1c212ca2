"""What lowering yields: a flat list of kernel launches over inputs, outputs and temporaries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .kernel import Kernel

Size = Any  # int, or a symbolic size of the graph's scope


@dataclass(slots=True)
class Buffer:
    """A pointer argument: `role` is "input", "output" or "temp"; `offset` is in bytes."""

    role: str
    index: int
    offset: Size = 0


@dataclass(slots=True)
class Scalar:
    """A parameter taken at each call from graph input `index`, a run-time number.

    `slot` "i" passes it as int64, "f" as the bits of a float64, "re"/"im" a complex number's parts.
    """

    index: int
    slot: str


@dataclass(slots=True)
class Launch:
    """One call of a kernel over the range [0, range).

    kernel(void *const *buffers, const int64_t *params, int64_t begin, int64_t end)

    The executor may split the range among threads, in pieces of at least `grain`. `params` holds
    sizes (bytes, elements, strides), `Scalar`s, float constants (passed as float64 bits), and what has an `address`: a
    kernel that is called by this one, or a table that the process keeps. If `scratch` is not 0, one
    more buffer follows the listed ones: `scratch` bytes of this thread's own, 64-byte aligned.
    """

    kernel: Any  # compiler.kernel.Kernel
    buffers: list[Buffer]
    params: list
    range: Size = 1
    grain: Size = 1
    scratch: Size = 0

    @property
    def kernels(self) -> list:
        """The kernel and those that it calls."""
        return [self.kernel, *(p for p in self.params if type(p) is Kernel)]


@dataclass(slots=True)
class Lowered:
    """A program before sizes are filled in: launches in order, and bytes needed by each temporary.

    Outputs are described by the graph (shape, dtype, output_strides). `zeroed` lists temporaries
    and outputs, as ("temp"|"output", index), that must be zero before the first launch.
    """

    launches: list[Launch]
    temps: list[Size] = field(default_factory=list)
    zeroed: list = field(default_factory=list)
