"""Losses between tensors of one shape: differences, binary cross entropy, likelihoods."""

from __future__ import annotations

import math
import warnings

from ..core.engine import Tensor
from ..ir import build as B
from ..ir.sizes import product
from .activation import softplus_of
from .checks import check_kinds, every_sample, scalar_type
from .declare import composite, op
from .notices import warn_user

REDUCTIONS = ("none", "mean", "sum")


# -- reductions -------------------------------------------------------------------------------------
def reduced(loss, reduction: str):
    """The loss per element, its mean, or its sum."""
    return loss if reduction == "none" else B.mean(loss) if reduction == "mean" else B.sum(loss)


def reduced_tensor(loss, reduction: str):
    """The same for what was computed call by call."""
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()


def reduction_of(size_average, reduce, reduction: str) -> str:
    """A checked reduction, perhaps given by the old pair of flags."""
    if size_average is None and reduce is None:
        if reduction not in REDUCTIONS:
            raise ValueError(f"{reduction} is not a valid value for reduction")
        return reduction
    found = "none" if reduce is False else "sum" if size_average is False else "mean"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{found}' instead.", stacklevel=3
    )
    return found


def warn_unlike(input, target) -> None:
    """Warn of a loss between tensors that only broadcasting makes alike."""
    if input.shape != target.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will "
            f"likely lead to "
            "incorrect results due to broadcasting. Please ensure they have the same size.",
            stacklevel=3,
        )


def shared(cotangent, shape, reduction: str):
    """The cotangent of each element of a loss that was reduced."""
    if reduction == "none":
        return cotangent
    g = B.expand(cotangent, shape)
    return g / product(shape) if reduction == "mean" else g


# -- differences ------------------------------------------------------------------------------------
@op(public=False)
def mse_of(input, target: Tensor, reduction: str):
    """The squared difference."""
    check_kinds("mse_cpu", B.common_dtype(input, target), "f")
    d = input - target
    return reduced(d * d, reduction)


@op(public=False)
def l1_of(input, target: Tensor, reduction: str):
    """The absolute difference."""
    return reduced(B.abs(input - target), reduction)


@op(public=False)
def smooth_l1_of(input, target: Tensor, reduction: str, beta: float = 1.0):
    """Squared below `beta`, absolute above."""
    check_kinds("smooth_l1_cpu", B.common_dtype(input, target), "f")
    d = B.abs(input - target)
    far = B.ge(d, beta)
    small = B.where(far, 0, d)  # the slope of infinity squared is none
    return reduced(B.where(far, d - 0.5 * beta, 0.5 * small * small / beta), reduction)


@op(public=False)
def huber_of(input, target: Tensor, reduction: str, delta: float = 1.0):
    """Squared below `delta`, linear above."""
    check_kinds("huber_cpu", B.common_dtype(input, target), "f")
    d = B.abs(input - target)
    far = B.gt(d, delta)
    small = B.where(far, 0, d)
    return reduced(B.where(far, delta * (d - 0.5 * delta), 0.5 * small * small), reduction)


def check_weight(weight, input) -> None:
    if weight.shape != input.shape:
        raise ValueError("Weights and input must have the same size.")


def weighted(made, input, target, weight, reduction: str):
    """A loss with a weight for each element; its mean is over the weights."""
    if weight is None:
        return made(input, target, reduction)
    check_weight(weight, input)
    loss = made(input, target, "none") * weight
    if reduction == "none":
        return loss
    return loss.sum() / weight.sum() if reduction == "mean" else loss.sum()


@composite
def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """(input - target) ** 2."""
    warn_unlike(input, target)
    return weighted(mse_of, input, target, weight, reduction_of(size_average, reduce, reduction))


@composite
def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """|input - target|."""
    warn_unlike(input, target)
    return weighted(l1_of, input, target, weight, reduction_of(size_average, reduce, reduction))


