"""Losses. `reduction` is "mean" (over the elements or samples), "sum", or "none" (one value each)."""

from __future__ import annotations

import warnings

from ..core import Tensor
from . import functional as F
from .function_module import FunctionModule
from .module import Module

# The two middle ones are how reductions were chosen long ago; all functions still take them
_REDUCTION = {"size_average": None, "reduce": None, "reduction": "mean"}


class _Loss(FunctionModule):
    """Stores weights among the options as buffers, and knows the old form of `reduction`."""

    shown = ()

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if self.size_average is not None or self.reduce is not None:
            self.reduction = _modern_reduction(self.size_average, self.reduce)
            self.size_average = self.reduce = None

    def __setattr__(self, name: str, value) -> None:
        if name in ("weight", "pos_weight") and name not in self._buffers:
            self.register_buffer(name, value)
        else:
            super().__setattr__(name, value)


def _modern_reduction(size_average: bool | None, reduce: bool | None) -> str:
    reduction = "none" if reduce is False else "sum" if size_average is False else "mean"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.", stacklevel=4
    )
    return reduction


class L1Loss(_Loss):
    """|x - y|."""

    function, options = "l1_loss", _REDUCTION


class MSELoss(_Loss):
    """(x - y)²."""

    function, options = "mse_loss", _REDUCTION


class SmoothL1Loss(_Loss):
    """(x - y)² / (2·beta) where |x - y| < beta, |x - y| - beta/2 elsewhere."""

    function = "smooth_l1_loss"
    options = {**_REDUCTION, "beta": 1.0}


class HuberLoss(FunctionModule):
    """(x - y)² / 2 where |x - y| ≤ delta, delta·(|x - y| - delta/2) elsewhere."""

    function = "huber_loss"
    options = {"reduction": "mean", "delta": 1.0}
    shown = ()


class CrossEntropyLoss(_Loss):
    """-log softmax(x)[y], x of shape (N, C, *) and y class indices (N, *) or probabilities (N, C, *).

    `weight` (C,) weighs classes; targets equal to `ignore_index` count nothing; `label_smoothing` in [0, 1] mixes
    the target with the uniform distribution.
    """

    function = "cross_entropy"
    options = {
        "weight": None, "size_average": None, "ignore_index": -100, "reduce": None, "reduction": "mean",
        "label_smoothing": 0.0,
    }  # fmt: skip


class NLLLoss(_Loss):
    """-x[y], x log-probabilities (N, C, *) and y class indices (N, *); see `CrossEntropyLoss`."""

    function = "nll_loss"
    options = {"weight": None, "size_average": None, "ignore_index": -100, "reduce": None, "reduction": "mean"}


class NLLLoss2d(NLLLoss):
    """`NLLLoss` under its name of old."""

    def __init__(self, *args, **kwargs):
        warnings.warn(
            "NLLLoss2d has been deprecated. Please use NLLLoss instead as a drop-in replacement", FutureWarning, 2
        )
        super().__init__(*args, **kwargs)


class PoissonNLLLoss(_Loss):
    """exp(x) - y·x, or x - y·log(x + eps) without `log_input`; `full` adds Stirling's approximation of log y!."""

    function = "poisson_nll_loss"
    options = {
        "log_input": True, "full": False, "size_average": None, "eps": 1e-8, "reduce": None, "reduction": "mean",
    }  # fmt: skip


class GaussianNLLLoss(FunctionModule):
    """(log max(var, eps) + (x - y)² / max(var, eps)) / 2, called with (x, y, var); `full` adds log(2π)/2."""

    function = "gaussian_nll_loss"
    options = {"full": False, "eps": 1e-6, "reduction": "mean"}
    shown = ()

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        return F.gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps, reduction=self.reduction)


class KLDivLoss(_Loss):
    """y·(log y - x), x log-probabilities; with `log_target` y are such too.

    `reduction` may also be "batchmean", the sum divided by the batch size.
    """

    function = "kl_div"
    options = {**_REDUCTION, "log_target": False}


class BCELoss(_Loss):
    """-(y·log x + (1 - y)·log(1 - x)), x probabilities; logs are not below -100. `weight` weighs elements."""

    function = "binary_cross_entropy"
    options = {"weight": None, **_REDUCTION}


