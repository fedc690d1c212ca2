"""Regions in which values may lie: the supports of distributions, the domains of their parameters.

`constraint.check(value)` gives a bool for each event. A constraint that depends on other parameters is `dependent`, or
made by `dependent_property`.
"""

from __future__ import annotations

from ..ir import build as B
from .constraint import (
    Constraint,
    MixtureSameFamilyConstraint,
    _Cat,
    _Dependent,
    _DependentProperty,
    _IndependentConstraint,
    _Stack,
    checking,
    is_dependent,
)
from .matrix_constraints import (
    _CorrCholesky,
    _LowerCholesky,
    _LowerTriangular,
    _Multinomial,
    _OneHot,
    _PositiveDefinite,
    _PositiveSemidefinite,
    _Simplex,
    _Square,
    _Symmetric,
)

__all__ = ["Constraint", "MixtureSameFamilyConstraint", "boolean", "cat", "corr_cholesky", "dependent"]
__all__ += ["dependent_property", "greater_than", "greater_than_eq", "half_open_interval", "independent"]
__all__ += ["integer_interval", "interval", "is_dependent", "less_than", "lower_cholesky", "lower_triangular"]
__all__ += ["multinomial", "nonnegative", "nonnegative_integer", "one_hot", "positive", "positive_definite"]
__all__ += ["positive_integer", "positive_semidefinite", "real", "real_vector", "simplex", "square", "stack"]
__all__ += ["symmetric", "unit_interval"]


# -- numbers ----------------------------------------------------------------------------------------
class _Boolean(Constraint):
    """0 or 1."""

    is_discrete = True

    @checking
    def check(value):
        return B.logical_or(B.eq(value, 0), B.eq(value, 1))


class _Real(Constraint):
    """All but NaN."""

    @checking
    def check(value):
        return B.eq(value, value)


class _Bounded(Constraint):
    """Regions between bounds, which are numbers or tensors that broadcast."""

    bounds: tuple = ()

    def __init__(self, *bounds):
        for name, bound in zip(self.bounds, bounds, strict=True):
            setattr(self, name, bound)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)}" for name in self.bounds)
        return f"{type(self).__name__[1:]}({shown})"


class _GreaterThan(_Bounded):
    """Above a bound."""

    bounds = ("lower_bound",)

    def __init__(self, lower_bound):
        super().__init__(lower_bound)

    @checking
    def check(value, lower_bound):
        return B.lt(lower_bound, value)


class _GreaterThanEq(_GreaterThan):
    """At a bound or above it."""

    @checking
    def check(value, lower_bound):
        return B.le(lower_bound, value)


class _IntegerGreaterThan(_GreaterThan):
    """Whole numbers from a bound on."""

    is_discrete = True

    @checking
    def check(value, lower_bound):
        return B.logical_and(B.eq(B.floor(value), value), B.ge(value, lower_bound))


class _LessThan(_Bounded):
    """Below a bound."""

    bounds = ("upper_bound",)

    def __init__(self, upper_bound):
        super().__init__(upper_bound)

    @checking
    def check(value, upper_bound):
        return B.lt(value, upper_bound)


class _IntegerLessThan(_LessThan):
    """Whole numbers up to a bound."""

    is_discrete = True

    @checking
    def check(value, upper_bound):
        return B.logical_and(B.eq(B.floor(value), value), B.le(value, upper_bound))


class _Interval(_Bounded):
    """From one bound to another."""

    bounds = ("lower_bound", "upper_bound")

    def __init__(self, lower_bound, upper_bound):
        super().__init__(lower_bound, upper_bound)

    @checking
    def check(value, lower_bound, upper_bound):
        return B.logical_and(B.le(lower_bound, value), B.le(value, upper_bound))


class _HalfOpenInterval(_Interval):
    """From one bound to below another."""

    @checking
    def check(value, lower_bound, upper_bound):
        return B.logical_and(B.le(lower_bound, value), B.lt(value, upper_bound))


class _IntegerInterval(_Interval):
    """Whole numbers from one bound to another."""

    is_discrete = True

    @checking
    def check(value, lower_bound, upper_bound):
        inside = B.logical_and(B.le(lower_bound, value), B.le(value, upper_bound))
        return B.logical_and(B.eq(B.floor(value), value), inside)


# -- public names -----------------------------------------------------------------------------------
dependent, dependent_property = _Dependent(), _DependentProperty
independent, cat, stack = _IndependentConstraint, _Cat, _Stack
boolean, real, one_hot, simplex = _Boolean(), _Real(), _OneHot(), _Simplex()
real_vector = independent(real, 1)
greater_than, greater_than_eq, less_than = _GreaterThan, _GreaterThanEq, _LessThan
interval, half_open_interval, integer_interval = _Interval, _HalfOpenInterval, _IntegerInterval
positive, nonnegative, unit_interval = greater_than(0.0), greater_than_eq(0.0), interval(0.0, 1.0)
nonnegative_integer, positive_integer = _IntegerGreaterThan(0), _IntegerGreaterThan(1)
multinomial = _Multinomial
lower_triangular, lower_cholesky, corr_cholesky = _LowerTriangular(), _LowerCholesky(), _CorrCholesky()
square, symmetric = _Square(), _Symmetric()
positive_semidefinite, positive_definite = _PositiveSemidefinite(), _PositiveDefinite()
