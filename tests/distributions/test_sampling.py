"""Draws: moments, implicit gradients against finite differences of moments and of quantiles."""

import numpy as np
import pytest

import rushlight as rl
from rushlight import distributions as D

COUNT = 40000


def vector(*numbers):
    return rl.tensor(numbers, dtype=rl.float64)


MOMENTS = [
    D.Normal(vector(1.0), vector(2.0)),
    D.Laplace(vector(1.0), vector(2.0)),
    D.StudentT(vector(9.0), vector(1.0), vector(2.0)),
    D.Uniform(vector(-1.0), vector(2.0)),
    D.Exponential(vector(2.0)),
    D.Gamma(vector(0.4, 3.0), vector(2.0, 2.0)),
    D.Chi2(vector(3.0)),
    D.Beta(vector(0.5, 3.0), vector(2.0, 1.0)),
    D.Dirichlet(vector(0.5, 1.0, 3.0)),
    D.FisherSnedecor(vector(4.0), vector(20.0)),
    D.LogNormal(vector(0.2), vector(0.5)),
    D.Gumbel(vector(1.0), vector(2.0)),
    D.HalfNormal(vector(2.0)),
    D.Pareto(vector(1.0), vector(7.0)),
    D.Weibull(vector(2.0), vector(1.5)),
    D.Kumaraswamy(vector(2.0), vector(3.0)),
    D.InverseGamma(vector(8.0), vector(2.0)),
    D.GeneralizedPareto(vector(1.0), vector(2.0), vector(-0.3)),
    D.Bernoulli(vector(0.3)),
    D.Geometric(vector(0.3)),
    D.Binomial(vector(10.0, 100.0), vector(0.3, 0.4)),
    D.NegativeBinomial(vector(4.0), vector(0.3)),
    D.Poisson(vector(0.7, 30.0)),
    D.ContinuousBernoulli(vector(0.2, 0.5)),
    D.OneHotCategorical(vector(0.2, 0.3, 0.5)),
    D.Multinomial(5, vector(0.2, 0.3, 0.5)),
    D.MultivariateNormal(vector(1.0, 2.0), rl.tensor([[2.0, 0.5], [0.5, 1.0]], dtype=rl.float64)),
    D.LowRankMultivariateNormal(vector(1.0, 2.0), vector(1.0, 0.5).unsqueeze(-1), vector(1.0, 2.0)),
    D.Wishart(rl.tensor(6.0, dtype=rl.float64), rl.tensor([[2.0, 0.5], [0.5, 1.0]], dtype=rl.float64)),
]


@pytest.mark.parametrize("d", MOMENTS, ids=lambda d: type(d).__name__)
def test_moments_of_draws(d):
    """Mean and variance, to within six standard errors (as the draws themselves show them)."""
    drawn = d.sample((COUNT,))
    error = (d.variance / COUNT).sqrt()
    assert bool(((drawn.mean(0) - d.mean).abs() <= 6 * error + 1e-12).all())
    squares = (drawn - d.mean).square()
    assert bool(((squares.mean(0) - d.variance).abs() <= 6 * squares.std(0) / COUNT**0.5 + 1e-12).all())
    assert bool(d.support.check(drawn).all())


def test_angles_gather_about_the_mean():
    d = D.VonMises(vector(3.0), vector(4.0))
    drawn = d.sample((COUNT,))
    assert drawn.min() >= -np.pi and drawn.max() < np.pi
    # the mean of the cosine of the distance is I1 / I0
    assert abs((drawn - 3).cos().mean().item() - (1 - d.variance.item())) < 0.01


def test_correlations_of_lkj_draws():
    """With concentration c in n dims a correlation r has (r + 1) / 2 ~ Beta(a, a), a = c + (n - 2) / 2."""
    factor = D.LKJCholesky(3, rl.tensor(2.0)).sample((COUNT,))
    correlation = (factor @ factor.mT)[:, 2, 0]
    expected = D.Beta(2.5, 2.5).variance.item() * 4
    assert abs(correlation.mean().item()) < 0.02 and abs(correlation.var().item() / expected - 1) < 0.05


