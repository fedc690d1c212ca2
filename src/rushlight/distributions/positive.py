"""Positive numbers and parts of a whole: Exponential, Gamma, Chi2, Beta, Dirichlet, FisherSnedecor."""

from __future__ import annotations

import math

from ..autograd.modes import no_grad
from ..core.engine import Size
from ..ir import build as B
from ..ops import op
from ..ops.arithmetic import xlogy
from ..ops.creation import zeros_like
from ..ops.filling import exponential_
from ..ops.joining import stack
from . import constraints
from .distribution import EMPTY, Elementwise, ExponentialFamily
from .formula import formula
from .sampling import TINY, _sample_dirichlet, _standard_gamma


class Exponential(Elementwise, ExponentialFamily):
    """The exponential distribution: rate exp(-rate x).

    Example:
        >>> from rushlight.distributions import Exponential
        >>> Exponential(2.0).mean
        tensor(0.5000)
    """

    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, rate, validate_args=None):
        self._set(validate_args, rate=rate)

    mean = stddev = property(lambda self: self.rate.reciprocal())
    mode = property(lambda self: self.rate * 0)
    variance = property(lambda self: self.rate.pow(-2))

    def rsample(self, sample_shape=EMPTY):
        with no_grad():
            noise = exponential_(self.rate.new_empty(self._extended_shape(sample_shape)))
        return noise / self.rate

    @formula
    def log_prob(value, rate):
        return B.log(rate) - rate * value

    @formula
    def cdf(value, rate):
        return -B.expm1(-rate * value)

    @formula
    def icdf(value, rate):
        return -B.log1p(-value) / rate

    @formula
    def entropy(rate):
        return 1 - B.log(rate)

    @property
    def _natural_params(self):
        return (-self.rate,)

    def _log_normalizer(self, x):
        return -(-x).log()


class Gamma(Elementwise, ExponentialFamily):
    """The gamma distribution: rate^c x^(c - 1) exp(-rate x) / gamma(c), c the concentration.

    Draws have the implicit gradient by the concentration (see `rushlight.distributions.sampling`).

    Example:
        >>> from rushlight.distributions import Gamma
        >>> Gamma(2.0, 4.0).variance
        tensor(0.1250)
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration, rate, validate_args=None):
        self._set(validate_args, concentration=concentration, rate=rate)

    mean = property(lambda self: self.concentration / self.rate)
    mode = property(lambda self: ((self.concentration - 1) / self.rate).clamp(min=0))
    variance = property(lambda self: self.concentration / self.rate.pow(2))

    def rsample(self, sample_shape=EMPTY):
        shape = self._extended_shape(sample_shape)
        return above_zero(_standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape))

    @formula
    def log_prob(value, concentration, rate):
        powers = xlogy(concentration, rate) + xlogy(concentration - 1, value)
        return powers - rate * value - B.lgamma(concentration)

    @formula
    def cdf(value, concentration, rate):
        return B.gammainc(concentration, rate * value)

    @formula
    def entropy(concentration, rate):
        rest = (1 - concentration) * B.digamma(concentration)
        return concentration - B.log(rate) + B.lgamma(concentration) + rest

    @property
    def _natural_params(self):
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x, y):
        return (x + 1).lgamma() + (x + 1) * (-y.reciprocal()).log()


@op(public=False)
def above_zero(drawn):
    """Draws, at least the least normal number: densities need a logarithm."""
    return B.maximum(drawn, TINY[drawn.dtype.name])


@above_zero.vjp
def _(cotangents, outputs, drawn):
    return cotangents


class Chi2(Gamma):
    """The chi squared distribution with `df` degrees of freedom: Gamma(df / 2, 1 / 2).

    Example:
        >>> from rushlight.distributions import Chi2
        >>> Chi2(3.0).mean
        tensor(3.)
    """

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df, validate_args=None):
        super().__init__(0.5 * df, 0.5, validate_args)

    @property
    def df(self):
        """Degrees of freedom."""
        return self.concentration * 2

    def expand(self, batch_shape, _instance=None):
        new, batch_shape = self._get_checked_instance(Chi2, _instance), Size(batch_shape)
        new.concentration, new.rate = self.concentration.expand(batch_shape), self.rate.expand(batch_shape)
        return self._adopted(new, batch_shape)


class Dirichlet(ExponentialFamily):
    """The Dirichlet distribution of points in the simplex, with a concentration for each part in the last dim.

    Example:
        >>> from rushlight.distributions import Dirichlet
        >>> Dirichlet(rushlight.tensor([0.5, 1.5])).mean
        tensor([0.2500, 0.7500])
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration, validate_args=None):
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args)

    def rsample(self, sample_shape=EMPTY):
        return _sample_dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    @formula
    def log_prob(value, concentration):
        last = (concentration.ndim - 1,)
        powers = xlogy(concentration - 1, value)
        normaliser = B.lgamma(B.sum(concentration, last)) - B.sum(B.lgamma(concentration), last)
        return B.sum(powers, (powers.ndim - 1,)) + normaliser

    @formula
    def mean(concentration):
        return concentration / B.sum(concentration, (concentration.ndim - 1,), True)

    @property
    def mode(self):
        """Where all concentrations are below 1 the density has no maximum: then the first corner."""
        inner = (self.concentration - 1).clamp(min=0.0)
        mode = inner / inner.sum(-1, True)
        corner = (self.concentration < 1).all(-1, keepdim=True)
        first = zeros_like(mode)
        first[..., 0] = 1.0
        return mode.where(~corner, first)

    @formula
    def variance(concentration):
        total = B.sum(concentration, (concentration.ndim - 1,), True)
        return concentration * (total - concentration) / (total * total * (total + 1))

    @formula
    def entropy(concentration):
        last = (concentration.ndim - 1,)
        total = B.sum(concentration, last)
        parts = B.sum(B.lgamma(concentration) - (concentration - 1) * B.digamma(concentration), last)
        return parts - B.lgamma(total) + B.sum(concentration - 1, last) * B.digamma(total)

    @property
    def _natural_params(self):
        return (self.concentration,)

    def _log_normalizer(self, x):
        return x.lgamma().sum(-1) - x.sum(-1).lgamma()


