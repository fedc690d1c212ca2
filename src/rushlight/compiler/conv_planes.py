"""Packing planes of an image with their padding: a vector of channels for each position, [row][column][channel]."""

from __future__ import annotations

from ..ir.dtypes import DType
from .conv_window import ONE, ZERO, i64, named_params, quotient_up
from .gemm_element import load_lanes, memory_type
from .target import host
from .text import Function, Module, V, vector

PLANES = ["height", "width", "image_n", "image_c", "image_1", "image_2", "spread1", "spread2"]
ARGUMENTS = (
    ("ptr", "image"),  # the first channel at position (0, 0)
    ("i64", "channels"),  # at most a vector
    ("i64", "top"),  # the position of the first packed row; every `spread1`-th is one of the image, the others are zero
    ("i64", "rows"),
    ("i64", "left"),
    ("i64", "columns"),
    ("ptr", "target"),
    ("ptr", "params"),  # `PLANES`
)


def emit_pack_planes(module: Module, dtype: DType, by_rows: bool, name: str = "pack_planes") -> Function:
    """Define `pack_planes(*ARGUMENTS)`; `by_rows`: channels, not columns, are contiguous in the image."""
    f = module.function(name, list(ARGUMENTS), linkage="internal")
    _PlaneWriter(f, dtype, by_rows).emit()
    return f


class _PlaneWriter:
    def __init__(self, f: Function, dtype: DType, by_rows: bool):
        self.f, self.dtype, self.by_rows = f, dtype, by_rows
        self.image, self.channels, self.top, self.rows, self.left, self.columns, self.target, params = f.args
        self.p = named_params(f, PLANES, params)
        self.lanes = host().lanes(dtype.itemsize)
        self.type = memory_type(dtype)

    def emit(self) -> None:
        f, p = self.f, self.p
        # columns of the image that are packed: left <= j * spread2 < left + columns
        first = quotient_up(f, f.intrinsic("llvm.smax", self.left, ZERO), p["spread2"])
        end = f.intrinsic("llvm.smax", f.add(self.left, self.columns), ZERO)
        last = f.intrinsic("llvm.smax", f.minimum(quotient_up(f, end, p["spread2"]), p["width"]), first)
        begin = f.minimum(f.sub(f.mul(first, p["spread2"]), self.left), self.columns)
        past = f.add(begin, f.mul(f.sub(last, first), p["spread2"]))
        dense = f.binary(
            "and", *(f.compare("eq", a, b) for a, b in ((p["spread2"], ONE), (self.channels, i64(self.lanes))))
        )
        with f.loop(0, self.rows) as row:
            position = f.add(self.top, row)
            line = self.place(self.target, f.mul(row, self.columns))
            number = f.binary("sdiv", position, p["spread1"])
            exists = f.compare("ult", number, p["height"])
            whole = f.compare("eq", f.mul(number, p["spread1"]), position)
            with f.branch(
                f.binary("and", exists, f.binary("and", whole, f.compare("sge", position, ZERO)))
            ) as otherwise:
                with f.branch(dense) as gaps:
                    self._clear(line, ZERO, begin)
                    self._clear(line, past, self.columns)
                    gaps()
                    self._clear(line, ZERO, self.columns)
                source = f.add(f.mul(number, p["image_1"]), f.mul(first, p["image_2"]))
                self._copy(f.at(self.image, self.type, source), f.sub(last, first), self.place(line, begin))
                otherwise()
                self._clear(line, ZERO, self.columns)

    def place(self, pointer: V, position: V) -> V:
        return self.f.at(pointer, self.type, self.f.mul(position, i64(self.lanes)))

    def _clear(self, line: V, begin: V, end: V) -> None:
        zero = V("zeroinitializer", vector(self.type, self.lanes))
        with self.f.loop(begin, end) as column:
            self.f.store(zero, self.place(line, column))

    def _copy(self, source: V, count: V, target: V) -> None:
        """`count` neighbouring positions of a row, `spread2` apart in the target."""
        f, p, size = self.f, self.p, i64(self.dtype.itemsize)
        if not self.by_rows:
            row = f.mul(f.mul(p["spread2"], i64(self.lanes)), size)
            f.call("transpose", "void", source, f.mul(p["image_c"], size), self.channels, count, target, row)
            return
        with f.branch(f.compare("eq", self.channels, i64(self.lanes))) as otherwise:
            self._copy_pixels(source, count, target, None)
            otherwise()
            self._copy_pixels(source, count, target, self.channels)

    def _copy_pixels(self, source: V, count: V, target: V, channels: V | None) -> None:
        f, p = self.f, self.p
        with f.loop(0, count) as j:
            pointer = f.at(source, self.type, f.mul(j, p["image_2"]))
            value = load_lanes(f, pointer, self.dtype, self.lanes, channels)
            f.store(value, self.place(target, f.mul(j, p["spread2"])))
