"""Few long rows sorted by all threads: radix passes over pieces of a row, the counting apart from the moving.

Each pass over a byte of the key is three launches: count digits in every piece, turn counts into the places where a
piece's records of each digit begin, move. The places are those of a stable sequential pass, whoever runs a piece.
Passes over bytes that do not vary are skipped: `state` says which do, and in which of the two arrays the records are.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from ..ir.dtypes import int64
from .index_layout import ONE, ZERO, Parameters, i64, times
from .kernel import Kernel
from .sort_keys import Record, order_key
from .sort_records import RADIX, bump, counter_bytes, emit_scatter
from .sort_rows import RowOperands, Rows, record_of
from .templates import Array, Context
from .text import Function, Module, V

PIECE = 1 << 15  # elements
VARYING, CURRENT, SOURCE, STATE_WORDS = 0, 1, 2, 4


def sort_long_rows(context: Context, rows: Rows) -> None:
    record = record_of(rows)
    length, count = rows.length, rows.nest.size
    pieces = (length + (PIECE - 1)) // PIECE
    both = [context.temp((count * length * record.words,), int64) for _ in range(2)]
    counts = context.temp((count * pieces * RADIX * counter_bytes(record) // 8,), int64)
    bits = context.temp((count * pieces * 2,), int64)
    state = context.temp((count * STATE_WORDS,), int64)
    run = functools.partial(_launch, context, record, [*both, counts, bits, state], length, pieces)
    operands = [rows.x, rows.values, rows.indices]
    ends = functools.partial(context.launch, range=count * pieces)
    structure, own = rows.nest.structure, [*rows.params, pieces]
    ends(begin_kernel(record, rows.descending, structure), [*operands, both[0], bits], own)
    run(varying_kernel, count)
    for digit in range(record.digits):
        run(count_kernel, count * pieces, 8 * digit)
        run(places_kernel, count, 8 * digit)
        run(move_kernel, count * pieces, 8 * digit)
    ends(end_kernel(record, structure), [*operands, *both, state], own)


def _launch(context: Context, record: Record, arrays: list[Array], length, pieces, kernel, range, shift=0) -> None:
    context.launch(kernel(record), arrays, [length, pieces, shift], range)


@dataclass
class Piece:
    """What a kernel over pieces knows: its row, its number in it and its elements [first, last)."""

    row: V
    number: V
    first: V
    last: V


def piece_of(f: Function, index: V, length: V, pieces: V) -> Piece:
    row = f.binary("udiv", index, pieces)
    number = f.sub(index, f.mul(row, pieces))
    first = f.mul(number, i64(PIECE))
    return Piece(row, number, first, f.minimum(f.add(first, i64(PIECE)), length))


class Temporaries:
    """The buffers and parameters of the kernels between the first and the last."""

    def __init__(self, module: Module, name: str, record: Record):
        self.f = f = module.kernel(name)
        self.record, self.counter = record, f"i{8 * counter_bytes(record)}"
        *both, self.counts, self.bits, self.states = (f.buffer(i) for i in range(5))
        self.both = both
        self.length, self.pieces, self.shift = Parameters(f).numbers(3)

    def state(self, row: V, word: int) -> V:
        return self.f.at(self.states, "i64", self.f.add(times(self.f, row, i64(STATE_WORDS)), i64(word)))

    def varies(self, row: V) -> V:
        """Whether this pass's byte differs anywhere in the row."""
        f = self.f
        byte = f.binary("lshr", f.load(self.state(row, VARYING), "i64"), self.shift)
        return f.compare("ne", f.binary("and", byte, i64(255)), ZERO)

    def records(self, row: V, which: V) -> V:
        """The row's records in the first (0) or second (1) array."""
        f = self.f
        base = f.select(f.compare("eq", which, ZERO), *self.both)
        return self.record.at(f, base, f.mul(row, self.length))

    def piece_counts(self, index: V) -> V:
        return self.f.at(self.counts, self.counter, self.f.mul(index, i64(RADIX)))


@functools.cache
def begin_kernel(record: Record, descending: bool, structure: tuple) -> Kernel:
    """Make records; note the bits that are set anywhere, and everywhere, in the keys of each piece."""
    module = Module()
    f = module.kernel("sort_begin")
    rows = RowOperands(f, record.dtype, structure)
    pieces = rows.parameters.number()
    target, bits = f.buffer(3), f.buffer(4)
    with f.loop(f.begin, f.end) as index:
        piece = piece_of(f, index, rows.length, pieces)
        at = rows.offsets(piece.row)
        mine = record.at(f, target, f.mul(piece.row, rows.length))
        some, every = f.variable("i64", ZERO), f.variable("i64", i64(-1))
        with f.loop(piece.first, piece.last) as i:
            packed = record.pack(f, order_key(f, rows.load(at, i), record.dtype, descending), i)
            record.store(f, packed, mine, i)
            f.store(f.binary("or", f.load(some, "i64"), packed[0]), some)
            f.store(f.binary("and", f.load(every, "i64"), packed[0]), every)
        for word, variable in enumerate((some, every)):
            f.store(f.load(variable, "i64"), f.at(bits, "i64", f.add(f.mul(index, i64(2)), i64(word))))
    return Kernel(f.name, str(module))


