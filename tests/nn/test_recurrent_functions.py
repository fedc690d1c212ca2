"""Recurrent networks as functions: equal to the modules."""

import pytest

import rushlight as rl
from rushlight import nn
from rushlight.nn.utils.rnn import pack_padded_sequence

MODULES = {"lstm": nn.LSTM, "gru": nn.GRU, "rnn_tanh": nn.RNN, "rnn_relu": nn.RNN}


def module_of(name, *sizes, **options):
    kind = {"nonlinearity": name[4:]} if name.startswith("rnn") else {}
    return MODULES[name](*sizes, **kind, **options)


def state_of(name, *shape):
    h = rl.rand(shape)
    return (h, rl.rand(shape)) if name == "lstm" else h


def flat(result):
    output, final = result
    return [output, *final] if isinstance(final, tuple) else [output, final]


def equal(found, expected):
    return len(found) == len(expected) and all((a == b).all() for a, b in zip(found, expected))


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("bias, bidirectional, batch_first", [(True, False, False), (False, True, True)])
def test_networks(name, bias, bidirectional, batch_first):
    options = {"num_layers": 2, "bias": bias, "bidirectional": bidirectional, "batch_first": batch_first}
    module = module_of(name, 3, 4, **options)
    x = rl.rand(2, 5, 3) if batch_first else rl.rand(5, 2, 3)
    state, weights = state_of(name, 4 if bidirectional else 2, 2, 4), list(module.parameters())
    found = getattr(rl, name)(x, state, weights, bias, 2, 0.0, True, bidirectional, batch_first)
    assert equal(found, flat(module(x, state)))
    named = {"hx": state, "params": weights, "has_biases": bias, "num_layers": 2, "dropout": 0.0, "train": False}
    named |= {"bidirectional": bidirectional}
    assert equal(getattr(rl, name)(input=x, batch_first=batch_first, **named), found)
    packed = pack_padded_sequence(x, rl.tensor([5, 3]) if batch_first else [5, 3], batch_first=batch_first)
    output, final = module(packed, state)
    found = getattr(rl, name)(packed.data, packed.batch_sizes, **named)
    assert equal(found, flat((output.data, final)))


def test_projection():
    module = nn.LSTM(3, 4, proj_size=2)
    x, state = rl.rand(5, 1, 3), (rl.rand(1, 1, 2), rl.rand(1, 1, 4))
    found = rl.lstm(x, state, list(module.parameters()), True, 1, 0.0, False, False, False)
    assert equal(found, flat(module(x, state)))


@pytest.mark.parametrize("name, cell", [("lstm", nn.LSTMCell), ("gru", nn.GRUCell), ("rnn_tanh", nn.RNNCell)])
def test_cells(name, cell):
    module, x, state = cell(3, 4), rl.rand(2, 3), state_of(name, 2, 4)
    weights = [module.weight_ih, module.weight_hh, module.bias_ih, module.bias_hh]
    found, expected = getattr(rl, name + "_cell")(x, state, *weights), module(x, state)
    assert equal(found, expected) if name == "lstm" else (found == expected).all()
    assert rl.rnn_relu_cell(rl.ones(1, 3), rl.ones(1, 4), rl.ones(4, 3), -rl.ones(4, 4)).tolist() == [[0.0] * 4]


def test_errors():
    with pytest.raises(TypeError, match="batch_first"):
        rl.gru(rl.rand(2, 1, 3))
    with pytest.raises(RuntimeError, match="weights"):
        rl.gru(rl.rand(2, 1, 3), rl.rand(2, 1, 3), [rl.ones(9, 3)], False, 2, 0.0, False, False, False)
