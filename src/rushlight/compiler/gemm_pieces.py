"""The second half of a product that was split along k: adds the pieces in order and finishes the result."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from ..ir.dtypes import DType
from .gemm_element import finish, i64, memory_type, store_lanes, sum_type
from .kernel import Kernel
from .text import Module, scalar_bytes

PARAMETERS = ("pieces", "m", "n", "c_row", "c_column", "bias_row", "bias_column")


@dataclass(frozen=True)
class Pieces:
    """The structure: element type of c and the bias, what is done to the sum."""

    dtype: DType
    bias: bool
    relu: bool


@functools.cache
def pieces_kernel(structure: Pieces) -> Kernel:
    """Buffers pieces [pieces, m, n], c[, bias]; parameters `PARAMETERS`, n in real numbers, strides in bytes.

    The range counts rows. Products are far larger than their results here, so that plain loops will do.
    """
    module, s = Module(), structure
    f = module.kernel("add_pieces")
    p = {name: f.param(i) for i, name in enumerate(PARAMETERS)}
    type = sum_type(s.dtype)
    distance = f.mul(f.mul(p["m"], p["n"]), i64(scalar_bytes(type)))
    parts = 2 if s.dtype.is_complex else 1
    with f.loop(f.begin, f.end) as i, f.loop(0, p["n"]) as j:
        pointer = f.at(f.buffer(0), type, f.add(f.mul(i, p["n"]), j))
        total = f.variable(type)
        f.store(f.const(0, type), total)
        with f.loop(0, p["pieces"]) as piece:
            f.store(f.add(f.load(total, type), f.load(f.offset(pointer, f.mul(piece, distance)), type)), total)
        column, part = f.binary("sdiv", j, i64(parts)), f.binary("srem", j, i64(parts))
        places = []
        for number, name in enumerate(["c"] + ["bias"] * s.bias):
            place = f.add(f.mul(i, p[name + "_row"]), f.mul(column, p[name + "_column"]))
            places.append(f.at(f.offset(f.buffer(1 + number), place), memory_type(s.dtype), part))
        value = finish(f, f.load(total, type), places[1] if s.bias else None, s.dtype.to_real(), s.relu)
        store_lanes(f, value, places[0], s.dtype.to_real(), 1)
    return Kernel("add_pieces", str(module))
