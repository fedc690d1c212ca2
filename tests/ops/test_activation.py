"""Activations at limits and at infinities: values and slopes; against PyTorch."""

from .parity import agree, table

CALLS = """
slope(F.relu6, L([-1.0, 0.0, 3.0, 6.0, 7.0]))
slope(F.hardtanh, L([-2.0, -1.0, 0.5, 1.0, 2.0]))
slope(lambda x: F.hardtanh(x, -2, 0.5), L([-2.0, -1.0, 0.5, 1.0, 2.0]))
slope(F.hardswish, L([-4.0, -3.0, -1.0, 3.0, math.inf]))
slope(F.elu, L([-math.inf, -1.0, 0.0, math.inf]))
slope(lambda x: F.prelu(x, L([math.inf])), L([1.0, 2.0, math.inf]))
slope(lambda w: F.prelu(L([1.0, -2.0, 0.0]), w), L([0.25]))
slope(lambda x: F.smooth_l1_loss(x, L([1.0, -math.inf, 2.0, 0.0])), L([math.inf, 1.0, 2.5, math.nan]))
slope(lambda x: F.huber_loss(x, L([1.0, -math.inf, 2.0, 0.0])), L([math.inf, 1.0, 2.5, math.nan]))
slope(lambda x: T.xlogy(x, L([2.0, 0.0, -1.0, 3.0])), L([0.0, 0.0, 0.0, math.nan]))
slope(lambda y: T.xlogy(L([0.0, 1.0, 0.0]), y), L([2.0, 0.5, 3.0]))
slope(lambda x: T.special.xlog1py(x, L([2.0, -1.0, 3.0])), L([0.0, 0.0, 2.0]))
T.xlogy(L([0.0, 0.0, 0.0, 1.0]), L([math.inf, -math.inf, math.nan, 0.0]))
T.special.xlog1py(L([0.0, 0.0, 0.0, 1.0]), L([math.inf, -math.inf, math.nan, -1.0]))
[slope(lambda x: getattr(x * 1, f)(L([1.0, 3.0])), L([1.0, 2.0])) for f in ('eq_', 'ne_', 'lt_', 'le_', 'gt_', 'ge_')]
[(T.ones(2) * L([1.0, 2.0]).requires_grad_()).eq_(L([1.0, 1.0])).requires_grad]
T.igamma(L([1.5], requires_grad=True), L([True])).detach()
"""


def names(module):
    def slope(function, x):
        x.requires_grad_()
        function(x).sum().backward()
        return x.grad

    return {"F": module.nn.functional, "L": module.tensor, "slope": slope}


@table(CALLS)
def test_values_and_slopes(expression):
    agree(expression, names)
