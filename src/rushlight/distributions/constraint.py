"""What a constraint is, and those made of other constraints or left to other parameters."""

from __future__ import annotations

from operator import attrgetter

from ..ops import op
from ..ops.joining import cat as concatenated
from ..ops.joining import stack as stacked


class Constraint:
    """A region: `is_discrete`, and `event_dim`, the number of last dims that make one event.

    Example:
        >>> from rushlight.distributions import constraints
        >>> constraints.positive.check(rushlight.tensor([-1.0, 2.0]))
        tensor([False,  True])
    """

    is_discrete = False
    event_dim = 0

    def check(self, value):
        """Which events lie in the region: a bool tensor of shape sample_shape + batch_shape."""
        raise NotImplementedError(f"{type(self).__name__}.check")

    def __repr__(self) -> str:
        return type(self).__name__.lstrip("_") + "()"


def checking(body):
    """A check that is one op over the value and the bounds that its arguments name."""
    names = body.__code__.co_varnames[1 : body.__code__.co_argcount]
    owner = body.__qualname__.split(".")[-2]
    body.__name__ = f"within{owner.lower()}"
    made, bounds = op(body, public=False), attrgetter(*names) if len(names) > 1 else None

    def check(self, value):
        if bounds is not None:
            return made(value, *bounds(self))
        return made(value, *[getattr(self, name) for name in names])

    check.__doc__ = Constraint.check.__doc__
    return check


# -- what depends on other values -------------------------------------------------------------------
class _Dependent(Constraint):
    """A region that other parameters decide."""

    def __init__(self, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        self._is_discrete, self._event_dim = is_discrete, event_dim

    @property
    def is_discrete(self):
        return self._static("is_discrete")

    @property
    def event_dim(self):
        return self._static("event_dim")

    def _static(self, name: str):
        known = getattr(self, "_" + name)
        if known is NotImplemented:
            raise NotImplementedError(f".{name} cannot be determined statically")
        return known

    def __call__(self, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        """The same with what is known about it."""
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, x):
        raise ValueError("Cannot determine validity of dependent constraint")


class _DependentProperty(property, _Dependent):
    """A property of instances that is a constraint; on the class it is `dependent`."""

    def __init__(self, fn=None, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        property.__init__(self, fn)
        _Dependent.__init__(self, is_discrete=is_discrete, event_dim=event_dim)

    def __call__(self, fn):
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


def is_dependent(constraint) -> bool:
    """Whether other parameters decide the region."""
    return isinstance(constraint, _Dependent)


# -- wrappers ---------------------------------------------------------------------------------------
class _IndependentConstraint(Constraint):
    """The region where all of `reinterpreted_batch_ndims` further dims satisfy a constraint."""

    def __init__(self, base_constraint, reinterpreted_batch_ndims: int):
        if not isinstance(base_constraint, Constraint):
            raise ValueError(f"independent: expected a Constraint, got {type(base_constraint).__name__}")
        if not isinstance(reinterpreted_batch_ndims, int) or reinterpreted_batch_ndims < 0:
            raise ValueError(f"independent: expected a number of dims, got {reinterpreted_batch_ndims!r}")
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, reinterpreted_batch_ndims

    @property
    def is_discrete(self):
        return self.base_constraint.is_discrete

    @property
    def event_dim(self):
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value):
        result = self.base_constraint.check(value)
        count = self.reinterpreted_batch_ndims
        if result.ndim < count:
            expected = self.base_constraint.event_dim + count
            raise ValueError(f"Expected value.dim() >= {expected} but got {value.dim()}")
        return result.flatten(result.ndim - count).all(-1) if count else result

    def __repr__(self) -> str:
        return f"{type(self).__name__[1:]}({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """The support of a mixture: the region of its components, whose dim of components the value lacks."""

    def __init__(self, base_constraint):
        if not isinstance(base_constraint, Constraint):
            raise ValueError(f"MixtureSameFamilyConstraint: expected a Constraint, got {base_constraint!r}")
        self.base_constraint = base_constraint

    @property
    def is_discrete(self):
        return self.base_constraint.is_discrete

    @property
    def event_dim(self):
        return self.base_constraint.event_dim

    def check(self, value):
        if value.ndim < self.event_dim:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.ndim}")
        checked = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        # every component must be able to give the value
        return checked.all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_constraint!r})"


class _Sequence(Constraint):
    """Constraints of the parts of a tensor."""

    def __init__(self, cseq, lengths, dim: int):
        if not all(isinstance(c, Constraint) for c in cseq):
            raise ValueError(f"{type(self).__name__.lstrip('_').lower()}: expected a sequence of constraints")
        self.cseq, self.lengths, self.dim = list(cseq), lengths, dim

    @property
    def is_discrete(self):
        return any(c.is_discrete for c in self.cseq)


class _Cat(_Sequence):
    """Constraints of parts of a tensor along `dim`, of the given lengths (1 each by default)."""

    def __init__(self, cseq, dim: int = 0, lengths=None):
        cseq = list(cseq)
        super().__init__(cseq, [1] * len(cseq) if lengths is None else list(lengths), dim)
        if len(self.lengths) != len(self.cseq):
            raise ValueError(f"cat: expected {len(self.cseq)} lengths, got {len(self.lengths)}")

    @property
    def event_dim(self):
        return max(c.event_dim for c in self.cseq)

    def check(self, value):
        parts = value.split(self.lengths, self.dim)
        return concatenated([c.check(part) for c, part in zip(self.cseq, parts)], self.dim)


class _Stack(_Sequence):
    """Constraints of the slices of a tensor along `dim`."""

    def __init__(self, cseq, dim: int = 0):
        super().__init__(cseq, None, dim)

    @property
    def event_dim(self):
        dim = max(c.event_dim for c in self.cseq)
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value):
        return stacked([c.check(part) for c, part in zip(self.cseq, value.unbind(self.dim))], self.dim)
