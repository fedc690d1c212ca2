"""Transposing a matrix in memory, square blocks of vectors at a time."""

from __future__ import annotations

from ..ir.dtypes import DType
from .conv_window import i64
from .gemm_element import load_lanes, memory_type, store_lanes
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
    block = f.variable(f"[{count * count} x {type}]")
    with f.loop(0, rows, count) as row, f.loop(0, columns, count) as column:
        height, width = f.sub(rows, row), f.sub(columns, column)
        last = f.sub(rows, i64(1))
        lines = [f.minimum(f.add(row, i64(r)), last) for r in range(count)]
        pointers = [f.at(f.offset(source, f.mul(line, source_row)), type, column) for line in lines]
        out = f.at(f.offset(target, f.mul(column, target_row)), type, row)
        whole = f.binary("and", *(f.compare("sge", size, i64(count)) for size in (height, width)))
        with f.branch(whole) as otherwise:
            values = transpose(f, [load_lanes(f, pointer, dtype, count) for pointer in pointers])
            for c, value in enumerate(values):
                f.store(value, f.offset(out, f.mul(i64(c), target_row)))
            otherwise()
            _edge(f, dtype, pointers, height, width, block, out)
    return f


def _edge(f: Function, dtype: DType, pointers: list[V], height: V, width: V, block: V, out: V) -> None:
    """A block that reaches over the edge goes through memory, which cuts it to size."""
    count, type = len(pointers), memory_type(dtype)
    width = f.minimum(width, i64(count))
    values = transpose(f, [load_lanes(f, pointer, dtype, count, width) for pointer in pointers])
    for c, value in enumerate(values):
        f.store(value, f.at(block, type, c * count))
    with f.loop(0, width) as c:
        value = f.load(f.at(block, type, f.mul(c, i64(count))), vector(type, count))
        pointer = f.offset(out, f.mul(c, f.args[5]))
        with f.branch(f.compare("sge", height, i64(count))) as otherwise:
            f.store(value, pointer)
            otherwise()
            store_lanes(f, value, pointer, dtype, count, height)
