"""nn.utils against PyTorch: normalised, parametrized, pruned and fused layers, values and what is saved."""

import copy
import warnings

import pytest

import rushlight as rl

torch = pytest.importorskip("torch")
pytest.importorskip("torch.nn.utils.prune")
BOTH = (rl, torch)


def layer(lib, name="Linear", *sizes):
    lib.manual_seed(3)
    return getattr(lib.nn, name)(*(sizes or (4, 3)))


def same(ours, theirs, tolerance=1e-5):
    assert tuple(ours.shape) == tuple(theirs.shape)
    torch.testing.assert_close(torch.tensor(ours.tolist()), theirs.detach(), rtol=tolerance, atol=tolerance,
                               check_dtype=False)  # fmt: skip


def same_state(ours, theirs):
    ours, theirs = ours.state_dict(), theirs.state_dict()
    assert list(ours) == list(theirs)
    for name in ours:
        same(ours[name], theirs[name])


def trained(lib, module, x, steps=3):
    """The module after some steps, and its losses."""
    optimizer, losses = lib.optim.SGD(module.parameters(), lr=0.1), []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (module(lib.tensor(x)) ** 2).sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def x_of(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1)).tolist()


P = "utils.parametrizations."
NORMS = [
    ("utils.weight_norm", {}, "Linear", (4, 3)),
    ("utils.weight_norm", {"dim": None}, "Linear", (4, 3)),
    ("utils.weight_norm", {"dim": 1}, "Conv1d", (4, 3, 2)),
    ("utils.spectral_norm", {}, "Linear", (4, 3)),
    ("utils.spectral_norm", {"n_power_iterations": 3}, "ConvTranspose1d", (4, 3, 2)),
    (P + "weight_norm", {}, "Linear", (4, 3)),
    (P + "weight_norm", {"dim": None}, "Conv1d", (4, 3, 2)),
    (P + "spectral_norm", {}, "Linear", (4, 3)),
    (P + "spectral_norm", {"dim": 1}, "ConvTranspose1d", (4, 3, 2)),
    (P + "orthogonal", {}, "Linear", (4, 4)),
    (P + "orthogonal", {}, "Linear", (6, 3)),
    (P + "orthogonal", {}, "Linear", (3, 6)),
    (P + "orthogonal", {"orthogonal_map": "cayley"}, "Linear", (4, 3)),
    (P + "orthogonal", {"orthogonal_map": "householder", "use_trivialization": False}, "Linear", (4, 4)),
    (P + "orthogonal", {"orthogonal_map": "matrix_exp", "use_trivialization": False}, "Linear", (3, 4)),
]


@pytest.mark.parametrize(("path", "options", "name", "sizes"), NORMS, ids=lambda v: v if isinstance(v, str) else "")
def test_normalised_layers_train_alike(path, options, name, sizes):
    made = []
    x = x_of(5, sizes[0]) if name == "Linear" else x_of(2, sizes[0], 6)
    for lib in BOTH:
        function = lib.nn
        for part in path.split("."):
            function = getattr(function, part)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = function(layer(lib, name, *sizes), **options)
        made.append(module)
    ours, theirs = made
    same_state(ours, theirs)
    same(ours.weight, theirs.weight)
    assert trained(rl, ours, x) == pytest.approx(trained(torch, theirs, x), rel=1e-4, abs=1e-6)
    same_state(ours, theirs)
    for module in (ours.eval(), theirs.eval()):
        module(rl.tensor(x) if module is ours else torch.tensor(x))
    same(ours.weight, theirs.weight)
    remove(rl, path, ours), remove(torch, path, theirs)
    assert sorted(ours.state_dict()) == ["bias", "weight"]
    assert type(ours) is getattr(rl.nn, name) and ours.weight.is_leaf
    same(ours.weight, theirs.weight)


