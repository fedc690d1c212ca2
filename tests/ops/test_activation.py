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


LIMITS = """
slopes(lambda x: x.clamp(0, 1), L([-1.0, 0.0, 0.5, 1.0, 2.0]))
slopes(lambda x: x.clamp(min=0), L([-1.0, 0.0, 0.5]))
slopes(lambda x: x.clamp_min(0), L([-1.0, 0.0, 0.5]))
slopes(lambda x: x.clamp_max(0.5), L([-1.0, 0.0, 0.5, 1.0]))
slopes(lambda x, low: x.clamp_min(low), L([-1.0, 0.0, 0.5]), L([0.0]))
slopes(lambda x, high: x.clamp(max=high), L([-1.0, 0.0, 0.5]), L(0.0))
slopes(T.clamp, L([-1.0, 0.0, 0.5, 1.0, 2.0]), L([0.0, 0.0, 1.0, 3.0, 2.5]), L([1.0, -1.0, 1.0, 2.0, 1.0]))
slopes(T.fmax, L([1.0, 2.0, math.nan, math.nan, 3.0]), L([1.0, 3.0, 1.0, math.nan, math.nan]))
slopes(T.fmin, L([1.0, 2.0, math.nan]), L([1.0]))
slopes(lambda x: F.hinge_embedding_loss(x, L([-1.0, -1.0])), L([1.0, 2.0]))
slopes(lambda x, y: F.margin_ranking_loss(x, y, L([1.0, 1.0])), L([1.0, 2.0]), L([1.0, 1.0]))
slopes(lambda x: F.multi_margin_loss(x, L(1)), L([1.0, 2.0, 0.0]))
slopes(lambda x: F.multilabel_margin_loss(x, L([1, -1, 0])), L([1.0, 2.0, 0.0]))
slopes(lambda x, y: F.cosine_embedding_loss(x, y, L([-1.0])), L([[1.0, 0.0]]), L([[0.0, 2.0]]))
"""


@table(LIMITS)
def test_slopes_where_a_limit_is_just_met(expression):
    def more(module):
        def slopes(function, *leaves):
            for leaf in leaves:
                leaf.requires_grad_()
            return module.autograd.grad(function(*leaves).sum(), leaves)

        return names(module) | {"slopes": slopes}

    agree(expression, more)
