"""All layers and directions of a recurrent network over a sequence: what the modules and the functions share."""

from __future__ import annotations

from .. import ops
from ..core import Tensor
from ..ir.dtypes import float32
from . import functional as F
from .recurrent_sequence import run_sequence
from .recurrent_step import STEPS


class Layers:
    """A network of `num_layers` layers.

    `weights` has a list for every layer and direction: w_ih, w_hh, then b_ih, b_hh if `bias`, then w_hr if the
    network projects its outputs. `dropout` acts between layers in training.
    """

    def __init__(self, mode: str, weights: list[list[Tensor]], bias: bool, num_layers: int, dropout: float,
                 training: bool):  # fmt: skip
        self.step, self.weights, self.bias, self.num_layers = STEPS[mode], weights, bias, num_layers
        self.dropout, self.training = dropout, training
        self.directions = len(weights) // num_layers
        self.projected = len(weights[0]) % 2 == 1

    def __call__(self, x, sizes: list[int], state: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        """The last layer's outputs and all final states.

        `x` is (time, batch, input), or for packed input a list of (1, sizes[t], input); each state is (layers times
        directions, batch, size).
        """
        packed = isinstance(x, list)
        layer_input = ops.cat(x, 1)[0] if packed else x
        finals = []
        for layer in range(self.num_layers):
            outputs = []
            for direction in range(self.directions):
                row = layer * self.directions + direction
                output, final = self._run(row, layer_input, sizes, [s[row] for s in state], direction == 1, packed)
                outputs.append(output)
                finals.append(final)
            layer_input = outputs[0] if self.directions == 1 else ops.cat(outputs, -1)
            if self.dropout and layer < self.num_layers - 1:
                layer_input = F.dropout(layer_input, self.dropout, self.training)
        return layer_input, [ops.stack(states) for states in zip(*finals)]

    def _run(self, row: int, x: Tensor, sizes, state, reverse: bool, packed: bool):
        """One layer in one direction: its outputs, laid out as `x`, and the final states."""
        step = self.step(self.weights[row], self.bias, self.projected)
        projected = step.project(x)  # the input's share of the gates, for all times at once
        if step.states == 2 and step.input_weight.dtype is float32 and projected.dtype is not float32:  # under autocast
            state = [s.to(projected.dtype) for s in state]
        if not packed:
            return run_sequence(step, projected, state, reverse)
        parts = projected.split(sizes)
        outputs: list = [None] * len(parts)
        current, done = [s[: sizes[-1]] if reverse else s for s in state], []
        for t in reversed(range(len(parts))) if reverse else range(len(parts)):
            current = _fit(current, sizes[t], state, done, reverse)
            current = step(parts[t], current)
            outputs[t] = current[0]
        if done:  # the longest sequences come first, those that ended last follow them
            current = [ops.cat([s, *(ended[i] for ended in reversed(done))], 0) for i, s in enumerate(current)]
        return ops.cat(outputs, 0), current


def _fit(current: list[Tensor], size: int, state: list[Tensor], done: list, reverse: bool) -> list[Tensor]:
    """The states of the sequences that are running at a time step of a packed batch.

    Forwards, sequences that have ended leave (their final states go to `done`); backwards, sequences
    whose last element has come join with their initial state.
    """
    running = current[0].shape[0]
    if size < running:
        done.append([s[size:] for s in current])
        return [s[:size] for s in current]
    if size > running:
        return [ops.cat([s, first[running:size]], 0) for s, first in zip(current, state)]
    return current
