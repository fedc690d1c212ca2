"""`gradcheck` accepts right derivatives and refuses wrong ones, of every kind that it looks for."""

import pytest

import rushlight as rl
from rushlight.autograd import Function, gradcheck, gradgradcheck
from rushlight.autograd.gradcheck import GradcheckError


def point(*shape, dtype=rl.float64):
    return rl.testing.make_tensor(shape, dtype=dtype, device="cpu", low=0.5, high=2, requires_grad=True)


RIGHT = {
    "scalar": (lambda x: x.sin(), lambda: point()),
    "several inputs": (lambda x, y: x * y.exp(), lambda: (point(3), point(2, 3))),
    "several outputs": (lambda x: (x.sum(0), x.prod()), lambda: point(2, 2)),
    "a number among the inputs": (lambda x, n: x**n, lambda: (point(2), 3)),
    "an input without gradient": (lambda x, y: x * y, lambda: (point(2), point(2).detach())),
    "an unused input": (lambda x, y: x * 2, lambda: (point(2), point(2))),
    "transposed": (lambda x: x.exp() @ x, lambda: point(2, 2).detach().t().requires_grad_()),
    "empty": (lambda x: x * 2, lambda: point(0, 2)),
    "complex": (lambda z: z * z.conj() + z**2, lambda: point(3, dtype=rl.complex128)),
    "real to complex": (lambda x: x * 2j, lambda: point(2)),
    "complex to real": (lambda z: z.abs(), lambda: point(2, dtype=rl.complex128)),
    "an integer output": (lambda x: (x * 2, x.argmax()), lambda: point(3)),
}


@pytest.mark.parametrize("fast", [False, True], ids=["whole", "fast"])
@pytest.mark.parametrize("name", RIGHT)
def test_right_derivatives_pass(name, fast):
    function, inputs = RIGHT[name]
    assert gradcheck(function, inputs(), fast_mode=fast)
    assert gradgradcheck(function, inputs(), fast_mode=fast, atol=1e-4)


def wrong(factor_of_gradient, second=1.0):
    class Wrong(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            slope = 2 * x.detach() + second * 2 * (x - x.detach())
            return g * slope * factor_of_gradient()

    return Wrong.apply


@pytest.mark.parametrize("fast", [False, True], ids=["whole", "fast"])
def test_a_wrong_derivative_is_found(fast):
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to input 0"):
        gradcheck(wrong(lambda: 1.001e1), point(3), fast_mode=fast)
    assert not gradcheck(wrong(lambda: 0.9), point(3), fast_mode=fast, raise_exception=False)


def test_a_wrong_second_derivative_is_found():
    function = wrong(lambda: 1.0, second=0.5)
    assert gradcheck(function, point(3))
    with pytest.raises(GradcheckError, match="mismatch"):
        gradgradcheck(function, point(3))


def test_a_derivative_that_varies_is_found():
    factors = iter(range(1, 1000))
    with pytest.raises(GradcheckError, match="not reentrant"):
        gradcheck(wrong(lambda: 1 + 1e-9 * next(factors)), point(3))
    assert gradcheck(wrong(lambda: 1 + 1e-9 * next(factors)), point(3), nondet_tol=1e-3)


def test_a_gradient_of_another_dtype_is_found():
    x = point(2).detach().float().requires_grad_()
    with pytest.warns(UserWarning, match="double precision"):
        assert gradcheck(lambda x: x * 2, x, eps=1e-2, atol=1e-2, check_grad_dtypes=True)


def test_a_constant_must_be_constant():
    assert gradcheck(lambda x: rl.ones(2, dtype=rl.float64), point(2))
    with pytest.raises(GradcheckError, match="expected to be zero"):
        gradcheck(lambda x: x.detach() * 2, point(2))


def test_inputs_that_cannot_be_checked():
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        gradcheck(lambda x: x, rl.ones(2, dtype=rl.float64))
    with pytest.raises(RuntimeError, match="stride 0"):
        gradcheck(lambda x: x * 1, rl.ones(1, dtype=rl.float64).expand(3).requires_grad_())


def test_inputs_are_left_as_they_were():
    x = point(3)
    before = x.tolist()
    gradcheck(lambda x: x.exp(), x)
    gradcheck(lambda x: x.exp(), x, fast_mode=True)
    assert x.tolist() == before and x.grad is None and x._version == 0


def test_batched_gradients():
    assert gradcheck(lambda x: (x * x, x.sum()), point(3), check_batched_grad=True)
