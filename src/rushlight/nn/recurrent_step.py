"""One time step of each recurrent network, shared by the layers and the cells.

The input's share of the gates does not depend on the step before: `project` computes it for all times in
one multiplication. `recur` is the hidden state's share, and `combine` the element-wise rest.
"""

from __future__ import annotations

from ..core import Tensor
from ..ops import recurrent
from . import functional as F


class Step:
    """Weights of one layer and direction: w_ih, w_hh, then b_ih, b_hh if `bias`, then w_hr for projections."""

    gates = 1
    states = 1

    def __init__(self, weights, bias: bool, projected: int = 0):
        self.input_weight, self.hidden_weight, *rest = weights
        self.input_bias, self.hidden_bias = rest[:2] if bias else (None, None)
        self.projection = rest[-1] if projected else None

    def project(self, x: Tensor) -> Tensor:
        """The input's share of the gates: (*, input) to (*, gates·hidden)."""
        return F.linear(x, self.input_weight, self.input_bias)

    def recur(self, h: Tensor) -> Tensor:
        """The hidden state's share of the gates."""
        return F.linear(h, self.hidden_weight, self.hidden_bias)

    @staticmethod
    def combine(x: Tensor, r: Tensor, states: list[Tensor]) -> list[Tensor]:
        """The states after the step, from both shares of the gates; before a projection."""
        raise NotImplementedError

    def __call__(self, x: Tensor, states: list[Tensor]) -> list[Tensor]:
        """The states after the step; `x` is the input's share, the first state is the output."""
        states = self.combine(x, self.recur(states[0]), states)
        if self.projection is not None:
            states[0] = F.linear(states[0], self.projection)
        return states


class TanhStep(Step):
    @staticmethod
    def combine(x, r, states):
        return [recurrent.tanh_step(x, r)]


class ReluStep(Step):
    @staticmethod
    def combine(x, r, states):
        return [recurrent.relu_step(x, r)]


class LSTMStep(Step):
    gates = 4
    states = 2

    @staticmethod
    def combine(x, r, states):
        return list(recurrent.lstm_step(x, r, states[1]))


class GRUStep(Step):
    gates = 3

    @staticmethod
    def combine(x, r, states):
        return [recurrent.gru_step(x, r, states[0])]


STEPS = {"RNN_TANH": TanhStep, "RNN_RELU": ReluStep, "LSTM": LSTMStep, "GRU": GRUStep}
