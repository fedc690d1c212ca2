"""Constraints against PyTorch."""

import numpy as np
import pytest

import rushlight as rl
from rushlight.distributions import constraints

from .sides import same, tensor_on

VECTORS = np.array([[0, 1, 0.0], [0.2, 0.3, 0.5], [-1, 2, np.nan], [1, 1, 0]])
MATRICES = np.array(
    [
        np.eye(3),
        [[1, 2, 3], [0, 1, 1], [0, 0, 1]],
        [[2, 1, 0], [1, 2, 0], [0, 0, 1]],
        [[1, 2, 0], [2, 1, 0], [0, 0, 1]],
        [[1, 0, 0], [0.6, 0.8, 0], [0, 0, 1]],
        [[-1, 0, 0], [0.6, 0.8, 0], [0, 0, 1]],
    ]
)
SINGLE = [
    "boolean",
    "real",
    "one_hot",
    "simplex",
    "positive",
    "nonnegative",
    "unit_interval",
    "nonnegative_integer",
    "positive_integer",
    "real_vector",
    "lower_triangular",
    "lower_cholesky",
    "corr_cholesky",
    "square",
    "symmetric",
    "positive_semidefinite",
    "positive_definite",
]
WITH_BOUNDS = {
    "interval": (0.0, 1.0),
    "half_open_interval": (0.0, 1.0),
    "integer_interval": (0, 1),
    "greater_than": (0.3,),
    "greater_than_eq": (0.3,),
    "less_than": (0.5,),
    "multinomial": (2,),
}


@pytest.mark.parametrize("name", SINGLE)
def test_region(name):
    wide = getattr(constraints, name).event_dim == 2
    numbers = MATRICES if wide else VECTORS

    def of(side):
        return getattr(side.distributions.constraints, name)

    same(lambda side: (of(side), of(side).is_discrete, of(side).event_dim))
    same(lambda side: of(side).check(tensor_on(side, numbers)))
    for one in numbers if wide else ():
        same(lambda side, one=one: of(side).check(tensor_on(side, one)))


@pytest.mark.parametrize("name", WITH_BOUNDS)
def test_region_with_bounds(name):
    def of(side):
        return getattr(side.distributions.constraints, name)(*WITH_BOUNDS[name])

    same(lambda side: (of(side), of(side).is_discrete, of(side).event_dim))
    same(lambda side: of(side).check(tensor_on(side, VECTORS)))


def test_bounds_may_be_tensors():
    assert constraints.less_than(rl.tensor([1.0, 3.0])).check(rl.tensor([2.0, 2.0])).tolist() == [False, True]


def test_parts_and_stacks():
    positive, real = constraints.positive, constraints.real
    parts = constraints.cat([positive, real], dim=-1, lengths=[1, 2])
    assert parts.check(rl.tensor([-1.0, -1.0, 2.0])).tolist() == [False, True, True]
    stack = constraints.stack([positive, real], dim=0)
    assert stack.check(rl.tensor([[-1.0, 1.0], [-1.0, 1.0]])).tolist() == [[False, True], [True, True]]
    independent = constraints.independent(positive, 1)
    assert independent.event_dim == 1 and independent.check(rl.tensor([[1.0, 2.0], [1.0, -2.0]])).tolist() == [
        True,
        False,
    ]
    with pytest.raises(ValueError, match=r"Expected value.dim\(\) >= 1"):
        independent.check(rl.tensor(1.0))


def test_dependent():
    assert constraints.is_dependent(constraints.dependent) and not constraints.is_dependent(constraints.real)
    with pytest.raises(ValueError, match="dependent"):
        constraints.dependent.check(rl.ones(1))
    with pytest.raises(NotImplementedError, match="statically"):
        constraints.dependent.event_dim
    assert constraints.dependent(is_discrete=True, event_dim=1).event_dim == 1
    assert constraints.is_dependent(rl.distributions.Uniform.support)
    assert rl.distributions.Uniform.support.event_dim == 0
