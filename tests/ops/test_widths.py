"""Activations of half types: computed in float32, so that only the result is rounded."""

import pytest

import rushlight as T

NAMES = ["gelu", "silu", "mish", "elu", "selu", "celu", "softplus", "logsigmoid", "hardsigmoid", "hardswish", "glu"]


@pytest.mark.parametrize("dtype", [T.float16, T.bfloat16])
@pytest.mark.parametrize("name", NAMES)
def test_only_the_result_is_rounded(name, dtype):
    T.manual_seed(0)
    function, x = getattr(T.nn.functional, name), (T.randn(64, 6) * 3).to(dtype)
    half, single = x.clone().requires_grad_(), x.float().requires_grad_()
    y, wide = function(half), function(single)
    assert y.dtype is dtype and T.equal(y, wide.to(dtype))
    y.backward(T.ones_like(y))
    wide.backward(T.ones_like(wide))
    assert T.equal(half.grad, single.grad.to(dtype)) and T.equal(function(x), y.detach())


def test_defaults_and_keywords_reach_a_rounded_body():
    x = T.tensor([-1.0, 2.0]).half()
    assert T.equal(T.nn.functional.elu(x, alpha=2.0), T.nn.functional.elu(x.float(), 2.0).half())
    assert T.equal(
        T.nn.functional.gelu(x, approximate="tanh"), T.nn.functional.gelu(x.float(), approximate="tanh").half()
    )
