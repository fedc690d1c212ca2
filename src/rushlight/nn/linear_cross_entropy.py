"""A linear layer and the cross entropy of its results, as one loss."""

from __future__ import annotations

import math

from ..core import Tensor
from . import functional as F
from .linear import Linear
from .module import Module

POLICIES = ("accurate", "balanced", "compact", "auto")


class LinearCrossEntropyOptions:
    """How PyTorch may compute the loss in chunks of a batch; here it is computed at once, with the same result.

    ValueError for a policy that is none of "accurate", "balanced", "compact" and "auto", and for chunks below 1.
    """

    def __init__(
        self, allow_retain_graph: bool = False, batch_chunk_size: int | None = None,
        chunking_method: str | None = "auto", acc_policy: str = "auto", acc_dtype=None,
    ):  # fmt: skip
        if acc_policy not in POLICIES:
            raise ValueError(f"acc_policy must be one of {POLICIES}, got {acc_policy!r}")
        if batch_chunk_size is not None and batch_chunk_size < 1:
            raise ValueError(f"batch_chunk_size must be positive, got {batch_chunk_size}")
        self.allow_retain_graph, self.batch_chunk_size = allow_retain_graph, batch_chunk_size
        self.chunking_method, self.acc_policy, self.acc_dtype = chunking_method, acc_policy, acc_dtype

    def __eq__(self, other) -> bool:
        return vars(self) == vars(other) if isinstance(other, LinearCrossEntropyOptions) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def __repr__(self) -> str:
        return f"LinearCrossEntropyOptions({', '.join(f'{k}={v!r}' for k, v in vars(self).items())})"


class LinearCrossEntropyLoss(Module):
    """The cross entropy of x·Wᵀ + b and targets; the layer is `linear`, without bias unless asked for.

    Input (N, in_features) or (in_features,); target (N, *out_features) with a class each, or (N, num_classes,
    *out_features) with probabilities. `weight`, `reduction`, `ignore_index` and `label_smoothing` as for
    `CrossEntropyLoss`.

    >>> loss = nn.LinearCrossEntropyLoss(4, 3)
    >>> loss(rushlight.ones(5, 4), rushlight.zeros(5, dtype=rushlight.int64)).shape
    rushlight.Size([])
    """

    def __init__(
        self, in_features: int, num_classes: int, *, out_features: tuple[int, ...] = (), bias: bool = False,
        device=None, dtype=None, reduction: str = "mean", weight: Tensor | None = None,
        ignore_index: int | None = None, label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ):  # fmt: skip
        super().__init__()
        self.in_features, self.num_classes, self.out_features = in_features, num_classes, tuple(out_features)
        self.register_buffer("weight", weight)
        self.reduction, self.ignore_index, self.label_smoothing = reduction, ignore_index, label_smoothing
        self.options = options
        self.linear = Linear(in_features, num_classes * math.prod(out_features), bias, device, dtype)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        outputs = (self.num_classes, *self.out_features)
        bias = None if self.linear.bias is None else self.linear.bias.reshape(outputs)
        weight = self.linear.weight.reshape(*outputs, self.in_features)
        return F.linear_cross_entropy(
            input, weight, target, linear_bias=bias, weight=self.weight, reduction=self.reduction,
            ignore_index=self.ignore_index, label_smoothing=self.label_smoothing, options=self.options,
        )  # fmt: skip

    def extra_repr(self) -> str:
        names = ("reduction", "ignore_index", "label_smoothing", "options")
        shown = f"in_features={self.in_features}, num_classes={self.num_classes}, out_features={self.out_features}, "
        shown += f"bias={self.linear.bias is not None}, "
        return shown + ", ".join(f"{name}={getattr(self, name)}" for name in names)
