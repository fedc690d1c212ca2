"""Reading by index: `gather` and `take` are one kernel.

Every index tensor is walked with the result (step 0 where it has no such dimension); the dimensions of x that are
indexed have step 0 and get their offset from the numbers in the index. An index that is out of bounds is reported
through the error flag, and its element is skipped.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from .error_flag import OUT_OF_BOUNDS, error_flag, report
from .index_copy import GRAIN
from .index_layout import (
    ZERO,
    Nest,
    Parameters,
    alignment,
    copy_run,
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


@template("gather")
def lower_gather(context: Context, node, operands: list[Array], results: list[Array]) -> None:
    x, index = operands
    dim = node.attrs["dim"]
    steps = [0 if d == dim else s for d, s in enumerate(x.strides)]
    read(context, results[0], x, steps, [index], [index.strides], [dim])


@template("take")
def lower_take(context: Context, node, operands: list[Array], results: list[Array]) -> None:
    x, *indices = operands
    dim, count = node.attrs["dim"], len(indices)
    (result,) = results
    rank = len(indices[0].shape)
    before, after = x.strides[:dim], x.strides[dim + count :]
    steps = [*before, *[0] * rank, *after]
    index_steps = [[*[0] * dim, *index.strides, *[0] * len(after)] for index in indices]
    read(context, result, x, steps, indices, index_steps, range(dim, dim + count))


def read(context, result: Array, x: Array, steps, indices, index_steps, dims) -> None:
    """result[i] = x[i @ steps + sum of the indices at i times the strides of `dims`]."""
    if any(is_number(n, 0) for n in result.shape):
        return
    nest = Nest(result.shape, result.strides, steps, *index_steps, reorder=True)
    kernel = read_kernel(x.dtype.itemsize, tuple(i.dtype.itemsize for i in indices), nest.structure)
    params = [*nest.params, *index_params(x, dims)]
    context.launch(kernel, [result, x, *indices, error_flag()], params, nest.size, GRAIN)


def index_params(x: Array, dims) -> list:
    """Size, stride and number of every dimension that is indexed, as `Indices` reads them."""
    return [number for dim in dims for number in (x.shape[dim], x.strides[dim], dim)]


@dataclass
class Indices:
    """The index tensors inside a kernel: they yield an element offset, or report that they cannot."""

    f: Function
    pointers: list[V]
    types: list[str]
    error: V
    bounds: list[list[V]]  # size, stride and number of each dimension that is indexed

    def load(self, offsets: list[V]) -> list[V]:
        f = self.f
        loaded = [f.load(f.at(p, t, o), t) for p, t, o in zip(self.pointers, self.types, offsets)]
        return [v if v.type == "i64" else f.cast("sext", v, "i64") for v in loaded]

    def valid(self, numbers: list[V]) -> V:
        """Whether all are in bounds; unsigned, so that a negative one is a huge one."""
        fine = [self.f.compare("ult", i, size) for i, (size, _, _) in zip(numbers, self.bounds)]
        return functools.reduce(lambda a, b: self.f.binary("and", a, b), fine)

    def offset(self, numbers: list[V]) -> V:
        total = ZERO
        for number, (_, stride, _) in zip(numbers, self.bounds):
            total = plus(self.f, total, self.f.mul(number, stride))
        return total

    def report(self, numbers: list[V]) -> None:
        """Tell of every index that is out of bounds."""
        f = self.f
        for number, (size, _, dim) in zip(numbers, self.bounds):
            with f.when(f.compare("uge", number, size)):
                report(f, self.error, OUT_OF_BOUNDS, number, dim, size)


def index_operands(f: Function, parameters: Parameters, itemsizes: tuple, first: int) -> Indices:
    """The index tensors, which are the buffers from `first` on, followed by the error flag."""
    pointers = [f.buffer(first + i) for i in range(len(itemsizes))]
    bounds = [parameters.numbers(3) for _ in itemsizes]
    return Indices(f, pointers, [storage(n) for n in itemsizes], f.buffer(first + len(itemsizes)), bounds)


@functools.cache
def read_kernel(itemsize: int, index_sizes: tuple, structure: tuple) -> Kernel:
    module = Module()
    f = module.kernel("take")
    result, x = f.buffer(0), f.buffer(1)
    parameters = Parameters(f)
    outer, inner = parameters.loops(structure).split(1)
    indices = index_operands(f, parameters, index_sizes, 2)
    type, align = storage(itemsize), alignment(itemsize)
    to_step, x_step, *index_steps = inner.steps[0]
    rows = all(step == 0 for step in structure[-1][2:]) and structure[-1][:2] == (1, 1)
    with segments(f, f.begin, f.end, inner.size) as (row, first, last):
        to, of, *at = outer.offsets(row, [ZERO] * len(structure[0]))
        if rows:  # one index names a whole run of adjacent elements
            numbers = indices.load(at)
            with f.branch(indices.valid(numbers)) as other:
                source = f.at(x, type, f.add(plus(f, of, indices.offset(numbers)), first))
                target = f.at(result, type, f.add(to, first))
                copy_run(f, target, source, f.sub(last, first), itemsize, host().vector_bytes)
                other()
                indices.report(numbers)
        else:
            with f.loop(first, last) as i:
                numbers = indices.load([plus(f, o, times(f, i, s)) for o, s in zip(at, index_steps)])
                with f.branch(indices.valid(numbers)) as other:
                    source = plus(f, plus(f, of, times(f, i, x_step)), indices.offset(numbers))
                    target = f.at(result, type, plus(f, to, times(f, i, to_step)))
                    f.store(f.load(f.at(x, type, source), type, align), target, align)
                    other()
                    indices.report(numbers)
    return Kernel("take", str(module))
