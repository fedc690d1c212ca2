"""Packing: pieces of A and B laid out as the register tile reads them, widened to the type of the sums.

A panel of B is [depth][columns of the tile], zero padded to whole vectors. A group of rows of A is either interleaved,
[tile][depth][rows of the tile], when A's columns are contiguous, or plain rows [row][depth].

Complex numbers become real ones here: C = A B over pairs (re, im) is a real product of A seen as [M, 2 K] with
[2 K, 2 N], where element (k, n) of B becomes the block ((re, im), (-im, re)).
"""

from __future__ import annotations

from ..ir.dtypes import DType
from .gemm_element import is_half, load_lanes, memory_type, sum_type
from .gemm_tile import Tile
from .text import Function, Module, V, lanes, scalar_bytes, vector

GROUP = 48  # rows of A packed at a time: whole tiles of 4 and of 6
GAP = 2  # unused steps behind each interleaved tile of A: whole vectors are written over its end


def i64(number: int) -> V:
    return V(str(number), "i64")


def emit_pack_b(module: Module, tile: Tile, dtype: DType, form: str) -> Function:
    """Define `pack_b(source, step, column, depth, columns, panel)`: one panel of B, strides in bytes.

    `form` says what is contiguous: "rows" (columns of one k side by side), "columns" (the ks of one column) or
    "strided" (nothing). For complex numbers depth counts complex and columns real numbers.
    """
    args = [("ptr", "source"), ("i64", "step"), ("i64", "column"), ("i64", "depth"), ("i64", "columns")]
    f = module.function("pack_b", [*args, ("ptr", "panel")], linkage="internal")
    writer = {"rows": _pack_rows, "columns": _pack_columns, "strided": _pack_strided}[form]
    if dtype.is_complex:
        writer = _pack_complex
    elif form == "columns" and dtype.itemsize < 4 and not is_half(dtype):
        writer = _pack_strided  # transposing bytes in registers is not worth its code
    writer(f, tile, dtype)
    return f


def _pack_rows(f: Function, tile: Tile, dtype: DType) -> None:
    source, step, _, depth, columns, panel = f.args
    whole = f.compare("sge", columns, i64(tile.columns))
    with f.branch(whole) as otherwise:
        with f.loop(0, depth) as k:
            row, target = f.offset(source, f.mul(k, step)), _panel_row(f, tile, panel, k)
            for v in range(tile.vectors):
                value = load_lanes(f, f.at(row, memory_type(dtype), v * tile.lanes), dtype, tile.lanes)
                f.store(value, f.at(target, tile.type, v * tile.lanes))
        otherwise()
        with f.loop(0, columns, tile.lanes) as j:
            count = f.sub(columns, j)
            with f.loop(0, depth) as k:
                row, target = f.offset(source, f.mul(k, step)), _panel_row(f, tile, panel, k)
                value = load_lanes(f, f.at(row, memory_type(dtype), j), dtype, tile.lanes, count)
                f.store(value, f.at(target, tile.type, j))


def _pack_columns(f: Function, tile: Tile, dtype: DType) -> None:
    """Transpose square blocks in registers; what is left at the edges goes element by element."""
    source, _, column, depth, columns, panel = f.args
    n = tile.lanes
    whole = f.sub(depth, f.binary("srem", depth, i64(n)))
    with f.loop(0, columns, n) as j:
        done = f.variable("i64", i64(0))
        base = f.offset(source, f.mul(j, column))
        with f.when(f.compare("sle", f.add(j, i64(n)), columns)):
            f.store(whole, done)
            rows = [f.offset(base, f.mul(i64(r), column)) for r in range(n)]
            with f.loop(0, whole, n) as k:
                block = [load_lanes(f, f.at(row, memory_type(dtype), k), dtype, n) for row in rows]
                for r, value in enumerate(transpose(f, block)):
                    f.store(value, f.at(_panel_row(f, tile, panel, f.add(k, i64(r))), tile.type, j))
        _pack_elements(f, tile, dtype, f.load(done, "i64"), j)


def _pack_strided(f: Function, tile: Tile, dtype: DType) -> None:
    with f.loop(0, f.args[4], tile.lanes) as j:
        _pack_elements(f, tile, dtype, i64(0), j)


