"""Losses that ask for a margin: between classes, and between pairs and triplets of vectors."""

from __future__ import annotations

import math

from ..ir import build as B
from ..ir import dtypes
from ..ir.sizes import hint, product
from .checks import check_kinds, scalar_type
from .declare import Number, Tensor, composite, op
from .loss import reduced, reduced_tensor, reduction_of, softplus_of
from .vector_norm import norm_of, order_of


# -- of classes -------------------------------------------------------------------------------------
def check_rows(name: str, x, target, per_class: bool) -> None:
    """Inputs (N, C) or (C,) (or one number), targets (N,) or one, or as many as the input has if `per_class`."""
    batch = x.shape[:-1]
    wanted = x.shape if per_class else batch
    if x.ndim > 2 or (x.ndim and type(x.shape[-1]) is int and x.shape[-1] == 0):
        raise RuntimeError(
            f"{name}: Expected non-empty vector or matrix with optional 0-dim batch size, got {shape_of(x)}"
        )
    alike = len(wanted) == target.ndim and all(n == m for n, m in zip(wanted, target.shape))
    if not alike and not (x.ndim <= 1 and not per_class and product(target.shape) == 1):
        raise RuntimeError(f"{name}: inconsistent target size {shape_of(target)} for input of size {shape_of(x)}")
    if target.dtype is not dtypes.int64:
        raise RuntimeError(f"{name}: expected scalar type Long for the target, got {scalar_type(target.dtype)}")


def shape_of(x) -> list:
    return list(map(hint, x.shape))


@op(public=False)
def multi_margin_of(input, target: Tensor, p: int, margin: float, weight=None, reduction: str = "mean"):
    """sum over j != y of max(0, margin - x[y] + x[j]) ** p / C."""
    check_rows("multi_margin_loss", input, target, False)
    check_kinds("multi_margin_loss_cpu", input.dtype, "f")
    x = B.reshape(input, (1,) * (2 - input.ndim) + tuple(input.shape)) if input.ndim < 2 else input
    y = B.reshape(target, (x.shape[0], 1))
    classes = x.shape[1]
    if weight is not None and (weight.ndim != 1 or weight.shape[0] != classes):
        raise RuntimeError(
            f"multi_margin_loss: inconsistent weight size {shape_of(weight)} for {hint(classes)} classes"
        )
    missed = margin - B.gather(x, 1, y) + x
    missed = B.where(B.le(missed, 0), 0, missed)  # no slope where the margin is just kept
    missed = missed if p == 1 else missed * missed
    if weight is not None:
        missed = missed * B.take(weight, y, dim=0)
    others = B.ne(B.iota(x.shape, 1), y)
    loss = B.sum(B.where(others, missed, 0), (1,)) / classes
    return reduced(loss if input.ndim == 2 else B.reshape(loss, target.shape), reduction)


@composite
def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    """sum over j != y of max(0, margin - x[y] + x[j]) ** p / C of scores (N, C) and classes (N,); p is 1 or 2."""
    reduction = reduction_of(size_average, reduce, reduction)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.ndim != 1:
        raise ValueError("weight must be one-dimensional")
    return multi_margin_of(input, target, int(p), float(margin), weight, reduction)


@op(public=False)
def multilabel_margin_of(input, target: Tensor, reduction: str = "mean"):
    """sum over labels y and other classes j of max(0, 1 - x[y] + x[j]) / C."""
    check_rows("multilabel_margin_loss", input, target, True)
    check_kinds("multilabel_margin_loss_forward_out_frame", input.dtype, "f")
    x, labels = (B.reshape(v, (1, product(v.shape))) if v.ndim < 2 else v for v in (input, target))
    n, classes = x.shape
    # labels count up to the first -1
    counted = B.eq(B.cumsum(B.lt(labels, 0), 1), 0)
    safe = B.where(counted, labels, 0)
    zeros = B.zeros((n, classes), dtypes.int64)
    is_label = B.gt(B.scatter(zeros, 1, safe, B.cast(counted, dtypes.int64), "add"), 0)
    apart = 1 - B.unsqueeze(B.gather(x, 1, safe), 2) + B.unsqueeze(x, 1)  # (N, label, class)
    pairs = B.logical_and(B.unsqueeze(counted, 2), B.unsqueeze(B.logical_not(is_label), 1))
    loss = B.sum(B.where(B.logical_and(pairs, B.logical_not(B.le(apart, 0))), apart, 0), (1, 2)) / classes
    return reduced(loss if input.ndim == 2 else B.reshape(loss, ()), reduction)


@composite
def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """sum over labels y and classes j that are none of max(0, 1 - x[y] + x[j]) / C.

    target: of the input's shape, (N, C): labels in front, ended by -1.
    """
    return multilabel_margin_of(input, target, reduction_of(size_average, reduce, reduction))


@op(public=False)
def multilabel_soft_margin_of(input, target: Tensor, weight=None, reduction: str = "mean"):
    """Binary cross entropy of logits, the mean over classes."""
    each = target * softplus_of(-input) + (1 - target) * softplus_of(input)
    each = each if weight is None else each * weight
    return reduced(B.mean(each, (input.ndim - 1,)) if input.ndim else each, reduction)


@composite
def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """-(y log sigmoid(x) + (1 - y) log sigmoid(-x)), the mean over classes (the last dim)."""
    return multilabel_soft_margin_of(input, target, weight, reduction_of(size_average, reduce, reduction))


