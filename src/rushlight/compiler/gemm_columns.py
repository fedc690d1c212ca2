"""The product of one vector with a matrix whose rows are contiguous along n: c[j] = sum_k x[k] b[k, j].

Eight rows of b at a time stream past a piece of the result that stays in cache.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from ..ir.dtypes import DType
from .gemm_batch import batch_addresses, piece_of_sum
from .gemm_element import finish, i64, load_lanes, memory_type, store_lanes, sum_type
from .kernel import Kernel
from .target import host
from .text import Module, V, scalar_bytes, vector

UNIT = 64  # columns of a task
BLOCK = 2048  # columns summed at a time
ROWS = 8
PARAMETERS = ("n", "k", "x_step", "b_step", "c_column", "bias_column", "chunk")


@dataclass(frozen=True)
class ColumnProduct:
    """The structure of a vector times matrix product; dtypes as in `RowProduct`."""

    dtype: DType
    result: DType
    bias: bool = False
    relu: bool = False
    batch: int = 0
    split: bool = False

    @property
    def scratch(self) -> int:
        """Bytes for a block of sums."""
        return BLOCK * scalar_bytes(sum_type(self.dtype))


@functools.cache
def column_kernel(structure: ColumnProduct) -> Kernel:
    """Buffers x, b, c[, bias], scratch; parameters `PARAMETERS` (strides in bytes), then those of the batch, in which
    x takes the place of a. The range counts units of `UNIT` columns per batch."""
    module = Module()
    _Writer(module, structure).emit()
    return Kernel("column_product", str(module))


class _Writer:
    def __init__(self, module: Module, structure: ColumnProduct):
        self.s, self.f = structure, module.kernel("column_product")
        self.type = sum_type(structure.dtype)
        self.lanes = host().lanes(scalar_bytes(self.type))
        self.wide = vector(self.type, self.lanes)

    def emit(self) -> None:
        f, s = self.f, self.s
        self.p = {name: f.param(i) for i, name in enumerate(PARAMETERS)}
        names = ["a", "b", "c"] + ["bias"] * s.bias
        bases = {name: f.buffer(i) for i, name in enumerate(names)}
        self.sums = f.buffer(len(names))
        units = f.binary("sdiv", f.add(self.p["n"], i64(UNIT - 1)), i64(UNIT))
        first = f.binary("sdiv", f.begin, units)
        end = f.binary("sdiv", f.add(f.end, f.sub(units, i64(1))), units)
        with f.loop(first, end) as batch:
            self.at, place = batch_addresses(f, len(PARAMETERS), s.batch, batch, bases)
            self.depth = piece_of_sum(f, self.p["k"], self.p["chunk"], s.split, place)
            start = f.mul(batch, units)
            begin = f.intrinsic("llvm.smax", f.sub(f.begin, start), i64(0))
            stop = f.minimum(f.mul(f.minimum(f.sub(f.end, start), units), i64(UNIT)), self.p["n"])
            with f.loop(f.mul(begin, i64(UNIT)), stop, BLOCK) as column:
                self._block(column, f.minimum(f.sub(stop, column), i64(BLOCK)))

    def _block(self, column: V, count: V) -> None:
        f = self.f
        b = f.at(self.at["b"], memory_type(self.s.dtype), column)
        with f.loop(0, count, self.lanes) as j:
            f.store(f.const(0, self.wide), f.at(self.sums, self.type, j))
        whole = f.sub(self.depth, f.binary("srem", self.depth, i64(ROWS)))
        with f.loop(0, whole, ROWS) as k:
            self._rows(b, k, ROWS, count)
        with f.loop(whole, self.depth) as k:
            self._rows(b, k, 1, count)
        with f.loop(0, count) as j:
            self._finish(column, j)

    def _rows(self, b: V, k: V, rows: int, count: V) -> None:
        """Add rows k .. k + rows of b, times their x, to the sums."""
        f, s, p = self.f, self.s, self.p
        x, rows_of_b = [], []
        for r in range(rows):
            step = f.add(k, i64(r))
            scalar = load_lanes(f, f.offset(self.at["a"], f.mul(step, p["x_step"])), s.dtype, 1)
            x.append(f.splat(scalar, self.lanes))
            rows_of_b.append(f.offset(b, f.mul(step, p["b_step"])))
        whole = f.sub(count, f.binary("srem", count, i64(self.lanes)))
        with f.loop(0, whole, self.lanes) as j:
            self._add(x, rows_of_b, j, None)
        with f.when(f.compare("slt", whole, count)):
            self._add(x, rows_of_b, whole, f.sub(count, whole))

    def _add(self, x: list[V], rows: list[V], j: V, count: V | None) -> None:
        f, s = self.f, self.s
        pointer = f.at(self.sums, self.type, j)
        total = f.load(pointer, self.wide)
        for scalar, row in zip(x, rows):
            value = load_lanes(f, f.at(row, memory_type(s.dtype), j), s.dtype, self.lanes, count)
            total = f.add(f.mul(scalar, value), total)
        f.store(total, pointer)

    def _finish(self, column: V, j: V) -> None:
        f, s, p = self.f, self.s, self.p
        total, column = f.load(f.at(self.sums, self.type, j), self.type), f.add(column, j)
        bias = f.offset(self.at["bias"], f.mul(column, p["bias_column"])) if s.bias else None
        total = finish(f, total, bias, s.dtype, s.relu)
        store_lanes(f, total, f.offset(self.at["c"], f.mul(column, p["c_column"])), s.result, 1)
