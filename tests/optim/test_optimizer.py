"""`Optimizer`: groups, closures, hooks, saved state, errors."""

import copy
import pickle
import subprocess
import sys
import warnings

import pytest

import rushlight
from rushlight import nn, optim
from rushlight.nn import Parameter


def parameter(*values, grad=None):
    made = Parameter(rushlight.tensor(values or [1.0, 2.0]))
    if grad is not None:
        made.grad = rushlight.tensor(grad)
    return made


def test_groups_have_their_own_options():
    a, b = parameter(1.0, grad=[1.0]), parameter(1.0, grad=[1.0])
    optimizer = optim.SGD([{"params": [a]}, {"params": b, "lr": 0.5}], lr=0.1)
    optimizer.step()
    assert a.item() == pytest.approx(0.9) and b.item() == pytest.approx(0.5)
    c = parameter(1.0, grad=[1.0])
    optimizer.add_param_group({"params": [c], "lr": 1.0})
    optimizer.step()
    assert c.item() == 0.0 and len(optimizer.param_groups) == 3


def test_named_parameters():
    net = nn.Linear(2, 1)
    optimizer = optim.SGD(net.named_parameters(), lr=0.1)
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]
    assert optimizer.param_groups[0]["params"][0] is net.weight
    with pytest.raises(ValueError, match="with/without names"):
        optimizer.add_param_group({"params": [parameter()]})


def test_parameters_without_gradient_are_left_alone():
    a, b = parameter(1.0, grad=[1.0]), parameter(1.0)
    optimizer = optim.Adam([a, b], lr=0.1)
    optimizer.step()
    assert b.item() == 1.0 and b not in optimizer.state and a in optimizer.state


def test_step_counts_of_parameters_that_do_not_always_step_together():
    a, b = parameter(1.0, grad=[1.0]), parameter(1.0, grad=[1.0])
    optimizer = optim.Adam([a, b], lr=0.1)
    optimizer.step()
    assert optimizer.state[a]["step"] is optimizer.state[b]["step"]
    b.grad = None
    optimizer.step()
    b.grad = rushlight.tensor([1.0])
    optimizer.step()
    assert optimizer.state[a]["step"].item() == 3.0 and optimizer.state[b]["step"].item() == 2.0
    saved = optimizer.state_dict()["state"]
    assert saved[0]["step"].item() == 3.0 and saved[1]["step"].item() == 2.0


def test_saved_step_counts_are_not_shared():
    params = [parameter(1.0, grad=[1.0]) for _ in range(2)]
    optimizer = optim.Adam(params)
    optimizer.step()
    saved = optimizer.state_dict()["state"]
    assert saved[0]["step"] is not saved[1]["step"]


def test_closures():
    p = parameter(3.0)
    optimizer = optim.SGD([p], lr=0.1)

    def closure():
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with rushlight.no_grad():
        assert optimizer.step(closure).item() == 9.0
    assert p.item() == pytest.approx(2.4)


def test_zero_grad():
    p = parameter(1.0, grad=[2.0])
    optimizer = optim.SGD([p], lr=0.1)
    optimizer.zero_grad(set_to_none=False)
    assert p.grad.item() == 0.0
    optimizer.zero_grad()
    assert p.grad is None


def test_hooks():
    p, seen = parameter(1.0, grad=[1.0]), []
    optimizer = optim.SGD([p], lr=0.1)
    handle = optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append("before"))
    optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append("after"))
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "extra": 1})
    optimizer.step()
    handle.remove()
    optimizer.step()
    assert seen == ["before", "after", "after"] and optimizer.state_dict()["extra"] == 1


def test_a_learning_rate_may_be_a_tensor():
    p, rate = parameter(1.0, grad=[1.0]), rushlight.tensor(0.5)
    optimizer = optim.SGD([p], lr=rate)
    schedule = optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
    optimizer.step()
    schedule.step()
    assert p.item() == 0.5 and rate.item() == 0.25


