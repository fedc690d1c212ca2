"""`GradScaler`: scaling, steps left out, growth, and all that is refused."""

import pickle

import pytest

import rushlight as rl
from rushlight.amp import GradScaler


def pieces(value=1.0, **options):
    parameter = rl.nn.Parameter(rl.tensor([value]))
    return parameter, rl.optim.SGD([parameter], lr=1.0), GradScaler("cpu", **{"init_scale": 4.0, **options})


def iterate(parameter, optimizer, scaler, factor=1.0):
    optimizer.zero_grad()
    loss = scaler.scale((parameter * factor).sum())
    loss.backward()
    scaler.step(optimizer)
    scaler.update()
    return loss.item()


def test_good_steps_let_the_scale_grow_and_bad_ones_are_left_out():
    parameter, optimizer, scaler = pieces(growth_interval=2)
    assert iterate(parameter, optimizer, scaler) == 4.0 and parameter.item() == 0.0
    assert scaler.get_scale() == 4.0 and scaler.state_dict()["_growth_tracker"] == 1
    iterate(parameter, optimizer, scaler)
    assert (parameter.item(), scaler.get_scale(), scaler.state_dict()["_growth_tracker"]) == (-1.0, 8.0, 0)
    for bad in (float("inf"), float("nan")):
        scale = scaler.get_scale()
        iterate(parameter, optimizer, scaler, bad)
        assert (parameter.item(), scaler.get_scale()) == (-1.0, scale / 2)


def test_unscaled_gradients_can_be_clipped():
    parameter, optimizer, scaler = pieces()
    scaler.scale((parameter * 10).sum()).backward()
    assert parameter.grad.item() == 40.0
    scaler.unscale_(optimizer)
    assert parameter.grad.item() == 10.0
    assert rl.nn.utils.clip_grad_norm_([parameter], 1.0).item() == 10.0
    scaler.step(optimizer)
    assert parameter.item() == pytest.approx(0.0, abs=1e-6)


def test_containers_are_scaled_part_by_part():
    scaler = pieces()[2]
    one, (two, *_) = scaler.scale([rl.ones(1), (rl.ones(2),)])
    assert one.tolist() == [4.0] and two.tolist() == [4.0, 4.0]
    assert [t.item() for t in scaler.scale(rl.ones(1) for _ in range(2))] == [4.0, 4.0]
    with pytest.raises(ValueError, match="iterable of Tensors"):
        scaler.scale(3)


def test_order_is_checked():
    parameter, optimizer, scaler = pieces()
    for call in (lambda: scaler.unscale_(optimizer), lambda: scaler.step(optimizer), scaler.update):
        with pytest.raises(AssertionError, match="_scale is None"):
            call()
    scaler.scale(parameter.sum()).backward()
    with pytest.raises(RuntimeError, match="Closure"):
        scaler.step(optimizer, closure=lambda: 0)
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="already been called on this optimizer"):
        scaler.unscale_(optimizer)
    with pytest.raises(AssertionError, match="pickled"):
        pickle.dumps(scaler)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"step\(\) has already been called"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="after step"):
        scaler.unscale_(optimizer)
    scaler.update()
    optimizer.zero_grad()
    with pytest.raises(AssertionError, match="No inf checks"):
        scaler.step(optimizer)


def test_other_refusals():
    for options in ({"growth_factor": 1.0}, {"backoff_factor": 1.0}):
        with pytest.raises(AssertionError, match=next(iter(options)).partition("_")[0]):
            GradScaler("cpu", **options)
    half = rl.nn.Parameter(rl.ones(1, dtype=rl.float16))
    half.grad = rl.ones(1, dtype=rl.float16)
    scaler = pieces()[2]
    scaler.scale(rl.ones(1))
    with pytest.raises(ValueError, match="FP16"):
        scaler.unscale_(rl.optim.SGD([half], lr=1.0))
    with pytest.raises(AssertionError, match="new_scale"):
        scaler.update(rl.ones(2))
    scaler.update(3.0)
    assert scaler.get_scale() == 3.0


def test_saving():
    parameter, optimizer, scaler = pieces(growth_interval=5)
    iterate(parameter, optimizer, scaler)
    saved = scaler.state_dict()
    assert saved == {
        "scale": 4.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 5, "_growth_tracker": 1,
    }  # fmt: skip
    other = GradScaler("cpu")
    other.load_state_dict(saved)
    assert other.state_dict() == saved == pickle.loads(pickle.dumps(scaler)).state_dict()
    with pytest.raises(RuntimeError, match="empty"):
        other.load_state_dict({})


def test_disabled_ones_do_nothing():
    with (
        pytest.warns(UserWarning, match="CUDA is not available"),
        pytest.warns(FutureWarning, match="cuda.amp.GradScaler"),
    ):
        absent = rl.cuda.amp.GradScaler()
    for scaler in (absent, GradScaler("cpu", enabled=False), GradScaler(enabled=False)):
        parameter, optimizer, _ = pieces()
        assert iterate(parameter, optimizer, scaler) == 1.0 and parameter.item() == 0.0
        assert not scaler.is_enabled() and scaler.get_scale() == 1.0 and scaler.state_dict() == {}
        scaler.load_state_dict({})


def test_sparse_gradients():
    table = rl.nn.Embedding(4, 2, sparse=True)
    optimizer, scaler = rl.optim.SGD(table.parameters(), lr=1.0), GradScaler("cpu", init_scale=4.0)
    before = table.weight.detach().clone()
    scaler.scale(table(rl.tensor([1])).sum()).backward()
    scaler.step(optimizer)
    assert rl.allclose(before - table.weight, rl.tensor([[0.0, 0], [1, 1], [0, 0], [0, 0]]))
