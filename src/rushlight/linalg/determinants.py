"""Determinants, by LU factorizations."""

from __future__ import annotations

import math

from ..ir import build as B
from ..ir.dtypes import finfo
from ..ir.primitives import lu, solve
from ..ir.primitives.matrix_parts import diagonal_of, identity, with_diagonal
from ..ops.declare import Tensor, op
from ..ops.linear_forms import check_square
from ..ops.named import named_call
from .checks import check_precision

__all__ = ["det", "slogdet"]


def factors_of(name: str, A) -> tuple:
    check_precision(name, A)
    check_square(name, A)
    factors, pivots, _ = lu.lu_factor(A, fails=None)
    return factors, pivots, diagonal_of(factors)


def parity(pivots, dtype):
    """The sign of the permutation: -1 for every row that was exchanged with another one."""
    place = B.iota((pivots.shape[-1],), 0, pivots.dtype) + 1
    odd = B.sum(B.cast(B.ne(pivots, place), pivots.dtype), -1) % 2
    return B.cast(1 - 2 * odd, dtype)


def product_of(diagonal, pivots):
    return B.prod(diagonal, -1) * parity(pivots, diagonal.dtype)


# -- det --------------------------------------------------------------------------------------
@op(public=False, out=True, exact=True, visible=1)
def linalg_det(A: Tensor):
    """The determinant of square matrices: (*, n, n) to (*); 1 for n = 0.

    >>> rushlight.linalg.det(rushlight.tensor([[2.0, 1.0], [1.0, 1.0]]))
    tensor(1.)
    """
    factors, pivots, diagonal = factors_of("linalg.det", A)
    return product_of(diagonal, pivots), factors, pivots


@linalg_det.vjp
def _(cotangents, outputs, A):
    """conj(det) A^-H; for singular matrices by a U whose zeros on the diagonal are replaced by tiny numbers."""
    g = cotangents[0]
    if g is None:
        return None
    det, factors, pivots = outputs
    diagonal = diagonal_of(factors)
    tiny = B.where(B.eq(diagonal, 0), B.cast(finfo(A.dtype.to_real()).eps, A.dtype), diagonal)
    regular = with_diagonal(factors, tiny)
    det = B.where(B.eq(det, 0), product_of(tiny, pivots), det)
    scale = B.unsqueeze(B.unsqueeze(g * B.conj(det), -1), -1)
    return solve.solve(A, regular, pivots, scale * identity(A.shape, A.dtype), adjoint=True)


det = linalg_det


# -- slogdet ----------------------------------------------------------------------------------
@op(public=False, out=True, exact=True, visible=2)
def linalg_slogdet(A: Tensor):
    """The sign and the logarithm of the size of the determinant."""
    return sign_and_logarithm("linalg.slogdet", A)


def sign_and_logarithm(name: str, A) -> tuple:
    factors, pivots, diagonal = factors_of(name, A)
    sign = B.prod(B.sign(diagonal), -1) * parity(pivots, A.dtype)
    return sign, B.sum(B.log(B.abs(diagonal)), -1), factors, pivots


@linalg_slogdet.vjp
def _(cotangents, outputs, A):
    """A^-H times the cotangent of log(det); of a complex sign only the change along the circle counts."""
    gsign, glog = cotangents[:2]
    sign, _, factors, pivots = outputs
    total = None if glog is None else B.cast(glog, A.dtype)
    if gsign is not None and A.dtype.is_complex:
        turned = B.imag(B.conj(sign) * gsign)
        turned = B.complex(B.zeros_like(turned), turned)
        total = turned if total is None else total + turned
    if total is None:
        return None
    scale = B.unsqueeze(B.unsqueeze(total, -1), -1)
    return solve.solve(A, factors, pivots, scale * identity(A.shape, A.dtype), adjoint=True)


def slogdet(A, *, out=None):
    """(sign, logabsdet): the determinant is ``sign * exp(logabsdet)``; 0 and -inf for singular matrices.

    sign  of A's type, of size 1 (or 0); logabsdet real

    >>> rushlight.linalg.slogdet(rushlight.tensor([[1.0, 2.0], [3.0, 5.0]])).sign
    tensor(-1.)
    """
    return named_call("linalg_slogdet", linalg_slogdet, A, out=out)


def logdet(input):
    """The logarithm of the determinant of square matrices; NaN where that is negative, -inf where it is 0.

    >>> rushlight.logdet(rushlight.eye(3))
    tensor(0.)
    """
    sign, logarithm = log_parts(input)
    return log_of_determinant(sign, logarithm)


@op(public=False, visible=2)
def log_parts(A: Tensor):
    """As slogdet, in logdet's name."""
    return sign_and_logarithm("logdet", A)


log_parts.vjp(linalg_slogdet.declaration.vjp_rule)


@op(public=False)
def log_of_determinant(sign, logarithm):
    if sign.dtype.is_complex:
        return B.log(sign) + logarithm
    return B.where(B.eq(sign, -1.0), math.nan, logarithm)
