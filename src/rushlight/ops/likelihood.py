"""Negative log likelihood and cross entropy of classes."""

from __future__ import annotations

from ..ir import build as B
from ..ir import dtypes
from ..ir.sizes import hint, product
from .checks import check_kinds, scalar_type
from .declare import Tensor, composite, op
from .loss import reduction_of
from .matmul import linear
from .softmax_family import shifted
from .widths import wide_type


# -- what both have in common -----------------------------------------------------------------------
def class_dim(x) -> int:
    return 0 if x.ndim == 1 else 1


def sizes(x) -> list:
    return list(map(hint, x.shape))


def check_classes(name: str, x, target, weight) -> None:
    """Shapes (N, C, ...) and (N, ...), or (C,) and (); a weight for each class."""
    if x.ndim == 1 and target.ndim == 1:
        raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {hint(target.shape[0])}")
    if x.ndim == 0:
        raise RuntimeError(f"{name}: input tensor should be 1D or 2D or more, got 0D")
    batch = (x.shape[0], *x.shape[2:]) if x.ndim > 1 else ()
    if len(batch) != target.ndim or any(n != m for n, m in zip(batch, target.shape)):
        expected = (
            f"expected target of shape {list(map(hint, batch))} for input of shape {sizes(x)}, got {sizes(target)}"
        )
        if x.ndim > 1 and (target.ndim == 0 or hint(x.shape[0]) != hint(target.shape[0])):
            raise ValueError(f"{name}: Expected input batch_size to match target batch_size: {expected}")
        raise RuntimeError(f"{name}: {expected}")
    classes = x.shape[class_dim(x)]
    if weight is not None and (weight.ndim != 1 or weight.shape[0] != classes):
        raise RuntimeError(
            f"{name}: weight tensor should be defined either for all {hint(classes)} classes or no classes but got "
            f"weight tensor of "
            f"shape: {sizes(weight)}"
        )


def picked(x, target, ignore_index: int):
    """x at the target class of each sample, which samples count, and their targets (0 where ignored)."""
    valid = B.ne(target, ignore_index)
    safe = B.where(valid, target, 0)
    index = B.unsqueeze(safe, class_dim(x))
    return B.squeeze(B.gather(x, class_dim(x), index), class_dim(x)), valid, safe


def sample_weights(weight, safe, valid, dtype):
    """The weight of each sample: that of its class, 0 where ignored."""
    count = B.cast(valid, dtype)
    return count if weight is None else B.take(weight, safe, dim=0) * count


def check_target(name: str, target) -> None:
    if target.dtype is not dtypes.int64 and target.dtype is not dtypes.uint8:
        raise RuntimeError(f"{name}: expected scalar type Long but found {scalar_type(target.dtype)}")


# -- negative log likelihood ------------------------------------------------------------------------
@op(public=False)
def nll_of(input, target: Tensor, weight=None, ignore_index: int = -100, reduction: str = "mean"):
    """The negative log likelihood."""
    check_classes("nll_loss", input, target, weight)
    check_kinds("nll_loss_out_frame", input.dtype, "f")
    check_target("nll_loss", target)
    value, valid, safe = picked(input, target, ignore_index)
    w = sample_weights(weight, safe, valid, input.dtype)
    loss = B.where(valid, -value * w, 0)
    if reduction == "none":
        return loss
    return B.sum(loss) / B.sum(w) if reduction == "mean" else B.sum(loss)


@nll_of.vjp
def _(cotangents, outputs, input, target, weight=None, ignore_index=-100, reduction="mean"):
    """-g * w at the target, found by comparing it with a ramp over classes: no scatter."""
    dim = class_dim(input)
    valid = B.ne(target, ignore_index)
    safe = B.where(valid, target, 0)
    w = sample_weights(weight, safe, valid, input.dtype)
    per_sample = spread(cotangents[0], target, reduction) * w
    if reduction == "mean":
        per_sample = per_sample / not_zero(B.sum(w))
    return B.where(B.eq(B.iota(input.shape, dim), B.unsqueeze(safe, dim)), B.unsqueeze(-per_sample, dim), 0)


