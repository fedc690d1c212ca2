"""Matrix products inside a convolution kernel: the register tile run over the rows and columns of a block in cache."""

from __future__ import annotations

from ..ir.dtypes import DType
from .conv_window import i64
from .gemm_tile import Tile, emit_tile
from .target import host
from .text import Function, Module, V

ARGUMENTS = (
    ("ptr", "a"),  # A[row, k] at a + row * a_row + k * a_step, all strides in bytes
    ("i64", "a_row"),
    ("i64", "a_step"),
    ("ptr", "b"),  # B[k, column], columns contiguous, readable up to the next whole vector
    ("i64", "b_step"),
    ("i64", "depth"),
    ("ptr", "c"),  # C[row, column], columns contiguous
    ("i64", "c_row"),
    ("i64", "rows"),
    ("i64", "columns"),
    ("i64", "flags"),  # FIRST to start from zero instead of C
)


def tile_shape() -> tuple[int, int]:
    """Rows and vectors of the tile: its rows divide the usual numbers of channels, its few columns fit small planes.

    Twice as many accumulators as the latency of two multiply-adds a cycle asks for; more would not be faster as long
    as the block stays in L2.
    """
    if host().registers >= 32:
        return 8, 2
    return (4, 3) if host().has("fma") else (4, 2)


def emit_multiply(module: Module, dtype: DType) -> Function:
    """Define `multiply(*ARGUMENTS)`: C += A B, or C = A B with the flag FIRST."""
    rows, vectors = tile_shape()
    tiles = [Tile(dtype, rows, count) for count in (vectors, 1)]
    for tile in tiles:
        emit_tile(module, tile)
    f = module.function("multiply", list(ARGUMENTS), linkage="internal")
    a, a_row, a_step, b, b_step, depth, c, c_row, row_count, column_count, flags = f.args
    with f.loop(0, row_count, rows) as row:
        height = f.minimum(f.sub(row_count, row), i64(rows))
        left = f.offset(a, f.mul(row, a_row)), a_row, a_step
        line = f.offset(c, f.mul(row, c_row))
        column = f.variable("i64", i64(0))
        with f.repeat(lambda: f.compare("slt", f.load(column, "i64"), column_count)):
            now = f.load(column, "i64")
            rest = f.sub(column_count, now)
            right, sums = (f.at(pointer, tiles[0].type, now) for pointer in (b, line))
            for tile, condition in zip(tiles, ("sgt", "sle")):
                with f.when(f.compare(condition, rest, i64((vectors - 1) * tile.lanes))):
                    width = f.minimum(rest, i64(tile.columns))
                    places = right, b_step, depth, sums, c_row, sums, c_row, V("null", "ptr"), i64(0)
                    f.call(tile.name, "void", *left, *places, height, width, flags)
                    f.store(f.add(now, width), column)
    return f
