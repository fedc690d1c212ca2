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


def _repeat(step: Step, projected: Tensor, states: list[Tensor], reverse: bool) -> tuple[Tensor, list[Tensor]]:
    outputs = []
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
        for x in _times(projected, reverse):
            share = F.linear(states[0], weight, bias)
            ctx.steps.append((share, states))
            states = kind.combine(x, share, states)
            outputs.append(states[0])
        return _stack(outputs, reverse), *states

    @staticmethod
    def backward(ctx, grad_outputs, *grad_states):
        projected, weight, bias, *_ = ctx.saved_tensors
        if is_grad_enabled():
            return _differentiable_backward(ctx, (grad_outputs, *grad_states))
        of_inputs, of_shares, flowing = [], [], list(grad_states)
        times = zip(_times(projected, ctx.reverse), ctx.steps, _times(grad_outputs, ctx.reverse))
        for x, (share, before), grad_output in reversed(list(times)):
            flowing[0] = flowing[0] + grad_output
            of_input, of_share, *flowing = _step_backward(ctx.kind, x, share, before, flowing)
            passed = of_share @ weight
            flowing[0] = passed if flowing[0] is None else flowing[0] + passed
            of_inputs.append(of_input)
            of_shares.append(of_share)
        shares = ops.cat(of_shares)
        hidden = ops.cat([before[0] for _, before in reversed(ctx.steps)])
        of_bias = None if bias is None else shares.sum(0)
        return None, None, _stack(of_inputs[::-1], ctx.reverse), shares.t() @ hidden, of_bias, *flowing


def _step_backward(kind, x: Tensor, share: Tensor, states: list[Tensor], grads: list[Tensor]) -> tuple:
    """The gradients of x, of the hidden state's share, and of the states as far as `combine` reads them."""
    with enable_grad():
        x, share, *states = (t.detach().requires_grad_() for t in (x, share, *states))
        return grad(kind.combine(x, share, states), [x, share, *states], grads, allow_unused=True)


def _differentiable_backward(ctx, grads) -> tuple:
    """The same gradients as functions of everything: recorded step by step, to be differentiated again."""
    projected, weight, bias, *states = ctx.saved_tensors
    step = ctx.kind([None, weight, None, bias], True)
    outputs, final = _repeat(step, projected, states, ctx.reverse)
    wanted = [t for t, needed in zip(ctx.saved_tensors, ctx.needs_input_grad[2:]) if needed]
    found = iter(grad([outputs, *final], wanted, list(grads), create_graph=True, allow_unused=True))
    return None, None, *(next(found) if needed else None for needed in ctx.needs_input_grad[2:])
