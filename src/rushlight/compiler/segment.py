"""Reductions of runs of rows: `segment_reduce(x, offsets, *index; kind)`.

Threads share the segments. A segment is run through once for each block of columns, whose states stay in registers;
float32 sums move to float64 every few rows. Bounds and indices are checked as they are read.
"""

from __future__ import annotations

import functools

from ..ir.dtypes import DType, complex64, float32, float64
from ..ir.sizes import contiguous_strides, product
from .codegen_fold import accumulator, fold_of
from .codegen_pass import CHAIN
from .elementwise import from_memory, memory_type, to_memory
from .error_flag import OUT_OF_BOUNDS, error_flag, report
from .index_copy import GRAIN, copy
from .index_layout import ONE, ZERO, Parameters, i64, is_number
from .kernel import Kernel
from .target import host
from .templates import Array, Context, template
from .text import Function, Module, V, vector

ABREAST = 4  # vectors of columns in a block


@template("segment_reduce")
def lower_segment_reduce(context: Context, node, operands: list[Array], results: list[Array]) -> None:
    (result,), kind = results, node.attrs["kind"]
    if any(is_number(n, 0) for n in result.shape):
        return
    x, offsets, *index = (dense(context, a, first=1 if i == 0 else 0) for i, a in enumerate(operands))
    plain = is_contiguous(result)
    target = result if plain else context.temp(result.shape, result.dtype)
    columns, dtype, step = product(x.shape[1:]), x.dtype, x.strides[0]
    if dtype.is_complex and kind == "sum":  # as twice as many floats
        columns, dtype, step = 2 * columns, float32 if dtype is complex64 else float64, 2 * step
    count = index[0].shape[0] if index and not is_number(x.shape[0], 0) else x.shape[0]
    params = [columns, step, x.shape[0], count]
    kernel = segment_kernel(dtype, kind, bool(index))
    rows = params[-1] // result.shape[0] + 1
    context.launch(kernel, [x, offsets, *index, target, error_flag()], params, result.shape[0],
                   GRAIN // (columns * rows) + 1)  # fmt: skip
    if not plain:
        copy(context, target, result)


def is_contiguous(array: Array, first: int = 0) -> bool:
    """Whether dimensions from `first` on lie one after the other, without gaps."""
    want = contiguous_strides(array.shape)
    dims = [d for d in range(first, len(want)) if not is_number(array.shape[d], 1)]
    return all(array.strides[d] is want[d] or bool(array.strides[d] == want[d]) for d in dims)


def dense(context: Context, array: Array, first: int) -> Array:
    """The array, or a copy in which dimensions from `first` on are contiguous."""
    if is_contiguous(array, first):
        return array
    packed = context.temp(array.shape, array.dtype)
    copy(context, array, packed)
    return packed


class Segments:
    """Where segments begin and end, and where their rows lie; what leads outside is reported and left out."""

    def __init__(self, f: Function, offsets: V, index: V | None, error: V, numbers: list[V]):
        self.f, self.offsets, self.index, self.error = f, offsets, index, error
        self.step, self.rows, self.count = numbers

    def span(self, segment: V) -> tuple[V, V]:
        f = self.f
        first, last = (f.load(f.at(self.offsets, "i64", s), "i64") for s in (segment, f.add(segment, ONE)))
        fine = f.binary("and", f.compare("ule", first, last), f.compare("ule", last, self.count))
        self.report(fine, last, self.count)
        return f.select(fine, first, ZERO), f.select(fine, last, ZERO)

    def row(self, k: V) -> V:
        """How many elements before row k of what is reduced, as far as it lies inside."""
        f = self.f
        if self.index is None:
            return f.mul(k, self.step)
        found = f.load(f.at(self.index, "i64", k), "i64")
        fine = f.compare("ult", found, self.rows)
        self.report(fine, found, self.rows)
        return f.mul(f.select(fine, found, ZERO), self.step)

    def report(self, fine: V, number: V, size: V) -> None:
        f = self.f
        with f.when(f.binary("xor", fine, V("true", "i1"))):
            report(f, self.error, OUT_OF_BOUNDS, number, ZERO, size)


@functools.cache
def segment_kernel(dtype: DType, kind: str, indexed: bool) -> Kernel:
    """Buffers x, offsets, [index], result, error; params columns, elements between rows, rows, rows of the index."""
    module = Module()
    f = module.kernel(f"segment_{kind}")
    x, offsets, *index, result, error = (f.buffer(i) for i in range(5 if indexed else 4))
    columns, *numbers = Parameters(f).numbers(4)
    segments = Segments(f, offsets, index[0] if indexed else None, error, numbers)
    lanes = host().lanes(max(dtype.itemsize, 4))
    with f.loop(f.begin, f.end) as segment:
        span, target = segments.span(segment), f.mul(segment, columns)
        start = ZERO
        for width, count in ((lanes, ABREAST), (lanes, 1), (1, 1)):
            step = width * count
            end = f.sub(columns, f.binary("urem", f.sub(columns, start), i64(step))) if step > 1 else columns
            with f.loop(start, end, step) as column:
                fold_block(f, dtype, kind, segments, span, (x, column), (result, f.add(target, column)), width, count)
            start = end
    return Kernel(f.name, str(module))


def fold_block(f: Function, dtype: DType, kind: str, segments, span, source, target, lanes: int, count: int) -> None:
    """Reduce `count` vectors of columns of one segment; `source` and `target` are pointers and first elements."""
    type, (first, last) = memory_type(dtype), span
    fold = fold_of(f, f"reduce_{kind}", dtype, dtype)
    states = [accumulator(fold, lanes, 1) for _ in range(count)]
    with f.loop(first, last, CHAIN) as chain:
        with f.loop(chain, f.minimum(f.add(chain, i64(CHAIN)), last)) as k:
            place = f.add(segments.row(k), source[1])
            for i, state in enumerate(states):
                raw = f.load(f.at(source[0], type, f.add(place, i64(i * lanes))), vector(type, lanes), dtype.itemsize)
                state.add(0, from_memory(f, raw, dtype, lanes), None, None)
        for state in states:
            state.flush()
    for i, state in enumerate(states):
        value = to_memory(f, fold.result(state.total(), lanes), dtype, lanes)
        f.store(value, f.at(target[0], type, f.add(target[1], i64(i * lanes))), dtype.itemsize)
