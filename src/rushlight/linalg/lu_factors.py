"""LU factorizations with row exchanges: ``P @ L @ U = A``."""

from __future__ import annotations

from ..ir import build as B
from ..ir.dtypes import int32
from ..ir.primitives import lu as primitives
from ..ir.primitives.solve import adjoint_letter, solve_triangular
from ..ir.sizes import hint
from ..ops.declare import Tensor, op
from ..ops.linear_forms import check_square
from ..ops.named import named, named_call
from .checks import DIVISION, broadcast_batches, check_implemented, check_pivots, check_same_types, check_system
from .outputs import needs_gradient

__all__ = ["lu", "lu_factor", "lu_factor_ex", "lu_solve"]


# -- factors ----------------------------------------------------------------------------------
def factorised(name: str, A, pivot: bool, fails: str | None) -> tuple:
    if A.ndim < 2:
        raise RuntimeError(
            f"{name}: Expected tensor with 2 or more dimensions. Got size: {list(map(hint, A.shape))} instead"
        )
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    check_implemented("lu_cpu", A)
    return primitives.lu_factor(A, fails=fails)


@op(public=False, out=True, exact=True)
def linalg_lu_factor(A: Tensor, pivot: bool):
    """The factors in one matrix, and the pivots."""
    return factorised("torch.lu_factor", A, pivot, DIVISION.format(name="torch.linalg.lu_factor"))[:2]


@op(public=False, out=True, exact=True)
def linalg_lu_factor_ex(A: Tensor, pivot: bool, checked: bool):
    """The factors in one matrix, the pivots, and LAPACK's info."""
    fails = DIVISION.format(name="torch.linalg.lu_factor_ex") if checked else None
    return factorised("torch.lu_factor_ex", A, pivot, fails)


def lu_factor(A, *, pivot=True, out=None):
    """(LU, pivots): the LU factorization in the compact form that `lu_solve` takes.

    A       (*, m, n), float32, float64, complex64 or complex128; k = min(m, n)
    LU      (*, m, n): U on and above the diagonal, L below it; its ones on the diagonal are left out
    pivots  (*, k), int32: row i was exchanged with row ``pivots[i] - 1``, one after the other
    pivot   must be True on the CPU

    RuntimeError if U has a zero on its diagonal: see `lu` and `lu_factor_ex`.

    >>> LU, pivots = rushlight.linalg.lu_factor(rushlight.tensor([[1.0, 2.0], [4.0, 6.0]]))
    >>> LU, pivots
    (tensor([[4.0000, 6.0000],
            [0.2500, 0.5000]]), tensor([2, 2], dtype=rushlight.int32))
    """
    return named_call("linalg_lu_factor", linalg_lu_factor, A, bool(pivot), out=out)


def lu_factor_ex(A, *, pivot=True, check_errors=False, out=None):
    """(LU, pivots, info): as `lu_factor`, but `info` tells for each matrix whether U has a zero on its diagonal.

    info  int32 of shape (*): 0, or the place of the first zero. With `check_errors` that is an error

    >>> rushlight.linalg.lu_factor_ex(rushlight.zeros(2, 2)).info
    tensor(1, dtype=rushlight.int32)
    """
    return named_call("linalg_lu_factor_ex", linalg_lu_factor_ex, A, bool(pivot), bool(check_errors), out=out)


# -- P, L, U ----------------------------------------------------------------------------------
def unpacked(factors) -> tuple:
    """L and U as matrices of their own."""
    _, lower, upper, below, right = primitives.parts(factors)
    lower = lower if below is None else B.concat([lower, below], -2)
    upper = upper if right is None else B.concat([upper, right], -1)
    return lower, upper


def permutation_matrix(pivots, size, dtype, fails: str | None):
    """P of P @ L @ U = A: its column i has a one in the row that exchanging put to place i."""
    order = primitives.order_of(pivots, size, fails)
    return B.cast(B.eq(B.iota((size, 1), 0), B.unsqueeze(order, -2)), dtype)


@op(public=False, out=True, exact=True)
def linalg_lu(A: Tensor, pivot: bool):
    """P, L and U."""
    factors, pivots, _ = factorised("linalg.lu", A, pivot, None)
    return permutation_matrix(pivots, A.shape[-2], A.dtype, None), *unpacked(factors)


