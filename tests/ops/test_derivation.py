"""Recording and differentiating calls whose results are their arguments, or nothing."""

import rushlight as rl


def test_an_argument_handed_back_is_not_recorded():
    x = rl.tensor([1.0, 2.0], requires_grad=True)
    assert x.float() is x
    assert x.is_leaf and x.grad_fn is None


def test_a_cotangent_passed_through_keeps_its_place_in_the_graph():
    x, y = (rl.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    cotangent = rl.tensor([5.0, 6.0], requires_grad=True)
    gradients = rl.autograd.grad([x - y], [x, y], [cotangent], create_graph=True)
    assert cotangent.is_leaf
    (again,) = rl.autograd.grad(gradients, [cotangent], [rl.tensor([10.0, 10.0]), rl.tensor([1.0, 1.0])])
    assert again.tolist() == [9.0, 9.0]


def test_a_step_has_derivative_zero():
    x, y = (rl.tensor([1.0, -2.0], requires_grad=True) for _ in range(2))
    gx, gy = rl.autograd.grad([rl.copysign(x * x, y)], [x, y], [rl.ones(2)], create_graph=True)
    assert gy.tolist() == [0.0, 0.0]
    (again,) = rl.autograd.grad([gx], [x], [rl.ones(2)])
    assert again.tolist() == [2.0, -2.0]
    x.grad = None
    x.floor().sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]


def test_a_backward_that_gives_nothing_for_an_operand_can_be_differentiated():
    mean, var = rl.zeros(2, requires_grad=True), rl.ones(2)
    x = rl.randn(3, 2, requires_grad=True)
    rule = rl.nn.functional.nll_loss(x.log_softmax(1), rl.tensor([0, 1, 1]), weight=var.requires_grad_())
    gx, _ = rl.autograd.grad([rule], [x, var], create_graph=True, allow_unused=True)
    assert gx.requires_grad and mean.grad is None
    gx.sum().backward()
    assert x.grad.shape == x.shape