def test_non_contiguous_parameters_and_gradients():
    base = rushlight.arange(6.0).view(2, 3)
    p = Parameter(base.t())
    p.grad = rushlight.ones(2, 3).t()
    optim.Adam([p], lr=1.0).step()
    assert [value for row in base.tolist() for value in row] == pytest.approx([-1, 0, 1, 2, 3, 4], abs=1e-5)


@pytest.mark.parametrize(
    "make",
    [
        lambda p: optim.SGD(p, lr=0.1, momentum=0.9),
        lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.1),
        *(
            lambda p, kind=kind: getattr(optim, kind)(p, lr=0.1)
            for kind in ("Adam", "RMSprop", "Adagrad", "Rprop", "Adafactor")
        ),
    ],
)
def test_gradients_that_share_the_memory_of_parameters(make):
    """The first step reads the gradient as it was, whatever is written before it is read."""
    found = []
    for own in (False, True):
        p = Parameter(rushlight.tensor([[1.0, 2.0], [3.0, 4.0]]))
        p.grad = p.detach().clone() if own else p.detach()
        optimizer = make([p])
        optimizer.step()
        state = [v.tolist() for v in optimizer.state[p].values() if isinstance(v, rushlight.Tensor)]
        found.append((p.tolist(), state))
        assert own or p.grad.tolist() == p.tolist()
    assert found[0] == found[1]


def test_momentum_starts_with_a_gradient_that_shares_memory():
    p = parameter(1.0, 2.0)
    p.grad = p.detach()
    optimizer = optim.SGD([p], lr=0.1, momentum=0.9)
    optimizer.step()
    assert optimizer.state[p]["momentum_buffer"].tolist() == [1.0, 2.0]


def test_complex_parameters():
    p = Parameter(rushlight.tensor([1 + 1j]))
    p.grad = rushlight.tensor([1 - 2j])
    optim.Adam([p], lr=0.1).step()
    assert p.item() == pytest.approx(0.9 + 1.1j, abs=1e-5)


def test_saved_state_goes_to_the_parameters_dtype():
    p = parameter(1.0, grad=[1.0])
    optimizer = optim.Adam([p])
    optimizer.step()
    wide = Parameter(rushlight.ones(1, dtype=rushlight.float64))
    other = optim.Adam([wide])
    other.load_state_dict(optimizer.state_dict())
    assert other.state[wide]["exp_avg"].dtype is rushlight.float64
    assert other.state[wide]["step"].dtype is rushlight.float32
    other.state[wide]["exp_avg"].zero_()
    assert optimizer.state[p]["exp_avg"].item() != 0.0


def test_loading_what_does_not_match():
    optimizer = optim.SGD([parameter()])
    with pytest.raises(ValueError, match="different number of parameter groups"):
        optimizer.load_state_dict({"state": {}, "param_groups": []})
    with pytest.raises(ValueError, match="doesn't match the size"):
        optimizer.load_state_dict({"state": {}, "param_groups": [{"params": [0, 1]}]})


def test_copies_step_alike():
    p = parameter(1.0, grad=[1.0])
    optimizer = optim.Adam([p], lr=0.1)
    optimizer.step()
    for other in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
        (q,) = other.param_groups[0]["params"]
        q.grad = rushlight.tensor([1.0])
        other.step()
        assert q is not p and other.state[q]["step"].item() == 2.0 and optimizer.state[p]["step"].item() == 1.0


def test_printing():
    assert repr(optim.SGD([parameter()], lr=0.1)).startswith("SGD (\nParameter Group 0\n    dampening: 0\n")


