"""Writing by index: `scatter` and `put` are one kernel, in three forms that never let two threads meet.

The loop dimensions of the written values are *free* (two of their coordinates always reach different elements of
the result) or *colliding* (indices may repeat). Sequentially, colliding dimensions run in row-major order, so that
sums have one rounding and the last of several writes wins, with any number of threads:

columns   threads share the innermost free dimensions, colliding ones run inside; rows of adjacent elements
lines     threads share the free dimensions, and the innermost loop is a colliding one
owned     too few free elements: threads share the result, and each scans all indices for those it owns
"""

from __future__ import annotations

import functools
from types import SimpleNamespace

from ..ir.dtypes import DType
from . import elementwise
from .index import Indices, index_operands, index_params
from .index_copy import GRAIN, copy
from .index_layout import (
    ZERO,
    Loops,
    Nest,
    Parameters,
    alignment,
    error_flag,
    is_number,
    plus,
    segments,
    storage,
    times,
)
from .kernel import Kernel
from .target import host
from .templates import Array, Context, template
from .text import Function, Module, V

MODES = {"add": "add", "mul": "mul", "max": "maximum", "min": "minimum"}
FEW = 32  # free elements: too few for threads to share


@template("scatter")
def lower_scatter(context: Context, node, operands: list[Array], results: list[Array]) -> None:
    x, index, source = operands
    (result,) = results
    dim = node.attrs["dim"]
    copy(context, x, result)
    steps = [0 if d == dim else s for d, s in enumerate(result.strides)]
    free = [d != dim for d in range(len(result.shape))]
    arrays = [steps, source.strides, index.strides]
    write(context, node.attrs["mode"], result, source, [index], [dim], index.shape, free, arrays)


@template("put")
def lower_put(context: Context, node, operands: list[Array], results: list[Array]) -> None:
    x, values, *indices = operands
    (result,) = results
    dim, count, rank = node.attrs["dim"], len(indices), len(indices[0].shape)
    copy(context, x, result)
    before, after = result.strides[:dim], result.strides[dim + count :]
    steps = [*before, *[0] * rank, *after]
    free = [True] * len(before) + [False] * rank + [True] * len(after)
    arrays = [steps, values.strides, *([*[0] * dim, *index.strides, *[0] * len(after)] for index in indices)]
    dims = range(dim, dim + count)
    write(context, node.attrs["mode"], result, values, indices, dims, values.shape, free, arrays)


def write(context, mode: str, result: Array, source: Array, indices, dims, shape, free, strides) -> None:
    """For i in `shape`, in the order above: combine source[i] into the result where the indices at i point.

    `free` says so for each dimension, `strides` are those of the result (0 where indexed), source and indices.
    """
    if any(is_number(n, 0) for n in shape):
        return
    kept = [d for d, n in enumerate(shape) if not is_number(n, 1)]

    def nest(wanted: list) -> Nest:
        return Nest([shape[d] for d in wanted], *([steps[d] for d in wanted] for steps in strides))

    shared, inside = nest([d for d in kept if free[d]]), nest([d for d in kept if not free[d]])
    form, range, grain = "lines", shared.size, GRAIN // inside.size + 1
    if kept and free[kept[-1]]:
        form, grain = "columns", grain + FEW
    bins = result.shape[dims[0]]
    if shared.size < FEW and bins >= FEW and inside.size >= GRAIN:
        form, range, grain = "owned", bins, bins // 8 + 1
        shared, inside = Nest([], *([] for _ in strides)), nest(kept)
    sizes = tuple(i.dtype.itemsize for i in indices)
    kernel = write_kernel(mode, result.dtype, sizes, form, shared.structure, inside.structure)
    params = [*shared.params, *inside.params, *index_params(result, dims)]
    context.launch(kernel, [result, source, *indices, error_flag()], params, range, grain)