def spread(cotangent, target, reduction: str):
    """The cotangent of each sample's share of a loss."""
    return cotangent if reduction == "none" else B.expand(B.reshape(cotangent, (1,) * target.ndim), target.shape)


def not_zero(total):
    """A sum to divide by: where no sample counts, nothing is divided."""
    return B.where(B.eq(total, 0), 1.0, total)


def of_one_sample(input, target):
    """The target without dims where there is one sample, not in a batch: it may come as a list of one."""
    alone = input.ndim == 1 and target.ndim == 1 and target.shape[0] == 1
    return target.reshape(()) if alone else target


@composite
def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    """-input[target] of log-probabilities (N, C, ...) and classes (N, ...).

    weight: (C,), counted in the mean as well; targets of `ignore_index` count nothing.
    """
    target = of_one_sample(input, target)
    return nll_of(input, target, weight, ignore_index, reduction_of(size_average, reduce, reduction))


# -- cross entropy ----------------------------------------------------------------------------------
@op(public=False)
def cross_entropy_classes(
    input, target: Tensor, weight=None, ignore_index: int = -100, reduction: str = "mean", label_smoothing: float = 0.0
):
    """Cross entropy against class indices: log_softmax and its pick in one."""
    check_classes("cross_entropy", input, target, weight)
    check_kinds("log_softmax_kernel_impl", input.dtype, "f")
    dim = class_dim(input)
    wide = shifted(B.cast(input, wide_type(input.dtype)), dim)
    log_sum = B.squeeze(B.log(B.sum(B.exp(wide), (dim,), True)), dim)
    value, valid, safe = picked(wide, target, ignore_index)
    w = sample_weights(weight, safe, valid, wide.dtype)
    loss = (log_sum - value) * w
    total = B.sum(w)
    if not (type(label_smoothing) is float and label_smoothing == 0.0):
        everywhere = smoothed(wide, log_sum, weight, dim, input)
        share = label_smoothing / input.shape[dim]
        loss = loss * (1 - label_smoothing) + everywhere * B.cast(valid, wide.dtype) * share
    loss = B.where(valid, loss, 0)
    if reduction == "none":
        return B.cast(loss, input.dtype)
    return B.cast(B.sum(loss) / total if reduction == "mean" else B.sum(loss), input.dtype)


def smoothed(wide, log_sum, weight, dim: int, input):
    """The sum over all classes of weight * -log p."""
    each = B.unsqueeze(log_sum, dim) - wide
    return B.sum(each if weight is None else each * along_classes(weight, input), (dim,))


def along_classes(weight, x):
    """One number per class in a shape that broadcasts against x."""
    return B.reshape(weight, tuple(weight.shape[0] if d == class_dim(x) else 1 for d in range(x.ndim)))


