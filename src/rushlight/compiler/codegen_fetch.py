"""Reading by index inside loops: `gather` and `take` as part of the kernel that uses what they read.

The index numbers are expressions like any other. If they do not change along the vector loop, what is read lies
there as strides say, only shifted; else every lane is read from its own place. An index out of bounds is reported
through the error flag, and element 0 is read instead.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from ..ir.dtypes import DType, int64
from . import elementwise
from .codegen_scopes import i64
from .error_flag import OUT_OF_BOUNDS, report
from .expressions import Expr
from .text import V, lanes, vector

if TYPE_CHECKING:
    from .codegen_values import Values


def shift(values: Values, expr: Expr) -> V:
    """How many elements the indices move a read by: a number, or one for each lane."""
    key = ("shift", values.key(expr) if any(map(values.is_vector, expr.args)) else expr)
    found = values.known(key)
    if found is None:
        found = values.scopes[-1][key] = _shift(values, expr)
    return found


def _shift(values: Values, expr: Expr) -> V:
    f = values.f
    wide = any(map(values.is_vector, expr.args))
    numbers = [_as_int64(values, a, wide) for a in expr.args]
    count = lanes(numbers[0].type)
    sizes = [f.splat(values.param(size), count) for size, _, _ in expr.bounds]
    valid = [f.compare("ult", n, size) for n, size in zip(numbers, sizes)]  # unsigned: a negative one is huge
    _report(values, functools.reduce(lambda a, b: f.binary("and", a, b), valid), numbers, sizes, expr.bounds)
    total = f.const(0, numbers[0].type)
    for number, fine, (_, stride, _) in zip(numbers, valid, expr.bounds):
        inside = f.select(fine, number, f.const(0, number.type))
        total = f.add(total, f.mul(inside, f.splat(values.param(stride), count)))
    return total


def _as_int64(values: Values, index: Expr, wide: bool) -> V:
    number = values.wide(index) if wide else values.value(index)
    return elementwise.convert(values.f, number, index.dtype, int64, lanes(number.type))


def _report(values: Values, fine: V, numbers: list[V], sizes: list[V], bounds) -> None:
    """Say which index is out of bounds, if one is. Any offender may win a race between lanes."""
    f, count = values.f, lanes(fine.type)
    with f.when(values.any_lane(f.binary("xor", fine, f.const(1, fine.type)))):
        for number, size, (_, _, dim) in zip(numbers, sizes, bounds):
            for lane in range(count):
                one, limit = (number, size) if count == 1 else (f.lane(number, lane), f.lane(size, lane))
                outside = f.compare("uge", one, limit)
                if count > 1 and values.mask is not None:
                    outside = f.binary("and", outside, f.lane(values.mask, lane))
                with f.when(outside):
                    report(f, values.error_flag(), OUT_OF_BOUNDS, one, i64(dim), limit)


def fetch(values: Values, expr: Expr):
    """The register value of a gather or take at the current indices."""
    access, moved = expr.data, shift(values, expr)
    count = values.lanes if values.is_vector(expr) else 1
    if lanes(moved.type) == 1:
        return values.load(access, expr.dtype, count, moved)
    pointer, dim = values.pointer(access), values.nest.vector
    if dim in access.strides:
        stride = values.stride(access, dim)
        pointer = values.element(pointer, expr.dtype, values.f.mul(values.vector_index[values.copy], stride))
        steps = V("<" + ", ".join(f"i64 {i}" for i in range(count)) + ">", vector("i64", count))
        moved = values.f.add(moved, values.f.mul(steps, values.f.splat(stride, count)))
    return elementwise.from_memory(values.f, _gather(values, pointer, moved, expr.dtype), expr.dtype, count)


def _gather(values: Values, pointer: V, places: V, dtype: DType):
    """The elements at `places`, one for each lane; two vectors for complex numbers."""
    f, type = values.f, elementwise.memory_type(dtype)
    if not dtype.is_complex:
        return f.gather(pointer, type, places, values.mask)
    places = f.add(places, places)
    parts = (places, f.add(places, f.const(1, places.type)))
    return tuple(f.gather(pointer, type, p, values.mask) for p in parts)