def test_wrong_parameters():
    p = parameter()
    for wrong, error in ((p, TypeError), ([], ValueError), ([5], TypeError), ([p * 2], ValueError)):
        with pytest.raises(error):
            optim.SGD(wrong)
    optimizer = optim.SGD([p])
    with pytest.raises(ValueError, match="more than one parameter group"):
        optimizer.add_param_group({"params": [p]})
    with pytest.raises(TypeError, match="ordered collections"):
        optimizer.add_param_group({"params": {parameter()}})
    with pytest.warns(UserWarning, match="duplicate parameters"):
        optim.SGD([p, p])


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("SGD", {"lr": -1}, "Invalid learning rate: -1"),
        ("SGD", {"nesterov": True}, "Nesterov momentum requires"),
        ("Adam", {"betas": (1.0, 0.9)}, "Invalid beta parameter at index 0: 1.0"),
        ("AdamW", {"eps": -1}, "Invalid epsilon value: -1"),
        ("RMSprop", {"alpha": -1}, "Invalid alpha value: -1"),
        ("Adadelta", {"rho": 2}, "Invalid rho value: 2"),
        ("Rprop", {"etas": (2, 3)}, "Invalid eta values: 2, 3"),
    ],
)
def test_wrong_options(name, options, message):
    with pytest.raises(ValueError, match=message):
        getattr(optim, name)([parameter()], **options)


def test_schedules_warn_when_called_too_early():
    optimizer = optim.SGD([parameter()], lr=0.1)
    schedule = optim.lr_scheduler.StepLR(optimizer, 1)
    with pytest.warns(UserWarning, match="before `optimizer.step"):
        schedule.step()
    optimizer.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        schedule.step()


def test_schedules_resume():
    optimizer = optim.SGD([parameter()], lr=0.1)
    schedule = optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
    optimizer.step()
    for _ in range(4):
        schedule.step()
    state = rushlight_round_trip(schedule.state_dict())
    other = optim.SGD([parameter()], lr=0.1)
    other.load_state_dict(optimizer.state_dict())
    resumed = optim.lr_scheduler.CosineAnnealingLR(other, 10)
    resumed.load_state_dict(state)
    other.param_groups[0]["lr"] = optimizer.param_groups[0]["lr"]
    other.step()
    schedule.step()
    resumed.step()
    assert other.param_groups[0]["lr"] == optimizer.param_groups[0]["lr"]
    with pytest.raises(KeyError, match="initial_lr"):
        optim.lr_scheduler.StepLR(optim.SGD([parameter()]), 1, last_epoch=3)


def rushlight_round_trip(value):
    import io

    file = io.BytesIO()
    rushlight.save(value, file)
    return rushlight.load(io.BytesIO(file.getvalue()))


def halve(self, closure=None):
    with rushlight.no_grad():
        for group in self.param_groups:
            for p in group["params"]:
                p.mul_(group["lr"])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("step", [halve, rushlight.no_grad()(halve)], ids=["plain", "decorated"])
def test_own_optimizers(step):
    class Halving(optim.Optimizer):
        def __init__(self, params):
            super().__init__(params, {"lr": 0.5})

    own = type("Own", (Halving,), {"step": step})
    p, seen = parameter(4.0), []
    optimizer = own([p])
    optimizer.register_step_post_hook(lambda *_: seen.append(1))
    schedule = optim.lr_scheduler.StepLR(optimizer, 1)
    optimizer.step()
    schedule.step()  # would warn if it had not noticed the optimizer's step
    assert p.item() == 2.0 and seen == [1]


def test_constructing_imports_nothing_heavy():
    code = (
        "import sys, rushlight\n"
        "rushlight.optim.Adam(rushlight.nn.Linear(2, 2).parameters())\n"
        "print(*[m for m in ('numpy', 'llvmlite', 'inspect') if m in sys.modules])"
    )
    for _ in range(2):  # the first process may have to compile
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert "numpy" not in run.stdout and "llvmlite" not in run.stdout


@pytest.mark.parametrize("shared", [lambda p: p.data, lambda p: p.data.t(), lambda p: p.detach()])
def test_a_gradient_may_lie_in_its_parameter(shared):
    def after_two_steps(gradient):
        p = rushlight.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        stepper = optim.SGD([p], lr=0.1, momentum=0.9)
        for _ in range(2):
            p.grad = gradient(p)
            stepper.step()
        return p.tolist()

    assert after_two_steps(shared) == after_two_steps(lambda p: shared(p).clone())
