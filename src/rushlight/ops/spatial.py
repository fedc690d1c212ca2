"""Padding, resampling and rearrangements of signals and images."""

from __future__ import annotations

import math

from ..ir import build as B
from ..ir import dtypes
from ..ir.sizes import hint
from .convolution import per_dim
from .declare import Number, composite, op
from .pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

# -- padding --------------------------------------------------------------------------------------------


@op(public=False, channels=True)
def constant_pad(input, pad: tuple, value: Number = 0):
    """`pad` lists (before, after) from the last dim on; negative amounts crop."""
    low, high = amounts(input, pad)
    for d, (a, b) in enumerate(zip(low, high)):
        if input.shape[d] + a + b < 0:
            raise RuntimeError(
                f"The input size {hint(input.shape[d])}, plus negative padding {a} and {b}, resulted in a negative output size, "
                f"which is invalid. Check dimension {d} of your input."
            )
    if isinstance(value, (int, float, complex, bool)):
        return B.pad(input, low, high, value)
    inside = B.pad(B.full(input.shape, True, dtypes.bool_), low, high, False)
    return B.where(inside, B.pad(input, low, high), B.cast(value, input.dtype))


def amounts(x, pad: tuple) -> tuple[list, list]:
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * x.ndim:
        raise RuntimeError(
            f"Padding length should be less than or equal to two times the input dimension but got padding length {len(pad)} and "
            f"input of dimension {x.ndim}"
        )
    low, high = [0] * x.ndim, [0] * x.ndim
    for i in range(len(pad) // 2):
        low[x.ndim - 1 - i], high[x.ndim - 1 - i] = pad[2 * i], pad[2 * i + 1]
    return low, high


def _reflected(i, size):
    """Indices mirrored at both ends without repeating the edge."""
    i = B.abs(i)
    return size - 1 - B.abs(size - 1 - i)


_EDGES = {
    "reflect": _reflected,
    "replicate": lambda i, size: B.minimum(B.maximum(i, 0), size - 1),
    "circular": lambda i, size: B.remainder(i, size),
}


@op(public=False, channels=True)
def edge_pad(input, pad: tuple, mode: str):
    """Padding that repeats the input's own elements."""
    low, high = amounts(input, pad)
    result = input
    for d in range(input.ndim):
        if low[d] == 0 and high[d] == 0:
            continue
        size = input.shape[d]
        check_edge(mode, input, d, low[d], high[d])
        index = B.iota((size + low[d] + high[d],)) - low[d]
        result = B.take(result, _EDGES[mode](index, size), dim=d)
    return result


def check_edge(mode: str, x, d: int, before: int, after: int) -> None:
    size = x.shape[d]
    limit = {"reflect": size - 1, "circular": size, "replicate": None}[mode]
    if limit is not None and (before > limit or after > limit):
        raise RuntimeError(
            f"Padding size should be less than the corresponding input dimension, but got: padding ({before}, {after}) at dimension "
            f"{d} of input {list(map(hint, x.shape))}"
        )


@composite
def pad(input, pad, mode="constant", value=None):
    """Pad the trailing dims: `pad` is (left, right, top, bottom, ...) from the last dim on.

    mode: "constant" (with `value`), "reflect", "replicate" or "circular"; negative amounts crop in constant mode.
    """
    pad = tuple(int(p) for p in pad)
    if mode == "constant":
        return constant_pad(input, pad) if value is None or value == 0 else constant_pad(input, pad, value)
    if mode not in _EDGES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value not in (None, 0):
        raise ValueError(f'Padding mode "{mode}" doesn\'t take in value argument')
    spatial = len(pad) // 2
    if len(pad) % 2 or input.ndim not in (spatial + 1, spatial + 2):
        raise NotImplementedError("Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now")
    if any(p < 0 for p in pad):
        crop = tuple(min(p, 0) for p in pad)
        input, pad = constant_pad(input, crop), tuple(max(p, 0) for p in pad)
    return edge_pad(input, pad, mode)


# -- interpolation ----------------------------------------------------------------------------------------
def ratio(size, out, scale, align_corners: bool, dtype):
    """Input pixels per output pixel, as a number in `dtype`."""
    if align_corners:
        return B.full((), size - 1, dtype) / B.full((), out - 1, dtype) if out > 1 else B.full((), 0, dtype)
    if scale is not None:
        return B.full((), 1.0 / scale, dtype)
    return B.full((), size, dtype) / B.full((), out, dtype)


def source_positions(size, out, scale, align_corners: bool, dtype, cubic: bool = False):
    step = ratio(size, out, scale, align_corners, dtype)
    i = B.cast(B.iota((out,)), dtype)
    if align_corners:
        return i * step
    position = (i + 0.5) * step - 0.5
    return position if cubic else B.maximum(position, 0)


def nearest(x, d: int, out, scale, exact: bool):
    size = x.shape[d]
    step = ratio(size, out, scale, False, dtypes.float32)
    i = B.cast(B.iota((out,)), dtypes.float32)
    index = B.cast(B.floor((i + 0.5) * step if exact else i * step), dtypes.int64)
    return B.take(x, B.minimum(index, size - 1), dim=d)


def along(weight, d: int, ndim: int):
    """A vector in a shape that broadcasts along dim d."""
    return B.reshape(weight, tuple(weight.shape[0] if e == d else 1 for e in range(ndim)))


def linear(x, d: int, out, scale, align_corners: bool):
    size, dtype = x.shape[d], compute_dtype(x)
    position = source_positions(size, out, scale, align_corners, dtype)
    low = B.minimum(B.cast(B.floor(position), dtypes.int64), size - 1)
    high = B.minimum(low + 1, size - 1)
    share = along(position - B.cast(low, dtype), d, x.ndim)
    return B.take(x, low, dim=d) * (1 - share) + B.take(x, high, dim=d) * share


def cubic(x, d: int, out, scale, align_corners: bool):
    """Keys' convolution with a = -0.75."""
    size, dtype, a = x.shape[d], compute_dtype(x), -0.75
    position = source_positions(size, out, scale, align_corners, dtype, cubic=True)
    base = B.floor(position)
    t = position - base
    near = lambda u: ((a + 2) * u - (a + 3)) * u * u + 1  # noqa: E731
    far = lambda u: ((a * u - 5 * a) * u + 8 * a) * u - 4 * a  # noqa: E731
    weights = (far(t + 1), near(t), near(1 - t), far(2 - t))
    result = None
    for offset, weight in zip((-1, 0, 1, 2), weights):
        index = B.minimum(B.maximum(B.cast(base, dtypes.int64) + offset, 0), size - 1)
        part = B.take(x, index, dim=d) * along(weight, d, x.ndim)
        result = part if result is None else result + part
    return result


def compute_dtype(x):
    return dtypes.float64 if x.dtype is dtypes.float64 else dtypes.float32


@op(public=False, channels=True)
def resampled(input, size: tuple, scales: tuple, mode: str, align_corners: bool):
    """`input` (N, C, ...) with its spatial dims at `size`."""
    x = input if mode.startswith("nearest") else B.cast(input, compute_dtype(input))
    for i, (out, scale) in enumerate(zip(size, scales)):
        d = 2 + i
        if mode.startswith("nearest"):
            x = nearest(x, d, out, scale, mode == "nearest-exact")
        elif mode == "bicubic":
            x = cubic(x, d, out, scale, align_corners)
        else:
            x = linear(x, d, out, scale, align_corners)
    return B.cast(x, input.dtype)


_LINEAR = {3: "linear", 4: "bilinear", 5: "trilinear"}


@composite
def interpolate(
    input,
    size=None,
    scale_factor=None,
    mode="nearest",
    align_corners=None,
    recompute_scale_factor=None,
    antialias=False,
):
    """Resample (N, C, ...) to `size` or by `scale_factor`.

    mode: "nearest", "nearest-exact", "linear" (3-d), "bilinear", "bicubic" (4-d), "trilinear" (5-d) or "area".
    """
    n = input.ndim - 2
    if n not in (1, 2, 3):
        raise NotImplementedError(f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.ndim}D)")
    if antialias:
        raise NotImplementedError("interpolate(antialias=True) is not supported: blur the input first")
    if align_corners is not None and mode in ("nearest", "nearest-exact", "area"):
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    size, scales = target_size(input, n, size, scale_factor, recompute_scale_factor)
    if mode == "area":
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[n - 1](input, size)
    allowed = ("nearest", "nearest-exact", _LINEAR[input.ndim], *(("bicubic",) if n == 2 else ()))
    if mode not in allowed:
        raise NotImplementedError(f"Got {input.ndim}D input, but {mode} mode needs another: expected one of {allowed}")
    return resampled(input, size, scales, mode, bool(align_corners))


