"""Distributions over categories: Categorical, one-hot vectors, counts of each."""

from __future__ import annotations

import math

from ..autograd.modes import no_grad
from ..core.engine import Size
from ..ir import build as B
from ..ir import dtypes
from ..ir.dtypes import finfo
from ..ops import op
from ..ops.creation import full
from ..ops.embeddings import one_hot
from ..ops.random import multinomial
from ..ops.ranges import arange, eye
from . import constraints
from .counts import Binomial, values_from
from .distribution import EMPTY, Distribution
from .utils import lazy_property, logits_to_probs, probs_to_logits

SIMPLEX = {"probs": constraints.simplex, "logits": constraints.real_vector}


@op(public=False)
def normalised_logits(logits):
    """Minus the logarithm of the sum of their exponentials."""
    last = (logits.ndim - 1,)
    highest = B.max(logits, last, True)
    return logits - highest - B.log(B.sum(B.exp(logits - highest), last, True))


@op(public=False)
def normalised(probs):
    return probs / B.sum(probs, (probs.ndim - 1,), True)


@op(public=False)
def logit_at(value, logits):
    """The logit of the category that a value names, for values and batches that broadcast."""
    index = B.cast(B.unsqueeze(value, value.ndim), dtypes.int64)
    batch = B.broadcast_shapes(index.shape[:-1], logits.shape[:-1])
    wide = B.broadcast_to(logits, (*batch, logits.shape[-1]))
    return B.squeeze(B.gather(wide, wide.ndim - 1, B.broadcast_to(index, (*batch, 1))), wide.ndim - 1)


@op(public=False)
def entropy_of_categories(probs, logits):
    return -B.sum(B.clamp(logits, finfo(logits.dtype).min) * probs, (logits.ndim - 1,))


@op(public=False)
def counts_log_prob(value, logits):
    last = -1
    powers = B.where(B.logical_and(B.eq(value, 0), B.eq(logits, -math.inf)), 0.0, logits) * value
    counts = B.cast(value, logits.dtype)
    ways = B.lgamma(B.sum(counts, last) + 1) - B.sum(B.lgamma(counts + 1), last)
    return ways + B.sum(powers, last)


class Categorical(Distribution):
    """Categories 0 to K - 1 in proportion to `probs`.

    Args:
        probs: (*, K) weights of the categories, which are normalised
        logits: (*, K) their logarithms up to a constant; one of the two must be given

    Example:
        >>> from rushlight.distributions import Categorical
        >>> Categorical(rushlight.tensor([1.0, 1.0, 2.0])).log_prob(rushlight.tensor([0, 2])).exp()
        tensor([0.2500, 0.5000])
    """

    arg_constraints = SIMPLEX
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        if probs is not None:
            if probs.dim() < 1:
                raise ValueError("`probs` parameter must be at least one-dimensional.")
            self.probs = normalised(probs)
        else:
            if logits.dim() < 1:
                raise ValueError("`logits` parameter must be at least one-dimensional.")
            self.logits = normalised_logits(logits)
        super().__init__(self._param.shape[:-1], validate_args=validate_args)

    @property
    def _param(self):
        given = self.__dict__
        return given["probs"] if "probs" in given else given["logits"]

    _num_events = property(lambda self: self._param.shape[-1])
    param_shape = property(lambda self: self._param.size())

    @lazy_property
    def logits(self):
        """Logarithms of the probabilities."""
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self):
        """The probabilities."""
        return logits_to_probs(self.logits)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        return constraints.integer_interval(0, self._num_events - 1)

    mode = property(lambda self: self.probs.argmax(-1))

    @property
    def mean(self):
        return full(self._extended_shape(), math.nan, dtype=self.probs.dtype, device=self.probs.device)

    variance = mean

    def sample(self, sample_shape=EMPTY):
        sample_shape = Size(sample_shape)
        rows = self.probs.reshape(-1, self._num_events)
        with no_grad():
            drawn = multinomial(rows, sample_shape.numel(), True).T
            return drawn.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return logit_at(value, self.logits)

    def entropy(self):
        return entropy_of_categories(self.probs, self.logits)

    def enumerate_support(self, expand: bool = True):
        values = arange(self._num_events, dtype=dtypes.int64, device=self._param.device)
        return values_from(values, self._batch_shape, expand)


