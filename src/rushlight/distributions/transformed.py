"""Families that are transforms of others: draws come through the transforms, densities have formulas of their own."""

from __future__ import annotations

import math

from ..ir import build as B
from ..ir.dtypes import finfo
from ..ops.creation import full_like, ones_like, zeros_like
from . import constraints
from .continuous import LOG_SQRT_TWO_PI, Cauchy, Normal, Uniform
from .elementary_transforms import AbsTransform, AffineTransform, ExpTransform, PowerTransform
from .formula import formula
from .positive import Exponential, Gamma
from .structured_transforms import StickBreakingTransform
from .transformed_distribution import TransformedDistribution
from .utils import broadcast_all, euler_constant


class LogNormal(TransformedDistribution):
    """The distribution of exp(x), x normal.

    Example:
        >>> from rushlight.distributions import LogNormal
        >>> LogNormal(0.0, 1.0).mean
        tensor(1.6487)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        super().__init__(Normal(loc, scale, validate_args=validate_args), ExpTransform(), validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expand_as(LogNormal, batch_shape, _instance)

    loc = property(lambda self: self.base_dist.loc)
    scale = property(lambda self: self.base_dist.scale)

    @formula
    def mean(loc, scale):
        return B.exp(loc + scale * scale / 2)

    @formula
    def mode(loc, scale):
        return B.exp(loc - scale * scale)

    @formula
    def variance(loc, scale):
        square = scale * scale
        return B.expm1(square) * B.exp(2 * loc + square)

    @formula
    def log_prob(value, loc, scale):
        log = B.log(value)
        z = (log - loc) / scale
        return -0.5 * (z * z) - B.log(scale) - LOG_SQRT_TWO_PI - log

    @formula
    def entropy(loc, scale):
        return 0.5 + LOG_SQRT_TWO_PI + B.log(scale) + loc


class LogisticNormal(TransformedDistribution):
    """The distribution of points of the simplex that stick breaking makes of a normal vector.

    Example:
        >>> from rushlight.distributions import LogisticNormal
        >>> LogisticNormal(rushlight.zeros(3), rushlight.ones(3)).sample().shape
        rushlight.Size([4])
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        base = Normal(loc, scale, validate_args=validate_args)
        base = base if base.batch_shape else base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expand_as(LogisticNormal, batch_shape, _instance)

    loc = property(lambda self: self.base_dist.base_dist.loc)
    scale = property(lambda self: self.base_dist.base_dist.scale)


