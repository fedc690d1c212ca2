"""Recurrent cells: one time step as a module."""

from __future__ import annotations

import math

from .. import ops
from ..core import Tensor
from . import init
from .linear import parameter_or_none
from .module import Module
from .parameter import Parameter
from .recurrent_step import STEPS


class RNNCellBase(Module):
    """What the cells share: weights uniform in ±1/sqrt(hidden_size), batched and unbatched inputs.

    Input (N, input_size) or (input_size,); states (N, hidden_size) or (hidden_size,), zeros if not given.
    """

    mode: str

    def __init__(self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device=None, dtype=None):
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(ops.empty((rows, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(ops.empty((rows, hidden_size), device=device, dtype=dtype))
        self.register_parameter("bias_ih", parameter_or_none(bias, (rows,), device, dtype))
        self.register_parameter("bias_hh", parameter_or_none(bias, (rows,), device, dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws new initial values."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _step(self, input: Tensor, states: list[Tensor] | None) -> list[Tensor]:
        if input.ndim not in (1, 2):
            raise ValueError(f"{type(self).__name__}: Expected input to be 1D or 2D, got {input.ndim}D instead")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                f"{type(self).__name__}: input has inconsistent input_size: got {input.shape[-1]}, "
                f"expected {self.input_size}"
            )
        step_class = STEPS[self.mode]
        if states is None:
            zeros = ops.zeros((*input.shape[:-1], self.hidden_size), dtype=input.dtype, device=input.device)
            states = [zeros] * step_class.states
        for state in states:
            if state.ndim != input.ndim or state.shape[-1] != self.hidden_size:
                raise RuntimeError(
                    f"{type(self).__name__}: expected hidden state of shape "
                    f"{(*input.shape[:-1], self.hidden_size)}, got {tuple(state.shape)}"
                )
        step = step_class([self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh], True)
        return step(step.project(input), states)

    def extra_repr(self) -> str:
        parts = [f"{self.input_size}, {self.hidden_size}"]
        parts += [] if self.bias else ["bias=False"]
        parts += [f"nonlinearity={self.nonlinearity}"] if getattr(self, "nonlinearity", "tanh") != "tanh" else []
        return ", ".join(parts)


class RNNCell(RNNCellBase):
    """h' = tanh(x W_ihᵀ + b_ih + h W_hhᵀ + b_hh), or ReLU with `nonlinearity="relu"`."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh", device=None,
                 dtype=None):  # fmt: skip
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        if nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {nonlinearity}")
        self.nonlinearity = nonlinearity

    @property
    def mode(self) -> str:
        return "RNN_" + self.nonlinearity.upper()

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return self._step(input, None if hx is None else [hx])[0]


class LSTMCell(RNNCellBase):
    """One step of `LSTM`: (input, (h, c)) to (h', c')."""

    mode = "LSTM"

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        h, c = self._step(input, None if hx is None else list(hx))
        return h, c


class GRUCell(RNNCellBase):
    """One step of `GRU`: (input, h) to h'."""

    mode = "GRU"

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return self._step(input, None if hx is None else [hx])[0]
