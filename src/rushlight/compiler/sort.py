"""`sort` and `topk`: rows of records sorted in a thread's scratch memory, or one long row by all threads.

A row becomes records (key, position), which are sorted; values are then read from the row itself by position, which
keeps the bits of every NaN and the sign of zeros.
"""

from __future__ import annotations

import functools

from .index_layout import ZERO
from .kernel import Kernel
from .sort_keys import Record
from .sort_long import sort_long_rows
from .sort_records import FEW, sort_function, work_bytes
from .sort_rows import RowOperands, Rows, emit_records, record_of
from .templates import Array, Context, template
from .text import Module

GRAIN = 1 << 13  # elements: what one thread sorts while another one wakes up
LONG = 1 << 17  # elements from which a row is sorted by several threads, if there are few rows
FEW_ROWS = 8


@template("sort")
def lower_sort(context: Context, node, operands: list[Array], results: list[Array]) -> None:
    sort_rows(context, Rows(operands[0], *results, node.attrs["dim"], node.attrs["descending"]))


def sort_rows(context: Context, rows: Rows) -> None:
    if rows.empty:
        return
    if rows.length <= FEW:
        sort_by_threads(context, rows, few=True)
    elif rows.length < LONG or rows.nest.size >= FEW_ROWS:
        sort_by_threads(context, rows, few=False)
    else:
        sort_long_rows(context, rows)


def sort_by_threads(context: Context, rows: Rows, few: bool) -> None:
    """Each thread sorts whole rows."""
    record = record_of(rows)
    kernel = rows_kernel(record, rows.descending, few, rows.nest.structure)
    scratch = 2 * record.bytes * rows.length + work_bytes(record, few)
    grain = GRAIN // rows.length + 1
    context.launch(kernel, [rows.x, rows.values, rows.indices], rows.params, rows.nest.size, grain, scratch)


@functools.cache
def rows_kernel(record: Record, descending: bool, few: bool, structure: tuple) -> Kernel:
    module = Module()
    f = module.kernel("sort_rows")
    sort = sort_function(module, record, few)
    rows = RowOperands(f, record.dtype, structure)
    records = f.buffer(3)
    other = record.at(f, records, rows.length)
    work = record.at(f, other, rows.length)
    with f.loop(f.begin, f.end) as row:
        at = rows.offsets(row)
        emit_records(f, rows, at, record, descending, records, ZERO, rows.length)
        result = f.call(sort, "ptr", records, other, work, rows.length)
        with f.loop(ZERO, rows.count) as place:
            rows.store(at, place, record.position(f, record.load(f, result, place)))
    return Kernel(f.name, str(module))