class Gumbel(TransformedDistribution):
    """The Gumbel distribution: the function exp(-exp(-(x - loc) / scale)).

    Example:
        >>> from rushlight.distributions import Gumbel
        >>> Gumbel(1.0, 2.0).mean
        tensor(2.1544)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        limits = finfo(self.loc.dtype)
        base = Uniform(full_like(self.loc, limits.tiny), full_like(self.loc, 1 - limits.eps), validate_args)
        twice = ExpTransform().inv, AffineTransform(0, -ones_like(self.scale)), ExpTransform().inv
        super().__init__(base, [*twice, AffineTransform(self.loc, -self.scale)], validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Gumbel, _instance)
        new.loc, new.scale = self.loc.expand(batch_shape), self.scale.expand(batch_shape)
        return TransformedDistribution.expand(self, batch_shape, new)

    mode = property(lambda self: self.loc)
    mean = property(lambda self: self.loc + self.scale * euler_constant)
    stddev = property(lambda self: (math.pi / math.sqrt(6)) * self.scale)
    variance = property(lambda self: self.stddev.pow(2))

    @formula
    def log_prob(value, loc, scale):
        z = (loc - value) / scale
        return z - B.exp(z) - B.log(scale)

    @formula
    def entropy(scale):
        return B.log(scale) + (1 + euler_constant)


class HalfNormal(TransformedDistribution):
    """The distribution of |x|, x normal of mean 0.

    Example:
        >>> from rushlight.distributions import HalfNormal
        >>> HalfNormal(1.0).mean
        tensor(0.7979)
    """

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, scale, validate_args=None):
        super().__init__(Normal(0, scale, validate_args=False), AbsTransform(), validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expand_as(HalfNormal, batch_shape, _instance)

    scale = property(lambda self: self.base_dist.scale)
    mean = property(lambda self: self.scale * math.sqrt(2 / math.pi))
    mode = property(lambda self: zeros_like(self.scale))
    variance = property(lambda self: self.scale.pow(2) * (1 - 2 / math.pi))

    @formula
    def log_prob(value, scale):
        z = value / scale
        density = math.log(2) - 0.5 * (z * z) - B.log(scale) - LOG_SQRT_TWO_PI
        return B.where(B.ge(value, 0), density, -math.inf)

    @formula
    def cdf(value, scale):
        return B.erf(value / (scale * math.sqrt(2)))

    @formula
    def icdf(value, scale):
        return scale * B.erfinv(value) * math.sqrt(2)

    @formula
    def entropy(scale):
        return 0.5 + LOG_SQRT_TWO_PI - math.log(2) + B.log(scale)


class HalfCauchy(TransformedDistribution):
    """The distribution of |x|, x from a Cauchy distribution about 0.

    Example:
        >>> from rushlight.distributions import HalfCauchy
        >>> HalfCauchy(1.0).cdf(rushlight.tensor(1.0))
        tensor(0.5000)
    """

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, scale, validate_args=None):
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expand_as(HalfCauchy, batch_shape, _instance)

    scale = property(lambda self: self.base_dist.scale)
    mode = property(lambda self: zeros_like(self.scale))
    mean = variance = property(lambda self: full_like(self.scale, math.inf))

    @formula
    def log_prob(value, scale):
        z = value / scale
        density = math.log(2 / math.pi) - B.log(scale) - B.log1p(z * z)
        return B.where(B.ge(value, 0), density, -math.inf)

    @formula
    def cdf(value, scale):
        return B.atan(value / scale) * (2 / math.pi)

    @formula
    def icdf(value, scale):
        return B.tan((math.pi / 2) * value) * scale

    @formula
    def entropy(scale):
        return math.log(2 * math.pi) + B.log(scale)


class Pareto(TransformedDistribution):
    """The Pareto distribution: alpha scale^alpha / x^(alpha + 1) from scale on.

    Example:
        >>> from rushlight.distributions import Pareto
        >>> Pareto(1.0, 3.0).mean
        tensor(1.5000)
    """

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale, alpha, validate_args=None):
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        super().__init__(base, [ExpTransform(), AffineTransform(0, self.scale)], validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Pareto, _instance)
        new.scale, new.alpha = self.scale.expand(batch_shape), self.alpha.expand(batch_shape)
        return TransformedDistribution.expand(self, batch_shape, new)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        return constraints.greater_than_eq(self.scale)

    mode = property(lambda self: self.scale)

    @formula
    def mean(scale, alpha):
        a = B.clamp(alpha, 1)
        return a * scale / (a - 1)

    @formula
    def variance(scale, alpha):
        a = B.clamp(alpha, 2)
        return scale * scale * a / ((a - 1) * (a - 1) * (a - 2))

    @formula
    def log_prob(value, scale, alpha):
        return B.log(alpha) + alpha * B.log(scale) - (alpha + 1) * B.log(value)

    @formula
    def entropy(scale, alpha):
        return B.log(scale / alpha) + 1 + 1 / alpha


class Weibull(TransformedDistribution):
    """The Weibull distribution: the function 1 - exp(-(x / scale)^k), k the concentration.

    Example:
        >>> from rushlight.distributions import Weibull
        >>> Weibull(1.0, 2.0).mean
        tensor(0.8862)
    """

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale, concentration, validate_args=None):
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(ones_like(self.scale), validate_args=validate_args)
        powers = [PowerTransform(self.concentration_reciprocal), AffineTransform(0, self.scale)]
        super().__init__(base, powers, validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Weibull, _instance)
        for name in ("scale", "concentration", "concentration_reciprocal"):
            setattr(new, name, getattr(self, name).expand(batch_shape))
        new = TransformedDistribution.expand(self, batch_shape, new)
        new.transforms = [PowerTransform(new.concentration_reciprocal), AffineTransform(0, new.scale)]
        return new

    @formula
    def mean(scale, concentration):
        return scale * B.exp(B.lgamma(1 + 1 / concentration))

    @formula
    def mode(scale, concentration):
        return scale * B.pow((concentration - 1) / concentration, 1 / concentration)

    @formula
    def variance(scale, concentration):
        first = B.lgamma(1 + 1 / concentration)
        return scale * scale * (B.exp(B.lgamma(1 + 2 / concentration)) - B.exp(2 * first))

    @formula
    def log_prob(value, scale, concentration):
        log = B.log(value / scale)
        return B.log(concentration / scale) + (concentration - 1) * log - B.exp(concentration * log)

    @formula
    def cdf(value, scale, concentration):
        return -B.expm1(-B.pow(value / scale, concentration))

    @formula
    def icdf(value, scale, concentration):
        return scale * B.pow(-B.log1p(-value), 1 / concentration)

    @formula
    def entropy(scale, concentration):
        return euler_constant * (1 - 1 / concentration) + B.log(scale / concentration) + 1


class Kumaraswamy(TransformedDistribution):
    """Kumaraswamy's distribution: the function 1 - (1 - x^a)^b, a `concentration1`, b `concentration0`.

    Example:
        >>> from rushlight.distributions import Kumaraswamy
        >>> Kumaraswamy(1.0, 1.0).mean
        tensor(0.5000)
    """

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1, concentration0, validate_args=None):
        self.concentration1, self.concentration0 = a, b = broadcast_all(concentration1, concentration0)
        base = Uniform(full_like(b, 0), full_like(b, 1), validate_args=validate_args)
        flipped = AffineTransform(1, -1)
        powers = [PowerTransform(b.reciprocal()), flipped, PowerTransform(a.reciprocal())]
        super().__init__(base, powers, validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Kumaraswamy, _instance)
        new.concentration1 = self.concentration1.expand(batch_shape)
        new.concentration0 = self.concentration0.expand(batch_shape)
        return TransformedDistribution.expand(self, batch_shape, new)

    @formula
    def mean(concentration1, concentration0):
        return moment(1, concentration1, concentration0)

    @formula
    def mode(concentration1, concentration0):
        a, b = concentration1, concentration0
        value = B.exp((B.log1p(-1 * (1 / a)) - B.log1p(-1 / (a * b)) - B.log(b)) / a)
        return B.where(B.logical_or(B.lt(a, 1), B.lt(b, 1)), math.nan, value)

    @formula
    def variance(concentration1, concentration0):
        first = moment(1, concentration1, concentration0)
        return moment(2, concentration1, concentration0) - first * first

    @formula
    def log_prob(value, concentration1, concentration0):
        a, b = concentration1, concentration0
        log = B.log(value)
        return B.log(a) + B.log(b) + (a - 1) * log + (b - 1) * B.log1p(-B.exp(a * log))

    @formula
    def entropy(concentration1, concentration0):
        a, b = concentration1, concentration0
        harmonic = B.digamma(b + 1) + euler_constant
        return (1 - 1 / b) + (1 - 1 / a) * harmonic - B.log(a) - B.log(b)


def moment(n: int, a, b):
    """E[x^n] = b B(1 + n / a, b) of Kumaraswamy's distribution."""
    c = 1 + n / a
    return B.exp(B.log(b) + B.lgamma(c) + B.lgamma(b) - B.lgamma(c + b))


