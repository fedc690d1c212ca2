"""Dropout and other noise in training: masks follow PyTorch's streams, gradients see the same masks."""

from __future__ import annotations

import math
import warnings

from ..ir import build as B
from ..ir import dtypes
from .activation import FUNCTIONAL
from .checks import scalar_type
from .creation import fresh, strides_like
from .declare import FUNCTIONS, composite, op
from .filling import draw_trials, draw_uniform, drawn, exponential_, source
from .memory_format import preserve_format


# -- what is done to the elements -------------------------------------------------------------------
@op(inplace=True, public=False)
def kept(input, mask, scale):
    """input * scale where the mask holds, 0 times the input elsewhere."""
    return input * (B.cast(mask, input.dtype) * scale)


@kept.vjp
def _(cotangents, outputs, input, mask, scale):
    return cotangents[0] * (B.cast(mask, cotangents[0].dtype) * scale), None, None


@op(inplace=True, public=False)
def kept_affine(input, mask, scale, low, shift):
    """input * scale + shift where the mask holds, low + shift elsewhere."""
    mask = B.cast(mask, input.dtype)
    return input * (mask * scale) + ((mask - 1) * low + shift)


@kept_affine.vjp
def _(cotangents, outputs, input, mask, scale, low, shift):
    return cotangents[0] * (B.cast(mask, cotangents[0].dtype) * scale), None, None, None, None


ALPHA = 1.7580993408473766  # where SELU saturates, negated


def check_probability(p: float) -> None:
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p}")


def drop(input, p: float, train: bool, inplace: bool = False, feature: bool = False, alpha: bool = False):
    """All kinds of dropout: of elements or whole channels (`feature`), to 0 or to SELU's lower bound (`alpha`)."""
    check_probability(p)
    if p == 0 or not train or input.numel() == 0:
        return input
    if p == 1:
        return input.mul_(0) if inplace else input * 0
    if not (input.is_floating_point() or input.is_complex()):
        raise RuntimeError(f"result type Float can't be cast to the desired output type {scalar_type(input.dtype)}")
    mask = drawn(blank_mask(input, feature), draw_trials, 1.0 - p, None)
    if not alpha:
        return (kept.in_place if inplace else kept)(input, mask, scale_of(p, input.dtype))
    a = 1.0 / math.sqrt((ALPHA * ALPHA * p + 1) * (1 - p))
    return (kept_affine.in_place if inplace else kept_affine)(input, mask, a, ALPHA * a, ALPHA * a * p)


def blank_mask(input, feature: bool):
    if not feature:
        return fresh(tuple(input.shape), dtypes.bool_, strides=strides_like(input, preserve_format))
    if input.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return fresh((*input.shape[:2], *(1,) * (input.ndim - 2)), dtypes.bool_)


def scale_of(p: float, dtype) -> float:
    """1 / (1 - p) as division in the dtype gives it."""
    return source()._kept(p, dtype.to_real(), "dropout")[1]


def _declare(name: str, summary: str, **kind) -> None:
    def function(input, p, train):
        return drop(input, p, train, **kind)

    def in_place(input, p, train):
        return drop(input, p, train, True, **kind)

    function.__name__ = function.__qualname__ = name
    in_place.__name__ = in_place.__qualname__ = name + "_"
    function.__doc__ = summary
    in_place.__doc__ = f"In-place form of `{name}`."
    composite(function)
    composite(in_place)


_declare("dropout", "Each element is 0 with probability p, else divided by 1 - p.")
_declare("feature_dropout", "Whole channels (dim 1) are 0 with probability p, else divided by 1 - p.", feature=True)
_declare("alpha_dropout", "Dropout that keeps mean and variance after SELU.", alpha=True)
_declare("feature_alpha_dropout", "Alpha dropout of whole channels (dim 1).", feature=True, alpha=True)


@composite
def native_dropout(input, p, train):
    """(dropout of the input, the mask of what was kept)."""
    if train is False or p == 0 or input.numel() == 0:
        return input.clone(), FUNCTIONS["ones_like"](input, dtype=dtypes.bool_)
    check_probability(p)
    if p == 1:
        return input * 0, FUNCTIONS["zeros_like"](input, dtype=dtypes.bool_)
    mask = drawn(blank_mask(input, False), draw_trials, 1.0 - p, None)
    return kept(input, mask, scale_of(p, input.dtype)), mask


# -- as nn.functional has it ------------------------------------------------------------------------
def functional(function):
    FUNCTIONAL[function.__name__] = function
    return function


