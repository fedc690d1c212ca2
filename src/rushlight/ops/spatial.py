"""Padding, patches and rearrangements of signals and images."""

from __future__ import annotations

from ..ir import build as B
from ..ir import dtypes
from ..ir.sizes import hint
from .checks import fitting
from .convolution import per_dim
from .declare import FUNCTIONS, Number, composite, op

# -- padding --------------------------------------------------------------------------------------------


@op(public=False, channels=True)
def constant_pad(input, pad: tuple, value: Number = 0):
    """`pad` lists (before, after) from the last dim on; negative amounts crop."""
    low, high = amounts(input, pad)
    for d, (a, b) in enumerate(zip(low, high)):
        if input.shape[d] + a + b < 0:
            raise RuntimeError(
                f"The input size {hint(input.shape[d])}, plus negative padding {a} and {b}, resulted in a negative "
                f"output size, "
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
            f"Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pad)} and "
            f"input of dimension {x.ndim}"
        )
    low, high = [0] * x.ndim, [0] * x.ndim
    for i in range(len(pad) // 2):
        low[x.ndim - 1 - i], high[x.ndim - 1 - i] = pad[2 * i], pad[2 * i + 1]
    return low, high


def _part(x, d: int, start, size):
    return B.narrow(x, d, start, size)


def _reflected(x, d: int, low: int, high: int, size) -> tuple:
    """Mirrored without repeating the edge."""
    return B.flip(_part(x, d, 1, low), (d,)), B.flip(_part(x, d, size - 1 - high, high), (d,))


def _replicated(x, d: int, low: int, high: int, size) -> tuple:
    """The edge itself, again and again."""
    shapes = ([*x.shape[:d], amount, *x.shape[d + 1 :]] for amount in (low, high))
    return tuple(B.expand(_part(x, d, at, 1), shape) for at, shape in zip((0, size - 1), shapes))


def _circular(x, d: int, low: int, high: int, size) -> tuple:
    """The other end."""
    return _part(x, d, size - low, low), _part(x, d, 0, high)


_EDGES = {"reflect": _reflected, "replicate": _replicated, "circular": _circular}


@op(public=False, channels=True)
def edge_pad(input, pad: tuple, mode: str):
    """Padding that repeats the input's own elements; negative amounts crop what there is then."""
    low, high = amounts(input, pad)
    result = input
    for d in range(input.ndim):
        if low[d] == high[d] == 0:  # a batch, which may be empty
            continue
        check_edge(mode, input, d, low[d], high[d])
        below, above = max(low[d], 0), max(high[d], 0)
        before, after = _EDGES[mode](result, d, below, above, result.shape[d])
        parts = [part for part, amount in ((before, below), (result, 1), (after, above)) if amount]
        result = B.concat(parts, d) if len(parts) > 1 else result
        if low[d] < 0 or high[d] < 0:
            result = _part(result, d, max(-low[d], 0), input.shape[d] + low[d] + high[d])
    return result


def check_edge(mode: str, x, d: int, before: int, after: int) -> None:
    size = x.shape[d]
    limit = {"reflect": size - 1, "circular": size, "replicate": None}[mode]
    if limit is not None and (before > limit or after > limit):
        raise RuntimeError(
            f"Padding size should be less than the corresponding input dimension, but got: padding ({before}, "
            f"{after}) at dimension "
            f"{d} of input {list(map(hint, x.shape))}"
        )


@composite
def pad(input, pad, mode="constant", value=None):
    """Pad the trailing dims: `pad` is (left, right, top, bottom, ...) from the last dim on.

    mode: "constant" (with `value`), "reflect", "replicate" or "circular"; negative amounts crop in constant mode.
    """
    pad = tuple(int(p) for p in pad)
    if mode == "constant":
        value = fitting(value, input.dtype)
        return constant_pad(input, pad) if value is None or value == 0 else constant_pad(input, pad, value)
    if mode not in _EDGES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value not in (None, 0):
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    spatial = len(pad) // 2
    if len(pad) % 2 or input.ndim not in (spatial + 1, spatial + 2):
        raise NotImplementedError("Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now")
    if mode != "circular" and 0 in input.shape[input.ndim - spatial - 1 :]:
        raise RuntimeError(
            f"Expected {spatial + 1}D or {spatial + 2}D (batch mode) tensor with possibly 0 batch size and other "
            f"non-zero "
            f"dimensions for input, but got: {list(input.shape)}"
        )
    if any(p < 0 for p in pad) and mode == "circular":
        crop = tuple(min(p, 0) for p in pad)
        input, pad = constant_pad(input, crop), tuple(max(p, 0) for p in pad)
    return edge_pad(input, pad, mode)


def constant_pad_nd(input, pad, value=0):
    """`pad` in constant mode."""
    return pad_function(input, pad, "constant", value)


pad_function = pad
FUNCTIONS["constant_pad_nd"] = constant_pad_nd


# -- patches and channels ---------------------------------------------------------------------------------
@op(public=False)
def unfold_of(input, kernel: tuple, dilation: tuple, padding: tuple, stride: tuple):
    """(N, C, H, W) -> (N, C * kh * kw, L)."""
    x = B.pad(input, (0, 0, *padding), (0, 0, *padding)) if any(padding) else input
    for i in (0, 1):
        span = dilation[i] * (kernel[i] - 1) + 1
        if x.shape[2 + i] < span:
            raise RuntimeError(
                f"unfold: Given input with spatial size {list(map(hint, input.shape[2:]))}, kernel_size={kernel}, "
                f"dilation={dilation}, "
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
    kernel, spread, margin, step = pairs
    if any(v <= 0 for v in (*kernel, *spread, *step)) or any(v < 0 for v in margin):
        raise RuntimeError(
            f"unfold: kernel_size, dilation and stride must be greater than zero and padding not negative, got "
            f"{kernel}, {spread}, {step} and {margin}"
        )
    batched = input if input.ndim == 4 else input.unsqueeze(0)
    result = unfold_of(batched, *pairs)
    return result if input.ndim == 4 else result.squeeze(0)


@op(public=False)
def fold_of(input, size: tuple, kernel: tuple, dilation: tuple, padding: tuple, stride: tuple):
    """The adjoint of `unfold_of`."""
    if any(v <= 0 for v in (*size, *kernel, *dilation, *stride)) or any(p < 0 for p in padding):
        raise RuntimeError(
            f"fold: output_size, kernel_size, dilation and stride must be greater than zero and padding not negative, "
            f"got {size}, {kernel}, {dilation}, {stride} and {padding}"
        )
    counts = [(s + 2 * p - d * (k - 1) - 1) // t + 1 for s, p, d, k, t in zip(size, padding, dilation, kernel, stride)]
    area = kernel[0] * kernel[1]
    if input.shape[1] % area != 0 or input.shape[2] != counts[0] * counts[1]:
        raise RuntimeError(
            f"fold: expected input of shape (N, C * {area}, {counts[0] * counts[1]}) for output_size={list(size)}, got "
            f"{list(map(hint, input.shape))}"
        )
    n, c = input.shape[0], input.shape[1] // area
    x = B.reshape(input, (n, c, kernel[0], kernel[1], counts[0], counts[1]))
    padded = (size[0] + 2 * padding[0], size[1] + 2 * padding[1])
    if area > 16:  # rows of the kernel first, then its columns: fewer terms
        x = placed_sum(x, padded[0], dilation[0], stride[0])
        x = placed_sum(x, padded[1], dilation[1], stride[1])
        return B.slice(x, (0, 0, *padding), (n, c, *size))
    total = None
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            part = B.reshape(
                B.slice(x, (0, 0, i, j, 0, 0), (n, c, 1, 1, counts[0], counts[1])), (n, c, counts[0], counts[1])
            )
            starts = (i * dilation[0], j * dilation[1])
            placed = B.slice_adjoint(part, (n, c, *padded), (0, 0, *starts), (1, 1, *stride))
            total = placed if total is None else total + placed
    return B.slice(total, (0, 0, *padding), (n, c, *size))


def placed_sum(x, size: int, dilation: int, step: int):
    """Each part along dim 2, the kernel's, of `x` at its places along dim 4, and their sum: (N, C, *, size, *)."""
    total = None
    for k in range(x.shape[2]):
        part = B.select(x, 2, k)
        shape, starts, steps = list(part.shape), [0] * part.ndim, [1] * part.ndim
        shape[3], starts[3], steps[3] = size, k * dilation, step
        placed = B.slice_adjoint(part, tuple(shape), tuple(starts), tuple(steps))
        total = placed if total is None else total + placed
    return total


@composite
def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Sums of sliding blocks (N, C * kh * kw, L) at their places in an image batch (N, C, H, W)."""
    values = (output_size, kernel_size, dilation, padding, stride)
    pairs = [per_dim(tuple(v) if isinstance(v, list) else v, 2, "fold", "argument") for v in values]
    if input.ndim not in (2, 3):
        raise RuntimeError(f"fold: expected 2D or 3D input, got {input.ndim}D")
    result = fold_of(input if input.ndim == 3 else input.unsqueeze(0), *pairs)
    return result if input.ndim == 3 else result.squeeze(0)


def check_image(name: str, x) -> None:
    if x.ndim < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {x.ndim} dimension(s)"
        )


@op
def pixel_shuffle(input, upscale_factor: int):
    """(..., C * r * r, H, W) -> (..., C, H * r, W * r)."""
    check_image("pixel_shuffle", input)
    if upscale_factor <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {upscale_factor}")
    r = upscale_factor
    *lead, c, h, w = input.shape
    if r <= 0 or c % (r * r) != 0:
        raise RuntimeError(
            f"pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of "
            f"upscale_factor, but "
            f"input.size(-3)={hint(c)} is not divisible by {r * r}"
        )
    k = len(lead)
    x = B.reshape(input, (*lead, c // (r * r), r, r, h, w))
    x = B.permute(x, (*range(k), k, k + 3, k + 1, k + 4, k + 2))
    return B.reshape(x, (*lead, c // (r * r), h * r, w * r))


@op
def pixel_unshuffle(input, downscale_factor: int):
    """(..., C, H * r, W * r) -> (..., C * r * r, H, W)."""
    check_image("pixel_unshuffle", input)
    if downscale_factor <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {downscale_factor}")
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
    if input.ndim <= 2:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(map(hint, input.shape))}"
        )
    n, c = input.shape[:2]
    if groups <= 0 or c % groups != 0:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {hint(c)} channels and {groups} groups."
        )
    x = B.reshape(input, (n, groups, c // groups, *input.shape[2:]))
    return B.reshape(B.transpose(x, 1, 2), input.shape)
