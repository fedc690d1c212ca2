"""Adaptive softmax: a proper distribution, consistent between its methods, with errors for what does not fit."""

import pytest

import rushlight as rl
from rushlight import nn


def made(**options):
    rl.manual_seed(1)
    return nn.AdaptiveLogSoftmaxWithLoss(8, 20, [4, 10], div_value=2.0, **options)


def test_shapes_of_weights():
    module = made(head_bias=True)
    shapes = {name: tuple(p.shape) for name, p in module.named_parameters()}
    assert shapes == {
        "head.weight": (6, 8),
        "head.bias": (6,),
        "tail.0.0.weight": (4, 8),
        "tail.0.1.weight": (6, 4),
        "tail.1.0.weight": (2, 8),
        "tail.1.1.weight": (10, 2),
    }


def test_log_probabilities():
    module, x, target = made(), rl.randn(40, 8) * 3, rl.arange(40) % 20
    log_prob = module.log_prob(x)
    assert rl.allclose(log_prob.exp().sum(1), rl.ones(40))
    output, loss = module(x, target)
    assert rl.allclose(output, log_prob.gather(1, target.unsqueeze(1)).squeeze(1))
    assert rl.allclose(loss, -output.mean())
    assert (module.predict(x) == log_prob.argmax(1)).all()
    expected = rl.autograd.grad(-log_prob.gather(1, target.unsqueeze(1)).mean(), list(module.parameters()))
    for a, b in zip(rl.autograd.grad(loss, list(module.parameters())), expected, strict=True):
        assert rl.allclose(a, b, atol=1e-6)
    single, _ = module(x[0], target[0])
    assert single.shape == () and rl.allclose(single, output[0])
    before = module.head.weight.clone()
    module.reset_parameters()
    assert not (module.head.weight == before).all()


@pytest.mark.parametrize("cutoffs", [[], [10, 4], [0, 4], [4, 20], [4, 4], [4.5]])
def test_cutoffs(cutoffs):
    with pytest.raises(ValueError, match="cutoffs"):
        nn.AdaptiveLogSoftmaxWithLoss(8, 20, cutoffs)


@pytest.mark.parametrize(
    "input, target, message",
    [
        ((3, 8), rl.tensor([1, 2]), "same size"),
        ((3, 8), rl.tensor([1, 2, 20]), r"\[0, 19\], but values in range \[1, 20\]"),
        ((1, 8), rl.tensor(3), "0D target"),
        ((2, 3, 8), rl.tensor([[3]]), "multi-target"),
        ((1,), rl.tensor([3]), "1D target"),
    ],
)
def test_errors(input, target, message):
    with pytest.raises(RuntimeError, match=message):
        made()(rl.rand(input), target)


def test_against_pytorch():
    torch = pytest.importorskip("torch")
    ours = made()
    theirs = torch.nn.AdaptiveLogSoftmaxWithLoss(8, 20, [4, 10], div_value=2.0)
    theirs.load_state_dict({k: torch.tensor(v.tolist()) for k, v in ours.state_dict().items()})
    x, target = rl.randn(30, 8), rl.randint(20, (30,))
    output, _ = theirs(torch.tensor(x.tolist()), torch.tensor(target.tolist()))
    assert rl.allclose(ours(x, target).output, rl.tensor(output.tolist())) and repr(ours) == repr(theirs)
