"""Packing planes of an image with their padding, as [vector of channels][row][column][channel of the vector]."""

from __future__ import annotations

from ..ir.dtypes import DType
from .conv_window import ONE, ZERO, i64, named_params, quotient_up
from .gemm_element import load_lanes, memory_type
from .target import host
from .text import Function, Module, V, vector

PLANES = ["height", "width", "image_n", "image_c", "image_1", "image_2", "spread1", "spread2"]
ARGUMENTS = (
    ("ptr", "image"),  # the first channel at position (0, 0)
    ("i64", "channels"),
    ("i64", "top"),  # the position of the first packed row
    ("i64", "rows"),
    ("i64", "left"),
    ("i64", "columns"),
    ("ptr", "target"),
    ("ptr", "exists"),  # for each row an i64: whether it is one of the image; others are all zero, and not written
    ("ptr", "params"),  # `PLANES`
)


def emit_pack_planes(module: Module, dtype: DType, by_rows: bool, name: str = "pack_planes") -> Function:
    """Define `pack_planes(*ARGUMENTS)`. Positions that are multiples of the spread are those of the image.

    `by_rows`: channels, not columns, are contiguous in the image.
    """
    f = module.function(name, list(ARGUMENTS), linkage="internal")
    _PlaneWriter(f, dtype, by_rows).emit()
    return f


class _PlaneWriter:
    def __init__(self, f: Function, dtype: DType, by_rows: bool):
        self.f, self.dtype, self.by_rows = f, dtype, by_rows
        self.image, self.channels, self.top, self.rows, self.left, self.columns, self.target, self.exists, params = (
            f.args
        )
        self.p = named_params(f, PLANES, params)
        self.lanes, self.type = host().lanes(dtype.itemsize), memory_type(dtype)
        self.vectors = quotient_up(f, self.channels, i64(self.lanes))

    def emit(self) -> None:
        f, p = self.f, self.p
        self._columns()
        with f.loop(0, self.rows) as row:
            position = f.add(self.top, row)
            number = f.binary("sdiv", position, p["spread1"])
            # unsigned: rows above the image are huge
            inside = f.compare("ult", position, f.mul(p["height"], p["spread1"]))
            exists = f.binary("and", inside, f.compare("eq", f.mul(number, p["spread1"]), position))
            f.store(f.cast("zext", exists, "i64"), f.at(self.exists, "i64", row))
            with f.when(exists):
                line = self.place(self.target, f.mul(row, self.columns))
                with f.loop(0, self.vectors) as number_of_vector:
                    self._clear(self._plane(line, number_of_vector))
                source = f.add(f.mul(number, p["image_1"]), f.mul(self.first, p["image_2"]))
                self._copy(f.at(self.image, self.type, source), self.place(line, self.begin))

    def _columns(self) -> None:
        """Columns [first, first + count) of the image are packed, from `begin` on."""
        f, p = self.f, self.p
        self.first = quotient_up(f, f.intrinsic("llvm.smax", self.left, ZERO), p["spread2"])
        end = f.intrinsic("llvm.smax", f.add(self.left, self.columns), ZERO)
        last = f.minimum(quotient_up(f, end, p["spread2"]), p["width"])
        self.count = f.intrinsic("llvm.smax", f.sub(last, self.first), ZERO)
        self.begin = f.minimum(f.sub(f.mul(self.first, p["spread2"]), self.left), self.columns)

    def place(self, pointer: V, position: V) -> V:
        return self.f.at(pointer, self.type, self.f.mul(position, i64(self.lanes)))

    def _plane(self, line: V, number: V) -> V:
        """The same line of another vector of channels."""
        return self.place(line, self.f.mul(number, self.f.mul(self.rows, self.columns)))

    def _clear(self, line: V) -> None:
        """Zero what `_copy` leaves: the ends of the row, or gaps as well."""
        f, p = self.f, self.p
        gaps = f.compare("ne", p["spread2"], ONE)
        if not self.by_rows:
            # transposing leaves the lanes behind the last channel as they are
            gaps = f.binary("or", gaps, f.compare("ne", f.binary("urem", self.channels, i64(self.lanes)), ZERO))
        start = f.select(gaps, ZERO, f.add(self.begin, self.count))
        zero = V("zeroinitializer", vector(self.type, self.lanes))
        for begin, end in ((ZERO, self.begin), (start, self.columns)):
            with f.loop(begin, end) as column:
                f.store(zero, self.place(line, column))

    def _copy(self, source: V, target: V) -> None:
        f, p, size = self.f, self.p, self.dtype.itemsize
        if self.by_rows:
            with f.loop(0, self.count) as j:
                pixel = f.at(source, self.type, f.mul(j, p["image_2"]))
                self._copy_pixel(pixel, self.place(target, f.mul(j, p["spread2"])))
            return
        with f.loop(0, self.vectors) as number:
            channel = f.mul(number, i64(self.lanes))
            channels = f.minimum(f.sub(self.channels, channel), i64(self.lanes))
            start = f.at(source, self.type, f.mul(channel, p["image_c"]))
            lines = f.mul(p["image_c"], i64(size)), channels, self.count
            row = f.mul(p["spread2"], i64(self.lanes * size))
            f.call("transpose", "void", start, *lines, self._plane(target, number), row)

    def _copy_pixel(self, pixel: V, target: V) -> None:
        f = self.f
        with f.loop(0, self.vectors) as number:
            channel = f.mul(number, i64(self.lanes))
            pointer, left = f.at(pixel, self.type, channel), f.sub(self.channels, channel)
            with f.branch(f.compare("sge", left, i64(self.lanes))) as otherwise:
                f.store(load_lanes(f, pointer, self.dtype, self.lanes), self._plane(target, number))
                otherwise()
                f.store(load_lanes(f, pointer, self.dtype, self.lanes, left), self._plane(target, number))