class InverseGamma(TransformedDistribution):
    """The distribution of 1 / x, x from a gamma distribution.

    Example:
        >>> from rushlight.distributions import InverseGamma
        >>> InverseGamma(3.0, 4.0).mean
        tensor(2.)
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, concentration, rate, validate_args=None):
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(-base.rate.new_ones(())), validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expand_as(InverseGamma, batch_shape, _instance)

    concentration = property(lambda self: self.base_dist.concentration)
    rate = property(lambda self: self.base_dist.rate)
    mode = property(lambda self: self.rate / (self.concentration + 1))

    @formula
    def mean(concentration, rate):
        finite = B.gt(concentration, 1)
        return B.where(finite, rate / (B.where(finite, concentration, 2.0) - 1), math.inf)

    @formula
    def variance(concentration, rate):
        finite = B.gt(concentration, 2)
        c = B.where(finite, concentration, 3.0)
        return B.where(finite, rate * rate / ((c - 1) * (c - 1) * (c - 2)), math.inf)

    @formula
    def log_prob(value, concentration, rate):
        powers = concentration * B.log(rate) - (concentration + 1) * B.log(value)
        return powers - rate / value - B.lgamma(concentration)

    @formula
    def entropy(concentration, rate):
        rest = B.lgamma(concentration) - (1 + concentration) * B.digamma(concentration)
        return concentration + B.log(rate) + rest
