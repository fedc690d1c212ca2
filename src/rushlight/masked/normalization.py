"""Softmaxes and normalization over valid elements."""

from __future__ import annotations

from ..ops import activation
from .masks import filled, prepared
from .reductions import norm


def softmax(input, dim, *, dtype=None, mask=None):
    """exp(x) / sum(exp(x)) of valid elements x along a dim; 0 for those left out, NaN where nothing is valid.

    >>> rushlight.masked.softmax(rushlight.tensor([1.0, 9.0, 1.0]), 0, mask=rushlight.tensor([True, False, True]))
    tensor([0.5000, 0.0000, 0.5000])
    """
    return of_family("softmax", -float("inf"), input, dim, dtype, mask)


def log_softmax(input, dim, *, dtype=None, mask=None):
    """log(softmax(x)) of valid elements x along a dim; -inf for those left out, NaN where nothing is valid.

    >>> rushlight.masked.log_softmax(rushlight.tensor([1.0, 9.0, 1.0]), 0, mask=rushlight.tensor([True, False, True]))
    tensor([-0.6931,    -inf, -0.6931])
    """
    return of_family("log_softmax", -float("inf"), input, dim, dtype, mask)


def softmin(input, dim, *, dtype=None, mask=None):
    """softmax(-x) of valid elements x along a dim; 0 for those left out, NaN where nothing is valid.

    >>> rushlight.masked.softmin(rushlight.tensor([1.0, 9.0, 1.0]), 0, mask=rushlight.tensor([True, False, True]))
    tensor([0.5000, 0.0000, 0.5000])
    """
    return of_family("softmin", float("inf"), input, dim, dtype, mask)


def of_family(name: str, identity: float, input, dim, dtype, mask):
    x, mask = prepared(name, input, dtype, mask)
    if x.dtype.is_floating_point:  # others are refused by the function itself
        x = filled(x, mask, identity)
    return activation.FUNCTIONAL[name](x, dim)


def normalize(input, ord, dim, *, eps=1e-12, dtype=None, mask=None):
    """x / max(norm(x), eps) of valid elements x along a dim; 0 for those left out.

    ord  the order of the norm, as in `linalg.vector_norm`

    >>> rushlight.masked.normalize(rushlight.tensor([3.0, 9.0, 4.0]), 2, 0, mask=rushlight.tensor([True, False, True]))
    tensor([0.6000, 0.0000, 0.8000])
    """
    x, mask = prepared("normalize", input, dtype, mask)
    return filled(x, mask, 0) / norm(x, ord, dim, keepdim=True, mask=mask).clamp(min=eps)
