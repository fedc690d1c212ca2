"""Transposing a matrix in memory, square blocks of vectors at a time."""

from __future__ import annotations

from ..ir.dtypes import DType
from .conv_window import i64
from .gemm_element import first_lanes, load_lanes, memory_type, store_lanes
from .gemm_transpose import transpose
from .target import host
from .text import Function, Module, V, vector

ARGUMENTS = (
    ("ptr", "source"),  # [row][column], columns contiguous
    ("i64", "source_row"),  # bytes between rows
    ("i64", "rows"),
    ("i64", "columns"),
    ("ptr", "target"),  # [column][row], rows contiguous
    ("i64", "target_row"),
)


def emit_transpose(module: Module, dtype: DType) -> Function:
    """Define `transpose(*ARGUMENTS)` for float32 or float64; exactly the matrix is read and written."""
    f = module.function("transpose", list(ARGUMENTS), linkage="internal")
    source, source_row, rows, columns, target, target_row = f.args
    count, type = host().lanes(dtype.itemsize), memory_type(dtype)
    values = [f.variable(vector(type, count)) for _ in range(count)]
    with f.loop(0, rows, count) as row, f.loop(0, columns, count) as column:
        height, width = (f.minimum(f.sub(*sizes), i64(count)) for sizes in ((rows, row), (columns, column)))
        lines = [f.add(row, f.minimum(i64(r), f.sub(height, i64(1)))) for r in range(count)]
        block = [f.at(f.offset(source, f.mul(line, source_row)), type, column) for line in lines]
        whole = f.compare("eq", f.add(height, width), i64(2 * count))
        load_block(f, dtype, block, width, whole, values)
        turned = transpose(f, [f.load(value, vector(type, count)) for value in values])
        out = f.at(f.offset(target, f.mul(column, target_row)), type, row)
        _store(f, dtype, turned, out, height, width, whole)
    return f


def load_block(f: Function, dtype: DType, block: list[V], width: V, whole: V, values: list[V]) -> None:
    """Load a vector from each pointer into a variable, of which only `width` lanes are read if not `whole`."""
    count = host().lanes(dtype.itemsize)
    with f.branch(whole) as otherwise:
        for pointer, value in zip(block, values):
            f.store(load_lanes(f, pointer, dtype, count), value)
        otherwise()
        mask = first_lanes(f, width, vector(memory_type(dtype), count))
        for pointer, value in zip(block, values):
            f.store(load_lanes(f, pointer, dtype, count, mask), value)


def _store(f: Function, dtype: DType, turned: list[V], out: V, height: V, width: V, whole: V) -> None:
    count, type, row = len(turned), memory_type(dtype), f.args[5]
    with f.branch(whole) as otherwise:
        for c, value in enumerate(turned):
            f.store(value, f.offset(out, f.mul(i64(c), row)))
        otherwise()
        # a block that reaches over the edge goes through memory, which cuts it to size
        edge = f.variable(f"[{count * count} x {type}]")
        for c, value in enumerate(turned):
            f.store(value, f.at(edge, type, c * count))
        with f.loop(0, width) as c:
            value = f.load(f.at(edge, type, f.mul(c, i64(count))), vector(type, count))
            store_lanes(f, value, f.offset(out, f.mul(c, row)), dtype, count, height)
