"""Sorting records in a thread's scratch memory: by counting smaller ones if they are few, else by radix.

Both are internal functions of a kernel's module, `(ptr records, ptr other, ptr work, i64 count) -> ptr`: they sort
`records`, use `other` of the same size and some work space, and return the one of the two that holds the result.
"""

from __future__ import annotations

from .index_layout import ZERO, i64
from .sort_keys import Record, iota, key_type
from .target import host
from .text import Function, Module, V, vector

FEW = 64  # up to here n * n comparisons in vectors cost less than 256 counters
RADIX = 256
ARGUMENTS = [("ptr", "records"), ("ptr", "other"), ("ptr", "work"), ("i64", "count")]


def sort_function(module: Module, record: Record, few: bool) -> str:
    """Define the function that sorts `few` (at most FEW) or many records; returns its name."""
    f = module.function("sort_records", ARGUMENTS, "ptr", "internal")
    (emit_rank_sort if few else emit_radix_sort)(f, record)
    return f.name


def work_bytes(record: Record, few: bool) -> int:
    return 2 * FEW * record.digits if few else record.digits * RADIX * counter_bytes(record)


def counter_bytes(record: Record) -> int:
    return 8 if record.wide else 4


def emit_rank_sort(f: Function, record: Record) -> None:
    """A record's place is the number of records that are smaller, or equal and before it."""
    records, other, keys, count = f.args
    kind = key_type(record.dtype)
    ranks = f.at(keys, kind, FEW)
    with f.loop(ZERO, count) as i:
        f.store(record.key(f, record.load(f, records, i)), f.at(keys, kind, i))
    width = min(host().lanes(record.digits), FEW)
    type = vector(kind, width)
    with f.loop(ZERO, count, width) as i:  # the last vector may hold rubbish lanes, whose ranks nobody reads
        mine = f.load(f.at(keys, kind, i), type)
        places = f.add(f.splat(narrow(f, i, kind), width), iota(f, type))
        rank = f.variable(type, f.const(0, type))
        with f.loop(ZERO, count) as j:
            theirs = f.splat(f.load(f.at(keys, kind, j), kind), width)
            before = f.compare("ult", f.splat(narrow(f, j, kind), width), places)
            tied = f.binary("and", f.compare("eq", theirs, mine), before)
            smaller = f.binary("or", f.compare("ult", theirs, mine), tied)
            f.store(f.add(f.load(rank, type), f.cast("zext", smaller, type)), rank)
        f.store(f.load(rank, type), f.at(ranks, kind, i))
    with f.loop(ZERO, count) as i:
        rank = f.load(f.at(ranks, kind, i), kind)
        record.store(f, record.load(f, records, i), other, rank if kind == "i64" else f.cast("zext", rank, "i64"))
    f.line(f"ret {other}")


def narrow(f: Function, index: V, kind: str) -> V:
    return index if kind == "i64" else f.cast("trunc", index, kind)


def emit_radix_sort(f: Function, record: Record) -> None:
    """Least significant byte first; all histograms come from one reading, and bytes that never vary are skipped."""
    records, other, work, count = f.args
    counter = f"i{8 * counter_bytes(record)}"
    f.call("llvm.memset.p0.i64", "void", work, V("0", "i8"), i64(work_bytes(record, False)), V("false", "i1"))
    with f.loop(ZERO, count) as i:
        loaded = record.load(f, records, i)
        for digit in range(record.digits):
            bump(f, f.at(work, counter, digit * RADIX), record.digit(f, loaded, 8 * digit), counter)
    source, target = f.variable("ptr", records), f.variable("ptr", other)
    with f.loop(0, record.digits) as digit:
        a, b = f.load(source, "ptr"), f.load(target, "ptr")
        counts = f.at(work, counter, f.mul(digit, i64(RADIX)))
        shift = f.mul(digit, i64(8))
        same = f.load(f.at(counts, counter, record.digit(f, record.load(f, a, ZERO), shift)), counter)
        with f.when(f.compare("ne", widen(f, same), count)):
            emit_offsets(f, counts, counter)
            emit_scatter(f, record, a, b, ZERO, count, shift, counts, counter)
            f.store(b, source)
            f.store(a, target)
    f.line(f"ret {f.load(source, 'ptr')}")


def bump(f: Function, counts: V, digit: V, counter: str) -> V:
    """Post-increment a counter; returns what it was."""
    place = f.at(counts, counter, digit)
    old = f.load(place, counter)
    f.store(f.add(old, V("1", counter)), place)
    return old


def widen(f: Function, counter: V) -> V:
    return counter if counter.type == "i64" else f.cast("zext", counter, "i64")


def emit_offsets(f: Function, counts: V, counter: str) -> None:
    """Turn counts into the places where each digit's records begin."""
    total = f.variable(counter, V("0", counter))
    with f.loop(0, RADIX) as digit:
        place, so_far = f.at(counts, counter, digit), f.load(total, counter)
        f.store(f.add(so_far, f.load(place, counter)), total)
        f.store(so_far, place)


def emit_scatter(f: Function, record: Record, a: V, b: V, first: V, last: V, shift: V, counts: V, counter: str) -> None:
    """Move records [first, last) of a to their digit's place in b."""
    with f.loop(first, last) as i:
        loaded = record.load(f, a, i)
        place = bump(f, counts, record.digit(f, loaded, shift), counter)
        record.store(f, loaded, b, widen(f, place))
