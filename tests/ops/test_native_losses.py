"""Losses of the torch namespace: reductions by number, arguments in the order of PyTorch's bindings."""

import pytest

import rushlight

from .parity import agree, table

CALLS = """
[T.kl_div(x,p,r) for r in (0,1,2)]
T.kl_div(x,p)
T.kl_div(x,p,1,log_target=True)
[T.binary_cross_entropy_with_logits(x,p,reduction=r) for r in (0,1,2)]
T.binary_cross_entropy_with_logits(x,p,p,p,2)
T.poisson_nll_loss(x,p,True,False,1e-8,1)
T.poisson_nll_loss(x,p,False,True,1e-3,0)
T.hinge_embedding_loss(x[0],y,0.5)
T.hinge_embedding_loss(x[0],y,0.5,1)
T.margin_ranking_loss(x[0],p[0],y,0.5,2)
T.margin_ranking_loss(x[0],p[0],y)
T.cosine_embedding_loss(x,p,y[:2],0.1,1)
T.cosine_embedding_loss(x,p,y[:2])
T.triplet_margin_loss(x,p,x*2,1.0,2.0,1e-6,True,1)
T.triplet_margin_loss(x,p,x*2)
[T.ctc_loss(steps,T.tensor([[1,2],[2,1]]),[4,4],[2,1],0,r) for r in (0,1,2)]
T.ctc_loss(steps,T.tensor([[1,2],[2,1]]),[4,4],[2,1])
[T.nn.functional.kl_div(x,p),T.nn.functional.margin_ranking_loss(x[0],p[0],y)]
T.adaptive_max_pool1d(p[None],2)
T.nn.functional.adaptive_max_pool1d(p[None],2)
"""


def names(module):
    x = module.arange(6.0, dtype=module.float64).reshape(2, 3).sin()
    steps = module.arange(24.0, dtype=module.float64).reshape(4, 2, 3).sin().log_softmax(-1)
    return {"x": x, "p": (x + 1.1) / 2.3, "y": module.tensor([1.0, -1.0, 1.0], dtype=module.float64), "steps": steps}


@table(CALLS)
def test_values(expression):
    agree(expression, names)


def test_other_numbers_are_refused():
    with pytest.raises(ValueError, match=r"0 \(none\), 1 \(mean\) or 2 \(sum\), got 3"):
        rushlight.kl_div(rushlight.ones(2), rushlight.ones(2), 3)
