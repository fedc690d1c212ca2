"""Systems of linear equations: triangular ones, and those whose matrix is factorised already.

`solve` takes a matrix and, beside it, its factors, with which the system is solved: derivatives are those of the
matrix, and need no derivative of a factorization.
"""

from __future__ import annotations

from .. import build as B
from ..columns import matrix_primitive
from ..dtypes import int32
from ..lazy import np
from ..primitive import check_dtype, fail
from .matrix_parts import check_square, no_info, triangle


def check_system(name: str, a, b) -> None:
    check_dtype(name, a, "fc")
    check_square(name, a)
    if a.dtype is not b.dtype or a.ndim != b.ndim or a.shape[:-2] != b.shape[:-2] or a.shape[-1] != b.shape[-2]:
        fail(name, f"expected [*B, N, N] and [*B, N, K] of one dtype, got {a} and {b}")


def wide(array):
    """The array in double precision."""
    return array.astype("complex128" if array.dtype.kind == "c" else "float64")


# -- triangular -------------------------------------------------------------------------------
@matrix_primitive((2, 2), (2,), {0: 1})
def solve_triangular(a, b, *, upper, unitriangular, transpose):
    """x with op(a) x = b: a is a triangle, the rest of it is not read; `unitriangular`: with ones on the diagonal.

    `transpose` is "N" (op(a) = a), "T" or "C" (conjugated, too).
    """
    check_system("solve_triangular", a, b)
    return b.shape, b.dtype


def operator_of(a, transpose: str):
    """op(a) for NumPy arrays."""
    a = a if transpose == "N" else np.swapaxes(a, -1, -2)
    return np.conj(a) if transpose == "C" else a


@solve_triangular.numpy
def _(a, b, *, upper, unitriangular, transpose):
    a = np.triu(a) if upper else np.tril(a)
    if unitriangular:
        eye = np.eye(a.shape[-1], dtype=a.dtype)
        a = a * (1 - eye) + eye
    return np.linalg.solve(operator_of(wide(a), transpose), wide(b)).astype(b.dtype)


def adjoint_letter(a) -> str:
    """LAPACK's letter for the adjoint."""
    return "C" if a.dtype.is_complex else "T"


def over_upper(a, x, adjoint: bool = False):
    """x U^-1, or x U^-H, of the upper triangle of a."""
    letter = "N" if adjoint else adjoint_letter(a)
    return B.adjoint(solve_triangular(a, B.adjoint(x), upper=True, unitriangular=False, transpose=letter))


def applied(a, b, attrs: dict):
    """The primitive; a transposed complex matrix is conjugated before, so that its adjoint needs no third operator."""
    if a.dtype.is_complex and attrs["transpose"] == "T":
        return solve_triangular(B.conj(a), b, **{**attrs, "transpose": "C"})
    return solve_triangular(a, b, **attrs)


def adjoint_solve(a, b, attrs: dict):
    """op(a)^H x = b."""
    if a.dtype.is_complex and attrs["transpose"] == "T":
        return solve_triangular(B.conj(a), b, **{**attrs, "transpose": "N"})
    return solve_triangular(a, b, **{**attrs, "transpose": "N" if attrs["transpose"] != "N" else adjoint_letter(a)})


def read_part(x, attrs: dict):
    """Zeros where the matrix is not read."""
    offset = 1 if attrs["unitriangular"] else 0
    return triangle(x, attrs["upper"], offset if attrs["upper"] else -offset)


def toward_matrix(product, transpose: str):
    """A cotangent of op(a) as one of a."""
    return product if transpose == "N" else B.transpose(product, -1, -2) if transpose == "T" else B.adjoint(product)


@solve_triangular.vjp
def _(node, g):
    (a, _), (x,), attrs = node.inputs, node.outputs, node.attrs
    gb = adjoint_solve(a, g, attrs)
    return [read_part(toward_matrix(-B.dot(gb, B.adjoint(x)), attrs["transpose"]), attrs), gb]


@solve_triangular.jvp
def _(node, da, db):
    a, (x,), attrs = node.inputs[0], node.outputs, node.attrs
    right = db
    if da is not None:
        moved = B.dot(toward_matrix(read_part(da, attrs), attrs["transpose"]), x)
        right = -moved if db is None else db - moved
    return applied(a, right, attrs)


# -- with factors -----------------------------------------------------------------------------
@matrix_primitive((2, 2, 1, 2), (2,), {0: 3})
def solve(a, factors, pivots, b, *, adjoint):
    """x with a x = b, or a^H x = b, by the LU factors and pivots of a. Derivatives are a's, not its factors'."""
    check_system("solve", a, b)
    if factors.dtype is not a.dtype or factors.shape != a.shape or pivots.dtype is not int32:
        fail("solve", f"expected the factors and int32 pivots of {a}, got {factors} and {pivots}")
    return b.shape, b.dtype


@solve.numpy
def _(a, factors, pivots, b, *, adjoint):
    return np.linalg.solve(operator_of(wide(a), "C" if adjoint else "N"), wide(b)).astype(b.dtype)


@solve.vjp
def _(node, g):
    (a, factors, pivots, _), (x,), adjoint = node.inputs, node.outputs, node.attrs["adjoint"]
    gb = solve(a, factors, pivots, g, adjoint=not adjoint)
    ga = -B.dot(gb, B.adjoint(x))
    return [B.adjoint(ga) if adjoint else ga, None, None, gb]


@solve.jvp
def _(node, da, _factors, _pivots, db):
    (a, factors, pivots, _), (x,), adjoint = node.inputs, node.outputs, node.attrs["adjoint"]
    right = db
    if da is not None:
        moved = B.dot(B.adjoint(da) if adjoint else da, x)
        right = -moved if db is None else db - moved
    return None if right is None else solve(a, factors, pivots, right, adjoint=adjoint)


# -- inverse ----------------------------------------------------------------------------------
@matrix_primitive((2,), (2, 0), {0: 0})
def inverse(a, *, fails):
    """The inverse, and LAPACK's int32 info."""
    check_dtype("inverse", a, "fc")
    check_square("inverse", a)
    return [(a.shape, a.dtype), (a.shape[:-2], int32)]


@inverse.numpy
def _(a, *, fails):
    return np.linalg.inv(wide(a)).astype(a.dtype), no_info(a)


@inverse.vjp
def _(node, g, _):
    adjoint = B.adjoint(node.outputs[0])
    return [-B.dot(B.dot(adjoint, g), adjoint)]


@inverse.jvp
def _(node, tangent):
    result = node.outputs[0]
    return [-B.dot(B.dot(result, tangent), result), None]
