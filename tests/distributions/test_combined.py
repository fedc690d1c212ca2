"""Transformed, independent and mixed distributions against PyTorch."""

import numpy as np
import pytest

from .families import array, some
from .sides import SIDES, made_on, ours, same, tensor_on, torch

BASE = {"loc": array(0, 1, 2), "scale": array(1, 2, 1)}
POINTS = {"loc": some(2, 2, 3), "scale": some(2, 2, 3)}


def base(side):
    return made_on(side, "Normal", BASE)


def weights(side, *numbers):
    return side.distributions.Categorical(tensor_on(side, np.array(numbers)))


def transformed(*make):
    def build(side):
        D = side.distributions
        return D.TransformedDistribution(base(side), [function(D.transforms) for function in make])

    return build


def exp(T):
    return T.ExpTransform()


def affine(T):
    return T.AffineTransform(1.0, 2.0)


def points(side):
    D = side.distributions
    return D.MixtureSameFamily(weights(side, [0.2, 0.8], [0.5, 0.5]), D.Independent(made_on(side, "Normal", POINTS), 1))


def vectors(side):
    D = side.distributions
    parts = made_on(side, "MultivariateNormal", {"loc": np.array([[0, 1], [2, 3.0]]), "covariance_matrix": np.eye(2)})
    return D.MixtureSameFamily(weights(side, 0.2, 0.8), parts)


MAKERS = {
    "two transforms": transformed(exp, affine),
    "falling": transformed(lambda T: T.AffineTransform(1.0, -2.0)),
    "onto the simplex": transformed(lambda T: T.StickBreakingTransform()),
    "reshaped": transformed(lambda T: T.ReshapeTransform((3,), (3, 1))),
    "not transformed": transformed(),
    "wider parameters": transformed(lambda T: T.AffineTransform(0.0, 2.0), lambda T: T.SigmoidTransform()),
    "independent": lambda side: side.distributions.Independent(base(side), 1),
    "independent of none": lambda side: side.distributions.Independent(
        made_on(side, "Bernoulli", {"probs": array(0.2)}), 0
    ),
    "mixture": lambda side: side.distributions.MixtureSameFamily(weights(side, 0.2, 0.3, 0.5), base(side)),
    "mixture of independent": points,
    "mixture of vectors": vectors,
}
ATTRIBUTES = (
    "batch_shape",
    "event_shape",
    "support",
    "mean",
    "variance",
    "mode",
    "has_rsample",
    "has_enumerate_support",
)


@pytest.mark.parametrize("name", MAKERS)
def test_combination(name):
    made = {side: MAKERS[name](side) for side in SIDES}
    torch.manual_seed(1)
    drawn = made[torch].sample((4,))
    x = dict(zip(SIDES, (drawn, ours(drawn))))
    for attribute in ATTRIBUTES:
        same(lambda side, attribute=attribute: getattr(made[side], attribute))

    def sampled(side):
        side.manual_seed(7)
        return made[side].sample((4,))

    same(sampled)
    same(lambda side: made[side].log_prob(x[side]))
    same(lambda side: made[side].cdf(x[side]))
    same(lambda side: made[side].icdf(tensor_on(side, np.full(drawn.shape, 0.3))))
    same(lambda side: made[side].entropy())
    same(lambda side: made[side].enumerate_support())
    batch = (2, *made[torch].batch_shape)
    same(lambda side: made[side].expand(batch).log_prob(x[side][:1]))
    same(lambda side: made[side].expand(batch).sample((3,)).shape == (3, *batch, *made[side].event_shape))


def test_a_mixtures_draws_come_from_its_components():
    mixture = MAKERS["mixture"](SIDES[1])
    SIDES[1].manual_seed(0)
    drawn = mixture.sample((20000,))
    assert abs(drawn.mean().item() - mixture.mean.item()) < 0.05
    assert abs(drawn.var().item() / mixture.variance.item() - 1) < 0.05
