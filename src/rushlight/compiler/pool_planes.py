"""The maximum of small windows of contiguous planes, and its gradient.

Windows are 2 or 3 wide and 1 or 2 apart, as in nearly all networks: their taps are written out, and no mask is needed
but at the ends of rows. Of planes with short rows a vector takes several rows.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from ..ir.dtypes import DType
from ..ir.sizes import contiguous_strides, product
from .conv_lanes import Lanes, below, lane_numbers, vector_lanes
from .conv_shape import is_one
from .elementwise import from_memory
from .kernel import Kernel
from .pool_shape import ZERO, PoolShape, maximum
from .text import Function, Module, V, vector

SHORT = 16  # outputs of the longest rows of which a vector may take several


def is_contiguous(shape: PoolShape) -> bool:
    """Whether planes follow each other without gaps in all arrays."""
    dense = (
        (n, stride, want)
        for a in shape.arrays
        for n, stride, want in zip(a.shape, a.strides, contiguous_strides(a.shape))
    )
    return all(is_one(n) or stride == want for n, stride, want in dense)


def launch_maximum(context, shape: PoolShape) -> bool:
    """Launch the kernel for these windows, if there is one."""
    kernel, stride, padding = ([part[axis] for axis in (1, 2)] for part in shape.window[:3])
    flat = all(is_one(n) for n in (shape.window[0][0], shape.small[0], shape.large[0]))
    if not flat or shape.dilated or kernel[1] not in (2, 3) or stride[1] not in (1, 2) or not is_contiguous(shape):
        return False
    if not product(shape.large) < 2**31:
        return False
    dtype, planes, lanes = (
        shape.arrays[0].dtype,
        product(shape.batch) * shape.channels,
        vector_lanes(shape.arrays[0].dtype),
    )
    (_, height, width), (_, rows, columns) = shape.large, shape.small
    if kernel == stride == [2, 2] and padding == [0, 0] and fits(shape, lanes):
        total = planes * rows * columns
        kernel = pairs_kernel(Pairs(dtype, int(rows), int(columns), lanes))
        context.launch(kernel, shape.arrays, [total], (total + lanes - 1) // lanes, 1 + 4096 // lanes)
        return True
    while lanes > 4 and columns <= lanes // 2:
        lanes //= 2
    params = [height, width, rows, columns, kernel[0], stride[0], *padding]
    grain = 1 + 4096 // (rows * columns + 1)
    context.launch(taps_kernel(Taps(dtype, kernel[1], stride[1], lanes)), shape.arrays, params, planes, grain)
    return True


def fits(shape: PoolShape, lanes: int) -> bool:
    """Whether windows of 2 x 2 tile short rows, and vectors of outputs start at the same few places of all planes."""
    (_, height, width), (_, rows, columns) = shape.large, shape.small
    # in this order: of longer rows no guard is recorded but their length
    if not (columns <= min(lanes, SHORT) and rows <= SHORT and height == 2 * rows and width == 2 * columns):
        return False
    together = lanes // int(columns)
    return lanes % int(columns) == 0 and (int(rows) % together == 0 or together % int(rows) == 0)


# -- several rows in a vector ----------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Pairs:
    """Windows of 2 x 2 that tile planes of 2 rows x 2 columns; a vector takes several rows of outputs."""

    dtype: DType
    rows: int
    columns: int
    lanes: int


@functools.cache
def pairs_kernel(key: Pairs) -> Kernel:
    """Buffers x, values, indices; parameter: how many outputs; the range counts vectors of them."""
    module = Module()
    f = module.kernel("max_pool_pairs")
    with f.loop(f.begin, f.end) as number:
        first = f.mul(number, V(str(key.lanes), "i64"))
        left = f.sub(f.param(0), first)
        with f.branch(f.compare("sge", left, V(str(key.lanes), "i64"))) as otherwise:
            pairs(f, key, number, first, None)
            otherwise()
            pairs(f, key, number, first, left)
    return Kernel(f.name, str(module))


def pairs(f: Function, key: Pairs, number: V, first: V, left: V | None) -> None:
    """The outputs from the `first` on: a whole vector, or the `left` ones."""
    lanes, width, together = Lanes(f, key.dtype, key.lanes), 2 * key.columns, key.lanes // key.columns
    running = Best(f, lanes)
    start = V(str(4 * key.lanes), "i64")
    memory = []
    for part in range(4):
        room = None if left is None else f.mul(left, V("4", "i64"))
        mask = None if room is None else below(f, room, key.lanes, part * key.lanes)
        place = f.add(f.mul(number, start), V(str(part * key.lanes), "i64"))
        memory.append(lanes.load_bits(f.buffer(0), place, mask))
    halves = [f.shuffle(*memory[i : i + 2], list(range(2 * key.lanes))) for i in (0, 2)]
    corners = [2 * width * (lane // key.columns) + 2 * (lane % key.columns) for lane in range(key.lanes)]
    row = f.binary("urem", f.mul(number, V(str(together), "i64")), V(str(key.rows), "i64"))
    origin = f.splat(f.cast("trunc", f.mul(row, V(str(2 * width), "i64")), "i32"), key.lanes)
    places = [2 * width * (lane // key.columns % key.rows) + 2 * (lane % key.columns) for lane in range(key.lanes)]
    for offset in (0, 1, width, width + 1):
        value = from_memory(f, f.shuffle(*halves, [c + offset for c in corners]), key.dtype, key.lanes)
        running.add(value, f.add(origin, numbers([p + offset for p in places])))
    running.store([f.buffer(1), f.buffer(2)], first, None if left is None else below(f, left, key.lanes))


def numbers(values: list[int]) -> V:
    return V("<" + ", ".join(f"i32 {n}" for n in values) + ">", f"<{len(values)} x i32>")


class Best:
    """The running maximum of windows and its places; the first of equals, the last NaN."""

    def __init__(self, f: Function, lanes: Lanes, value: V | None = None, place: V | None = None):
        self.f, self.lanes, self.value, self.place = f, lanes, value, place

    def add(self, value: V, place: V) -> None:
        f = self.f
        if self.value is None:
            self.value, self.place = value, place
            return
        wins = self.lanes.greater_or_nan(value, self.value)
        self.value, self.place = f.select(wins, value, self.value), f.select(wins, place, self.place)

    def store(self, pointers: list[V], index: V, mask: V | None) -> None:
        f = self.f
        self.lanes.store(self.value, pointers[0], index, mask)
        place, pointer = f.cast("zext", self.place, vector("i64", self.lanes.count)), f.at(pointers[1], "i64", index)
        f.store(place, pointer) if mask is None else f.masked_store(place, pointer, mask)


# -- one row in a vector ---------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Taps:
    """Windows `width` wide and `step` apart along rows; `lanes` neighbours are reduced at a time."""

    dtype: DType
    width: int
    step: int
    lanes: int


@functools.cache
def taps_kernel(key: Taps) -> Kernel:
    """Buffers x, values, indices; parameters: height and width of planes of x, rows and columns of those of results,
    the windows' height, their distance along columns, padding along both. The range counts planes."""
    module = Module()
    TapWriter(module.kernel("max_pool_taps"), key).emit()
    return Kernel("max_pool_taps", str(module))


