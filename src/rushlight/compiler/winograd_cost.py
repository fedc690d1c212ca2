"""When Winograd's algorithm pays for a convolution of 3 x 3 taps. Only structure and sizes decide.

Direct summation takes 9 multiply-adds for each pixel and pair of channels. Winograd's takes 16 for each tile of 2 x 2
pixels, rounded up at the edges of the image, and has to transform both operands and the result.
"""

from __future__ import annotations

from ..ir.sizes import product
from .conv_shape import is_one
from .conv_sum import split_count
from .conv_window import Window
from .target import host
from .winograd_gradient import DEPTH, FEATURES, WIDTH
from .winograd_tiles import tile_grid
from .winograd_transform import POSITIONS, SQUARE, TAPS

# what it costs to transform, in multiply-adds: a channel of a tile of the image, one of gy, a weight's pair of channels
TILE, GRADIENT, WEIGHT = 110, 60, 100
LEAST = 16  # channels: below, vectors are not filled


def pays(window: Window, features, channels, batch) -> bool:
    """Whether Winograd's algorithm takes less time than direct summation."""
    if not fits(window) or features < LEAST or channels < LEAST:
        return False
    tiles = batch * product(tile_grid(window.pixels))
    lanes = host().lanes(window.image.dtype.itemsize)
    filled = (channels + lanes - 1) // lanes * lanes
    ours = tiles * (POSITIONS * channels * features + TILE * (filled + features)) + WEIGHT * channels * features
    return ours < SQUARE * channels * features * batch * product(window.pixels)


def gradient_pays(window: Window, features, channels, batch) -> bool:
    """The same for the weight gradient."""
    if not fits(window) or features < LEAST or channels < LEAST:
        return False
    tiles = batch * product(tile_grid(window.pixels))
    blocks, feature_blocks = (channels + DEPTH - 1) // DEPTH, (features + FEATURES - 1) // FEATURES
    transformed = TILE * channels * feature_blocks + GRADIENT * features * blocks
    sums = WEIGHT * channels * features * split_count(SQUARE * channels * features, tiles, WIDTH)
    ours = tiles * (POSITIONS * channels * features + transformed) + sums
    return ours < SQUARE * channels * features * batch * product(window.pixels)


def fits(window: Window) -> bool:
    """Whether a convolution is one of 3 x 3 neighbouring taps at every pixel of a plane."""
    flat = all(map(is_one, (window.image.shape[2], window.taps[0], window.pixels[0])))
    near = all(abs(d) == 1 for d in window.dilation[1:])
    return flat and near and window.taps[1:] == (TAPS, TAPS) and window.stride == (1, 1, 1)
