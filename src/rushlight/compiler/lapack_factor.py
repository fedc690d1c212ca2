"""Emitters for factorizations: Cholesky, LU, LDL, QR."""

from __future__ import annotations

from . import lanes_factor  # noqa: F401 - the same primitives for small matrices
from .index_layout import ONE, ZERO, i64
from .lapack import BLOCK, routine
from .lapack_kernel import LapackKernel, Matrix
from .registers import memory_type
from .text import V


@routine("cholesky")
def cholesky(k: LapackKernel, operands: list[Matrix], results: list[Matrix], upper: bool) -> None:
    factor, info = results
    n = k.integer(factor.rows)
    k.call("potrf", k.letter("U" if upper else "L"), n, factor.pointer, n, info.pointer)
    refuse_nan(k, factor, info)
    clear_triangle(k, factor, upper=not upper)


def clear_triangle(k: LapackKernel, matrix: Matrix, upper: bool) -> None:
    """Zeros above (or below) the diagonal."""
    f = k.f
    with f.loop(ZERO, matrix.columns) as column:
        diagonal = f.minimum(column, matrix.rows)
        if upper:
            k.clear(k.at(matrix, ZERO, column), diagonal, matrix.dtype)
        else:
            first = f.minimum(f.add(column, ONE), matrix.rows)
            k.clear(k.at(matrix, first, column), f.sub(matrix.rows, first), matrix.dtype)


def refuse_nan(k: LapackKernel, factor: Matrix, info: Matrix) -> None:
    """A NaN on the diagonal is a failure, too, which OpenBLAS does not look for; the first one counts."""
    f = k.f
    kind = memory_type(factor.dtype)
    parts = 2 if factor.dtype.is_complex else 1
    with f.when(f.compare("eq", f.load(info.pointer, "i32"), V("0", "i32"))), f.loop(ZERO, factor.rows) as step:
        row = f.sub(f.sub(factor.rows, ONE), step)  # backwards, so that the first one is stored last
        number = f.load(f.at(factor.pointer, kind, f.mul(f.mul(row, f.add(factor.rows, ONE)), i64(parts))), kind)
        with f.when(f.compare("uno", number, number)):
            f.store(f.cast("trunc", f.add(row, ONE), "i32"), info.pointer)


@routine("cholesky_inverse")
def cholesky_inverse(k: LapackKernel, operands: list[Matrix], results: list[Matrix], upper: bool) -> None:
    inverse, info = results
    n = k.integer(inverse.rows)
    k.call("potri", k.letter("U" if upper else "L"), n, inverse.pointer, n, info.pointer)
    mirror(k, inverse, upper)


def mirror(k: LapackKernel, matrix: Matrix, upper: bool) -> None:
    """Make a Hermitian matrix whole of which only a triangle is there."""
    f, is_complex = k.f, matrix.dtype.is_complex
    kind = memory_type(matrix.dtype)
    with f.loop(ZERO, matrix.columns) as column, f.loop(f.add(column, ONE), matrix.rows) as row:
        one, other = k.at(matrix, row, column), k.at(matrix, column, row)
        source, target = (other, one) if upper else (one, other)
        f.store(f.load(source, kind), target)
        if is_complex:
            f.store(f.neg(f.load(f.at(source, kind, 1), kind)), f.at(target, kind, 1))


# -- LU, LDL ----------------------------------------------------------------------------------
@routine("lu_factor")
def lu_factor(k: LapackKernel, operands: list[Matrix], results: list[Matrix]) -> None:
    factors, pivots, info = results
    rows, columns = k.integer(factors.rows), k.integer(factors.columns)
    k.call("getrf", rows, columns, factors.pointer, rows, pivots.pointer, info.pointer)


