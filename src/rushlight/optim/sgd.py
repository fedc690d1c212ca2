"""Stochastic gradient descent."""

from __future__ import annotations

from .. import ops
from ..ops import optimizer as steps
from .fused import FusedOptimizer, column, zeros_like
from .optimizer import require
from .sparse_adam import sgd_step


class SGD(FusedOptimizer):
    """p ← p - lr·v with v = g, or with momentum v ← momentum·v + (1 - dampening)·g (Sutskever et al., 2013).

    g is the gradient plus weight_decay·p; with `nesterov` p moves along g + momentum·v; with `maximize` uphill.
    `foreach` and `fused` change nothing: every step is fused.
    """

    numbers = {}

    def __init__(
        self, params, lr: float = 1e-3, momentum: float = 0, dampening: float = 0, weight_decay: float = 0,
        nesterov: bool = False, *, maximize: bool = False, foreach: bool | None = None, differentiable: bool = False,
        fused: bool | None = None,
    ):  # fmt: skip
        require(lr >= 0.0, "learning rate", lr)
        require(momentum >= 0.0, "momentum value", momentum)
        require(weight_decay >= 0.0, "weight_decay value", weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
            "nesterov": nesterov, "maximize": maximize, "foreach": foreach, "differentiable": differentiable,
            "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _step_sparse(self, group, parameter):
        sgd_step(group, parameter, self.state[parameter])

    def _step_group(self, group: dict, params: list) -> None:
        if not group["momentum"]:
            self._run(group, params, [], first=False)
            return
        states = [self.state[p] for p in params]
        fresh = [state.get("momentum_buffer") is None for state in states]
        for p, state, new in zip(params, states, fresh):
            if new:
                state["momentum_buffer"] = ops.empty_like(p)
        for first in {*fresh}:
            chosen = [i for i, new in enumerate(fresh) if new is first]
            buffers = column([states[i] for i in chosen], "momentum_buffer")
            self._run(group, [params[i] for i in chosen], buffers, first)

    def _run(self, group: dict, params: list, buffers: list, first: bool) -> None:
        momentum = float(group["momentum"])
        decay = group["weight_decay"]
        steps.sgd_step(
            params,
            [p.grad for p in params],
            buffers,
            float(group["lr"]),
            float(decay) if decay else None,
            momentum if momentum else None,
            1.0 - group["dampening"],
            group["nesterov"],
            group["maximize"],
            first,
        )


class ASGD(FusedOptimizer):
    """Gradient descent that also averages the parameters, from step `t0` on, in the state `ax`.

    Polyak & Juditsky, 1992: p ← (1 - lambd·η)·p - η·g with η = lr / (1 + lambd·lr·t)^alpha.
    """

    numbers = {"step": 0.0, "eta": 0.0, "mu": 1.0}

    def __init__(
        self, params, lr: float = 1e-2, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6,
        weight_decay: float = 0, foreach: bool | None = None, maximize: bool = False, differentiable: bool = False,
        capturable: bool = False,
    ):  # fmt: skip
        require(lr >= 0.0, "learning rate", lr)
        require(weight_decay >= 0.0, "weight_decay value", weight_decay)
        defaults = {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _new_buffers(self, group, parameter):
        return {"eta": ops.tensor(float(group["lr"])), "ax": zeros_like(parameter)}

    def _advance(self, group, numbers):
        step, lr = numbers["step"] + 1, float(group["lr"])
        eta = lr / (1.0 + group["lambd"] * lr * step) ** group["alpha"]
        return {"step": step, "eta": eta, "mu": 1.0 / max(1.0, step - group["t0"])}

    def _update(self, group, params, grads, states, numbers, before):
        eta, mu = before["eta"], before["mu"]  # the first step uses lr itself
        decay = float(group["weight_decay"])
        steps.asgd_step(
            params, grads, column(states, "ax"), eta, 1.0 - group["lambd"] * eta, mu, decay if decay else None,
            group["maximize"], mu == 1.0,
        )  # fmt: skip