class BCEWithLogitsLoss(_Loss):
    """`BCELoss` of sigmoid(x), computed stably; `pos_weight` weighs the positive targets."""

    function = "binary_cross_entropy_with_logits"
    options = {"weight": None, **_REDUCTION, "pos_weight": None}


class HingeEmbeddingLoss(_Loss):
    """x where y = 1, max(0, margin - x) where y = -1."""

    function = "hinge_embedding_loss"
    options = {"margin": 1.0, **_REDUCTION}


class MultiLabelMarginLoss(_Loss):
    """Σ max(0, 1 - (x[yⱼ] - xᵢ)) / C over the labels yⱼ (up to the first negative) and all other classes i."""

    function, options = "multilabel_margin_loss", _REDUCTION


class MultiLabelSoftMarginLoss(_Loss):
    """The mean over classes of `BCEWithLogitsLoss`; x and y (N, C)."""

    function = "multilabel_soft_margin_loss"
    options = {"weight": None, **_REDUCTION}


class MultiMarginLoss(_Loss):
    """Σ max(0, margin - x[y] + xᵢ)ᵖ / C over the other classes i; `weight` weighs classes."""

    function = "multi_margin_loss"
    options = {"p": 1, "margin": 1.0, "weight": None, **_REDUCTION}

    def check(self) -> None:
        if self.p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")


class SoftMarginLoss(_Loss):
    """log(1 + exp(-y·x)), y in {-1, 1}."""

    function, options = "soft_margin_loss", _REDUCTION


class CosineEmbeddingLoss(_Loss):
    """1 - cos(x₁, x₂) where y = 1, max(0, cos(x₁, x₂) - margin) where y = -1."""

    function = "cosine_embedding_loss"
    options = {"margin": 0.0, **_REDUCTION}


class MarginRankingLoss(_Loss):
    """max(0, -y·(x₁ - x₂) + margin): x₁ should rank higher where y = 1, lower where y = -1."""

    function = "margin_ranking_loss"
    options = {"margin": 0.0, **_REDUCTION}


class TripletMarginLoss(_Loss):
    """max(0, ‖a - p‖ - ‖a - n‖ + margin) for anchors, positives and negatives (N, D); `swap` as in Balntas et al."""

    function = "triplet_margin_loss"
    options = {"margin": 1.0, "p": 2.0, "eps": 1e-6, "swap": False, **_REDUCTION}

    def check(self) -> None:
        if self.margin <= 0:
            raise ValueError(f"TripletMarginLoss: expected margin to be greater than 0, got {self.margin} instead")


class TripletMarginWithDistanceLoss(FunctionModule):
    """`TripletMarginLoss` with any `distance_function` of two tensors (`PairwiseDistance()`)."""

    function = "triplet_margin_with_distance_loss"
    options = {"distance_function": None, "margin": 1.0, "swap": False, "reduction": "mean"}
    shown = ()

    def check(self) -> None:
        if self.margin <= 0:
            raise ValueError(
                f"TripletMarginWithDistanceLoss: expected margin to be greater than 0, got {self.margin} instead"
            )
        if self.distance_function is None:
            self.distance_function = PairwiseDistance()

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_with_distance_loss(
            anchor, positive, negative, distance_function=self.distance_function, margin=self.margin, swap=self.swap,
            reduction=self.reduction,
        )  # fmt: skip


class CTCLoss(FunctionModule):
    """-log p(targets | log_probs), summed over alignments (Graves et al., 2006).

    Called with log_probs (T, N, C), targets (N, S) or joined, input lengths (N,) and target lengths (N,).
    """

    function = "ctc_loss"
    options = {"blank": 0, "reduction": "mean", "zero_infinity": False}
    shown = ()


class CosineSimilarity(FunctionModule):
    """x₁·x₂ / max(‖x₁‖·‖x₂‖, eps) along `dim`."""

    function = "cosine_similarity"
    options = {"dim": 1, "eps": 1e-8}
    shown = ()


class PairwiseDistance(Module):
    """‖x₁ - x₂ + eps‖ₚ over the last dim."""

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False):
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
