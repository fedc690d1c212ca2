"""Optimizers whose step over all parameters of a group is one call of one op."""

from __future__ import annotations

from collections.abc import Callable

from .. import ops
from ..autograd import no_grad
from ..core import Tensor
from .optimizer import Optimizer, loss_of
from .sparse_adam import has_sparse_gradient


class FusedOptimizer(Optimizer):
    """Gathers parameters, gradients and state into lists and lets an op update them all.

    Subclasses state their state and define `_update`:
    - `numbers`: per-parameter numbers such as the step count and their start, kept as 0-d float32 tensors. Parameters
      that step together share one tensor, so that counting costs one op and not one a parameter
    - `_new_buffers(group, parameter)`: the tensors of a parameter's state before its first step
    """

    numbers: dict[str, float] = {"step": 0.0}

    def step(self, closure: Callable | None = None):
        """Updates the parameters that have a gradient; see `Optimizer.step`."""
        loss = loss_of(closure)
        with no_grad():
            for group in self.param_groups:
                params = [p for p in group["params"] if p.grad is not None]
                if has_sparse_gradient(params):
                    for parameter in params:
                        if parameter.grad._layout.sparse:
                            self._step_sparse(group, parameter)
                    params = [p for p in params if not p.grad._layout.sparse]
                if params:
                    self._step_group(group, params)
        return loss

    def _step_sparse(self, group: dict, parameter: Tensor) -> None:
        """Updates one parameter whose gradient is sparse. Override where that is possible."""
        raise RuntimeError(f"{type(self).__name__} does not support sparse gradients")

    def _step_group(self, group: dict, params: list) -> None:
        states = [self.state[p] or self._start(group, p) for p in params]
        if self._together(states):
            self._step_together(group, params, states)
            return
        for chosen in self._buckets(states):
            part = [states[i] for i in chosen]
            self._share_numbers(part)
            self._step_together(group, [params[i] for i in chosen], part)

    def _step_together(self, group: dict, params: list, states: list) -> None:
        shared = states[0]
        before = {name: shared[name].item() for name in self.numbers}
        numbers = self._advance(group, before)
        for name, number in numbers.items():
            shared[name].fill_(number)
        self._update(group, params, [p.grad for p in params], states, numbers, before)

    def _advance(self, group: dict, numbers: dict[str, float]) -> dict[str, float]:
        """The numbers of the coming step, from those of the last one."""
        return {"step": numbers["step"] + 1}

    def _new_buffers(self, group: dict, parameter: Tensor) -> dict:
        return {}

    def _update(self, group: dict, params: list, grads: list, states: list, numbers: dict, before: dict) -> None:
        """Calls the op; `numbers` are those of this step, `before` those of the step before."""
        raise NotImplementedError

    # ---- numbers that parameters share --------------------------------------------------------------------------

    def _start(self, group: dict, parameter: Tensor) -> dict:
        state = self.state[parameter]
        state.update({name: ops.tensor(start) for name, start in self.numbers.items()})
        state.update(self._new_buffers(group, parameter))
        return state

    def _together(self, states: list) -> bool:
        """Whether these states share their numbers, and share them with nobody else."""
        for name in self.numbers:
            number = states[0][name]
            if getattr(number, "sharers", 0) != len(states):
                return False
            for state in states:
                if state[name] is not number:
                    return False
        return True

    def _buckets(self, states: list) -> list[list[int]]:
        """The positions of states with equal numbers."""
        buckets: dict[tuple, list[int]] = {}
        for i, state in enumerate(states):
            buckets.setdefault(tuple(float(state[name]) for name in self.numbers), []).append(i)
        return list(buckets.values())

    def _share_numbers(self, states: list) -> None:
        for name in self.numbers:
            shared = ops.tensor(float(states[0][name]))
            shared.sharers = len(states)
            for state in states:
                state[name] = shared

    def _saved_state(self, state: dict) -> dict:
        """The state with number tensors of its own: what is saved must not depend on who stepped together."""
        return {name: value.clone() if name in self.numbers else value for name, value in state.items()}


def column(states: list, name: str) -> list:
    """One entry of all states."""
    return [state[name] for state in states]


def zeros_like(parameter: Tensor) -> Tensor:
    """Zeros laid out as the parameter."""
    return ops.zeros_like(parameter)