def above_zero(x):
    """x limited to 0 from below, which has the slope of x at 0 itself."""
    return B.where(B.lt(x, 0), 0, x)


# -- of distances -----------------------------------------------------------------------------------
@op(public=False)
def hinge_embedding_of(input, target: Tensor, margin: float, reduction: str):
    apart = B.where(B.ne(target, 1), above_zero(margin - input), 0)
    return reduced(apart + B.where(B.ne(target, -1), input, 0), reduction)


@composite
def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    """x where the target is 1, max(0, margin - x) where it is -1."""
    return hinge_embedding_of(input, target, margin, reduction_of(size_average, reduce, reduction))


@op(public=False)
def margin_ranking_of(input1, input2: Tensor, target: Tensor, margin: float, reduction: str):
    return reduced(above_zero(-target * (input1 - input2) + margin), reduction)


@composite
def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """max(0, -target * (input1 - input2) + margin)."""
    reduction = reduction_of(size_average, reduce, reduction)
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            f"margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
            f"{input1.shape}, "
            f"input2: {input2.shape}, target: {target.shape}"
        )
    return margin_ranking_of(input1, input2, target, float(margin), reduction)


@op
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8):
    """The cosine of the angle between vectors along `dim`; lengths count as at least `eps`."""
    dtype = B.common_dtype(x1, x2)
    if dtype.kind not in "fc":
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {scalar_type(dtype)}")
    shape = B.broadcast_shapes(x1.shape, x2.shape)
    x1, x2 = (B.broadcast_to(B.cast(x, dtype), shape) for x in (x1, x2))
    d = B.wrap_dim(dim, x1.ndim)
    dims = (d,) if x1.ndim else ()
    length1, length2 = (B.maximum(length(x, dims), eps) for x in (x1, x2))
    return B.sum((x1 / length1) * (x2 / length2), dims)


def length(x, dims):
    """The euclidean norm along dims, which stay; its derivative at 0 is 0."""
    return norm_of(x, 2.0, dims or None, True, None, 2)


@composite
def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """1 - cos where the target is 1, max(0, cos - margin) where it is -1; inputs (N, D) and targets (N,)."""
    reduction = reduction_of(size_average, reduce, reduction)
    if target.ndim + 1 != input1.ndim or target.ndim + 1 != input2.ndim:
        if target.ndim not in (0, 1):
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        raise RuntimeError(
            f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but found inputs with sizes "
            f"{list(input1.shape)} and {list(input2.shape)}."
        )
    return cosine_embedding_of(input1, input2, target, margin, reduction)


@op(public=False)
def cosine_embedding_of(input1, input2: Tensor, target: Tensor, margin: float, reduction: str):
    """With eps under the root, as PyTorch has it."""
    dims, eps = (input1.ndim - 1,), 1e-12
    product, square1, square2 = (B.sum(a * b, dims) for a, b in ((input1, input2), (input1, input1), (input2, input2)))
    cos = product / B.sqrt((square1 + eps) * (square2 + eps))
    near = B.where(B.eq(target, 1), 1 - cos, 0)
    return reduced(near + B.where(B.eq(target, -1), above_zero(cos - margin), 0), reduction)


@op(public=False)
def distance_of(x1: Tensor, x2: Tensor, p: Number = 2.0, eps: float = 1e-6, keepdim: bool = False, order: Order = 2):
    """The p-norm of x1 - x2 + eps along the last dim."""
    difference = x1 - x2 + eps
    dims = (difference.ndim - 1,) if difference.ndim else None
    return norm_of(difference, p, dims, keepdim, None, order)


@composite
def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    """The p-norm of x1 - x2 + eps along the last dim."""
    if p == 2 and eps == 1e-6:
        return distance_of(x1, x2, 2.0, 1e-6, keepdim) if keepdim else distance_of(x1, x2)
    p = math.inf if p == math.inf else float(p)
    return distance_of(x1, x2, p, float(eps), keepdim, order_of(p))


def check_margin(margin) -> None:
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")


@composite
def triplet_margin_loss(
    anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None, reduction="mean"
):
    """max(0, d(anchor, positive) - d(anchor, negative) + margin); `swap` takes the nearer of two negatives."""
    reduction = reduction_of(size_average, reduce, reduction)
    check_margin(margin)
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            f"The anchor, positive, and negative tensors are expected to have the same number of dimensions, but "
            f"got: anchor "
            f"{anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D inputs"
        )

    def distance(a, b):
        return pairwise_distance(a, b, p, eps)

    return triplet(anchor, positive, negative, distance, margin, swap, reduction)


def triplet(anchor, positive, negative, distance, margin, swap: bool, reduction: str):
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = far.minimum(distance(positive, negative))
    return reduced_tensor((near - far + margin).clamp_min(0), reduction)


@composite
def triplet_margin_with_distance_loss(
    anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"
):
    """`triplet_margin_loss` with a distance of the caller's own (two tensors of vectors to their distances)."""
    reduction = reduction_of(None, None, reduction)
    check_margin(margin)
    distance = pairwise_distance if distance_function is None else distance_function
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but "
            "got: anchor "
            f"{anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D inputs"
        )
    return triplet(anchor, positive, negative, distance, margin, swap, reduction)
