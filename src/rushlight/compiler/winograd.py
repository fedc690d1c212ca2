"""The launches of Winograd's convolution."""

from __future__ import annotations

from dataclasses import replace

from .conv_block import share_grain
from .conv_lines import Lines
from .conv_shape import is_one
from .conv_window import Window, strides
from .target import host
from .templates import Array
from .winograd_kernel import NAMES, Winograd, scratch_blocks, winograd_kernel
from .winograd_tiles import tile_grid
from .winograd_transform import POSITIONS
from .winograd_weight import STRIDES, panel_size, panel_width, readable, transformed_weights

FEW = 128  # tiles: up to here they are one block, for which weights are transformed where they are used
WIDTH = 64  # tiles of a block otherwise: the more, the less often weights stream past
SMALL = 128 * 128  # pairs of channels whose weights may stream twice as often, for the sake of more tasks
DEPTH = 128  # channels at a time


def launch_winograd(context, window: Window, weight: Array, result: Array, bias=None, relu=False) -> None:
    """weight [1, O, C, 1, 3, 3] and result [N, O, 1, H, W] of any strides; bias [O], contiguous."""
    weight, form = readable(context, weight)
    dtype, panel = result.dtype, panel_width(result.dtype)
    features, channels = weight.shape[:2]
    rows, columns = tile_grid(window.pixels)
    tiles = result.shape[0] * rows * columns
    fused = tiles <= FEW
    lanes = host().lanes(dtype.itemsize)
    depth = (channels + lanes - 1) // lanes * lanes if channels <= DEPTH else DEPTH
    width = tiles if fused else WIDTH // 2 if channels * features <= SMALL else WIDTH
    most = 4 if fused else 8
    contiguous = "channels" if is_one(result.strides[1]) else "nothing"
    contiguous = "pixels" if is_one(result.strides[4]) else contiguous
    by_rows = not is_one(window.image.strides[4])
    lines = replace(Lines.of(window), lanes=min(4, lanes))  # for single pixels
    key = Winograd(dtype, form, lines, by_rows, contiguous, fused, bias is not None, relu)
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
