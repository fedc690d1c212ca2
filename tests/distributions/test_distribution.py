"""What all distributions share: validation, errors, subclasses, vmap, import paths."""

import importlib
import pickle

import pytest

import rushlight as rl
from rushlight import distributions as D
from rushlight.distributions import constraints
from rushlight.func import grad, vmap


@pytest.mark.parametrize(
    "make, message",
    [
        (
            lambda: D.Normal(rl.tensor([float("nan"), 1]), rl.ones(2)),
            r"parameter loc \(Tensor of shape \(2,\)\).*Real\(\)",
        ),
        (lambda: D.Normal(0.0, -1.0), r"parameter scale .*GreaterThan\(lower_bound=0.0\)"),
        (lambda: D.Normal("a", 1.0), "instances of Number or torch.Tensor"),
        (lambda: D.Normal(0.0, 1.0).log_prob(1.0), "value argument to log_prob must be a Tensor"),
        (lambda: D.Normal(rl.zeros(3), rl.ones(3)).log_prob(rl.zeros(2)), "not broadcastable"),
        (lambda: D.Dirichlet(rl.ones(3)).log_prob(rl.ones(2)), "right-most size of value must match event_shape"),
        (lambda: D.Bernoulli(0.3).log_prob(rl.tensor(0.5)), r"within the support \(Boolean\(\)\)"),
        (lambda: D.Bernoulli(), "Either `probs` or `logits`"),
        (lambda: D.Bernoulli(probs=0.3, logits=0.2), "Either `probs` or `logits`"),
        (lambda: D.Categorical(rl.tensor(1.0)), "at least one-dimensional"),
        (lambda: D.Dirichlet(rl.tensor(1.0)), "at least one-dimensional"),
        (lambda: D.Uniform(1.0, 0.0), r"LessThan\(upper_bound=0.0\)"),
        (lambda: D.Geometric(0.0), "probs .*positive"),
        (lambda: D.Independent(D.Normal(0.0, 1.0), 1), "reinterpreted_batch_ndims"),
        (lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), 3), "must be a Transform or list"),
        (lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), [3]), "list of Transforms"),
        (lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), D.StickBreakingTransform()), "size at least 1"),
        (lambda: D.MultivariateNormal(rl.zeros(2)), "Exactly one of covariance_matrix"),
        (lambda: D.MultivariateNormal(rl.zeros(2), rl.tensor([[1.0, 2], [2, 1]])), r"PositiveDefinite\(\)"),
        (lambda: D.MultivariateNormal(rl.zeros(2), rl.ones(2)), "at least two-dimensional"),
        (lambda: D.LowRankMultivariateNormal(rl.zeros(2), rl.ones(3, 1), rl.ones(2)), "2 x m"),
        (lambda: D.MixtureSameFamily(D.Normal(0.0, 1.0), D.Normal(rl.zeros(2), 1.0)), "Categorical"),
        (lambda: D.MixtureSameFamily(D.Categorical(rl.ones(3)), D.Normal(rl.zeros(2), 1.0)), r"\(3\) does not equal"),
        (lambda: D.LKJCholesky(1), "greater than or equal to 2"),
        (lambda: D.Wishart(rl.tensor(1.0), rl.eye(2)), "greater than ndim - 1"),
        (lambda: D.Distribution.set_default_validate_args(2), "True or False"),
    ],
)
def test_value_errors(make, message):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: D.Poisson(1.0).cdf(rl.tensor(1.0)),
        lambda: D.Poisson(1.0).rsample(),
        lambda: D.Poisson(1.0).enumerate_support(),
        lambda: D.VonMises(rl.tensor(0.0), rl.tensor(1.0)).rsample(),
        lambda: D.Binomial(rl.tensor([2, 3]), rl.tensor(0.5)).enumerate_support(),
        lambda: D.Multinomial(rl.tensor([3, 2]), rl.ones(2)),
        lambda: D.Independent(D.Bernoulli(rl.ones(2) / 2), 1).enumerate_support(),
        lambda: D.Distribution(validate_args=False).mean,
    ],
)
def test_what_is_not_implemented_says_so(make):
    with pytest.raises(NotImplementedError, match="."):
        make()


def test_validation_can_be_switched_off():
    assert D.Normal(0.0, -1.0, validate_args=False).scale.item() == -1
    D.Distribution.set_default_validate_args(False)
    try:
        assert D.Normal(0.0, -1.0).log_prob(1.0).isnan()
    finally:
        D.Distribution.set_default_validate_args(__debug__)


def test_subclasses():
    class Shifted(D.Normal):
        def __init__(self, loc, by):
            super().__init__(loc + by, 1.0)

    with pytest.raises(NotImplementedError, match=r"must also define a custom .expand\(\) method"):
        Shifted(rl.zeros(2), 1.0).expand((3, 2))
    with pytest.warns(UserWarning, match="does not define `arg_constraints`"):
        D.Distribution()


