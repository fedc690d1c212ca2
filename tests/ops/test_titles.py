"""What nodes of the graph are called."""

import pytest

import rushlight as rl

F = rl.nn.functional


def leaf(*shape):
    return rl.ones(*shape, requires_grad=True)


NAMES = {
    "AddBackward0": lambda: leaf(3) + 1,
    "PowBackward0": lambda: leaf(3) ** 2,
    "PowBackward1": lambda: leaf(3) ** leaf(3),
    "PowBackward2": lambda: 2 ** leaf(3),
    "DotBackward0": lambda: leaf(3) @ leaf(3),
    "MvBackward0": lambda: leaf(2, 3) @ leaf(3),
    "MmBackward0": lambda: leaf(2, 3) @ leaf(3, 2),
    "BmmBackward0": lambda: leaf(2, 2, 3) @ leaf(2, 3, 2),
    "SumBackward1": lambda: leaf(2, 3).sum(0),
    "MedianBackward0": lambda: leaf(3).median(),
    "MaskedFillBackward0": lambda: leaf(3).masked_fill(rl.ones(3) > 0, 1.0),
    "ScatterBackward1": lambda: leaf(3).scatter(0, rl.tensor([0]), 1.0),
    "UnfoldBackward0": lambda: leaf(3).unfold(0, 2, 1),
    "SmoothL1LossBackward0": lambda: F.smooth_l1_loss(leaf(3), leaf(3)),
    "EmbeddingBagBackward0": lambda: F.embedding_bag(rl.tensor([[0]]), leaf(3, 2)),
    "CheckpointFunctionBackward": lambda: rl.utils.checkpoint.checkpoint(lambda x: x * 2, leaf(3), use_reentrant=True),
}


@pytest.mark.parametrize("name", NAMES)
def test_names_of_nodes(name):
    assert NAMES[name]().grad_fn.name() == name


@pytest.mark.parametrize(
    "function, name",
    [
        (lambda x: x**3, "PowBackward0"),
        (lambda x: x.exp(), "ExpBackward0"),
        (rl.tanh, "TanhBackwardBackward0"),
        (F.relu, "ThresholdBackwardBackward0"),
        (lambda x: x.softmax(0), "SoftmaxBackwardDataBackward0"),
    ],
)
def test_names_of_derivatives(function, name):
    x = leaf(3)
    y = function(x).sum()
    (gradient,) = rl.autograd.grad(y, x, create_graph=True)
    assert gradient.grad_fn.name() == name


def test_a_written_part():
    y = leaf(3) * 1
    y[0] = 2
    assert y.grad_fn.name() == "torch::autograd::CopySlices"
    assert repr(y) == "tensor([2., 1., 1.], grad_fn=<CopySlices>)"


def test_derivatives_of_derivatives_have_short_names():
    x = leaf(3)
    y = x.tanh()
    for _ in range(3):
        (y,) = rl.autograd.grad(y.sum(), x, create_graph=True)
    assert "BackwardBackwardBackward" not in y.grad_fn.name()