@cross_entropy_classes.vjp
def _(cotangents, outputs, input, target, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    """g * w * (softmax - one-hot), the one-hot compared with a ramp over classes: no gather, no scatter."""
    dim = class_dim(input)
    wide = shifted(B.cast(input, wide_type(input.dtype)), dim)
    e = B.exp(wide)
    p = e / B.sum(e, (dim,), True)
    valid = B.ne(target, ignore_index)
    safe = B.where(valid, target, 0)
    w = sample_weights(weight, safe, valid, wide.dtype)
    scale = spread(B.cast(cotangents[0], wide.dtype), target, reduction)
    if reduction == "mean":
        scale = scale / not_zero(B.sum(w))
    hot = B.cast(B.eq(B.iota(input.shape, dim), B.unsqueeze(safe, dim)), wide.dtype)
    sharp = B.unsqueeze(scale * w, dim) * (p - hot)
    if type(label_smoothing) is float and label_smoothing == 0.0:
        return sharp
    classes = input.shape[dim]
    counted = B.unsqueeze(scale * B.cast(valid, wide.dtype), dim)
    if weight is None:
        everywhere = p * classes - 1
    else:
        weights = along_classes(weight, input)
        everywhere = p * B.sum(weights) - weights
    return sharp * (1 - label_smoothing) + counted * everywhere * (label_smoothing / classes)


@op(public=False)
def cross_entropy_probabilities(
    input, target: Tensor, weight=None, reduction: str = "mean", label_smoothing: float = 0.0
):
    """Cross entropy against class probabilities."""
    check_kinds("log_softmax_kernel_impl", input.dtype, "f")
    dim = class_dim(input)
    wide = shifted(B.cast(input, wide_type(input.dtype)), dim)
    log_p = wide - B.log(B.sum(B.exp(wide), (dim,), True))
    if not (type(label_smoothing) is float and label_smoothing == 0.0):
        target = target * (1 - label_smoothing) + label_smoothing / input.shape[dim]
    each = -log_p * target
    if weight is not None:
        each = each * along_classes(weight, input)
    loss = B.cast(B.sum(each, (dim,)), B.common_dtype(input, target))
    if reduction == "mean":
        return B.sum(loss) / (product(input.shape) // input.shape[dim])
    return loss if reduction == "none" else B.sum(loss)


@composite
def cross_entropy(
    input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0
):
    """-log softmax(input)[target] of logits (N, C, ...) and classes (N, ...), or class probabilities (N, C, ...).

    weight: (C,); targets of `ignore_index` count nothing; `label_smoothing` mixes targets with the uniform
    distribution.

    >>> logits = rushlight.tensor([[2.0, 0.0]])
    >>> rushlight.nn.functional.cross_entropy(logits, rushlight.tensor([0]))
    tensor(0.1269)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    smoothing = (float(label_smoothing),) if label_smoothing else ()
    if input.shape == target.shape and target.ndim:
        if not target.dtype.is_floating_point:
            raise RuntimeError(
                f"Expected floating point type for target with class probabilities, got {scalar_type(target.dtype)}"
            )
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        if weight is not None and weight.shape != (input.shape[class_dim(input)],):
            raise RuntimeError(
                f"cross_entropy: weight tensor should be defined either for all {input.shape[class_dim(input)]} "
                f"classes or no "
                f"classes but got weight tensor of shape: {list(weight.shape)}"
            )
        return cross_entropy_probabilities(input, target, weight, reduction, *smoothing)
    target = of_one_sample(input, target)
    if target.dtype.is_floating_point or target.dtype not in (dtypes.int64, dtypes.uint8):
        check_classes("cross_entropy", input, target, weight)
        check_target("cross_entropy", target)
    return cross_entropy_classes(input, target, weight, ignore_index, reduction, *smoothing)


@composite
def linear_cross_entropy(
    input,
    linear_weight,
    target,
    *,
    linear_bias=None,
    weight=None,
    reduction="mean",
    ignore_index=None,
    label_smoothing=0.0,
    options=None,
):
    """`cross_entropy(linear(input, linear_weight, linear_bias), target, ...)`.

    input: (N, F) or (F,); linear_weight: (C, ..., F), one layer of C classes per position; linear_bias: (C, ...).
    """
    if input.ndim not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.ndim}")
    if linear_weight.ndim < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {linear_weight.ndim}")
    features, outputs = input.shape[-1], tuple(linear_weight.shape[:-1])
    if features != linear_weight.shape[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{features} and {linear_weight.shape[-1]}, respectively"
        )
    if linear_bias is not None and tuple(linear_bias.shape) != outputs:
        raise RuntimeError(f"expected linear_bias shape {outputs}, got {tuple(linear_bias.shape)}")
    if len(outputs) > 1 and input.ndim == 1:
        raise RuntimeError(
            f"a loss for each of {outputs[1:]} positions requires batched input, got {list(input.shape)}"
        )
    logits = linear(
        input, linear_weight.reshape(-1, features), None if linear_bias is None else linear_bias.reshape(-1)
    ).reshape(*input.shape[:-1], *outputs)
    if target.shape == logits.shape and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    ignored = -100 if ignore_index is None else ignore_index
    return cross_entropy(
        logits, target, weight, ignore_index=ignored, reduction=reduction, label_smoothing=label_smoothing
    )
