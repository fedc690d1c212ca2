"""`topk`: the k best of each row without sorting it, if k is small beside the row.

A piece of a row is read once with a buffer of candidates: elements better than the k-th best so far are appended,
and a full buffer is sorted and cut down to k, which moves the limit. The pieces' candidates are then sorted together.
Ties keep the element that comes first in the row.
"""

from __future__ import annotations

import functools

from ..ir.dtypes import int64
from .index_layout import ZERO, i64
from .kernel import Kernel
from .sort import sort_rows
from .sort_keys import Record, order_key
from .sort_records import FEW, sort_function, work_bytes
from .sort_rows import RowOperands, Rows, record_of
from .target import host
from .templates import Array, Context, template
from .text import Function, Module, V, vector

PIECE = 1 << 15  # elements at least, and 16 k
ROOM = 256  # records, beside 2 k, in a buffer that is too large for sorting by comparison


@template("topk")
def lower_topk(context: Context, node, operands: list[Array], results: list[Array]) -> None:
    attrs = node.attrs
    rows = Rows(operands[0], *results, attrs["dim"], attrs["largest"])
    if rows.empty:
        return
    k = rows.count
    if rows.length <= FEW or k * 8 > rows.length:
        sort_rows(context, rows)
    else:
        select_rows(context, rows, few=bool(2 * k <= FEW))


def select_rows(context: Context, rows: Rows, few: bool) -> None:
    record, k, count = record_of(rows), rows.count, rows.nest.size
    capacity = FEW if few else 2 * k + ROOM
    piece = PIECE if k * 16 <= PIECE else k * 16
    # the last piece of a row takes what remains, so that every piece has k elements
    pieces = rows.length // piece if rows.length >= 2 * piece else 1
    found = context.temp((count * pieces * k * record.words,), int64)
    operands = [rows.x, rows.values, rows.indices]
    kernel = select_kernel(record, rows.descending, few, is_dense(rows), rows.nest.structure)
    scratch = 2 * record.bytes * capacity + work_bytes(record, few)
    grain = PIECE // rows.length + 1
    params = [*rows.params, pieces, piece, capacity]
    context.launch(kernel, [*operands, found], params, count * pieces, grain, scratch)
    several = not (type(pieces) is int and pieces == 1)
    scratch = record.bytes * pieces * k + work_bytes(record, False) if several else 0
    kernel = finish_kernel(record, several, rows.nest.structure)
    context.launch(kernel, [*operands, found], [*rows.params, pieces], count, grain, scratch)


def is_dense(rows: Rows) -> bool:
    return type(rows.steps[0]) is int and rows.steps[0] == 1


@functools.cache
def select_kernel(record: Record, descending: bool, few: bool, dense: bool, structure: tuple) -> Kernel:
    """found[row, piece] = the k best records of the piece, sorted."""
    module = Module()
    f = module.kernel("topk_select")
    sort = sort_function(module, record, few)
    rows = RowOperands(f, record.dtype, structure)
    pieces, length, capacity = rows.parameters.numbers(3)
    found = f.buffer(3)
    with f.loop(f.begin, f.end) as index:
        row = f.binary("udiv", index, pieces)
        number = f.sub(index, f.mul(row, pieces))
        at = rows.offsets(row)
        first = f.mul(number, length)
        is_last = f.compare("eq", f.add(number, i64(1)), pieces)
        last = f.select(is_last, rows.length, f.add(first, length))
        selection = Selection(f, rows, at, record, descending, sort, f.buffer(4), capacity)
        selection.scan(first, last, dense)
        mine = record.at(f, found, f.mul(index, rows.count))
        with f.loop(ZERO, rows.count) as i:
            record.store(f, record.load(f, selection.records, i), mine, i)
    return Kernel(f.name, str(module))


class Selection:
    """The buffer of candidates of one piece: `records`, best first up to k after each cut."""

    def __init__(
        self, f: Function, rows: RowOperands, at, record: Record, descending: bool, sort: str, scratch: V, room
    ):
        self.f, self.rows, self.at, self.record, self.descending = f, rows, at, record, descending
        self.sort, self.capacity = sort, room
        self.records = scratch
        self.other = record.at(f, scratch, room)
        self.work = record.at(f, self.other, room)
        self.filled, self.limit = f.variable("i64", ZERO), f.variable(rows.type)

    def scan(self, first: V, last: V, dense: bool) -> None:
        f = self.f
        start = f.minimum(f.add(first, self.capacity), last)
        with f.loop(first, start) as i:  # a first buffer full, whatever it is
            self.append(self.key(self.rows.load(self.at, i)), i)
        self.cut()
        if dense:
            lanes = 2 * host().lanes(self.record.digits)
            vectors = f.add(start, f.binary("and", f.sub(last, start), i64(-lanes)))
            with f.loop(start, vectors, lanes) as i:
                self.consider_vector(i, lanes)
            start = vectors
        with f.loop(start, last) as i:
            self.consider(i)
        self.cut()

    def key(self, bits: V) -> V:
        return order_key(self.f, bits, self.record.dtype, self.descending)

    def consider_vector(self, position: V, lanes: int) -> None:
        """Most vectors hold nothing better than the limit."""
        f, rows = self.f, self.rows
        bits = f.load(f.at(rows.x, rows.type, f.add(self.at[0], position)), vector(rows.type, lanes))
        better = f.compare("ult", self.key(bits), f.splat(f.load(self.limit, rows.type), lanes))
        found = f.intrinsic("llvm.vector.reduce.or", better, returns="i1")
        with f.when(found), f.loop(position, f.add(position, i64(lanes))) as i:
            self.consider(i)

    def consider(self, position: V) -> None:
        f = self.f
        key = self.key(self.rows.load(self.at, position))
        with f.when(f.compare("ult", key, f.load(self.limit, self.rows.type))):
            self.append(key, position)
            with f.when(f.compare("eq", f.load(self.filled, "i64"), self.capacity)):
                self.cut()

    def append(self, key: V, position: V) -> None:
        f = self.f
        filled = f.load(self.filled, "i64")
        self.record.store(f, self.record.pack(f, key, position), self.records, filled)
        f.store(f.add(filled, i64(1)), self.filled)

    def cut(self) -> None:
        """Sort the candidates and keep the k best; the limit becomes the last of them."""
        f, record, k = self.f, self.record, self.rows.count
        result = f.call(self.sort, "ptr", self.records, self.other, self.work, f.load(self.filled, "i64"))
        with f.when(f.compare("ne", result, self.records)), f.loop(ZERO, k) as i:
            record.store(f, record.load(f, result, i), self.records, i)
        f.store(k, self.filled)
        f.store(record.key(f, record.load(f, self.records, f.sub(k, i64(1)))), self.limit)


@functools.cache
def finish_kernel(record: Record, several: bool, structure: tuple) -> Kernel:
    """Sort the candidates of a row's pieces together, if there are several, and write the first k."""
    module = Module()
    f = module.kernel("topk_finish")
    sort = sort_function(module, record, False) if several else None
    rows = RowOperands(f, record.dtype, structure)
    pieces = rows.parameters.number()
    found = f.buffer(3)
    candidates = f.mul(pieces, rows.count)
    with f.loop(f.begin, f.end) as row:
        at = rows.offsets(row)
        mine = record.at(f, found, f.mul(row, candidates))
        if several:
            other = f.buffer(4)
            mine = f.call(sort, "ptr", mine, other, record.at(f, other, candidates), candidates)
        with f.loop(ZERO, rows.count) as place:
            rows.store(at, place, record.position(f, record.load(f, mine, place)))
    return Kernel(f.name, str(module))
