"""Optimizers and schedules against PyTorch: parameters, saved state and rates, step by step."""

import warnings

import pytest

import rushlight
from rushlight import optim

torch = pytest.importorskip("torch")

SHAPES = [(3, 4), (5,), ()]
OPTIONS = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.3, "maximize": True}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    ("Adam", {"lr": 0.1}),
    ("Adam", {"lr": 0.1, "betas": (0.8, 0.9), "eps": 1e-3, "weight_decay": 0.1, "amsgrad": True}),
    ("Adam", {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True}),
    ("AdamW", {"lr": 0.1}),
    ("AdamW", {"lr": 0.1, "amsgrad": True, "maximize": True}),
    ("Adamax", {"lr": 0.1, "weight_decay": 0.1}),
    ("NAdam", {"lr": 0.1}),
    ("NAdam", {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("RAdam", {"lr": 0.1}),
    ("RAdam", {"lr": 0.1, "betas": (0.5, 0.8), "weight_decay": 0.1}),
    ("RMSprop", {"lr": 0.1}),
    ("RMSprop", {"lr": 0.1, "centered": True, "momentum": 0.9, "weight_decay": 0.1}),
    ("RMSprop", {"lr": 0.1, "momentum": 0.9, "maximize": True}),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.5}),
    ("Adadelta", {"lr": 0.5, "weight_decay": 0.1}),
    ("Rprop", {"lr": 0.1}),
    ("ASGD", {"lr": 0.1, "t0": 3, "weight_decay": 0.1}),
]


def gradients(step):
    generator = torch.Generator().manual_seed(step)
    return [torch.randn(shape, generator=generator) for shape in SHAPES]


def ours(value):
    return rushlight.tensor(value.tolist(), dtype=getattr(rushlight, str(value.dtype).split(".")[1]))


def theirs(value):
    return torch.tensor(value.tolist(), dtype=getattr(torch, str(value.dtype).split(".")[1]))


def make_both(name, options, starts=None):
    starts = gradients(1000) if starts is None else starts
    mine = [rushlight.nn.Parameter(ours(start)) for start in starts]
    expected = [torch.nn.Parameter(start.clone()) for start in starts]
    return mine, getattr(optim, name)(mine, **options), expected, getattr(torch.optim, name)(expected, **options)


def compare_state(mine, expected):
    assert list(mine) == list(expected) == ["state", "param_groups"]
    assert mine["param_groups"] == expected["param_groups"]
    assert mine["state"].keys() == expected["state"].keys()
    for index, state in expected["state"].items():
        assert mine["state"][index].keys() == state.keys()
        for key, value in state.items():
            found = mine["state"][index][key]
            if isinstance(value, torch.Tensor):
                torch.testing.assert_close(theirs(found), value, rtol=1e-5, atol=1e-5)
            else:
                assert found == value


@pytest.mark.parametrize(("name", "options"), OPTIONS, ids=lambda v: v if isinstance(v, str) else "")
def test_steps(name, options):
    """Ten steps, in the middle of which one parameter has no gradient."""
    mine, optimizer, expected, reference = make_both(name, options)
    for step in range(10):
        for i, (a, b, gradient) in enumerate(zip(mine, expected, gradients(step))):
            missing = i == 1 and step in (0, 4, 5)
            a.grad = None if missing else ours(gradient)
            b.grad = None if missing else gradient.clone()
        optimizer.step()
        reference.step()
        for a, b in zip(mine, expected):
            torch.testing.assert_close(theirs(a.detach()), b.detach(), rtol=1e-5, atol=1e-6)
    compare_state(optimizer.state_dict(), reference.state_dict())


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "NAdam"])
def test_saved_state_continues(name):
    """A second optimizer that loads the state goes on as the first one does."""
    options = {"lr": 0.1, "momentum": 0.9} if name in ("SGD", "RMSprop") else {"lr": 0.1}
    mine, optimizer, _, _ = make_both(name, options)

    def run(parameters, running, steps):
        for step in steps:
            for a, gradient in zip(parameters, gradients(step)):
                a.grad = ours(gradient)
            running.step()

    run(mine, optimizer, range(3))
    copies = [rushlight.nn.Parameter(p.detach().clone()) for p in mine]
    other = getattr(optim, name)(copies, lr=1.0)
    other.load_state_dict(optimizer.state_dict())
    run(mine, optimizer, range(3, 6))
    run(copies, other, range(3, 6))
    assert [p.tolist() for p in copies] == [p.tolist() for p in mine]


@pytest.mark.parametrize("options", [{}, {"line_search_fn": "strong_wolfe"}, {"lr": 0.3, "history_size": 2}])
def test_lbfgs(options):
    mine, optimizer, expected, reference = make_both("LBFGS", options, [torch.tensor([-1.2, 1.0])])

    def rosenbrock(p):
        return (1 - p[0]) ** 2 + 10 * (p[1] - p[0] ** 2) ** 2

    def closure(p, running):
        def evaluate():
            running.zero_grad()
            loss = rosenbrock(p)
            loss.backward()
            return loss

        return evaluate

    for _ in range(2):
        a = optimizer.step(closure(mine[0], optimizer))
        b = reference.step(closure(expected[0], reference))
        torch.testing.assert_close(theirs(a.detach()), b.detach(), rtol=1e-3, atol=1e-5)
        torch.testing.assert_close(theirs(mine[0].detach()), expected[0].detach(), rtol=1e-3, atol=1e-4)


