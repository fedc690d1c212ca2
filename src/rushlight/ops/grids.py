"""Images sampled at the points of a grid, and grids that move images (Jaderberg et al. 2015)."""

from __future__ import annotations

import warnings

from ..ir import build as B
from ..ir import dtypes
from ..ir.sizes import hint, product
from .checks import check_kinds, scalar_type
from .declare import FUNCTIONS, Tensor, composite, op
from .ranges import halves

MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")


# -- coordinates ------------------------------------------------------------------------------------
def in_pixels(x, size, align_corners: bool):
    """Coordinates in [-1, 1] as pixel numbers; the ends are centres of pixels, or their outer edges.

    In PyTorch's order, to the bit: where an identity samples pixels at their centres, gradients jump.
    """
    return (x + 1) * ((size - 1) * 0.5) if align_corners else (x + 1) * (size * 0.5) - 0.5


def brought_inside(x, size, padding: str, align_corners: bool):
    """Coordinates outside of the image moved to its border, or reflected there."""
    if padding == "zeros":
        return x
    if padding == "reflection":
        x = reflected(x, 0, 2 * (size - 1)) if align_corners else reflected(x, -1, 2 * size - 1)
    return B.where(B.gt(x, 0), B.where(B.lt(x, size - 1), x, size - 1), 0)  # NaN becomes 0


def reflected(x, twice_low, twice_high):
    """x mirrored at both ends until it lies between them."""
    if twice_low == twice_high:
        return B.zeros_like(x)
    low, span = twice_low * 0.5, (twice_high - twice_low) * 0.5
    distance = B.abs(x - low)
    turns = B.floor(distance / span)
    rest = distance - turns * span
    return low + B.where(B.eq(B.remainder(turns, 2), 0), rest, span - rest)


def pixels(planes, places, sizes):
    """Elements of `planes` (N, C, P) at pixel numbers (floats, one tensor (N, 1, Q) a dim); 0 outside."""
    inside, flat = None, None
    for place, size in zip(places, sizes):
        within = B.logical_and(B.ge(place, 0), B.le(place, size - 1))
        index = B.cast(B.where(within, place, 0), dtypes.int64)
        inside = within if inside is None else B.logical_and(inside, within)
        flat = index if flat is None else flat * size + index
    shape = (planes.shape[0], planes.shape[1], flat.shape[2])
    found = B.gather(planes, 2, B.broadcast_to(flat, shape))
    return B.where(inside, found, 0)


# -- sampling ---------------------------------------------------------------------------------------
@op(public=False)
def sampled(input, grid: Tensor, mode: str, padding: str, align_corners: bool):
    """The input at the grid's points."""
    check_grid(input, grid, mode)
    n = input.ndim - 2
    sizes = input.shape[2:]
    wide = dtypes.float32 if input.dtype.itemsize == 2 else input.dtype
    planes = B.reshape(input, (*input.shape[:2], product(sizes)))
    points = B.cast(B.reshape(grid, (grid.shape[0], product(grid.shape[1:-1]), n)), wide)
    # the last number of a point counts columns
    places = [in_pixels(B.unsqueeze(B.select(points, 2, n - 1 - d), 1), sizes[d], align_corners) for d in range(n)]

    def moved(places):
        return [brought_inside(p, size, padding, align_corners) for p, size in zip(places, sizes)]

    if mode == "nearest":
        result = pixels(planes, [B.round(p) for p in moved(places)], sizes)
    elif mode == "bilinear":
        result = between(planes, moved(places), sizes)
    else:
        result = cubic(planes, places, sizes, moved)
    return B.reshape(B.cast(result, input.dtype), (*input.shape[:2], *grid.shape[1:-1]))


def between(planes, places, sizes):
    """The mean of the 2 ** n neighbours, each by its nearness."""
    low = [B.floor(p) for p in places]
    total = None
    for corner in range(2 ** len(places)):
        steps = [corner >> (len(places) - 1 - d) & 1 for d in range(len(places))]
        weight = None
        for place, base, step in zip(places, low, steps):
            share = place - base if step else base + 1 - place
            weight = share if weight is None else weight * share
        part = pixels(planes, [base + step for base, step in zip(low, steps)], sizes) * weight
        total = part if total is None else total + part
    return total


def cubic(planes, places, sizes, moved):
    """Keys' convolution with a = -0.75 over 4 x 4 neighbours."""
    low = [B.floor(p) for p in places]
    weights = [cubic_weights(p - base) for p, base in zip(places, low)]
    total = None
    for i in range(4):
        row = None
        for j in range(4):
            part = pixels(planes, moved([low[0] + (i - 1), low[1] + (j - 1)]), sizes) * weights[1][j]
            row = part if row is None else row + part
        total = row * weights[0][i] if total is None else total + row * weights[0][i]
    return total