def _pack_elements(f: Function, tile: Tile, dtype: DType, begin: V, j: V) -> None:
    """One vector's worth of columns from j on, for k >= begin, element by element."""
    source, step, column, depth, columns, panel = f.args
    count = f.minimum(f.sub(columns, j), i64(tile.lanes))
    base = f.offset(source, f.mul(j, column))
    with f.loop(begin, depth) as k:
        row, target = f.offset(base, f.mul(k, step)), f.at(_panel_row(f, tile, panel, k), tile.type, j)
        f.store(V("zeroinitializer", vector(tile.type, tile.lanes)), target)
        with f.loop(0, count) as i:
            f.store(load_lanes(f, f.offset(row, f.mul(i, column)), dtype, 1), f.at(target, tile.type, i))


def _pack_complex(f: Function, tile: Tile, dtype: DType) -> None:
    source, step, column, depth, columns, panel = f.args
    count = f.binary("ashr", columns, i64(1))
    with f.loop(0, depth) as k:
        row, twice = f.offset(source, f.mul(k, step)), f.mul(k, i64(2))
        plain, turned = (_panel_row(f, tile, panel, k2) for k2 in (twice, f.add(twice, i64(1))))
        with f.loop(0, columns, tile.lanes) as j:
            for target in (plain, turned):
                f.store(V("zeroinitializer", vector(tile.type, tile.lanes)), f.at(target, tile.type, j))
        with f.loop(0, count) as j:
            pointer, j2 = f.offset(row, f.mul(j, column)), f.mul(j, i64(2))
            re, im = (f.load(f.at(pointer, tile.type, part), tile.type) for part in (0, 1))
            for target, pair in ((plain, (re, im)), (turned, (f.neg(im), re))):
                for part, value in enumerate(pair):
                    f.store(value, f.at(target, tile.type, f.add(j2, i64(part))))


def _panel_row(f: Function, tile: Tile, panel: V, k: V) -> V:
    return f.at(panel, tile.type, f.mul(k, i64(tile.columns)))


