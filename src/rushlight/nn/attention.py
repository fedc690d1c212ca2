"""Multi-head attention."""

from __future__ import annotations

import math

from .. import ops
from ..core import Tensor
from ..ops.notices import warn_user
from . import functional as F
from . import init
from .linear import NonDynamicallyQuantizableLinear, parameter_or_none
from .module import Module


class MultiheadAttention(Module):
    """softmax(Q Kᵀ / sqrt(d)) V in `num_heads` subspaces of size d = embed_dim / num_heads (Vaswani et al., 2017).

    Query (L, N, embed_dim), key (S, N, kdim), value (S, N, vdim), batch first with `batch_first`, or all without N.
    Returns the output, shaped as the query, and the weights (N, L, S), averaged over heads unless
    `average_attn_weights=False`; None without `need_weights`. `attn_mask` (L, S) or (N·heads, L, S) and
    `key_padding_mask` (N, S) are added to the scores, or exclude keys where they are True.
    """

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, add_bias_kv: bool = False,
        add_zero_attn: bool = False, kdim: int | None = None, vdim: int | None = None, batch_first: bool = False,
        device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} "
                "instead"
            )
        if embed_dim % num_heads:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim, self.vdim = embed_dim if kdim is None else kdim, embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.dropout, self.batch_first, self.add_zero_attn = dropout, batch_first, add_zero_attn
        self._add_parameters(bias, add_bias_kv, device, dtype)
        self._reset_parameters()

    def _add_parameters(self, bias: bool, add_bias_kv: bool, device, dtype) -> None:
        size, same = self.embed_dim, self._qkv_same_embed_dim
        shapes = {
            "q_proj_weight": None if same else (size, size),
            "k_proj_weight": None if same else (size, self.kdim),
            "v_proj_weight": None if same else (size, self.vdim),
            "in_proj_weight": (3 * size, size) if same else None,
            "in_proj_bias": (3 * size,) if bias else None,
        }
        for name, shape in shapes.items():
            self.register_parameter(name, parameter_or_none(shape is not None, shape or (), device, dtype))
        self.out_proj = NonDynamicallyQuantizableLinear(size, size, bias, device, dtype)
        for name in ("bias_k", "bias_v"):
            self.register_parameter(name, parameter_or_none(add_bias_kv, (1, 1, size), device, dtype))

    def _reset_parameters(self) -> None:
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            if getattr(self, name) is not None:
                init.xavier_uniform_(getattr(self, name))
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None = None,
        need_weights: bool = True, attn_mask: Tensor | None = None, average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:  # fmt: skip
        if is_causal and attn_mask is None:
            raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
        swap = self.batch_first and query.ndim == 3
        if swap:
            query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        output, weights = multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k,
            self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias, self.training,
            key_padding_mask, need_weights, attn_mask, not self._qkv_same_embed_dim, self.q_proj_weight,
            self.k_proj_weight, self.v_proj_weight, average_attn_weights=average_attn_weights, is_causal=is_causal,
        )  # fmt: skip
        return output.transpose(0, 1) if swap else output, weights


