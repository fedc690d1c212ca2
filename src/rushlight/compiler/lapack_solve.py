"""Emitters for systems of equations: triangular, by LU or LDL factors, inverses, least squares."""

from __future__ import annotations

from ..ir.dtypes import finfo, int32
from . import lanes_factor  # noqa: F401 - the same primitives for small matrices
from .index_layout import ONE, ZERO, i64
from .lapack import BLOCK, routine
from .lapack_factor import integer_bytes
from .lapack_kernel import LapackKernel, Matrix
from .registers import memory_type
from .text import V


@routine("solve_triangular")
def solve_triangular(k: LapackKernel, operands, results, upper: bool, unitriangular: bool, transpose: str) -> None:
    a, b = operands[0], results[0]
    flags = [k.letter(c) for c in ("L", "U" if upper else "L", transpose, "U" if unitriangular else "N")]
    rows, columns = k.integer(b.rows), k.integer(b.columns)
    with k.f.branch(k.f.compare("eq", b.columns, ONE)) as other:
        k.call("trsv", *flags[1:], rows, a.pointer, rows, b.pointer, k.integer(1))
        other()
        k.call("trsm", *flags, rows, columns, k.number(1.0, b.dtype), a.pointer, rows, b.pointer, rows)


def info_bytes(operands, results, **_) -> list:
    return [8]


@routine("solve", info_bytes, 1)
def solve(k: LapackKernel, operands, results, adjoint: bool) -> None:
    _, factors, pivots, _ = operands
    (x,) = results
    rows, letter = k.integer(x.rows), ("C" if x.dtype.is_complex else "T") if adjoint else "N"
    arguments = factors.pointer, rows, pivots.pointer, x.pointer, rows, k.scratch(0)
    k.call("getrs", k.letter(letter), rows, k.integer(x.columns), *arguments)


def inverse_bytes(operands, results, **_) -> list:
    rows, size = results[0].shape[-1], results[0].dtype.itemsize
    return [integer_bytes(rows), rows * (BLOCK * size)]


@routine("inverse", inverse_bytes, 2)
def inverse(k: LapackKernel, operands, results) -> None:
    f, (x, info) = k.f, results
    rows, pivots, work = k.integer(x.rows), k.scratch(0), k.scratch(1)
    k.call("getrf", rows, rows, x.pointer, rows, pivots, info.pointer)
    with f.when(f.compare("eq", f.load(info.pointer, "i32"), V("0", "i32"))):
        k.call("getri", rows, x.pointer, rows, pivots, work, k.integer(k.scratch_length(1, x.dtype)), info.pointer)


@routine("ldl_solve")
def ldl_solve(k: LapackKernel, operands, results, hermitian: bool) -> None:
    factors, pivots, _ = operands
    f, (x, info) = k.f, results
    rows, columns = k.integer(x.rows), k.integer(x.columns)
    check_blocks(k, pivots, info)
    with f.when(f.compare("eq", f.load(info.pointer, "i32"), V("0", "i32"))):
        name = "hetrs" if hermitian and x.dtype.is_complex else "sytrs"
        arguments = factors.pointer, rows, pivots.pointer, x.pointer, rows, info.pointer
        k.call(name, k.letter("L"), rows, columns, *arguments)


def check_blocks(k: LapackKernel, pivots: Matrix, info: Matrix) -> None:
    """Set info to the place of the first pivot that names no row, or is half of a block of two; else to 0."""
    f, count = k.f, pivots.rows
    f.store(V("0", "i32"), info.pointer)
    place = f.variable("i64", ZERO)
    with f.repeat(lambda: f.compare("slt", f.load(place, "i64"), count)):
        at = f.load(place, "i64")
        first = f.cast("sext", f.load(f.at(pivots.pointer, "i32", at), "i32"), "i64")
        last = f.intrinsic("llvm.smin", f.add(at, ONE), f.sub(count, ONE))
        second = f.cast("sext", f.load(f.at(pivots.pointer, "i32", last), "i32"), "i64")
        block = f.compare("slt", first, ZERO)
        whole = f.binary("and", f.compare("sgt", last, at), f.compare("slt", second, ZERO))
        inside = f.binary("and", in_range(k, first, count), f.binary("or", in_range(k, second, count), not_(k, block)))
        fine = f.binary("and", inside, f.binary("or", whole, not_(k, block)))
        with f.when(not_(k, fine)):
            f.store(f.cast("trunc", f.add(at, ONE), "i32"), info.pointer)
        f.store(f.add(at, f.select(block, i64(2), ONE)), place)


def not_(k: LapackKernel, condition: V) -> V:
    return k.f.binary("xor", condition, V("true", "i1"))


def in_range(k: LapackKernel, pivot: V, count: V) -> V:
    """1 <= |pivot| <= count."""
    size = k.f.call("llvm.abs.i64", "i64", pivot, V("false", "i1"))
    return k.f.compare("ult", k.f.sub(size, ONE), count)


# -- least squares ----------------------------------------------------------------------------
LEVELS = 32  # of divide and conquer over singular values, at most
LEAF = 25  # what it does not divide


def least_squares_bytes(operands, results, driver, **_) -> list:
    """Work of the matrix's type, of its real type, and of integers: no less than any of the drivers asks for."""
    rows, columns = operands[0].shape[-2:]
    sides, size, real = results[0].shape[-1], operands[0].dtype.itemsize, results[2].dtype.itemsize
    both = rows + columns  # no less than the smaller and the larger size
    work = both * (BLOCK + 24) + sides * BLOCK + 64
    if driver == "gelsd":
        work = work + both * (12 + 2 * LEAF + 8 * LEVELS) + both * sides + both * both + (LEAF + 1) ** 2
        reals = (
            both * (10 + 2 * LEAF + 8 * LEVELS) + 3 * LEAF * sides + (LEAF + 1) ** 2 + both * (1 + sides) + 2 * sides
        )
        return [work * size, reals * real, both * (4 * (3 * LEVELS + 11))]
    return [work * size, both * (5 * real), integer_bytes(both)]


@routine("lstsq", least_squares_bytes, 3)
def lstsq(k: LapackKernel, operands, results, driver: str, rcond) -> None:
    f, (x, a, values, rank, info) = k.f, results
    rows, columns, sides, lead = map(k.integer, (a.rows, a.columns, x.columns, x.rows))
    work, length = k.scratch(0), k.integer(k.scratch_length(0, a.dtype))
    system = rows, columns, sides, a.pointer, rows, x.pointer, lead
    if driver == "gels":
        f.store(V("0", "i32"), rank.pointer)
        k.call("gels", k.letter("N"), *system, work, length, info.pointer)
        return
    reals = [k.scratch(1)] if a.dtype.is_complex else []
    least = threshold(k, a, rcond, values.dtype)
    if driver == "gelsy":
        order = k.scratch(2)
        k.clear(order, a.columns, int32)
        k.call("gelsy", *system, order, least, rank.pointer, work, length, *reals, info.pointer)
        return
    integers = [k.scratch(2)] if driver == "gelsd" else []
    k.call(driver, *system, values.pointer, least, rank.pointer, work, length, *reals, *integers, info.pointer)


def threshold(k: LapackKernel, a: Matrix, rcond, real) -> V:
    """A pointer to what counts as 0, relative to the largest singular value."""
    if rcond is not None:
        return k.number(float(rcond), real)
    kind, eps = memory_type(real), finfo(real).eps

    def make(f):
        larger = f.intrinsic("llvm.smax", a.rows, a.columns)
        return f.variable(kind, f.mul(f.cast("sitofp", larger, kind), f.const(eps, kind)))

    return k.once(("threshold",), make)