def test_a_distribution_of_ones_own():
    class Triangle(D.Distribution):
        arg_constraints = {"width": constraints.positive}
        support = constraints.unit_interval

        def __init__(self, width, validate_args=None):
            self.width = width
            super().__init__(width.shape, validate_args=validate_args)

        def log_prob(self, value):
            self._validate_sample(value)
            return -self.width * value

    d = Triangle(rl.ones(2))
    assert d.log_prob(rl.ones(3, 2)).shape == (3, 2) and repr(d) == f"Triangle(width: {rl.Size([2])})"
    with pytest.raises(NotImplementedError, match="expand"):
        d.expand((3, 2))
    with pytest.raises(ValueError, match="parameter width"):
        Triangle(-rl.ones(2))


def test_numbers_are_parameters():
    assert D.Normal(0, 1).log_prob(rl.tensor(0.0)).dtype is rl.float32
    assert D.Normal(rl.zeros(3, dtype=rl.float64), 1).scale.dtype is rl.float64
    assert D.Gamma(rl.ones(3, 1), rl.ones(2)).batch_shape == (3, 2)


def test_densities_under_vmap():
    x, loc = rl.randn(5, 3), rl.randn(5, 3)
    mapped = vmap(lambda x, loc: D.Normal(loc, 1.0).log_prob(x))(x, loc)
    assert bool(mapped.allclose(D.Normal(loc, 1.0).log_prob(x)))
    logits = rl.randn(4, 3)
    mapped = vmap(lambda p, v: D.Categorical(logits=p).log_prob(v))(logits, rl.tensor([0, 1, 2, 1]))
    assert bool(mapped.allclose(D.Categorical(logits=logits).log_prob(rl.tensor([0, 1, 2, 1]))))
    vectors = rl.randn(4, 3)
    mapped = vmap(lambda v: D.MultivariateNormal(rl.zeros(3), rl.eye(3)).log_prob(v))(vectors)
    assert bool(mapped.allclose(D.MultivariateNormal(rl.zeros(3), rl.eye(3)).log_prob(vectors)))
    slopes = vmap(grad(lambda a: D.Beta(a, 2.0).log_prob(rl.tensor(0.3))))(rl.tensor([0.5, 1.5]))
    leaf = rl.tensor([0.5, 1.5], requires_grad=True)
    D.Beta(leaf, 2.0).log_prob(rl.tensor(0.3)).sum().backward()
    assert bool(slopes.allclose(leaf.grad))


def test_validation_under_vmap_sees_every_sample():
    with pytest.raises(ValueError, match="parameter loc"):
        vmap(lambda loc: D.Normal(loc, 1.0).log_prob(loc))(rl.tensor([1.0, float("nan")]))


@pytest.mark.parametrize("make", [lambda c: D.Gamma(c, 1.0), lambda c: D.Normal(c, 1.0), lambda c: D.Beta(c, c)])
def test_draws_under_vmap(make):
    drawn = vmap(lambda c: make(c).rsample((2,)), randomness="different")(rl.rand(4) + 0.1)
    assert drawn.shape == (4, 2) and len(set(drawn.flatten().tolist())) == 8


def test_import_paths():
    for name, classes in D._MODULES.items():
        module = importlib.import_module(f"rushlight.distributions.{name}")
        for owned in classes.split():
            assert getattr(module, owned).__name__ == owned
        assert getattr(D, name) is module
    with pytest.raises(AttributeError, match="nothing"):
        D.normal.nothing
    with pytest.raises(AttributeError, match="nothing"):
        D.nothing
    assert {"Normal", "constraints", "kl_divergence"} <= set(dir(D))


def test_pickling():
    d = pickle.loads(pickle.dumps(D.LogNormal(rl.zeros(2), rl.ones(2))))
    assert d.batch_shape == (2,) and d.mean.shape == (2,)


def test_nothing_in_a_batch():
    vectors = D.MultivariateNormal(rl.zeros(0, 2), rl.eye(2))
    assert vectors.log_prob(rl.zeros(0, 2)).shape == (0,)
    assert D.MultivariateNormal(rl.zeros(2), rl.eye(2)).log_prob(rl.zeros(5, 0, 2)).shape == (5, 0)
    assert D.Dirichlet(rl.ones(0, 3)).rsample((2,)).shape == (2, 0, 3)
    assert D.Normal(rl.zeros(2), 1.0).sample((0,)).shape == (0, 2)
    with pytest.raises(RuntimeError, match="cannot sample n_sample <= 0 samples"):  # as PyTorch's
        D.Categorical(rl.ones(2, 3)).sample((0,))
