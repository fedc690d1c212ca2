"""Convolutions of 3 x 3 taps by Winograd's algorithm: when it pays, and its launches."""

from __future__ import annotations

from ..ir.sizes import product
from .conv_block import share_grain
from .conv_lines import Lines
from .conv_shape import is_one
from .conv_window import Window, strides
from .target import host
from .templates import Array
from .winograd_kernel import NAMES, Winograd, scratch_blocks, winograd_kernel
from .winograd_transform import POSITIONS, STEP, TAPS
from .winograd_weight import SQUARE, STRIDES, panel_size, panel_width, readable, transformed_weights

FEW = 128  # tiles: up to here they are one block, for which weights are transformed where they are used
WIDTH = 64  # tiles of a block otherwise
DEPTH = 128  # channels at a time
# costs in multiply-adds: of transforming a channel of a tile, and a pair of channels of the weights
TILE, WEIGHT = 110, 100


def pays(window: Window, weight: Array, result: Array) -> bool:
    """Whether Winograd's algorithm takes less time than direct summation. Only structure and sizes decide."""
    flat = all(map(is_one, (window.image.shape[2], window.taps[0], window.pixels[0])))
    if not flat or window.taps[1:] != (TAPS, TAPS) or window.stride != (1, 1, 1):
        return False
    if any(abs(d) != 1 for d in window.dilation[1:]):
        return False
    features, channels = weight.shape[1:3]
    if features < 16 or channels < 16:
        return False
    tiles = result.shape[0] * product(tile_grid(window))
    lanes = host().lanes(result.dtype.itemsize)
    filled = (channels + lanes - 1) // lanes * lanes
    ours = tiles * (POSITIONS * channels * features + TILE * (filled + features)) + WEIGHT * channels * features
    direct = SQUARE * channels * features * result.shape[0] * product(window.pixels)
    return ours < direct


def tile_grid(window: Window) -> list:
    """Rows and columns of tiles of an image."""
    return [(n + STEP - 1) // STEP for n in window.pixels[1:]]


def launch_winograd(context, window: Window, weight: Array, result: Array, bias=None, relu=False) -> None:
    """weight [1, O, C, 1, 3, 3] and result [N, O, 1, H, W] of any strides; bias [O], contiguous."""
    weight, form = readable(context, weight)
    dtype, panel = result.dtype, panel_width(result.dtype)
    features, channels = weight.shape[:2]
    rows, columns = tile_grid(window)
    tiles = result.shape[0] * rows * columns
    fused = tiles <= FEW
    lanes = host().lanes(dtype.itemsize)
    depth = (channels + lanes - 1) // lanes * lanes if channels <= DEPTH else DEPTH
    width = tiles if fused else WIDTH
    most = 4 if fused else 8
    contiguous = "channels" if is_one(result.strides[1]) else "nothing"
    contiguous = "pixels" if is_one(result.strides[4]) else contiguous
    by_rows = not is_one(window.image.strides[4])
    key = Winograd(dtype, form, Lines.of(window), by_rows, contiguous, fused, bias is not None, relu)
    starts, scratch = scratch_blocks(key, width, depth, most)
    values = window.params() | strides("result", result) | starts
    values |= {"channels": channels, "features": features, "tile_rows": rows, "tile_columns": columns}
    values |= {"tiles": tiles, "width": width, "depth": depth, "most": most}
    values |= dict(zip(STRIDES, weight.strides))
    values |= {"panel": panel_size(channels, dtype)}
    arrays = [window.image, weight, result] + [bias] * key.bias
    if not fused:
        arrays.append(transformed_weights(context, weight, form))
    panels = (features + panel - 1) // panel
    grain = share_grain(panels, 4, POSITIONS * width * channels * panel)
    tasks = (tiles + width - 1) // width * panels
    params = [values[name] for name in NAMES]
    context.launch(winograd_kernel(key), arrays, params, tasks, grain, scratch * dtype.itemsize)
