"""The rows that `sort` and `topk` work on: while lowering, and inside a kernel."""

from __future__ import annotations

from ..ir.dtypes import DType
from .index_layout import ZERO, Nest, Parameters, is_number, plus, times
from .sort_keys import Record, key_type, order_key
from .templates import Array
from .text import Function, V


class Rows:
    """The rows of x along `dim`, each with `count` results wanted: values and positions."""

    def __init__(self, x: Array, values: Array, indices: Array, dim: int, descending: bool):
        if x.dtype.is_complex:
            raise TypeError(f"sort: complex numbers have no order, got {x.dtype}")
        self.x, self.values, self.indices, self.descending = x, values, indices, descending
        arrays = (x, values, indices)
        if not x.shape:  # a single number is a row of one
            self.length = self.count = 1
            self.steps, self.nest = [0, 0, 0], Nest([], [], [], [])
            return
        self.length, self.count = x.shape[dim], values.shape[dim]
        self.steps = [a.strides[dim] for a in arrays]
        others = [d for d in range(len(x.shape)) if d != dim]
        self.nest = Nest([x.shape[d] for d in others], *([a.strides[d] for d in others] for a in arrays))

    @property
    def empty(self) -> bool:
        return any(is_number(n, 0) for n in (*self.values.shape, self.length))

    @property
    def params(self) -> list:
        """What `RowOperands` reads."""
        return [self.length, self.count, *self.steps, *self.nest.params]


class RowOperands:
    """Rows inside a kernel: buffers x, values and indices come first, as do the parameters of `Rows`."""

    def __init__(self, f: Function, dtype: DType, structure: tuple):
        self.f, self.type = f, key_type(dtype)
        self.x, self.values, self.indices = (f.buffer(i) for i in range(3))
        self.parameters = Parameters(f)
        self.length, self.count = self.parameters.numbers(2)
        self.steps = self.parameters.numbers(3)
        self.outer = self.parameters.loops(structure)

    def offsets(self, row: V) -> list[V]:
        return self.outer.offsets(row, [ZERO] * 3)

    def load(self, at: list[V], position: V) -> V:
        """The bits of an element of the row."""
        f = self.f
        return f.load(f.at(self.x, self.type, plus(f, at[0], times(f, position, self.steps[0]))), self.type)

    def store(self, at: list[V], place: V, position: V) -> None:
        """Write the row's result number `place`: its value and where it was."""
        f = self.f
        value, index = (plus(f, o, times(f, place, s)) for o, s in zip(at[1:], self.steps[1:]))
        f.store(self.load(at, position), f.at(self.values, self.type, value))
        f.store(position, f.at(self.indices, "i64", index))


def record_of(rows: Rows) -> Record:
    dtype = rows.x.dtype
    return Record(dtype, dtype.itemsize == 8 or bool(rows.length >= 1 << 31))


def emit_records(f, rows: RowOperands, at, record: Record, descending: bool, target: V, first: V, last: V) -> None:
    """target[i] = the record of the row's element i, for i in [first, last)."""
    with f.loop(first, last) as i:
        key = order_key(f, rows.load(at, i), record.dtype, descending)
        record.store(f, record.pack(f, key, i), target, i)