class TapWriter:
    def __init__(self, f: Function, key: Taps):
        self.f, self.key, self.lanes = f, key, Lanes(f, key.dtype, key.lanes)
        self.x, *self.results = (f.buffer(i) for i in range(3))
        self.height, self.width, self.rows, self.columns = (f.param(i) for i in range(4))
        self.taps, self.step, *self.padding = (f.param(i) for i in range(4, 8))

    def emit(self) -> None:
        f, key, lanes = self.f, self.key, V(str(self.key.lanes), "i64")
        # the elements that a vector reads of a row
        reach = key.lanes + key.width - 1 if key.step == 1 else 2 * key.lanes + 2 * (key.width == 3)
        with f.loop(f.begin, f.end) as plane, f.loop(0, self.rows) as row:
            self.image = f.mul(plane, f.mul(self.height, self.width))
            start = f.sub(f.mul(row, self.step), self.padding[0])
            self.low, self.high = maximum(f, start, ZERO), f.minimum(f.add(start, self.taps), self.height)
            line = f.mul(f.add(f.mul(plane, self.rows), row), self.columns)
            with f.loop(0, self.columns, key.lanes) as column:
                x, left = f.sub(f.mul(column, V(str(key.step), "i64")), self.padding[1]), f.sub(self.columns, column)
                read = f.compare("sle", f.add(x, V(str(reach), "i64")), self.width)
                whole = f.binary("and", f.binary("and", f.compare("sge", x, ZERO), read), f.compare("sge", left, lanes))
                with f.branch(whole) as otherwise:
                    self.windows(x, f.add(line, column), None)
                    otherwise()
                    self.windows(x, f.add(line, column), below(f, left, key.lanes))

    def windows(self, x: V, result: V, mask: V | None) -> None:
        """The windows whose taps start at column x; with a mask of those that exist, parts of them may be padding."""
        f, key, lanes = self.f, self.key, self.lanes
        columns = f.mul(lane_numbers("i32", key.lanes), f.const(key.step, vector("i32", key.lanes)))
        columns = f.add(columns, self.splat(x))
        first = columns if mask is None else f.intrinsic("llvm.smax", columns, f.const(0, columns.type))
        value, place = f.variable(lanes.type, lanes.lowest()), f.variable(columns.type)
        f.store(f.add(first, self.splat(f.mul(self.low, self.width))), place)
        with f.loop(self.low, self.high) as y:
            line = f.mul(y, self.width)
            best = Best(f, lanes, f.load(value, lanes.type), f.load(place, columns.type))
            here = f.add(columns, self.splat(line))
            for tap, found in enumerate(self.read(f.add(self.image, line), x, mask is not None)):
                shift = f.const(tap, columns.type)
                if mask is not None:
                    found = f.select(self.inside(f.add(columns, shift)), found, lanes.lowest())
                best.add(found, f.add(here, shift))
            f.store(best.value, value)
            f.store(best.place, place)
        Best(f, lanes, f.load(value, lanes.type), f.load(place, columns.type)).store(self.results, result, mask)

    def splat(self, number: V) -> V:
        return self.f.splat(self.f.cast("trunc", number, "i32"), self.key.lanes)

    def inside(self, columns: V) -> V:
        """Which columns are not padding; negative ones are huge as unsigned numbers."""
        return self.f.compare("ult", columns, self.splat(self.width))

    def read(self, line: V, x: V, masked: bool) -> list[V]:
        """The taps of the row of x at `line`, each for all windows."""
        f, key, lanes = self.f, self.key, self.lanes

        def adjacent(shift: int) -> V:
            at = f.add(x, V(str(shift), "i64"))
            mask = self.inside(f.add(self.splat(at), lane_numbers("i32", key.lanes))) if masked else None
            return lanes.load_bits(self.x, f.add(line, at), mask)

        if key.step == 1:
            memory = [adjacent(tap) for tap in range(key.width)]
        else:
            pairs = adjacent(0), adjacent(key.lanes)
            memory = [f.shuffle(*pairs, list(range(tap, 2 * key.lanes, 2))) for tap in (0, 1)]
            if key.width == 3:
                pairs = adjacent(2), adjacent(key.lanes + 2)
                memory.append(f.shuffle(*pairs, list(range(0, 2 * key.lanes, 2))))
        return [from_memory(f, bits, key.dtype, key.lanes) for bits in memory]


