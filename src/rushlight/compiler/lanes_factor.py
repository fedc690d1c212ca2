"""Factorizations and systems of small matrices, in lanes: Cholesky, LU, inverses, triangular systems."""

from __future__ import annotations

from ..ir.dtypes import int32
from .index_layout import ONE, ZERO
from .lanes import Lanes, Number, Stack, lane_routine
from .text import V


def no_failure(lanes: Lanes) -> V:
    return V("zeroinitializer", f"<{lanes.count} x i32>")


def note_failure(lanes: Lanes, info: list[V], failed: V, place: V) -> None:
    """Keep the first place (from 1) where a lane fails."""
    f = lanes.f
    before = f.load(info[0], no_failure(lanes).type)
    new = f.binary("and", failed, f.compare("eq", before, no_failure(lanes)))
    f.store(f.select(new, lanes.place(f.add(place, ONE)), before), info[0])


# -- Cholesky ---------------------------------------------------------------------------------
@lane_routine("cholesky")
def cholesky(lanes: Lanes, operands: list[Stack], results: list[Stack], upper: bool) -> None:
    f, (factor, info) = lanes.f, results
    failed = lanes.variable((no_failure(lanes),))

    def load(row: V, column: V) -> Number:
        return lanes.conj(factor.load(column, row)) if upper else factor.load(row, column)

    def store(number: Number, row: V, column: V) -> None:
        factor.store(lanes.conj(number), column, row) if upper else factor.store(number, row, column)

    with f.loop(ZERO, factor.rows) as j:
        pivot = lanes.variable((load(j, j)[0],))
        with f.loop(ZERO, j) as k:
            f.store(f.sub(f.load(pivot[0], lanes.wide(factor.dtype)), lanes.square(load(j, k))), pivot[0])
        left = f.load(pivot[0], lanes.wide(factor.dtype))
        note_failure(lanes, failed, f.compare("ule", left, f.const(0.0, left.type)), j)
        root = f.intrinsic("llvm.sqrt", left)
        store((root, *(f.const(0.0, root.type) for _ in load(j, j)[1:])), j, j)
        with f.loop(f.add(j, ONE), factor.rows) as i:
            dotted = subtracted(lanes, load(i, j), ZERO, j, lambda k, i=i, j=j: (load(i, k), lanes.conj(load(j, k))))
            store(tuple(f.binary("fdiv", part, root) for part in dotted), i, j)
            store(lanes.constant(0.0, factor.dtype), j, i)
    info.store(lanes.value(failed, (no_failure(lanes),)))


def subtracted(lanes: Lanes, start: Number, first: V, last: V, factors) -> Number:
    """start minus the products of `factors(k)` for k from first to last."""
    total = lanes.variable(start)
    with lanes.f.loop(first, last) as k:
        lanes.assign(total, lanes.sub(lanes.value(total, start), lanes.mul(*factors(k))))
    return lanes.value(total, start)


# -- LU ---------------------------------------------------------------------------------------
@lane_routine("lu_factor")
def lu_factor(lanes: Lanes, operands: list[Stack], results: list[Stack]) -> None:
    factors, pivots, info = results
    info.store((eliminate(lanes, factors, pivots),))


def eliminate(lanes: Lanes, a: Stack, pivots: Stack) -> V:
    """LU in place, with the largest pivot of each column; LAPACK's info."""
    f, failed = lanes.f, lanes.variable((no_failure(lanes),))
    count = f.minimum(a.rows, a.columns)
    with f.loop(ZERO, count) as k:
        after = f.add(k, ONE)
        place = largest_below(lanes, a, k)
        pivots.store((f.add(place, f.const(1, place.type)),), k)
        swap(lanes, a, k, place)
        pivot = a.load(k, k)
        zero = lanes.is_zero(pivot)
        note_failure(lanes, failed, zero, k)
        pivot = lanes.select(zero, lanes.constant(1.0, a.dtype), pivot)
        with f.loop(after, a.rows) as i:
            scale = lanes.div(a.load(i, k), pivot)
            a.store(scale, i, k)
            with f.loop(after, a.columns) as j:
                a.store(lanes.sub(a.load(i, j), lanes.mul(scale, a.load(k, j))), i, j)
    return lanes.value(failed, (no_failure(lanes),))[0]


