"""Regions of vectors and matrices."""

from __future__ import annotations

from ..ir import build as B
from ..ir.dtypes import bool_
from ..ops import op
from ..ops.creation import full
from .constraint import Constraint, checking


# -- vectors ----------------------------------------------------------------------------------------
class _OneHot(Constraint):
    """Vectors of zeros and a single one."""

    is_discrete, event_dim = True, 1

    @checking
    def check(value):
        boolean = B.all(B.logical_or(B.eq(value, 0), B.eq(value, 1)), (value.ndim - 1,))
        return B.logical_and(boolean, B.eq(B.sum(value, (value.ndim - 1,)), 1))


class _Simplex(Constraint):
    """Vectors of numbers that are not negative and add up to 1, give or take 1e-6."""

    event_dim = 1

    @checking
    def check(value):
        last = (value.ndim - 1,)
        return B.logical_and(B.all(B.ge(value, 0), last), B.lt(B.abs(B.sum(value, last) - 1), 1e-6))


class _Multinomial(Constraint):
    """Vectors of counts that add up to at most `upper_bound`."""

    is_discrete, event_dim = True, 1

    def __init__(self, upper_bound):
        self.upper_bound = upper_bound

    @checking
    def check(value, upper_bound):
        last = (value.ndim - 1,)
        return B.logical_and(B.all(B.ge(value, 0), last), B.le(B.sum(value, last), upper_bound))


# -- matrices ---------------------------------------------------------------------------------------
def _lower(value):
    """A bool for each matrix: whether nothing is above the diagonal."""
    above = B.lt(B.iota(value.shape, value.ndim - 2), B.iota(value.shape, value.ndim - 1))
    return B.all(B.logical_or(B.logical_not(above), B.eq(value, 0)), (value.ndim - 2, value.ndim - 1))


def _positive_diagonal(value):
    return B.all(B.gt(B.diagonal(value, 0, value.ndim - 2, value.ndim - 1), 0), (value.ndim - 2,))


class _LowerTriangular(Constraint):
    """Square matrices with zeros above the diagonal."""

    event_dim = 2

    @checking
    def check(value):
        return _lower(value)


class _LowerCholesky(Constraint):
    """Lower triangular matrices with a positive diagonal."""

    event_dim = 2

    @checking
    def check(value):
        return B.logical_and(_lower(value), _positive_diagonal(value))


class _CorrCholesky(Constraint):
    """Lower triangular matrices with a positive diagonal and rows of length 1."""

    event_dim = 2

    @checking
    def check(value):
        # what rounding leaves of a row's squares: ten units for each of its numbers
        tolerance = (1.2e-7 if value.dtype.itemsize < 8 else 2.3e-16) * 10
        off = B.abs(B.sum(value * value, (value.ndim - 1,)) ** 0.5 - 1)
        unit = B.all(B.le(off, B.full((), value.shape[-1], value.dtype) * tolerance), (value.ndim - 2,))
        return B.logical_and(unit, B.logical_and(_lower(value), _positive_diagonal(value)))


class _Square(Constraint):
    """Square matrices."""

    event_dim = 2

    def check(self, value):
        return full(tuple(value.shape[:-2]), value.shape[-2] == value.shape[-1], dtype=bool_)


class _Symmetric(_Square):
    """Symmetric matrices, give or take 1e-6."""

    def check(self, value):
        square = super().check(value)
        return square if not bool(square.all()) else _symmetric(value)


@op(public=False)
def _symmetric(value):
    mirrored = B.transpose(value, value.ndim - 2, value.ndim - 1)
    near = B.le(B.abs(value - mirrored), 1e-6 + 1e-5 * B.abs(mirrored))
    return B.all(near, (value.ndim - 2, value.ndim - 1))


class _PositiveSemidefinite(_Symmetric):
    """Symmetric matrices without negative eigenvalues."""

    def check(self, value):
        from ..linalg import eigvalsh

        symmetric = super().check(value)
        return symmetric if not bool(symmetric.all()) else (eigvalsh(value) >= 0).all(-1)


class _PositiveDefinite(_Symmetric):
    """Symmetric matrices with positive eigenvalues only."""

    def check(self, value):
        from ..linalg import cholesky_ex

        symmetric = super().check(value)
        return symmetric if not bool(symmetric.all()) else cholesky_ex(value).info == 0
