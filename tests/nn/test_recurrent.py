"""Recurrent layers against their cells: a sequence's gathered gradients are those of its steps."""

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.nn import recurrent_sequence
from rushlight.nn.recurrent_step import STEPS

LAYERS = {"LSTM": nn.LSTMCell, "GRU": nn.GRUCell, "RNN": nn.RNNCell}


def pair(name: str):
    """A layer in float64 and a cell with the same weights."""
    torch.manual_seed(0)
    layer, cell = getattr(nn, name)(3, 4).double(), LAYERS[name](3, 4).double()
    for suffix in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        getattr(cell, suffix).data.copy_(getattr(layer, suffix + "_l0").data)
    return layer, cell


def states_of(name: str, seed: int):
    generator = torch.Generator().manual_seed(seed)
    states = [torch.randn(1, 2, 4, dtype=torch.float64, generator=generator) for _ in range(2)]
    return tuple(s.requires_grad_() for s in states[: 2 if name == "LSTM" else 1])


def loop(name, cell, x, states):
    """What the layer computes, step by step."""
    state = tuple(s[0] for s in states)
    outputs = []
    for t in range(x.shape[0]):
        after = cell(x[t], state if name == "LSTM" else state[0])
        state = after if name == "LSTM" else (after,)
        outputs.append(state[0])
    return torch.stack(outputs), state


@pytest.mark.parametrize("name", LAYERS)
def test_gradients_are_those_of_the_steps(name):
    layer, cell = pair(name)
    x = torch.randn(5, 2, 3, dtype=torch.float64, requires_grad=True)
    states = states_of(name, 1)
    weight = torch.randn(5, 2, 4, dtype=torch.float64)

    outputs, final = layer(x, states if name == "LSTM" else states[0])
    final = final if name == "LSTM" else (final,)
    inputs = [x, *states, layer.weight_ih_l0, layer.weight_hh_l0, layer.bias_ih_l0, layer.bias_hh_l0]
    got = torch.autograd.grad((outputs * weight).sum() + sum((f * f).sum() for f in final), inputs)

    outputs, final = loop(name, cell, x, states)
    inputs = [x, *states, cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh]
    expected = torch.autograd.grad((outputs * weight).sum() + sum((f * f).sum() for f in final), inputs)
    for a, b in zip(got, expected):
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", LAYERS)
def test_gradcheck_to_second_order_and_in_reverse(name):
    torch.manual_seed(0)
    layer = getattr(nn, name)(2, 3, bidirectional=True).double()
    x = torch.randn(3, 2, 2, dtype=torch.float64, requires_grad=True)
    weights = [layer.weight_hh_l0, layer.bias_hh_l0_reverse]

    def outputs(x, *weights):
        return layer(x)[0].sum((0, 1))

    assert torch.autograd.gradcheck(outputs, (x, *weights))
    assert torch.autograd.gradgradcheck(outputs, (x, *weights))


def test_frozen_hidden_weights_get_no_gradient():
    layer = nn.LSTM(3, 4)
    layer.weight_hh_l0.requires_grad_(False)
    layer(torch.randn(5, 2, 3))[0].sum().backward()
    assert layer.weight_hh_l0.grad is None and layer.weight_ih_l0.grad.abs().sum() > 0


def test_a_second_backward_needs_the_graph():
    layer = nn.GRU(3, 4)
    loss = layer(torch.randn(5, 2, 3))[0].sum()
    loss.backward(retain_graph=True)
    first = layer.weight_hh_l0.grad.clone()
    loss.backward()
    torch.testing.assert_close(layer.weight_hh_l0.grad, 2 * first)
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()


def test_relu_has_no_slope_at_zero():
    layer = nn.RNN(1, 1, nonlinearity="relu", bias=False)
    x = torch.zeros(2, 1, 1, requires_grad=True)
    layer(x)[0].sum().backward()
    assert x.grad.tolist() == [[[0.0]], [[0.0]]]


@pytest.mark.parametrize("times", [3, 20])
@pytest.mark.parametrize("mode", sorted(STEPS))
def test_gathered_gradients_for_few_and_many_times(mode, times):
    """Many times take the weight turned over and steps that hold their product; few do not."""
    kind = STEPS[mode]
    torch.manual_seed(0)
    shapes = (kind.gates * 5, 3), (kind.gates * 5, 5), (kind.gates * 5,), (kind.gates * 5,)
    weights = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    projected = torch.randn(times, 2, kind.gates * 5, dtype=torch.float64, requires_grad=True)
    states = [torch.randn(2, 5, dtype=torch.float64, requires_grad=True) for _ in range(kind.states)]
    step, leaves = kind(weights, True), [projected, weights[1], weights[3], *states]

    def results(run, reverse):
        outputs, final = run(step, projected, states, reverse)
        loss = (outputs * outputs).sum() + sum((s * s * s).sum() for s in final)
        return [outputs, *torch.autograd.grad(loss, leaves)]

    for reverse in (False, True):
        expected = results(recurrent_sequence._repeat, reverse)
        for a, b in zip(results(recurrent_sequence.run_sequence, reverse), expected):
            torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-9)
        with torch.no_grad():
            outputs, _ = recurrent_sequence.run_sequence(step, projected, states, reverse)
        torch.testing.assert_close(outputs, expected[0].detach(), rtol=1e-12, atol=1e-12)


def test_a_batch_of_cotangents_at_once():
    torch.manual_seed(0)
    layer, x = nn.LSTM(3, 4), torch.randn(5, 2, 3, requires_grad=True)
    output, _ = layer(x)
    cotangents = torch.randn(3, *output.shape)
    (batched,) = torch.autograd.grad(output, [x], [cotangents], retain_graph=True, is_grads_batched=True)
    for have, cotangent in zip(batched, cotangents):
        torch.testing.assert_close(have, torch.autograd.grad(output, [x], [cotangent], retain_graph=True)[0])
