"""Losses."""

from __future__ import annotations

import math
import warnings

from ..ir import build as B
from ..ir import dtypes
from ..ir.sizes import hint, product
from .activation import softplus_of
from .declare import composite, op
from .softmax_family import shifted, wide_type

REDUCTIONS = ("none", "mean", "sum")


def reduced(loss, reduction: str):
    """The loss per element, its mean, or its sum."""
    check_reduction(reduction)
    return loss if reduction == "none" else B.mean(loss) if reduction == "mean" else B.sum(loss)


def check_reduction(reduction: str) -> None:
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction")


def reduction_of(size_average, reduce, reduction: str) -> str:
    """The old pair of flags, for programs that still give them."""
    if size_average is None and reduce is None:
        return reduction
    warnings.warn("size_average and reduce args will be deprecated, please use reduction instead.", stacklevel=3)
    if reduce is False:
        return "none"
    return "sum" if size_average is False else "mean"


def alike(name: str, input, target):
    """Warn of a loss between tensors that only broadcasting makes alike."""
    if input.shape != target.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will likely lead to "
            "incorrect results due to broadcasting. Please ensure they have the same size.",
            stacklevel=3,
        )


def _pairwise(name: str, doc: str, formula):
    def body(input, target, reduction: str = "mean"):
        return reduced(formula(input, target), reduction)

    body.__name__ = name + "_of"
    made = op(body, public=False)

    def function(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
        alike(name, input, target)
        reduction = reduction_of(size_average, reduce, reduction)
        if weight is None:
            return made(input, target, reduction)
        weighted = made(input, target, "none") * weight
        return weighted if reduction == "none" else weighted.sum() / (weight.sum() if reduction == "mean" else 1)

    function.__name__, function.__doc__ = name, doc
    return composite(function)


mse_loss = _pairwise("mse_loss", "The squared difference.", lambda x, y: (x - y) * (x - y))
l1_loss = _pairwise("l1_loss", "The absolute difference.", lambda x, y: B.abs(x - y))


@op
def smooth_l1_loss(
    input, target, size_average: bool = None, reduce: bool = None, reduction: str = "mean", beta: float = 1.0
):
    """Squared below `beta`, absolute above (Girshick 2015)."""
    reduction = reduction_of(size_average, reduce, reduction)
    d = B.abs(input - target)
    if type(beta) in (int, float) and beta == 0:
        return reduced(d, reduction)
    return reduced(B.where(B.lt(d, beta), 0.5 * d * d / beta, d - 0.5 * beta), reduction)


@op
def huber_loss(input, target, reduction: str = "mean", delta: float = 1.0):
    """Squared below `delta`, linear above."""
    d = B.abs(input - target)
    return reduced(B.where(B.le(d, delta), 0.5 * d * d, delta * (d - 0.5 * delta)), reduction)


# -- cross entropy ----------------------------------------------------------------------------------
def class_dim(x) -> int:
    return 0 if x.ndim == 1 else 1


def check_classes(name: str, x, target) -> None:
    batch = (x.shape[0], *x.shape[2:]) if x.ndim > 1 else ()
    if tuple(map(hint, batch)) != tuple(map(hint, target.shape)):
        raise ValueError(
            f"{name}: expected target of shape {list(map(hint, batch))} for input of shape {list(map(hint, x.shape))}, got "
            f"{list(map(hint, target.shape))}"
        )


def picked(x, target, ignore_index: int):
    """x at the target class of each sample, and which samples count."""
    valid = B.ne(target, ignore_index)
    safe = B.where(valid, target, 0)
    index = B.unsqueeze(safe, class_dim(x))
    return B.squeeze(B.gather(x, class_dim(x), index), class_dim(x)), valid, safe


def class_weights(weight, safe, valid, dtype):
    """The weight of each sample: that of its class, 0 where ignored."""
    count = B.cast(valid, dtype)
    return count if weight is None else B.take(weight, safe, dim=0) * count


@op(public=False)
def nll_of(input, target, weight=None, ignore_index: int = -100, reduction: str = "mean"):
    """The negative log likelihood."""
    check_reduction(reduction)
    check_classes("nll_loss", input, target)
    value, valid, safe = picked(input, target, ignore_index)
    w = class_weights(weight, safe, valid, input.dtype)
    loss = B.where(valid, -value * w, 0)
    if reduction == "none":
        return loss
    return B.sum(loss) / B.sum(w) if reduction == "mean" else B.sum(loss)


@composite
def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    """The negative log likelihood of the target classes; input: (N, C, ...) log-probabilities, target: (N, ...)."""
    return nll_of(input, target, weight, ignore_index, reduction_of(size_average, reduce, reduction))


@op(public=False)
def cross_entropy_classes(
    input, target, weight=None, ignore_index: int = -100, reduction: str = "mean", label_smoothing: float = 0.0
):
    """Cross entropy against class indices: log_softmax and its pick in one."""
    check_reduction(reduction)
    check_classes("cross_entropy", input, target)
    dim = class_dim(input)
    wide = shifted(B.cast(input, wide_type(input.dtype)), dim)
    log_sum = B.squeeze(B.log(B.sum(B.exp(wide), (dim,), True)), dim)
    value, valid, safe = picked(wide, target, ignore_index)
    w = class_weights(weight, safe, valid, wide.dtype)
    loss = (log_sum - value) * w
    total = B.sum(w)
    if not (type(label_smoothing) is float and label_smoothing == 0.0):
        everywhere = smoothed(wide, log_sum, weight, dim, input)
        classes = input.shape[dim]
        spread = everywhere * B.cast(valid, wide.dtype)
        loss = loss * (1 - label_smoothing) + spread * (label_smoothing / classes)
    loss = B.where(valid, loss, 0)
    if reduction == "none":
        return B.cast(loss, input.dtype)
    return B.cast(B.sum(loss) / total if reduction == "mean" else B.sum(loss), input.dtype)


def smoothed(wide, log_sum, weight, dim: int, input):
    """The sum over all classes of weight * -log p."""
    each = B.unsqueeze(log_sum, dim) - wide
    if weight is not None:
        each = each * B.reshape(weight, tuple(weight.shape[0] if d == dim else 1 for d in range(input.ndim)))
    return B.sum(each, (dim,))


@cross_entropy_classes.vjp
def _(cotangents, outputs, input, target, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    """g * w * (softmax - one-hot), the one-hot compared with a ramp over classes: no gather, no scatter."""
    dim = class_dim(input)
    wide = shifted(B.cast(input, wide_type(input.dtype)), dim)
    e = B.exp(wide)
    p = e / B.sum(e, (dim,), True)
    valid = B.ne(target, ignore_index)
    safe = B.where(valid, target, 0)
    w = class_weights(weight, safe, valid, wide.dtype)
    g = B.cast(cotangents[0], wide.dtype)
    scale = g if reduction == "none" else B.expand(B.reshape(g, (1,) * target.ndim), target.shape)
    per_sample = scale * w
    if reduction == "mean":
        per_sample = per_sample / B.sum(w)
    hot = B.cast(B.eq(B.iota(input.shape, dim), B.unsqueeze(safe, dim)), wide.dtype)
    if type(label_smoothing) is float and label_smoothing == 0.0:
        return B.unsqueeze(per_sample, dim) * (p - hot)
    classes = input.shape[dim]
    counted = scale * B.cast(valid, wide.dtype)
    counted = counted / B.sum(w) if reduction == "mean" else counted
    weights = B.full((), 1.0, wide.dtype) if weight is None else weight
    shape = tuple(input.shape[d] if d == dim else 1 for d in range(input.ndim))
    weights = B.expand(B.reshape(weights, (1,) * input.ndim), shape) if weight is None else B.reshape(weights, shape)
    spread = p * B.sum(weights) - weights
    share = label_smoothing / classes
    return B.unsqueeze(per_sample, dim) * (p - hot) * (1 - label_smoothing) + B.unsqueeze(counted, dim) * spread * share


@op(public=False)
def cross_entropy_probabilities(input, target, weight=None, reduction: str = "mean", label_smoothing: float = 0.0):
    """Cross entropy against class probabilities."""
    check_reduction(reduction)
    dim = class_dim(input)
    wide = shifted(B.cast(input, wide_type(input.dtype)), dim)
    log_p = wide - B.log(B.sum(B.exp(wide), (dim,), True))
    target = target * (1 - label_smoothing) + label_smoothing / input.shape[dim]
    each = -log_p * target
    if weight is not None:
        each = each * B.reshape(weight, tuple(weight.shape[0] if d == dim else 1 for d in range(input.ndim)))
    loss = B.cast(B.sum(each, (dim,)), input.dtype)
    if reduction == "mean":
        return B.sum(loss) / (product(input.shape) // input.shape[dim])
    return loss if reduction == "none" else B.sum(loss)


@composite
def cross_entropy(
    input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0
):
    """Cross entropy between logits (N, C, ...) and class indices (N, ...) or class probabilities (N, C, ...).

    >>> logits = rushlight.tensor([[2.0, 0.0]])
    >>> rushlight.nn.functional.cross_entropy(logits, rushlight.tensor([0]))
    tensor(0.1269)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    smoothing = (float(label_smoothing),) if label_smoothing else ()
    if target.dtype.is_floating_point:
        if input.shape != target.shape:
            raise RuntimeError(
                f"cross_entropy: probabilities of shape {list(target.shape)} for input {list(input.shape)}"
            )
        return cross_entropy_probabilities(input, target, weight, reduction, *smoothing)
    if target.dtype is not dtypes.int64 and target.dtype is not dtypes.uint8:
        raise RuntimeError(f"expected scalar type Long but found {target.dtype.name}")
    return cross_entropy_classes(input, target, weight, ignore_index, reduction, *smoothing)


# -- binary ---------------------------------------------------------------------------------------------
@op(public=False)
def bce_of(input, target, weight=None, reduction: str = "mean"):
    """Binary cross entropy of probabilities; logarithms are limited to -100."""
    loss = -(target * B.maximum(B.log(input), -100) + (1 - target) * B.maximum(B.log1p(-input), -100))
    return reduced(loss if weight is None else loss * weight, reduction)


@bce_of.vjp
def _(cotangents, outputs, input, target, weight=None, reduction="mean"):
    g = cotangents[0] if reduction == "none" else B.expand(cotangents[0], input.shape)
    g = g / product(input.shape) if reduction == "mean" else g
    g = g if weight is None else g * weight
    target_cotangent = g * (B.maximum(B.log1p(-input), -100) - B.maximum(B.log(input), -100))
    return g * (input - target) / B.maximum((1 - input) * input, 1e-12), target_cotangent


@composite
def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Binary cross entropy between probabilities and targets in [0, 1]."""
    if input.shape != target.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is deprecated. Please "
            "ensure they have the same size."
        )
    return bce_of(input, target, weight, reduction_of(size_average, reduce, reduction))


@op(public=False)
def bce_with_logits_of(input, target, weight=None, pos_weight=None, reduction: str = "mean"):
    """Binary cross entropy of logits."""
    if pos_weight is None:
        loss = (1 - target) * input + softplus_of(-input)
    else:
        loss = (1 - target) * input + (1 + (pos_weight - 1) * target) * softplus_of(-input)
    return reduced(loss if weight is None else loss * weight, reduction)


@composite
def binary_cross_entropy_with_logits(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None
):
    """Binary cross entropy between logits and targets in [0, 1], without overflow."""
    if input.shape != target.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    return bce_with_logits_of(input, target, weight, pos_weight, reduction_of(size_average, reduce, reduction))


# -- others ---------------------------------------------------------------------------------------------
@op(public=False)
def kl_div_of(input, target, reduction: str = "mean", log_target: bool = False):
    """Kullback-Leibler divergence, per element."""
    if log_target:
        return reduced(B.exp(target) * (target - input), reduction)
    positive = B.gt(target, 0)
    log = B.log(B.where(positive, target, 1))
    return reduced(B.where(positive, target * log, 0) - target * input, reduction)


@composite
def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """Kullback-Leibler divergence of log-probabilities `input` from `target`; "batchmean" divides by the batch size."""
    reduction = reduction_of(size_average, reduce, reduction)
    if reduction == "batchmean":
        return kl_div_of(input, target, "sum", log_target) / input.shape[0]
    return kl_div_of(input, target, reduction, log_target)


@op
def poisson_nll_loss(
    input,
    target,
    log_input: bool = True,
    full: bool = False,
    size_average: bool = None,
    eps: float = 1e-8,
    reduce: bool = None,
    reduction: str = "mean",
):
    """The negative log likelihood of Poisson counts."""
    reduction = reduction_of(size_average, reduce, reduction)
    loss = B.exp(input) - target * input if log_input else input - target * B.log(input + eps)
    if full:
        large = B.gt(target, 1)
        safe = B.where(large, target, 2.0)
        loss = loss + B.where(large, safe * B.log(safe) - safe + 0.5 * B.log(2 * math.pi * safe), 0)
    return reduced(loss, reduction)


@op(public=False)
def gaussian_nll_of(input, target, var, full: bool, eps: float, reduction: str):
    """The negative log likelihood of a normal distribution."""
    safe = B.where(B.lt(var, eps), eps, var)
    d = input - target
    loss = 0.5 * (B.log(safe) + d * d / safe)
    return reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


@composite
def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """The negative log likelihood of targets under normal distributions with means `input` and variances `var`."""
    if var.ndim + 1 == input.ndim:
        var = var.unsqueeze(-1)
    if bool((var < 0).any()):
        raise ValueError("var has negative entry/entries")
    return gaussian_nll_of(input, target, var, full, float(eps), reduction)


@op
def hinge_embedding_loss(
    input, target, margin: float = 1.0, size_average: bool = None, reduce: bool = None, reduction: str = "mean"
):
    """x where the target is 1, max(0, margin - x) where it is -1."""
    similar = B.where(B.eq(target, 1), input, 0)
    apart = B.where(B.eq(target, -1), B.maximum(margin - input, 0), 0)
    return reduced(similar + apart, reduction_of(size_average, reduce, reduction))


@op
def soft_margin_loss(input, target, size_average: bool = None, reduce: bool = None, reduction: str = "mean"):
    """log(1 + exp(-target * input))."""
    return reduced(softplus_of(-target * input), reduction_of(size_average, reduce, reduction))


@op
def margin_ranking_loss(
    input1, input2, target, margin: float = 0, size_average: bool = None, reduce: bool = None, reduction: str = "mean"
):
    """max(0, -target * (input1 - input2) + margin)."""
    return reduced(B.maximum(-target * (input1 - input2) + margin, 0), reduction_of(size_average, reduce, reduction))


@op
def cosine_similarity(x1, x2, dim: int = 1, eps: float = 1e-8):
    """The cosine of the angle between vectors along `dim`."""
    shape = B.broadcast_shapes(x1.shape, x2.shape)
    x1, x2 = B.broadcast_to(x1, shape), B.broadcast_to(x2, shape)
    d = B.wrap_dim(dim, x1.ndim)
    length1, length2 = (B.maximum(B.sqrt(B.sum(x * x, (d,), True)), eps) for x in (x1, x2))
    return B.sum((x1 / length1) * (x2 / length2), (d,))


@composite
def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """1 - cos where the target is 1, max(0, cos - margin) where it is -1."""
    cos = cosine_similarity(input1, input2, input1.ndim - 1)
    loss = (target == 1) * (1 - cos) + (target == -1) * (cos - margin).clamp(min=0)
    reduction = reduction_of(size_average, reduce, reduction)
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()


@op
def pairwise_distance(x1, x2, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False):
    """The p-norm of x1 - x2 + eps along the last dim."""
    d = B.abs(x1 - x2 + eps)
    last = (d.ndim - 1,)
    if type(p) is float and p == 2.0:
        return B.sqrt(B.sum(d * d, last, keepdim))
    return B.pow(B.sum(B.pow(d, p), last, keepdim), 1 / p)


@composite
def triplet_margin_loss(
    anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None, reduction="mean"
):
    """max(0, d(anchor, positive) - d(anchor, negative) + margin)."""
    order = () if p == 2 else (float(p), float(eps))
    near, far = pairwise_distance(anchor, positive, *order), pairwise_distance(anchor, negative, *order)
    if swap:
        far = far.minimum(pairwise_distance(positive, negative, *order))
    loss = (near - far + margin).clamp(min=0)
    reduction = reduction_of(size_average, reduce, reduction)
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()