def check_functional(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


@functional
def dropout(input, p=0.5, training=True, inplace=False):
    """Each element is 0 with probability p, else divided by 1 - p (Hinton et al., 2012)."""
    check_functional(p)
    return drop(input, p, training, inplace)


@functional
def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Dropout that keeps mean 0 and variance 1 after SELU (Klambauer et al., 2017)."""
    check_functional(p)
    return drop(input, p, training, inplace, alpha=True)


@functional
def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Alpha dropout of whole channels (dim 1)."""
    check_functional(p)
    return drop(input, p, training, inplace, feature=True, alpha=True)


@functional
def dropout1d(input, p=0.5, training=True, inplace=False):
    """Dropout of whole channels of (N, C, L) or (C, L)."""
    check_functional(p)
    if input.ndim not in (2, 3):
        raise RuntimeError(f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input.")
    return drop_channels(input, p, training, inplace, batched=input.ndim == 3)


@functional
def dropout2d(input, p=0.5, training=True, inplace=False):
    """Dropout of whole channels of (N, C, H, W)."""
    check_functional(p)
    if input.ndim not in (3, 4):
        warn_of_dims("dropout2d", input)
    elif input.ndim == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is "
            "desired: input is interpreted as shape (N, C, L), where C is the channel dim. Use dropout1d instead.",
            stacklevel=2,
        )
    return drop(input, p, training, inplace, feature=True)


@functional
def dropout3d(input, p=0.5, training=True, inplace=False):
    """Dropout of whole channels of (N, C, D, H, W) or (C, D, H, W)."""
    check_functional(p)
    if input.ndim not in (4, 5):
        warn_of_dims("dropout3d", input)
    return drop_channels(input, p, training, inplace, batched=input.ndim == 5)


def warn_of_dims(name: str, input) -> None:
    warnings.warn(
        f"{name}: Received a {input.ndim}-D input to {name}, which is deprecated and will result in an error in a "
        "future release. To retain the behavior and silence this warning, please use dropout instead.",
        stacklevel=3,
    )


def drop_channels(input, p, training: bool, inplace: bool, batched: bool):
    if batched:
        return drop(input, p, training, inplace, feature=True)
    result = drop(input.unsqueeze(0), p, training, inplace, feature=True)
    return input if inplace else result.squeeze(0)


# -- random slopes, random choices ------------------------------------------------------------------
def leaky(input, lower, upper, training: bool, inplace: bool, generator=None):
    """Slopes below 0: random ones in training, their mean otherwise."""
    if not lower <= upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    if not training:
        chosen = FUNCTIONS["leaky_relu_" if inplace else "leaky_relu"]
        return chosen(input, (float(lower) + float(upper)) / 2)
    slopes = random_slopes(input.detach(), float(lower), float(upper), generator)
    return input.mul_(slopes) if inplace else input * slopes


def random_slopes(input, lower: float, upper: float, generator):
    """1 above 0; below, one number of 53 bits for each element in row-major order."""
    below = input <= 0
    drawn = fresh((int(below.sum()),), dtypes.float64)
    draw_uniform(drawn, lower, upper, generator)
    return FUNCTIONS["ones"](input.shape, dtype=input.dtype).masked_scatter_(below, drawn.to(input.dtype))


@composite
def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, generator=None):
    """x above 0, x times a random slope in [lower, upper) below (Xu et al., 2015); the mean slope unless `training`."""
    return leaky(input, lower, upper, training, False, generator)


@composite
def rrelu_(input, lower=1.0 / 8, upper=1.0 / 3, training=False, generator=None):
    """In-place form of `rrelu`."""
    return leaky(input, lower, upper, training, True, generator)


def functional_rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    """x above 0, x times a random slope in [lower, upper) below (Xu et al., 2015); the mean slope unless `training`."""
    return leaky(input, lower, upper, training, inplace)


functional_rrelu.__name__ = "rrelu"
functional(functional_rrelu)


@functional
def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """A sample of the Gumbel-softmax distribution (Jang et al., 2017); one-hot if `hard`, with the soft gradient."""
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    noise = fresh(tuple(logits.shape), logits.dtype, like=logits)
    gumbels = -exponential_(noise).log()
    soft = ((logits + gumbels) / tau).softmax(dim)
    if not hard:
        return soft
    place = soft.max(dim, keepdim=True)[1]
    one_hot = FUNCTIONS["zeros_like"](logits).scatter_(dim, place, 1.0)
    return one_hot - soft.detach() + soft
