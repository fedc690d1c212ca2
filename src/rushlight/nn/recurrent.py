"""Recurrent layers: RNN, LSTM and GRU over sequences, padded or packed."""

from __future__ import annotations

import math
import warnings

from .. import ops
from ..core import Tensor
from . import init
from .module import Module
from .parameter import Parameter
from .recurrent_layers import Layers
from .recurrent_step import STEPS
from .utils.rnn import PackedSequence


class RNNBase(Module):
    """What the recurrent layers share.

    `mode` is LSTM, GRU, RNN_TANH or RNN_RELU. Every layer and direction has weights `weight_ih_l0` (gates·hidden,
    input), `weight_hh_l0` (gates·hidden, hidden) and, with `bias`, `bias_ih_l0` and `bias_hh_l0`; the backward
    direction's end in `_reverse`. All start uniform in ±1/sqrt(hidden_size).
    """

    def __init__(
        self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0, device=None,
        dtype=None,
    ):  # fmt: skip
        super().__init__()
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        self._check()
        self._flat_weights_names = []
        for layer in range(num_layers):
            for suffix in self._suffixes():
                self._add_weights(f"_l{layer}{suffix}", layer, device, dtype)
        self.reset_parameters()

    def _suffixes(self) -> tuple[str, ...]:
        return ("", "_reverse") if self.bidirectional else ("",)

    def _check(self) -> None:
        name = type(self).__name__
        if self.mode not in STEPS:
            raise ValueError("Unrecognized RNN mode: " + self.mode)
        for option in ("input_size", "hidden_size", "num_layers"):
            value = getattr(self, option)
            if not isinstance(value, int):
                raise TypeError(f"{option} should be of type int, got: {type(value).__name__}")
            if value <= 0 and option != "input_size":
                raise ValueError(f"{name}: {option} must be greater than zero, got {value}")
        if not 0 <= self.dropout <= 1:
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
            )
        if self.dropout > 0 and self.num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
                f"num_layers greater than 1, but got dropout={self.dropout} and num_layers=1",
                stacklevel=4,
            )
        if not 0 <= self.proj_size < self.hidden_size:
            raise ValueError(f"{name}: proj_size has to be in [0, hidden_size), got {self.proj_size}")
        if self.proj_size and self.mode != "LSTM":
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")

    def _add_weights(self, suffix: str, layer: int, device, dtype) -> None:
        gates = STEPS[self.mode].gates * self.hidden_size
        output = self.proj_size or self.hidden_size
        input = self.input_size if layer == 0 else output * len(self._suffixes())
        shapes = {"weight_ih": (gates, input), "weight_hh": (gates, output)}
        if self.bias:
            shapes.update(bias_ih=(gates,), bias_hh=(gates,))
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        for name, shape in shapes.items():
            setattr(self, name + suffix, Parameter(ops.empty(shape, device=device, dtype=dtype)))
            self._flat_weights_names.append(name + suffix)

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The weights of each layer and direction."""
        names = self._flat_weights_names
        size = len(names) // (self.num_layers * len(self._suffixes()))
        return [[getattr(self, name) for name in names[i : i + size]] for i in range(0, len(names), size)]

    def reset_parameters(self) -> None:
        """Draws new initial values."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def flatten_parameters(self) -> None:
        """Does nothing: kept for programs that call it; the weights need no common block of memory here."""

    def forward(self, input, hx=None):
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        if input.ndim not in (2, 3):
            raise ValueError(f"{self.mode}: Expected input to be 2D or 3D, got {input.ndim}D tensor instead")
        batched = input.ndim == 3
        x = input if batched else input.unsqueeze(1)
        if self.batch_first and batched:
            x = x.transpose(0, 1)
        self._check_input(x)
        state = self._initial_state(x, x.shape[1], hx, batched)
        output, final = self._run(x, [x.shape[1]] * x.shape[0], state)
        if not batched:
            return output.squeeze(1), self._hidden([s.squeeze(1) for s in final])
        return output.transpose(0, 1) if self.batch_first else output, self._hidden(final)

    def _forward_packed(self, input: PackedSequence, hx):
        sizes = input.batch_sizes.tolist()
        self._check_input(input.data)
        state = self._initial_state(input.data, sizes[0], hx, True, input.sorted_indices)
        steps = [x.unsqueeze(0) for x in input.data.split(sizes)]
        output, final = self._run(steps, sizes, state)
        if input.unsorted_indices is not None:
            final = [s.index_select(1, input.unsorted_indices) for s in final]
        packed = PackedSequence(output, input.batch_sizes, input.sorted_indices, input.unsorted_indices)
        return packed, self._hidden(final)

    def _check_input(self, x: Tensor) -> None:
        if x.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {x.shape[-1]}"
            )

    def _initial_state(self, x: Tensor, batch: int, hx, batched: bool, sorted_indices=None) -> list[Tensor]:
        """The states (h, and c for LSTM) of all layers and directions, each (layers·directions, batch, size)."""
        rows = self.num_layers * len(self._suffixes())
        sizes = [self.proj_size or self.hidden_size, self.hidden_size][: STEPS[self.mode].states]
        if hx is None:
            return [ops.zeros((rows, batch, size), dtype=x.dtype, device=x.device) for size in sizes]
        states = list(hx) if len(sizes) == 2 else [hx]
        for i, (state, size) in enumerate(zip(states, sizes)):
            expected = (rows, batch, size) if batched else (rows, size)
            if tuple(state.shape) != expected:
                raise RuntimeError(f"Expected hidden[{i}] size {expected}, got {list(state.shape)}")
            state = state if batched else state.unsqueeze(1)
            states[i] = state if sorted_indices is None else state.index_select(1, sorted_indices)
        return states

    def extra_repr(self) -> str:
        usual = {"num_layers": 1, "bias": True, "batch_first": False, "dropout": 0.0, "bidirectional": False}
        parts = [f"{self.input_size}, {self.hidden_size}"]
        parts += [f"proj_size={self.proj_size}"] if self.proj_size else []
        parts += [f"{n}={getattr(self, n)}" for n, default in usual.items() if getattr(self, n) != default]
        return ", ".join(parts)

    def _hidden(self, states: list[Tensor]):
        return tuple(states) if len(states) == 2 else states[0]

    def _run(self, x, sizes: list[int], state: list[Tensor]):
        """Runs all layers. `x` is (time, batch, input), or for packed input a list of (1, sizes[t], input)."""
        return Layers(self.mode, self.all_weights, self.bias, self.num_layers, self.dropout, self.training)(
            x, sizes, state
        )


