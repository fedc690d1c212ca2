"""Distributions of yes and no, of counts, and of numbers in [0, 1] that behave like them."""

from __future__ import annotations

import math

from ..autograd.modes import no_grad
from ..ir import build as B
from ..ir.dtypes import finfo
from ..ops.activation import softplus
from ..ops.arithmetic import xlogy
from ..ops.random import bernoulli, binomial, poisson, rand
from ..ops.ranges import arange
from . import constraints
from .continuous import uniform_in
from .distribution import EMPTY, Elementwise, ExponentialFamily, Odds
from .formula import formula
from .positive import Gamma
from .utils import clamp_probs

ODDS = {"probs": constraints.unit_interval, "logits": constraints.real}


def entropy_of_odds(probs, logits):
    """The entropy of a trial."""
    return softplus(logits) - probs * logits


class Bernoulli(Odds, ExponentialFamily):
    """1 with probability `probs`, else 0.

    Args:
        probs: the probability of 1
        logits: its log odds; one of the two must be given

    Example:
        >>> from rushlight.distributions import Bernoulli
        >>> Bernoulli(0.25).log_prob(rushlight.tensor([0.0, 1.0]))
        tensor([-0.2877, -1.3863])
    """

    arg_constraints = ODDS
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._set_odds(validate_args, probs, logits)

    mean = property(lambda self: self.probs)

    @formula
    def mode(probs):
        return B.where(B.eq(probs, 0.5), math.nan, B.cast(B.ge(probs, 0.5), probs.dtype))

    @formula
    def variance(probs):
        return probs * (1 - probs)

    def sample(self, sample_shape=EMPTY):
        with no_grad():
            return bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    @formula
    def log_prob(value, logits):
        return value * logits - softplus(logits)

    @formula
    def entropy(probs, logits):
        return entropy_of_odds(probs, logits)

    def enumerate_support(self, expand: bool = True):
        return values_from(arange(2, dtype=self._param.dtype, device=self._param.device), self._batch_shape, expand)

    @property
    def _natural_params(self):
        return (self.logits,)

    def _log_normalizer(self, x):
        return x.exp().log1p()


def values_from(values, batch_shape, expand: bool):
    """Values in a first dim, before dims of the batch."""
    values = values.view(-1, *(1,) * len(batch_shape))
    return values.expand(-1, *batch_shape) if expand else values


class Geometric(Odds):
    """How many trials fail before the first one that succeeds with probability `probs`.

    Example:
        >>> from rushlight.distributions import Geometric
        >>> Geometric(0.25).mean
        tensor(3.)
    """

    arg_constraints = ODDS
    support = constraints.nonnegative_integer

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._set_odds(validate_args, probs, logits)
        if self._validate_args and probs is not None and not bool((self.probs > 0).all()):
            raise ValueError(
                f"Expected parameter probs (Tensor of shape {tuple(self.probs.shape)}) of distribution {self!r} to be "
                f"positive but found invalid values:\n{self.probs}"
            )

    mean = property(lambda self: 1.0 / self.probs - 1.0)
    mode = property(lambda self: self.probs * 0)
    variance = property(lambda self: (1.0 / self.probs - 1.0) / self.probs)

    def sample(self, sample_shape=EMPTY):
        probs = self.probs
        u = uniform_in(finfo(probs.dtype).tiny, 1, self._extended_shape(sample_shape), probs)
        with no_grad():
            return (u.log() / (-probs).log1p()).floor()

    @formula
    def log_prob(value, probs):
        failing = B.where(B.logical_and(B.eq(probs, 1), B.eq(value, 0)), 0.0, probs)
        return value * B.log1p(-failing) + B.log(probs)

    @formula
    def entropy(probs, logits):
        return entropy_of_odds(probs, logits) / probs


class Binomial(Odds):
    """How many of `total_count` trials succeed with probability `probs`.

    Example:
        >>> from rushlight.distributions import Binomial
        >>> Binomial(4, rushlight.tensor(0.5)).log_prob(rushlight.tensor(2.0)).exp()
        tensor(0.3750)
    """

    arg_constraints = {"total_count": constraints.nonnegative_integer, **ODDS}
    has_enumerate_support = True

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        like = probs if logits is None else logits
        self._set_odds(validate_args, probs, logits, total_count=total_count)
        if like is not None and self.total_count.dtype is not self._param.dtype:
            self.total_count = self.total_count.to(self._param.dtype)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        return constraints.integer_interval(0, self.total_count)

    mean = property(lambda self: self.total_count * self.probs)
    mode = property(lambda self: ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count))

    @formula
    def variance(total_count, probs):
        return total_count * probs * (1 - probs)

    def sample(self, sample_shape=EMPTY):
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return binomial(self.total_count.expand(shape), self.probs.expand(shape))

    @formula
    def log_prob(value, total_count, logits):
        ways = B.lgamma(total_count + 1) - B.lgamma(value + 1) - B.lgamma(total_count - value + 1)
        return ways + value * logits - total_count * softplus(logits)

    def _same_count(self, message: str) -> int:
        count = int(self.total_count.max())
        if not int(self.total_count.min()) == count:
            raise NotImplementedError(message)
        return count

    def entropy(self):
        self._same_count("Inhomogeneous total count not supported by `entropy`.")
        log_prob = Binomial.log_prob.compute(self.enumerate_support(False), self.total_count, self.logits)
        return -(log_prob.exp() * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True):
        count = self._same_count("Inhomogeneous total count not supported by `enumerate_support`.")
        values = arange(1 + count, dtype=self._param.dtype, device=self._param.device)
        return values_from(values, self._batch_shape, expand)


