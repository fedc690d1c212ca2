"""Tensors of integers that stand for numbers: number = (integer - zero point) * scale.

They are tensors as others are, with another layout: every op that has a form for them takes them, others refuse and say
to dequantize. Nothing here is loaded before a program names a function of this room.
"""

from __future__ import annotations

from . import (
    copies,
    dispatch,
    elementwise,
    facts,
    fake,
    functions,
    kernels,
    library,
    observing,
    pickling,
    printing,
    quantizers,
    reduction,
    schemes,
    shape,
    windows,
)

__all__ = ["functions", "library", "schemes"]
