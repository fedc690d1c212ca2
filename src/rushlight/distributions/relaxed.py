"""Continuous relaxations of Bernoulli and categorical distributions.

Sources: Maddison, Mnih and Teh, "The concrete distribution", ICLR 2017; Jang, Gu and Poole, "Categorical
reparameterization with Gumbel-softmax", ICLR 2017.
"""

from __future__ import annotations

from ..ir import build as B
from ..ops import op
from ..ops.activation import softplus
from ..ops.random import rand
from ..ops.reduction import logsumexp
from . import constraints
from .categories import SIMPLEX, Categorical, normalised_logits
from .counts import ODDS
from .distribution import EMPTY, Distribution, Odds
from .elementary_transforms import ExpTransform, SigmoidTransform
from .formula import formula
from .transformed_distribution import TransformedDistribution
from .utils import EPSILON, clamp_probs


class LogitRelaxedBernoulli(Odds):
    """The log odds of a `RelaxedBernoulli` draw.

    Args:
        temperature: the smaller, the closer to 0 and 1 the draws
        probs, logits: as of `Bernoulli`
    """

    arg_constraints = ODDS
    support = constraints.real
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self.temperature = temperature
        self._set_odds(validate_args, probs, logits)

    def _adopted(self, new, batch_shape):
        new.temperature = self.temperature
        return super()._adopted(new, batch_shape)

    def rsample(self, sample_shape=EMPTY):
        shape, probs = self._extended_shape(sample_shape), self.probs
        return relaxed_draw(rand(shape, dtype=probs.dtype, device=probs.device), probs, self.temperature)

    @formula
    def log_prob(value, logits, temperature):
        x = logits - value * temperature
        return B.log(temperature) + x - 2 * softplus(x)


@op(public=False)
def relaxed_draw(u, probs, temperature):
    eps = EPSILON[probs.dtype.name]
    u, probs = B.clamp(u, eps, 1 - eps), B.clamp(probs, eps, 1 - eps)
    return (B.log(u) - B.log1p(-u) + B.log(probs) - B.log1p(-probs)) / temperature


class RelaxedBernoulli(TransformedDistribution):
    """Numbers in (0, 1) that come close to Bernoulli draws as the temperature falls, with gradients.

    Example:
        >>> from rushlight.distributions import RelaxedBernoulli
        >>> RelaxedBernoulli(rushlight.tensor(2.0), rushlight.tensor([0.1, 0.9])).rsample().shape
        rushlight.Size([2])
    """

    arg_constraints = ODDS
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expand_as(RelaxedBernoulli, batch_shape, _instance)

    temperature = property(lambda self: self.base_dist.temperature)
    logits = property(lambda self: self.base_dist.logits)
    probs = property(lambda self: self.base_dist.probs)


@op(public=False)
def relaxed_categories_log_prob(value, logits, temperature):
    score = logits - value * temperature
    score = normalised_logits(score)
    k = score.shape[-1]
    count = B.full((), k, score.dtype)
    return B.sum(score, (score.ndim - 1,)) + B.lgamma(count) + (count - 1) * B.log(temperature)


class ExpRelaxedCategorical(Distribution):
    """The logarithms of a `RelaxedOneHotCategorical` draw."""

    arg_constraints = SIMPLEX
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self._categorical, self.temperature = Categorical(probs, logits), temperature
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args)

    probs = property(lambda self: self._categorical.probs)
    logits = property(lambda self: self._categorical.logits)
    param_shape = property(lambda self: self._categorical.param_shape)

    def _expanded(self, new, batch_shape):
        new.temperature, new._categorical = self.temperature, self._categorical.expand(batch_shape)
        return self._adopted(new, batch_shape)

    def rsample(self, sample_shape=EMPTY):
        logits = self.logits
        u = clamp_probs(rand(self._extended_shape(sample_shape), dtype=logits.dtype, device=logits.device))
        scores = (logits - (-(u.log())).log()) / self.temperature
        return scores - logsumexp(scores, -1, keepdim=True)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return relaxed_categories_log_prob(value, self.logits, self.temperature)


class RelaxedOneHotCategorical(TransformedDistribution):
    """Points of the simplex that come close to one-hot draws as the temperature falls, with gradients.

    Example:
        >>> from rushlight.distributions import RelaxedOneHotCategorical
        >>> draw = RelaxedOneHotCategorical(rushlight.tensor(0.5), rushlight.tensor([0.2, 0.3, 0.5])).rsample()
        >>> bool((draw.sum() - 1).abs() < 1e-5)
        True
    """

    arg_constraints = SIMPLEX
    support = constraints.simplex
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args)
        super().__init__(base, ExpTransform(), validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expand_as(RelaxedOneHotCategorical, batch_shape, _instance)

    temperature = property(lambda self: self.base_dist.temperature)
    logits = property(lambda self: self.base_dist.logits)
    probs = property(lambda self: self.base_dist.probs)
