"""Backward hooks of a module: identity functions around it see the gradients pass.

In the backward pass the identity on the outputs runs first and knows `grad_output`; the identity on
the inputs runs last, knows `grad_input`, and calls the hooks.
"""

from __future__ import annotations

from collections.abc import Callable

from ..autograd import Function
from ..core import Tensor
from ..ops.notices import warn_user


class _Watch(Function):
    """The identity on several tensors; `seen` maps their gradients in the backward pass."""

    @staticmethod
    def forward(ctx, seen: Callable, *tensors):
        ctx.set_materialize_grads(False)
        ctx.seen = seen
        outputs = tuple(t.view_as(t) for t in tensors)
        # what needs no gradient must not be marked as needing one because its neighbours do
        ctx.mark_non_differentiable(*(o for o, t in zip(outputs, tensors) if not t.requires_grad))
        return outputs

    @staticmethod
    def backward(ctx, *gradients):
        return None, *ctx.seen(gradients)


class BackwardHooks:
    """The backward hooks of one call of a module."""

    def __init__(self, module, before: list[Callable], after: list[Callable]):
        self.module, self.before, self.after = module, before, after
        self.grad_output: tuple | None = None
        self.inputs_watched = False
        self.input_count = 0

    def watch_inputs(self, args: tuple) -> tuple:
        self.input_count = len(args)
        if not any(isinstance(a, Tensor) and a.requires_grad for a in args):
            return args
        self.inputs_watched = True
        return _watch(args, self._input_gradients)

    def watch_outputs(self, result):
        single = isinstance(result, Tensor)
        if not single and not isinstance(result, tuple):
            return result
        watched = _watch((result,) if single else result, self._output_gradients)
        if single:
            return watched[0]
        return type(result)(*watched) if hasattr(result, "_fields") else watched

    def _output_gradients(self, gradients: tuple) -> tuple:
        for hook in self.before:
            changed = hook(self.module, gradients)
            if changed is not None:
                gradients = _checked(changed, gradients)
        self.grad_output = gradients
        if not self.inputs_watched:
            self._without_input_gradients()
        return gradients

    def _without_input_gradients(self) -> None:
        if self.after:
            warn_user(
                "Full backward hook is firing when gradients are computed with respect to module outputs since no "
                "inputs require gradients."
            )
        nothing = (None,) * self.input_count
        for hook in self.after:
            changed = hook(self.module, nothing, self.grad_output)
            if changed is not None and any(gradient is not None for gradient in changed):
                raise RuntimeError(
                    f"backward hook of {type(self.module).__name__}: no input requires a gradient, "
                    "so the hook must return None"
                )

    def _input_gradients(self, gradients: tuple) -> tuple:
        for hook in self.after:
            changed = hook(self.module, gradients, self.grad_output)
            if changed is not None:
                gradients = _checked(changed, gradients)
        return gradients


def _watch(values: tuple, seen: Callable) -> tuple:
    """`values` with its tensors passed through the watching identity; `seen` gets a gradient a value."""
    places = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
    if not any(values[i].requires_grad for i in places):
        return values

    def seen_at_places(gradients: tuple) -> tuple:
        spread: list = [None] * len(values)
        for place, gradient in zip(places, gradients):
            spread[place] = gradient
        changed = seen(tuple(spread))
        return tuple(changed[place] for place in places)

    watched = list(values)
    for place, tensor in zip(places, _Watch.apply(seen_at_places, *(values[i] for i in places))):
        watched[place] = tensor
    return tuple(watched)


def _checked(changed, gradients: tuple) -> tuple:
    changed = changed if isinstance(changed, tuple) else (changed,)
    if len(changed) != len(gradients):
        raise RuntimeError(
            f"Backward hook returned an invalid number of grad_input, got {len(changed)}, but expected {len(gradients)}"
        )
    return changed
