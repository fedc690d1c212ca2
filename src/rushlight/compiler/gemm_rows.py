"""Products of a few vectors with many rows that are contiguous along k: c[i, j] = <x[i], w[j]>.

Linear layers at small batch sizes and matrix-vector products. The rows of w stream through registers once per few
vectors, at the speed of memory; sums lie along k and are added up across lanes at the end.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from ..ir.dtypes import DType, float32, int16
from .gemm_batch import batch_addresses, piece_of_sum
from .gemm_element import finish, i64, is_half, load_lanes, memory_type, store_lanes, sum_type
from .gemm_tile import dot_pairs, has_pairs
from .kernel import Kernel
from .target import host
from .text import Module, V, scalar_bytes, vector

BLOCK = 24  # rows of w of a task: they stay in cache while all of x meets them
PARAMETERS = ("few", "many", "k", "x_row", "x_step", "w_row", "c_few", "c_many", "bias_few", "bias_many", "chunk")


@dataclass(frozen=True)
class RowProduct:
    """The structure of a product of few vectors with many rows.

    dtype   element type of x, w and the bias; half types are summed in float
    result  element type of c
    few     1, 2 or 4: vectors in registers at a time
    packed  whether x is copied first: it is not contiguous along k, or has to be widened
    """

    dtype: DType
    result: DType
    few: int
    packed: bool
    bias: bool = False
    relu: bool = False
    batch: int = 0
    split: bool = False

    @property
    def pairs(self) -> bool:
        """Whether a lane takes two numbers of a half type at a time."""
        return has_pairs(self.dtype)

    @property
    def x_dtype(self) -> DType:
        """Element type of x as it meets w: float for half types, or pairs of them as they are."""
        if not is_half(self.dtype):
            return self.dtype
        return int16 if self.pairs else float32

    @property
    def rows(self) -> int:
        """Rows of w in registers at a time."""
        if host().registers >= 32:
            return {1: 8, 2: 8, 4: 6}[self.few]
        return {1: 8, 2: 4, 4: 2}[self.few]


@functools.cache
def row_kernel(structure: RowProduct) -> Kernel:
    """Buffers x, w, c[, bias][, scratch]; parameters `PARAMETERS` (strides in bytes), then those of the batch, in
    which x and w take the places of a and b. The range counts blocks of `BLOCK` rows per batch."""
    module = Module()
    _Writer(module, structure).emit()
    return Kernel("row_product", str(module))


class _Writer:
    def __init__(self, module: Module, structure: RowProduct):
        self.s, self.f = structure, module.kernel("row_product")
        self.type = sum_type(structure.dtype)
        self.lanes = host().lanes(scalar_bytes(self.type))
        self.wide = vector(self.type, self.lanes)
        self.width = self.lanes * (2 if structure.pairs else 1)  # elements per step along k

    def emit(self) -> None:
        f, s = self.f, self.s
        self.p = {name: f.param(i) for i, name in enumerate(PARAMETERS)}
        names = ["a", "b", "c"] + ["bias"] * s.bias
        bases = {name: f.buffer(i) for i, name in enumerate(names)}
        blocks = f.binary("sdiv", f.add(self.p["many"], i64(BLOCK - 1)), i64(BLOCK))
        first = f.binary("sdiv", f.begin, blocks)
        end = f.binary("sdiv", f.add(f.end, f.sub(blocks, i64(1))), blocks)
        with f.loop(first, end) as batch:
            self.at, place = batch_addresses(f, len(PARAMETERS), s.batch, batch, bases)
            self.depth = piece_of_sum(f, self.p["k"], self.p["chunk"], s.split, place)
            self.x, self.x_row = self.at["a"], self.p["x_row"]
            if s.packed:
                self._pack_x(f.buffer(len(names)))
            start = f.mul(batch, blocks)
            begin = f.intrinsic("llvm.smax", f.sub(f.begin, start), i64(0))
            with f.loop(begin, f.minimum(f.sub(f.end, start), blocks)) as block:
                self._block(f.mul(block, i64(BLOCK)))

    def _pack_x(self, scratch: V) -> None:
        f, p = self.f, self.p
        dtype = self.s.x_dtype
        length = f.mul(self.depth, i64(dtype.itemsize))
        with f.loop(0, p["few"]) as i:
            row, target = f.offset(self.x, f.mul(i, p["x_row"])), f.offset(scratch, f.mul(i, length))
            with f.loop(0, self.depth) as k:
                pointer = f.offset(row, f.mul(k, p["x_step"]))
                value = load_lanes(f, pointer, dtype if self.s.pairs else self.s.dtype, 1)
                f.store(value, f.at(target, memory_type(dtype), k))
        self.x, self.x_row = scratch, length

    def _block(self, row: V) -> None:
        f, s, p = self.f, self.s, self.p
        rows = f.minimum(f.sub(p["many"], row), i64(BLOCK))
        with f.loop(0, p["few"], s.few) as i, f.loop(0, rows, s.rows) as j:
            self._tile(i, f.add(row, j), f.sub(p["few"], i), f.sub(rows, j))

    def _tile(self, i: V, j: V, few: V, rows: V) -> None:
        """Vectors from i and rows from j on; those past the edge repeat the last one and are not stored."""
        f, s, p = self.f, self.s, self.p
        x = self._rows(self.x, i, few, self.x_row, s.few)
        w = self._rows(self.at["b"], j, rows, p["w_row"], s.rows)
        sums = [[f.variable(self.wide) for _ in w] for _ in x]
        for variable in (variable for row in sums for variable in row):
            f.store(f.const(0, self.wide), variable)
        whole = f.sub(self.depth, f.binary("srem", self.depth, i64(self.width)))
        with f.loop(0, whole, self.width) as k:
            self._step(x, w, sums, k, None)
        with f.when(f.compare("slt", whole, self.depth)):
            self._step(x, w, sums, whole, f.sub(self.depth, whole))
        for a, row in enumerate(sums):
            for b, variable in enumerate(row):
                inside = f.binary("and", f.compare("slt", i64(a), few), f.compare("slt", i64(b), rows))
                with f.when(inside):
                    self._store(f.add(i, i64(a)), f.add(j, i64(b)), f.load(variable, self.wide))

    def _rows(self, base: V, first: V, available: V, stride: V, count: int) -> list[V]:
        f = self.f
        last = f.sub(available, i64(1))
        base = f.offset(base, f.mul(first, stride))
        return [f.offset(base, f.mul(f.minimum(i64(r), last), stride)) for r in range(count)]

    def _step(self, x: list[V], w: list[V], sums, k: V, count: V | None) -> None:
        f, s = self.f, self.s
        x = [load_lanes(f, f.at(row, memory_type(s.x_dtype), k), s.x_dtype, self.width, count) for row in x]
        w_dtype = s.x_dtype if s.pairs else s.dtype
        for b, row in enumerate(w):
            value = load_lanes(f, f.at(row, memory_type(w_dtype), k), w_dtype, self.width, count)
            for a, vector_of_x in enumerate(x):
                total = f.load(sums[a][b], self.wide)
                if s.pairs:
                    total = dot_pairs(f, vector_of_x, value, total)
                else:
                    total = f.add(f.mul(vector_of_x, value), total)
                f.store(total, sums[a][b])

    def _store(self, i: V, j: V, value: V) -> None:
        f, s, p = self.f, self.s, self.p
        bias = None
        if s.bias:
            bias = f.offset(f.offset(self.at["bias"], f.mul(i, p["bias_few"])), f.mul(j, p["bias_many"]))
        total = finish(f, add_lanes(f, value, self.lanes), bias, s.dtype, s.relu)
        target = f.offset(f.offset(self.at["c"], f.mul(i, p["c_few"])), f.mul(j, p["c_many"]))
        store_lanes(f, total, target, s.result, 1)


def add_lanes(f, value: V, lanes: int) -> V:
    """The sum of a vector's lanes, by halves."""
    while lanes > 2:
        lanes //= 2
        low, high = (f.shuffle(value, value, list(range(start, start + lanes))) for start in (0, lanes))
        value = f.add(low, high)
    return f.add(f.lane(value, 0), f.lane(value, 1))