@routine("permutation_of")
def permutation_of(k: LapackKernel, operands: list[Matrix], results: list[Matrix]) -> None:
    f, (pivots,), (order, info) = k.f, operands, results
    f.store(V("0", "i32"), info.pointer)
    with f.loop(ZERO, order.rows) as i:
        f.store(i, f.at(order.pointer, "i64", i))
    with f.loop(ZERO, pivots.rows) as i:
        pivot = f.sub(f.cast("sext", f.load(f.at(pivots.pointer, "i32", i), "i32"), "i64"), ONE)
        with f.branch(f.compare("ult", pivot, order.rows)) as other:
            places = [f.at(order.pointer, "i64", place) for place in (i, pivot)]
            a, b = (f.load(place, "i64") for place in places)
            f.store(b, places[0])
            f.store(a, places[1])
            other()
            with f.when(f.compare("eq", f.load(info.pointer, "i32"), V("0", "i32"))):
                f.store(f.cast("trunc", f.add(i, ONE), "i32"), info.pointer)


def integer_bytes(count):
    return count * 4


def blocked_bytes(operands, results, **_) -> list:
    """The work space of an algorithm that takes BLOCK columns at a time."""
    rows, columns = results[0].shape[-2:]
    return [(rows + columns) * (BLOCK * results[0].dtype.itemsize)]


@routine("ldl_factor", blocked_bytes, 1)
def ldl_factor(k: LapackKernel, operands: list[Matrix], results: list[Matrix], hermitian: bool) -> None:
    factors, pivots, info = results
    rows, work = k.integer(factors.rows), k.scratch(0)
    name = "hetrf" if hermitian and factors.dtype.is_complex else "sytrf"
    length = k.integer(k.scratch_length(0, factors.dtype))
    k.call(name, k.letter("L"), rows, factors.pointer, rows, pivots.pointer, work, length, info.pointer)
    clear_triangle(k, factors, upper=True)


# -- QR ---------------------------------------------------------------------------------------
@routine("geqrf", lambda o, r: [*blocked_bytes(o, r), 8], 2)
def geqrf(k: LapackKernel, operands: list[Matrix], results: list[Matrix]) -> None:
    factors, scales = results
    emit_geqrf(k, factors, scales.pointer)


def emit_geqrf(k: LapackKernel, factors: Matrix, scales: V) -> None:
    """QR in place; region 0 is work space, region 1 takes LAPACK's info, which cannot be other than 0."""
    rows, columns = k.integer(factors.rows), k.integer(factors.columns)
    length = k.integer(k.scratch_length(0, factors.dtype))
    k.call("geqrf", rows, columns, factors.pointer, rows, scales, k.scratch(0), length, k.scratch(1))


def qr_bytes(operands, results, **_) -> list:
    rows, columns = operands[0].shape[-2:]
    size = operands[0].dtype.itemsize
    return [(rows + columns) * (BLOCK * size), 8, (rows + columns) * size]


@routine("qr", qr_bytes, 3)
def qr(k: LapackKernel, operands: list[Matrix], results: list[Matrix], mode: str) -> None:
    q, upper, factors = results
    emit_geqrf(k, factors, k.scratch(2))
    copy_columns(k, factors, upper, k.minimum(upper.rows, factors.rows), factors.columns)
    clear_triangle(k, upper, upper=False)
    if mode == "r":
        return
    count = k.minimum(factors.rows, factors.columns)
    copy_columns(k, factors, q, factors.rows, count)
    clear_from(k, q, count)
    rows, columns, length = k.integer(q.rows), k.integer(q.columns), k.integer(k.scratch_length(0, q.dtype))
    name = "ungqr" if q.dtype.is_complex else "orgqr"
    scratch = k.scratch(2), k.scratch(0), length, k.scratch(1)
    k.call(name, rows, columns, k.integer(count), q.pointer, rows, *scratch)


def copy_columns(k: LapackKernel, source: Matrix, target: Matrix, rows: V, columns: V) -> None:
    """The upper left part of a matrix, to that of another."""
    f = k.f
    size = f.mul(rows, i64(source.dtype.itemsize))
    with f.loop(ZERO, columns) as column:
        to, of = k.at(target, ZERO, column), k.at(source, ZERO, column)
        f.call("llvm.memcpy.p0.p0.i64", "void", to, of, size, V("false", "i1"))


def clear_from(k: LapackKernel, matrix: Matrix, column: V) -> None:
    """Zeros from a column on."""
    rest = k.f.mul(k.f.sub(matrix.columns, column), matrix.rows)
    k.clear(k.at(matrix, ZERO, column), rest, matrix.dtype)