class NegativeBinomial(Odds):
    """How many trials succeed with probability `probs` before `total_count` have failed.

    Example:
        >>> from rushlight.distributions import NegativeBinomial
        >>> NegativeBinomial(2.0, rushlight.tensor(0.5)).mean
        tensor(2.)
    """

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(self, total_count, probs=None, logits=None, validate_args=None):
        self._set_odds(validate_args, probs, logits, total_count=total_count)
        if self.total_count.dtype is not self._param.dtype:
            self.total_count = self.total_count.to(self._param.dtype)

    mean = property(lambda self: self.total_count * self.logits.exp())
    mode = property(lambda self: ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0))
    variance = property(lambda self: self.mean / (-self.logits).sigmoid())

    def sample(self, sample_shape=EMPTY):
        with no_grad():
            rate = Gamma(self.total_count, (-self.logits).exp(), validate_args=False).sample(sample_shape)
            return poisson(rate)

    @formula
    def log_prob(value, total_count, logits):
        odds = -total_count * softplus(logits) - value * softplus(-logits)
        together = total_count + value
        ways = B.lgamma(together) - B.lgamma(1 + value) - B.lgamma(total_count)
        return odds + B.where(B.eq(together, 0), 0.0, ways)


class Poisson(Elementwise, ExponentialFamily):
    """Numbers of events that come at a rate: rate^k exp(-rate) / k!.

    Example:
        >>> from rushlight.distributions import Poisson
        >>> Poisson(rushlight.tensor([4.0])).log_prob(rushlight.tensor([0.0]))
        tensor([-4.])
    """

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate, validate_args=None):
        self._set(validate_args, rate=rate)

    mean = variance = property(lambda self: self.rate)
    mode = property(lambda self: self.rate.floor())

    def sample(self, sample_shape=EMPTY):
        with no_grad():
            return poisson(self.rate.expand(self._extended_shape(sample_shape)))

    @formula
    def log_prob(value, rate):
        return xlogy(value, rate) - rate - B.lgamma(value + 1)

    @property
    def _natural_params(self):
        return (self.rate.log(),)

    def _log_normalizer(self, x):
        return x.exp()


class ContinuousBernoulli(Odds, ExponentialFamily):
    """Densities in proportion to p^x (1 - p)^(1 - x) on [0, 1] (Loaiza-Ganem and Cunningham, NeurIPS 2019).

    Args:
        probs, logits: as of `Bernoulli`
        lims: between these probabilities series about 1/2 take the place of formulas that divide 0 by 0 there

    Example:
        >>> from rushlight.distributions import ContinuousBernoulli
        >>> ContinuousBernoulli(0.5).mean
        tensor(0.5000)
    """

    arg_constraints = ODDS
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, probs=None, logits=None, lims=(0.499, 0.501), validate_args=None):
        self._low, self._high = lims
        self._set_odds(validate_args, probs, logits)
        if probs is not None:
            self.probs = clamp_probs(self.probs)

    def _adopted(self, new, batch_shape):
        new._low, new._high = self._low, self._high
        return super()._adopted(new, batch_shape)

    @formula
    def mean(probs, _low, _high):
        near, p, x = about_half(probs, _low, _high)
        series = 0.5 + (1 / 3 + 16 / 45 * x * x) * x
        return B.where(near, series, p / (2 * p - 1) + 1 / (B.log1p(-p) - B.log(p)))

    @formula
    def variance(probs, _low, _high):
        near, p, x = about_half(probs, _low, _high)
        width, odds = 1 - 2 * p, B.log1p(-p) - B.log(p)
        series = 1 / 12 - (1 / 15 - 128 / 945 * x * x) * x * x
        return B.where(near, series, p * (p - 1) / (width * width) + 1 / (odds * odds))

    def rsample(self, sample_shape=EMPTY):
        return self.icdf(rand(self._extended_shape(sample_shape), dtype=self.probs.dtype, device=self.probs.device))

    @formula
    def log_prob(value, logits, probs, _low, _high):
        return value * logits - softplus(logits) + log_constant(probs, _low, _high)

    @formula
    def cdf(value, probs, _low, _high):
        near, p, _ = about_half(probs, _low, _high)
        made = (B.pow(p, value) * B.pow(1 - p, 1 - value) + p - 1) / (2 * p - 1)
        return B.where(B.le(value, 0), 0.0, B.where(B.ge(value, 1), 1.0, B.where(near, value, made)))

    @formula
    def icdf(value, probs, _low, _high):
        near, p, _ = about_half(probs, _low, _high)
        rest = B.log1p(-p)
        return B.where(near, value, (B.log1p(-p + value * (2 * p - 1)) - rest) / (B.log(p) - rest))

    @formula
    def entropy(mean, probs, _low, _high):
        rest = B.log1p(-probs)
        return mean * (rest - B.log(probs)) - log_constant(probs, _low, _high) - rest

    @property
    def _natural_params(self):
        return (self.logits,)

    def _log_normalizer(self, x):
        from ..ops.comparison import where

        near = (x.sigmoid() > self._low) & (x.sigmoid() <= self._high)
        safe = where(near, 1.0, x)
        return where(near, x / 2 + x * x / 24, (safe.expm1() / safe).log())


def about_half(probs, low, high):
    """Where p is near 1/2, p with such ones replaced, and p - 1/2."""
    near = B.logical_and(B.gt(probs, low), B.le(probs, high))
    return near, B.where(near, low, probs), probs - 0.5


def log_constant(probs, low, high):
    """The logarithm of what p^x (1 - p)^(1 - x) is multiplied by."""
    near, p, x = about_half(probs, low, high)
    odds = B.log1p(-p) - B.log(p)
    exact = B.log(B.abs(odds)) - B.log(B.abs(1 - 2 * p))
    return B.where(near, math.log(2) + (4 / 3 + 104 / 45 * x * x) * x * x, exact)
