"""Images and signals at other sizes: interpolation along dims."""

from __future__ import annotations

import math

from ..ir import build as B
from ..ir import dtypes
from .declare import composite, op
from .notices import warn_user
from .pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d


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
    x, nearby = input, mode.startswith("nearest")
    # bytes are rounded after each dim, columns first
    for d in reversed(range(2, input.ndim)) if input.dtype is dtypes.uint8 else range(2, input.ndim):
        out, scale = size[d - 2], scales[d - 2]
        x = x if nearby else B.cast(x, compute_dtype(input))
        if mode.startswith("nearest"):
            x = nearest(x, d, out, scale, mode == "nearest-exact")
        elif mode == "bicubic":
            x = cubic(x, d, out, scale, align_corners)
        else:
            x = linear(x, d, out, scale, align_corners)
        x = as_pixels(x, input.dtype) if input.dtype is dtypes.uint8 and not nearby else x
    return B.cast(x, input.dtype)


def as_pixels(x, dtype):
    """Bytes are rounded to the nearest, and kept in range."""
    return B.cast(B.clamp(B.floor(x + 0.5), 0, 255) if dtype is dtypes.uint8 else x, dtype)


# -- antialiasing -----------------------------------------------------------------------------------
def triangle(x):
    return B.maximum(1 - B.abs(x), 0)


def keys(x):
    """Keys' cubic convolution with a = -0.5."""
    x = B.abs(x)
    near = (1.5 * x - 2.5) * x * x + 1
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return B.where(B.lt(x, 1), near, B.where(B.lt(x, 2), far, 0))


def filter_matrix(size, out: int, scale, align_corners: bool, mode: str, dtype):
    """(out, size) weights of a filter that is as wide as the pixels of the smaller image."""
    step = ratio(size, out, scale, align_corners, dtype)
    width = B.maximum(step, 1.0)
    reach = width * (1.0 if mode == "bilinear" else 2.0)
    center = B.unsqueeze((B.cast(B.iota((out,)), dtype) + 0.5) * step, 1)
    low, high = B.maximum(B.trunc(center - reach + 0.5), 0), B.minimum(B.trunc(center + reach + 0.5), size)
    j = B.unsqueeze(B.cast(B.iota((size,)), dtype), 0)
    weights = (triangle if mode == "bilinear" else keys)((j - center + 0.5) / width)
    inside = B.logical_and(B.ge(j, low), B.lt(j, high))
    weights = B.where(inside, weights, 0)
    return weights / B.sum(weights, (1,), True)


@op(public=False, channels=True)
def antialiased(input, size: tuple, scales: tuple, mode: str, align_corners: bool):
    """Images (N, C, H, W) resampled without folding high frequencies into low ones."""
    x = B.cast(input, compute_dtype(input))
    weights = [
        filter_matrix(n, out, scale, align_corners, mode, x.dtype)
        for n, out, scale in zip(input.shape[2:], size, scales)
    ]
    x = B.matmul(x, B.transpose(weights[1], 0, 1))
    if input.dtype is dtypes.uint8:
        x = B.cast(as_pixels(x, input.dtype), x.dtype)
    x = B.transpose(B.matmul(B.transpose(x, 2, 3), B.transpose(weights[0], 0, 1)), 2, 3)
    return as_pixels(x, input.dtype)


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
    """Resample (N, C, ...) to `size` or by `scale_factor`; `antialias` widens the filter where images shrink.

    mode: "nearest", "nearest-exact", "linear" (3-d), "bilinear", "bicubic" (4-d), "trilinear" (5-d) or "area".
    """
    n = input.ndim - 2
    if align_corners is not None and mode in ("nearest", "nearest-exact", "area"):
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    if antialias and not (mode in ("bilinear", "bicubic") and input.ndim == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as input"
        )
    if n not in (1, 2, 3):
        raise NotImplementedError(f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.ndim}D)")
    size, scales = target_size(input, n, size, scale_factor, recompute_scale_factor)
    if mode == "area":
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[n - 1](input, size)
    allowed = ("nearest", "nearest-exact", _LINEAR[input.ndim], *(("bicubic",) if n == 2 else ()))
    if mode not in allowed:
        raise NotImplementedError(f"Got {input.ndim}D input, but {mode} mode needs another: expected one of {allowed}")
    if 0 in input.shape[1:]:
        raise RuntimeError(
            f"Non-empty {input.ndim}D data tensor expected but got a tensor with sizes {list(input.shape)}"
        )
    resample = antialiased if antialias else resampled
    return resample(input, size, scales, mode, bool(align_corners))


def target_size(input, n: int, size, scale_factor, recompute):
    """Output sizes, and the scales to sample with (None: from the sizes)."""
    if (size is None) == (scale_factor is None):
        raise ValueError(
            "either size or scale_factor should be defined"
            if size is None
            else "only one of size or scale_factor should be defined"
        )
    if size is not None:
        size = (size,) * n if isinstance(size, int) else tuple(size)
        if len(size) != n:
            raise ValueError(
                "Input and output must have the same number of spatial dimensions, but got input with spatial "
                f"dimensions of {list(input.shape[2:])} and output size of {size}"
            )
        return positive(size, input), (None,) * n
    factors = tuple(scale_factor) if isinstance(scale_factor, (tuple, list)) else (scale_factor,) * n
    if len(factors) != n:
        raise ValueError(
            f"Input and scale_factor must have the same number of spatial dimensions, got {n} and {len(factors)}"
        )
    if not all(-math.inf < f < math.inf for f in factors):
        raise ValueError(f"interpolate: scale_factor must be finite, got {list(factors)}")
    size = positive(tuple(math.floor(s * f) for s, f in zip(input.shape[2:], factors)), input)
    return size, (None,) * n if recompute else tuple(float(f) for f in factors)


def positive(size: tuple, input) -> tuple:
    """Output sizes; RuntimeError if there is nothing to compute."""
    if any(n <= 0 for n in size):
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input {list(input.shape[2:])} output "
            f"{list(size)}"
        )
    return size


def warn_of_old_name(name: str) -> None:
    warn_user(f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.")


@composite
def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """`interpolate` by its old name."""
    warn_of_old_name("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


@composite
def upsample_nearest(input, size=None, scale_factor=None):
    """Nearest-neighbour `interpolate` by its old name."""
    warn_of_old_name("upsample_nearest")
    return interpolate(input, size, scale_factor, "nearest")


@composite
def upsample_bilinear(input, size=None, scale_factor=None):
    """Bilinear `interpolate` with aligned corners, by its old name."""
    warn_of_old_name("upsample_bilinear")
    return interpolate(input, size, scale_factor, "bilinear", True)
