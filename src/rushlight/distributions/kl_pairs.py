"""The table of divergences.

Between different families KL(p || q) = -H(p) - E_p[log q(x)]; what log q needs of p is a mean, a variance, the mean of
log x or of exp(-x / s).
"""

from __future__ import annotations

import math

from ..ir import build as B
from ..linalg import solve_triangular
from ..ops import op
from ..ops.activation import softplus
from ..ops.comparison import where
from ..ops.creation import full
from ..ops.joining import broadcast_shapes
from .categories import Categorical, OneHotCategorical
from .continuous import LOG_SQRT_TWO_PI, Cauchy, Laplace, Normal, Uniform
from .counts import Bernoulli, Binomial, ContinuousBernoulli, Geometric, Poisson, log_constant
from .distribution import ExponentialFamily
from .kl import divergence, kl_divergence, register_kl
from .multivariate import (
    LowRankMultivariateNormal,
    MultivariateNormal,
    half_log_determinant,
    low_rank_half_log_determinant,
    low_rank_mahalanobis,
    squared_mahalanobis,
)
from .positive import Beta, Dirichlet, Exponential, Gamma
from .transformed import Gumbel, HalfNormal, Pareto
from .transformed_distribution import Independent, TransformedDistribution
from .utils import euler_constant, sum_rightmost


# -- within one family ------------------------------------------------------------------------------
@divergence(Normal, Normal)
def _(p_loc, p_scale, q_loc, q_scale):
    ratio, distance = p_scale / q_scale, (p_loc - q_loc) / q_scale
    square = ratio * ratio
    return 0.5 * (square + distance * distance - 1 - B.log(square))


@divergence(HalfNormal, HalfNormal)
def _(p_scale, q_scale):
    ratio = p_scale / q_scale
    return 0.5 * (ratio * ratio - 1) - B.log(ratio)


@divergence(Laplace, Laplace)
def _(p_loc, p_scale, q_loc, q_scale):
    distance = B.abs(p_loc - q_loc)
    away = distance + p_scale * B.exp(-distance / p_scale)
    return away / q_scale - B.log(p_scale / q_scale) - 1


@divergence(Cauchy, Cauchy)
def _(p_loc, p_scale, q_loc, q_scale):
    total, distance = p_scale + q_scale, p_loc - q_loc
    return B.log(total * total + distance * distance) - B.log(4 * p_scale * q_scale)


@divergence(Gumbel, Gumbel)
def _(p_loc, p_scale, q_loc, q_scale):
    ratio, shift = p_scale / q_scale, (q_loc - p_loc) / q_scale
    moment = B.exp(shift + B.lgamma(1 + ratio))
    return moment - shift + ratio * euler_constant - B.log(ratio) - (1 + euler_constant)


@divergence(Uniform, Uniform)
def _(p_low, p_high, q_low, q_high):
    outside = B.logical_or(B.gt(q_low, p_low), B.lt(q_high, p_high))
    return B.where(outside, math.inf, B.log((q_high - q_low) / (p_high - p_low)))


@divergence(Exponential, Exponential)
def _(p_rate, q_rate):
    ratio = q_rate / p_rate
    return ratio - 1 - B.log(ratio)


@divergence(Gamma, Gamma)
def _(p_concentration, p_rate, q_concentration, q_rate):
    more = (p_concentration - q_concentration) * B.digamma(p_concentration)
    normalisers = B.lgamma(q_concentration) - B.lgamma(p_concentration)
    rates = q_concentration * B.log(p_rate / q_rate) + (q_rate - p_rate) * (p_concentration / p_rate)
    return more + normalisers + rates


@divergence(Pareto, Pareto)
def _(p_scale, p_alpha, q_scale, q_alpha):
    ratio = q_alpha / p_alpha
    found = q_alpha * B.log(p_scale / q_scale) - B.log(ratio) + ratio - 1
    return B.where(B.lt(p_scale, q_scale), math.inf, found)


def log_beta(a, b):
    return B.lgamma(a) + B.lgamma(b) - B.lgamma(a + b)


