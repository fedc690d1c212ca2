"""Adafactor, Muon and averaged models against PyTorch, step by step."""

import pytest

import rushlight
from rushlight import optim
from rushlight.optim import swa_utils

torch = pytest.importorskip("torch")

ADAFACTOR = [
    {},
    {"lr": 0.5, "weight_decay": 0.1, "d": 2.0},
    {"beta2_decay": -0.5, "eps": (1e-3, 1e-1), "maximize": True},
]
MUON = [
    {},
    {"lr": 0.1, "nesterov": False, "weight_decay": 0.0},
    {"lr": 0.1, "adjust_lr_fn": "match_rms_adamw", "ns_steps": 3, "momentum": 0.5},
]


def drawn(step, shapes, dtype=torch.float64):
    generator = torch.Generator().manual_seed(step)
    return [torch.randn(shape, generator=generator, dtype=dtype) for shape in shapes]


def ours(value):
    return rushlight.tensor(value.tolist(), dtype=getattr(rushlight, str(value.dtype).split(".")[1]))


def theirs(value):
    return torch.tensor(value.tolist(), dtype=getattr(torch, str(value.dtype).split(".")[1]))


def run_both(name, options, shapes, dtype, steps=5):
    starts = drawn(1000, shapes, dtype)
    mine = [rushlight.nn.Parameter(ours(start)) for start in starts]
    expected = [torch.nn.Parameter(start.clone()) for start in starts]
    optimizer, reference = getattr(optim, name)(mine, **options), getattr(torch.optim, name)(expected, **options)
    for step in range(steps):
        for i, (a, b, gradient) in enumerate(zip(mine, expected, drawn(step, shapes, dtype))):
            missing = i == 1 and step == 2
            a.grad, b.grad = (None, None) if missing else (ours(gradient), gradient.clone())
        optimizer.step()
        reference.step()
    return mine, expected, optimizer.state_dict(), reference.state_dict()


