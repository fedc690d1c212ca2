"""Symmetric and Hermitian matrices that need not be definite: LDL factorizations."""

from __future__ import annotations

from ..ir.dtypes import int32
from ..ir.primitives import lu as primitives
from ..ops.declare import Tensor, op
from ..ops.linear_forms import check_square
from ..ops.named import named_call
from .checks import broadcast_batches, check_field, check_implemented, check_pivots, check_system

__all__ = ["ldl_factor", "ldl_factor_ex", "ldl_solve"]

FAILED = "torch.{name}: {{batch}}D[{{info}},{{info}}] is zero: the factorization cannot be used to solve systems"
PIVOTS = (
    "Pivots given to ldl_solve must all satisfy |pivot| <= LD.size(-2), and negative ones come in pairs. Did you "
    "properly pass the result of ldl_factor?"
)


def factorised(name: str, A, hermitian: bool, checked: bool) -> tuple:
    check_square("torch.linalg.ldl_factor_ex", A)
    check_field("torch.linalg.ldl_factor_ex", A)
    check_implemented("ldl_factor_kernel_cpu", A)
    return primitives.ldl_factor(A, hermitian=hermitian, fails=FAILED.format(name=name) if checked else None)


@op(public=False, out=True, exact=True)
def linalg_ldl_factor(A: Tensor, hermitian: bool):
    """The factors in one matrix, and the pivots."""
    return factorised("linalg.ldl_factor", A, hermitian, True)[:2]


@op(public=False, out=True, exact=True)
def linalg_ldl_factor_ex(A: Tensor, hermitian: bool, checked: bool):
    """The factors in one matrix, the pivots and LAPACK's info."""
    return factorised("linalg.ldl_factor_ex", A, hermitian, checked)


def ldl_factor(A, *, hermitian=False, out=None):
    """(LD, pivots): the factorization ``L @ D @ L.mT = A`` of symmetric matrices in the compact form of `ldl_solve`.

    A          (*, n, n), float32, float64, complex64 or complex128; only the lower triangle is read
    hermitian  A is Hermitian, and ``L @ D @ L.mH = A``; the same for real matrices
    LD         (*, n, n): the block-diagonal D (blocks of one or two rows) and, below it, L
    pivots     (*, n), int32, as LAPACK's sytrf has them: negative pairs stand for blocks of two rows

    RuntimeError if D is singular. There is no derivative.

    >>> rushlight.linalg.ldl_factor(rushlight.tensor([[2.0, 4.0], [4.0, 5.0]])).pivots
    tensor([2, 2], dtype=rushlight.int32)
    """
    return named_call("linalg_ldl_factor", linalg_ldl_factor, A, bool(hermitian), out=out)


def ldl_factor_ex(A, *, hermitian=False, check_errors=False, out=None):
    """(LD, pivots, info): as `ldl_factor`, but `info` tells for each matrix whether D has a block that is 0.

    >>> rushlight.linalg.ldl_factor_ex(rushlight.zeros(2, 2)).info
    tensor(1, dtype=rushlight.int32)
    """
    return named_call("linalg_ldl_factor_ex", linalg_ldl_factor_ex, A, bool(hermitian), bool(check_errors), out=out)


@op(public=False, out=True, exact=True)
def linalg_ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False):
    """X with ``A @ X = B``, by the result of `ldl_factor` for A.

    LD: (*, n, n); pivots: (*, n), int32; B: (*, n, k). The derivative is that of B alone.

    >>> LD, pivots = rushlight.linalg.ldl_factor(rushlight.tensor([[2.0, 0.0], [0.0, -4.0]]))
    >>> rushlight.linalg.ldl_solve(LD, pivots, rushlight.ones(2, 1))
    tensor([[ 0.5000],
            [-0.2500]])
    """
    name = "torch.linalg.ldl_solve"
    check_square(name, LD)
    if B.ndim < 2:
        raise RuntimeError(f"{name}: Expected B to have at least 2 dimensions, but it has {B.ndim} dimensions instead")
    check_pivots(name, LD, pivots, "LD")
    if pivots.dtype is not int32:
        raise RuntimeError(f"{name}: Expected pivots to be integers. Got {pivots.dtype.name}")
    if LD.dtype is not B.dtype:
        raise RuntimeError(f"{name}: LD dtype {LD.dtype.name} does not match b dtype {B.dtype.name}")
    check_implemented("ldl_solve_kernel_cpu", LD)
    check_system(name, LD, B, True)
    return solution(LD, pivots, B, hermitian)


def solution(factors, pivots, right, hermitian: bool):
    from ..ir.build import broadcast_to

    factors, right = broadcast_batches(factors, right)
    pivots = broadcast_to(pivots, factors.shape[:-1])
    return primitives.ldl_solve(factors, pivots, right, hermitian=hermitian, fails=PIVOTS)[0]


ldl_solve = linalg_ldl_solve
