"""The blocked matrix product: a kernel that runs register tiles over packed panels of B.

The output is cut into panels (the columns of one register tile) times units of `UNIT` rows; the range of the kernel
counts them panel by panel. A thread's share is thus a few whole panels, which it packs for itself, and parts of panels
at its ends. It walks

    blocks of k (the packed panels stay in L2) → tiles of rows (their A stays in L1) → panels

B in rows that fit the cache is read where it lies. A is read where it lies if its rows are contiguous along k.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

from ..ir.dtypes import DType
from .gemm_batch import batch_addresses, piece_of_sum
from .gemm_element import i64, is_half, memory_type
from .gemm_pack_a import GAP, GROUP, emit_pack_a
from .gemm_pack_b import emit_pack_b
from .gemm_tile import FIRST, LAST, Tile, emit_tile, has_pairs, tile_shape
from .kernel import Kernel
from .target import host
from .text import Module, V, scalar_bytes

UNIT = 24  # rows of a task
STEPS = 256  # steps along k of a packed panel
PARAMETERS = ("m", "n", "k", "a_row", "a_step", "b_step", "b_column", "c_row", "bias_row", "chunk")


@dataclass(frozen=True)
class Gemm:
    """The structure of a blocked product: everything its text depends on besides the target.

    dtype  element type of a and b
    result element type of c: float32 for unfinished sums of half types, else the same
    a      "direct" (rows contiguous along k), "rows" (the same, but to be widened or padded), "columns" (contiguous
           along m) or "strided"
    b      "rows" (contiguous along n), "columns" (contiguous along k) or "strided"
    bias   None, "row" or "column", as in `Tile`
    narrow whether one vector holds all columns of C: tiles are not wider then, which saves compiling
    batch  number of batch dimensions
    split  whether the last batch dimension counts pieces of `chunk` steps along k of one product
    """

    dtype: DType
    result: DType
    a: str
    b: str
    bias: str | None = None
    relu: bool = False
    narrow: bool = False
    batch: int = 0
    split: bool = False

    @property
    def tile(self) -> Tile:
        rows, vectors = tile_shape()
        dtype = self.result.to_real()
        vectors = 1 if self.narrow else 2 if dtype.kind in "iu" else vectors
        return Tile(dtype, rows, vectors, self.bias, self.relu, has_pairs(self.dtype))

    @property
    def tiles(self) -> list[Tile]:
        """The tiles for 1, 2, ... vectors, then a lower one of full width: with both heights nearly every number of
        rows can be cut without waste."""
        full = self.tile
        return [replace(full, vectors=v + 1) for v in range(full.vectors)] + [replace(full, rows=full.rows - 1)]

    @property
    def parts(self) -> int:
        """Real numbers per element."""
        return 2 if self.dtype.is_complex else 1

    @property
    def depth(self) -> int:
        """Elements along k of a packed panel."""
        return STEPS * 2 if self.tile.pairs else STEPS

    @property
    def size(self) -> int:
        """Bytes of a number, or of a pair, in packed panels."""
        return scalar_bytes(self.tile.panel_type)

    @property
    def panels(self) -> int:
        """Panels packed at a time: they share L2 with A and C."""
        budget = 512 * 1024 if host().vector_bytes >= 64 else 192 * 1024
        return max(1, budget // self.panel_bytes)

    @property
    def panel_bytes(self) -> int:
        return STEPS * self.parts * self.tile.columns * self.size

    @property
    def packed_b_bytes(self) -> int:
        return self.panels * self.panel_bytes

    @property
    def packed_a_bytes(self) -> int:
        """One group of rows."""
        return 0 if self.a == "direct" else GROUP * (STEPS + GAP) * self.parts * self.size

    def scratch(self, m, k):
        """Bytes of scratch memory for m rows; unfinished sums of half types are kept there too."""
        sums = 0
        if is_half(self.result) and k > self.depth:
            sums = m * (self.panels * self.tile.columns * self.size)
        return self.packed_b_bytes + self.packed_a_bytes + sums


@functools.cache
def gemm_kernel(structure: Gemm) -> Kernel:
    """The kernel of a structure: buffers a, b, c[, bias], scratch; parameters `PARAMETERS`, then those of the batch.

    n counts real numbers, m and k elements; strides are in bytes.
    """
    module = Module()
    writer = _Writer(module, structure)
    writer.emit()
    return Kernel("gemm", str(module))


class _Writer:
    """Writes the kernel of one structure."""

    def __init__(self, module: Module, structure: Gemm):
        self.structure, self.tile = structure, structure.tile
        names = ["@" + emit_tile(module, tile).name for tile in structure.tiles]
        self.tiles = module.table("ptr", names)
        self.pack_b = emit_pack_b(module, self.tile, structure.dtype, structure.b)
        if structure.a != "direct":
            self.pack_a = emit_pack_a(module, self.tile, structure.dtype, structure.a)
        self.f = module.kernel("gemm")

    def emit(self) -> None:
        f, s = self.f, self.structure
        self.p = {name: f.param(i) for i, name in enumerate(PARAMETERS)}
        names = ["a", "b", "c"] + ["bias"] * bool(s.bias) + ["scratch"]
        self.base = {name: f.buffer(i) for i, name in enumerate(names)}
        self.packed_b = self.base.pop("scratch")
        self.packed_a = f.offset(self.packed_b, i64(s.packed_b_bytes))
        self.sums = f.offset(self.packed_a, i64(s.packed_a_bytes))
        self.panel_count = self._ceil(self.p["n"], self.tile.columns)
        self.unit_count = self._ceil(self.p["m"], UNIT)
        task = f.variable("i64", f.begin)
        with f.repeat(lambda: f.compare("slt", f.load(task, "i64"), f.end)):
            now = f.load(task, "i64")
            f.store(f.add(now, self._share(now)), task)

    def _ceil(self, a: V, b: int) -> V:
        return self.f.binary("sdiv", self.f.add(a, i64(b - 1)), i64(b))

    def _share(self, now: V) -> V:
        """Compute one rectangle of the output, from task `now` on; returns how many tasks it held."""
        f = self.f
        matrix = f.mul(self.panel_count, self.unit_count)
        batch, rest = f.binary("sdiv", now, matrix), f.binary("srem", now, matrix)
        panel, unit = f.binary("sdiv", rest, self.unit_count), f.binary("srem", rest, self.unit_count)
        left = f.sub(f.end, now)
        whole = f.minimum(f.binary("sdiv", left, self.unit_count), f.sub(self.panel_count, panel))
        whole = f.minimum(whole, i64(self.structure.panels))
        whole = f.select(f.compare("eq", unit, i64(0)), whole, i64(0))
        part = f.compare("eq", whole, i64(0))
        units = f.select(part, f.minimum(f.sub(self.unit_count, unit), left), self.unit_count)
        begin = f.mul(unit, i64(UNIT))
        rows = f.minimum(f.sub(self.p["m"], begin), f.mul(units, i64(UNIT)))
        panels = f.select(part, i64(1), whole)
        self._rectangle(self._batch(batch), begin, rows, panel, panels)
        return f.mul(units, panels)

    def _batch(self, index: V) -> dict[str, V]:
        """The matrices of one batch index, and the length of their sum."""
        f, s = self.f, self.structure
        at, place = batch_addresses(f, len(PARAMETERS), s.batch, index, self.base)
        at["k"] = piece_of_sum(f, self.p["k"], self.p["chunk"], s.split, place)
        return at

    def _rectangle(self, at: dict[str, V], begin: V, rows: V, panel: V, panels: V) -> None:
        """Rows [begin, begin + rows) of `panels` panels: the loop over blocks of k."""
        f, s, p = self.f, self.structure, self.p
        column = f.mul(panel, i64(self.tile.columns))
        at["a"] = f.offset(at["a"], f.mul(begin, p["a_row"]))
        at["b"] = f.offset(at["b"], f.mul(f.binary("sdiv", column, i64(s.parts)), p["b_column"]))
        at["c"] = self._place(at["c"], begin, p["c_row"], column)
        if s.bias:
            at["bias"] = self._place(at["bias"], begin, p["bias_row"], column if s.bias == "row" else i64(0))
        self.at, self.rows, self.panels = at, rows, panels
        self.available = f.sub(p["m"], begin)
        self.columns = f.minimum(f.sub(p["n"], column), f.mul(panels, i64(self.tile.columns)))
        self.in_place = self._in_place()
        self.across = f.binary("and", self.in_place, f.compare("sle", rows, i64(UNIT)))
        pieces = f.intrinsic("llvm.smax", self._ceil(at["k"], s.depth), i64(1))
        even = f.add(f.binary("sdiv", f.sub(at["k"], i64(1)), pieces), i64(4))
        depth = f.binary("and", even, i64(-4))
        with f.loop(0, pieces) as piece:
            start = f.mul(piece, depth)
            self.depth = f.intrinsic("llvm.smax", f.minimum(depth, f.sub(at["k"], start)), i64(0))
            first = f.select(f.compare("eq", piece, i64(0)), i64(FIRST), i64(0))
            last = f.select(f.compare("eq", f.add(piece, i64(1)), pieces), i64(LAST), i64(0))
            self.steps = self._steps(self.depth)
            self.flags = f.binary("or", first, last)
            self.a = f.offset(at["a"], f.mul(start, p["a_step"]))
            self.b = f.offset(at["b"], f.mul(start, p["b_step"]))
            self._pack_panels()
            self._row_groups()

    def _steps(self, depth: V) -> V:
        """Steps of the register tile for so many elements along k."""
        f, s = self.f, self.structure
        if self.tile.pairs:
            return f.binary("ashr", f.add(depth, i64(1)), i64(1))
        return f.mul(depth, i64(s.parts)) if s.parts > 1 else depth

    def _place(self, base: V, row: V, stride: V, column: V) -> V:
        f = self.f
        return f.at(f.offset(base, f.mul(row, stride)), memory_type(self.tile.dtype), column)

    def _in_place(self) -> V:
        """Whether whole panels of B need no packing: they are read once or twice, or stay in cache anyway."""
        f, s, p = self.f, self.structure, self.p
        if s.b != "rows" or is_half(s.dtype) or s.parts == 2:
            return V("false", "i1")
        small = f.compare("sle", f.mul(self.at["k"], p["b_step"]), i64(128 * 1024))
        return f.binary("or", small, f.compare("sle", self.rows, i64(UNIT)))

    def _pack_panels(self) -> None:
        f, p = self.f, self.p
        with f.loop(0, self.panels) as panel:
            columns = self._panel_columns(panel)
            partial = f.compare("slt", columns, i64(self.tile.columns))
            needed = f.binary("or", partial, f.binary("xor", self.in_place, V("true", "i1")))
            with f.when(needed):
                source = self._panel_of_b(panel)
                target = f.offset(self.packed_b, f.mul(panel, i64(self.structure.panel_bytes)))
                f.call(self.pack_b.name, "void", source, p["b_step"], p["b_column"], self.depth, columns, target)

    def _panel_columns(self, panel: V) -> V:
        left = self.f.sub(self.columns, self.f.mul(panel, i64(self.tile.columns)))
        return self.f.minimum(left, i64(self.tile.columns))

    def _panel_of_b(self, panel: V) -> V:
        width = i64(self.tile.columns // self.structure.parts)
        return self.f.offset(self.b, self.f.mul(self.f.mul(panel, width), self.p["b_column"]))

    def _row_groups(self) -> None:
        f, s = self.f, self.structure
        if s.a == "direct":
            self._row_tiles(i64(0), self.rows, self.a)
            return
        with f.loop(0, self.rows, GROUP) as row:
            rows = f.minimum(f.sub(self.rows, row), i64(GROUP))
            source = f.offset(self.a, f.mul(row, self.p["a_row"]))
            available = f.sub(self.available, row)
            strides = self.p["a_row"], self.p["a_step"]
            f.call(self.pack_a.name, "void", source, *strides, rows, available, self.depth, self.packed_a)
            self._row_tiles(row, rows, self.packed_a)

    def _row_tiles(self, row: V, rows: V, a: V) -> None:
        """Cut `rows` rows into tiles of two heights, as few and as even as possible, and run them over the panels."""
        f, high = self.f, self.tile.rows
        tiles = self._ceil(rows, high)
        spare = f.sub(f.mul(tiles, i64(high)), rows)
        low_tiles = f.minimum(spare, tiles)
        if self.structure.a == "columns":  # interleaved tiles have one distance: only the last may be lower
            low_tiles = f.minimum(low_tiles, i64(1))
        high_tiles = f.sub(tiles, low_tiles)
        # few rows: each panel meets all of them before the next is read
        outer, inner = (f.select(self.across, x, y) for x, y in ((self.panels, tiles), (tiles, self.panels)))
        with f.loop(0, outer) as o, f.loop(0, inner) as i:
            tile, panel = f.select(self.across, i, o), f.select(self.across, o, i)
            past = f.intrinsic("llvm.smax", f.sub(tile, high_tiles), i64(0))
            begin = f.sub(f.mul(tile, i64(high)), past)
            is_high = f.compare("slt", tile, high_tiles)
            valid = f.minimum(f.sub(rows, begin), f.select(is_high, i64(high), i64(high - 1)))
            self._call_tile(is_high, self._tile_of_a(a, begin), f.add(row, begin), valid, panel)

    def _tile_of_a(self, a: V, begin: V) -> list[V]:
        """Address, row stride and step of a tile of A."""
        f, s = self.f, self.structure
        one = i64(s.size)
        if s.a == "direct":
            step = one if s.parts == 2 or self.tile.pairs else self.p["a_step"]
            return [f.offset(a, f.mul(begin, self.p["a_row"])), self.p["a_row"], step]
        if s.a == "columns":
            length = f.mul(f.add(self.steps, i64(GAP)), one)
            return [f.offset(a, f.mul(begin, length)), one, i64(self.tile.rows * s.size)]
        length = f.mul(self.steps, one)
        return [f.offset(a, f.mul(begin, length)), length, one]

    def _call_tile(self, is_high: V, a: list[V], row: V, rows: V, panel: V) -> None:
        f, s, p, tile = self.f, self.structure, self.p, self.tile
        columns = self._panel_columns(panel)
        vectors = self._ceil(columns, tile.lanes)
        wide = f.compare("eq", vectors, i64(tile.vectors))
        low = f.binary("and", wide, f.binary("xor", is_high, V("true", "i1")))
        kind = f.select(low, i64(tile.vectors), f.sub(vectors, i64(1)))
        function = f.load(f.at(self.tiles, "ptr", kind), "ptr")
        packed = f.offset(self.packed_b, f.mul(panel, i64(s.panel_bytes)))
        direct = f.binary("and", self.in_place, f.compare("eq", columns, i64(tile.columns)))
        b = f.select(direct, self._panel_of_b(panel), packed)
        b_step = f.select(direct, p["b_step"], i64(tile.columns * s.size))
        column = f.mul(panel, i64(tile.columns))
        c = self._place(self.at["c"], row, p["c_row"], column)
        sums, sums_row = c, p["c_row"]
        if is_half(s.result):
            sums_row = i64(s.panels * tile.columns * s.size)
            sums = f.at(f.offset(self.sums, f.mul(row, sums_row)), tile.type, column)
        bias, bias_row = V("null", "ptr"), i64(0)
        if s.bias:
            bias_row = p["bias_row"]
            bias = self._place(self.at["bias"], row, bias_row, column if s.bias == "row" else i64(0))
        args = [*a, b, b_step, self.steps, c, p["c_row"], sums, sums_row, bias, bias_row, rows, columns, self.flags]
        f.line(f"call void {function.text}({', '.join(map(str, args))})")