@divergence(Beta, Beta)
def _(p_concentration1, p_concentration0, q_concentration1, q_concentration0):
    a, b, c, d = p_concentration1, p_concentration0, q_concentration1, q_concentration0
    means = (a - c) * B.digamma(a) + (b - d) * B.digamma(b) + (c + d - a - b) * B.digamma(a + b)
    return log_beta(c, d) - log_beta(a, b) + means


@divergence(Dirichlet, Dirichlet)
def _(p_concentration, q_concentration):
    total = B.sum(p_concentration, -1, True)
    normalisers = B.lgamma(B.sum(p_concentration, -1)) - B.lgamma(B.sum(q_concentration, -1))
    parts = B.lgamma(q_concentration) - B.lgamma(p_concentration)
    means = (p_concentration - q_concentration) * (B.digamma(p_concentration) - B.digamma(total))
    return normalisers + B.sum(parts + means, -1)


@divergence(Bernoulli, Bernoulli)
def _(p_probs, p_logits, q_probs, q_logits):
    ones = B.where(B.eq(q_probs, 0), math.inf, softplus(-q_logits) - softplus(-p_logits))
    zeros = B.where(B.eq(q_probs, 1), math.inf, softplus(q_logits) - softplus(p_logits))
    # what p never gives does not count
    ones = B.where(B.eq(p_probs, 0), 0.0, p_probs * ones)
    return ones + B.where(B.eq(p_probs, 1), 0.0, (1 - p_probs) * zeros)


@op(public=False)
def between_binomials(p_count, q_count, p_probs, q_probs, p_logits, q_logits):
    kl = p_probs * (p_logits - q_logits) + B.log1p(-p_probs) - B.log1p(-q_probs)
    return B.where(B.gt(p_count, q_count), math.inf, p_count * kl)


@register_kl(Binomial, Binomial)
def _(p, q):
    if bool((p.total_count < q.total_count).any()):
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented: use the same total_count"
        )
    return between_binomials(p.total_count, q.total_count, p.probs, q.probs, p.logits, q.logits)


@divergence(Geometric, Geometric)
def _(p_probs, p_logits, q_probs, q_logits):
    entropy = (softplus(p_logits) - p_probs * p_logits) / p_probs
    return -entropy - B.log1p(-q_probs) / p_probs - q_logits


@divergence(Poisson, Poisson)
def _(p_rate, q_rate):
    ratio = B.where(B.eq(p_rate, 0), 0.0, p_rate * (B.log(p_rate) - B.log(q_rate)))
    return ratio - (p_rate - q_rate)


@divergence(ContinuousBernoulli, ContinuousBernoulli)
def _(p_mean, p_probs, p__low, p__high, p_logits, q_logits, q_probs, q__low, q__high):
    slopes = p_mean * (p_logits - q_logits) + B.log1p(-p_probs) - B.log1p(-q_probs)
    return slopes + log_constant(p_probs, p__low, p__high) - log_constant(q_probs, q__low, q__high)


