"""The result's side of Winograd's convolution: from products of transformed tiles to pixels."""

from __future__ import annotations

from ..ir.dtypes import DType
from .conv_window import ZERO, i64
from .gemm_element import memory_type, rectify
from .target import host
from .text import Function, Module, V, lanes, vector
from .winograd_transform import SIDE, STEP, WINDOWS, result_transform
from .winograd_weight import panel_width

ARGUMENTS = (
    ("ptr", "products"),  # [position][tile][column of the panel], the first tile's
    ("i64", "position"),  # elements between positions
    ("i64", "rows"),  # of tiles
    ("i64", "columns"),
    ("i64", "features"),  # output channels of the panel
    ("ptr", "bias"),  # one number for each column of the panel
    ("ptr", "target"),  # [row][column][column of the panel]: pixels without gaps
    ("i64", "height"),  # rows and columns of pixels that exist
    ("i64", "width"),
    ("ptr", "broken"),  # [tile][window]: an i64, whether a result is infinite or not a number
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
        self.kind = memory_type(dtype)
        self.count, self.panel = host().lanes(dtype.itemsize), panel_width(dtype)
        self.type = vector(self.kind, self.count)
        self.args = dict(zip((name for _, name in ARGUMENTS), f.args))

    def emit(self) -> None:
        f, a = self.f, self.args
        self.doubts, found = [f.variable(self.type) for _ in range(WINDOWS)], f.variable("i64", ZERO)
        nowhere = f.variable(self.type)
        with f.loop(0, a["rows"]) as row, f.loop(0, a["columns"]) as column:
            tile = f.add(f.mul(row, a["columns"]), column)
            targets = self._targets(row, column)
            for doubt in self.doubts:
                f.store(f.const(0, self.type), doubt)
            with f.loop(0, a["features"], self.count) as feature:
                self._vector(tile, feature, targets, nowhere)
            for window, doubt in enumerate(self.doubts):
                broken = any_nan(f, f.load(doubt, self.type))
                f.store(broken, f.at(a["broken"], "i64", f.add(f.mul(tile, i64(WINDOWS)), i64(window))))
                f.store(f.binary("or", f.load(found, "i64"), broken), found)
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
        for value, doubt, (exists, target) in zip(results, self.doubts, targets):
            # zero times infinity or NaN is NaN, which stays
            f.store(f.add(f.mul(value, f.const(0, self.type)), f.load(doubt, self.type)), doubt)
            value = self._finished(value, feature)
            f.store(value, f.select(exists, f.at(target, self.kind, feature), nowhere))

    def _finished(self, value: V, feature: V) -> V:
        f = self.f
        if self.bias:
            value = f.add(value, f.load(f.at(self.args["bias"], self.kind, feature), self.type))
        return rectify(f, value) if self.relu else value