def expected_square(make, parameter: float, step: float = 0.0):
    d = make(vector(parameter + step))
    return (d.variance + d.mean.square()).sum().item()


REPARAMETRISED = {
    "gamma": (lambda a: D.Gamma(a, vector(2.0)), 1.7),
    "gamma below 1": (lambda a: D.Gamma(a, vector(2.0)), 0.3),
    "beta, first": (lambda a: D.Beta(a, vector(2.0)), 1.3),
    "beta, second": (lambda a: D.Beta(vector(0.6), a), 1.3),
    "dirichlet": (lambda a: D.Dirichlet(rl.stack([a, a * 2, a * 0 + 1.5], -1)), 0.8),
    "chi2": (lambda a: D.Chi2(a), 2.5),
    "student": (lambda a: D.StudentT(a, vector(1.0), vector(2.0)), 12.0),
    "fisher": (lambda a: D.FisherSnedecor(vector(4.0), a), 30.0),
    "inverse gamma": (lambda a: D.InverseGamma(a, vector(2.0)), 9.0),
}


@pytest.mark.parametrize("name", REPARAMETRISED)
def test_gradients_of_draws_are_those_of_moments(name):
    """The mean gradient of x^2 is the derivative of E[x^2]."""
    make, number = REPARAMETRISED[name]
    leaf = vector(number).requires_grad_()
    drawn = make(leaf).rsample((COUNT,))
    slope = rl.autograd.grad(drawn.square().sum() / COUNT, leaf)[0].item()
    expected = (expected_square(make, number, 1e-5) - expected_square(make, number, -1e-5)) / 2e-5
    assert abs(slope / expected - 1) < 0.1


@pytest.mark.parametrize("a, x", [(0.05, 0.01), (0.7, 0.3), (2.0, 9.0), (80.0, 60.0), (9000.0, 9100.0), (2e4, 1.99e4)])
def test_gamma_slopes_keep_the_distribution_function(a, x):
    """Along the slope P(a, x) stays what it is."""
    slope = rl._standard_gamma_grad(vector(a), vector(x)).item()
    step = 1e-4 * a
    ends = [rl.igamma(vector(a + s), vector(x + s * slope)).item() for s in (-step, step)]
    moved = [rl.igamma(vector(a + s), vector(x)).item() for s in (-step, step)]
    assert abs(ends[1] - ends[0]) < 1e-5 * abs(moved[1] - moved[0])


def test_beta_slopes_of_a_power():
    """Beta(a, 1) has x = u^(1 / a), so dx/da = -x log(x) / a."""
    a, x = vector(0.3, 2.0, 40.0, 300.0), vector(0.01, 0.7, 0.93, 0.9999)
    found = rl._dirichlet_grad(x, a, a + 1) * (1 - x)
    assert bool(found.allclose(-x * x.log() / a, rtol=1e-9))


def test_slopes_at_the_ends():
    zero = rl._standard_gamma_grad(vector(2.0, -1.0, float("nan")), vector(0.0, 1.0, 1.0))
    assert zero[0] == 0 and bool(zero[1:].isnan().all())
    ends = rl._dirichlet_grad(vector(0.0, 1.0), vector(2.0, 2.0), vector(5.0, 5.0))
    assert ends[0] == 0 and bool(ends.isfinite().all())


def test_half_types_and_strides():
    assert bool((rl._standard_gamma(rl.full((4,), 2.0, dtype=rl.bfloat16)) > 0).all())
    shapes = rl.rand(3, 4).T + 0.5
    rl.manual_seed(5)
    first = rl._standard_gamma(shapes)
    rl.manual_seed(5)
    assert bool((first == rl._standard_gamma(shapes.contiguous())).all())
    with pytest.raises(NotImplementedError, match="gamma"):
        rl._standard_gamma(rl.ones(3, dtype=rl.int64))


def test_two_by_two_lkj_draws_follow_pytorchs_stream():
    from .sides import same, tensor_on

    def ask(side):
        d = side.distributions.LKJCholesky(2, tensor_on(side, np.array([0.5, 2.0])))
        side.manual_seed(3)
        return d.sample((4,))

    same(ask, 1e-12)
