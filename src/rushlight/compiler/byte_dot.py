"""Products of bytes: `byte_dot(a, w)`, uint8[M, K] with panels of int8, summed in 32 bits.

Threads share blocks of 6 rows by 4 panels, whose sums stay in registers while the depth is run through, four bytes at a
time: one instruction for 64 products where the processor has AVX-512 VNNI. Elsewhere bytes are widened first.
"""

from __future__ import annotations

import functools

from ..ir.primitives.byte_dot import DEPTH, LANES
from .index_copy import copy
from .index_layout import Parameters, i64, is_number
from .kernel import Kernel
from .segment import dense, is_contiguous
from .target import host
from .templates import Array, Context, template
from .text import Function, Module, V, vector

ROWS, PANELS = 6, 4  # of a block: 24 sums, 4 vectors of weights and one of the rows' bytes fit in 32 registers
STEPS = 1024  # steps through the depth that are worth a thread
SUMS, BYTES = vector("i32", LANES), vector("i8", LANES * DEPTH)


def has_instruction() -> bool:
    """Whether the processor multiplies bytes and adds four products in one instruction, 16 sums wide."""
    return host().has("avx512vnni") and host().vector_bytes == 64


@template("byte_dot")
def lower_byte_dot(context: Context, node, operands: list[Array], results: list[Array]) -> None:
    (result,) = results
    if any(is_number(n, 0) for n in result.shape):
        return
    a, w = (dense(context, operand, first) for operand, first in zip(operands, (1, 0)))
    plain = is_contiguous(result)
    target = result if plain else context.temp(result.shape, result.dtype)
    (rows, _), (panels, depth) = a.shape, w.shape[:2]
    blocks = ((rows + ROWS - 1) // ROWS) * ((panels + PANELS - 1) // PANELS)
    params = [rows, a.strides[0], panels, depth]
    context.launch(byte_dot_kernel(has_instruction()), [a, w, target], params, blocks, STEPS // (depth + 1) + 1)
    if not plain:
        copy(context, target, result)


@functools.cache
def byte_dot_kernel(instruction: bool) -> Kernel:
    """Buffers a, w, result; params rows, bytes between rows of a, panels, depth / 4; range blocks, rows innermost."""
    module = Module()
    f = module.kernel("byte_dot")
    numbers = Parameters(f).numbers(4)
    rows = numbers[0]
    down = f.binary("udiv", f.add(rows, i64(ROWS - 1)), i64(ROWS))
    product = Product(f, [f.buffer(i) for i in range(3)], numbers, instruction)
    with f.loop(f.begin, f.end) as block:
        row = f.mul(f.binary("urem", block, down), i64(ROWS))
        panel = f.mul(f.binary("udiv", block, down), i64(PANELS))
        with f.branch(f.compare("sle", f.add(row, i64(ROWS)), rows)) as other:
            product.across(row, ROWS, panel)
            other()
            with f.loop(row, rows) as single:
                product.across(single, 1, panel)
    return Kernel(f.name, str(module))


class Product:
    """The code that computes blocks of the result."""

    def __init__(self, f: Function, buffers: list[V], numbers: list[V], instruction: bool):
        self.f, self.instruction = f, instruction
        self.a, self.w, self.result = buffers
        self.rows, self.stride, self.panels, self.depth = numbers

    def across(self, row: V, rows: int, panel: V) -> None:
        """The panels of a block for some rows: all together if there are as many, else one by one."""
        f, end = self.f, self.f.add(panel, i64(PANELS))
        with f.branch(f.compare("sle", end, self.panels)) as other:
            self.block(row, rows, panel, PANELS)
            other()
            with f.loop(panel, self.panels) as single:
                self.block(row, rows, single, 1)

    def block(self, row: V, rows: int, panel: V, panels: int) -> None:
        f = self.f
        zero = f.const(0, SUMS)
        sums = [[f.variable(SUMS, zero) for _ in range(panels)] for _ in range(rows)]
        lines = [f.at(self.a, "i8", f.mul(f.add(row, i64(r)), self.stride)) for r in range(rows)]
        columns = [f.at(self.w, BYTES, f.mul(f.add(panel, i64(p)), self.depth)) for p in range(panels)]
        with f.loop(0, self.depth) as step:
            weights = [f.load(f.at(column, BYTES, step), BYTES) for column in columns]
            for line, line_sums in zip(lines, sums):
                four = f.splat(f.load(f.at(line, "i32", step), "i32", 1), LANES)
                for weight, total in zip(weights, line_sums):
                    f.store(self.add(f.load(total, SUMS), four, weight), total)
        across = f.mul(self.panels, i64(LANES))
        for r in range(rows):
            target = f.at(self.result, "i32", f.mul(f.add(row, i64(r)), across))
            for p in range(panels):
                place = f.at(target, SUMS, f.add(panel, i64(p)))
                f.store(f.load(sums[r][p], SUMS), place)

    def add(self, total: V, four: V, weight: V) -> V:
        """total + the products of four unsigned bytes, the same in all lanes, with four signed ones of each lane."""
        f = self.f
        if self.instruction:
            return f.call("llvm.x86.avx512.vpdpbusd.512", SUMS, total, four, f.cast("bitcast", weight, SUMS))
        for place in range(DEPTH):
            byte = f.binary("and", f.binary("lshr", four, f.const(8 * place, SUMS)), f.const(255, SUMS))
            lanes = f.shuffle(weight, weight, [DEPTH * lane + place for lane in range(LANES)])
            total = f.add(total, f.mul(byte, f.cast("sext", lanes, SUMS)))
        return total
