"""Every family against PyTorch: moments, densities, entropies, functions, draws, gradients, expansion."""

import numpy as np
import pytest

from .families import CASES, DIFFERENT, IDS, TOLERANCE
from .sides import SIDES, made_on, ours, same, tensor_on, torch

EVERY = pytest.mark.parametrize("name, parameters", CASES, ids=IDS)
ATTRIBUTES = ("batch_shape", "event_shape", "has_rsample", "has_enumerate_support", "support")
MOMENTS = ("mean", "mode", "variance", "stddev")


class Case:
    """A distribution on both sides, and values that PyTorch drew."""

    def __init__(self, name, parameters, dtype="float64"):
        self.name, self.dtype = name, dtype
        self.made = {side: made_on(side, name, parameters, dtype) for side in SIDES}
        torch.manual_seed(1)
        drawn = self.made[torch].sample((5,))
        self.values = dict(zip(SIDES, (drawn, ours(drawn))))
        self.tolerance = TOLERANCE.get(name, 1e-9) if dtype == "float64" else 3e-5

    def same(self, what, ask, tolerance=None):
        if (self.name, what) not in DIFFERENT:
            same(lambda side: ask(self.made[side], self.values[side]), tolerance or self.tolerance)


@EVERY
def test_attributes_moments_and_entropy(name, parameters):
    case = Case(name, parameters)
    for attribute in (*ATTRIBUTES, *MOMENTS):
        case.same(attribute, lambda d, x, attribute=attribute: getattr(d, attribute))
    case.same("repr", lambda d, x: repr(d))
    case.same("entropy", lambda d, x: d.entropy())
    case.same("perplexity", lambda d, x: d.perplexity(), case.tolerance * 10)
    for expand in (True, False):
        case.same("values", lambda d, x, expand=expand: d.enumerate_support(expand))


@EVERY
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_densities_and_functions(name, parameters, dtype):
    case = Case(name, parameters, dtype)
    case.same("log_prob", lambda d, x: d.log_prob(x))
    if dtype == "float32":
        return
    case.same("log_prob of one", lambda d, x: d.log_prob(x[0]))
    case.same("cdf", lambda d, x: d.cdf(x))
    places = np.array([[0.1, 0.5, 0.9], [0.3, 0.7, 0.01]])
    same(lambda side: case.made[side].icdf(tensor_on(side, places, dtype)), case.tolerance * 100)
    # outside of the support, or of another shape: the same kind of error
    outside = np.array([-0.5, 0.5, np.nan])
    same(lambda side: case.made[side].log_prob(tensor_on(side, outside, dtype)))


def check_draws(case, shape, method):
    def ask(side):
        side.manual_seed(7)
        return getattr(case.made[side], method)(shape)

    if (case.name, "draws") not in DIFFERENT:
        same(ask, case.tolerance * 50)


@EVERY
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_draws_follow_pytorchs_streams(name, parameters, dtype):
    case = Case(name, parameters, dtype)
    check_draws(case, (4, 5), "sample")
    if dtype == "float64":
        check_draws(case, (), "sample")
        check_draws(case, (4, 5), "rsample")


@EVERY
def test_expanding(name, parameters):
    case = Case(name, parameters)
    batch = (2, *case.made[torch].batch_shape)
    case.same("expanded log_prob", lambda d, x: d.expand(batch).log_prob(x[:2]))
    case.same("expanded mean", lambda d, x: d.expand(batch).mean)
    case.same("expanded entropy", lambda d, x: d.expand(batch).entropy())
    if (name, "repr") not in DIFFERENT:
        same(lambda side: repr(made_on(side, name, parameters).expand(batch)))
    case.same("expanded shapes", lambda d, x: (d.expand(batch).batch_shape, d.expand(batch).event_shape))


def gradients(side, name, parameters, compute):
    """Gradients of the sum of what a distribution gives, one after another."""
    given = {key: tensor_on(side, value) for key, value in parameters.items()}
    leaves = [value.requires_grad_() for value in given.values() if hasattr(value, "requires_grad_")]
    total = compute(getattr(side.distributions, name)(**given)).sum()
    found = side.autograd.grad(total, leaves, allow_unused=True)
    return side.cat([g.reshape(-1) for g in found if g is not None])


@EVERY
def test_gradients_of_densities_and_entropy(name, parameters):
    case = Case(name, parameters)
    same(lambda side: gradients(side, name, parameters, lambda d: d.log_prob(case.values[side])), case.tolerance * 1e3)
    same(lambda side: gradients(side, name, parameters, lambda d: d.entropy()), case.tolerance * 1e3)


@EVERY
def test_gradients_of_draws(name, parameters):
    """Up to PyTorch's approximations of implicit gradients, which are right to three digits."""
    if (name, "gradient of draws") in DIFFERENT:
        pytest.skip(DIFFERENT[name, "gradient of draws"])

    def ask(side):
        side.manual_seed(3)
        return gradients(side, name, parameters, lambda d: d.rsample((3,)).square())

    same(ask, 3e-3)


def test_the_mode_of_kumaraswamys_distribution():
    d = made_on(SIDES[1], "Kumaraswamy", {"concentration1": np.array([2.0]), "concentration0": np.array([3.0])})
    assert abs(d.mode.item() - (1 / 5) ** 0.5) < 1e-12


def test_wishart_draws_before_corrections_follow_pytorchs_stream():
    given = {"df": np.array([4, 5.5]), "covariance_matrix": np.array([[3, 1, 0.5], [1, 2, 0.2], [0.5, 0.2, 1]])}

    def ask(side):
        d = made_on(side, "Wishart", given)
        side.manual_seed(3)
        return d.rsample((4,), max_try_correction=0)

    same(ask, 1e-12)


def test_generalized_pareto():
    """PyTorch 2.13 has densities in float32 only."""
    given = {"loc": np.array([0.5, 1, 2]), "scale": np.array([1, 2, 0.5]), "concentration": np.array([-0.3, 0.0, 0.7])}
    case = Case("GeneralizedPareto", given, "float32")
    for attribute in (*ATTRIBUTES, *MOMENTS):
        case.same(attribute, lambda d, x, attribute=attribute: getattr(d, attribute))
    case.same("log_prob", lambda d, x: d.log_prob(x))
    case.same("cdf", lambda d, x: d.cdf(x))
    case.same("entropy", lambda d, x: d.entropy())
    check_draws(case, (4,), "rsample")
