"""Positive-definite matrices: Cholesky's factorization, and what is computed with it."""

from __future__ import annotations

from ..ir import build as B
from ..ir.primitives import factor
from ..ir.primitives.solve import adjoint_letter, solve_triangular
from ..ops.declare import Tensor, op
from ..ops.linear_forms import check_square
from ..ops.named import named_call
from .checks import (
    INDEFINITE,
    SINGULAR,
    broadcast_batches,
    check_field,
    check_implemented,
    check_system,
)

__all__ = ["cholesky", "cholesky_ex"]


def factorised(name: str, A, upper: bool, checked: bool) -> tuple:
    """The factor and LAPACK's info, with an error for matrices that have none."""
    check_square(name, A)
    check_field(name, A)
    check_implemented("cholesky_cpu", A)
    return factor.cholesky(A, upper=upper, fails=INDEFINITE.format(name=name) if checked else None)


@op(public=False, out=True, exact=True)
def linalg_cholesky(A: Tensor, *, upper: bool = False):
    """The Cholesky factor of Hermitian positive-definite matrices: the lower triangle L with ``L @ L.mH = A``.

    A      (*, n, n), float32, float64, complex64 or complex128; only its lower triangle is read (the upper one with
           `upper`), and its derivative is that of a Hermitian matrix
    upper  the upper triangle U with ``U.mH @ U = A`` instead

    `LinAlgError` if A is not positive-definite.

    >>> rushlight.linalg.cholesky(rushlight.tensor([[4.0, 2.0], [2.0, 5.0]]))
    tensor([[2., 0.],
            [1., 2.]])
    """
    return factorised("linalg.cholesky", A, upper, True)[0]


@op(public=False, out=True, exact=True)
def linalg_cholesky_ex(A: Tensor, upper: bool, checked: bool):
    """The Cholesky factor, and LAPACK's info."""
    return factorised("linalg.cholesky_ex", A, upper, checked)


cholesky = linalg_cholesky


def cholesky_ex(A, *, upper=False, check_errors=False, out=None):
    """(L, info): as `cholesky`, but `info` tells for each matrix whether it succeeded.

    info  int32 of shape (*): 0, or the order of the first leading minor that is not positive-definite; L is then
          not complete. With `check_errors` that is an error

    >>> rushlight.linalg.cholesky_ex(-rushlight.eye(2)).info
    tensor(1, dtype=rushlight.int32)
    """
    return named_call("linalg_cholesky_ex", linalg_cholesky_ex, A, bool(upper), bool(check_errors), out=out)


# -- as functions of tensors ------------------------------------------------------------------
@op(public=False, out=True, exact=True)
def cholesky_older(input, upper: bool = False):
    """The Cholesky factor by PyTorch's older name: see `linalg.cholesky`."""
    return factorised("cholesky", input, upper, True)[0]


def solved_by_factor(L, right, upper: bool):
    """A^-1 right, for A = L L^H (U^H U)."""
    letter = adjoint_letter(L)
    first, second = (letter, "N") if upper else ("N", letter)
    half = solve_triangular(L, right, upper=upper, unitriangular=False, transpose=first)
    return solve_triangular(L, half, upper=upper, unitriangular=False, transpose=second)


@op(public=False, out=True, exact=True)
def cholesky_solve(input, input2: Tensor, upper: bool = False):
    """x with ``A @ x = input``, where ``A = input2 @ input2.mH`` (``input2.mH @ input2`` with `upper`).

    input: (*, n, k); input2: (*, n, n), of which only the lower (upper) triangle is read; batches broadcast.

    >>> L = rushlight.tensor([[2.0, 0.0], [1.0, 2.0]])
    >>> rushlight.cholesky_solve(rushlight.tensor([[8.0], [14.0]]), L)
    tensor([[0.7500],
            [2.5000]])
    """
    if input.ndim < 2 or input2.ndim < 2:
        which, ndim = ("b", input.ndim) if input.ndim < 2 else ("u", input2.ndim)
        raise RuntimeError(f"{which} should have at least 2 dimensions, but has {ndim} dimensions instead")
    if input.dtype is not input2.dtype:
        raise RuntimeError("cholesky_solve: Expected both inputs to have the same dtype")
    check_implemented("cholesky_solve_cpu", input)
    check_system("cholesky_solve", input2, input, True)
    right, L = broadcast_batches(input, input2)
    return solved_by_factor(L, right, upper)


@cholesky_solve.vjp
def _(cotangents, outputs, input, input2, upper=False):
    """As if the whole of L were read: PyTorch's derivative has no zeros in the other triangle."""
    g, x = cotangents[0], outputs[0]
    g, L = broadcast_batches(g, input2)
    moved = solved_by_factor(L, g, upper)
    product = B.dot(moved, B.adjoint(x))
    product = product + B.adjoint(product)
    return moved, -(B.dot(L, product) if upper else B.dot(product, L))


@op(public=False, out=True, exact=True)
def cholesky_inverse(L: Tensor, upper: bool = False):
    """The inverse of ``A = L @ L.mH`` (``L.mH @ L`` with `upper`), by its Cholesky factor.

    `LinAlgError` if the factor has a zero on its diagonal.

    >>> rushlight.cholesky_inverse(rushlight.tensor([[1.0, 0.0], [1.0, 1.0]]))
    tensor([[ 2., -1.],
            [-1.,  1.]])
    """
    check_square("cholesky_inverse", L)
    check_implemented("cholesky_inverse_out_cpu", L)
    return factor.cholesky_inverse(L, upper=upper, fails=SINGULAR.format(name="cholesky_inverse"))[0]
