"""Muon: momentum made orthogonal, for the matrices of hidden layers."""

from __future__ import annotations

from .. import ops
from ..core import Tensor
from ..ops import optimizer as steps
from .fused import FusedOptimizer, column
from .optimizer import require_at_least


class Muon(FusedOptimizer):
    """p ← (1 - lr·weight_decay)·p - lr·s·NS(v) with v ← momentum·v + (1 - momentum)·g, for matrices (Jordan, 2024).

    NS takes the matrix over its norm (at least `eps`) through `ns_steps` Newton-Schulz iterations a·x + b·x·xᵀx +
    c·x·(xᵀx)², in bfloat16, which make its singular values nearly one. `nesterov` looks ahead. The factor s keeps the
    root mean square of steps alike: max(1, rows/columns)^½ for `adjust_lr_fn` "original" (or None), 0.2·max(rows,
    columns)^½, which suits rates tuned for AdamW, for "match_rms_adamw". ValueError for options out of range, and for
    parameters that are no matrices: give biases, norms and embeddings to another optimizer.

    >>> layer = nn.Linear(4, 3)
    >>> optimizer = rushlight.optim.Muon([layer.weight], lr=0.02)
    >>> layer(rushlight.ones(2, 4)).sum().backward()
    >>> optimizer.step()
    """

    numbers = {}

    def __init__(
        self, params, lr: float = 1e-3, weight_decay: float = 0.1, momentum: float = 0.95, nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315), eps: float = 1e-7, ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ):  # fmt: skip
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        require_at_least(0.0, "Learning rate", lr)
        require_at_least(0.0, "momentum", momentum)
        require_at_least(0.0, "weight decay", weight_decay)
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
            "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn,
        }  # fmt: skip
        super().__init__(params, defaults)

    def add_param_group(self, param_group: dict) -> None:
        """Adds matrices with options of their own; ValueError for other parameters."""
        super().add_param_group(param_group)
        for parameter in self.param_groups[-1]["params"]:
            if parameter.ndim != 2:
                del self.param_groups[-1]
                raise ValueError(
                    f"Muon only supports 2D parameters whereas we found a parameter with size: {parameter.shape}"
                )

    def _step_group(self, group: dict, params: list) -> None:
        if any(parameter.is_complex() for parameter in params):
            raise RuntimeError("Muon does not support complex parameters")
        if group["ns_steps"] >= 100:
            raise ValueError("Number of steps must be less than 100 for computational efficiency")
        if len(group["ns_coefficients"]) != 3:
            raise ValueError("Coefficients must be a tuple of exactly 3 values.")
        states = [self.state[parameter] for parameter in params]
        for parameter, state in zip(params, states):
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = ops.zeros_like(parameter.grad)
        lr, momentum = float(group["lr"]), float(group["momentum"])
        steps.muon_step(
            params, [p.grad for p in params], column(states, "momentum_buffer"), lr, 1.0 - lr * group["weight_decay"],
            momentum, 1.0 - momentum, *map(float, group["ns_coefficients"]), float(group["eps"]), group["ns_steps"],
            group["nesterov"], group["adjust_lr_fn"] == "match_rms_adamw",
        )  # fmt: skip
