"""Distributions of transformed draws, and of batches taken as events."""

from __future__ import annotations

from ..autograd.modes import no_grad
from ..core.engine import Size
from . import constraints
from .composed_transforms import ComposeTransform, Transform, widened
from .distribution import EMPTY, Distribution
from .utils import sum_rightmost


class Independent(Distribution):
    """A distribution with the last `reinterpreted_batch_ndims` dims of its batch as part of an event.

    Example:
        >>> from rushlight.distributions import Independent, Normal
        >>> diagonal = Independent(Normal(rushlight.zeros(3), rushlight.ones(3)), 1)
        >>> diagonal.batch_shape, diagonal.event_shape, diagonal.log_prob(rushlight.zeros(3))
        (rushlight.Size([]), rushlight.Size([3]), tensor(-2.7568))
    """

    arg_constraints: dict = {}

    def __init__(self, base_distribution, reinterpreted_batch_ndims: int, validate_args=None):
        count = reinterpreted_batch_ndims
        if count > len(base_distribution.batch_shape):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"actual {count} vs {len(base_distribution.batch_shape)}"
            )
        shape = base_distribution.batch_shape + base_distribution.event_shape
        cut = len(base_distribution.batch_shape) - count
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, count
        super().__init__(shape[:cut], shape[cut:], validate_args)

    has_rsample = property(lambda self: self.base_dist.has_rsample)
    mean = property(lambda self: self.base_dist.mean)
    mode = property(lambda self: self.base_dist.mode)
    variance = property(lambda self: self.base_dist.variance)

    @property
    def has_enumerate_support(self):
        return not self.reinterpreted_batch_ndims and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self):
        found, count = self.base_dist.support, self.reinterpreted_batch_ndims
        return constraints.independent(found, count) if count else found

    def expand(self, batch_shape, _instance=None):
        new, batch_shape = self._get_checked_instance(Independent, _instance), Size(batch_shape)
        new.base_dist = self.base_dist.expand(batch_shape + self.event_shape[: self.reinterpreted_batch_ndims])
        new.reinterpreted_batch_ndims = self.reinterpreted_batch_ndims
        return self._adopted(new, batch_shape)

    def sample(self, sample_shape=EMPTY):
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape=EMPTY):
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value):
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self):
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True):
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"


class TransformedDistribution(Distribution):
    """The distribution of y = t(x), x from a base distribution, for one transform or a list of them.

    log_prob(y) = base.log_prob(x) - log |det dy/dx|.

    Example:
        >>> from rushlight.distributions import AffineTransform, SigmoidTransform, TransformedDistribution, Uniform
        >>> logistic = TransformedDistribution(Uniform(0.0, 1.0), [SigmoidTransform().inv, AffineTransform(1.0, 2.0)])
        >>> logistic.log_prob(rushlight.tensor(1.0))
        tensor(-2.0794)
    """

    arg_constraints: dict = {}

    def __init__(self, base_distribution, transforms, validate_args=None):
        self.transforms = as_transforms(transforms)
        base, transform = base_distribution, ComposeTransform(self.transforms)
        shape = base.batch_shape + base.event_shape
        if len(shape) < transform.domain.event_dim:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {transform.domain.event_dim}, but got "
                f"{shape}."
            )
        forward = Size(transform.forward_shape(shape))
        wide = Size(transform.inverse_shape(forward))
        if wide != shape:
            base = base.expand(wide[: len(wide) - len(base.event_shape)])
        more = transform.domain.event_dim - len(base.event_shape)
        self.base_dist = Independent(base, more) if more > 0 else base
        change = transform.codomain.event_dim - transform.domain.event_dim
        cut = len(forward) - max(transform.codomain.event_dim, len(self.base_dist.event_shape) + change)
        super().__init__(forward[:cut], forward[cut:], validate_args)

    has_rsample = property(lambda self: self.base_dist.has_rsample)

    @constraints.dependent_property
    def support(self):
        if not self.transforms:
            return self.base_dist.support
        return widened(self.transforms[-1].codomain, len(self.event_shape))

    def expand(self, batch_shape, _instance=None):
        new, batch_shape = self._get_checked_instance(TransformedDistribution, _instance), Size(batch_shape)
        shape = batch_shape + self.event_shape
        for t in reversed(self.transforms):
            shape = t.inverse_shape(shape)
        new.base_dist = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
        new.transforms = self.transforms
        return self._adopted(new, batch_shape)

    def _expand_as(self, cls, batch_shape, _instance):
        """`expand` of a subclass `cls`, whose other parameters are found in the base distribution."""
        return TransformedDistribution.expand(self, batch_shape, self._get_checked_instance(cls, _instance))

    def _transformed(self, x):
        for t in self.transforms:
            x = t(x)
        return x

    def _base_value(self, y):
        for t in reversed(self.transforms):
            y = t.inv(y)
        return y

    def sample(self, sample_shape=EMPTY):
        with no_grad():
            return self._transformed(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape=EMPTY):
        return self._transformed(self.base_dist.rsample(sample_shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        event_dim, result, y = len(self.event_shape), 0.0, value
        for t in reversed(self.transforms):
            x = t.inv(y)
            event_dim += t.domain.event_dim - t.codomain.event_dim
            result = result - sum_rightmost(t.log_abs_det_jacobian(x, y), event_dim - t.domain.event_dim)
            y = x
        return result + sum_rightmost(self.base_dist.log_prob(y), event_dim - len(self.base_dist.event_shape))

    def _mirrored(self, probability):
        """What a decreasing map makes of probabilities."""
        sign = 1
        for t in self.transforms:
            sign = sign * t.sign
        return probability if isinstance(sign, int) and sign == 1 else sign * (probability - 0.5) + 0.5

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return self._mirrored(self.base_dist.cdf(self._base_value(value)))

    def icdf(self, value):
        return self._transformed(self.base_dist.icdf(self._mirrored(value)))


def as_transforms(transforms) -> list:
    """One transform or a list of them as a list; ValueError for anything else."""
    if isinstance(transforms, Transform):
        return [transforms]
    if not isinstance(transforms, list):
        raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
    if not all(isinstance(t, Transform) for t in transforms):
        raise ValueError("transforms must be a Transform or a list of Transforms")
    return transforms
