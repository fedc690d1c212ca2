"""Softmax over many classes, cheap for the frequent ones."""

from __future__ import annotations

import itertools
from collections import namedtuple
from collections.abc import Sequence

from .. import ops
from ..core import Tensor
from . import functional as F
from .containers import ModuleList, Sequential
from .linear import Linear
from .module import Module

AdaptiveOutput = namedtuple("AdaptiveOutput", "output loss")


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-probabilities of targets, and their mean loss, with classes in clusters (Grave et al., 2017).

    Classes are ordered by how frequent they are. The head tells the first `cutoffs[0]` classes and the clusters
    apart; cluster i, for the classes from `cutoffs[i]` on, first projects to in_features / div_value^(i+1) features,
    and is computed for the inputs whose target lies in it alone.

    Input (N, in_features) and targets (N,), or (in_features,) and (). Returns (output, loss): the log-probability of
    each target, (N,) or (), and minus their mean.

    Raises:
        ValueError: unless `cutoffs` increase from above 0 to below n_classes
        RuntimeError: for shapes that do not go together and targets out of range
    """

    def __init__(
        self, in_features: int, n_classes: int, cutoffs: Sequence[int], div_value: float = 4.0, head_bias: bool = False,
        device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        cutoffs = list(cutoffs)
        _check_cutoffs(cutoffs, n_classes)
        self.in_features, self.n_classes, self.div_value, self.head_bias = in_features, n_classes, div_value, head_bias
        self.cutoffs = [*cutoffs, n_classes]
        self.shortlist_size, self.n_clusters = cutoffs[0], len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        options = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **options)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            hidden, size = int(in_features // div_value ** (i + 1)), self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(
                Sequential(
                    Linear(in_features, hidden, bias=False, **options), Linear(hidden, size, bias=False, **options)
                )
            )

    def reset_parameters(self) -> None:
        """Draws new initial values."""
        self.head.reset_parameters()
        for inner, outer in self.tail:
            inner.reset_parameters()
            outer.reset_parameters()

    def forward(self, input: Tensor, target: Tensor) -> AdaptiveOutput:
        self._check(input, target)
        if target.ndim == 0:
            output, loss = self(input.unsqueeze(0), target.unsqueeze(0))
            return AdaptiveOutput(output.squeeze(0), loss)
        cluster = ops.bucketize(target, ops.tensor(self.cutoffs[:-1]), right=True)
        in_head = ops.where(cluster == 0, target, self.shortlist_size + cluster - 1)
        output = _at(F.log_softmax(self.head(input), 1), in_head)
        for i, tail in enumerate(self.tail):
            rows = (cluster == i + 1).nonzero().squeeze(1)
            if rows.numel():
                scores = F.log_softmax(tail(input.index_select(0, rows)), 1)
                output = output.index_add(0, rows, _at(scores, target[rows] - self.cutoffs[i]))
        return AdaptiveOutput(output, -output.mean())

    def _check(self, input: Tensor, target: Tensor) -> None:
        if target.ndim == 1 and input.shape[:1] != target.shape:
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if target.ndim == 1 and input.ndim != 2:
            raise RuntimeError(f"1D target tensor expects 2D input tensors, but found inputs with size {input.shape}")
        if target.ndim == 0 and input.ndim != 1:
            raise RuntimeError(f"0D target tensor expects 1D input tensors, but found inputs with size {input.shape}")
        if target.ndim > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if target.numel() and not 0 <= target.min() <= target.max() < self.n_classes:
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range [{target.min().item()}, "
                f"{target.max().item()}] were found."
            )

    def log_prob(self, input: Tensor) -> Tensor:
        """The log-probabilities of all classes: (N, in_features) to (N, n_classes)."""
        return self._log_prob(input, self.head(input))

    def _log_prob(self, input: Tensor, head: Tensor) -> Tensor:
        head = F.log_softmax(head, 1)
        parts = [head[:, : self.shortlist_size]]
        for i, tail in enumerate(self.tail):
            parts.append(F.log_softmax(tail(input), 1) + head[:, self.shortlist_size + i].unsqueeze(1))
        return ops.cat(parts, 1)

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of each input: (N, in_features) to (N,)."""
        head = self.head(input)
        best = head.argmax(1)
        rows = (best >= self.shortlist_size).nonzero().squeeze(1)
        if rows.numel():  # a cluster as a whole is more probable than any class in the head: look into all of them
            best[rows] = self._log_prob(input.index_select(0, rows), head.index_select(0, rows)).argmax(1)
        return best


def _at(scores: Tensor, places: Tensor) -> Tensor:
    return scores.gather(1, places.unsqueeze(1)).squeeze(1)


def _check_cutoffs(cutoffs: list, n_classes: int) -> None:
    if not cutoffs:
        raise ValueError("cutoffs should be a sequence of length larger than 0")
    increasing = all(a < b for a, b in itertools.pairwise(cutoffs))
    if not increasing or any(int(c) != c for c in cutoffs) or cutoffs[0] <= 0 or cutoffs[-1] > n_classes - 1:
        raise ValueError(
            "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each value "
            "is between 1 and n_classes-1"
        )
