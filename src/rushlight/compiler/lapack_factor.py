"""Emitters for factorizations: Cholesky, LU, LDL, QR."""

from __future__ import annotations

from .index_layout import ONE, ZERO, i64
from .lapack import routine
from .lapack_kernel import LapackKernel, Matrix
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
    kind = "float" if factor.dtype.to_real().itemsize == 4 else "double"
    parts = 2 if factor.dtype.is_complex else 1
    with f.when(f.compare("eq", f.load(info.pointer, "i32"), V("0", "i32"))), f.loop(ZERO, factor.rows) as step:
        row = f.sub(f.sub(factor.rows, ONE), step)  # backwards, so that the first one is stored last
        number = f.load(f.at(factor.pointer, kind, f.mul(f.mul(row, f.add(factor.rows, ONE)), i64(parts))), kind)
        with f.when(f.compare("uno", number, number)):
            f.store(f.cast("trunc", f.add(row, ONE), "i32"), info.pointer)
