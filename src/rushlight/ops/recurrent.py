"""The element-wise part of recurrent steps: each is one kernel forward and one backward.

All take `x`, the input's share of the gates, and `r`, the hidden state's share, both (*, gates·hidden) with biases.
"""

from __future__ import annotations

from ..ir import build as B
from .declare import op


def gates(x, count: int) -> list:
    """The gates of (*, count·hidden), each (*, hidden)."""
    size = x.shape[-1] // count
    return [B.narrow(x, len(x.shape) - 1, k * size, size) for k in range(count)]


def relu(x):
    """max(x, 0); NaN stays, and the derivative at 0 is 0."""
    return B.where(B.le(x, 0), 0, x)


@op(public=False)
def tanh_step(x, r):
    """The next state of an Elman network."""
    return B.tanh(x + r)


@op(public=False)
def relu_step(x, r):
    """The next state of an Elman network with ReLU."""
    return relu(x + r)


@op(public=False)
def lstm_step(x, r, c):
    """The next h and c from gates i, f, g, o and the last c."""
    i, f, g, o = gates(x + r, 4)
    c = B.sigmoid(f) * c + B.sigmoid(i) * B.tanh(g)
    return B.sigmoid(o) * B.tanh(c), c


@op(public=False)
def gru_step(x, r, h):
    """The next h from gates r, z, n and the last h."""
    (x_reset, x_update, x_new), (r_reset, r_update, r_new) = gates(x, 3), gates(r, 3)
    new = B.tanh(x_new + B.sigmoid(x_reset + r_reset) * r_new)
    return new + B.sigmoid(x_update + r_update) * (h - new)