@composite
def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """d * d / (2 beta) for differences d below `beta`, d - beta / 2 above (Girshick 2015)."""
    warn_unlike(input, target)
    reduction = reduction_of(size_average, reduce, reduction)
    if beta == 0:
        return l1_of(input, target, reduction)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return smooth_l1_of(input, target, reduction, *given(beta))


@composite
def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """d * d / 2 for differences d up to `delta`, delta * (d - delta / 2) above (Huber 1964)."""
    warn_unlike(input, target)
    reduction = reduction_of(None, None, reduction)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    if weight is None:
        return huber_of(input, target, reduction, *given(delta))
    check_weight(weight, input)
    return reduced_tensor(huber_of(input, target, "none", *given(delta)) * weight, reduction)


def given(number) -> tuple:
    """An argument unless it is the default of 1, which costs less left out."""
    return () if number == 1 else (float(number),)


# -- binary -----------------------------------------------------------------------------------------
@op(public=False)
def bce_of(input, target: Tensor, weight=None, reduction: str = "mean"):
    """Binary cross entropy of probabilities; logarithms are limited to -100."""
    check_kinds("binary_cross_entropy", input.dtype, "f")
    if target.dtype.kind != "f":
        raise RuntimeError(f"Found dtype {scalar_type(target.dtype)} but expected {scalar_type(input.dtype)}")
    loss = -(target * B.maximum(B.log(input), -100) + (1 - target) * B.maximum(B.log1p(-input), -100))
    return reduced(loss if weight is None else loss * weight, reduction)


@bce_of.vjp
def _(cotangents, outputs, input, target, weight=None, reduction="mean"):
    g = shared(cotangents[0], input.shape, reduction)
    g = g if weight is None else g * weight
    target_cotangent = g * (B.maximum(B.log1p(-input), -100) - B.maximum(B.log(input), -100))
    return g * (input - target) / B.maximum((1 - input) * input, 1e-12), target_cotangent


@op(public=False)
def outside(input):
    """Whether any element is not in [0, 1]."""
    return B.any(B.logical_or(B.lt(input, 0), B.gt(input, 1)))


@composite
def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """-(y log x + (1 - y) log(1 - x)) of probabilities x and targets y in [0, 1]; logarithms are not below -100."""
    reduction = reduction_of(size_average, reduce, reduction)
    if input.shape != target.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is "
            f"deprecated. Please "
            "ensure they have the same size."
        )
    if isinstance(input, Tensor) and bool(outside(every_sample(input))):
        raise RuntimeError("all elements of input should be between 0 and 1")
    return bce_of(input, target, weight, reduction)


@op(public=False)
def bce_with_logits_of(input, target: Tensor, weight=None, pos_weight=None, reduction: str = "mean"):
    """Binary cross entropy of logits."""
    if target.dtype.kind not in "fc":
        raise RuntimeError(
            f"result type {scalar_type(input.dtype)} can't be cast to the desired output type "
            f"{scalar_type(target.dtype)}: targets must be of floating point"
        )
    if pos_weight is None:
        loss = (1 - target) * input + softplus_of(-input)
    else:
        loss = (1 - target) * input + (1 + (pos_weight - 1) * target) * softplus_of(-input)
    return reduced(loss if weight is None else loss * weight, reduction)


@composite
def binary_cross_entropy_with_logits(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None
):
    """Binary cross entropy of sigmoid(input), without overflow; `pos_weight` weighs the positive targets."""
    reduction = reduction_of(size_average, reduce, reduction)
    if input.shape != target.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    return bce_with_logits_of(input, target, weight, pos_weight, reduction)


# -- likelihoods ------------------------------------------------------------------------------------
@op(public=False)
def kl_div_of(input, target: Tensor, reduction: str = "mean", log_target: bool = False):
    """Kullback-Leibler divergence, per element."""
    for x in (input, target):
        if x.dtype.kind in "bui":
            raise RuntimeError("kl_div: Integral inputs not supported.")
    if log_target:
        return reduced(B.exp(target) * (target - input), reduction)
    check_kinds("xlogy_cpu", target.dtype, "f")
    zero = B.eq(target, 0)
    return reduced(B.where(zero, 0, target * B.log(B.where(zero, 1, target))) - target * input, reduction)


