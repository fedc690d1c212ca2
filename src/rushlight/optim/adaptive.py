"""Optimizers that scale each element's step by the size of its past gradients."""

from __future__ import annotations

from .. import ops
from ..ops import optimizer as steps
from .adam import decay_terms
from .fused import FusedOptimizer, column, zeros_like
from .optimizer import require
from .sparse_adam import adagrad_step


class RMSprop(FusedOptimizer):
    """p ← p - lr·g / (sqrt(v) + eps) with v ← alpha·v + (1 - alpha)·g² (Hinton, 2012).

    `centered` subtracts the squared average gradient from v (Graves, 2013); `momentum` averages the moves.
    """

    def __init__(
        self, params, lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0,
        momentum: float = 0, centered: bool = False, capturable: bool = False, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False,
    ):  # fmt: skip
        require(lr >= 0.0, "learning rate", lr)
        require(eps >= 0.0, "epsilon value", eps)
        require(momentum >= 0.0, "momentum value", momentum)
        require(weight_decay >= 0.0, "weight_decay value", weight_decay)
        require(alpha >= 0.0, "alpha value", alpha)
        defaults = {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
            "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _new_buffers(self, group, parameter):
        names = ["square_avg"]
        names += ["momentum_buffer"] if group["momentum"] > 0 else []
        names += ["grad_avg"] if group["centered"] else []
        return {name: zeros_like(parameter) for name in names}

    def _update(self, group, params, grads, states, numbers, before):
        alpha, momentum = float(group["alpha"]), float(group["momentum"])
        steps.rmsprop_step(
            params, grads, column(states, "square_avg"), column(states, "grad_avg") if group["centered"] else [],
            column(states, "momentum_buffer") if momentum > 0 else [], float(group["lr"]), alpha, 1.0 - alpha,
            float(group["eps"]), decay_terms(group)[0], momentum if momentum > 0 else None, group["maximize"],
        )  # fmt: skip


class Adagrad(FusedOptimizer):
    """p ← p - lr / (1 + (t - 1)·lr_decay) · g / (sqrt(s) + eps) with s ← s + g² (Duchi et al., 2011)."""

    def __init__(
        self, params, lr: float = 1e-2, lr_decay: float = 0, weight_decay: float = 0,
        initial_accumulator_value: float = 0, eps: float = 1e-10, foreach: bool | None = None, *,
        maximize: bool = False, differentiable: bool = False, fused: bool | None = None,
    ):  # fmt: skip
        require(lr >= 0.0, "learning rate", lr)
        require(lr_decay >= 0.0, "lr_decay value", lr_decay)
        require(weight_decay >= 0.0, "weight_decay value", weight_decay)
        require(initial_accumulator_value >= 0.0, "initial_accumulator_value value", initial_accumulator_value)
        require(eps >= 0.0, "epsilon value", eps)
        defaults = {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)
        for group in self.param_groups:
            for parameter in group["params"]:
                self._start(group, parameter)

    def _new_buffers(self, group, parameter):
        start = group["initial_accumulator_value"]
        return {"sum": ops.full_like(parameter, complex(start, start) if parameter.is_complex() else start)}

    def _step_sparse(self, group, parameter):
        adagrad_step(group, parameter, self.state[parameter] or self._start(group, parameter))

    def _update(self, group, params, grads, states, numbers, before):
        lr = float(group["lr"]) / (1.0 + (numbers["step"] - 1.0) * group["lr_decay"])
        eps, decay = float(group["eps"]), decay_terms(group)[0]
        steps.adagrad_step(params, grads, column(states, "sum"), lr, eps, decay, group["maximize"])


class Adadelta(FusedOptimizer):
    """p ← p - lr·Δ with Δ = sqrt(d + eps) / sqrt(v + eps) · g (Zeiler, 2012).

    v and d are running averages, with share rho, of g² and of Δ².
    """

    def __init__(
        self, params, lr: float = 1.0, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0,
        foreach: bool | None = None, *, capturable: bool = False, maximize: bool = False, differentiable: bool = False,
    ):  # fmt: skip
        require(lr >= 0.0, "learning rate", lr)
        require(0.0 <= rho <= 1.0, "rho value", rho)
        require(eps >= 0.0, "epsilon value", eps)
        require(weight_decay >= 0.0, "weight_decay value", weight_decay)
        defaults = {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "capturable": capturable, "foreach": foreach, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _new_buffers(self, group, parameter):
        return {name: zeros_like(parameter) for name in ("square_avg", "acc_delta")}

    def _update(self, group, params, grads, states, numbers, before):
        rho = float(group["rho"])
        steps.adadelta_step(
            params, grads, column(states, "square_avg"), column(states, "acc_delta"), float(group["lr"]), rho,
            1.0 - rho, float(group["eps"]), decay_terms(group)[0], group["maximize"],
        )  # fmt: skip


class Rprop(FusedOptimizer):
    """Each element has a step size that grows by etas[1] while the gradient keeps its sign, else shrinks by etas[0].

    Riedmiller & Braun, 1993; step sizes stay within `step_sizes`, and an element whose gradient turned rests one step.
    """

    def __init__(
        self, params, lr: float = 1e-2, etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50), *, capturable: bool = False, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False,
    ):  # fmt: skip
        require(lr >= 0.0, "learning rate", lr)
        require(0.0 < etas[0] < 1.0 < etas[1], "eta values", f"{etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _new_buffers(self, group, parameter):
        lr = float(group["lr"])
        start = ops.full_like(parameter, complex(lr, lr) if parameter.is_complex() else lr)
        return {"prev": zeros_like(parameter), "step_size": start}

    def _update(self, group, params, grads, states, numbers, before):
        (shrink, grow), (smallest, largest) = map(float, group["etas"]), map(float, group["step_sizes"])
        prevs, sizes = column(states, "prev"), column(states, "step_size")
        steps.rprop_step(params, grads, prevs, sizes, shrink, grow, smallest, largest, group["maximize"])