@divergence(Categorical, Categorical)
def _(p_probs, p_logits, q_probs, q_logits):
    each = B.where(B.eq(q_probs, 0), math.inf, p_probs * (p_logits - q_logits))
    return B.sum(B.where(B.broadcast_to(B.eq(p_probs, 0), each.shape), 0.0, each), -1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _(p, q):
    return kl_divergence(p._categorical, q._categorical)


# -- normal vectors ---------------------------------------------------------------------------------
def joint_batch(p, q):
    if p.event_shape != q.event_shape:
        raise ValueError(f"KL-divergence between two {type(p).__name__} with different event shapes cannot be computed")
    return broadcast_shapes(p.batch_shape, q.batch_shape)


def half_log_det_of(d):
    if isinstance(d, MultivariateNormal):
        return half_log_determinant(d._unbroadcasted_scale_tril)
    return low_rank_half_log_determinant(d._unbroadcasted_cov_diag, d._capacitance_tril)


def squared_distance(d, x):
    """x^T C^-1 x, C the covariance of d."""
    if isinstance(d, MultivariateNormal):
        return squared_mahalanobis(d._unbroadcasted_scale_tril, x)
    return low_rank_mahalanobis(d._unbroadcasted_cov_factor, d._unbroadcasted_cov_diag, x, d._capacitance_tril)


def columns_of(d, batch):
    """A matrix M with M M^T the covariance of d."""
    if isinstance(d, MultivariateNormal):
        factor = d._unbroadcasted_scale_tril
        return factor.expand(batch + factor.shape[-2:])
    return d.scale_tril.expand(batch + d.scale_tril.shape[-2:])


def trace_of_ratio(p, q, batch):
    """The trace of C_q^-1 C_p."""
    columns = columns_of(p, batch)
    if isinstance(q, MultivariateNormal):
        factor = q._unbroadcasted_scale_tril
        return solve_triangular(factor.expand(batch + factor.shape[-2:]), columns, upper=False).square().sum((-2, -1))
    scaled = columns / q._unbroadcasted_cov_diag.unsqueeze(-1)
    inner = q._unbroadcasted_cov_factor.mT @ scaled
    half = solve_triangular(q._capacitance_tril.expand(batch + q._capacitance_tril.shape[-2:]), inner, upper=False)
    return (scaled * columns).sum((-2, -1)) - half.square().sum((-2, -1))


def between_normal_vectors(p, q):
    batch = joint_batch(p, q)
    distance = squared_distance(q, q.loc - p.loc)
    return half_log_det_of(q) - half_log_det_of(p) + 0.5 * (trace_of_ratio(p, q, batch) + distance - p.event_shape[0])


for _p in (MultivariateNormal, LowRankMultivariateNormal):
    for _q in (MultivariateNormal, LowRankMultivariateNormal):
        register_kl(_p, _q)(between_normal_vectors)


# -- what is made of other distributions ------------------------------------------------------------
@register_kl(Independent, Independent)
def _(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("KL between Independent distributions of different numbers of dims is not known")
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _(p, q):
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError("KL between distributions of different transforms is not known")
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(ExponentialFamily, ExponentialFamily)
def _(p, q):
    """The Bregman divergence of the log normaliser, between the natural parameters."""
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot be computed using Bregman "
            "divergences"
        )
    params, normalizer, slopes = p._normalizer_slopes()
    others = q._natural_params
    result = q._log_normalizer(*others) - normalizer
    for own, other, slope in zip(params, others, slopes):
        term = (other - own) * slope
        result = result - sum_rightmost(term, len(q.event_shape))
    return result


# -- between families -------------------------------------------------------------------------------
def never(p, q):
    """p gives values that q does not."""
    shape = broadcast_shapes(p.batch_shape, q.batch_shape)
    like = next(value for name in p.arg_constraints if (value := p.__dict__.get(name)) is not None)
    return full(shape, math.inf, dtype=like.dtype)


POSITIVE, UNIT = (Exponential, Gamma, Pareto), (Beta, ContinuousBernoulli, Uniform)
DISJOINT = {
    Beta: (Pareto,),
    ContinuousBernoulli: (Pareto,),
    Exponential: (*UNIT, Pareto),
    Gamma: (*UNIT, Pareto),
    Gumbel: POSITIVE + UNIT,
    Laplace: POSITIVE + UNIT,
    Normal: POSITIVE + UNIT,
    Pareto: UNIT,
    Poisson: (Bernoulli, Binomial),
}
for _p, _others in DISJOINT.items():
    for _q in _others:
        register_kl(_p, _q)(never)


@op(public=False)
def expected_log(low, high):
    """The mean of log x on [low, high]."""
    return (times_log(high) - times_log(low)) / (high - low) - 1


def times_log(x):
    safe = B.where(B.gt(x, 0), x, 1.0)
    return x * B.log(safe)


MEAN_LOG = {
    Beta: lambda p: p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma(),
    Exponential: lambda p: -p.rate.log() - euler_constant,
    Pareto: lambda p: p.scale.log() + p.alpha.reciprocal(),
    Uniform: lambda p: expected_log(p.low, p.high),
}
MEAN_EXP = {  # of exp(-x / s)
    Exponential: lambda p, s: p.rate * s / (1 + p.rate * s),
    Gamma: lambda p, s: (-p.concentration * (1 / (p.rate * s)).log1p()).exp(),
    Normal: lambda p, s: ((p.scale / s).square() / 2 - p.loc / s).exp(),
    Uniform: lambda p, s: s * ((-p.low / s).exp() - (-p.high / s).exp()) / (p.high - p.low),
}


def against_exponential(p, q):
    return q.rate * p.mean - q.rate.log() - p.entropy()


def against_gamma(p, q):
    powers = q.concentration * q.rate.log() - q.concentration.lgamma() + (q.concentration - 1) * MEAN_LOG[type(p)](p)
    return q.rate * p.mean - powers - p.entropy()


def against_normal(p, q):
    square = ((p.mean - q.loc).square() + p.variance) / (2 * q.scale.square())
    return square + q.scale.log() + LOG_SQRT_TWO_PI - p.entropy()


def against_gumbel(p, q):
    moment = MEAN_EXP[type(p)](p, q.scale) * (q.loc / q.scale).exp()
    return moment + (p.mean - q.loc) / q.scale + q.scale.log() - p.entropy()


def against_continuous_bernoulli(p, q):
    return -p.entropy() - p.mean * q.logits + odds_normaliser(q.logits, q.probs, q._low, q._high)


@op(public=False)
def odds_normaliser(logits, probs, low, high):
    return softplus(logits) - log_constant(probs, low, high)


def within_support(function, inside):
    """A divergence that is infinite unless p's values are q's."""

    def divergence_of(p, q):
        value = function(p, q)
        return where(inside(p, q), value, math.inf)

    return divergence_of


def not_negative(p, q):
    return p.low >= 0


def in_unit(p, q):
    return (p.low >= 0) & (p.high <= 1)


def covers_unit(p, q):
    return (q.low <= 0) & (q.high >= 1)


def uniform_against_beta(p, q):
    a, b = q.concentration1, q.concentration0
    means = (a - 1) * MEAN_LOG[Uniform](p) + (b - 1) * expected_log(1 - p.high, 1 - p.low)
    return a.lgamma() + b.lgamma() - (a + b).lgamma() - means - p.entropy()


def uniform_against_pareto(p, q):
    powers = q.alpha.log() + q.alpha * q.scale.log() - (q.alpha + 1) * MEAN_LOG[Uniform](p)
    return -p.entropy() - powers


def unit_against_uniform(p, q):
    return (q.high - q.low).log() - p.entropy()


FINITE = {
    Exponential: (against_exponential, (Beta, ContinuousBernoulli, Gamma, Pareto)),
    Gamma: (against_gamma, (Beta, Exponential, Pareto)),
    Normal: (against_normal, (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Pareto, Uniform)),
    Gumbel: (against_gumbel, (Exponential, Gamma, Normal, Uniform)),
    ContinuousBernoulli: (against_continuous_bernoulli, (Beta,)),
}
for _q, (_function, _others) in FINITE.items():
    for _p in _others:
        register_kl(_p, _q)(_function)

register_kl(Uniform, Exponential)(within_support(against_exponential, not_negative))
register_kl(Uniform, Gamma)(within_support(against_gamma, not_negative))
register_kl(Uniform, Beta)(within_support(uniform_against_beta, in_unit))
register_kl(Uniform, ContinuousBernoulli)(within_support(against_continuous_bernoulli, in_unit))
register_kl(Uniform, Pareto)(within_support(uniform_against_pareto, lambda p, q: p.low >= q.scale))
for _p in (Beta, ContinuousBernoulli):
    register_kl(_p, Uniform)(within_support(unit_against_uniform, covers_unit))


@divergence(Normal, Laplace)
def _(p_loc, p_scale, q_loc, q_scale):
    z = (p_loc - q_loc) / (p_scale * math.sqrt(2))
    away = p_scale * (math.sqrt(2 / math.pi) * B.exp(-z * z)) + (p_loc - q_loc) * B.erf(z)
    return away / q_scale + B.log(2 * q_scale) - B.log(p_scale) - 0.5 - LOG_SQRT_TWO_PI


@divergence(Bernoulli, Poisson)
def _(p_probs, p_logits, q_rate):
    return q_rate - p_probs * B.log(q_rate) - (softplus(p_logits) - p_probs * p_logits)
