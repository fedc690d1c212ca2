"""Adafactor: adaptive steps whose second moments of a matrix take one row and one column of memory."""

from __future__ import annotations

from .. import ops
from ..core import Tensor
from ..ops import optimizer as steps
from .fused import FusedOptimizer, column, zeros_like
from .optimizer import require_at_least


class Adafactor(FusedOptimizer):
    """p ← p - α·u with u = g / √v, v from running means over the rows and the columns of g² (Shazeer & Stern, 2018).

    α is max(eps[1], rms(p)) · min(lr, 1/√t), divided by max(1, rms(u)/d); the means take the share t^beta2_decay of
    what is new. Parameters of at most one dim keep all of v. `eps[0]` bounds √v from below (None: the dtype's epsilon),
    and weight decay is decoupled: p shrinks by lr·weight_decay. ValueError for options out of range, RuntimeError for
    complex parameters.

    >>> layer = nn.Linear(4, 3)
    >>> optimizer = rushlight.optim.Adafactor(layer.parameters())
    >>> layer(rushlight.ones(2, 4)).sum().backward()
    >>> optimizer.step()
    >>> optimizer.state[layer.weight]["row_var"].shape, optimizer.state[layer.weight]["col_var"].shape
    (rushlight.Size([3, 1]), rushlight.Size([1, 4]))
    """

    def __init__(
        self, params, lr: float | Tensor = 1e-2, beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3), d: float = 1.0, weight_decay: float = 0.0, *,
        foreach: bool | None = None, maximize: bool = False,
    ):  # fmt: skip
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        require_at_least(0.0, "Learning rate", lr)
        if beta2_decay > 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None:
            require_at_least(0.0, "epsilon1", eps[0])
        require_at_least(0.0, "epsilon2", eps[1])
        require_at_least(1.0, "Clipping threshold d", d)
        require_at_least(0.0, "weight_decay", weight_decay)
        defaults = {
            "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _new_buffers(self, group, parameter):
        if parameter.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        if parameter.ndim < 2:
            return {"variance": zeros_like(parameter)}
        *outer, rows, columns = parameter.shape
        return {"row_var": parameter.new_zeros(*outer, rows, 1), "col_var": parameter.new_zeros(*outer, 1, columns)}

    def _update(self, group, params, grads, states, numbers, before):
        lr, t = float(group["lr"]), numbers["step"]
        decay = 1.0 - lr * group["weight_decay"] if group["weight_decay"] else None
        places: dict[tuple, list[int]] = {}
        for i, parameter in enumerate(params):  # one op for vectors and one for matrices of each type
            places.setdefault((parameter.ndim > 1, parameter.dtype), []).append(i)
        for (is_matrix, dtype), chosen in places.items():
            kept = [states[i] for i in chosen]
            rows = column(kept, "row_var" if is_matrix else "variance")
            eps = ops.dtypes.finfo(dtype).eps if group["eps"][0] is None else float(group["eps"][0])
            steps.adafactor_step(
                [params[i] for i in chosen], [grads[i] for i in chosen], rows,
                column(kept, "col_var") if is_matrix else [], t ** group["beta2_decay"], min(lr, t**-0.5),
                float(group["eps"][1]), eps, float(group["d"]), decay, group["maximize"],
            )  # fmt: skip