class OfCategories(Distribution):
    """Distributions that keep a `Categorical`, with its parameters as theirs."""

    arg_constraints = SIMPLEX

    probs = property(lambda self: self._categorical.probs)
    logits = property(lambda self: self._categorical.logits)
    param_shape = property(lambda self: self._categorical.param_shape)
    _param = property(lambda self: self._categorical._param)

    def _set_categorical(self, probs, logits, validate_args) -> None:
        self._categorical = Categorical(probs, logits)
        batch, event = self._categorical.batch_shape, self._categorical.param_shape[-1:]
        Distribution.__init__(self, batch, event, validate_args)

    def _expanded(self, new, batch_shape):
        new._categorical = self._categorical.expand(batch_shape)
        return self._adopted(new, batch_shape)


class OneHotCategorical(OfCategories):
    """Vectors with a 1 at a category drawn in proportion to `probs`, and zeros.

    Example:
        >>> from rushlight.distributions import OneHotCategorical
        >>> OneHotCategorical(rushlight.tensor([0.0, 1.0])).sample()
        tensor([0., 1.])
    """

    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._set_categorical(probs, logits, validate_args)

    mean = property(lambda self: self._categorical.probs)
    variance = property(lambda self: self._categorical.probs * (1 - self._categorical.probs))

    @property
    def mode(self):
        return one_hot(self.probs.argmax(-1), self.probs.shape[-1]).to(self.probs.dtype)

    def sample(self, sample_shape=EMPTY):
        with no_grad():
            return one_hot(self._categorical.sample(sample_shape), self._event_shape[0]).to(self.probs.dtype)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return logit_at(value.argmax(-1), self.logits)

    def entropy(self):
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True):
        n = self._event_shape[0]
        values = eye(n, dtype=self._param.dtype, device=self._param.device)
        values = values.view(n, *(1,) * len(self._batch_shape), n)
        return values.expand(n, *self._batch_shape, n) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """`OneHotCategorical` whose draws pass their gradients straight to `probs` (Bengio et al., 2013)."""

    has_rsample = True

    def rsample(self, sample_shape=EMPTY):
        return self.sample(sample_shape) + (self.probs - self.probs.detach())


class Multinomial(OfCategories):
    """How often each category comes in `total_count` draws in proportion to `probs`.

    Example:
        >>> from rushlight.distributions import Multinomial
        >>> Multinomial(3, rushlight.tensor([1.0, 2.0])).mean
        tensor([1., 2.])
    """

    def __init__(self, total_count: int = 1, probs=None, logits=None, validate_args=None):
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._set_categorical(probs, logits, validate_args)

    def _expanded(self, new, batch_shape):
        new.total_count = self.total_count
        return super()._expanded(new, batch_shape)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self):
        return constraints.multinomial(self.total_count)

    mean = property(lambda self: self.probs * self.total_count)
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))

    def sample(self, sample_shape=EMPTY):
        with no_grad():
            drawn = self._categorical.sample(Size((self.total_count, *sample_shape)))
            counts = self.probs.new_zeros(self._extended_shape(sample_shape))
            drawn = drawn.movedim(0, -1)
            return counts.scatter_add(-1, drawn, counts.new_ones(drawn.shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return counts_log_prob(value, self.logits)

    def entropy(self):
        """By the marginal distributions of the counts, which are binomial."""
        n = self.total_count
        marginal = Binomial(n, self.probs, validate_args=False)
        counts = marginal.enumerate_support(expand=False)[1:]
        share = marginal.log_prob(counts).exp() * (counts + 1).lgamma()
        return n * self._categorical.entropy() - math.lgamma(n + 1) + share.sum((0, -1))
