"""The table of divergences against PyTorch's, pair by pair."""

import numpy as np
import pytest

import rushlight as rl
from rushlight.distributions import Distribution, ExponentialFamily, Normal, kl, kl_divergence, register_kl

from .families import array, definite, some
from .sides import made_on, same, torch

TABLE = pytest.importorskip("torch.distributions.kl")._KL_REGISTRY
ABSTRACT = ("ExponentialFamily", "TransformedDistribution", "Independent")
PAIRS = sorted((p.__name__, q.__name__) for p, q in TABLE if p.__name__ not in ABSTRACT)
PAIRS += [("LogNormal", "LogNormal"), ("Normal", "Bernoulli"), ("Cauchy", "Normal"), ("Weibull", "Weibull")]
PLACE = {
    name: (lambda: {"loc": some(3), "scale": some(3)})
    for name in ("Cauchy", "Gumbel", "Laplace", "LogNormal", "Normal")
}
CHANCES = {name: (lambda: {"probs": some(3, low=0.1, high=0.9)}) for name in ("ContinuousBernoulli", "Geometric")}
PARAMETERS = {
    **PLACE,
    **CHANCES,
    "Bernoulli": lambda: {"probs": array(0.2, 0, 1)},
    "Beta": lambda: {"concentration1": some(3), "concentration0": some(3)},
    "Binomial": lambda: {"total_count": 3, "probs": some(3, low=0.1, high=0.9)},
    "Categorical": lambda: {"probs": np.array([[0.2, 0.3, 0.5], [0, 0.4, 0.6]])},
    "Dirichlet": lambda: {"concentration": some(3, 4)},
    "Exponential": lambda: {"rate": some(3)},
    "Gamma": lambda: {"concentration": some(3), "rate": some(3)},
    "HalfNormal": lambda: {"scale": some(3)},
    "LowRankMultivariateNormal": lambda: {"loc": some(2, 4), "cov_factor": some(4, 2), "cov_diag": some(4)},
    "MultivariateNormal": lambda: {"loc": some(4), "covariance_matrix": definite(4)},
    "OneHotCategorical": lambda: {"probs": some(2, 3)},
    "Pareto": lambda: {"scale": array(0.5, 1, 1.5), "alpha": array(3, 2.5, 1.5)},
    "Poisson": lambda: {"rate": some(3)},
    "Uniform": lambda: {"low": array(-1, 0.1, 0.6), "high": array(0.5, 0.9, 2)},
    "Weibull": lambda: {"scale": some(3), "concentration": some(3)},
}


@pytest.mark.parametrize("p, q", PAIRS, ids=["-".join(pair) for pair in PAIRS])
def test_pair(p, q):
    first, second = PARAMETERS[p](), PARAMETERS[q]()
    same(lambda side: side.distributions.kl_divergence(made_on(side, p, first), made_on(side, q, second)), 1e-7)


def test_the_table_has_every_pair():
    kl_divergence(Normal(0.0, 1.0), Normal(0.0, 1.0))
    assert {(p.__name__, q.__name__) for p, q in TABLE} <= {(p.__name__, q.__name__) for p, q in kl._REGISTRY}


def test_independent_ones_add_up():
    same(lambda side: independent_kl(side))


def independent_kl(side):
    D = side.distributions
    p, q = (
        D.Independent(made_on(side, "Normal", given), 1) for given in ({"loc": array(0, 1), "scale": array(1, 2)},) * 2
    )
    return D.kl_divergence(p, q)


class Rates(ExponentialFamily):
    """Exponential numbers, with nothing but a normaliser."""

    arg_constraints: dict = {}
    _mean_carrier_measure = 0

    def __init__(self, rate):
        self.rate = rate
        super().__init__(rate.shape)

    @property
    def _natural_params(self):
        return (-self.rate,)

    def _log_normalizer(self, x):
        return -(-x).log()


def test_exponential_families_need_no_formulas():
    p, q = rl.tensor([1.0, 2.0]), rl.tensor([3.0, 0.5])
    exact_p, exact_q = rl.distributions.Exponential(p), rl.distributions.Exponential(q)
    assert bool(kl_divergence(Rates(p), Rates(q)).allclose(kl_divergence(exact_p, exact_q)))
    assert bool(Rates(p).entropy().allclose(exact_p.entropy()))


def test_registered_pairs_and_what_derives_from_them():
    class Mine(Distribution):
        arg_constraints: dict = {}

    class Derived(Mine):
        pass

    with pytest.raises(NotImplementedError, match=r"No KL\(p \|\| q\) is implemented for p type Mine and q type Mine"):
        kl_divergence(Mine(), Mine())
    register_kl(Mine, Mine)(lambda p, q: 1)
    assert kl_divergence(Derived(), Mine()) == 1
    register_kl(Derived, Mine)(lambda p, q: 2)
    register_kl(Mine, Derived)(lambda p, q: 3)
    with pytest.warns(RuntimeWarning, match="Ambiguous"):
        assert kl_divergence(Derived(), Derived()) == 2
    with pytest.raises(TypeError, match="Distribution subclass"):
        register_kl(int, Mine)


def test_gradients_of_a_divergence():
    def ask(side):
        given = {"loc": array(0, 1), "scale": array(1, 2)}
        leaf = side.tensor([0.5, 1.5], dtype=side.float64, requires_grad=True)
        p = side.distributions.Normal(leaf, leaf)
        total = side.distributions.kl_divergence(p, made_on(side, "Normal", given)).sum()
        return side.autograd.grad(total, leaf)[0]

    assert torch is not None
    same(ask)
