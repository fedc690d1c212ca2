"""Losses as the torch namespace has them: reductions by number, arguments in the order of the bindings.

0 is "none", 1 "mean", 2 "sum". PyTorch declares a mean as their default, but its bindings read that as 0.
"""

from __future__ import annotations

from .activation import FUNCTIONAL
from .ctc import ctc_loss
from .declare import FUNCTIONS, composite
from .loss import binary_cross_entropy_with_logits, kl_div, poisson_nll_loss
from .margin_loss import cosine_embedding_loss, hinge_embedding_loss, margin_ranking_loss, triplet_margin_loss

_WORDS = ("none", "mean", "sum")


def word(reduction) -> str:
    """A reduction by its name, as the functions of `nn.functional` take it."""
    if isinstance(reduction, str):
        return reduction
    if reduction not in (0, 1, 2):
        raise ValueError(f"reduction must be 0 (none), 1 (mean) or 2 (sum), got {reduction!r}")
    return _WORDS[reduction]


def native(function):
    """Declare `native_<name>` as <name> of the torch namespace; `nn.functional` keeps what has that name so far."""
    name = function.__name__.removeprefix("native_")
    FUNCTIONAL.setdefault(name, FUNCTIONS[name])
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`nn.functional.{name}` with `reduction` as a number: 0 none, 1 mean, 2 sum."
    return composite(function)


@native
def native_kl_div(input, target, reduction=0, *, log_target=False):
    return kl_div(input, target, reduction=word(reduction), log_target=log_target)


@native
def native_binary_cross_entropy_with_logits(input, target, weight=None, pos_weight=None, reduction=0):
    return binary_cross_entropy_with_logits(input, target, weight, reduction=word(reduction), pos_weight=pos_weight)


@native
def native_poisson_nll_loss(input, target, log_input, full, eps, reduction):
    return poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=word(reduction))


@native
def native_hinge_embedding_loss(input, target, margin=1.0, reduction=0):
    return hinge_embedding_loss(input, target, margin, reduction=word(reduction))


@native
def native_margin_ranking_loss(input1, input2, target, margin=0.0, reduction=0):
    return margin_ranking_loss(input1, input2, target, margin, reduction=word(reduction))


@native
def native_cosine_embedding_loss(input1, input2, target, margin=0.0, reduction=0):
    return cosine_embedding_loss(input1, input2, target, margin, reduction=word(reduction))


@native
def native_triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, reduction=0):
    return triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=word(reduction))


@native
def native_ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction=0, zero_infinity=False):
    return ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, word(reduction), zero_infinity)
