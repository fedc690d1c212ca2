"""The maximum of whole contiguous planes, and its place: lanes along the plane, which meet at its end."""

from __future__ import annotations

import functools

from ..ir.dtypes import DType
from ..ir.sizes import product
from .conv_lanes import Lanes, below, lane_numbers, vector_lanes
from .conv_shape import is_one
from .kernel import Kernel
from .pool_planes import Best, is_contiguous
from .pool_shape import ZERO, PoolShape
from .text import Function, Module, V, is_float, vector


def launch_global(context, shape: PoolShape) -> bool:
    """Launch the kernel if each plane is one window."""
    size = product(shape.large)
    if not all(map(is_one, shape.small)) or not is_contiguous(shape) or not size < 2**31:
        return False
    planes, dtype = product(shape.batch) * shape.channels, shape.arrays[0].dtype
    context.launch(global_kernel(dtype, vector_lanes(dtype)), shape.arrays, [size], planes, 1 + 2**13 // (size + 1))
    return True


@functools.cache
def global_kernel(dtype: DType, count: int) -> Kernel:
    """Buffers x, values, indices; parameter: elements of a plane; the range counts planes."""
    module = Module()
    f = module.kernel("max_pool_global")
    lanes, size, x, integers = Lanes(f, dtype, count), f.param(0), f.buffer(0), vector("i32", count)
    with f.loop(f.begin, f.end) as plane:
        start = f.mul(plane, size)
        value, place = f.variable(lanes.type, lanes.lowest()), f.variable(integers, f.const(0, integers))

        def add(at: V, mask: V | None, start: V = start, value: V = value, place: V = place) -> None:
            best = Best(f, lanes, f.load(value, lanes.type), f.load(place, integers))
            found = lanes.load(x, f.add(start, at), mask)
            found = found if mask is None else f.select(mask, found, lanes.lowest())
            best.add(found, f.add(f.splat(f.cast("trunc", at, "i32"), count), lane_numbers("i32", count)))
            f.store(best.value, value)
            f.store(best.place, place)

        whole = f.sub(size, f.binary("urem", size, V(str(count), "i64")))
        with f.loop(ZERO, whole, count) as at:
            add(at, None)
        with f.when(f.compare("slt", whole, size)):
            add(whole, below(f, f.sub(size, whole), count))
        best = across(f, dtype, f.load(value, lanes.type), f.load(place, integers), count)
        Best(f, Lanes(f, dtype, 1), *best).store([f.buffer(1), f.buffer(2)], plane, None)
    return Kernel(f.name, str(module))


def across(f: Function, dtype: DType, value: V, place: V, count: int) -> tuple[V, V]:
    """The best of all lanes: the largest, of equals the first place, of NaN the last."""
    while count > 1:
        count //= 2
        (a, b), (i, j) = halves(f, value, count), halves(f, place, count)
        wins = wins_over(f, dtype, b, j, a, i)
        value, place = f.select(wins, b, a), f.select(wins, j, i)
    return value, place


def halves(f: Function, vector: V, count: int) -> list[V]:
    """The first `count` lanes, and as many that follow."""
    if count == 1:
        return [f.lane(vector, 0), f.lane(vector, 1)]
    return [f.shuffle(vector, vector, list(range(first, first + count))) for first in (0, count)]


def wins_over(f: Function, dtype: DType, b: V, j: V, a: V, i: V) -> V:
    """Whether b at place j is to be taken instead of a at place i."""
    earlier = f.compare("slt", j, i)
    if not is_float(a.type):
        larger, equal = f.compare("ugt" if dtype.kind == "u" else "sgt", b, a), f.compare("eq", b, a)
        return f.binary("or", larger, f.binary("and", equal, earlier))
    number, later = f.compare("ord", a, a), f.compare("slt", i, j)
    nan = f.binary("and", f.compare("uno", b, b), f.binary("or", number, later))
    equal = f.binary("and", f.compare("oeq", b, a), earlier)
    return f.binary("or", nan, f.binary("or", f.compare("ogt", b, a), equal))
