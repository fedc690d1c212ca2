"""Sums by index into few places: every chunk of the source has a result of its own, and these are added up.

The number of chunks is fixed, so that sums are rounded alike for any number of threads.
"""

from __future__ import annotations

import functools

from ..ir.dtypes import DType
from . import elementwise
from .error_flag import error_flag
from .index import index_operands, index_params
from .index_combine import Run, combine, lanes_of
from .index_copy import GRAIN
from .index_layout import ZERO, Nest, Parameters, fill_run, i64, plus, segments, storage, times
from .kernel import Kernel
from .target import host
from .templates import Array, Context
from .text import Function, Module, V

CHUNKS = 8


def add_by_chunks(context: Context, x: Array, result: Array, source: Array, indices, dims, nest_of) -> None:
    """result = x + the sums; `nest_of(strides)` is the loop nest for a result with these strides."""
    private = context.temp((CHUNKS, *result.shape), result.dtype)
    one = Array(private.role, private.index, result.shape, private.strides[1:], result.dtype)
    nest, size = nest_of(one.strides), private.strides[0]
    kernel = chunks_kernel(result.dtype, tuple(i.dtype.itemsize for i in indices), nest.structure)
    params = [size, nest.size, *nest.params, *index_params(one, dims)]
    context.launch(kernel, [private, source, *indices, error_flag()], params, CHUNKS)
    nest = Nest(result.shape, result.strides, x.strides, one.strides, reorder=True)
    kernel = total_kernel(result.dtype, nest.structure)
    context.launch(kernel, [result, x, private], [size, *nest.params], nest.size, GRAIN)


@functools.cache
def chunks_kernel(dtype: DType, index_sizes: tuple, structure: tuple) -> Kernel:
    module = Module()
    f = module.kernel("put_chunks")
    parameters = Parameters(f)
    size, total = parameters.numbers(2)
    outer, inner = parameters.loops(structure).split(1)
    indices = index_operands(f, parameters, index_sizes, 2)
    source, type = f.buffer(1), storage(dtype.itemsize)
    with f.loop(f.begin, f.end) as chunk:
        result = f.at(f.buffer(0), type, f.mul(chunk, size))
        fill(f, result, size, dtype)
        following = f.add(chunk, i64(1))
        begin, end = (f.binary("udiv", f.mul(total, c), i64(CHUNKS)) for c in (chunk, following))
        run = Run(f, "add", dtype, indices, result, source)
        with segments(f, begin, end, inner.size) as (row, first, last):
            run.emit(inner, structure[-1], outer.offsets(row, [ZERO] * len(structure[0])), first, last)
    return Kernel(f.name, str(module))


def fill(f: Function, target: V, count: V, dtype: DType) -> None:
    """Zeros, which are -0 for floats: a sum that nothing is added to keeps the sign of x."""
    part = storage(dtype.to_real().itemsize)
    top = 1 << (8 * dtype.to_real().itemsize - 1) if dtype.kind in "fc" else 0
    numbers = f.mul(count, i64(2)) if dtype.is_complex else count
    fill_run(f, target, f.const(-top, part), numbers, host().lanes(dtype.to_real().itemsize))


@functools.cache
def total_kernel(dtype: DType, structure: tuple) -> Kernel:
    """result = x + chunk 0 + chunk 1 + ..."""
    module = Module()
    f = module.kernel("put_total")
    parameters = Parameters(f)
    size = parameters.number()
    outer, inner = parameters.loops(structure).split(1)
    result, x, private = (f.buffer(i) for i in range(3))
    type = storage(dtype.itemsize)
    with segments(f, f.begin, f.end, inner.size) as (row, first, last):
        at = outer.offsets(row, [ZERO] * 3)
        lanes = lanes_of(dtype) if structure[-1] == (1, 1, 1) else 1
        vectors = f.add(first, f.binary("and", f.sub(last, first), i64(-lanes)))
        for begin, end, count in ((first, vectors, lanes), (vectors, last, 1)):
            with f.loop(begin, end, count) as i:
                to, of, chunk = (plus(f, o, times(f, i, s)) for o, s in zip(at, inner.steps[0]))
                loaded = elementwise.loaded_type(dtype, count)
                total = f.load(f.at(x, type, of), loaded)
                for _ in range(CHUNKS):
                    total = combine(f, "add", dtype, total, f.load(f.at(private, type, chunk), loaded), count)
                    chunk = f.add(chunk, size)
                f.store(total, f.at(result, type, to))
    return Kernel(f.name, str(module))