def target_size(input, n: int, size, scale_factor, recompute):
    """Output sizes, and the scales to sample with (None: from the sizes)."""
    if (size is None) == (scale_factor is None):
        raise ValueError(
            "either size or scale_factor should be defined"
            if size is None
            else "only one of size or scale_factor should be defined"
        )
    if size is not None:
        size = per_dim(size if isinstance(size, int) else tuple(size), n, "interpolate", "size")
        if any(s <= 0 for s in size):
            raise RuntimeError(f"Input and output sizes should be greater than 0, but got output {list(size)}")
        return tuple(size), (None,) * n
    factors = tuple(scale_factor) if isinstance(scale_factor, (tuple, list)) else (scale_factor,) * n
    if len(factors) != n:
        raise ValueError(
            f"Input and scale_factor must have the same number of spatial dimensions, got {n} and {len(factors)}"
        )
    size = tuple(math.floor(s * f) for s, f in zip(input.shape[2:], factors))
    return size, (None,) * n if recompute else tuple(float(f) for f in factors)


@composite
def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """`interpolate` by its old name."""
    return interpolate(input, size, scale_factor, mode, align_corners)


@composite
def upsample_nearest(input, size=None, scale_factor=None):
    """Nearest-neighbour `interpolate` by its old name."""
    return interpolate(input, size, scale_factor, "nearest")


