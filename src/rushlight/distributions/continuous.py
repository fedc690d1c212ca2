"""Distributions on the real line: Normal, Laplace, Cauchy, StudentT, Uniform, VonMises, GeneralizedPareto."""

from __future__ import annotations

import math

from ..autograd.modes import no_grad
from ..ir import build as B
from ..ir import dtypes
from ..ir.dtypes import finfo
from ..ops.bessel import i0e, i1e
from ..ops.comparison import where
from ..ops.creation import full_like
from ..ops.filling import cauchy_, uniform_
from ..ops.random import rand
from . import constraints
from .distribution import EMPTY, Elementwise, ExponentialFamily
from .formula import formula
from .sampling import _standard_gamma
from .utils import standard_normal

LOG_SQRT_TWO_PI = 0.5 * math.log(2 * math.pi)


def uniform_in(low: float, high: float, shape, like):
    """Uniform numbers in [low, high) of the dtype of a parameter."""
    with no_grad():
        return uniform_(like.new_empty(shape), low, high)


class Normal(Elementwise, ExponentialFamily):
    """The normal distribution: exp(-(x - loc)^2 / (2 scale^2)) / (scale sqrt(2 pi)).

    Args:
        loc: the mean
        scale: the standard deviation

    Example:
        >>> from rushlight.distributions import Normal
        >>> Normal(rushlight.tensor([0.0]), rushlight.tensor([1.0])).log_prob(rushlight.tensor([1.0]))
        tensor([-1.4189])
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, loc, scale, validate_args=None):
        self._set(validate_args, loc=loc, scale=scale)

    mean = mode = property(lambda self: self.loc)
    stddev = property(lambda self: self.scale)
    variance = property(lambda self: self.scale.pow(2))

    def rsample(self, sample_shape=EMPTY):
        noise = standard_normal(self._extended_shape(sample_shape), self.loc.dtype, self.loc.device)
        return noise * self.scale + self.loc

    @formula
    def log_prob(value, loc, scale):
        z = (value - loc) / scale
        return -0.5 * (z * z) - B.log(scale) - LOG_SQRT_TWO_PI

    @formula
    def cdf(value, loc, scale):
        return 0.5 * (1 + B.erf((value - loc) / (scale * math.sqrt(2))))

    @formula
    def icdf(value, loc, scale):
        return loc + scale * B.erfinv(2 * value - 1) * math.sqrt(2)

    @formula
    def entropy(scale):
        return 0.5 + LOG_SQRT_TWO_PI + B.log(scale)

    @property
    def _natural_params(self):
        return self.loc / self.scale.pow(2), -0.5 * self.scale.pow(2).reciprocal()

    def _log_normalizer(self, x, y):
        return -0.25 * x.pow(2) / y + 0.5 * (-math.pi / y).log()


class Laplace(Elementwise):
    """The Laplace distribution: exp(-|x - loc| / scale) / (2 scale).

    Example:
        >>> from rushlight.distributions import Laplace
        >>> Laplace(0.0, 1.0).entropy()
        tensor(1.6931)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        self._set(validate_args, loc=loc, scale=scale)

    mean = mode = property(lambda self: self.loc)
    stddev = property(lambda self: self.scale * math.sqrt(2))
    variance = property(lambda self: self.scale.pow(2) * 2)

    def rsample(self, sample_shape=EMPTY):
        eps = finfo(self.loc.dtype).eps
        u = uniform_in(eps - 1, 1, self._extended_shape(sample_shape), self.loc)
        return self.loc - self.scale * u.sign() * (-u.abs()).log1p()

    @formula
    def log_prob(value, loc, scale):
        return -B.log(2 * scale) - B.abs(value - loc) / scale

    @formula
    def cdf(value, loc, scale):
        x = value - loc
        return 0.5 - 0.5 * B.sign(x) * B.expm1(-B.abs(x) / scale)

    @formula
    def icdf(value, loc, scale):
        x = value - 0.5
        return loc - scale * B.sign(x) * B.log1p(-2 * B.abs(x))

    @formula
    def entropy(scale):
        return 1 + B.log(2 * scale)


