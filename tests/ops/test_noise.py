"""Dropout, random slopes and Gumbel noise: masks as PyTorch draws them, gradients through the same masks."""

import pytest

import rushlight as rl
from rushlight.nn import functional as F

from .parity import agree, table

DROPS = """
T.nn.functional.dropout(T.ones(4,dtype=T.int64))
T.nn.functional.dropout(T.ones(4),1.5)
T.nn.functional.gumbel_softmax(T.arange(6.).reshape(2,3).t())
T.nn.functional.dropout(T.ones(4),1.)
T.nn.functional.dropout(T.ones(4),0.5,False)
T.nn.functional.dropout(T.ones(40),0.3)
T.nn.functional.dropout(T.arange(40.,dtype=T.float64),0.3)
T.nn.functional.dropout(T.arange(40.,dtype=T.bfloat16),0.3)
T.nn.functional.dropout(T.arange(40.).reshape(5,8).t(),0.3)
T.dropout(T.ones(4),0.5,True)
T.dropout(T.ones(4,requires_grad=True),0.5,True)
T.dropout(T.ones(4),0.5)
T.dropout(T.ones(4),2.,True)
T.nn.functional.dropout1d(T.ones(4))
T.nn.functional.dropout1d(T.ones(4,3))
T.nn.functional.dropout1d(T.ones(4,3,2))
T.nn.functional.dropout2d(T.ones(4,3))
T.nn.functional.dropout2d(T.ones(4,3,2))
T.nn.functional.dropout2d(T.ones(4,3,2,2),0.2)
T.nn.functional.dropout3d(T.ones(4,3))
T.nn.functional.dropout3d(T.ones(4,3,2,2))
T.nn.functional.dropout3d(T.ones(4,3,2,2,2))
T.nn.functional.feature_alpha_dropout(T.ones(4))
T.nn.functional.feature_alpha_dropout(T.ones(4,3,2),training=True)
T.nn.functional.alpha_dropout(T.ones(4),training=True)
T.nn.functional.alpha_dropout(T.ones(4))
T.nn.functional.alpha_dropout(T.ones(4),1.,training=True)
T.nn.functional.rrelu(-T.ones(4),training=True)
T.nn.functional.rrelu(T.linspace(-2,2,20),training=True)
T.nn.functional.rrelu(-T.ones(4))
T.nn.functional.gumbel_softmax(T.ones(4),hard=True)
T.nn.functional.gumbel_softmax(T.ones(4))
T.rrelu(-T.ones(4),0.1,0.2,True)
T.native_dropout(T.ones(4),0.5,True)
T.nn.Dropout(0.4)(T.ones(10))
"""
GRADIENT = "(lambda x: T.autograd.grad((T.nn.functional.{} * T.arange(12.0).reshape(3, 4)).sum(), x))"
GRADIENTS = [
    "dropout(x, 0.3)",
    "dropout(x * 1, 0.3, inplace=True)",
    "dropout(x.t(), 0.3).t()",
    "dropout(x, 1.0)",
    "alpha_dropout(x, 0.3, True)",
    "alpha_dropout(x * 1, 0.3, True, True)",
    "dropout1d(x, 0.3)",
    "rrelu(x - 5, training=True)",
    "rrelu(x - 5, training=False)",
    "gumbel_softmax(x, hard=True)",
    "gumbel_softmax(x, tau=2)",
]


@table(DROPS)
def test_drops(expression):
    agree(expression)


@pytest.mark.parametrize("call", GRADIENTS)
def test_gradients(call):
    agree(GRADIENT.format(call) + "(T.arange(12.0).reshape(3, 4).requires_grad_())")


def test_what_needs_no_noise():
    x = rl.ones(3)
    assert F.dropout(x, 0.5, False) is x and F.dropout(x, 0.0) is x


def test_nan_is_not_dropped():
    made = F.dropout(rl.full((64,), float("nan")), 0.5)
    assert made.isnan().all()


def test_second_derivatives_see_the_mask():
    x = rl.ones(8, dtype=rl.float64, requires_grad=True)
    y = F.dropout(x, 0.5)
    (g,) = rl.autograd.grad((y**3).sum(), x, create_graph=True)
    (gg,) = rl.autograd.grad(g.sum(), x)
    assert gg.tolist() == [6 * v**3 for v in y.tolist()]
