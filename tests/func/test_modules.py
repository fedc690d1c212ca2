"""Modules as functions: `functional_call`, `stack_module_state`."""

import pytest

import rushlight as rl
from rushlight import nn
from rushlight.func import functional_call, stack_module_state, vmap


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2, bias=False)
        self.b = nn.Linear(2, 2, bias=False)
        self.b.weight = self.a.weight

    def forward(self, x):
        return self.a(x) + self.b(x)


def test_the_module_is_unchanged():
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    before = {name: t.clone() for name, t in model.state_dict().items()}
    given = {name: rl.ones_like(t) for name, t in model.state_dict().items()}
    functional_call(model, given, rl.randn(4, 2))
    assert all(rl.equal(t, before[name]) for name, t in model.state_dict().items())
    assert given["1.num_batches_tracked"] == 2  # what is written in place is written into what was given
    with pytest.raises(RuntimeError):
        functional_call(model, {"0.weight": rl.ones(7, 7)}, rl.ones(4, 2))
    assert rl.equal(model[0].weight, before["0.weight"])


def test_ties():
    model, x = Tied(), rl.ones(2)
    ones = rl.ones(2, 2)
    assert functional_call(model, {"a.weight": ones}, x).tolist() == [4.0, 4.0]
    assert functional_call(model, {"a.weight": ones}, x, tie_weights=False).tolist() != [4.0, 4.0]
    with pytest.raises(ValueError, match="tied"):
        functional_call(model, {"a.weight": ones, "b.weight": 2 * ones}, x)
    assert model.a.weight is model.b.weight


def test_errors():
    model, x = nn.Linear(2, 2), rl.ones(2)
    with pytest.raises(ValueError, match="multiple dictionaries"):
        functional_call(model, ({"weight": x}, {"weight": x}), x)
    with pytest.raises(RuntimeError, match=r"Unexpected key\(s\): 'foo'.*Missing key\(s\): 'bias'"):
        functional_call(model, {"weight": rl.ones(2, 2), "foo": x}, x, strict=True)
    with pytest.raises(TypeError, match="should be a Tensor"):
        functional_call(model, {"weight": 3}, x)
    with pytest.raises(RuntimeError, match="at least one model"):
        stack_module_state([])
    with pytest.raises(RuntimeError, match="same class"):
        stack_module_state([nn.Linear(1, 1), nn.Bilinear(1, 1, 1)])
    with pytest.warns(FutureWarning):
        nn.utils.stateless.functional_call(model, {"weight": rl.ones(2, 2)}, x)


def test_ensembles():
    models = [nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.BatchNorm1d(4)).eval() for _ in range(3)]
    parameters, buffers = stack_module_state(models)
    assert all(p.requires_grad and p.is_leaf and p.shape[0] == 3 for p in parameters.values())
    x = rl.randn(5, 3)
    found = vmap(lambda p, b: functional_call(models[0], (p, b), (x,)))(parameters, buffers)
    rl.testing.assert_close(found, rl.stack([m(x) for m in models]))
    found.square().sum().backward()
    rl.stack([m(x) for m in models]).square().sum().backward()
    rl.testing.assert_close(parameters["0.weight"].grad, rl.stack([m[0].weight.grad for m in models]))
