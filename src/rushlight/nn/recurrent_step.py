"""One time step of each recurrent network, shared by the layers and the cells.

The input's share of the gates does not depend on the step before: `project` computes it for all times in
one multiplication, and calling the step adds the hidden state's share.
"""

from __future__ import annotations

from ..core import Tensor
from . import functional as F


class _Step:
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

    def __call__(self, gates: Tensor, states: list[Tensor]) -> list[Tensor]:
        """The states after the step; `gates` is the input's share, the first state is the output."""
        raise NotImplementedError


class TanhStep(_Step):
    def __call__(self, gates, states):
        return [(gates + self.recur(states[0])).tanh()]


class ReluStep(_Step):
    def __call__(self, gates, states):
        return [(gates + self.recur(states[0])).relu()]


class LSTMStep(_Step):
    gates = 4
    states = 2

    def __call__(self, gates, states):
        h, c = states
        i, f, g, o = (gates + self.recur(h)).chunk(4, -1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        return [h if self.projection is None else F.linear(h, self.projection), c]


class GRUStep(_Step):
    gates = 3

    def __call__(self, gates, states):
        (h,) = states
        xr, xz, xn = gates.chunk(3, -1)
        hr, hz, hn = self.recur(h).chunk(3, -1)
        r, z = (xr + hr).sigmoid(), (xz + hz).sigmoid()
        n = (xn + r * hn).tanh()
        return [n + z * (h - n)]


STEPS = {"RNN_TANH": TanhStep, "RNN_RELU": ReluStep, "LSTM": LSTMStep, "GRU": GRUStep}