def lu(A, *, pivot=True, out=None):
    """(P, L, U): a permutation, a lower triangle with ones on its diagonal, an upper triangle; ``P @ L @ U = A``.

    For A of shape (*, m, n) and k = min(m, n): (*, m, m), (*, m, k), (*, k, n). `pivot` must be True on the CPU.
    The derivative needs a U without zeros on its diagonal.

    >>> P, L, U = rushlight.linalg.lu(rushlight.tensor([[1.0, 2.0], [4.0, 6.0]]))
    >>> P @ L @ U
    tensor([[1., 2.],
            [4., 6.]])
    """
    if out is None and needs_gradient(A):
        factors, pivots, _ = linalg_lu_factor_ex(A, bool(pivot), False)
        return named("linalg_lu", (permutation(pivots, factors.detach()), *triangles(factors)))
    return named_call("linalg_lu", linalg_lu, A, bool(pivot), out=out)


@op(public=False)
def permutation(pivots, LU: Tensor):
    """P alone, of LU's type; it has no derivative."""
    return permutation_matrix(pivots, LU.shape[-2], LU.dtype, None)


@op(public=False)
def triangles(LU):
    """L and U alone."""
    return unpacked(LU)


PIVOTS = (
    "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive. Did you properly pass the result of "
    "lu_factor?"
)


@op(public=False, out=True, exact=True)
def factors_unpacked(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool, unpack_pivots: bool):
    """P, L and U, of which those that are not asked for are empty."""
    if unpack_pivots and LU_pivots.dtype is not int32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\n"
            "Note: this function is intended to be used with the output produced by torch.linalg.lu_factor"
        )
    nothing = B.zeros((0,), LU_data.dtype)
    lower, upper = unpacked(LU_data) if unpack_data else (nothing, nothing)
    if not unpack_pivots:
        return nothing, lower, upper
    return permutation_matrix(LU_pivots, LU_data.shape[-2], LU_data.dtype, PIVOTS), lower, upper


# -- systems ----------------------------------------------------------------------------------
RANGE = (
    "Pivots given to lu_solve must all be between 1 and LU.size(-2), and one of them is not. Did you properly pass the "
    "result of lu_factor?"
)


@op(public=False, out=True, exact=True)
def linalg_lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False):
    """X with ``A @ X = B``, by the result of `lu_factor` for A.

    LU, pivots  (*, n, n) and (*, n), int32
    B           (*, n, k), or (*, k, n) unless `left`; batches broadcast
    left        False for ``X @ A = B``
    adjoint     A.mH in place of A

    >>> LU, pivots = rushlight.linalg.lu_factor(rushlight.tensor([[2.0, 0.0], [0.0, 4.0]]))
    >>> rushlight.linalg.lu_solve(LU, pivots, rushlight.ones(2, 1))
    tensor([[0.5000],
            [0.2500]])
    """
    return solved_by_factors("linalg.lu_solve", LU, pivots, B, left, adjoint)


def check_factors(name: str, factors, pivots, right) -> None:
    check_same_types(name, factors, right, "LU", "B")
    if pivots.dtype is not int32:
        raise RuntimeError(f"{name}: pivots should be a Tensor of scalar type torch.int32")
    check_square(name, factors)
    check_implemented("lu_solve_cpu", factors)
    if pivots.ndim < 1 or pivots.shape[-1] != factors.shape[-1]:
        raise RuntimeError(f"{name}: Number of pivots per batch should be same as the dimension of the matrix")
    check_pivots(name, factors, pivots, "LU")


def solved_by_factors(name: str, factors, pivots, right, left: bool, adjoint: bool):
    check_factors(name, factors, pivots, right)
    check_system(name, factors, right, left)
    if not left:  # X A = B is A^H X^H = B^H
        x = by_factors(factors, pivots, B.adjoint(right), not adjoint)
        return B.adjoint(x)
    return by_factors(factors, pivots, right, adjoint)


def by_factors(factors, pivots, right, adjoint: bool):
    order = primitives.order_of(pivots, factors.shape[-2], RANGE)
    factors, right = broadcast_batches(factors, right)
    order = B.broadcast_to(order, (*factors.shape[:-2], order.shape[-1]))
    if not adjoint:
        half = triangle_solved(factors, primitives.permuted(order, right), False, "N")
        return triangle_solved(factors, half, True, "N")
    letter = adjoint_letter(factors)
    half = triangle_solved(factors, right, True, letter)
    return primitives.unpermuted(order, triangle_solved(factors, half, False, letter))


def triangle_solved(factors, right, upper: bool, transpose: str):
    return solve_triangular(factors, right, upper=upper, unitriangular=not upper, transpose=transpose)


lu_solve = linalg_lu_solve
