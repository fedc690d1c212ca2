"""Maps whose operands lie across their result: square tiles are turned over in registers, into scratch memory.

A load that is contiguous along another loop than the stores is read in tiles, each of which is transposed to
scratch memory of this thread; then the map runs over the tile as if all its operands were contiguous.
"""

from __future__ import annotations

from .codegen_scopes import i64
from .codegen_values import Values
from .expressions import Access
from .nest import TILE
from .target import host
from .text import V, vector

_RAW = {1: "i8", 2: "i16", 4: "i32", 8: "i64"}


def block_lanes(itemsize: int) -> int:
    """The edge of the square that is turned over in registers."""
    return host().lanes(itemsize) if itemsize >= 4 else 16 // itemsize


class Transposer:
    """Copies one tile of a load to scratch memory; `low` and `high` are the tile's bounds (row, column)."""

    def __init__(self, values: Values, source: Access, low: tuple[V, V], high: tuple[V, V], scratch: V):
        self.f, self.values, self.scratch = values.f, values, scratch
        itemsize = source.array.dtype.itemsize
        self.raw, self.lanes = _RAW[itemsize], block_lanes(itemsize)
        self.height, self.width = (self.f.sub(b, a) for a, b in zip(low, high))
        self.stride = values.stride(source, values.nest.vector)
        start = self.f.add(low[0], self.f.mul(low[1], self.stride))
        self.source = self.f.at(values.pointer(source), self.raw, start)

    def write(self) -> None:
        f, edge = self.f, i64(-self.lanes)
        rows, columns = f.binary("and", self.height, edge), f.binary("and", self.width, edge)
        with f.loop(0, columns, self.lanes) as column, f.loop(0, rows, self.lanes) as row:
            self.block(row, column)
        with f.loop(0, columns) as column, f.loop(rows, self.height) as row:
            self.single(row, column)
        with f.loop(columns, self.width) as column, f.loop(0, self.height) as row:
            self.single(row, column)

    def place(self, row: V, column: V) -> V:
        """The address of an element of the source: rows are adjacent."""
        f = self.f
        return f.at(self.source, self.raw, f.add(row, f.mul(column, self.stride)))

    def target(self, row: V, column: V) -> V:
        f = self.f
        return f.at(self.scratch, self.raw, f.add(f.mul(row, i64(TILE)), column))

    def single(self, row: V, column: V) -> None:
        self.f.store(self.f.load(self.place(row, column), self.raw), self.target(row, column))

    def block(self, row: V, column: V) -> None:
        f, type = self.f, vector(self.raw, self.lanes)
        vectors, place = [], self.place(row, column)
        for k in range(self.lanes):
            vectors.append(f.load(place, type))
            if k + 1 < self.lanes:
                place = f.at(place, self.raw, self.stride)
        target = self.target(row, column)
        for k, v in enumerate(self.transposed(vectors)):
            f.store(v, f.at(target, self.raw, k * TILE))

    def transposed(self, rows: list[V]) -> list[V]:
        """The transpose by interleaving: after log2(n) rounds each element is in its column."""
        f, n = self.f, len(rows)
        low = [i // 2 + n * (i % 2) for i in range(n)]
        high = [i + n // 2 for i in low]
        for _ in range(n.bit_length() - 1):
            pairs = [(rows[i], rows[i + n // 2]) for i in range(n // 2)]
            rows = [f.shuffle(a, b, mask) for a, b in pairs for mask in (low, high)]
        return rows
