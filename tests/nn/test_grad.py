"""Gradients of convolutions by themselves: equal to those of autograd."""

import pytest

import rushlight as rl
from rushlight.nn import functional as F
from rushlight.nn import grad


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("options", [{}, {"stride": 2, "padding": 1}, {"groups": 2, "dilation": 2, "padding": (2,)}])
def test_equal_to_autograd(dims, options):
    x = rl.rand(2, 4, *(6,) * dims, requires_grad=True)
    weight = rl.rand(6, 4 // options.get("groups", 1), *(3,) * dims, requires_grad=True)
    y = getattr(F, f"conv{dims}d")(x, weight, **options)
    cotangent = rl.rand(y.shape)
    of_x, of_weight = rl.autograd.grad(y, [x, weight], cotangent)
    assert rl.allclose(getattr(grad, f"conv{dims}d_input")(x.shape, weight, cotangent, **options), of_x)
    assert rl.allclose(getattr(grad, f"conv{dims}d_weight")(x, weight.shape, cotangent, **options), of_weight)


def test_errors():
    with pytest.raises(RuntimeError, match="expected 4 dims"):
        grad.conv2d_input((3, 4, 4), rl.ones(1, 3, 2, 2), rl.ones(1, 1, 3, 3))
    with pytest.raises(RuntimeError):
        grad.conv2d_input((1, 3, 4, 4), rl.ones(1, 3, 2, 2), rl.ones(1, 1, 9, 9))
