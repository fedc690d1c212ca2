"""Modules that rearrange or resample: flattening, shuffling, patches, upsampling."""

from __future__ import annotations

from ..core import Tensor
from . import functional as F
from .function_module import REQUIRED, FunctionModule
from .module import Module


class Flatten(Module):
    """Joins the dims from `start_dim` to `end_dim` into one; by default all but the batch."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Splits dim `dim` into the dims `unflattened_size`, one of which may be -1."""

    def __init__(self, dim: int, unflattened_size: tuple[int, ...]):
        super().__init__()
        if not isinstance(dim, int) or not isinstance(unflattened_size, (tuple, list)):
            raise TypeError("Unflatten: dim must be an int and unflattened_size a tuple of ints")
        for i, size in enumerate(unflattened_size):
            if not isinstance(size, int):
                kind = type(size).__name__
                raise TypeError(f"unflattened_size must be tuple of ints, but found element of type {kind} at pos {i}")
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


class PixelShuffle(FunctionModule):
    """(*, C·r², H, W) to (*, C, H·r, W·r), r = `upscale_factor` (Shi et al., 2016)."""

    function = "pixel_shuffle"
    options = {"upscale_factor": REQUIRED}


class PixelUnshuffle(FunctionModule):
    """(*, C, H·r, W·r) to (*, C·r², H, W), r = `downscale_factor`."""

    function = "pixel_unshuffle"
    options = {"downscale_factor": REQUIRED}


class ChannelShuffle(FunctionModule):
    """Interleaves `groups` groups of channels of (N, C, *)."""

    function = "channel_shuffle"
    options = {"groups": REQUIRED}


class Fold(FunctionModule):
    """Adds up sliding blocks (N, C·∏kernel_size, L) into an image (N, C, *output_size)."""

    function = "fold"
    options = {"output_size": REQUIRED, "kernel_size": REQUIRED, "dilation": 1, "padding": 0, "stride": 1}


class Unfold(FunctionModule):
    """Cuts an image (N, C, *) into its sliding blocks (N, C·∏kernel_size, L)."""

    function = "unfold"
    options = {"kernel_size": REQUIRED, "dilation": 1, "padding": 0, "stride": 1}


class Upsample(Module):
    """Resizes the spatial dims of (N, C, *) to `size`, or by `scale_factor`.

    `mode` is nearest, linear (3-d input), bilinear or bicubic (4-d), trilinear (5-d) or nearest-exact.
    """

    def __init__(self, size=None, scale_factor=None, mode: str = "nearest", align_corners: bool | None = None,
                 recompute_scale_factor: bool | None = None):  # fmt: skip
        super().__init__()
        self.name, self.size, self.mode = type(self).__name__, size, mode
        several = isinstance(scale_factor, (tuple, list))
        self.scale_factor = tuple(map(float, scale_factor)) if several else scale_factor and float(scale_factor)
        self.align_corners, self.recompute_scale_factor = align_corners, recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.interpolate(
            input, self.size, self.scale_factor, self.mode, self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )  # fmt: skip

    def extra_repr(self) -> str:
        how = f"size={self.size}" if self.scale_factor is None else f"scale_factor={self.scale_factor}"
        return f"{how}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Resizes (N, C, H, W) by repeating pixels."""

    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Resizes (N, C, H, W) by bilinear interpolation with aligned corners."""

    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