class RNN(RNNBase):
    """h_t = tanh(x_t W_ihᵀ + b_ih + h_{t-1} W_hhᵀ + b_hh), or ReLU with `nonlinearity="relu"` (Elman, 1990).

    Input (L, N, input_size), or (N, L, input_size) with `batch_first`, or (L, input_size), or a `PackedSequence`.
    Returns the last layer's outputs (L, N, directions·hidden_size) and the final states (layers·directions, N,
    hidden_size). `dropout` acts between layers.
    """

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh",
                 bias: bool = True, batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False,
                 device=None, dtype=None):  # fmt: skip
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        self.__dict__["nonlinearity"] = nonlinearity
        super().__init__("RNN_" + nonlinearity.upper(), input_size, hidden_size, num_layers, bias, batch_first, dropout,
                         bidirectional, 0, device, dtype)  # fmt: skip


class LSTM(RNNBase):
    """Long short-term memory (Hochreiter & Schmidhuber, 1997), with optional projection of h (`proj_size`).

    i, f, o = sigmoid(...), g = tanh(...) of x_t W_ihᵀ + b_ih + h_{t-1} W_hhᵀ + b_hh; c_t = f·c_{t-1} + i·g;
    h_t = o·tanh(c_t). Shapes as in `RNN`; the state is a pair (h, c).
    """

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
                 batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0,
                 device=None, dtype=None):  # fmt: skip
        super().__init__("LSTM", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional,
                         proj_size, device, dtype)  # fmt: skip


class GRU(RNNBase):
    """Gated recurrent unit (Cho et al., 2014).

    r, z = sigmoid(...) and n = tanh(x_t W_inᵀ + b_in + r·(h_{t-1} W_hnᵀ + b_hn)); h_t = (1 - z)·n + z·h_{t-1}.
    Shapes as in `RNN`.
    """

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
                 batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, device=None,
                 dtype=None):  # fmt: skip
        super().__init__("GRU", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, 0,
                         device, dtype)  # fmt: skip
