"""Copies of weights in the order, and the type, that a product reads."""

from __future__ import annotations

import functools

from ..ir.dtypes import DType
from ..ir.sizes import product
from .conv_lanes import Lanes
from .conv_window import ONE, divide
from .kernel import Kernel
from .templates import Array
from .text import Module

OUTER = 2  # dimensions that the range counts
RANK = 6


def repack(context, source: Array, dtype: DType) -> Array:
    """A contiguous copy of a six-dimensional array of any strides, in another floating-point type if need be."""
    target = context.temp(source.shape, dtype)
    inner = product(source.shape[OUTER:])
    kernel = repack_kernel(source.dtype, dtype)
    params = [*source.shape[1:], *source.strides]
    context.launch(kernel, [source, target], params, product(source.shape[:OUTER]), 1 + 2**13 // (inner + 1))
    return target


@functools.cache
def repack_kernel(source: DType, target: DType) -> Kernel:
    """Buffers source, target; parameters: sizes of all dimensions but the first, then the source's strides."""
    module = Module()
    f = module.kernel("conv_repack")
    sizes, strides = [f.param(i) for i in range(RANK - 1)], [f.param(RANK - 1 + i) for i in range(RANK)]
    reading, writing = Lanes(f, source, 1), Lanes(f, target, 1)
    volume = functools.reduce(f.mul, sizes[1:])
    with f.loop(f.begin, f.end) as row:
        start = functools.reduce(f.add, map(f.mul, divide(f, row, sizes[0]), strides))
        place = f.variable("i64", f.mul(row, volume))
        with f.loop(0, sizes[1]) as h, f.loop(0, sizes[2]) as i, f.loop(0, sizes[3]) as j, f.loop(0, sizes[4]) as k:
            index = functools.reduce(f.add, map(f.mul, (h, i, j, k), strides[OUTER:]), start)
            now = f.load(place, "i64")
            writing.store(reading.load(f.buffer(0), index), f.buffer(1), now)
            f.store(f.add(now, ONE), place)
    return Kernel(f.name, str(module))
