"""Mixtures of distributions of one family."""

from __future__ import annotations

from ..autograd.modes import no_grad
from ..core.engine import Size
from ..ops.reduction import logsumexp
from ..ops.softmax_family import log_softmax
from . import constraints
from .categories import Categorical
from .distribution import EMPTY, Distribution


class MixtureSameFamily(Distribution):
    """A mixture whose components are the last dim of one distribution's batch.

    Args:
        mixture_distribution: a `Categorical` of the components' weights
        component_distribution: the components

    Example:
        >>> from rushlight.distributions import Categorical, MixtureSameFamily, Normal
        >>> parts = Normal(rushlight.tensor([-1.0, 1.0]), rushlight.ones(2))
        >>> MixtureSameFamily(Categorical(rushlight.ones(2)), parts).variance
        tensor(2.)
    """

    arg_constraints: dict = {}
    has_rsample = False

    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        weights, parts = mixture_distribution, component_distribution
        if not isinstance(weights, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        if not isinstance(parts, Distribution):
            raise ValueError("The Component distribution need to be an instance of torch.distributions.Distribution")
        for own, given in zip(reversed(weights.batch_shape), reversed(parts.batch_shape[:-1])):
            if own != 1 and given != 1 and own != given:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({weights.batch_shape}) is not compatible with "
                    f"`component_distribution.batch_shape`({parts.batch_shape[:-1]})"
                )
        count = weights.param_shape[-1]
        if parts.batch_shape[-1:] != (count,):
            found = parts.batch_shape[-1] if parts.batch_shape else "none"
            raise ValueError(
                f"`mixture_distribution component` ({count}) does not equal `component_distribution.batch_shape[-1]` "
                f"({found})"
            )
        self._mixture_distribution, self._component_distribution = weights, parts
        self._num_component = count
        super().__init__(parts.batch_shape[:-1], parts.event_shape, validate_args)

    mixture_distribution = property(lambda self: self._mixture_distribution)
    component_distribution = property(lambda self: self._component_distribution)

    def expand(self, batch_shape, _instance=None):
        new, batch_shape = self._get_checked_instance(MixtureSameFamily, _instance), Size(batch_shape)
        new._component_distribution = self._component_distribution.expand(batch_shape + (self._num_component,))
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        new._num_component = self._num_component
        return self._adopted(new, batch_shape)

    @constraints.dependent_property
    def support(self):
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def _component_dim(self) -> int:
        return -1 - len(self._event_shape)

    def _weights(self):
        probs = self._mixture_distribution.probs
        return probs.reshape(probs.shape + (1,) * len(self._event_shape))

    @property
    def mean(self):
        return (self._weights() * self._component_distribution.mean).sum(self._component_dim)

    @property
    def variance(self):
        """The mean of the components' variances plus the variance of their means."""
        weights, parts, dim = self._weights(), self._component_distribution, self._component_dim
        within = (weights * parts.variance).sum(dim)
        return within + (weights * (parts.mean - self.mean.unsqueeze(dim)).square()).sum(dim)

    def cdf(self, value):
        parts = self._component_distribution.cdf(self._for_each(value))
        return (parts * self._mixture_distribution.probs).sum(-1)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        parts = self._component_distribution.log_prob(self._for_each(value))
        return logsumexp(parts + log_softmax(self._mixture_distribution.logits, -1), -1)

    def _for_each(self, value):
        return value.unsqueeze(self._component_dim)

    def sample(self, sample_shape=EMPTY):
        with no_grad():
            chosen = self._mixture_distribution.sample(sample_shape)
            drawn = self._component_distribution.sample(sample_shape)
            batch, event = len(sample_shape) + len(self._batch_shape), self._event_shape
            index = chosen.reshape(chosen.shape + (1,) * (len(event) + 1)).expand(chosen.shape + (1, *event))
            return drawn.gather(batch, index).squeeze(batch)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self._mixture_distribution},\n  {self._component_distribution})"
