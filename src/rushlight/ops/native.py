"""Layers as the torch namespace has them: with statistics, without defaults, arguments in other orders."""

from __future__ import annotations

from ..core.engine import is_grad_enabled, set_grad_mode
from ..ir import build as B
from ..ir import dtypes
from .activation import FUNCTIONAL
from .convolution import conv1d, conv2d, conv3d, conv_transpose1d, conv_transpose2d, conv_transpose3d
from .creation import fresh
from .declare import FUNCTIONS, composite
from .embeddings import embedding_bag as bags_of
from .embeddings import renormalise
from .grids import affine_grid
from .normalization import batch_norm, group_norm_of, layer_norm
from .vector_norm import norm
from .widths import wide_type

FUNCTIONAL["adaptive_max_pool1d"] = FUNCTIONS["adaptive_max_pool1d"]
_MODES = ("sum", "mean", "max")


# -- normalisation ------------------------------------------------------------------------------
def statistics(x, dims: tuple, eps: float, keepdim: bool = False) -> tuple:
    """(means, 1 / sqrt(variance + eps)) over dims."""
    wide = x.to(wide_type(x.dtype))
    return wide.mean(dims, keepdim), (wide.var(dims, correction=0, keepdim=keepdim) + eps).rsqrt()


def narrowed(x, weight, found: tuple) -> tuple:
    """Statistics in the input's dtype, or wide beside a wider weight."""
    narrow = weight is None or weight.dtype is x.dtype
    return tuple(s.to(x.dtype) for s in found) if narrow else found


@composite
def native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps):
    """(batch norm of the input, means, 1 / sqrt(variance + eps)) by channel; no statistics unless `training`."""
    result = batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)
    if not training:
        return result, fresh((0,), input.dtype), fresh((0,), input.dtype)
    return result, *narrowed(input, weight, statistics(input.detach(), (0, *range(2, input.ndim)), eps))


@composite
def native_layer_norm(input, normalized_shape, weight, bias, eps):
    """(layer norm of the input, means, 1 / sqrt(variance + eps)), the statistics with dims of size 1."""
    dims = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    return layer_norm(input, normalized_shape, weight, bias, eps), *narrowed(
        input, weight, statistics(input.detach(), dims, eps, True)
    )


@composite
def native_group_norm(input, weight, bias, N, C, HxW, group, eps):
    """(group norm of the input (N, C, *), means, 1 / sqrt(variance + eps)), the statistics (N, group)."""
    result = group_norm_of(input, group, weight, bias, float(eps))
    return result, *narrowed(input, weight, statistics(input.reshape(N, group, -1), (2,), eps))


@composite
def norm_except_dim(v, pow=2, dim=0):
    """The `pow`-norm over all dims but one, with dims of size 1; over all of them if `dim` is -1."""
    if dim == -1:
        return norm(v, pow)
    others = tuple(d for d in range(v.ndim) if d != B.wrap_dim(dim, v.ndim))
    return norm(v, pow, others, keepdim=True) if others else v.abs()


@composite
def native_norm(input, p=2, dim=None, keepdim=False, dtype=None):
    """The p-norm over all elements or `dim`."""
    return norm(input, 2 if p is None else p, dim, keepdim, dtype=dtype)


@composite
def adaptive_max_pool1d(input, output_size):
    """(values, indices) of `nn.functional.adaptive_max_pool1d`."""
    return FUNCTIONAL["adaptive_max_pool1d"](input, output_size, return_indices=True)


# -- others -------------------------------------------------------------------------------------
@composite
def native_channel_shuffle(input, groups):
    """`channel_shuffle`: channels as (groups, C / groups), transposed."""
    return FUNCTIONS["channel_shuffle"](input, groups)


@composite
def affine_grid_generator(theta, size, align_corners):
    """`nn.functional.affine_grid`: sampling places for affine maps (N, 2, 3) or (N, 3, 4)."""
    return affine_grid(theta, size, align_corners)


@composite
def convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    """A convolution, or a transposed one, in as many dims as the weight has after its first two."""
    dims = weight.ndim - 2
    if dims not in (1, 2, 3):
        raise RuntimeError(f"convolution: expected a weight of 3 to 5 dims, got {weight.ndim}")
    stride, padding, dilation, output_padding = map(tuple, (stride, padding, dilation, output_padding))
    if transposed:
        function = (conv_transpose1d, conv_transpose2d, conv_transpose3d)[dims - 1]
        return function(input, weight, bias, stride, padding, output_padding, groups, dilation)
    return (conv1d, conv2d, conv3d)[dims - 1](input, weight, bias, stride, padding, dilation, groups)


# -- tables -------------------------------------------------------------------------------------
@composite
def embedding_renorm_(input, indices, max_norm, norm_type):
    """Scale, in place, the rows of the table that are used to a norm of at most `max_norm`; returns the table."""
    renormalise(input, indices, max_norm, norm_type)
    return input


@composite
def embedding_bag(
    weight,
    indices,
    offsets,
    scale_grad_by_freq=False,
    mode=0,
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
):
    """(bags of rows of the table, the bag of each index, the sizes of bags, where maxima come from).

    `mode` 0 sums, 1 takes means, 2 maxima, whose rows the last result names; it repeats the sizes in other modes.
    """
    if mode not in (0, 1, 2):
        raise RuntimeError(f"embedding_bag: expected mode 0 (sum), 1 (mean) or 2 (max), got {mode}")
    result = bags_of(
        indices, weight, offsets, None, 2.0, scale_grad_by_freq, _MODES[mode], sparse, per_sample_weights,
        include_last_offset, padding_idx,
    )  # fmt: skip
    recording = is_grad_enabled()
    set_grad_mode(False)
    try:
        bag = bag_numbers(indices, offsets)
        counted = FUNCTIONS["ones_like"](bag) if padding_idx is None else (indices != padding_idx).long()
        sizes = FUNCTIONS["zeros"](result.shape[0], dtype=dtypes.int64).index_add(0, bag, counted)
        sources = sources_of_maxima(weight, indices, bag, counted, result) if mode == 2 else sizes.clone()
    finally:
        set_grad_mode(recording)
    return result, bag, sizes, sources


def bag_numbers(indices, offsets):
    places = FUNCTIONS["arange"](indices.numel())
    return FUNCTIONS["searchsorted"](offsets.long(), places, right=True) - 1


def sources_of_maxima(weight, indices, bag, counted, highest):
    """For each bag and column the row of the table that the maximum is in, 0 in empty bags."""
    count = indices.numel()
    if count == 0:
        return FUNCTIONS["zeros"](highest.shape, dtype=dtypes.int64)
    rows = weight.index_select(0, indices)
    attained = (rows == highest.index_select(0, bag)) & (counted.unsqueeze(1) == 1)
    places = FUNCTIONS["where"](attained, FUNCTIONS["arange"](count).unsqueeze(1), count)
    first = FUNCTIONS["full"](highest.shape, count).index_reduce(0, bag, places, "amin")
    found = indices.long()[first.clamp(max=count - 1)]
    return FUNCTIONS["where"](first < count, found, 0)