def transpose(f: Function, rows: list[V]) -> list[V]:
    """The transpose of a square block held in vectors of 4 or 8 byte lanes.

    First within 128-bit lanes by unpacking, then the lanes among each other: both are one-cycle shuffles on x86.
    """
    n = lanes(rows[0].type)
    width = min(16 // scalar_bytes(rows[0].type), n)  # elements of a 128-bit lane
    done: list[V | None] = [None] * n
    groups = [_unpack(f, rows[g : g + width], width) for g in range(0, n, width)]
    for j in range(width):
        for q, value in enumerate(_gather_lanes(f, [group[j] for group in groups], width)):
            done[q * width + j] = value
    return done


def _unpack(f: Function, rows: list[V], width: int) -> list[V]:
    """Transpose `width` rows within each 128-bit lane."""
    n = lanes(rows[0].type)

    def unpack(a: V, b: V, size: int, high: bool) -> V:
        """Interleave runs of `size` elements from the lower or upper halves of the lanes of a and b."""
        mask = []
        for lane in range(0, n, width):
            start = lane + (width // 2 if high else 0)
            for run in range(start, start + width // 2, size):
                mask += range(run, run + size)
                mask += range(n + run, n + run + size)
        return f.shuffle(a, b, mask)

    if width == 1:
        return rows
    if width == 2:
        return [unpack(rows[0], rows[1], 1, high) for high in (False, True)]
    low, high = [[unpack(a, b, 1, h) for a, b in (rows[:2], rows[2:])] for h in (False, True)]
    return [unpack(*pair, 2, h) for pair in (low, high) for h in (False, True)]


def _gather_lanes(f: Function, values: list[V], width: int) -> list[V]:
    """values[g] has 128-bit lanes (g, 0), (g, 1), ...; result q has (0, q), (1, q), ..."""
    if len(values) == 1:
        return values
    n = lanes(values[0].type)
    even, odd = ([i for i in range(2 * n) if i // width % 2 == parity] for parity in (0, 1))
    pairs = list(zip(values[::2], values[1::2]))
    evens = _gather_lanes(f, [f.shuffle(a, b, even) for a, b in pairs], width)
    odds = _gather_lanes(f, [f.shuffle(a, b, odd) for a, b in pairs], width)
    return [value for pair in zip(evens, odds) for value in pair]


def emit_pack_a(module: Module, tile: Tile, dtype: DType, form: str) -> Function:
    """Define `pack_a(source, row, step, rows, available, depth, target)`: rows of A, strides in bytes.

    "columns" (rows of A side by side in memory) interleaves tiles of `tile.rows`; "rows" (each row contiguous) and
    "strided" copy row by row. `available` counts the rows readable from `source`, at least `rows`. For complex
    numbers depth counts complex ones.
    """
    args = [("ptr", "source"), ("i64", "row"), ("i64", "step"), ("i64", "rows"), ("i64", "available")]
    f = module.function("pack_a", [*args, ("i64", "depth"), ("ptr", "target")], linkage="internal")
    if form == "columns":
        _interleave_tiles(f, tile, dtype)
    else:
        _copy_rows(f, tile, dtype, form)
    return f


def interleaved_lanes(tile: Tile) -> int:
    """How many elements the interleaving packer moves at once: a power of two that covers the tile's rows."""
    return 1 << (tile.rows - 1).bit_length()


def _interleave_tiles(f: Function, tile: Tile, dtype: DType) -> None:
    """Move whole vectors that overlap the next k, which is written after them."""
    source, _, step, rows, available, depth, target = f.args
    n, height = interleaved_lanes(tile), tile.rows
    distance = f.add(depth, i64(GAP))
    with f.branch(f.compare("eq", rows, i64(GROUP))) as otherwise:
        # all tiles of one k before the next: every cache line of A is met once, however far apart the ks are
        with f.loop(0, depth) as k:
            base = f.offset(source, f.mul(k, step))
            for i in range(0, GROUP, height):
                # the last vector ends with the group, for nothing may lie behind it
                shift = max(0, i + n - GROUP)
                value = load_lanes(f, f.at(base, memory_type(dtype), i - shift), dtype, n)
                if shift:
                    value = f.shuffle(value, value, [*range(shift, n), *range(shift)])
                place = f.add(f.mul(distance, i64(i)), f.mul(k, i64(height)))
                f.store(value, f.at(target, tile.type, place))
        otherwise()
        with f.loop(0, rows, height) as i:
            base, out = f.at(source, memory_type(dtype), i), f.at(target, tile.type, f.mul(i, distance))
            with f.branch(f.compare("sle", f.add(i, i64(n)), available)) as at_edge:
                with f.loop(0, depth) as k:
                    value = load_lanes(f, f.offset(base, f.mul(k, step)), dtype, n)
                    f.store(value, f.at(out, tile.type, f.mul(k, i64(height))))
                at_edge()
                count = f.minimum(f.sub(available, i), i64(height))
                with f.loop(0, depth) as k, f.loop(0, count) as r:
                    value = load_lanes(f, f.at(f.offset(base, f.mul(k, step)), memory_type(dtype), r), dtype, 1)
                    f.store(value, f.at(out, tile.type, f.add(f.mul(k, i64(height)), r)))


def _copy_rows(f: Function, tile: Tile, dtype: DType, form: str) -> None:
    source, row, step, rows, _, depth, target = f.args
    parts = 2 if dtype.is_complex else 1
    with f.loop(0, rows) as r:
        base = f.offset(source, f.mul(r, row))
        out = f.at(target, tile.type, f.mul(r, f.mul(depth, i64(parts))))
        if form == "rows" and parts == 1:
            with f.loop(0, depth, tile.lanes) as k:
                _copy_lanes(f, tile, dtype, f.at(base, memory_type(dtype), k), f.at(out, tile.type, k), f.sub(depth, k))
        else:
            with f.loop(0, depth) as k:
                for part in range(parts):
                    pointer = f.at(f.offset(base, f.mul(k, step)), memory_type(dtype), part)
                    place = f.add(f.mul(k, i64(parts)), i64(part))
                    f.store(load_lanes(f, pointer, dtype, 1), f.at(out, tile.type, place))


def _copy_lanes(f: Function, tile: Tile, dtype: DType, source: V, target: V, count: V) -> None:
    with f.branch(f.compare("sge", count, i64(tile.lanes))) as otherwise:
        f.store(load_lanes(f, source, dtype, tile.lanes), target)
        otherwise()
        with f.loop(0, count) as i:
            value = load_lanes(f, f.at(source, memory_type(dtype), i), dtype, 1)
            f.store(value, f.at(target, sum_type(dtype), i))
