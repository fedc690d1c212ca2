"""Adam for sparse gradients, and steps of other optimizers along them: only what a gradient holds is written."""

from __future__ import annotations

from .. import ops
from ..autograd import no_grad
from ..core import Tensor, engine
from .optimizer import Optimizer, loss_of, require


def places_of(gradient: Tensor) -> tuple[tuple[Tensor, ...], Tensor]:
    """(index tensors of the elements that a coalesced gradient holds, the elements)"""
    indices = gradient._indices()
    return tuple(indices[d] for d in range(indices.shape[0])), gradient._values()


class SparseAdam(Optimizer):
    """Adam (Kingma & Ba, 2014) whose moments and parameters change only where the gradient has elements.

    For embeddings with `sparse=True`. The parameters and the state are dense.

    >>> table = rushlight.nn.Embedding(10, 2, sparse=True)
    >>> optimizer = rushlight.optim.SparseAdam(table.parameters(), lr=0.1)
    >>> table(rushlight.tensor([1, 4])).sum().backward()
    >>> optimizer.step()
    """

    def __init__(self, params, lr: float = 1e-3, betas=(0.9, 0.999), eps: float = 1e-8, maximize: bool = False):
        require(lr > 0.0, "learning rate", lr)
        require(eps > 0.0, "epsilon value", eps)
        require(0.0 <= betas[0] < 1.0, "beta parameter at index 0", betas[0])
        require(0.0 <= betas[1] < 1.0, "beta parameter at index 1", betas[1])
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        sparse = [
            [i, j] for i, g in enumerate(self.param_groups) for j, p in enumerate(g["params"]) if p._layout.sparse
        ]
        if sparse:
            raise ValueError(f"Sparse params at indices {sparse}: SparseAdam requires dense parameter tensors")

    def step(self, closure=None):
        """Updates the parameters that have a gradient; see `Optimizer.step`."""
        loss = loss_of(closure)
        with no_grad():
            for group in self.param_groups:
                for parameter in group["params"]:
                    if parameter.grad is not None:
                        self._step_one(group, parameter)
        return loss

    def _step_one(self, group: dict, parameter: Tensor) -> None:
        if not parameter.grad._layout.sparse:
            raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
        state = self.state[parameter]
        if not state:
            state.update(step=0, exp_avg=ops.zeros_like(parameter), exp_avg_sq=ops.zeros_like(parameter))
        state["step"] += 1
        places, g = places_of(parameter.grad.coalesce())
        if not g.numel():
            return
        g = -g if group["maximize"] else g
        first, second = group["betas"]
        mean = state["exp_avg"][places]
        mean += (g - mean) * (1 - first)
        square = state["exp_avg_sq"][places]
        square += (g * g.conj() - square) * (1 - second)
        state["exp_avg"].index_put_(places, mean)
        state["exp_avg_sq"].index_put_(places, square)
        size = float(group["lr"]) * (1 - second ** state["step"]) ** 0.5 / (1 - first ** state["step"])
        parameter.index_put_(places, mean / (square.sqrt() + group["eps"]) * -size, accumulate=True)


def sgd_step(group: dict, parameter: Tensor, state: dict) -> None:
    """A step of SGD along a sparse gradient; the momentum is sparse, too."""
    g = parameter.grad.coalesce() if group["momentum"] else parameter.grad  # lest the momentum grow with each step
    g = -g if group["maximize"] else g
    if group["weight_decay"]:
        raise RuntimeError(
            "SGD: weight_decay would make the sparse gradient dense: add(sparse, dense) is not supported"
        )
    momentum = float(group["momentum"])
    if momentum:
        buffer = state.get("momentum_buffer")
        if buffer is None:
            buffer = state["momentum_buffer"] = g.clone()
        else:
            buffer.mul_(momentum).add_(g, alpha=1 - group["dampening"])
        g = ops.add(g, buffer, alpha=momentum) if group["nesterov"] else buffer
    parameter.add_(g, alpha=-float(group["lr"]))


def adagrad_step(group: dict, parameter: Tensor, state: dict) -> None:
    """A step of Adagrad along a sparse gradient."""
    if group["weight_decay"]:
        raise RuntimeError("weight_decay option is not compatible with sparse gradients")
    state["step"] = state["step"] + 1
    places, g = places_of(parameter.grad.coalesce())
    if not g.numel():
        return
    g = -g if group["maximize"] else g
    total = state["sum"][places] + g * g
    state["sum"].index_put_(places, total)
    lr = float(group["lr"]) / (1.0 + (state["step"].item() - 1.0) * group["lr_decay"])
    parameter.index_put_(places, g / (total.sqrt() + group["eps"]) * -lr, accumulate=True)


def has_sparse_gradient(params: list) -> bool:
    """Whether one of the gradients is sparse; costs nothing where no sparse tensor was ever made."""
    return engine.has_sparse((p.grad for p in params), {})
