"""The register tile of matrix multiplication: a few rows times a few vectors of C, kept in registers along k.

The micro kernel is an internal function that matrix products and convolutions call alike. It reads A one scalar at a
time (broadcast) and B as vectors, and finishes the tile in the store: bias, relu, rounding to a narrower type.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..ir.dtypes import DType, float32
from .gemm_element import first_lanes, is_half, load_lanes, memory_type, rectify, store_lanes, sum_type
from .target import host
from .text import Function, Module, V, lanes, scalar_bytes, vector

FIRST, LAST = 1, 2  # flags of a micro kernel call: the first and the last piece of the sum over k
ARGUMENTS = (
    ("ptr", "a"),  # A[0, 0] of this tile
    ("i64", "a_row"),  # bytes between rows of A
    ("i64", "a_step"),  # bytes between steps along k
    ("ptr", "b"),  # B[0, 0]; whole vectors must be readable there, also beyond `columns`
    ("i64", "b_step"),  # bytes between steps along k
    ("i64", "depth"),  # steps along k
    ("ptr", "c"),  # C[0, 0], columns contiguous
    ("i64", "c_row"),  # bytes between rows of C
    ("ptr", "sums"),  # unfinished sums, columns contiguous: C itself unless C has a half type
    ("i64", "sums_row"),
    ("ptr", "bias"),
    ("i64", "bias_row"),
    ("i64", "rows"),  # rows to write, 1 .. tile.rows
    ("i64", "columns"),  # columns to write: all but the last vector must be whole
    ("i64", "flags"),  # FIRST | LAST
)


@dataclass(frozen=True)
class Tile:
    """The shape of a register tile and what happens when it is stored.

    dtype    element type of C (for complex numbers, C is seen as a matrix of its real type). A and B are read in the
             type of the sums, float for half types, unless in `pairs`
    rows     rows of the tile
    vectors  vectors per row
    bias     None, "row" (bias[row, column], columns contiguous; row stride 0 for one row of them) or "column"
             (bias[row], the same for every column)
    relu     whether negative results become zero (NaN stays)
    pairs    for bfloat16: A and B hold pairs of it, adjacent along k, that one instruction multiplies and adds;
             a step along k is then a pair
    """

    dtype: DType
    rows: int
    vectors: int
    bias: str | None = None
    relu: bool = False
    pairs: bool = False

    @property
    def type(self) -> str:
        """LLVM scalar type of the sums."""
        return sum_type(self.dtype)

    @property
    def panel_type(self) -> str:
        """LLVM scalar type of A and B as the micro kernel reads them."""
        return "i32" if self.pairs else self.type

    @property
    def lanes(self) -> int:
        return host().lanes(scalar_bytes(self.type))

    @property
    def columns(self) -> int:
        return self.lanes * self.vectors

    @property
    def name(self) -> str:
        return f"tile_{self.rows}x{self.vectors}"


def tile_shape() -> tuple[int, int]:
    """Rows and vectors of the best register tile.

    24 accumulators with 32 registers (6 rows of 4), 12 with 16 registers and fused multiply-add (6 of 2), 8 with 16
    registers where each product needs one of its own (4 of 2).
    """
    if host().registers >= 32:
        return 6, 4
    return (6, 2) if host().has("fma") else (4, 2)


def has_pairs(dtype: DType) -> bool:
    """Whether bfloat16 products by pairs are faster than in float: on AMD; on Intel they take twice as long."""
    target = host()
    return dtype.name == "bfloat16" and target.has("avx512bf16") and target.cpu.startswith("znver")


def dot_pairs(f: Function, a: V, b: V, total: V) -> V:
    """total + a0 b0 + a1 b1 in each float lane, for vectors that hold two bfloat16 per lane."""
    n = lanes(total.type)
    a, b = (f.cast("bitcast", x, f"<{2 * n} x bfloat>") for x in (a, b))
    return f.call(f"llvm.x86.avx512bf16.dpbf16ps.{32 * n}", total.type, total, a, b)


def emit_tile(module: Module, tile: Tile) -> Function:
    """Define the micro kernel of `tile` in the module, an internal function of `ARGUMENTS` called `tile.name`.

    For each row r < rows and column j < columns it computes

        C[r, j] = finish(start[r, j] + sum_k A[r, k] B[k, j]),  A[r, k] at a + r * a_row + k * a_step

    `start` is the bias on the FIRST piece of k and the unfinished sum on others; results are final (relu, rounding)
    on the LAST piece. Rows at or beyond `rows` are neither read nor written.
    """
    f = module.function(tile.name, list(ARGUMENTS), linkage="internal")
    _TileWriter(f, tile).emit()
    return f


class _TileWriter:
    """Writes one micro kernel."""

    def __init__(self, f: Function, tile: Tile):
        self.f, self.tile = f, tile
        self.args = dict(zip((name for _, name in ARGUMENTS), f.args))
        self.wide = vector(tile.type, tile.lanes)
        self.sum_dtype = float32 if is_half(tile.dtype) else tile.dtype
        zero = f.const(0, self.wide)
        self.sums = [[f.variable(self.wide, zero) for _ in range(tile.vectors)] for _ in range(tile.rows)]

    def emit(self) -> None:
        f, tile = self.f, self.tile
        self._accumulate()
        self.count = f.sub(self.args["columns"], V(str(tile.columns - tile.lanes), "i64"))
        self.whole = f.compare("sge", self.count, V(str(tile.lanes), "i64"))
        with f.branch(self._flag(FIRST)) as otherwise:
            if tile.bias:
                self._each_row("bias", tile.dtype, self._add_bias)
            otherwise()
            self._each_row("sums", self.sum_dtype, self._add)
        if tile.relu:
            with f.when(self._flag(LAST)):
                self._relu()
        if not is_half(tile.dtype):
            self._each_row("c", tile.dtype, self._store)
            return
        with f.branch(self._flag(LAST)) as otherwise:
            self._each_row("c", tile.dtype, self._store)
            otherwise()
            self._each_row("sums", self.sum_dtype, self._store)

    def _accumulate(self) -> None:
        f, tile, args = self.f, self.tile, self.args
        last = f.sub(args["rows"], V("1", "i64"))
        # rows past the edge read the last row again: one kernel serves every height
        rows = [f.offset(args["a"], f.mul(f.minimum(V(str(r), "i64"), last), args["a_row"])) for r in range(tile.rows)]
        a_offset, b = f.variable("i64", V("0", "i64")), f.variable("ptr", args["b"])
        read, multiply_add = tile.panel_type, self._dot_pairs if tile.pairs else self._multiply_add
        with f.loop(0, args["depth"]):
            b_row, step = f.load(b, "ptr"), f.load(a_offset, "i64")
            wide = vector(read, tile.lanes)
            columns = [f.load(f.at(b_row, read, v * tile.lanes), wide) for v in range(tile.vectors)]
            for row, sums in zip(rows, self.sums):
                scalar = f.splat(f.load(f.offset(row, step), read, align=2 if tile.pairs else None), tile.lanes)
                for column, variable in zip(columns, sums):
                    f.store(multiply_add(scalar, column, f.load(variable, self.wide)), variable)
            f.store(f.offset(b_row, args["b_step"]), b)
            f.store(f.add(step, args["a_step"]), a_offset)

    def _multiply_add(self, a: V, b: V, total: V) -> V:
        return self.f.add(self.f.mul(a, b), total)

    def _dot_pairs(self, a: V, b: V, total: V) -> V:
        return dot_pairs(self.f, a, b, total)

    def _each_row(self, matrix: str, dtype: DType, act) -> None:
        """act(row, dtype, r, v, edge) for every vector within `rows`; `edge` is set where it may be partial."""
        f, tile = self.f, self.tile
        edge = first_lanes(f, self.count, vector(memory_type(dtype), tile.lanes))
        for r in range(tile.rows):
            with f.when(f.compare("slt", V(str(r), "i64"), self.args["rows"])):
                row = f.offset(self.args[matrix], f.mul(V(str(r), "i64"), self.args[matrix + "_row"]))
                for v in range(tile.vectors - 1):
                    act(row, dtype, r, v, None)
                if host().vector_bytes >= 64:  # masks cost nothing
                    act(row, dtype, r, tile.vectors - 1, edge)
                    continue
                with f.branch(self.whole) as otherwise:
                    act(row, dtype, r, tile.vectors - 1, None)
                    otherwise()
                    act(row, dtype, r, tile.vectors - 1, edge)

    def _add(self, row: V, dtype: DType, r: int, v: int, edge: V | None) -> None:
        f, tile = self.f, self.tile
        pointer = f.at(row, memory_type(dtype), v * tile.lanes)
        value = load_lanes(f, pointer, dtype, tile.lanes, edge)
        f.store(f.add(f.load(self.sums[r][v], self.wide), value), self.sums[r][v])

    def _add_bias(self, row: V, dtype: DType, r: int, v: int, edge: V | None) -> None:
        if self.tile.bias == "row":
            return self._add(row, dtype, r, v, edge)
        value = self.f.splat(load_lanes(self.f, row, dtype, 1), self.tile.lanes)
        self.f.store(self.f.add(self.f.load(self.sums[r][v], self.wide), value), self.sums[r][v])

    def _store(self, row: V, dtype: DType, r: int, v: int, edge: V | None) -> None:
        f, tile = self.f, self.tile
        pointer = f.at(row, memory_type(dtype), v * tile.lanes)
        store_lanes(f, f.load(self.sums[r][v], self.wide), pointer, dtype, tile.lanes, edge)

    def _relu(self) -> None:
        for variable in (variable for row in self.sums for variable in row):
            self.f.store(rectify(self.f, self.f.load(variable, self.wide)), variable)

    def _flag(self, flag: int) -> V:
        f = self.f
        return f.compare("ne", f.binary("and", self.args["flags"], V(str(flag), "i64")), V("0", "i64"))
