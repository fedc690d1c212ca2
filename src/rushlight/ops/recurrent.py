"""The element-wise part of recurrent steps: each is one kernel forward and one backward.

All take `x`, the input's share of the gates, and `r`, the hidden state's share, both (*, gates·hidden) with biases.
"""

from __future__ import annotations

from ..ir import build as B
from .declare import Tensor, op


def gates(x, count: int) -> list:
    """The gates of (*, count·hidden), each (*, hidden)."""
    size = x.shape[-1] // count
    return [B.narrow(x, len(x.shape) - 1, k * size, size) for k in range(count)]


def relu(x):
    """max(x, 0); NaN stays, and the derivative at 0 is 0."""
    return B.where(B.le(x, 0), 0, x)


# The backward of a step writes the gradients of the gates, one by one, to where they lie for all times. It is given
# the gradients of h from the step after (gh) and from the output (go); a cell's own is overwritten.
@op(public=False)
def tanh_step(x, r):
    """The next state of an Elman network."""
    return B.tanh(x + r)


@op(public=False, mutates=("of_gate",))
def tanh_step_backward(x, r, gh, go, of_gate: Tensor):
    y = B.tanh(x + r)
    return (gh + go) * (1 - y * y)


@op(public=False)
def relu_step(x, r):
    """The next state of an Elman network with ReLU."""
    return relu(x + r)


@op(public=False, mutates=("of_gate",))
def relu_step_backward(x, r, gh, go, of_gate: Tensor):
    return B.where(B.le(x + r, 0), 0, gh + go)


@op(public=False)
def lstm_step(x, r, c):
    """The next h and c from gates i, f, g, o and the last c."""
    i, f, g, o = gates(x + r, 4)
    c = B.sigmoid(f) * c + B.sigmoid(i) * B.tanh(g)
    return B.sigmoid(o) * B.tanh(c), c


@op(public=False, mutates=("gc", "of_i", "of_f", "of_g", "of_o"))
def lstm_step_backward(x, r, c, gh, go, gc: Tensor, of_i: Tensor, of_f: Tensor, of_g: Tensor, of_o: Tensor):
    i, f, g, o = gates(x + r, 4)
    i, f, g, o = B.sigmoid(i), B.sigmoid(f), B.tanh(g), B.sigmoid(o)
    t, gh = B.tanh(f * c + i * g), gh + go
    gc = gc + gh * o * (1 - t * t)
    return gc * f, gc * g * i * (1 - i), gc * c * f * (1 - f), gc * i * (1 - g * g), gh * t * o * (1 - o)


@op(public=False)
def gru_step(x, r, h):
    """The next h from gates r, z, n and the last h."""
    (x_reset, x_update, x_new), (r_reset, r_update, r_new) = gates(x, 3), gates(r, 3)
    new = B.tanh(x_new + B.sigmoid(x_reset + r_reset) * r_new)
    return new + B.sigmoid(x_update + r_update) * (h - new)


@op(public=False, mutates=("kept", "x0", "x1", "x2", "r0", "r1", "r2"))
def gru_step_backward(
    x, r, h, gh, go, kept: Tensor, x0: Tensor, x1: Tensor, x2: Tensor, r0: Tensor, r1: Tensor, r2: Tensor
):
    """The gates of x, then those of r, which differ in the last; `kept` is what h gets without r."""
    (x_reset, x_update, x_new), (r_reset, r_update, r_new) = gates(x, 3), gates(r, 3)
    reset, update = B.sigmoid(x_reset + r_reset), B.sigmoid(x_update + r_update)
    new, gh = B.tanh(x_new + reset * r_new), gh + go
    of_update, of_new = gh * (h - new) * update * (1 - update), gh * (1 - update) * (1 - new * new)
    of_reset = of_new * r_new * reset * (1 - reset)
    return gh * update, of_reset, of_update, of_new, of_reset, of_update, of_new * reset


# -- with the hidden state's share --------------------------------------------------------------------
def _recurrent(step):
    """A step that computes the hidden state's share by itself: (x, weight.T, bias or None, h, *other states) to the
    states and that share."""

    def body(x, turned, bias, h, c=None):
        share = B.matmul(h, turned)
        share = share if bias is None else share + bias
        states = [h] if step is gru_step else [c] if step is lstm_step else []
        made = step.declaration.body(x, share, *states)
        return (*made, share) if isinstance(made, tuple) else (made, share)

    body.__name__ = step.name + "_and_share"
    return op(body, public=False)


AND_SHARE = {step: _recurrent(step) for step in (tanh_step, relu_step, lstm_step, gru_step)}