class Beta(Elementwise, ExponentialFamily):
    """The beta distribution: x^(a - 1) (1 - x)^(b - 1) / B(a, b), a `concentration1`, b `concentration0`.

    Example:
        >>> from rushlight.distributions import Beta
        >>> Beta(1.0, 3.0).mean
        tensor(0.2500)
    """

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration1, concentration0, validate_args=None):
        self._set(validate_args, concentration1=concentration1, concentration0=concentration0)

    mean = property(lambda self: self.concentration1 / (self.concentration1 + self.concentration0))
    mode = property(lambda self: self._as_dirichlet().mode[..., 0])

    def _as_dirichlet(self) -> Dirichlet:
        return Dirichlet(stack([self.concentration1, self.concentration0], -1), validate_args=False)

    @formula
    def variance(concentration1, concentration0):
        total = concentration1 + concentration0
        return concentration1 * concentration0 / (total * total * (total + 1))

    def rsample(self, sample_shape=EMPTY):
        return self._as_dirichlet().rsample(sample_shape).select(-1, 0)

    @formula
    def log_prob(value, concentration1, concentration0):
        powers = xlogy(concentration1 - 1, value) + xlogy(concentration0 - 1, 1 - value)
        total = concentration1 + concentration0
        return powers + B.lgamma(total) - B.lgamma(concentration1) - B.lgamma(concentration0)

    @formula
    def entropy(concentration1, concentration0):
        a, b, total = concentration1, concentration0, concentration1 + concentration0
        parts = B.lgamma(a) - (a - 1) * B.digamma(a) + B.lgamma(b) - (b - 1) * B.digamma(b)
        return parts - B.lgamma(total) + (total - 2) * B.digamma(total)

    @property
    def _natural_params(self):
        return self.concentration1, self.concentration0

    def _log_normalizer(self, x, y):
        return x.lgamma() + y.lgamma() - (x + y).lgamma()


class FisherSnedecor(Elementwise):
    """The F distribution: the ratio of two chi squared numbers, each over its degrees of freedom.

    Example:
        >>> from rushlight.distributions import FisherSnedecor
        >>> FisherSnedecor(2.0, 4.0).mean
        tensor(2.)
    """

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1, df2, validate_args=None):
        self._set(validate_args, df1=df1, df2=df2)

    @formula
    def mean(df2):
        finite = B.gt(df2, 2)
        return B.where(finite, df2 / (B.where(finite, df2, 3.0) - 2), math.nan)

    @formula
    def mode(df1, df2):
        return B.where(B.gt(df1, 2), (df1 - 2) / df1 * df2 / (df2 + 2), math.nan)

    @formula
    def variance(df1, df2):
        finite = B.gt(df2, 4)
        d = B.where(finite, df2, 5.0)
        return B.where(finite, 2 * d * d * (df1 + d - 2) / (df1 * (d - 2) * (d - 2) * (d - 4)), math.nan)

    def rsample(self, sample_shape=EMPTY):
        shape = self._extended_shape(sample_shape)
        above, below = (Gamma(df * 0.5, df * 0.5, validate_args=False) for df in (self.df1, self.df2))
        top, bottom = above.rsample(sample_shape), below.rsample(sample_shape)
        return above_zero((top / bottom).reshape(shape))

    @formula
    def log_prob(value, df1, df2):
        a, b, ratio = df1 * 0.5, df2 * 0.5, df1 / df2
        normaliser = B.lgamma(a + b) - B.lgamma(a) - B.lgamma(b)
        return normaliser + a * B.log(ratio) + (a - 1) * B.log(value) - (a + b) * B.log1p(ratio * value)
