"""`lstm`, `gru`, `rnn_tanh`, `rnn_relu` and their cells as functions of the torch namespace, weights as arguments."""

from __future__ import annotations

from ..core import Tensor
from .recurrent_layers import Layers
from .recurrent_step import STEPS

_OPTIONS = ("hx", "params", "has_biases", "num_layers", "dropout", "train", "bidirectional")
_PADDED, _PACKED = ("input", *_OPTIONS, "batch_first"), ("data", "batch_sizes", *_OPTIONS)


def _bind(name: str, args: tuple, kwargs: dict) -> dict:
    """Arguments by name, of the form for padded sequences or of that for packed ones."""
    for names in (_PADDED, _PACKED):
        given = dict(zip(names, args)) | kwargs
        fits = len(args) + len(kwargs) == len(names) and given.keys() == set(names)
        if fits and isinstance(given["has_biases"], bool):  # nine arguments by place may be of either form
            return given
    raise TypeError(f"{name}() takes ({', '.join(_PADDED)}) or ({', '.join(_PACKED)})")


def _network(name: str, mode: str):
    count = STEPS[mode].states

    def function(*args, **kwargs):
        given = _bind(name, args, kwargs)
        rows = given["num_layers"] * (2 if given["bidirectional"] else 1)
        weights = _rows(name, list(given["params"]), rows)
        layers = Layers(mode, weights, given["has_biases"], given["num_layers"], given["dropout"], given["train"])
        state = list(given["hx"]) if count == 2 else [given["hx"]]
        if "data" in given:
            sizes = given["batch_sizes"].tolist()
            output, final = layers([x.unsqueeze(0) for x in given["data"].split(sizes)], sizes, state)
            return output, *final
        x = given["input"].transpose(0, 1) if given["batch_first"] else given["input"]
        output, final = layers(x, [x.shape[1]] * x.shape[0], state)
        return output.transpose(0, 1) if given["batch_first"] else output, *final

    function.__name__ = function.__qualname__ = name
    states = "states (h, c)" if count == 2 else "state h"
    function.__doc__ = (
        f"All outputs and the final {states}, each (layers·directions, batch, hidden), of a network given as a list of "
        "weights, those of a layer and direction together: "
        f"`{name}(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)`, or "
        f"`{name}(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional)` for packed "
        "sequences."
    )
    return function


def _rows(name: str, params: list, rows: int) -> list[list[Tensor]]:
    if not params or len(params) % rows:
        raise RuntimeError(
            f"{name}: expected as many weights in each of {rows} layers and directions, got {len(params)}"
        )
    size = len(params) // rows
    return [params[i : i + size] for i in range(0, len(params), size)]


def _cell(name: str, mode: str):
    def function(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
        step = STEPS[mode]([w_ih, w_hh, b_ih, b_hh], True)
        if step.states == 2:
            return tuple(step(step.project(input), list(hx)))
        return step(step.project(input), [hx])[0]

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"One time step with weights w_ih (gates·hidden, input) and w_hh (gates·hidden, hidden) ({mode})."
    )
    return function


lstm, gru = _network("lstm", "LSTM"), _network("gru", "GRU")
rnn_tanh, rnn_relu = _network("rnn_tanh", "RNN_TANH"), _network("rnn_relu", "RNN_RELU")
lstm_cell, gru_cell = _cell("lstm_cell", "LSTM"), _cell("gru_cell", "GRU")
rnn_tanh_cell, rnn_relu_cell = _cell("rnn_tanh_cell", "RNN_TANH"), _cell("rnn_relu_cell", "RNN_RELU")
