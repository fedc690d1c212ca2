"""How packing reads an operand step by step along k, in the form that the register tile wants."""

from __future__ import annotations

from ..ir.dtypes import DType, int16
from .gemm_element import i64, load_lanes, memory_type
from .gemm_tile import Tile
from .text import Function, V, lanes, vector


class Steps:
    """Reads elements of one operand and yields panel elements, of type `type`.

    A step is one index along k, whose elements are widened to the type of the sums, or with `tile.pairs` two of them
    (the second is zero beyond an odd `depth`), which stay as they are. `count` is the number of steps in `depth`.
    """

    def __init__(self, f: Function, tile: Tile, dtype: DType, depth: V):
        self.f, self.tile, self.dtype, self.depth = f, tile, dtype, depth
        self.type = tile.panel_type
        self.count = f.binary("ashr", f.add(depth, i64(1)), i64(1)) if tile.pairs else depth
        self.whole = f.binary("ashr", depth, i64(1)) if tile.pairs else depth  # steps without padding

    def across(self, base: V, stride: V, k: V, count: int, edge: V | None = None) -> V:
        """Step k of `count` adjacent columns (of which `edge` exist), one element for 1; `stride` bytes along k."""
        f = self.f
        if not self.tile.pairs:
            return load_lanes(f, f.offset(base, f.mul(k, stride)), self.dtype, count, edge)
        first = f.mul(k, i64(2))
        second = f.minimum(f.add(first, i64(1)), f.sub(self.depth, i64(1)))
        low, high = (load_lanes(f, f.offset(base, f.mul(i, stride)), int16, count, edge) for i in (first, second))
        exists = f.compare("slt", k, self.whole)
        return self._pair(low, f.select(exists, high, f.const(0, high.type)))

    def _pair(self, low: V, high: V) -> V:
        """i32 lanes of two i16 each."""
        f, wide = self.f, vector("i32", lanes(low.type))
        low, high = (f.cast("zext", x, wide) for x in (low, high))
        return f.binary("or", low, f.binary("shl", high, f.const(16, wide)))

    def along(self, base: V, k: V, count: int) -> V:
        """`count` steps from k on, none of them padded, of one column that is contiguous along k."""
        f = self.f
        if not self.tile.pairs:
            return load_lanes(f, f.at(base, memory_type(self.dtype), k), self.dtype, count)
        return f.load(f.at(base, "i32", k), vector("i32", count), align=2)