def compare(mine, expected, state, reference, tolerance):
    for a, b in zip(mine, expected):
        torch.testing.assert_close(theirs(a.detach()), b.detach(), rtol=tolerance, atol=tolerance)
    assert state["param_groups"] == reference["param_groups"]
    assert state["state"].keys() == reference["state"].keys()
    for index, entries in reference["state"].items():
        assert list(state["state"][index]) == list(entries)
        for key, value in entries.items():
            torch.testing.assert_close(theirs(state["state"][index][key]), value, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("options", ADAFACTOR, ids=str)
def test_adafactor(options):
    compare(*run_both("Adafactor", options, [(3, 4), (5,), (), (2, 3, 2)], torch.float64), 1e-12)
    compare(*run_both("Adafactor", options, [(3, 4), (5,)], torch.float32), 1e-5)


@pytest.mark.parametrize("options", MUON, ids=str)
def test_muon(options):
    """Moments agree exactly; what is orthogonal is computed in bfloat16, whose roundings may fall either way."""
    mine, expected, state, reference = run_both("Muon", options, [(3, 4), (6, 3), (4, 4)], torch.float64)
    compare([], [], state, reference, 1e-12)
    compare(mine, expected, state, reference, 5e-2 * options.get("lr", 1e-3))


@pytest.mark.parametrize(("name", "options", "match"), [
    ("Adafactor", {"beta2_decay": 1}, "beta2_decay should be <= 0 but is: 1"),
    ("Adafactor", {"d": 0.5}, "Clipping threshold d should be >= 1 but is: 0.5"),
    ("Adafactor", {"lr": -1}, "Learning rate should be >= 0 but is: -1"),
    ("Adafactor", {"eps": (-1, 1)}, "epsilon1 should be >= 0 but is: -1"),
    ("Muon", {"momentum": -1}, "momentum should be >= 0 but is: -1"),
    ("Muon", {"adjust_lr_fn": "x"}, "Adjust learning rate function x is not supported"),
    ("Muon", {"ns_steps": 100}, "less than 100"),
])  # fmt: skip
def test_refused(name, options, match):
    for lib in (rushlight, torch):
        with pytest.raises(ValueError, match=match):
            parameter = lib.nn.Parameter(lib.ones(2, 2))
            parameter.grad = lib.ones(2, 2)
            getattr(lib.optim, name)([parameter], **options).step()


def test_muon_takes_matrices_alone():
    with pytest.raises(ValueError, match="only supports 2D"):
        optim.Muon([rushlight.nn.Parameter(rushlight.ones(3))])
    with pytest.raises(RuntimeError, match="complex"):
        p = rushlight.nn.Parameter(rushlight.ones(3, dtype=rushlight.complex64))
        p.grad = rushlight.ones_like(p)
        optim.Adafactor([p]).step()


def model(lib):
    lib.manual_seed(0)
    return lib.nn.Sequential(lib.nn.Linear(3, 4), lib.nn.BatchNorm1d(4), lib.nn.Linear(4, 1))


AVERAGES = [
    lambda u: {},
    lambda u: {"multi_avg_fn": u.get_ema_multi_avg_fn(0.9), "use_buffers": True},
    lambda u: {"avg_fn": u.get_ema_avg_fn(0.9)},
    lambda u: {"avg_fn": u.get_swa_avg_fn(), "use_buffers": True},
    lambda u: {"multi_avg_fn": u.get_swa_multi_avg_fn()},
]


@pytest.mark.parametrize("options", AVERAGES, ids=range(len(AVERAGES)))
def test_averaged_models(options):
    batches, found = drawn(7, [(6, 3)] * 4, torch.float32), []
    for lib, utils in ((rushlight, swa_utils), (torch, torch.optim.swa_utils)):
        net = model(lib)
        averaged = utils.AveragedModel(net, **options(utils))
        optimizer = lib.optim.SGD(net.parameters(), lr=0.1)
        schedule = utils.SWALR(optimizer, swa_lr=0.05, anneal_epochs=3)
        rates = []
        for batch in batches:
            optimizer.zero_grad()
            (net(lib.tensor(batch.tolist())) ** 2).mean().backward()
            optimizer.step()
            averaged.update_parameters(net)
            schedule.step()
            rates.append(optimizer.param_groups[0]["lr"])
        before = {k: v.tolist() for k, v in averaged.state_dict().items()}
        utils.update_bn([(lib.tensor(b.tolist()), 0) for b in batches], averaged)
        after = {k: v.tolist() for k, v in averaged.state_dict().items()}
        found.append((before, after, rates, averaged.training, averaged.module[1].momentum))
    for mine, expected in zip(found[0][:2], found[1][:2]):
        assert list(mine) == list(expected)
        for key in mine:
            torch.testing.assert_close(torch.tensor(mine[key]), torch.tensor(expected[key]), rtol=1e-4, atol=1e-6)
    assert found[0][2] == pytest.approx(found[1][2]) and found[0][3:] == found[1][3:]


@pytest.mark.parametrize("options", [
    {"swa_lr": 0.5}, {"swa_lr": 0.5, "anneal_epochs": 0},
    {"swa_lr": [0.2], "anneal_epochs": 4, "anneal_strategy": "linear"},
], ids=str)  # fmt: skip
def test_swalr_after_another_schedule(options):
    found = []
    for lib, utils in ((rushlight, swa_utils), (torch, torch.optim.swa_utils)):
        optimizer = lib.optim.SGD([lib.ones(1, requires_grad=True)], lr=1.0)
        first = lib.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
        second = utils.SWALR(optimizer, **options)
        rates = []
        for epoch in range(15):
            optimizer.step()
            (first if epoch < 4 else second).step()
            rates.append(optimizer.param_groups[0]["lr"])
        found.append(
            (rates, second.state_dict(), {k: v for k, v in optimizer.param_groups[0].items() if k != "params"})
        )
    assert found[0][0] == pytest.approx(found[1][0])
    assert found[0][1] == found[1][1] and found[0][2] == found[1][2]


def test_averages_are_refused():
    net = model(rushlight)
    with pytest.raises(AssertionError, match="Only one"):
        swa_utils.AveragedModel(net, avg_fn=swa_utils.get_swa_avg_fn(), multi_avg_fn=swa_utils.get_swa_multi_avg_fn())
    with pytest.raises(ValueError, match=r"\[0,1\]"):
        swa_utils.get_ema_avg_fn(1.5)
    optimizer = optim.SGD(net.parameters(), lr=0.1)
    for options in ({"anneal_strategy": "x"}, {"anneal_epochs": -1}, {"swa_lr": [1, 2]}):
        with pytest.raises(ValueError, match=next(iter(options))):
            swa_utils.SWALR(optimizer, **{"swa_lr": 0.1, **options})


def test_other_tensors_for_a_block():
    mine, other = (rushlight.nn.Parameter(rushlight.full((2,), value)) for value in (1.0, 5.0))
    optimizer = optim.Adam([mine], lr=0.1)
    mine.grad = other.grad = rushlight.ones(2)
    optimizer.step()
    saved = optimizer.state_dict()
    before = mine.tolist()
    with optim.swap_in_optimizer_params_and_state(optimizer, {"other": other}, saved):
        optimizer.step()
        assert optimizer.param_groups[0]["params"][0] is other
    assert mine.tolist() == before and optimizer.param_groups[0]["params"][0] is mine
    assert other.tolist() == pytest.approx([4.9, 4.9]) and optimizer.state[mine]["step"].item() == 1
    with (
        pytest.raises(ValueError, match="parameters are given"),
        optim.swap_in_optimizer_params_and_state(optimizer, {}, saved),
    ):
        pass
