"""Transforms against PyTorch: values, inverses, log determinants, shapes, gradients, caches."""

import numpy as np
import pytest

import rushlight as rl
from rushlight.distributions import constraints, transforms

from .sides import SIDES, same, tensor_on

rng = np.random.default_rng(0)
NUMBERS, MATRICES = rng.uniform(0.1, 0.9, (2, 3)), rng.uniform(0.1, 0.9, (2, 3, 3))
ROW = np.array([1.0, -2.0, 3.0])


def row(side):
    return tensor_on(side, ROW)


def normal(side):
    return side.distributions.Normal(tensor_on(side, np.array(0.0)), tensor_on(side, np.array(1.0)))


def two(T):
    return [T.ExpTransform(), T.AffineTransform(1.0, 2.0)]


MAKERS = {
    "exp": lambda T, side: T.ExpTransform(),
    "power": lambda T, side: T.PowerTransform(2.0),
    "powers": lambda T, side: T.PowerTransform(row(side)),
    "sigmoid": lambda T, side: T.SigmoidTransform(),
    "softplus": lambda T, side: T.SoftplusTransform(),
    "tanh": lambda T, side: T.TanhTransform(),
    "abs": lambda T, side: T.AbsTransform(),
    "affine": lambda T, side: T.AffineTransform(1.0, -2.0),
    "affine of tensors": lambda T, side: T.AffineTransform(row(side), row(side)),
    "affine of vectors": lambda T, side: T.AffineTransform(1.0, 2.0, event_dim=1),
    "softmax": lambda T, side: T.SoftmaxTransform(),
    "stick breaking": lambda T, side: T.StickBreakingTransform(),
    "correlation": lambda T, side: T.CorrCholeskyTransform(),
    "lower cholesky": lambda T, side: T.LowerCholeskyTransform(),
    "positive definite": lambda T, side: T.PositiveDefiniteTransform(),
    "function": lambda T, side: T.CumulativeDistributionTransform(normal(side)),
    "reshape": lambda T, side: T.ReshapeTransform((3,), (3, 1)),
    "composed": lambda T, side: T.ComposeTransform([T.TanhTransform(), T.AffineTransform(1.0, 2.0)]),
    "composed with vectors": lambda T, side: T.ComposeTransform([*two(T)[1:], T.StickBreakingTransform()]),
    "independent": lambda T, side: T.IndependentTransform(T.ExpTransform(), 1),
    "parts": lambda T, side: T.CatTransform(two(T), dim=-1, lengths=[1, 2]),
    "parts of the batch": lambda T, side: T.CatTransform(two(T), dim=0, lengths=[1, 1]),
    "stack": lambda T, side: T.StackTransform([*two(T), T.SigmoidTransform()], dim=1),
    "identity": lambda T, side: T.identity_transform,
    "inverse": lambda T, side: T.SigmoidTransform().inv,
    "inverse of composed": lambda T, side: T.ComposeTransform(two(T)).inv,
}


@pytest.mark.parametrize("name", MAKERS)
def test_transform(name):
    numbers = MATRICES if name in ("lower cholesky", "positive definite") else NUMBERS
    made = {side: MAKERS[name](side.distributions.transforms, side) for side in SIDES}
    x = {side: tensor_on(side, numbers) for side in SIDES}
    y = {side: made[side](x[side]) for side in SIDES}
    shape = {side: side.Size(numbers.shape) for side in SIDES}

    def log_det_gradient(side):
        leaf = tensor_on(side, numbers).requires_grad_()
        after = made[side](leaf)
        total = made[side].log_abs_det_jacobian(leaf, after).sum() + after.sum()
        return side.autograd.grad(total, leaf)[0]

    same(lambda side: (made[side], made[side].domain, made[side].codomain, made[side].bijective))
    same(lambda side: made[side].sign)
    same(lambda side: y[side])
    same(lambda side: made[side].inv(y[side]))
    same(lambda side: made[side].log_abs_det_jacobian(x[side], y[side]))
    same(log_det_gradient)
    same(lambda side: tuple(made[side].forward_shape(shape[side])))
    same(lambda side: tuple(made[side].inverse_shape(y[side].shape)))
    same(lambda side: tuple(made[side].forward_shape(side.Size(()))))
    same(lambda side: made[side].inv.inv == made[side])


def test_a_cache_gives_back_the_very_tensor():
    cached, x = transforms.ExpTransform(cache_size=1), rl.tensor(0.5)
    assert cached.inv(cached(x)) is x
    assert cached.with_cache(1) is cached and cached.with_cache(0) is not cached
    plain = transforms.ExpTransform()
    assert plain.inv(plain(x)) is not x
    with pytest.raises(ValueError, match="cache_size must be 0 or 1"):
        transforms.ExpTransform(cache_size=2)


def test_inverses_are_kept_and_compared():
    exp = transforms.ExpTransform()
    assert exp.inv is exp.inv and exp.inv.inv is exp
    assert exp == transforms.ExpTransform() and exp.inv == transforms.ExpTransform().inv
    assert transforms.AffineTransform(0.0, 1.0) == transforms.AffineTransform(rl.zeros(2), rl.ones(2))
    assert transforms.AffineTransform(0.0, 1.0) != transforms.AffineTransform(0.0, 2.0)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda T: T.ReshapeTransform((2,), (3,)), "different numbers of elements"),
        (lambda T: T.StickBreakingTransform().forward_shape(rl.Size(())), "Too few dimensions"),
        (lambda T: T.ReshapeTransform((2,), (2, 1)).forward_shape(rl.Size((3,))), "Shape mismatch"),
        (lambda T: T.CorrCholeskyTransform().forward_shape(rl.Size((4,))), "flattened lower-diagonal"),
        (lambda T: T.CatTransform([T.ExpTransform()], lengths=[1, 2]), "expected 1 lengths"),
        (lambda T: T.CatTransform([3]), "sequence of transforms"),
        (lambda T: T.StackTransform([T.ExpTransform()])(rl.zeros(2)), "expected 1 slices"),
        (lambda T: T.IndependentTransform(T.ExpTransform(), 2)(rl.zeros(2)), "Too few dimensions"),
    ],
)
def test_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make(transforms)


REGISTERED = ("real", "positive", "nonnegative", "unit_interval", "simplex", "corr_cholesky", "real_vector")
CONVENIENT = (*REGISTERED, "lower_cholesky", "positive_definite")


@pytest.mark.parametrize(
    "registry, name", [("biject_to", n) for n in CONVENIENT] + [("transform_to", n) for n in CONVENIENT]
)
def test_transforms_of_constraints_reach_them(registry, name):
    function, constraint = getattr(rl.distributions, registry), getattr(constraints, name)
    if registry == "biject_to" and name not in REGISTERED:
        with pytest.raises(NotImplementedError, match="Cannot transform"):
            function(constraint)
        return
    found = function(constraint)
    x = rl.randn((4, 3, 3) if found.domain.event_dim == 2 else (4, 3), dtype=rl.float64)
    assert bool(constraint.check(found(x)).all())
    assert not found.bijective or bool(found.inv(found(x)).allclose(x))


def test_registering_a_transform():
    class Even(constraints.Constraint):
        pass

    @rl.distributions.biject_to.register(Even)
    def _(constraint):
        return transforms.ExpTransform()

    assert rl.distributions.biject_to(Even()) == transforms.ExpTransform()
    with pytest.raises(TypeError, match="Constraint subclass or instance"):
        rl.distributions.biject_to.register(3, transforms.ExpTransform)
