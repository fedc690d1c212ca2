"""L-BFGS: a quasi-Newton method that remembers its last steps."""

from __future__ import annotations

from collections.abc import Callable

from .. import ops
from ..autograd import no_grad
from ..core import Tensor
from .line_search import strong_wolfe
from .optimizer import Optimizer, loss_of, require


class LBFGS(Optimizer):
    """Limited-memory BFGS (Nocedal, 1980): every step runs up to `max_iter` iterations and calls the closure often.

    `history_size` steps are remembered. It ends early when the largest gradient element is at most `tolerance_grad` or
    the change of parameters or loss below `tolerance_change`. `line_search_fn` may be "strong_wolfe". One
    parameter group only.
    """

    def __init__(
        self, params, lr: float = 1, max_iter: int = 20, max_eval: int | None = None, tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9, history_size: int = 100, line_search_fn: str | None = None,
    ):  # fmt: skip
        require(lr >= 0.0, "learning rate", lr)
        defaults = {
            "lr": lr, "max_iter": max_iter, "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change, "history_size": history_size,
            "line_search_fn": line_search_fn,
        }  # fmt: skip
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        if line_search_fn not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")

    def step(self, closure: Callable):
        """Runs one minimization; `closure` computes the loss anew. Returns the loss before the step."""
        with no_grad():
            return self._step(closure)

    def _step(self, closure: Callable):
        group = self.param_groups[0]
        state = self.state[group["params"][0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss = loss_of(closure)
        state["func_evals"] += 1
        loss, grad, evaluations = float(first_loss), self._flat_grad(), 1
        if _largest(grad) <= group["tolerance_grad"]:
            return first_loss
        for iteration in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            direction = self._direction(state, grad, group["history_size"])
            state["prev_flat_grad"], state["prev_loss"] = grad.clone(), loss
            start = min(1.0, 1.0 / float(grad.abs().sum())) if state["n_iter"] == 1 else 1.0
            step = start * float(group["lr"])
            slope = float(grad.dot(direction))
            state["d"], state["t"] = direction, step
            if slope > -group["tolerance_change"]:
                break
            last = iteration == group["max_iter"]
            loss, grad, step, count = self._search(closure, direction, step, loss, grad, slope, last)
            state["t"] = step
            evaluations += count
            state["func_evals"] += count
            if evaluations >= group["max_eval"] or self._converged(state, loss, grad):
                break
        return first_loss

    def _converged(self, state: dict, loss: float, grad: Tensor) -> bool:
        group = self.param_groups[0]
        change = group["tolerance_change"]
        return (
            _largest(grad) <= group["tolerance_grad"]
            or _largest(state["d"]) * state["t"] <= change
            or abs(loss - state["prev_loss"]) < change
        )

    def _search(self, closure, direction, step, loss, grad, slope, last: bool):
        """Moves along `direction`: the new loss, gradient, step length and number of evaluations."""
        if self.param_groups[0]["line_search_fn"] is None:
            self._move(step, direction)
            if last:  # nobody needs the gradient there
                return loss, grad, step, 0
            return float(loss_of(closure)), self._flat_grad(), step, 1
        origin = [p.clone() for p in self._parameters()]

        def evaluate(length: float) -> tuple[float, Tensor]:
            self._move(length, direction)
            value, gradient = float(loss_of(closure)), self._flat_grad()
            for parameter, saved in zip(self._parameters(), origin):
                parameter.copy_(saved)
            return value, gradient

        loss, grad, step, count = strong_wolfe(evaluate, step, direction, loss, grad, slope)
        self._move(step, direction)
        return loss, grad, step, count

    def _direction(self, state: dict, grad: Tensor, history: int) -> Tensor:
        """The quasi-Newton direction: minus the inverse Hessian, as known from past steps, times the gradient."""
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1.0)
            return -grad
        change, step = grad - state["prev_flat_grad"], state["d"] * state["t"]
        curvature = float(change.dot(step))
        changes, steps, inverses = state["old_dirs"], state["old_stps"], state["ro"]
        if curvature > 1e-10:
            if len(changes) == history:
                del changes[0], steps[0], inverses[0]
            changes.append(change)
            steps.append(step)
            inverses.append(1.0 / curvature)
            state["H_diag"] = curvature / float(change.dot(change))
        direction, shares = -grad, []
        for y, s, inverse in zip(reversed(changes), reversed(steps), reversed(inverses)):
            shares.append(float(s.dot(direction)) * inverse)
            direction = direction - shares[-1] * y
        direction = direction * state["H_diag"]
        for y, s, inverse, share in zip(changes, steps, inverses, reversed(shares)):
            direction = direction + (share - float(y.dot(direction)) * inverse) * s
        return direction

    def _parameters(self) -> list[Tensor]:
        return self.param_groups[0]["params"]

    def _flat_grad(self) -> Tensor:
        """All gradients as one real vector; zeros where there is none."""
        parts = [ops.zeros_like(p) if p.grad is None else p.grad.to_dense() for p in self._parameters()]
        return ops.cat([(ops.view_as_real(g) if g.is_complex() else g).reshape(-1) for g in parts])

    def _move(self, length: float, direction: Tensor) -> None:
        start = 0
        for parameter in self._parameters():
            real = ops.view_as_real(parameter) if parameter.is_complex() else parameter
            size = real.numel()
            real.add_(direction[start : start + size].reshape(real.shape), alpha=length)
            start += size


def _largest(vector: Tensor) -> float:
    return float(vector.abs().max())
