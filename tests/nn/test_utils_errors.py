"""nn.utils: what is refused, and small facts that need no other library."""

import copy
import pickle

import pytest

import rushlight as rl
from rushlight import nn
from rushlight.nn.utils import parametrizations, parametrize, prune


class Doubled(nn.Module):
    def forward(self, x):
        return 2 * x

    def right_inverse(self, y):
        return y / 2


class OneWay(nn.Module):
    def forward(self, x):
        return x + 1


class Longer(nn.Module):
    def forward(self, x):
        return rl.cat([x, x])


REFUSED = [
    (lambda m: parametrize.register_parametrization(m, "none", Doubled()), ValueError, "'none'"),
    (lambda m: parametrize.register_parametrization(m, "weight", Longer()), ValueError, "change the shape"),
    (lambda m: parametrize.remove_parametrizations(m, "weight"), ValueError, "does not have a parametrization"),
    (lambda m: parametrize.ParametrizationList([], m.weight), ValueError, "one or more modules"),
    (lambda m: parametrizations.orthogonal(m, "bias"), ValueError, "Expected a matrix"),
    (lambda m: parametrizations.orthogonal(m, orthogonal_map="x"), ValueError, "orthogonal_map has to be"),
    (lambda m: parametrizations.spectral_norm(m, "none"), ValueError, "no parameter or buffer"),
    (lambda m: parametrizations.spectral_norm(m, n_power_iterations=0), ValueError, "positive"),
    (lambda m: parametrizations.spectral_norm(m, dim=4), IndexError, "out of range"),
    (lambda m: nn.utils.spectral_norm(m, n_power_iterations=0), ValueError, "positive"),
    (lambda m: nn.utils.remove_spectral_norm(m), ValueError, "not found"),
    (lambda m: nn.utils.remove_weight_norm(m), ValueError, "not found"),
    (lambda m: prune.remove(m, "weight"), ValueError, "has to be pruned before"),
    (lambda m: prune.l1_unstructured(m, "weight", -1), ValueError, "amount=-1"),
    (lambda m: prune.l1_unstructured(m, "weight", 1.5), ValueError, "amount=1.5"),
    (lambda m: prune.l1_unstructured(m, "weight", "a"), TypeError, "int or float"),
    (lambda m: prune.l1_unstructured(m, "weight", 99), ValueError, "smaller than the number"),
    (lambda m: prune.ln_structured(m, "bias", 1, 2, 0), ValueError, "multidimensional"),
    (lambda m: prune.ln_structured(m, "weight", 1, 2, 5), IndexError, "Invalid index"),
    (
        lambda m: prune.global_unstructured([(m, "weight")], prune.LnStructured, amount=1, n=2),
        TypeError,
        "PRUNING_TYPE",
    ),
    (lambda m: nn.utils.skip_init(nn.ReLU), RuntimeError, "device"),
    (lambda m: nn.utils.skip_init(int), RuntimeError, "Module"),
]


@pytest.mark.parametrize(("call", "error", "match"), REFUSED, ids=lambda v: v if isinstance(v, str) else "")
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_refused(call, error, match):
    module = nn.Linear(3, 4)
    before = copy.deepcopy(module.state_dict())
    with pytest.raises(error, match=match):
        call(module)
    assert list(module.state_dict()) == list(before) and rl.equal(module.weight, before["weight"])


def test_assignment_goes_through_the_inverses():
    module = nn.Linear(2, 2)
    before = module.weight.detach().clone()
    parametrize.register_parametrization(module, "weight", Doubled())
    assert rl.equal(module.weight, before)
    module.weight = rl.full((2, 2), 6.0)
    assert module.parametrizations.weight.original.tolist() == [[3.0, 3.0]] * 2
    parametrize.register_parametrization(module, "weight", OneWay())
    with pytest.raises(RuntimeError, match="right_inverse"):
        module.weight = rl.ones(2, 2)
    other = parametrize.transfer_parametrizations_and_params(module, nn.Linear(2, 2))
    assert rl.equal(other.weight, module.weight)
    parametrize.remove_parametrizations(module, "weight", leave_parametrized=False)
    assert module.weight.tolist() == [[3.0, 3.0]] * 2 and type(module) is nn.Linear


def test_parametrized_modules_are_saved_by_their_state():
    module = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Doubled())
    with pytest.raises(RuntimeError, match="state_dict"):
        pickle.dumps(module)
    assert type(module).__name__ == "ParametrizedLinear"


def test_cached():
    module = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Doubled())
    assert module.weight is not module.weight
    with parametrize.cached():
        assert module.weight is module.weight
    assert module.weight is not module.weight


def test_files_of_weight_norm_of_old_load():
    new = parametrizations.weight_norm(nn.Linear(3, 2))
    with pytest.warns(FutureWarning, match="deprecated"):
        old = nn.utils.weight_norm(nn.Linear(3, 2))
    new.load_state_dict(old.state_dict())
    assert rl.equal(new.weight, old.weight)
    with pytest.raises(RuntimeError, match="two weight_norm"), pytest.warns(FutureWarning):
        nn.utils.weight_norm(old)


def test_small_helpers():
    layer = nn.utils.skip_init(nn.Linear, 5, 1)
    assert layer.weight.shape == (1, 5) and "reset_parameters" not in vars(layer)
    conv = nn.utils.convert_conv2d_weight_memory_format(nn.Sequential(nn.Conv2d(8, 4, 3)), rl.channels_last)[0]
    assert conv.weight.is_contiguous(memory_format=rl.channels_last)
    layer.weight.grad, layer.bias.grad = rl.ones(1, 5), None
    with pytest.warns(FutureWarning, match="clip_grad_norm_"):
        nn.utils.clip_grad_norm(layer.parameters(), 1.0)
    assert layer.weight.grad.norm().item() == pytest.approx(1, abs=1e-5)
