"""Attention: queries that a mask leaves no key; against PyTorch."""

from .parity import agree, table

CALLS = """
weights(L([[False, False], [True, False]]))
weights(L([[True, True], [False, False]]))
weights(L([[False], [True]]))
weights(L([False, False]))
weights(L([[-math.inf, -math.inf], [0.5, -math.inf]], dtype=T.float64))
weights(L([[0.5, 1.0], [0.0, -2.0]], dtype=T.float64))
"""


def names(module):
    def weights(mask):
        q, k, v = (
            (module.arange(6.0, dtype=module.float64).reshape(2, 3) * s).sin().requires_grad_() for s in (1, 2, 3)
        )
        made = module.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return made.detach(), module.autograd.grad((made * made.detach().cos()).sum(), (q, k, v))

    return {"L": module.tensor, "weights": weights}


@table(CALLS)
def test_queries_without_keys(expression):
    agree(expression, names)
