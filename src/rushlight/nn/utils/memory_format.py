"""Convolution weights in another memory format."""

from __future__ import annotations

from ..conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d


def _convert(module, memory_format, kinds: tuple[type, ...]):
    for part in module.modules():
        if isinstance(part, kinds):
            part.weight.data = part.weight.detach().clone().contiguous(memory_format=memory_format)
    return module


def convert_conv2d_weight_memory_format(module, memory_format):
    """Lays out the weights of all 2-d convolutions in a module as `memory_format` says; returns the module."""
    return _convert(module, memory_format, (Conv2d, ConvTranspose2d))


def convert_conv3d_weight_memory_format(module, memory_format):
    """Lays out the weights of all 3-d convolutions in a module as `memory_format` says; returns the module."""
    return _convert(module, memory_format, (Conv3d, ConvTranspose3d))
