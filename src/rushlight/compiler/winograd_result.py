"""The result's side of Winograd's convolution: from products of transformed tiles to pixels."""

from __future__ import annotations

from ..ir.dtypes import DType
from .conv_window import ZERO, i64
from .gemm_element import memory_type, rectify
from .target import host
from .text import Function, Module, V, lanes, vector
from .winograd_image import WINDOWS, integer
from .winograd_transform import SIDE, STEP, result_transform
from .winograd_weight import panel_width

ARGUMENTS = (
    ("ptr", "products"),  # [position][tile][column of the panel], the first tile's
    ("i64", "position"),  # elements between positions
    ("i64", "rows"),  # of tiles
    ("i64", "columns"),
    ("i64", "features"),  # output channels of the panel
    ("ptr", "keep"),  # see `winograd_image`
    ("ptr", "bias"),  # one number for each column of the panel
    ("ptr", "target"),  # [row][column][column of the panel]: pixels without gaps
    ("i64", "height"),  # rows and columns of pixels that exist
    ("i64", "width"),
    ("ptr", "repair"),  # [tile][window]: not zero where the result is going to be computed directly anyway
    ("ptr", "broken"),  # the same, set here for other results that are infinite or not a number
)


def emit_transform_result(module: Module, dtype: DType, bias: bool, relu: bool) -> Function:
    """Define `i64 transform_result(*ARGUMENTS)`, which returns whether anything is to be repaired."""
    f = module.function("transform_result", list(ARGUMENTS), returns="i64", linkage="internal")
    _ResultWriter(f, dtype, bias, relu).emit()
    return f


def any_nan(f: Function, values: V) -> V:
    """Whether a lane is not a number, as an i64."""
    found = f.compare("uno", values, values)
    if lanes(values.type) > 1:
        bits = f.cast("bitcast", found, f"i{lanes(values.type)}")
        found = f.compare("ne", bits, f.const(0, bits.type))
    return f.cast("zext", found, "i64")


class _ResultWriter:
    def __init__(self, f: Function, dtype: DType, bias: bool, relu: bool):
        self.f, self.bias, self.relu = f, bias, relu
        self.kind, self.mask = memory_type(dtype), integer(dtype)
        self.count, self.panel = host().lanes(dtype.itemsize), panel_width(dtype)
        self.type = vector(self.kind, self.count)
        self.args = dict(zip((name for _, name in ARGUMENTS), f.args))

    def emit(self) -> None:
        f, a = self.f, self.args
        self.doubt, found = f.variable(self.type), f.variable("i64", ZERO)
        nowhere = f.variable(self.type)
        with f.loop(0, a["rows"]) as row, f.loop(0, a["columns"]) as column:
            tile = f.add(f.mul(row, a["columns"]), column)
            targets = self._targets(row, column)
            f.store(f.const(0, self.type), self.doubt)
            with f.loop(0, a["features"], self.count) as feature:
                self._vector(tile, feature, targets, nowhere)
            doubt = any_nan(f, f.load(self.doubt, self.type))
            bad = f.cast("trunc", doubt, self.mask) if self.mask != "i64" else doubt
            for window in range(WINDOWS):
                place = f.add(f.mul(tile, i64(WINDOWS)), i64(window))
                known = f.load(f.at(a["repair"], self.mask, place), self.mask)
                broken = f.select(f.compare("eq", known, f.const(0, self.mask)), bad, f.const(0, self.mask))
                f.store(broken, f.at(a["broken"], self.mask, place))
                wide = f.cast("zext", broken, "i64") if self.mask != "i64" else broken
                f.store(f.binary("or", f.load(found, "i64"), wide), found)
        f.line(f"ret {f.load(found, 'i64')}")

    def _targets(self, row: V, column: V) -> list[tuple[V, V]]:
        """For each pixel of a tile, whether it exists and where it goes."""
        f, a, found = self.f, self.args, []
        for i in range(STEP):
            for j in range(STEP):
                y, x = (f.add(f.mul(n, i64(STEP)), i64(k)) for n, k in ((row, i), (column, j)))
                exists = f.binary("and", f.compare("slt", y, a["height"]), f.compare("slt", x, a["width"]))
                pixel = f.mul(f.add(f.mul(y, a["width"]), x), i64(self.panel))
                found.append((exists, f.at(a["target"], self.kind, pixel)))
        return found

    def _vector(self, tile: V, feature: V, targets, nowhere: V) -> None:
        f, a = self.f, self.args
        place, products = f.add(f.mul(tile, i64(self.panel)), feature), []
        for _ in range(SIDE * SIDE):
            products.append(f.load(f.at(a["products"], self.kind, place), self.type))
            place = f.add(place, a["position"])
        results = result_transform(f, [products[i : i + SIDE] for i in range(0, SIDE * SIDE, SIDE)])
        results = [value for line in results for value in line]
        # infinities and NaN survive in the sum, and in its product with zero as NaN
        total = f.add(f.add(*results[:2]), f.add(*results[2:]))
        doubt = f.add(f.mul(total, f.const(0, self.type)), f.load(self.doubt, self.type))
        f.store(doubt, self.doubt)
        for window, (value, (exists, target)) in enumerate(zip(results, targets)):
            value = self._finished(value, tile, window, feature)
            f.store(value, f.select(exists, f.at(target, self.kind, feature), nowhere))

    def _finished(self, value: V, tile: V, window: int, feature: V) -> V:
        f, a = self.f, self.args
        keep = f.load(f.at(a["keep"], self.mask, f.add(f.mul(tile, i64(WINDOWS)), i64(window))), self.mask)
        type = vector(self.mask, self.count)
        bits = f.binary("and", f.cast("bitcast", value, type), f.splat(keep, self.count))
        value = f.cast("bitcast", bits, self.type)
        if self.bias:
            value = f.add(value, f.load(f.at(a["bias"], self.kind, feature), self.type))
        return rectify(f, value) if self.relu else value
