"""Hooks before and after calls, and on gradients."""

import pickle

import pytest

import rushlight
from rushlight import nn
from rushlight.nn import hooks


class Double(nn.Module):
    def forward(self, x, extra=0.0):
        return 2 * x + extra


X = rushlight.ones(2)


def test_forward_pre_hook_changes_arguments():
    net = Double()
    handle = net.register_forward_pre_hook(lambda module, args: args[0] + 1)
    assert net(X).tolist() == [4.0, 4.0]
    handle.remove()
    assert net(X).tolist() == [2.0, 2.0]


def test_forward_hook_changes_output():
    net, seen = Double(), []
    with net.register_forward_hook(lambda module, args, output: seen.append((module, args, output.tolist()))):
        net(X)
    net(X)
    assert len(seen) == 1 and seen[0][0] is net and seen[0][2] == [2.0, 2.0]
    net.register_forward_hook(lambda module, args, output: output * 10)
    assert net(X).tolist() == [20.0, 20.0]


def test_hooks_with_keywords():
    net = Double()
    net.register_forward_pre_hook(lambda m, args, kwargs: (args, {"extra": 5.0}), with_kwargs=True)
    net.register_forward_hook(lambda m, args, kwargs, output: output + kwargs["extra"], with_kwargs=True)
    assert net(X, extra=1.0).tolist() == [12.0, 12.0]
    net.register_forward_pre_hook(lambda m, args, kwargs: 5, with_kwargs=True)
    with pytest.raises(RuntimeError, match="new_args, new_kwargs"):
        net(X)


def test_order_and_prepend():
    net, order = Double(), []
    for name, prepend in (("a", False), ("b", False), ("c", True)):
        net.register_forward_hook(lambda *_, name=name: order.append(name), prepend=prepend)
    net(X)
    assert order == ["c", "a", "b"]


def test_always_called_hooks():
    net, seen = Double(), []
    net.register_forward_hook(lambda m, args, output: seen.append(output), always_call=True)
    with pytest.raises(TypeError):
        net()
    assert seen == [None]


def test_backward_hooks_see_and_change_gradients():
    net, seen = Double(), []

    def hook(module, grad_input, grad_output):
        seen.append((grad_input[0].tolist(), grad_output[0].tolist()))
        return (grad_input[0] * 10,)

    net.register_full_backward_hook(hook)
    x = rushlight.ones(2, requires_grad=True)
    (net(x) * 3).sum().backward()
    assert seen == [([6.0, 6.0], [3.0, 3.0])] and x.grad.tolist() == [60.0, 60.0]


def test_backward_pre_hook():
    net = Double()
    net.register_full_backward_pre_hook(lambda module, grad_output: (grad_output[0] * 0,))
    x = rushlight.ones(2, requires_grad=True)
    net(x).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]


def test_backward_hook_without_input_gradients():
    net, seen = nn.Linear(2, 1), []
    net.register_full_backward_hook(lambda m, grad_input, grad_output: seen.append((grad_input, grad_output[0].shape)))
    net(rushlight.ones(3, 2)).sum().backward()
    assert seen == [((None,), (3, 1))]
    assert net.weight.grad.tolist() == [[3.0, 3.0]]


def test_backward_hook_with_several_inputs_and_outputs():
    class Swap(nn.Module):
        def forward(self, a, number, b):
            return b * number, a

    net, seen = Swap(), []
    net.register_full_backward_hook(lambda m, grad_input, grad_output: seen.append((grad_input, grad_output)))
    a, b = rushlight.ones(1, requires_grad=True), rushlight.ones(1)
    first, second = net(a, 5.0, b)
    (first.sum() + 3 * second.sum()).backward()
    ((grad_input, grad_output),) = seen
    assert grad_input[0].tolist() == [3.0] and grad_input[1] is None and grad_input[2] is None
    assert grad_output[0] is None and grad_output[1].tolist() == [3.0]


def test_backward_hook_of_the_wrong_length():
    net = Double()
    net.register_full_backward_hook(lambda m, gi, go: (gi[0], gi[0]))
    x = rushlight.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="invalid number of grad_input"):
        net(x).sum().backward()


def test_global_hooks():
    seen = []
    handles = [
        hooks.register_module_forward_pre_hook(lambda m, args: seen.append("pre")),
        hooks.register_module_forward_hook(lambda m, args, output: seen.append("after")),
        hooks.register_module_full_backward_hook(lambda m, gi, go: seen.append("backward")),
    ]
    net = Double()
    try:
        net(rushlight.ones(2, requires_grad=True)).sum().backward()
        assert seen == ["pre", "after", "backward"]
    finally:
        for handle in handles:
            handle.remove()
        hooks.HookRegistration._hooked = False
    net(X)
    assert len(seen) == 3


def test_handles_survive_pickling():
    net = Double()
    handle = net.register_forward_hook(print)
    net, handle = pickle.loads(pickle.dumps((net, handle)))
    assert len(net._forward_hooks) == 1
    handle.remove()
    assert len(net._forward_hooks) == 0


def test_hooks_on_registration():
    from rushlight.nn.modules import module as path

    seen = []
    handles = [
        path.register_module_parameter_registration_hook(lambda m, name, p: seen.append((type(m).__name__, name))),
        path.register_module_buffer_registration_hook(lambda m, name, b: b + 1),
        path.register_module_module_registration_hook(lambda m, name, child: seen.append((type(m).__name__, name))),
    ]
    try:
        net = nn.Sequential(nn.Linear(1, 2))
        norm = nn.BatchNorm1d(3)
    finally:
        for handle in handles:
            handle.remove()
    assert seen[:3] == [("Linear", "weight"), ("Linear", "bias"), ("Sequential", "0")] and isinstance(
        net, nn.Sequential
    )
    assert norm.num_batches_tracked.shape == () and nn.BatchNorm1d(3).running_mean.tolist() == [0.0] * 3
    custom = nn.Module()
    with path.register_module_buffer_registration_hook(lambda m, name, b: b + 1):
        custom.register_buffer("x", rushlight.ones(2))
    assert custom.x.tolist() == [2.0, 2.0]
