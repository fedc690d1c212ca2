"""A step repeated over all times, with a backward that multiplies for the weights once, not once per step.

Recorded step by step, every step would add a product of its own to the gradient of the hidden weights: at 64 steps
that is 64 passes over memory of the weights' size. `Sequence` gathers the gradients of the gates instead.
"""

from __future__ import annotations

from .. import ops
from ..autograd import Function, enable_grad, grad, is_grad_enabled
from ..core import Tensor, engine
from . import functional as F
from .parameter import Parameter
from .recurrent_step import Step

MANY = 16  # times that are worth another layout of the weight


def run_sequence(step: Step, projected: Tensor, states: list[Tensor], reverse: bool) -> tuple[Tensor, list[Tensor]]:
    """All outputs (time, batch, hidden) and the final states; `projected` is the input's share of the gates."""
    if not _gathers(step, projected, states):
        return _repeat(step, projected, states, reverse)
    outputs, *final = Sequence.apply(type(step), reverse, projected, step.hidden_weight, step.hidden_bias, *states)
    return outputs, final


def _gathers(step: Step, projected: Tensor, states: list[Tensor]) -> bool:
    """Whether there is a backward to come, and nothing (a subclass, forward mode) that needs to see every step."""
    tensors = (projected, step.hidden_weight, *states)
    plain = step.projection is None and all(type(t) in (Tensor, Parameter) for t in tensors)
    return plain and is_grad_enabled() and step.hidden_weight.requires_grad and not engine.dual_level()


def _times(x: Tensor, reverse: bool) -> list[Tensor]:
    parts = list(x.unbind(0))
    return parts[::-1] if reverse else parts


def _stack(parts: list[Tensor], reverse: bool) -> Tensor:
    return ops.stack(parts[::-1] if reverse else parts)


def _steps(kind, weight: Tensor, bias: Tensor | None, projected: Tensor):
    """The map (x, states) -> (the states after, the hidden state's share of the gates)."""
    if len(projected) < MANY or projected.ndim != 3:

        def step(x, states):
            share = F.linear(states[0], weight, bias)
            return kind.combine(x, share, states), share

        return step
    turned, whole = weight.t().contiguous(), kind.whole  # turned over once for many times

    def step_at_once(x, states):
        *states, share = whole(x, turned, bias, *states)
        return states, share

    return step_at_once


def _repeat(step: Step, projected: Tensor, states: list[Tensor], reverse: bool) -> tuple[Tensor, list[Tensor]]:
    outputs = []
    plain = step.projection is None and type(step.hidden_weight) in (Tensor, Parameter)
    if plain and not is_grad_enabled() and not engine.dual_level():
        advance = _steps(type(step), step.hidden_weight, step.hidden_bias, projected)
        for x in _times(projected, reverse):
            states, _ = advance(x, states)
            outputs.append(states[0])
        return _stack(outputs, reverse), states
    for x in _times(projected, reverse):
        states = step(x, states)
        outputs.append(states[0])
    return _stack(outputs, reverse), states


class Sequence(Function):
    """`_repeat` with gathered gradients: from (kind of step, reverse, projected, weight, bias, *states)."""

    @staticmethod
    def forward(ctx, kind, reverse, projected, weight, bias, *states):
        ctx.kind, ctx.reverse, ctx.steps = kind, reverse, []
        ctx.save_for_backward(projected, weight, bias, *states)
        outputs, states = [], list(states)
        advance = _steps(kind, weight, bias, projected)
        for x in _times(projected, reverse):
            before = states
            states, share = advance(x, before)
            ctx.steps.append((share, before))
            outputs.append(states[0])
        return _stack(outputs, reverse), *states

    @staticmethod
    def backward(ctx, grad_outputs, *grad_states):
        projected, weight, bias, *states = ctx.saved_tensors
        if is_grad_enabled() or any(t._layout.batch for t in (projected, weight, *states, grad_outputs)):
            return _differentiable_backward(ctx, (grad_outputs, *grad_states))
        of_inputs, of_shares, flowing = _gate_gradients(ctx, projected, weight, grad_outputs, grad_states)
        hidden = _stack([before[0] for _, before in ctx.steps], ctx.reverse).flatten(0, 1)
        rows = of_shares.flatten(0, 1)
        of_bias = None if bias is None else rows.sum(0)
        return None, None, of_inputs, rows.t() @ hidden, of_bias, *flowing


def _gate_gradients(ctx, projected: Tensor, weight: Tensor, grad_outputs: Tensor, grad_states) -> tuple:
    """The gradients of both shares of the gates for all times, and those of the first states."""
    of_inputs = ops.empty(projected.shape, dtype=projected.dtype)
    of_shares = ops.empty_like(of_inputs) if ctx.kind.splits_shares else of_inputs
    buffers = (of_inputs, of_shares) if ctx.kind.splits_shares else (of_inputs,)
    gates = [_times(gate, ctx.reverse) for buffer in buffers for gate in buffer.chunk(ctx.kind.gates, -1)]
    rows, sources = _times(of_shares, ctx.reverse), _times(projected, ctx.reverse)
    backward, addmm = ctx.kind.backward, ops.addmm
    gh, *rest = grad_states[0], *(g.clone() for g in grad_states[1:])
    for t, go in reversed(list(enumerate(_times(grad_outputs, ctx.reverse)))):
        share, before = ctx.steps[t]
        kept = backward(sources[t], share, before, gh, go, rest, [gate[t] for gate in gates])
        gh = rows[t] @ weight if kept is None else addmm(kept, rows[t], weight)
    return of_inputs, of_shares, [gh, *rest]


def _differentiable_backward(ctx, grads) -> tuple:
    """The same gradients as functions of everything: recorded step by step, to be differentiated again."""
    projected, weight, bias, *states = ctx.saved_tensors
    step = ctx.kind([None, weight, None, bias], True)
    with enable_grad():
        outputs, final = _repeat(step, projected, states, ctx.reverse)
    wanted = [t for t, needed in zip(ctx.saved_tensors, ctx.needs_input_grad[2:]) if needed]
    found = iter(grad([outputs, *final], wanted, list(grads), True, is_grad_enabled(), allow_unused=True))
    return None, None, *(next(found) if needed else None for needed in ctx.needs_input_grad[2:])
