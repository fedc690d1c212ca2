"""Scans along one dimension: cumsum, cumprod, logcumsumexp, cummax, cummin.

row      the dimension is dense: prefixes in vectors, one after the other
line     any strides, or a fold that must go in order: element after element
across   another dimension is dense: vectors along that one, element after element along the scan
A few long rows are cut into blocks: their totals first, then each block's start from those before it, then the scan.
"""

from __future__ import annotations

import functools
from dataclasses import replace

from ..ir.dtypes import int64
from .index_copy import GRAIN
from .index_layout import ONE, ZERO, Nest, Parameters, i64, is_number, segments, times
from .kernel import Kernel
from .scan_lines import Line, load_state, store_state
from .scan_operations import OPERATIONS
from .target import host
from .templates import Array, Context, template
from .text import Function, Module, V, scalar_bytes

LONG = 1 << 17  # elements from which a row is scanned by several threads, if there are few rows
FEW_ROWS = 8
BLOCK = 1 << 15


@template(*OPERATIONS)
def lower_scan(context: Context, node, operands: list[Array], results: list[Array]) -> None:
    name, dim = node.prim.name, node.attrs["dim"]
    arrays = [*results, *operands]
    if any(is_number(n, 0) for n in operands[0].shape):
        return
    if name == "cumsum" and operands[0].dtype.is_complex:
        arrays = [parts(a) for a in arrays]
    shape, dtype = arrays[-1].shape, arrays[-1].dtype
    length, steps = (shape[dim], [a.strides[dim] for a in arrays]) if shape else (1, [0] * len(arrays))
    others = [d for d in range(len(shape)) if d != dim]
    nest = Nest([shape[d] for d in others], *([a.strides[d] for d in others] for a in arrays), reorder=True)
    operation = OPERATIONS[name](dtype)
    dense = all(is_number(s, 1) for s in steps)
    params = [length, *steps, *nest.params]
    if not dense and all(step == 1 for step in nest.structure[-1]):
        kernel = across_kernel(name, dtype, nest.structure)
        context.launch(kernel, arrays, params, nest.size, GRAIN // length + 16)
        return
    lanes = 1 if operation.in_order or not dense else lanes_of(operation)
    form = name, dtype, lanes, nest.structure
    if not operation.in_order and length >= LONG and nest.size < FEW_ROWS:
        scan_blocks(context, form, arrays, params, length, nest.size)
    else:
        context.launch(rows_kernel(*form), arrays, params, nest.size, GRAIN // length + 1)


def parts(array: Array) -> Array:
    """A complex array as a real one with a last dimension of 2."""
    strides = (*(2 * s for s in array.strides), 1)
    return replace(
        array, shape=(*array.shape, 2), strides=strides, dtype=array.dtype.to_real(), offset=2 * array.offset
    )


def lanes_of(operation) -> int:
    return host().vector_bytes // max(scalar_bytes(t) for t in operation.types)


def scan_blocks(context: Context, form: tuple, arrays: list[Array], params: list, length, rows) -> None:
    name, dtype, _, _ = form
    blocks = (length + (BLOCK - 1)) // BLOCK
    words = len(OPERATIONS[name](dtype).types)
    totals = context.temp((rows * blocks * words,), int64)
    context.launch(totals_kernel(*form), [*arrays, totals], [*params, blocks, BLOCK], rows * blocks)
    context.launch(starts_kernel(name, dtype), [totals], [blocks], rows)
    context.launch(blocks_kernel(*form), [*arrays, totals], [*params, blocks, BLOCK], rows * blocks)


def begin(module: Module, label: str, name: str, dtype, lanes: int, structure: tuple):
    """The kernel, its line and what is outside of the scanned dimension."""
    f = module.kernel(f"{name}_{label}")
    operation = OPERATIONS[name](dtype)
    parameters = Parameters(f)
    length, *steps = parameters.numbers(2 + operation.outputs)
    buffers = [f.buffer(i) for i in range(1 + operation.outputs)]
    line = Line(f, operation, buffers, steps if lanes == 1 else [ONE] * len(steps), lanes)
    return f, line, length, parameters, parameters.loops(structure)


@functools.cache
def rows_kernel(name: str, dtype, lanes: int, structure: tuple) -> Kernel:
    module = Module()
    f, line, length, _, outer = begin(module, "rows", name, dtype, lanes, structure)
    with f.loop(f.begin, f.end) as row:
        line.at = outer.offsets(row, [ZERO] * len(line.buffers))
        line.reset()
        line.scan(ZERO, length)
    return Kernel(f.name, str(module))


@functools.cache
def across_kernel(name: str, dtype, structure: tuple) -> Kernel:
    """Columns in vectors, a few side by side for whole cache lines; what remains in narrower ones."""
    module = Module()
    f, line, length, _, loops = begin(module, "across", name, dtype, 1, structure)
    outer, inner = loops.split(1)
    vector = lanes_of(line.operation)
    # long code for each width would cost more to compile than it saves
    widths = (vector, 1) if name == "logcumsumexp" else sorted({4 * vector, vector, 4, 2, 1}, reverse=True)
    with segments(f, f.begin, f.end, inner.size) as (row, first, last):
        at = outer.offsets(row, [ZERO] * len(line.buffers))
        for width in widths:
            stop = f.add(first, f.binary("and", f.sub(last, first), i64(-width)))
            with f.loop(first, stop, width) as column:
                line.at = [f.add(o, column) for o in at]
                line.across(length, width)
            first = stop
    return Kernel(f.name, str(module))


def block_of(f: Function, index: V, length: V, blocks: V, size: V) -> tuple[V, V, V]:
    """Row, first and last element of block number `index`."""
    row = f.binary("udiv", index, blocks)
    first = f.mul(f.sub(index, f.mul(row, blocks)), size)
    return row, first, f.minimum(f.add(first, size), length)


@functools.cache
def totals_kernel(name: str, dtype, lanes: int, structure: tuple) -> Kernel:
    module = Module()
    f, line, length, parameters, outer = begin(module, "totals", name, dtype, lanes, structure)
    blocks, size = parameters.numbers(2)
    totals = f.buffer(len(line.buffers))
    with f.loop(f.begin, f.end) as index:
        row, first, last = block_of(f, index, length, blocks, size)
        line.at = outer.offsets(row, [ZERO] * len(line.buffers))
        line.reset()
        line.scan(first, last, writing=False)
        store_state(f, line.carried(), totals, index)
    return Kernel(f.name, str(module))


@functools.cache
def starts_kernel(name: str, dtype) -> Kernel:
    """Replace each block's total by the state before the block."""
    module = Module()
    f = module.kernel(f"{name}_starts")
    operation = OPERATIONS[name](dtype)
    totals, blocks = f.buffer(0), f.param(0)
    with f.loop(f.begin, f.end) as row:
        before = [f.variable(v.type, v) for v in operation.identity(f, 1)]
        with f.loop(ZERO, blocks) as number:
            index = f.add(times(f, row, blocks), number)
            total = load_state(f, operation.types, totals, index)
            state = tuple(f.load(v, t) for v, t in zip(before, operation.types))
            store_state(f, state, totals, index)
            for variable, value in zip(before, operation.combine(f, state, total)):
                f.store(value, variable)
    return Kernel(f.name, str(module))


@functools.cache
def blocks_kernel(name: str, dtype, lanes: int, structure: tuple) -> Kernel:
    module = Module()
    f, line, length, parameters, outer = begin(module, "blocks", name, dtype, lanes, structure)
    blocks, size = parameters.numbers(2)
    starts = f.buffer(len(line.buffers))
    with f.loop(f.begin, f.end) as index:
        row, first, last = block_of(f, index, length, blocks, size)
        line.at = outer.offsets(row, [ZERO] * len(line.buffers))
        line.reset(load_state(f, line.operation.types, starts, index))
        line.scan(first, last)
    return Kernel(f.name, str(module))