@composite
def upsample_bilinear(input, size=None, scale_factor=None):
    """Bilinear `interpolate` with aligned corners, by its old name."""
    return interpolate(input, size, scale_factor, "bilinear", True)


# -- patches and channels ---------------------------------------------------------------------------------
@op(public=False)
def unfold_of(input, kernel: tuple, dilation: tuple, padding: tuple, stride: tuple):
    """(N, C, H, W) -> (N, C * kh * kw, L)."""
    x = B.pad(input, (0, 0, *padding), (0, 0, *padding)) if any(padding) else input
    for i in (0, 1):
        span = dilation[i] * (kernel[i] - 1) + 1
        if x.shape[2 + i] < span:
            raise RuntimeError(
                f"unfold: Given input with spatial size {list(map(hint, input.shape[2:]))}, kernel_size={kernel}, dilation={dilation}, "
                f"padding={padding}: the calculated shape of the array of sliding blocks is too small"
            )
        x = B.unfold(x, 2 + i, span, stride[i])
    # now (N, C, LH, LW, span_h, span_w)
    x = B.slice(x, (0,) * 6, (*x.shape[:4], *kernel), (1, 1, 1, 1, *dilation))
    x = B.permute(x, (0, 1, 4, 5, 2, 3))
    return B.reshape(x, (x.shape[0], x.shape[1] * kernel[0] * kernel[1], x.shape[4] * x.shape[5]))


@composite
def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """Sliding blocks of an image batch (N, C, H, W) as columns (N, C * kh * kw, L)."""
    if input.ndim not in (3, 4):
        raise NotImplementedError("Input Error: Only unbatched (3D) or batched (4D) image-like tensors supported")
    pairs = [
        per_dim(tuple(v) if isinstance(v, list) else v, 2, "unfold", "argument")
        for v in (kernel_size, dilation, padding, stride)
    ]
    batched = input if input.ndim == 4 else input.unsqueeze(0)
    result = unfold_of(batched, *pairs)
    return result if input.ndim == 4 else result.squeeze(0)


