"""One time step of each recurrent network, shared by the layers and the cells.

The input's share of the gates does not depend on the step before: `project` computes it for all times in
one multiplication. `recur` is the hidden state's share, and `combine` the element-wise rest.
"""

from __future__ import annotations

from ..core import Tensor
from ..ops import empty_like, recurrent
from . import functional as F


class Step:
    """Weights of one layer and direction: w_ih, w_hh, then b_ih, b_hh if `bias`, then w_hr for projections."""

    gates = 1
    states = 1
    whole = None  # an op that computes the share of the hidden state, too: `recurrent.AND_SHARE`
    splits_shares = False  # whether the hidden state's share has a gradient other than the input's

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

    @staticmethod
    def backward(x: Tensor, r: Tensor, states: list, gh: Tensor, go: Tensor, rest: list, of_gates: list):
        """The backward of `combine`, which `states` went into.

        gh, go    gradients of h, from the step after and from the output
        rest      gradients of the other states, overwritten by those before the step
        of_gates  where the gradients of the input's gates go; then those of the share's, if it `splits_shares`

        Returns the gradient of h before the step as far as `combine` reads it, or None.
        """
        raise NotImplementedError

    def __call__(self, x: Tensor, states: list[Tensor]) -> list[Tensor]:
        """The states after the step; `x` is the input's share, the first state is the output."""
        states = self.combine(x, self.recur(states[0]), states)
        if self.projection is not None:
            states[0] = F.linear(states[0], self.projection)
        return states


class TanhStep(Step):
    whole = recurrent.AND_SHARE[recurrent.tanh_step]

    @staticmethod
    def combine(x, r, states):
        return [recurrent.tanh_step(x, r)]

    @staticmethod
    def backward(x, r, states, gh, go, rest, of_gates):
        recurrent.tanh_step_backward(x, r, gh, go, *of_gates)


class ReluStep(Step):
    whole = recurrent.AND_SHARE[recurrent.relu_step]

    @staticmethod
    def combine(x, r, states):
        return [recurrent.relu_step(x, r)]

    @staticmethod
    def backward(x, r, states, gh, go, rest, of_gates):
        recurrent.relu_step_backward(x, r, gh, go, *of_gates)


class LSTMStep(Step):
    gates = 4
    states = 2
    whole = recurrent.AND_SHARE[recurrent.lstm_step]

    @staticmethod
    def combine(x, r, states):
        return list(recurrent.lstm_step(x, r, states[1]))

    @staticmethod
    def backward(x, r, states, gh, go, rest, of_gates):
        recurrent.lstm_step_backward(x, r, states[1], gh, go, rest[0], *of_gates)


class GRUStep(Step):
    gates = 3
    whole = recurrent.AND_SHARE[recurrent.gru_step]
    splits_shares = True

    @staticmethod
    def combine(x, r, states):
        return [recurrent.gru_step(x, r, states[0])]

    @staticmethod
    def backward(x, r, states, gh, go, rest, of_gates):
        kept = empty_like(gh)
        recurrent.gru_step_backward(x, r, states[0], gh, go, kept, *of_gates)
        return kept


STEPS = {"RNN_TANH": TanhStep, "RNN_RELU": ReluStep, "LSTM": LSTMStep, "GRU": GRUStep}
