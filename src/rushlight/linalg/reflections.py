"""QR factorizations, and products of Householder's reflections, which LAPACK keeps the factor Q as.

A reflection is ``1 - tau v v^H``; a product of k of them is ``1 - V T V^H`` with the v as columns of V and an upper
triangle T, whose inverse is the upper triangle of ``V^H V`` with 1 / tau on the diagonal. (Schreiber and Van Loan, "A
Storage-Efficient WY Representation for Products of Householder Transformations", 1989.)
"""

from __future__ import annotations

from ..ir import build as B
from ..ir.primitives import orthogonal
from ..ir.primitives.matrix_parts import identity, triangle
from ..ir.primitives.solve import adjoint_letter, solve_triangular
from ..ir.sizes import hint
from ..ops.declare import Tensor, op
from ..ops.named import named_call
from .checks import check_field, check_implemented, check_matrix, has_no_elements, stores_columns

__all__ = ["householder_product", "qr"]


# -- QR ---------------------------------------------------------------------------------------
@stores_columns
@op(public=False, out=True, exact=True)
def linalg_qr(A: Tensor, mode: str):
    """Q and R."""
    check_matrix("linalg.qr", A)
    check_field("linalg.qr", A)
    if mode not in orthogonal.MODES:
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
        )
    check_implemented("geqrf_cpu", A)
    if has_no_elements(A):
        return factors_of_nothing(A, mode)
    q, r, _ = orthogonal.qr(A, mode=mode)
    return B.zeros((0,), A.dtype) if mode == "r" else q, r


def factors_of_nothing(A, mode: str):
    """Of matrices without elements: the identity for a complete Q."""
    *batch, rows, columns = A.shape
    inner = rows if mode == "complete" else 0
    q = B.zeros((0,), A.dtype) if mode == "r" else identity((*batch, rows, inner), A.dtype)
    return q, B.zeros((*batch, inner, columns), A.dtype)


def qr(A, mode="reduced", *, out=None):
    """(Q, R): matrices with orthonormal columns and upper triangles; ``Q @ R = A``.

    A     (*, m, n), float32, float64, complex64 or complex128; k = min(m, n)
    mode  "reduced": Q (*, m, k) and R (*, k, n); "complete": Q (*, m, m) and R (*, m, n); "r": an empty Q and the
          reduced R

    The signs of R's diagonal are LAPACK's. The derivative needs k columns that are linearly independent; it is not
    defined for "r", nor for "complete" if m > n: RuntimeError.

    >>> Q, R = rushlight.linalg.qr(rushlight.tensor([[3.0, 1.0], [4.0, 2.0]]))
    >>> rushlight.allclose(Q @ R, rushlight.tensor([[3.0, 1.0], [4.0, 2.0]]))
    True
    """
    return named_call("linalg_qr", linalg_qr, A, mode, out=out)


@op(public=False, out=True, exact=True)
def reflections_of(input):
    """Reflections, and their factors tau."""
    if input.ndim < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    check_implemented("geqrf_cpu", input)
    return orthogonal.geqrf(input)


# -- products of reflections ------------------------------------------------------------------
def vectors_of(A, count):
    """The v of `count` reflections as columns: zeros, a one, and what lies below A's diagonal."""
    below = triangle(B.narrow(A, -1, 0, count), False, -1)
    return below + identity(below.shape, A.dtype)


def applied(A, tau, x, adjoint: bool):
    """Q x, or Q^H x, of reflections."""
    v = vectors_of(A, tau.shape[-1])
    scales = B.unsqueeze(tau, -1)
    # T = D M^-1 with D of tau and M the upper triangle of V^H V D with ones on the diagonal
    m = B.dot(B.adjoint(v), v) * B.unsqueeze(tau, -2)
    inner = B.dot(B.adjoint(v), x)
    if adjoint:
        letter = adjoint_letter(A)
        inner = solve_triangular(m, B.conj(scales) * inner, upper=True, unitriangular=True, transpose=letter)
    else:
        inner = scales * solve_triangular(m, inner, upper=True, unitriangular=True, transpose="N")
    return x - B.dot(v, inner)


def check_reflections(name: str, A, tau, word: str = "input") -> None:
    if A.ndim < 2:
        raise RuntimeError(f"{name}: {word} must have at least 2 dimensions.")
    if tau.ndim != A.ndim - 1:
        raise RuntimeError(
            f"{name}: Expected tau to have one dimension less than {word}, but got tau.ndim equal to {tau.ndim} and "
            f"{word}.ndim is equal to {A.ndim}"
        )
    if any(a != b for a, b in zip(tau.shape[:-1], A.shape[:-2])):
        raise RuntimeError(
            f"{name}: Expected batch dimensions of tau to be equal to {word}.shape[:-2], but got "
            f"{list(map(hint, tau.shape[:-1]))}"
        )
    if tau.dtype is not A.dtype:
        raise RuntimeError(f"{name}: tau dtype {tau.dtype.name} does not match {word} dtype {A.dtype.name}")


@stores_columns
@op(public=False, out=True, exact=True)
def linalg_householder_product(input, tau: Tensor):
    """The first n columns of the product of k reflections.

    input  (*, m, n), m >= n: reflections as `geqrf` yields them, below the diagonal of the first k columns
    tau    (*, k), k <= n

    >>> A = rushlight.tensor([[3.0, 1.0], [4.0, 2.0]])
    >>> Q = rushlight.linalg.householder_product(*rushlight.geqrf(A))
    >>> rushlight.allclose(Q, rushlight.linalg.qr(A).Q)
    True
    """
    name = "torch.linalg.householder_product"
    if input.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if input.shape[-2] < input.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if tau.ndim and input.shape[-1] < tau.shape[-1]:
        raise RuntimeError(f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    check_reflections(name, input, tau)
    check_implemented("orgqr_cpu", input)
    return applied(input, tau, identity(input.shape, input.dtype), False)


householder_product = linalg_householder_product


@stores_columns
@op(public=False, out=True, exact=True)
def ormqr_of(input, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False):
    """The product of a matrix and Q."""
    name = "torch.ormqr"
    check_reflections(name, input, tau)
    if other.ndim < 2:
        raise RuntimeError(f"{name}: other must have at least 2 dimensions.")
    side = -2 if left else -1
    if other.shape[side] < tau.shape[-1]:
        raise RuntimeError(f"{name}: other.shape[{side}] must be greater than or equal to tau.shape[-1]")
    if other.shape[side] != input.shape[-2]:
        raise RuntimeError(f"{name}: other.shape[{side}] must be equal to input.shape[-2]")
    if tau.shape[-1] > input.shape[-1]:
        raise RuntimeError(f"{name}: tau.shape[-1] must be less than or equal to input.shape[-1]")
    if other.ndim != input.ndim or any(a != b for a, b in zip(other.shape[:-2], input.shape[:-2])):
        raise RuntimeError(
            f"{name}: Expected batch dimensions of other to be equal to input.shape[:-2], but got "
            f"{list(map(hint, other.shape[:-2]))}"
        )
    if other.dtype is not input.dtype:
        raise RuntimeError(f"{name}: Expected input and other to have the same dtype")
    check_implemented("ormqr_cpu", input)
    if left:
        return applied(input, tau, other, transpose)
    return B.adjoint(applied(input, tau, B.adjoint(other), not transpose))