def multi_head_attention_forward(
    query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int, in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None, bias_k: Tensor | None, bias_v: Tensor | None, add_zero_attn: bool, dropout_p: float,
    out_proj_weight: Tensor, out_proj_bias: Tensor | None, training: bool = True,
    key_padding_mask: Tensor | None = None, need_weights: bool = True, attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False, q_proj_weight: Tensor | None = None, k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None, static_k: Tensor | None = None, static_v: Tensor | None = None,
    average_attn_weights: bool = True, is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """Multi-head attention with all weights given; see `MultiheadAttention`. Inputs (L, N, E) or (L, E)."""
    batched = _check_inputs(query, key, value, embed_dim_to_check, num_heads)
    if not batched:
        query, key, value = (x.unsqueeze(1) for x in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    weights = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else in_proj_weight.chunk(3)
    for name, values, weight in zip(("query", "key", "value"), (query, key, value), weights):
        if values.shape[-1] != weight.shape[1]:
            raise AssertionError(
                f"expecting {name} weights shape of {(embed_dim_to_check, values.shape[-1])}, but got {weight.shape}"
            )
    biases = (None, None, None) if in_proj_bias is None else in_proj_bias.chunk(3)
    q, k, v = _project(query, key, value, weights, biases)
    if bias_k is not None and bias_v is not None:
        k = ops.cat([k, bias_k.expand(1, k.shape[1], -1)])
        v = ops.cat([v, bias_v.expand(1, v.shape[1], -1)])
    q, k, v = (_heads(x, num_heads) for x in (q, k, v))
    k, v = k if static_k is None else static_k, v if static_v is None else static_v
    if add_zero_attn:
        k, v = (ops.cat([x, ops.zeros((x.shape[0], 1, x.shape[2]), dtype=x.dtype, device=x.device)], 1) for x in (k, v))
    mask = _merged_mask(attn_mask, key_padding_mask, q, k, num_heads)
    output, scores = _attend(q, k, v, mask, dropout_p if training else 0.0)
    length, batch = query.shape[:2]
    output = F.linear(output.transpose(0, 1).reshape(length, batch, -1), out_proj_weight, out_proj_bias)
    if need_weights:
        scores = scores.reshape(batch, num_heads, length, -1)
        scores = scores.mean(1) if average_attn_weights else scores
    if not batched:
        output, scores = output.squeeze(1), scores.squeeze(0)
    return output, scores if need_weights else None


def _check_inputs(query: Tensor, key: Tensor, value: Tensor, embed_dim: int, heads: int) -> bool:
    """Whether the inputs have a batch dim; AssertionError if they do not belong together."""
    if query.ndim not in (2, 3) or not query.ndim == key.ndim == value.ndim:
        raise AssertionError(
            f"query, key and value should all be unbatched (2-D) or all batched (3-D), but received {query.ndim}-D, "
            f"{key.ndim}-D and {value.ndim}-D tensors"
        )
    if query.shape[-1] != embed_dim:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim}, but got {query.shape[-1]}")
    if key.shape[:-1] != value.shape[:-1]:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
    if embed_dim % heads:
        raise AssertionError(f"embed_dim {embed_dim} not divisible by num_heads {heads}")
    return query.ndim == 3


def _project(query, key, value, weights, biases) -> tuple[Tensor, Tensor, Tensor]:
    return tuple(F.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases))


def _heads(x: Tensor, heads: int) -> Tensor:
    """(L, N, E) to (N·heads, L, E / heads)."""
    length, batch, size = x.shape
    return x.reshape(length, batch * heads, size // heads).transpose(0, 1)


def _merged_mask(attn_mask, key_padding_mask, q: Tensor, k: Tensor, heads: int) -> Tensor | None:
    """Both masks as one tensor to be added to the scores (N·heads, L, S); appended keys are never masked."""
    rows, length, keys = q.shape[0], q.shape[1], k.shape[1]
    if attn_mask is not None and key_padding_mask is not None and attn_mask.dtype != key_padding_mask.dtype:
        warn_user(
            "Support for mismatched key_padding_mask and attn_mask is deprecated. Use same type for both instead."
        )
    merged = None
    if attn_mask is not None:
        merged = _additive(attn_mask, q)
        merged = merged.unsqueeze(0) if merged.ndim == 2 else merged
        if merged.shape[0] not in (1, rows) or merged.shape[1] != length:
            raise RuntimeError(
                f"The shape of the attn_mask is {tuple(attn_mask.shape)}, but should be ({length}, {keys}) or "
                f"({rows}, {length}, {keys})"
            )
        merged = F.pad(merged, (0, keys - merged.shape[2]))
    if key_padding_mask is not None:
        if key_padding_mask.shape[0] != rows // heads:
            raise AssertionError(
                f"Expected key_padding_mask.shape[0] to be {rows // heads}, but got {key_padding_mask.shape[0]}"
            )
        padding = _additive(key_padding_mask, q)
        padding = F.pad(padding, (0, keys - padding.shape[1]))
        padding = padding.repeat_interleave(heads, 0).unsqueeze(1)
        merged = padding if merged is None else merged + padding
    return merged


def _additive(mask: Tensor, like: Tensor) -> Tensor:
    """A boolean mask as 0 where False and -inf where True; a float mask as it is."""
    if mask.is_floating_point():
        return mask
    if str(mask.dtype).rpartition(".")[2] != "bool":
        raise AssertionError(f"only bool and floating types of masks are supported, got {mask.dtype}")
    return ops.zeros(mask.shape, dtype=like.dtype, device=like.device).masked_fill(mask, -math.inf)


def _attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout: float) -> tuple[Tensor, Tensor]:
    """The heads' outputs (N·heads, L, d) and their weights (N·heads, L, S)."""
    scores = (q * (1.0 / math.sqrt(q.shape[-1]))) @ k.transpose(1, 2)
    weights = F.softmax(scores if mask is None else scores + mask, -1)
    dropped = F.dropout(weights, dropout) if dropout > 0.0 else weights
    return dropped @ v, dropped