class Cauchy(Elementwise):
    """The Cauchy distribution: 1 / (pi scale (1 + ((x - loc) / scale)^2)); it has no mean.

    Example:
        >>> from rushlight.distributions import Cauchy
        >>> Cauchy(0.0, 1.0).cdf(rushlight.tensor(1.0))
        tensor(0.7500)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        self._set(validate_args, loc=loc, scale=scale)

    mode = property(lambda self: self.loc)
    mean = property(lambda self: full_like(self.loc, math.nan))
    variance = property(lambda self: full_like(self.loc, math.inf))

    def rsample(self, sample_shape=EMPTY):
        with no_grad():
            noise = cauchy_(self.loc.new_empty(self._extended_shape(sample_shape)))
        return self.loc + noise * self.scale

    @formula
    def log_prob(value, loc, scale):
        z = (value - loc) / scale
        return -math.log(math.pi) - B.log(scale) - B.log1p(z * z)

    @formula
    def cdf(value, loc, scale):
        return B.atan((value - loc) / scale) / math.pi + 0.5

    @formula
    def icdf(value, loc, scale):
        return B.tan(math.pi * (value - 0.5)) * scale + loc

    @formula
    def entropy(scale):
        return math.log(4 * math.pi) + B.log(scale)


class StudentT(Elementwise):
    """Student's t distribution with `df` degrees of freedom, moved by `loc` and stretched by `scale`.

    Example:
        >>> from rushlight.distributions import StudentT
        >>> StudentT(3.0).variance
        tensor(3.)
    """

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        self._set(validate_args, df=df, loc=loc, scale=scale)

    mode = property(lambda self: self.loc)

    @formula
    def mean(loc, df):
        return B.where(B.le(df, 1), math.nan, loc)

    @formula
    def variance(scale, df):
        heavy = B.le(df, 2)
        finite = scale * scale * df / (B.where(heavy, 3.0, df) - 2)
        return B.where(B.le(df, 1), math.nan, B.where(heavy, math.inf, finite))

    def rsample(self, sample_shape=EMPTY):
        shape = self._extended_shape(sample_shape)
        noise = standard_normal(shape, self.df.dtype, self.df.device)
        # chi squared, over its degrees of freedom
        spread = _standard_gamma((self.df * 0.5).expand(shape)) / 0.5
        return self.loc + self.scale * (noise * (spread / self.df).rsqrt())

    @formula
    def log_prob(value, df, loc, scale):
        z = (value - loc) / scale
        normaliser = B.log(scale) + 0.5 * B.log(df * math.pi) + B.lgamma(0.5 * df) - B.lgamma(0.5 * (df + 1))
        return -0.5 * (df + 1) * B.log1p(z * z / df) - normaliser

    @formula
    def entropy(df, scale):
        half, more = 0.5 * df, 0.5 * (df + 1)
        log_beta = B.lgamma(half) + 0.5 * math.log(math.pi) - B.lgamma(more)
        return B.log(scale) + more * (B.digamma(more) - B.digamma(half)) + 0.5 * B.log(df) + log_beta


class Uniform(Elementwise):
    """The uniform distribution on [low, high).

    Example:
        >>> from rushlight.distributions import Uniform
        >>> Uniform(0.0, 5.0).log_prob(rushlight.tensor([1.0, 5.0]))
        tensor([-1.6094,    -inf])
    """

    has_rsample = True

    @property
    def arg_constraints(self):
        return {"low": constraints.less_than(self.high), "high": constraints.greater_than(self.low)}

    def __init__(self, low, high, validate_args=None):
        self._set(validate_args, low=low, high=high)

    def _expanded(self, new, batch_shape):
        new.low, new.high = self.low.expand(batch_shape), self.high.expand(batch_shape)
        return self._adopted(new, batch_shape)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        return constraints.interval(self.low, self.high)

    mean = property(lambda self: (self.high + self.low) / 2)
    mode = property(lambda self: self.high * math.nan)
    stddev = property(lambda self: (self.high - self.low) / math.sqrt(12))
    variance = property(lambda self: (self.high - self.low).pow(2) / 12)

    def rsample(self, sample_shape=EMPTY):
        u = rand(self._extended_shape(sample_shape), dtype=self.low.dtype, device=self.low.device)
        return self.low + u * (self.high - self.low)

    @formula
    def log_prob(value, low, high):
        inside = B.logical_and(B.le(low, value), B.lt(value, high))
        return B.where(inside, -B.log(high - low), -math.inf)

    @formula
    def cdf(value, low, high):
        return B.clamp((value - low) / (high - low), 0, 1)

    @formula
    def icdf(value, low, high):
        return value * (high - low) + low

    @formula
    def entropy(low, high):
        return B.log(high - low)


class VonMises(Elementwise):
    """The von Mises distribution of an angle: exp(concentration cos(x - loc)) / (2 pi I0(concentration)).

    Draws, in [-pi, pi), are made by rejection in float64 (Best and Fisher, "Efficient simulation of the von Mises
    distribution", Applied Statistics 28, 1979); they have no gradient.

    Example:
        >>> from rushlight.distributions import VonMises
        >>> VonMises(rushlight.tensor(0.0), rushlight.tensor(1.0)).variance
        tensor(0.5536)
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False

    def __init__(self, loc, concentration, validate_args=None):
        self._set(validate_args, loc=loc, concentration=concentration)

    mean = mode = property(lambda self: self.loc)

    @formula
    def variance(concentration):
        return 1 - i1e(concentration) / i0e(concentration)

    @formula
    def log_prob(value, loc, concentration):
        bessel = B.log(i0e(concentration)) + concentration
        return concentration * B.cos(value - loc) - math.log(2 * math.pi) - bessel

    def sample(self, sample_shape=EMPTY):
        shape = self._extended_shape(sample_shape)
        with no_grad():
            loc, k = self.loc.to(dtypes.float64), self.concentration.to(dtypes.float64)
            angles = wrapped_cauchy_rejection(k.expand(shape), proposal_ratio(k).expand(shape))
            return ((angles + math.pi + loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)


def proposal_ratio(concentration):
    """The parameter of the wrapped Cauchy distribution that proposals come from; 1 / k where that is too small."""
    tau = 1 + (1 + 4 * concentration.square()).sqrt()
    rho = (tau - (2 * tau).sqrt()) / (2 * concentration)
    exact = (1 + rho.square()) / (2 * rho)
    return where(concentration < 1e-5, 1 / concentration + concentration, exact)


def wrapped_cauchy_rejection(concentration, ratio):
    """Angles about 0: proposals for all that are missing, until none is."""
    angles, done = concentration * 0, concentration < 0
    while not bool(done.all()):
        u, v, w = rand((3, *concentration.shape), dtype=concentration.dtype).unbind()
        z = (math.pi * u).cos()
        cosine = (1 + ratio * z) / (ratio + z)
        c = concentration * (ratio - cosine)
        accept = (c * (2 - c) - v > 0) | ((c / v).log() + 1 - c >= 0)
        angles = where(accept, (w - 0.5).sign() * cosine.clamp(-1, 1).acos(), angles)
        done = done | accept
    return angles


class GeneralizedPareto(Elementwise):
    """The generalised Pareto distribution: (1 + k z)^(-1 - 1 / k) / scale, z = (x - loc) / scale, k `concentration`.

    Example:
        >>> from rushlight.distributions import GeneralizedPareto
        >>> GeneralizedPareto(0.0, 1.0, 0.25).mean
        tensor(1.3333)
    """

    arg_constraints = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True

    def __init__(self, loc, scale, concentration, validate_args=None):
        self._set(validate_args, loc=loc, scale=scale, concentration=concentration)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        bounded = self.concentration < 0
        safe = where(bounded, self.concentration, -1.0)
        return constraints.interval(self.loc, where(bounded, self.loc - self.scale / safe, math.inf))

    mode = property(lambda self: self.loc)

    @formula
    def mean(loc, scale, concentration):
        finite = B.lt(concentration, 1)
        return B.where(finite, loc + scale / (1 - B.where(finite, concentration, 0.0)), math.inf)

    @formula
    def variance(scale, concentration):
        finite = B.lt(concentration, 0.5)
        k = B.where(finite, concentration, 0.0)
        return B.where(finite, scale * scale / ((1 - k) * (1 - k) * (1 - 2 * k)), math.nan)

    def rsample(self, sample_shape=EMPTY):
        u = rand(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device)
        return GeneralizedPareto.icdf.compute(u, self.loc, self.scale, self.concentration)

    @formula
    def log_prob(value, loc, scale, concentration):
        z = (value - loc) / scale
        straight, k = near_zero(concentration)
        return -B.log(scale) - B.where(straight, z, (1 + 1 / k) * B.log1p(k * z))

    @formula
    def cdf(value, loc, scale, concentration):
        z = (value - loc) / scale
        straight, k = near_zero(concentration)
        return -B.expm1(-B.where(straight, z, B.log1p(k * z) / k))

    @formula
    def icdf(value, loc, scale, concentration):
        left = B.log1p(-value)
        straight, k = near_zero(concentration)
        return loc + scale * B.where(straight, -left, B.expm1(-k * left) / k)

    @formula
    def entropy(scale, concentration):
        return B.log(scale) + concentration + 1


def near_zero(concentration):
    """Where the tail is exponential, and concentrations to divide by."""
    straight = B.lt(B.abs(concentration), 1e-7 if concentration.dtype.itemsize < 8 else 1e-15)
    return straight, B.where(straight, 1.0, concentration)
