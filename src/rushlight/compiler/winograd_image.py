"""The image's side of Winograd's convolution: transformed tiles."""

from __future__ import annotations

from ..ir.dtypes import DType
from .conv_window import i64
from .gemm_element import memory_type
from .target import host
from .text import Function, Module, vector
from .winograd_transform import SIDE, STEP, image_transform

ARGUMENTS = (
    ("ptr", "planes"),  # of one vector of channels, see `winograd_planes`
    ("i64", "pitch"),  # elements between rows of planes
    ("i64", "rows"),  # of tiles
    ("i64", "columns"),
    ("ptr", "target"),  # [position][tile][channel], the first tile's and first of these channels
    ("i64", "position"),  # elements between positions of the target
    ("i64", "tile"),  # elements between tiles
)


def emit_transform_image(module: Module, dtype: DType) -> Function:
    """Define `transform_image(*ARGUMENTS)`."""
    f = module.function("transform_image", list(ARGUMENTS), linkage="internal")
    planes, pitch, rows, columns, target, position, tile = f.args
    count, type = host().lanes(dtype.itemsize), memory_type(dtype)
    with f.loop(0, rows) as row, f.loop(0, columns) as column:
        start = f.add(f.mul(f.mul(row, i64(STEP)), pitch), f.mul(column, i64(STEP * count)))
        lines = [f.at(planes, type, f.add(start, f.mul(i64(i), pitch))) for i in range(SIDE)]
        pixels = [[f.load(f.at(line, type, j * count), vector(type, count)) for j in range(SIDE)] for line in lines]
        out = f.mul(f.add(f.mul(row, columns), column), tile)
        for line in image_transform(f, pixels):
            for value in line:
                f.store(value, f.at(target, type, out))
                out = f.add(out, position)
    return f