@functools.cache
def varying_kernel(record: Record) -> Kernel:
    """Start a row's state: the bits of its keys that vary, and that its records are in the first array."""
    module = Module()
    t = Temporaries(module, "sort_varying", record)
    f = t.f
    with f.loop(f.begin, f.end) as row:
        some, every = f.variable("i64", ZERO), f.variable("i64", i64(-1))
        with f.loop(ZERO, t.pieces) as number:
            pair = f.at(t.bits, "i64", f.mul(f.add(f.mul(row, t.pieces), number), i64(2)))
            for word, (variable, opcode) in enumerate(((some, "or"), (every, "and"))):
                f.store(f.binary(opcode, f.load(variable, "i64"), f.load(f.at(pair, "i64", word), "i64")), variable)
        varying = f.binary("xor", f.load(some, "i64"), f.load(every, "i64"))
        if not record.wide:
            varying = f.binary("lshr", varying, i64(32))
        f.store(varying, t.state(row, VARYING))
        f.store(ZERO, t.state(row, CURRENT))
    return Kernel(f.name, str(module))


@functools.cache
def count_kernel(record: Record) -> Kernel:
    module = Module()
    t = Temporaries(module, "sort_count", record)
    f = t.f
    with f.loop(f.begin, f.end) as index:
        piece = piece_of(f, index, t.length, t.pieces)
        with f.when(t.varies(piece.row)):
            counts = t.piece_counts(index)
            bytes = i64(RADIX * counter_bytes(record))
            f.call("llvm.memset.p0.i64", "void", counts, V("0", "i8"), bytes, V("false", "i1"))
            records = t.records(piece.row, f.load(t.state(piece.row, CURRENT), "i64"))
            with f.loop(piece.first, piece.last) as i:
                bump(f, counts, record.digit(f, record.load(f, records, i), t.shift), t.counter)
    return Kernel(f.name, str(module))


@functools.cache
def places_kernel(record: Record) -> Kernel:
    """Counts become places: digit after digit, and within a digit piece after piece."""
    module = Module()
    t = Temporaries(module, "sort_places", record)
    f = t.f
    with f.loop(f.begin, f.end) as row, f.when(t.varies(row)):
        total = f.variable(t.counter, V("0", t.counter))
        with f.loop(0, RADIX) as digit, f.loop(ZERO, t.pieces) as number:
            place = f.at(t.piece_counts(f.add(f.mul(row, t.pieces), number)), t.counter, digit)
            so_far = f.load(total, t.counter)
            f.store(f.add(so_far, f.load(place, t.counter)), total)
            f.store(so_far, place)
        current = f.load(t.state(row, CURRENT), "i64")
        f.store(current, t.state(row, SOURCE))
        f.store(f.binary("xor", current, ONE), t.state(row, CURRENT))
    return Kernel(f.name, str(module))


@functools.cache
def move_kernel(record: Record) -> Kernel:
    module = Module()
    t = Temporaries(module, "sort_move", record)
    f = t.f
    with f.loop(f.begin, f.end) as index:
        piece = piece_of(f, index, t.length, t.pieces)
        with f.when(t.varies(piece.row)):
            source, target = (t.records(piece.row, f.load(t.state(piece.row, w), "i64")) for w in (SOURCE, CURRENT))
            emit_scatter(f, record, source, target, piece.first, piece.last, t.shift, t.piece_counts(index), t.counter)
    return Kernel(f.name, str(module))


@functools.cache
def end_kernel(record: Record, structure: tuple) -> Kernel:
    """Write values and positions of the records that are wanted."""
    module = Module()
    f = module.kernel("sort_end")
    rows = RowOperands(f, record.dtype, structure)
    pieces = rows.parameters.number()
    both, states = (f.buffer(3), f.buffer(4)), f.buffer(5)
    with f.loop(f.begin, f.end) as index:
        piece = piece_of(f, index, rows.length, pieces)
        at = rows.offsets(piece.row)
        current = f.load(f.at(states, "i64", f.add(f.mul(piece.row, i64(STATE_WORDS)), i64(CURRENT))), "i64")
        base = f.select(f.compare("eq", current, ZERO), *both)
        records = record.at(f, base, f.mul(piece.row, rows.length))
        with f.loop(piece.first, f.minimum(piece.last, rows.count)) as place:
            rows.store(at, place, record.position(f, record.load(f, records, place)))
    return Kernel(f.name, str(module))