@composite
def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """target * (log target - input) of log-probabilities `input`; "batchmean" divides the sum by the batch size."""
    batch_mean = reduction == "batchmean"
    if reduction == "mean" and size_average is None and reduce is None:
        warn_user(
            "reduction: 'mean' divides the total loss by both the batch size and the support size. 'batchmean' divides "
            "only by the batch size, and aligns with the KL div math definition. 'mean' will be changed to behave the "
            "same as 'batchmean' in the next major release."
        )
    reduction = "sum" if batch_mean else reduction_of(size_average, reduce, reduction)
    loss = kl_div_of(input, target, reduction, log_target)
    return loss / input.shape[0] if batch_mean and input.ndim else loss


@op(public=False)
def poisson_nll_of(input, target: Tensor, log_input: bool, full: bool, eps: float, reduction: str):
    """The negative log likelihood of Poisson counts."""
    loss = B.exp(input) - target * input if log_input else input - target * B.log(input + eps)
    if full:
        large = B.gt(target, 1)
        safe = B.where(large, target, 2.0)
        loss = loss + B.where(large, safe * B.log(safe) - safe + 0.5 * B.log(2 * math.pi * safe), 0)
    return reduced(loss, reduction)


@composite
def poisson_nll_loss(
    input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"
):
    """exp(x) - y x, or x - y log(x + eps) without `log_input`; `full` adds Stirling's approximation of log y!."""
    reduction = reduction_of(size_average, reduce, reduction)
    return poisson_nll_of(input, target, log_input, full, float(eps), reduction)


@op(public=False)
def gaussian_nll_of(input, target: Tensor, var, full: bool, eps: float, reduction: str):
    """The negative log likelihood of a normal distribution."""
    safe = clamped_through(var, eps)
    d = input - target
    loss = 0.5 * (B.log(safe) + d * d / safe)
    return reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


@op(public=False)
def clamped_through(input, least):
    """The input, but not below `least`; the derivative takes no notice of that."""
    return B.where(B.lt(input, least), B.cast(least, input.dtype), input)


@clamped_through.vjp
def _(cotangents, outputs, input, least):
    return cotangents[0]


@composite
def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """(log v + (x - y) ** 2 / v) / 2 with v = max(var, eps); `full` adds log(2 pi) / 2.

    var: of the input's shape, without its last dim, with that of size 1, or a number.
    """
    if not hasattr(var, "shape"):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = (input.detach() * 0) + var
    elif isinstance(var, Tensor) and bool((every_sample(var) < 0).any()):
        raise ValueError("var has negative entry/entries")
    if var.shape != input.shape:
        if input.shape[:-1] == var.shape:
            var = var.unsqueeze(-1)
        elif not (input.shape[:-1] == var.shape[:-1] and var.shape[-1] == 1) and not broadcasts(var.shape, input.shape):
            raise ValueError("var is of incorrect size")
    return gaussian_nll_of(input, target, var, full, float(eps), reduction_of(None, None, reduction))


def broadcasts(shape, other) -> bool:
    """Whether `shape` has as many dims as `other`, each as large or 1."""
    return len(shape) == len(other) and all(n == m or n == 1 for n, m in zip(shape, other))


@op(public=False)
def soft_margin_of(input, target: Tensor, reduction: str):
    """log(1 + exp(-target * input))."""
    check_kinds("log1p_cpu", B.common_dtype(input, target), "fc")
    product = -target * input
    loss = B.log1p(B.exp(product)) if product.dtype.is_complex else softplus_of(product)
    return reduced(loss, reduction)


@composite
def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """log(1 + exp(-target * input))."""
    return soft_margin_of(input, target, reduction_of(size_average, reduce, reduction))