# -- gradient --------------------------------------------------------------------------------------------
UNROLLED = 4


@functools.cache
def scatter_kernel(dtype: DType) -> Kernel:
    """Buffers gy, indices, gx; parameters: elements of a plane of gx, and of gy; the range counts planes."""
    module = Module()
    f = module.kernel("max_pool_scatter")
    lanes, one = Lanes(f, dtype, vector_lanes(dtype)), Lanes(f, dtype, 1)
    gy, indices, gx = (f.buffer(i) for i in range(3))
    size, count = f.param(0), f.param(1)
    zero = lanes.constant(0)
    with f.loop(f.begin, f.end) as plane:
        target, source = f.mul(plane, size), f.mul(plane, count)
        each_vector(f, size, lanes.count, lambda at, mask: lanes.store(zero, gx, f.add(target, at), mask))
        tail = f.sub(count, f.binary("urem", count, V(str(UNROLLED), "i64")))
        for begin, end, copies in ((ZERO, tail, UNROLLED), (tail, count, 1)):
            with f.loop(begin, end, copies) as number:
                first = f.add(source, number)
                for copy in range(copies):
                    at = f.add(first, V(str(copy), "i64"))
                    place = f.add(target, f.load(f.at(indices, "i64", at), "i64"))
                    one.store(f.add(one.load(gx, place), one.load(gy, at)), gx, place)
    return Kernel(f.name, str(module))


def each_vector(f: Function, size: V, lanes: int, body) -> None:
    """Cover [0, size) by vectors: `body(index, mask)`, where the mask is None for whole vectors."""
    whole = f.sub(size, f.binary("urem", size, V(str(lanes), "i64")))
    with f.loop(0, whole, lanes) as index:
        body(index, None)
    with f.when(f.compare("slt", whole, size)):
        body(whole, below(f, f.sub(size, whole), lanes))


def launch_scatter(context, shape: PoolShape) -> None:
    """Every cotangent to the place of its window's maximum."""
    size, count = product(shape.large), product(shape.small)
    planes = product(shape.batch) * shape.channels
    kernel = scatter_kernel(shape.arrays[0].dtype)
    context.launch(kernel, shape.arrays, [size, count], planes, 1 + 2**14 // (size + 1))
