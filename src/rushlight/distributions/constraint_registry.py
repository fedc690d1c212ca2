"""Transforms from unconstrained numbers to constraints: `biject_to` one to one, `transform_to` as is convenient.

>>> from rushlight.distributions import biject_to, constraints, transform_to
>>> biject_to(constraints.positive)(rushlight.tensor(0.0))
tensor(1.)
>>> transform_to(constraints.simplex)
SoftmaxTransform()
"""

from __future__ import annotations

import numbers

from . import constraints
from . import elementary_transforms as elementary
from . import structured_transforms as structured
from . import transforms as T

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """What makes a transform of a constraint, by the constraint's class."""

    def __init__(self):
        self._registry = {}

    def register(self, constraint, factory=None):
        """Register `factory(constraint) -> Transform` for a class of constraints or an instance's; a decorator too.

        Raises:
            TypeError: for what is no constraint
        """
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        kind = type(constraint) if isinstance(constraint, constraints.Constraint) else constraint
        if not isinstance(kind, type) or not issubclass(kind, constraints.Constraint):
            raise TypeError(f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}")
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint):
        """A transform whose codomain is the constraint.

        Raises:
            NotImplementedError: if none is registered for its class
        """
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


biject_to, transform_to = ConstraintRegistry(), ConstraintRegistry()


def is_number(bound, number) -> bool:
    return isinstance(bound, numbers.Number) and bound == number


def above(constraint):
    return T.ComposeTransform([elementary.ExpTransform(), elementary.AffineTransform(constraint.lower_bound, 1)])


def below(constraint):
    return T.ComposeTransform([elementary.ExpTransform(), elementary.AffineTransform(constraint.upper_bound, -1)])


def between(constraint):
    low, high = constraint.lower_bound, constraint.upper_bound
    if is_number(low, 0) and is_number(high, 1):
        return elementary.SigmoidTransform()
    return T.ComposeTransform([elementary.SigmoidTransform(), elementary.AffineTransform(low, high - low)])


def in_parts(registry):
    """Transforms of constraints that are made of others."""

    def independent(constraint):
        return T.IndependentTransform(registry(constraint.base_constraint), constraint.reinterpreted_batch_ndims)

    def concatenated(constraint):
        return T.CatTransform([registry(c) for c in constraint.cseq], constraint.dim, constraint.lengths)

    def stacked(constraint):
        return T.StackTransform([registry(c) for c in constraint.cseq], constraint.dim)

    return {constraints.independent: independent, constraints.cat: concatenated, constraints.stack: stacked}


COMMON = {
    type(constraints.real): lambda constraint: T.identity_transform,
    constraints.greater_than: above,
    constraints.greater_than_eq: above,
    constraints.less_than: below,
    constraints.interval: between,
    constraints.half_open_interval: between,
    type(constraints.corr_cholesky): lambda constraint: structured.CorrCholeskyTransform(),
}
BIJECTIVE = {type(constraints.simplex): lambda constraint: structured.StickBreakingTransform()}
CONVENIENT = {
    type(constraints.simplex): lambda constraint: structured.SoftmaxTransform(),
    type(constraints.lower_cholesky): lambda constraint: structured.LowerCholeskyTransform(),
    type(constraints.positive_definite): lambda constraint: structured.PositiveDefiniteTransform(),
    type(constraints.positive_semidefinite): lambda constraint: structured.PositiveDefiniteTransform(),
}
for _registry, _own in ((biject_to, BIJECTIVE), (transform_to, CONVENIENT)):
    for _kind, _factory in (COMMON | _own | in_parts(_registry)).items():
        _registry.register(_kind, _factory)
