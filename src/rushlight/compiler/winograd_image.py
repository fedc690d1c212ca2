"""The image's side of Winograd's convolution: transformed tiles, and how far the values in each differ.

A transformed tile mixes 4 x 4 pixels, while each result sees 3 x 3 of them. What a result does not see cancels up to
rounding: enough while the pixels are of similar size. So the largest magnitudes in each of the four windows are
compared. Where one is much smaller than the others, or a pixel is infinite or not a number, results are computed
directly (see `winograd_repair`); where a window is all zero, so is its result.
"""

from __future__ import annotations

from ..ir.dtypes import DType
from .conv_window import ZERO, i64
from .gemm_element import memory_type
from .target import host
from .text import Function, Module, V, vector
from .winograd_transform import SIDE, STEP, image_transform

WINDOWS = STEP * STEP  # of a tile
RANGE = 7  # a window whose largest magnitude is 2^RANGE times below that of its tile is repaired
ARGUMENTS = (
    ("ptr", "planes"),  # of one vector of channels, see `winograd_planes`
    ("i64", "pitch"),  # elements between rows of planes
    ("i64", "rows"),  # of tiles
    ("i64", "columns"),
    ("ptr", "target"),  # [position][tile][channel], the first tile's and first of these channels
    ("i64", "position"),  # elements between positions of the target
    ("i64", "tile"),  # elements between tiles
    ("ptr", "largest"),  # [tile][window][lane]: largest magnitudes so far, as integers
)


def integer(dtype: DType) -> str:
    """The type of the bits of a number."""
    return f"i{8 * dtype.itemsize}"


def mantissa_bits(dtype: DType) -> int:
    return {4: 23, 8: 52}[dtype.itemsize]


def emit_transform_image(module: Module, dtype: DType, ranges: bool = True) -> Function:
    """Define `transform_image(*ARGUMENTS)`, without the last argument if not `ranges`."""
    f = module.function("transform_image", list(ARGUMENTS if ranges else ARGUMENTS[:-1]), linkage="internal")
    planes, pitch, rows, columns, target, position, tile = f.args[:7]
    count, type = host().lanes(dtype.itemsize), memory_type(dtype)
    with f.loop(0, rows) as row, f.loop(0, columns) as column:
        start = f.add(f.mul(f.mul(row, i64(STEP)), pitch), f.mul(column, i64(STEP * count)))
        lines = [f.at(planes, type, f.add(start, f.mul(i64(i), pitch))) for i in range(SIDE)]
        pixels = [[f.load(f.at(line, type, j * count), vector(type, count)) for j in range(SIDE)] for line in lines]
        number = f.add(f.mul(row, columns), column)
        if ranges:
            _raise(f, dtype, pixels, f.at(f.args[7], type, f.mul(number, i64(WINDOWS * count))))
        out = f.mul(number, tile)
        for line in image_transform(f, pixels):
            for value in line:
                f.store(value, f.at(target, type, out), align=dtype.itemsize)
                out = f.add(out, position)
    return f


def _raise(f: Function, dtype: DType, pixels: list[list[V]], largest: V) -> None:
    """Bring the largest magnitudes of a tile's windows up to date."""
    count, kind = host().lanes(dtype.itemsize), integer(dtype)
    type = vector(kind, count)
    # as integers magnitudes keep their order, and NaN is above all
    positive = f.const((1 << 8 * dtype.itemsize - 1) - 1, type)
    sizes = [[f.binary("and", f.cast("bitcast", pixel, type), positive) for pixel in line] for line in pixels]

    def threes(a, b, c, d) -> list[V]:
        middle = maximum(f, b, c)
        return [maximum(f, a, middle), maximum(f, middle, d)]

    columns = [threes(*column) for column in zip(*sizes)]
    windows = [value for row in zip(*columns) for value in threes(*row)]
    for number, value in enumerate(windows):
        pointer = f.at(largest, kind, number * count)
        f.store(maximum(f, f.load(pointer, type), value), pointer)


def maximum(f: Function, a: V, b: V) -> V:
    return f.intrinsic("llvm.smax", a, b)


JUDGE_ARGUMENTS = (
    ("ptr", "largest"),  # as above, of all channels
    ("i64", "tiles"),
    ("ptr", "keep"),  # [tile][window]: a mask of no bits where the window is all zero, else of all
    ("ptr", "repair"),  # [tile][window]: not zero where the result has to be computed directly
)


def emit_judge(module: Module, dtype: DType) -> Function:
    """Define `i64 judge(*JUDGE_ARGUMENTS)`, which returns whether anything is to be repaired."""
    f = module.function("judge", list(JUDGE_ARGUMENTS), returns="i64", linkage="internal")
    largest, tiles, keep, repair = f.args
    count, kind, bits = host().lanes(dtype.itemsize), integer(dtype), mantissa_bits(dtype)
    zero, found = f.const(0, kind), f.variable("i64", ZERO)
    infinite = f.const((1 << 8 * dtype.itemsize - 1) - (1 << bits), kind)
    with f.loop(0, tiles) as tile:
        windows = []
        for number in range(WINDOWS):
            place = f.add(f.mul(tile, i64(WINDOWS * count)), i64(number * count))
            lanes = f.load(f.at(largest, kind, place), vector(kind, count))
            windows.append(f.intrinsic("llvm.vector.reduce.smax", lanes, returns=kind))
        top = maximum(f, maximum(f, *windows[:2]), maximum(f, *windows[2:]))
        special = f.compare("sge", top, infinite)
        least = f.sub(top, f.const(RANGE << bits, kind))
        for number, window in enumerate(windows):
            index = f.add(f.mul(tile, i64(WINDOWS)), i64(number))
            empty = f.compare("eq", window, zero)
            f.store(f.select(empty, zero, f.const(-1, kind)), f.at(keep, kind, index))
            small = f.binary("and", f.compare("slt", window, least), f.compare("ne", window, zero))
            bad = f.cast("zext", f.binary("or", small, special), kind)
            f.store(bad, f.at(repair, kind, index))
            wide = f.cast("zext", bad, "i64") if kind != "i64" else bad
            f.store(f.binary("or", f.load(found, "i64"), wide), found)
    f.line(f"ret {f.load(found, 'i64')}")
    return f