def cubic_weights(t):
    a = -0.75
    near = lambda u: ((a + 2) * u - (a + 3)) * u * u + 1  # noqa: E731
    far = lambda u: ((a * u - 5 * a) * u + 8 * a) * u - 4 * a  # noqa: E731
    return far(t + 1), near(t), near(1 - t), far(2 - t)


def check_grid(x, grid, mode: str) -> None:
    check_kinds("grid_sampler", x.dtype, "f")
    shapes = f"got input with sizes {list(map(hint, x.shape))} and grid with sizes {list(map(hint, grid.shape))}"
    if x.dtype is not grid.dtype:
        raise RuntimeError(
            f"grid_sampler(): expected input and grid to have same dtype, {scalar_type(x.dtype)} and "
            f"{scalar_type(grid.dtype)}"
        )
    if x.ndim not in (4, 5) or grid.ndim != x.ndim:
        raise RuntimeError(
            f"grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but {shapes}"
        )
    if x.shape[0] != grid.shape[0]:
        raise RuntimeError(f"grid_sampler(): expected grid and input to have same batch size, but {shapes}")
    if grid.shape[-1] != x.ndim - 2:
        raise RuntimeError(f"grid_sampler(): expected grid to have size {x.ndim - 2} in last dimension, but {shapes}")
    if any(type(s) is int and s == 0 for s in x.shape[2:]):
        raise RuntimeError(f"grid_sampler(): expected input to have non-empty spatial dimensions, but {shapes}")
    if x.ndim == 5 and mode == "bicubic":
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")


@composite
def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """Sample images (N, C, H, W) or volumes (N, C, D, H, W) at the points of a grid (N, ..., 2 or 3).

    A point is (x, y[, z]) with -1 and 1 at the ends; `align_corners` says whether these are the centres of the outer
    pixels or their edges. mode: "bilinear", "nearest" or "bicubic"; padding_mode: "zeros", "border" or "reflection".
    """
    if mode not in MODES:
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in PADDINGS:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    if align_corners is None:
        warn_default("grid_sample")
    return sampled(input, grid, mode, padding_mode, bool(align_corners))


def warn_default(name: str) -> None:
    warnings.warn(
        f"Default {name} and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
        f"align_corners=True if the old behavior is desired. See the documentation of {name} for details.",
        stacklevel=3,
    )


def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    """`grid_sample` with numbers for the modes, in the order of its documentation."""
    return sampled(input, grid, MODES[interpolation_mode], PADDINGS[padding_mode], bool(align_corners))


FUNCTIONS["grid_sampler"] = FUNCTIONS["grid_sampler_2d"] = FUNCTIONS["grid_sampler_3d"] = grid_sampler


# -- grids ------------------------------------------------------------------------------------------
@op(public=False)
def moved_grid(theta, size: tuple, align_corners: bool):
    """theta @ (x, y[, z], 1) at each pixel."""
    n = len(size)
    total = None
    for d in range(n):
        steps = B.unsqueeze(evenly(size[d], align_corners, theta.dtype), 1)  # (S, 1) times (N, 1, n)
        part = steps * B.unsqueeze(B.select(theta, 2, n - 1 - d), 1)
        part = B.reshape(part, (theta.shape[0], *(size[d] if e == d else 1 for e in range(n)), n))
        total = part if total is None else total + part
    last = B.reshape(B.select(theta, 2, n), (theta.shape[0], *(1,) * n, n))
    return total + last


def evenly(size: int, align_corners: bool, dtype):
    """Numbers from -1 to 1: the places of pixel centres."""
    if size == 1:
        return B.zeros((1,), dtype)
    wide = dtypes.float32 if dtype.itemsize == 2 else dtype
    numbers = B.cast(halves(B.zeros((size,), wide), size, -1, 1, wide), dtype)
    return numbers if align_corners else numbers * (size - 1) / size


@composite
def affine_grid(theta, size, align_corners=None):
    """A grid for `grid_sample` from affine maps: theta (N, 2, 3) for `size` (N, C, H, W), (N, 3, 4) with depth."""
    if align_corners is None:
        warn_default("grid_sample")
    if not theta.dtype.is_floating_point:
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    size = tuple(int(s) for s in size)
    n = len(size) - 2
    if n not in (2, 3):
        raise NotImplementedError(
            f"affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size "
            f"{size}."
        )
    if theta.ndim != 3 or tuple(theta.shape[-2:]) != (n, n + 1):
        raise ValueError(
            f"Expected a batch of {n}D affine matrices of shape Nx{n}x{n + 1} for size {size}. Got {theta.shape}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    if theta.shape[0] != size[0]:
        raise RuntimeError(f"Expected {size[0]} affine matrices for size {size}, got {theta.shape[0]}")
    return moved_grid(theta, size[2:], bool(align_corners))
