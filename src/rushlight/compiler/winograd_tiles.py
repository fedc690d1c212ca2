"""What the kernels of Winograd's convolution have in common: walking over tiles, and transforming their pixels."""

from __future__ import annotations

from contextlib import contextmanager

from ..ir.dtypes import DType
from .conv_block import SPARE, BlockWriter
from .conv_window import ONE, WINDOW, ZERO, divide, dot, i64
from .target import host
from .text import Function, V
from .winograd_transform import POSITIONS, SIDE, STEP
from .winograd_weight import panel_width

# the window, tiles of an image and of all images, and of a block; channels of a block
TILES = [*WINDOW, "channels", "features", "tile_rows", "tile_columns", "tiles", "width", "depth"]


def tile_grid(pixels: tuple) -> list:
    """Rows and columns of tiles of an image."""
    return [(n + STEP - 1) // STEP for n in pixels[1:]]


def image_blocks(width, depth, lanes: int) -> dict:
    """Sizes of the blocks of scratch memory that hold the image's side, for `width` tiles and `depth` channels.

    One more vector between positions keeps them from the same sets of the cache.
    """
    return {"planes": (8 * width + 8) * lanes, "transformed": POSITIONS * (width * (depth + SPARE) + lanes)}


def block_starts(sizes: dict, lanes: int) -> tuple[dict, object]:
    """Where each block of scratch memory starts, as parameters, and the size of all; in elements."""
    starts, end = {}, 0
    for name, size in sizes.items():
        starts[f"at_{name}"] = end
        end = end + (size + lanes - 1) // lanes * lanes  # whole vectors
    return starts, end


class TileWriter(BlockWriter):
    """Emits into a kernel whose parameters include `TILES` and the starts of `blocks` of scratch memory.

    The first buffer is the image. `first` and `last` are the tiles that are being computed.
    """

    def __init__(self, f: Function, names: list[str], blocks, dtype: DType, buffers: int):
        super().__init__(f, names, dtype, buffers)
        self.image = self.buffers[0]
        self.lanes, self.panel = host().lanes(dtype.itemsize), panel_width(dtype)
        self.block = {name: self.element(self.scratch, self.p[f"at_{name}"]) for name in blocks}
        # distances of transformed tiles, and of positions
        self.tile = f.add(self.p["depth"], i64(SPARE))
        self.position = f.add(f.mul(self.p["width"], self.tile), i64(self.lanes))

    def whole_vectors(self, count: V) -> V:
        """Rounded up: products fill the last vector, which is looked through for NaN as a whole."""
        f = self.f
        return f.binary("and", f.add(count, i64(self.lanes - 1)), i64(-self.lanes))

    def clear_block(self, name: str, count: V) -> None:
        self.clear(self.block[name], count)

    @contextmanager
    def bands(self):
        """Cut tiles [first, last) into rectangles within an image: yields the first tile's number among them, the
        image, the first row and column of tiles, and how many rows and columns."""
        f, p = self.f, self.p
        tile = f.variable("i64", self.first)
        with f.repeat(lambda: f.compare("slt", f.load(tile, "i64"), self.last)):
            now = f.load(tile, "i64")
            rest, column = divide(f, now, p["tile_columns"])
            image, row = divide(f, rest, p["tile_rows"])
            left = f.sub(self.last, now)
            whole = f.minimum(divide(f, left, p["tile_columns"])[0], f.sub(p["tile_rows"], row))
            whole = f.select(f.compare("eq", column, ZERO), whole, ZERO)
            part = f.minimum(f.sub(p["tile_columns"], column), left)
            columns = f.select(f.compare("sgt", whole, ZERO), p["tile_columns"], part)
            rows = f.intrinsic("llvm.smax", whole, ONE)
            yield f.sub(now, self.first), image, row, column, rows, columns
            f.store(f.add(now, f.mul(rows, columns)), tile)

    def transform_image(self, first_channel: V, channels: V) -> None:
        """Transform the pixels of tiles [first, last)."""
        f, p = self.f, self.p
        with self.bands() as (tile, image, row, column, rows, columns):
            height, width = (f.add(f.mul(n, i64(STEP)), i64(SIDE - STEP)) for n in (rows, columns))
            pitch = f.mul(width, i64(self.lanes))
            self.clear_block("planes", f.mul(height, pitch))
            (y, source_y, ys), (x, source_x, xs) = (
                self.inside(f.add(f.mul(n, i64(STEP)), p[f"start{axis}"]), size, p[f"sizes{axis}"])
                for axis, n, size in ((1, row, height), (2, column, width))
            )
            start = dot(f, p, "image", image, [ZERO, source_y, source_x])
            target = self.element(self.block["planes"], f.add(f.mul(y, pitch), f.mul(x, i64(self.lanes))))
            with f.loop(0, channels, self.lanes) as channel:
                source = f.add(start, f.mul(f.add(first_channel, channel), p["image_c"]))
                strides = p["image_c"], p["image_1"], p["image_2"]
                given = self.element(self.image, source), *strides, f.sub(channels, channel), ys, xs, target, pitch
                f.call("pack_planes", "void", *given)
                out = self.element(self.block["transformed"], f.add(f.mul(tile, self.tile), channel))
                planes = self.block["planes"], pitch, rows, columns
                f.call("transform_image", "void", *planes, out, self.position, self.tile)

    def inside(self, start: V, size: V, bound: V) -> tuple[V, V, V]:
        """Of positions [start, start + size), those in [0, bound): where they begin, the first one, how many."""
        f = self.f
        first = f.intrinsic("llvm.smax", start, ZERO)
        last = f.minimum(f.add(start, size), bound)
        count = f.intrinsic("llvm.smax", f.sub(last, first), ZERO)
        exists = f.compare("sgt", count, ZERO)
        return f.select(exists, f.sub(first, start), ZERO), f.select(exists, first, ZERO), count