SCHEDULES = [
    ("LambdaLR", {"lr_lambda": lambda epoch: 0.95**epoch}),
    ("MultiplicativeLR", {"lr_lambda": lambda epoch: 0.95}),
    ("StepLR", {"step_size": 3, "gamma": 0.5}),
    ("MultiStepLR", {"milestones": [2, 5, 5], "gamma": 0.5}),
    ("ConstantLR", {}),
    ("LinearLR", {"start_factor": 0.2, "total_iters": 6}),
    ("PolynomialLR", {"power": 2.0}),
    ("ExponentialLR", {"gamma": 0.9}),
    ("CosineAnnealingLR", {"T_max": 4, "eta_min": 0.01}),
    ("CosineAnnealingWarmRestarts", {"T_0": 3, "T_mult": 2, "eta_min": 0.01}),
    ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.1, "step_size_up": 3}),
    ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.1, "step_size_up": 3, "step_size_down": 5, "mode": "triangular2"}),
    ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.1, "step_size_up": 3, "mode": "exp_range", "gamma": 0.9}),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 20}),
    ("OneCycleLR", {"max_lr": 0.5, "epochs": 4, "steps_per_epoch": 5, "three_phase": True}),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 20, "anneal_strategy": "linear", "pct_start": 0.5}),
]


def both_with_momentum(name="SGD"):
    options = {"lr": 0.1, "momentum": 0.9} if name == "SGD" else {"lr": 0.1}
    _, optimizer, _, reference = make_both(name, options)
    return optimizer, reference


def rates(optimizer):
    group = optimizer.param_groups[0]
    return group["lr"], group.get("momentum"), group.get("betas")


@pytest.mark.parametrize("optimizer_name", ["SGD", "Adam"])
@pytest.mark.parametrize(("name", "options"), SCHEDULES, ids=lambda v: v if isinstance(v, str) else "")
def test_schedules(name, options, optimizer_name):
    optimizer, reference = both_with_momentum(optimizer_name)
    mine = getattr(optim.lr_scheduler, name)(optimizer, **options)
    expected = getattr(torch.optim.lr_scheduler, name)(reference, **options)
    assert rates(optimizer) == rates(reference)
    optimizer.step()
    reference.step()
    for _ in range(19):
        mine.step()
        expected.step()
        assert rates(optimizer) == rates(reference)
        assert mine.get_last_lr() == expected.get_last_lr()
    assert mine.state_dict().keys() == expected.state_dict().keys()
    assert optimizer.param_groups[0] | {"params": 0} == reference.param_groups[0] | {"params": 0}


@pytest.mark.parametrize(
    ("name", "options"),
    [s for s in SCHEDULES if s[0] not in ("MultiplicativeLR", "CyclicLR", "OneCycleLR", "LambdaLR")],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_going_to_an_epoch(name, options):
    optimizer, reference = both_with_momentum()
    mine = getattr(optim.lr_scheduler, name)(optimizer, **options)
    expected = getattr(torch.optim.lr_scheduler, name)(reference, **options)
    optimizer.step()
    reference.step()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for epoch in (3, 7, 2):
            mine.step(epoch)
            expected.step(epoch)
            assert optimizer.param_groups[0]["lr"] == pytest.approx(reference.param_groups[0]["lr"], rel=1e-14)


@pytest.mark.parametrize(
    ("second", "options"),
    [("ExponentialLR", {"gamma": 0.9}), ("CosineAnnealingLR", {"T_max": 5}), ("StepLR", {"step_size": 2})],
)
def test_combined_schedules(second, options):
    for combined in ("SequentialLR", "ChainedScheduler"):
        optimizer, reference = both_with_momentum()
        schedules = []
        for room, running in ((optim.lr_scheduler, optimizer), (torch.optim.lr_scheduler, reference)):
            parts = [room.LinearLR(running, 0.1, total_iters=4), getattr(room, second)(running, **options)]
            extra = (running, parts, [4]) if combined == "SequentialLR" else (parts,)
            schedules.append(getattr(room, combined)(*extra))
        assert rates(optimizer) == rates(reference)
        optimizer.step()
        reference.step()
        for _ in range(12):
            for schedule in schedules:
                schedule.step()
            assert rates(optimizer) == rates(reference), combined
        assert schedules[0].state_dict() == schedules[1].state_dict()


@pytest.mark.parametrize(
    "options",
    [
        {"patience": 2},
        {"mode": "max", "factor": 0.5, "patience": 1, "cooldown": 2, "min_lr": 0.01},
        {"threshold_mode": "abs", "threshold": 0.3, "patience": 1},
        {"mode": "max", "threshold_mode": "abs", "patience": 0},
    ],
)
def test_plateau(options):
    optimizer, reference = both_with_momentum()
    mine = optim.lr_scheduler.ReduceLROnPlateau(optimizer, **options)
    expected = torch.optim.lr_scheduler.ReduceLROnPlateau(reference, **options)
    for metric in (5, 4, 4, 3.9, 4.1, 4.2, 4.3, 3.5, 3.6, 3.7, 3.8, 3.9, 4, 4, 4, 4):
        mine.step(metric)
        expected.step(metric)
        assert rates(optimizer) == rates(reference)
    assert mine.state_dict() == expected.state_dict()