@functools.cache
def write_kernel(mode: str, dtype: DType, index_sizes: tuple, form: str, shared: tuple, inside: tuple) -> Kernel:
    module = Module()
    f = module.kernel(f"put_{mode}")
    parameters = Parameters(f)
    free, colliding = parameters.loops(shared), parameters.loops(inside)
    indices = index_operands(f, parameters, index_sizes, 2)
    run = Run(f, mode, dtype, indices, (f.begin, f.end) if form == "owned" else None)
    start = [ZERO] * len(shared[0])
    if form == "columns":
        outer, inner = free.split(1)
        with segments(f, f.begin, f.end, inner.size) as (row, first, last):
            at = outer.offsets(row, start)
            with f.loop(ZERO, colliding.size) as i:
                run.emit(inner, shared[-1], colliding.offsets(i, at), first, last)
    else:
        outer, inner = colliding.split(1)
        with f.loop(*((f.begin, f.end) if form == "lines" else (0, 1))) as line:
            at = free.offsets(line, start) if form == "lines" else start
            with f.loop(ZERO, outer.size) as i:
                run.emit(inner, inside[-1], outer.offsets(i, at), ZERO, inner.size)
    return Kernel(f.name, str(module))


class Run:
    """The innermost loop of a write: adjacent or strided elements, with an index for each or one for all."""

    def __init__(self, f: Function, mode: str, dtype: DType, indices: Indices, owned: tuple[V, V] | None):
        self.f, self.mode, self.dtype, self.indices, self.owned = f, mode, dtype, indices, owned
        self.result, self.source = f.buffer(0), f.buffer(1)
        self.type, self.align = storage(dtype.itemsize), alignment(dtype.itemsize)

    def emit(self, inner: Loops, structure: tuple, at: list[V], first: V, last: V) -> None:
        f, (to_step, of_step, *index_steps) = self.f, inner.steps[0]
        to, of, *at = at
        if any(step != 0 for step in structure[2:]):
            with f.loop(first, last) as i:
                numbers = self.indices.load([plus(f, o, times(f, i, s)) for o, s in zip(at, index_steps)])
                target = plus(f, to, times(f, i, to_step))
                self.checked(
                    numbers, lambda offset: self.one(plus(f, target, offset), plus(f, of, times(f, i, of_step)))
                )
            return
        steps = to_step, of_step
        loop = self.adjacent if structure[:2] == (1, 1) else self.strided
        self.checked(self.indices.load(at), lambda offset: loop(plus(f, to, offset), of, first, last, *steps))

    def checked(self, numbers: list[V], body) -> None:
        """Run `body(offset)` if the indices are in bounds and this thread's; report them if out of bounds."""
        f = self.f
        with f.branch(self.indices.valid(numbers)) as other:
            if self.owned:
                begin, end = self.owned
                mine = f.compare("ult", f.sub(numbers[0], begin), f.sub(end, begin))
                with f.when(mine):
                    body(self.indices.offset(numbers))
            else:
                body(self.indices.offset(numbers))
            other()
            self.indices.report(numbers)

    def strided(self, to: V, of: V, first: V, last: V, to_step: V, of_step: V) -> None:
        f = self.f
        with f.loop(first, last) as i:
            self.one(plus(f, to, times(f, i, to_step)), plus(f, of, times(f, i, of_step)))

    def adjacent(self, to: V, of: V, first: V, last: V, *_) -> None:
        """Whole vectors, then single elements."""
        f = self.f
        lanes = host().vector_bytes // max(self.dtype.itemsize, 4 if self.dtype.kind == "f" else 1)
        vectors = f.add(first, f.binary("and", f.sub(last, first), V(str(-lanes), "i64")))
        for begin, end, count in ((first, vectors, lanes), (vectors, last, 1)):
            with f.loop(begin, end, count) as i:
                self.one(f.add(to, i), f.add(of, i), count)

    def one(self, to: V, of: V, lanes: int = 1) -> None:
        """Combine `lanes` adjacent elements."""
        f, dtype = self.f, self.dtype
        target, source = f.at(self.result, self.type, to), f.at(self.source, self.type, of)
        loaded = elementwise.loaded_type(dtype, lanes)
        new = f.load(source, loaded)
        if self.mode != "set":
            node = SimpleNamespace(prim=SimpleNamespace(name=MODES[self.mode]), inputs=[SimpleNamespace(dtype=dtype)])
            operands = [elementwise.from_memory(f, v, dtype, lanes) for v in (f.load(target, loaded), new)]
            new = elementwise.to_memory(f, elementwise.emit(f, node, operands, lanes), dtype, lanes)
        f.store(new, target)
