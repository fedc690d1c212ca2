"""Packing groups of rows of A: interleaved, [tile][depth][rows of the tile], or plain, [row][depth]."""

from __future__ import annotations

from ..ir.dtypes import DType
from .gemm_element import i64, memory_type
from .gemm_steps import Steps
from .gemm_tile import Tile
from .text import Function, Module, V

GROUP = 48  # rows packed at a time: whole tiles of 4 and of 6
GAP = 2  # unused steps behind each interleaved tile: whole vectors are written over its end


def emit_pack_a(module: Module, tile: Tile, dtype: DType, form: str) -> Function:
    """Define `pack_a(source, row, step, rows, available, depth, target)`: at most `GROUP` rows, strides in bytes.

    "columns" (rows of A side by side in memory) interleaves tiles of `tile.rows`; "rows" (each row contiguous) and
    "strided" copy row by row. `available` counts the rows readable from `source`, at least `rows`. For complex
    numbers depth counts complex ones.
    """
    args = [("ptr", "source"), ("i64", "row"), ("i64", "step"), ("i64", "rows"), ("i64", "available")]
    f = module.function("pack_a", [*args, ("i64", "depth"), ("ptr", "target")], linkage="internal")
    if dtype.is_complex:
        _copy_complex(f, tile)
        return f
    steps = Steps(f, tile, dtype, f.args[5])
    if form == "columns":
        _interleave(f, tile, dtype, steps)
    else:
        _copy_rows(f, tile, steps, tile.lanes if form == "rows" else 1)
    return f


def _interleave(f: Function, tile: Tile, dtype: DType, steps: Steps) -> None:
    with f.branch(f.compare("eq", f.args[3], i64(GROUP))) as otherwise:
        _interleave_group(f, tile, dtype, steps)
        otherwise()
        _interleave_tiles(f, tile, dtype, steps)


def _interleave_group(f: Function, tile: Tile, dtype: DType, steps: Steps) -> None:
    """All tiles of one step before the next: each cache line of A is met once, however far apart the steps are.

    Moves whole vectors that overlap the next step, which is written after them.
    """
    source, _, step, _, _, _, target = f.args
    n, height = _vector_lanes(tile), tile.rows
    distance = f.add(steps.count, i64(GAP))
    with f.loop(0, steps.count) as k:
        for i in range(0, GROUP, height):
            shift = max(0, i + n - GROUP)  # the last vector ends with the group: nothing may lie behind it
            base = f.offset(source, i64((i - shift) * dtype.itemsize))
            value = steps.across(base, step, k, n)
            if shift:
                value = f.shuffle(value, value, [*range(shift, n), *range(shift)])
            f.store(value, f.at(target, steps.type, f.add(f.mul(distance, i64(i)), f.mul(k, i64(height)))))


def _interleave_tiles(f: Function, tile: Tile, dtype: DType, steps: Steps) -> None:
    source, _, step, rows, available, _, target = f.args
    n, height = _vector_lanes(tile), tile.rows
    distance = f.add(steps.count, i64(GAP))
    with f.loop(0, rows, height) as i:
        base, out = f.at(source, memory_type(dtype), i), f.at(target, steps.type, f.mul(i, distance))
        with f.branch(f.compare("sle", f.add(i, i64(n)), available)) as at_edge:
            with f.loop(0, steps.count) as k:
                f.store(steps.across(base, step, k, n), f.at(out, steps.type, f.mul(k, i64(height))))
            at_edge()
            count = f.minimum(f.sub(available, i), i64(height))
            with f.loop(0, steps.count) as k, f.loop(0, count) as r:
                value = steps.across(f.at(base, memory_type(dtype), r), step, k, 1)
                f.store(value, f.at(out, steps.type, f.add(f.mul(k, i64(height)), r)))


def _vector_lanes(tile: Tile) -> int:
    """How many elements move at once: a power of two that covers the tile's rows."""
    return 1 << (tile.rows - 1).bit_length()


def _copy_rows(f: Function, tile: Tile, steps: Steps, lanes: int) -> None:
    """`lanes` steps at a time while they last, then one by one."""
    source, row, step, rows, _, _, target = f.args
    whole = f.sub(steps.whole, f.binary("srem", steps.whole, i64(lanes))) if lanes > 1 else i64(0)
    with f.loop(0, rows) as r:
        base = f.offset(source, f.mul(r, row))
        out = f.at(target, steps.type, f.mul(r, steps.count))
        if lanes > 1:
            with f.loop(0, whole, lanes) as k:
                f.store(steps.along(base, k, lanes), f.at(out, steps.type, k))
        with f.loop(whole, steps.count) as k:
            f.store(steps.across(base, step, k, 1), f.at(out, steps.type, k))


def _copy_complex(f: Function, tile: Tile) -> None:
    source, row, step, rows, _, depth, target = f.args
    with f.loop(0, rows) as r, f.loop(0, depth) as k:
        pointer = f.offset(f.offset(source, f.mul(r, row)), f.mul(k, step))
        place: V = f.mul(f.add(f.mul(r, depth), k), i64(2))
        for part in range(2):
            f.store(f.load(f.at(pointer, tile.type, part), tile.type), f.at(target, tile.type, f.add(place, i64(part))))