@op(public=False)
def fold_of(input, size: tuple, kernel: tuple, dilation: tuple, padding: tuple, stride: tuple):
    """The adjoint of `unfold_of`."""
    counts = [(s + 2 * p - d * (k - 1) - 1) // t + 1 for s, p, d, k, t in zip(size, padding, dilation, kernel, stride)]
    area = kernel[0] * kernel[1]
    if input.shape[1] % area != 0 or input.shape[2] != counts[0] * counts[1]:
        raise RuntimeError(
            f"fold: expected input of shape (N, C * {area}, {counts[0] * counts[1]}) for output_size={list(size)}, got "
            f"{list(map(hint, input.shape))}"
        )
    n, c = input.shape[0], input.shape[1] // area
    x = B.reshape(input, (n, c, kernel[0], kernel[1], counts[0], counts[1]))
    total = None
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            part = B.reshape(
                B.slice(x, (0, 0, i, j, 0, 0), (n, c, 1, 1, counts[0], counts[1])), (n, c, counts[0], counts[1])
            )
            starts = (i * dilation[0], j * dilation[1])
            shape = (n, c, size[0] + 2 * padding[0], size[1] + 2 * padding[1])
            placed = B.slice_adjoint(part, shape, (0, 0, *starts), (1, 1, *stride))
            total = placed if total is None else total + placed
    return B.slice(total, (0, 0, *padding), (n, c, *size))


@composite
def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Sums of sliding blocks (N, C * kh * kw, L) at their places in an image batch (N, C, H, W)."""
    values = (output_size, kernel_size, dilation, padding, stride)
    pairs = [per_dim(tuple(v) if isinstance(v, list) else v, 2, "fold", "argument") for v in values]
    if input.ndim not in (2, 3):
        raise RuntimeError(f"fold: expected 2D or 3D input, got {input.ndim}D")
    result = fold_of(input if input.ndim == 3 else input.unsqueeze(0), *pairs)
    return result if input.ndim == 3 else result.squeeze(0)


@op
def pixel_shuffle(input, upscale_factor: int):
    """(..., C * r * r, H, W) -> (..., C, H * r, W * r)."""
    r = upscale_factor
    *lead, c, h, w = input.shape
    if r <= 0 or c % (r * r) != 0:
        raise RuntimeError(
            f"pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
            f"input.size(-3)={hint(c)} is not divisible by {r * r}"
        )
    k = len(lead)
    x = B.reshape(input, (*lead, c // (r * r), r, r, h, w))
    x = B.permute(x, (*range(k), k, k + 3, k + 1, k + 4, k + 2))
    return B.reshape(x, (*lead, c // (r * r), h * r, w * r))


@op
def pixel_unshuffle(input, downscale_factor: int):
    """(..., C, H * r, W * r) -> (..., C * r * r, H, W)."""
    r = downscale_factor
    *lead, c, h, w = input.shape
    if r <= 0 or h % r != 0 or w % r != 0:
        raise RuntimeError(
            f"pixel_unshuffle expects height and width to be divisible by downscale_factor {r}, got {hint(h)}x{hint(w)}"
        )
    k = len(lead)
    x = B.reshape(input, (*lead, c, h // r, r, w // r, r))
    x = B.permute(x, (*range(k), k, k + 2, k + 4, k + 1, k + 3))
    return B.reshape(x, (*lead, c * r * r, h // r, w // r))


@op(channels=True)
def channel_shuffle(input, groups: int):
    """Interleave the channels of `groups` groups (Zhang et al. 2018)."""
    n, c = input.shape[:2]
    if groups <= 0 or c % groups != 0:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {hint(c)} channels and {groups} groups."
        )
    x = B.reshape(input, (n, groups, c // groups, *input.shape[2:]))
    return B.reshape(B.transpose(x, 1, 2), input.shape)


# -- attention --------------------------------------------------------------------------------------------
@op(public=False)
def attention_scores(query, key, mask=None, causal: bool = False, scale: Number = None):
    """softmax(query @ key.T * scale + mask)."""
    from .softmax_family import softmax

    scale = 1 / math.sqrt(int(query.shape[-1])) if scale is None else scale
    scores = B.matmul(query * scale, B.transpose(key, -2, -1))
    if causal:
        rows, columns = scores.shape[-2:]
        seen = B.ge(B.unsqueeze(B.iota((rows,)), 1), B.unsqueeze(B.iota((columns,)), 0))
        scores = B.where(seen, scores, -math.inf)
    if mask is not None:
        scores = B.where(mask, scores, -math.inf) if mask.dtype is dtypes.bool_ else scores + mask
    return softmax(scores, -1)


@composite
def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):
    """softmax(query @ key.T / sqrt(E) + mask) @ value (Vaswani et al. 2017).

    query: (..., L, E), key: (..., S, E), value: (..., S, Ev); `attn_mask` is bool (True: take part) or added.
    """
    if is_causal and attn_mask is not None:
        raise RuntimeError("scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    if enable_gqa:
        repeats = query.shape[-3] // key.shape[-3]
        key, value = key.repeat_interleave(repeats, -3), value.repeat_interleave(repeats, -3)
    extra = () if scale is None else (float(scale),)
    weights = attention_scores(query, key, attn_mask, is_causal, *extra)
    if dropout_p > 0.0:
        from . import dropout

        weights = dropout(weights, dropout_p)
    return weights @ value
