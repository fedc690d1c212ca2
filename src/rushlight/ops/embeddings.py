"""Tables looked up by index: one-hot rows, embeddings and bags of embeddings."""

from __future__ import annotations

from ..core.engine import is_grad_enabled, set_grad_mode
from ..ir import build as B
from ..ir import dtypes
from .activation import FUNCTIONAL
from .declare import composite, op
from .indexing import put_at


def check_table(name: str, weight, indices) -> None:
    if weight.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    if indices.dtype not in (dtypes.int64, dtypes.int32):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"{indices.dtype.name} instead (while checking arguments for {name})"
        )


@op(public=False)
def embedded(weight, indices, padding_idx: int = -1, scale_grad_by_freq: bool = False):
    """Rows of a table; the row `padding_idx` (none if negative) gets no gradient."""
    check_table("embedding", weight, indices)
    return B.take(weight, indices, dim=0)


@embedded.vjp
def _(cotangents, outputs, weight, indices, padding_idx=-1, scale_grad_by_freq=False):
    g = cotangents[0]
    if padding_idx >= 0:
        g = B.where(B.unsqueeze(B.eq(indices, padding_idx), -1), 0, g)
    if scale_grad_by_freq:
        g = g / B.unsqueeze(frequencies(indices, weight, g.dtype), -1)
    return [B.put(B.zeros_like(weight), g, indices, dim=0, mode="add"), None]


def frequencies(indices, weight, dtype):
    """For each index how often it occurs."""
    ones = B.ones(indices.shape, dtype)
    counts = B.put(B.zeros(weight.shape[:1], dtype), ones, indices, dim=0, mode="add")
    return B.take(counts, indices, dim=0)


@op(public=False)
def limited(rows, max_norm: float, norm_type: float):
    """Rows scaled to a norm of at most `max_norm`."""
    norm = B.pow(B.sum(B.pow(B.abs(rows), norm_type), (1,), True), 1 / norm_type)
    return B.where(B.gt(norm, max_norm), rows * (max_norm / (norm + 1e-7)), rows)


def renormalise(weight, indices, max_norm, norm_type) -> None:
    """Scale, in place and unseen by autograd, the rows that are used to a norm of at most `max_norm`."""
    recording = is_grad_enabled()
    set_grad_mode(False)
    try:
        flat = indices.reshape((-1,))
        rows = limited(embedded(weight.detach(), flat), float(max_norm), float(norm_type))
        put_at.in_place(weight.detach(), [flat], rows, 0)
    finally:
        set_grad_mode(recording)


@composite
def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    """Row i of the table (V, D) for every index i: (*) to (*, D)."""
    return embedded(weight, indices, padding_idx, scale_grad_by_freq)


def functional_embedding(
    input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False
):
    """Row i of the table (V, D) for every index i: (*) to (*, D).

    The row `padding_idx` gets no gradient. With `max_norm` the rows used are first scaled, in place, to a
    `norm_type`-norm of at most `max_norm`; with `scale_grad_by_freq` gradients are divided by how often a row is used.
    """
    if padding_idx is None:
        padding_idx = -1
    else:
        rows = weight.shape[0]
        if not -rows <= padding_idx < rows:
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx %= rows
    if max_norm is not None:
        renormalise(weight, input, max_norm, norm_type)
    return embedded(weight, input, padding_idx, scale_grad_by_freq)


functional_embedding.__name__ = "embedding"
FUNCTIONAL["embedding"] = functional_embedding
