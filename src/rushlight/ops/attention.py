"""Attention: softmax(query @ key.T) @ value."""

from __future__ import annotations

import math

from ..ir import build as B
from ..ir import dtypes
from ..ir.sizes import hint
from .checks import scalar_type
from .declare import Number, Tensor, composite, op
from .softmax_family import softmax
from .widths import wide_type


def attention_weights(query, key, mask, causal: bool, scale):
    """softmax(query @ key.T * scale + mask), half types in float32."""
    wide = wide_type(query.dtype)
    scale = 1 / math.sqrt(int(query.shape[-1])) if scale is None else scale
    scores = B.matmul(B.cast(query, wide), B.transpose(B.cast(key, wide), -2, -1)) * scale
    if causal:
        seen = B.ge(*B.places(scores.shape[-2:], 0, 1))
        scores = B.where(seen, scores, -math.inf)
    if mask is not None:
        if mask.ndim:
            return masked_softmax(scores, mask)
        scores = B.where(mask, scores, -math.inf) if mask.dtype is dtypes.bool_ else scores + mask
    return softmax(scores, -1)


def masked_softmax(scores, mask):
    """The weights beside a mask; none for a query that it leaves no key."""
    if mask.dtype is dtypes.bool_:
        left = B.any(mask, (-1,), True)
        scores = B.where(mask, scores, -math.inf)
    else:
        left = B.ne(B.max(mask, (-1,), True), -math.inf)
        scores = scores + mask
    return B.where(left, softmax(B.where(left, scores, 0), -1), 0)


def check_attention(query, key, value, mask) -> None:
    if not query.dtype is key.dtype is value.dtype:
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{query.dtype.name} key.dtype: {key.dtype.name} and value.dtype: {value.dtype.name} instead."
        )
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise RuntimeError(
            "scaled_dot_product_attention: Expected query, key, and value to all be at least 2 dimensional, but got "
            f"{query.ndim}, {key.ndim} and {value.ndim}"
        )
    if query.dtype.kind not in "fc":
        raise RuntimeError(
            "scaled_dot_product_attention: expected queries, keys and values of floating point, got "
            f"{scalar_type(query.dtype)}"
        )
    check_sizes(query, key, value)
    if mask is not None and mask.dtype is not dtypes.bool_ and mask.dtype not in (query.dtype, dtypes.float32):
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
            f"{mask.dtype.name} and query.dtype: {query.dtype.name} instead."
        )


def check_sizes(query, key, value=None) -> None:
    """RuntimeError unless queries meet keys of their width, and keys as many values."""
    if query.shape[-1] != key.shape[-1]:
        raise RuntimeError(
            "scaled_dot_product_attention: query and key must have the same last dimension, got query "
            f"{shape_of(query)} and key {shape_of(key)}"
        )
    if value is not None and key.shape[-2] != value.shape[-2]:
        raise RuntimeError(
            "scaled_dot_product_attention: there must be as many values as keys (dimension -2), got key "
            f"{shape_of(key)} and value {shape_of(value)}"
        )


def shape_of(x) -> list:
    return list(map(hint, x.shape))


@op(public=False)
def attention_scores(query, key: Tensor, mask=None, causal: bool = False, scale: Number = None):
    """How much of each value every query takes, in the queries' type."""
    check_sizes(query, key)
    return B.cast(attention_weights(query, key, mask, causal, scale), query.dtype)


@op(public=False)
def attention(query, key: Tensor, value: Tensor, mask=None, causal: bool = False, scale: Number = None):
    """The sum of values by their weights."""
    check_attention(query, key, value, mask)
    weights = attention_weights(query, key, mask, causal, scale)
    return B.cast(B.matmul(weights, B.cast(value, weights.dtype)), query.dtype)


def check_heads(query, key, value) -> None:
    """RuntimeError unless the heads of queries can be shared evenly among those of keys and of values."""
    heads = [x.shape[-3] if x.ndim > 2 else 0 for x in (query, key, value)]
    if 0 in heads or heads[0] % heads[1] or heads[0] % heads[2]:
        raise RuntimeError(
            "scaled_dot_product_attention: with enable_gqa the number of heads (dimension -3) of key and value must "
            f"divide that of query, got query {list(query.shape)}, key {list(key.shape)}, value {list(value.shape)}"
        )


@composite
def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):
    """softmax(query @ key.T / sqrt(E) + mask) @ value (Vaswani et al. 2017).

    query: (..., L, E), key: (..., S, E), value: (..., S, Ev); `attn_mask` is bool (True: take part) or added;
    `enable_gqa` lets several heads (dim -3) of queries share one of keys and values.
    """
    if is_causal and attn_mask is not None:
        raise RuntimeError("scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    if enable_gqa:
        check_heads(query, key, value)
        key, value = (x.repeat_interleave(query.shape[-3] // x.shape[-3], -3) for x in (key, value))
    extra = () if scale is None else (float(scale),)
    if not 0.0 <= dropout_p <= 1.0:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {dropout_p}")
    if dropout_p > 0.0:
        from .activation import FUNCTIONAL

        weights = attention_scores(query, key, attn_mask, is_causal, *extra)
        return FUNCTIONAL["dropout"](weights, dropout_p) @ value
    return attention(query, key, value, attn_mask, is_causal, *extra)
