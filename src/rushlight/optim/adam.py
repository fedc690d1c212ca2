"""Adam and its relatives: directions from running averages of gradients and of their squares."""

from __future__ import annotations

import math

from ..core import Tensor
from ..ops import optimizer as steps
from .fused import FusedOptimizer, column, zeros_like
from .optimizer import require


def check_common(lr: float, betas: tuple[float, float], eps: float, weight_decay: float) -> None:
    """What all optimizers of this family demand of their options."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    require(lr >= 0.0, "learning rate", lr)
    require(eps >= 0.0, "epsilon value", eps)
    for i, beta in enumerate(betas):
        require(0.0 <= beta < 1.0, f"beta parameter at index {i}", beta)
    require(weight_decay >= 0.0, "weight_decay value", weight_decay)


def decay_terms(group: dict) -> tuple[float | None, float | None]:
    """(weight_decay, shrink): the penalty as part of the gradient, or the factor on the parameters; None: neither."""
    decay = float(group["weight_decay"])
    if decay == 0.0:
        return None, None
    if group.get("decoupled_weight_decay"):
        return None, 1.0 - float(group["lr"]) * decay
    return decay, None


class Adam(FusedOptimizer):
    """p ← p - lr·m̂ / (sqrt(v̂) + eps) (Kingma & Ba, 2015).

    m ← β₁·m + (1 - β₁)·g and v ← β₂·v + (1 - β₂)·g², m̂ = m / (1 - β₁ᵗ), v̂ = v / (1 - β₂ᵗ); `amsgrad` takes the
    largest v so far (Reddi et al., 2018). `weight_decay` adds weight_decay·p to g, or with `decoupled_weight_decay`
    shrinks p. `foreach`, `fused` and `capturable` change nothing: every step is fused.
    """

    def __init__(
        self, params, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, amsgrad: bool = False, *, foreach: bool | None = None, maximize: bool = False,
        capturable: bool = False, differentiable: bool = False, fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ):  # fmt: skip
        check_common(lr, betas, eps, weight_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad,
            "maximize": maximize, "foreach": foreach, "capturable": capturable, "differentiable": differentiable,
            "fused": fused, "decoupled_weight_decay": decoupled_weight_decay,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _new_buffers(self, group, parameter):
        names = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq") if group["amsgrad"] else ("exp_avg", "exp_avg_sq")
        return {name: zeros_like(parameter) for name in names}

    def _step_sparse(self, group, parameter):
        raise RuntimeError("Adam does not support sparse gradients, please consider SparseAdam instead")

    def _update(self, group, params, grads, states, numbers, before):
        beta1, beta2 = map(float, group["betas"])
        step = numbers["step"]
        steps.adam_step(
            params, grads, column(states, "exp_avg"), column(states, "exp_avg_sq"),
            column(states, "max_exp_avg_sq") if group["amsgrad"] else [],
            float(group["lr"]) / (1.0 - beta1**step), 1.0 - beta1, beta2, 1.0 - beta2, math.sqrt(1.0 - beta2**step),
            float(group["eps"]), *decay_terms(group), group["maximize"],
        )  # fmt: skip


class AdamW(Adam):
    """`Adam` with decoupled weight decay: p shrinks by lr·weight_decay each step (Loshchilov & Hutter, 2019)."""

    def __init__(
        self, params, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 1e-2, amsgrad: bool = False, *, maximize: bool = False, foreach: bool | None = None,
        capturable: bool = False, differentiable: bool = False, fused: bool | None = None,
    ):  # fmt: skip
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize, capturable=capturable,
            differentiable=differentiable, fused=fused, decoupled_weight_decay=True,
        )  # fmt: skip

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True


class Adamax(FusedOptimizer):
    """p ← p - lr / (1 - β₁ᵗ) · m / u with u ← max(β₂·u, |g| + eps): Adam with the infinity norm (Kingma & Ba, 2015)."""

    def __init__(
        self, params, lr: float = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, foreach: bool | None = None, *, maximize: bool = False, differentiable: bool = False,
        capturable: bool = False,
    ):  # fmt: skip
        check_common(lr, betas, eps, weight_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _new_buffers(self, group, parameter):
        return {name: zeros_like(parameter) for name in ("exp_avg", "exp_inf")}

    def _update(self, group, params, grads, states, numbers, before):
        beta1, beta2 = map(float, group["betas"])
        steps.adamax_step(
            params, grads, column(states, "exp_avg"), column(states, "exp_inf"),
            float(group["lr"]) / (1.0 - beta1 ** numbers["step"]), 1.0 - beta1, beta2, float(group["eps"]),
            decay_terms(group)[0], group["maximize"],
        )  # fmt: skip


class NAdam(FusedOptimizer):
    """Adam with Nesterov momentum (Dozat, 2016), whose share grows as μₜ = β₁·(1 - 0.96^(t·momentum_decay) / 2)."""

    numbers = {"step": 0.0, "mu_product": 1.0}

    def __init__(
        self, params, lr: float = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, momentum_decay: float = 4e-3, decoupled_weight_decay: bool = False, *,
        foreach: bool | None = None, maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ):  # fmt: skip
        check_common(lr, betas, eps, weight_decay)
        require(momentum_decay >= 0.0, "momentum_decay value", momentum_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _new_buffers(self, group, parameter):
        return {name: zeros_like(parameter) for name in ("exp_avg", "exp_avg_sq")}

    def _advance(self, group, numbers):
        step = numbers["step"] + 1
        return {"step": step, "mu_product": numbers["mu_product"] * _momentum(group, step)}

    def _update(self, group, params, grads, states, numbers, before):
        lr, (beta1, beta2), step = float(group["lr"]), map(float, group["betas"]), numbers["step"]
        mu, mu_next, product = _momentum(group, step), _momentum(group, step + 1), numbers["mu_product"]
        steps.nadam_step(
            params, grads, column(states, "exp_avg"), column(states, "exp_avg_sq"), lr * (1.0 - mu) / (1.0 - product),
            lr * mu_next / (1.0 - product * mu_next), 1.0 - beta1, beta2, 1.0 - beta2, 1.0 - beta2**step,
            float(group["eps"]), *decay_terms(group), group["maximize"],
        )  # fmt: skip


def _momentum(group: dict, step: float) -> float:
    return float(group["betas"][0]) * (1.0 - 0.5 * 0.96 ** (step * group["momentum_decay"]))


class RAdam(FusedOptimizer):
    """Adam whose steps are rectified while the variance of v̂ is large, and are plain momentum while it is unknown.

    Liu et al., 2020: with ρ∞ = 2 / (1 - β₂) - 1 and ρₜ = ρ∞ - 2·t·β₂ᵗ / (1 - β₂ᵗ) the factor is
    sqrt((ρₜ - 4)(ρₜ - 2)ρ∞ / ((ρ∞ - 4)(ρ∞ - 2)ρₜ)) once ρₜ > 5.
    """

    def __init__(
        self, params, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, decoupled_weight_decay: bool = False, *, foreach: bool | None = None,
        maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ):  # fmt: skip
        check_common(lr, betas, eps, weight_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _new_buffers(self, group, parameter):
        return {name: zeros_like(parameter) for name in ("exp_avg", "exp_avg_sq")}

    def _update(self, group, params, grads, states, numbers, before):
        (beta1, beta2), step = map(float, group["betas"]), numbers["step"]
        steps.radam_step(
            params, grads, column(states, "exp_avg"), column(states, "exp_avg_sq"),
            float(group["lr"]) / (1.0 - beta1**step), 1.0 - beta1, beta2, 1.0 - beta2, float(group["eps"]),
            _rectified(beta2, step), *decay_terms(group), group["maximize"],
        )  # fmt: skip


def _rectified(beta2: float, step: float) -> float | None:
    correction = 1.0 - beta2**step
    limit = 2.0 / (1.0 - beta2) - 1.0
    length = limit - 2.0 * step * beta2**step / correction
    if length <= 5.0:
        return None
    factor = (length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length)
    return math.sqrt(factor) * math.sqrt(correction)