def remove(lib, path, module):
    if path.startswith(P):
        return lib.nn.utils.parametrize.remove_parametrizations(module, "weight")
    return getattr(lib.nn.utils, "remove_" + path.rpartition(".")[2])(module)


PRUNINGS = [
    [("l1_unstructured", {"amount": 0.3})],
    [("l1_unstructured", {"amount": 2}), ("ln_structured", {"amount": 1, "n": 2, "dim": 0})],
    [("ln_structured", {"amount": 0.5, "n": float("inf"), "dim": -1}), ("l1_unstructured", {"amount": 3})],
    [("ln_structured", {"amount": 1, "n": 1, "dim": 1}), ("ln_structured", {"amount": 1, "n": 2, "dim": 1})],
    [("random_unstructured", {"amount": 4})],
    [("random_structured", {"amount": 1, "dim": 0}), ("identity", {})],
]


@pytest.mark.parametrize("steps", PRUNINGS, ids=lambda s: "-".join(name for name, _ in s))
def test_pruning_agrees(steps):
    made = []
    for lib in BOTH:
        module = layer(lib, "Linear", 5, 4)
        for name, options in steps:
            assert getattr(lib.nn.utils.prune, name)(module, "weight", **options) is module
        made.append(module)
    same_state(*made)
    x = x_of(3, 5)
    assert trained(rl, made[0], x) == pytest.approx(trained(torch, made[1], x), rel=1e-4)
    for lib, module in zip(BOTH, made):
        assert lib.nn.utils.prune.is_pruned(module)
        lib.nn.utils.prune.remove(module, "weight")
        assert not lib.nn.utils.prune.is_pruned(module)
    assert sorted(made[0].state_dict()) == sorted(made[1].state_dict())
    same(made[0].weight, made[1].weight)


def test_global_pruning_agrees():
    made = []
    for lib in BOTH:
        module = lib.nn.Sequential(layer(lib), layer(lib, "Linear", 3, 2))
        lib.nn.utils.prune.l1_unstructured(module[0], "weight", 2)
        pairs = [(module[0], "weight"), (module[1], "weight")]
        lib.nn.utils.prune.global_unstructured(pairs, lib.nn.utils.prune.L1Unstructured, amount=0.5)
        made.append(module)
    same_state(*made)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("name", "sizes", "shape"), [
    ("Conv2d", (3, 4, 2), (2, 3, 5, 5)), ("ConvTranspose2d", (3, 4, 2), (2, 3, 5, 5)), ("Linear", (3, 4), (5, 3)),
])  # fmt: skip
def test_fused_norms_equal_the_pair(name, sizes, shape, bias):
    norm = rl.nn.BatchNorm1d if name == "Linear" else rl.nn.BatchNorm2d
    first, bn = getattr(rl.nn, name)(*sizes, bias=bias), norm(4)
    x = rl.randn(*shape)
    for _ in range(3):
        bn(first(x))
    first, bn = first.eval(), bn.eval()
    rl.nn.init.uniform_(bn.weight), rl.nn.init.uniform_(bn.bias)
    fuse = rl.nn.utils.fuse_linear_bn_eval if name == "Linear" else rl.nn.utils.fuse_conv_bn_eval
    fused = fuse(first, bn, *([True] if "Transpose" in name else []))
    assert type(fused) is type(first) and rl.allclose(fused(x), bn(first(x)), atol=1e-5)
    with pytest.raises(AssertionError, match="eval"):
        fuse(first.train(), bn)


def test_copies_of_parametrized_modules_are_apart():
    parametrize = rl.nn.utils.parametrize
    module = rl.nn.utils.parametrizations.weight_norm(layer(rl))
    other = copy.deepcopy(module)
    parametrize.remove_parametrizations(other, "weight")
    assert parametrize.is_parametrized(module, "weight") and not parametrize.is_parametrized(other)
    assert rl.equal(module.weight, other.weight) and type(other) is rl.nn.Linear
    assert parametrize.type_before_parametrizations(module) is rl.nn.Linear
