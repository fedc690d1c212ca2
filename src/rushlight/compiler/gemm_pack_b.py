"""Packing panels of B: [depth][columns of the register tile], padded with zeros to whole vectors.

Complex numbers become real ones here: C = A B over pairs (re, im) is a real product of A seen as [M, 2 K] with
[2 K, 2 N], where element (k, n) of B becomes the block ((re, im), (-im, re)).
"""

from __future__ import annotations

from ..ir.dtypes import DType
from .gemm_element import i64, is_half
from .gemm_steps import Steps
from .gemm_tile import Tile
from .gemm_transpose import transpose
from .text import Function, Module, V, vector


def emit_pack_b(module: Module, tile: Tile, dtype: DType, form: str) -> Function:
    """Define `pack_b(source, step, column, depth, columns, panel)`: one panel of B, strides in bytes.

    `form` says what is contiguous: "rows" (columns of one k side by side), "columns" (the ks of one column) or
    "strided" (nothing). For complex numbers depth counts complex and columns real numbers.
    """
    args = [("ptr", "source"), ("i64", "step"), ("i64", "column"), ("i64", "depth"), ("i64", "columns")]
    f = module.function("pack_b", [*args, ("ptr", "panel")], linkage="internal")
    if dtype.is_complex:
        _pack_complex(f, tile)
        return f
    steps = Steps(f, tile, dtype, f.args[3])
    if form == "rows":
        _pack_rows(f, tile, dtype, steps)
    elif form == "columns" and (dtype.itemsize >= 4 or is_half(dtype)):
        _pack_columns(f, tile, steps)
    else:  # transposing bytes in registers is not worth its code
        _pack_strided(f, tile, steps)
    return f


def _pack_rows(f: Function, tile: Tile, dtype: DType, steps: Steps) -> None:
    source, step, _, _, columns, panel = f.args
    whole = f.compare("sge", columns, i64(tile.columns))
    with f.branch(whole) as otherwise:
        with f.loop(0, steps.count) as k:
            target = _panel_row(f, tile, panel, k)
            for v in range(tile.vectors):
                base = f.offset(source, i64(v * tile.lanes * dtype.itemsize))
                f.store(steps.across(base, step, k, tile.lanes), f.at(target, steps.type, v * tile.lanes))
        otherwise()
        with f.loop(0, columns, tile.lanes) as j:
            base, count = f.offset(source, f.mul(j, i64(dtype.itemsize))), f.sub(columns, j)
            with f.loop(0, steps.count) as k:
                value = steps.across(base, step, k, tile.lanes, count)
                f.store(value, f.at(_panel_row(f, tile, panel, k), steps.type, j))


def _pack_columns(f: Function, tile: Tile, steps: Steps) -> None:
    """Transpose square blocks in registers; what is left at the edges goes element by element."""
    source, _, column, _, columns, panel = f.args
    n = tile.lanes
    whole = f.sub(steps.whole, f.binary("srem", steps.whole, i64(n)))
    with f.loop(0, columns, n) as j:
        done = f.variable("i64", i64(0))
        f.store(i64(0), done)
        base = f.offset(source, f.mul(j, column))
        with f.when(f.compare("sle", f.add(j, i64(n)), columns)):
            f.store(whole, done)
            rows = [f.offset(base, f.mul(i64(r), column)) for r in range(n)]
            with f.loop(0, whole, n) as k:
                for r, value in enumerate(transpose(f, [steps.along(row, k, n) for row in rows])):
                    f.store(value, f.at(_panel_row(f, tile, panel, f.add(k, i64(r))), steps.type, j))
        _pack_elements(f, tile, steps, f.load(done, "i64"), j)


def _pack_strided(f: Function, tile: Tile, steps: Steps) -> None:
    with f.loop(0, f.args[4], tile.lanes) as j:
        _pack_elements(f, tile, steps, i64(0), j)


def _pack_elements(f: Function, tile: Tile, steps: Steps, begin: V, j: V) -> None:
    """One vector's worth of columns from j on, for steps from `begin` on, element by element."""
    source, step, column, _, columns, panel = f.args
    count = f.minimum(f.sub(columns, j), i64(tile.lanes))
    base = f.offset(source, f.mul(j, column))
    with f.loop(begin, steps.count) as k:
        target = f.at(_panel_row(f, tile, panel, k), steps.type, j)
        f.store(V("zeroinitializer", vector(steps.type, tile.lanes)), target)
        with f.loop(0, count) as i:
            value = steps.across(f.offset(base, f.mul(i, column)), step, k, 1)
            f.store(value, f.at(target, steps.type, i))


def _pack_complex(f: Function, tile: Tile) -> None:
    source, step, column, depth, columns, panel = f.args
    with f.loop(0, depth) as k:
        row, twice = f.offset(source, f.mul(k, step)), f.mul(k, i64(2))
        plain, turned = (_panel_row(f, tile, panel, k2) for k2 in (twice, f.add(twice, i64(1))))
        with f.loop(0, columns, tile.lanes) as j:
            for target in (plain, turned):
                f.store(V("zeroinitializer", vector(tile.type, tile.lanes)), f.at(target, tile.type, j))
        with f.loop(0, f.binary("ashr", columns, i64(1))) as j:
            pointer, j2 = f.offset(row, f.mul(j, column)), f.mul(j, i64(2))
            re, im = (f.load(f.at(pointer, tile.type, part), tile.type) for part in (0, 1))
            for target, pair in ((plain, (re, im)), (turned, (f.neg(im), re))):
                for part, value in enumerate(pair):
                    f.store(value, f.at(target, tile.type, f.add(j2, i64(part))))


def _panel_row(f: Function, tile: Tile, panel: V, k: V) -> V:
    return f.at(panel, tile.panel_type, f.mul(k, i64(tile.columns)))