def largest_below(lanes: Lanes, a: Stack, k: V) -> V:
    """Each lane's row, from k on, of the largest number in column k."""
    f, start = lanes.f, lanes.size(a.load(k, k))
    best, place = f.variable(start.type, start), f.variable(lanes.place(k).type, lanes.place(k))
    with f.loop(f.add(k, ONE), a.rows) as i:
        size, so_far = lanes.size(a.load(i, k)), f.load(best, start.type)
        better = f.compare("ogt", size, so_far)
        f.store(f.select(better, size, so_far), best)
        f.store(f.select(better, lanes.place(i), f.load(place, lanes.place(i).type)), place)
    return f.load(place, no_failure(lanes).type)


def swap(lanes: Lanes, a: Stack, k: V, place: V) -> None:
    """Exchange row k with each lane's row `place`, which is k or below."""
    f = lanes.f
    with f.loop(ZERO, a.columns) as column:
        old = a.load(k, column)
        new = lanes.variable(old)
        with f.loop(f.add(k, ONE), a.rows) as i:
            here = f.compare("eq", place, lanes.place(i))
            other = a.load(i, column)
            a.store(lanes.select(here, old, other), i, column)
            lanes.assign(new, lanes.select(here, other, lanes.value(new, old)))
        a.store(lanes.value(new, old), k, column)


def pivot_of(lanes: Lanes, pivots: Stack, k: V) -> V:
    """The row, from 0, that row k was exchanged with."""
    (pivot,) = pivots.load(k)
    return lanes.f.sub(pivot, lanes.f.const(1, pivot.type))


# -- triangular systems -----------------------------------------------------------------------
def solve_in_place(lanes: Lanes, a: Stack, b: Stack, upper: bool, unit: bool, transpose: str) -> None:
    """op(a)^-1 b, for a triangle."""
    f, n = lanes.f, a.rows

    def element(row: V, column: V) -> Number:
        number = a.load(row, column) if transpose == "N" else a.load(column, row)
        return lanes.conj(number) if transpose == "C" else number

    backwards = upper == (transpose == "N")
    with f.loop(ZERO, n) as step:
        row = f.sub(f.sub(n, ONE), step) if backwards else step
        first, last = (f.add(row, ONE), n) if backwards else (ZERO, row)
        with f.loop(ZERO, b.columns) as column:
            left = subtracted(
                lanes, b.load(row, column), first, last, lambda k, c=column: (element(row, k), b.load(k, c))
            )
            b.store(left if unit else lanes.div(left, element(row, row)), row, column)


@lane_routine("solve_triangular")
def solve_triangular(lanes: Lanes, operands, results, upper: bool, unitriangular: bool, transpose: str) -> None:
    solve_in_place(lanes, operands[0], results[0], upper, unitriangular, transpose)


@lane_routine("solve", unread=(0,))
def solve(lanes: Lanes, operands: list[Stack], results: list[Stack], adjoint: bool) -> None:
    _, factors, pivots, _ = operands
    f, (x,) = lanes.f, results
    if not adjoint:
        with f.loop(ZERO, factors.rows) as k:
            swap(lanes, x, k, pivot_of(lanes, pivots, k))
        solve_in_place(lanes, factors, x, False, True, "N")
        solve_in_place(lanes, factors, x, True, False, "N")
        return
    solve_in_place(lanes, factors, x, True, False, "C")
    solve_in_place(lanes, factors, x, False, True, "C")
    with f.loop(ZERO, factors.rows) as step:
        k = f.sub(f.sub(factors.rows, ONE), step)
        swap(lanes, x, k, pivot_of(lanes, pivots, k))


# -- inverses ---------------------------------------------------------------------------------
def inverse_work(operands, results) -> list:
    """Pivots, and the inverse while it is made."""
    rows = results[0].shape[-1]
    return [(int32, rows), (results[0].dtype, rows * rows)]


@lane_routine("inverse", extra=inverse_work)
def inverse(lanes: Lanes, operands: list[Stack], results: list[Stack], work: list[Stack]) -> None:
    f, (factors, info), (pivots, made) = lanes.f, results, work
    made.sizes = factors.sizes
    info.store((eliminate(lanes, factors, pivots),))
    one, zero = (lanes.constant(number, factors.dtype) for number in (1.0, 0.0))
    with f.loop(ZERO, factors.columns) as column:
        with f.loop(ZERO, factors.rows) as row:
            made.store(zero, row, column)
        made.store(one, column, column)
    with f.loop(ZERO, factors.rows) as k:
        swap(lanes, made, k, pivot_of(lanes, pivots, k))
    solve_in_place(lanes, factors, made, False, True, "N")
    solve_in_place(lanes, factors, made, True, False, "N")
    with f.loop(ZERO, factors.columns) as column, f.loop(ZERO, factors.rows) as row:
        factors.store(made.load(row, column), row, column)
