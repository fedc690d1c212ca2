"""Writing by index: `scatter` and `put` are one kernel, in forms that never let two threads meet.

The loop dimensions of the written values are *free* (two of their coordinates always reach different elements of
the result) or *colliding* (indices may repeat). Colliding dimensions run in row-major order, so that sums are
rounded alike and the last of several writes wins, with any number of threads:

columns   threads share the innermost free dimensions, colliding ones run inside; rows of adjacent elements
lines     threads share the free dimensions, and the innermost loop is a colliding one
owned     long rows, or too few free elements: threads share the result, and each scans all indices for those it owns
chunks    too few free elements, and sums into few places (see `index_partial`)
"""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass

from ..ir.dtypes import DType
from ..ir.sizes import product
from .error_flag import error_flag
from .index import index_operands, index_params
from .index_combine import DECOYS, Run
from .index_copy import GRAIN, copy
from .index_layout import ZERO, Nest, Parameters, is_number, segments
from .index_partial import add_by_chunks
from .kernel import Kernel
from .templates import Array, Context, template
from .text import Module

FEW = 32  # free elements: too few for threads to share
LONG = 256  # elements of a row beside which scanning the indices costs nothing; strips of columns would waste caches
CACHED = 1 << 17  # elements of a result that stays near; a second thread that scans all indices would not pay


@template("scatter")
def lower_scatter(context: Context, node, operands: list[Array], results: list[Array]) -> None:
    x, index, source = operands
    dim = node.attrs["dim"]
    free = [d != dim for d in range(len(x.shape))]

    def steps(strides) -> list:
        return [s if keep else 0 for s, keep in zip(strides, free)]

    Write(node.attrs["mode"], x, *results, source, [index], [dim], free, steps, [index.strides]).lower(context)


@template("put")
def lower_put(context: Context, node, operands: list[Array], results: list[Array]) -> None:
    x, values, *indices = operands
    dim, count, rank = node.attrs["dim"], len(indices), len(indices[0].shape)
    after = len(x.shape) - dim - count
    free = [True] * dim + [False] * rank + [True] * after

    def steps(strides) -> list:
        return [*strides[:dim], *[0] * rank, *strides[dim + count :]]

    index_steps = [[*[0] * dim, *index.strides, *[0] * after] for index in indices]
    dims = range(dim, dim + count)
    Write(node.attrs["mode"], x, *results, values, indices, dims, free, steps, index_steps).lower(context)


@dataclass
class Write:
    """result = x, then for i in order: source[i] is combined into the result where the indices at i point."""

    mode: str
    x: Array
    result: Array
    source: Array
    indices: list[Array]
    dims: list  # of the result, one for each index
    free: list[bool]  # for each loop dimension
    steps: object  # strides of a result -> its steps in the loop dimensions, 0 where indexed
    index_steps: list

    @property
    def shape(self) -> tuple:
        """The loop dimensions: an index may be smaller than the source of a scatter."""
        shape = self.source.shape
        return self.indices[0].shape if len(shape) == len(self.indices[0].shape) else shape

    def nest(self, strides, kept=lambda free: True) -> Nest:
        """Loops for a result with these strides over the dimensions for which `kept(free)`."""
        wanted = [d for d, free in enumerate(self.free) if kept(free)]
        arrays = (self.steps(strides), self.source.strides, *self.index_steps)
        return Nest([self.shape[d] for d in wanted], *([steps[d] for d in wanted] for steps in arrays))

    def lower(self, context: Context) -> None:
        if any(is_number(n, 0) for n in self.shape):
            copy(context, self.x, self.result)
            return
        shared, inside = (
            self.nest(self.result.strides, lambda free, want=want: free == want) for want in (True, False)
        )
        innermost = [(n, free) for n, free in zip(self.shape, self.free) if not is_number(n, 1)][-1:]
        rows = innermost != [] and innermost[0][1]
        total, few = shared.size * inside.size, shared.size < FEW and inside.size >= GRAIN
        if few and self.mode == "add" and total >= 16 * product(self.result.shape):
            add_by_chunks(context, self.x, self.result, self.source, self.indices, self.dims, self.nest)
            return
        copy(context, self.x, self.result)
        long = rows and innermost[0][0] >= LONG and total >= GRAIN
        near = not rows and product(self.result.shape) < CACHED
        if (long or few) and not near and self.result.shape[self.dims[0]] >= FEW:
            self.owned(context)
            return
        grain = GRAIN // inside.size + (FEW if rows else 1)
        self.launch(context, "columns" if rows else "lines", shared, inside, shared.size, grain)

    def owned(self, context: Context) -> None:
        nothing = Nest([], *([] for _ in range(2 + len(self.indices))))
        bins = self.result.shape[self.dims[0]]
        scratch = DECOYS * self.result.dtype.itemsize
        # every piece scans all indices: no more of them than threads can be
        grain = bins // len(os.sched_getaffinity(0))
        self.launch(context, "owned", nothing, self.nest(self.result.strides), bins, grain, scratch)

    def launch(self, context: Context, form: str, shared: Nest, inside: Nest, range, grain, scratch=0) -> None:
        sizes = tuple(i.dtype.itemsize for i in self.indices)
        kernel = write_kernel(self.mode, self.result.dtype, sizes, form, shared.structure, inside.structure)
        params = [*shared.params, *inside.params, *index_params(self.result, self.dims)]
        buffers = [self.result, self.source, *self.indices, error_flag()]
        context.launch(kernel, buffers, params, range, grain, scratch)


@functools.cache
def write_kernel(mode: str, dtype: DType, index_sizes: tuple, form: str, shared: tuple, inside: tuple) -> Kernel:
    module = Module()
    f = module.kernel(f"put_{mode}")
    parameters = Parameters(f)
    free, colliding = parameters.loops(shared), parameters.loops(inside)
    indices = index_operands(f, parameters, index_sizes, 2)
    owned = ((f.begin, f.end), f.buffer(3 + len(index_sizes))) if form == "owned" else ()
    run = Run(f, mode, dtype, indices, f.buffer(0), f.buffer(1), *owned)
    start = [ZERO] * len(shared[0])
    if form == "columns":
        outer, inner = free.split(1)
        with segments(f, f.begin, f.end, inner.size) as (row, first, last):
            at = outer.offsets(row, start)
            with f.loop(ZERO, colliding.size) as i:
                run.emit(inner, shared[-1], colliding.offsets(i, at), first, last)
    else:
        outer, inner = colliding.split(1)
        with f.loop(*((0, 1) if owned else (f.begin, f.end))) as line:
            at = start if owned else free.offsets(line, start)
            with f.loop(ZERO, outer.size) as i:
                run.emit(inner, inside[-1], outer.offsets(i, at), ZERO, inner.size)
    return Kernel(f.name, str(module))
