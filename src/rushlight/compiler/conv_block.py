"""What the kernels that multiply blocks have in common: shares of the range, and blocks in scratch memory."""

from __future__ import annotations

from contextlib import contextmanager

from ..ir.dtypes import DType
from .conv_window import divide, i64, named_params
from .elementwise import memory_type
from .target import host
from .text import Function, V, vector

SPARE = 16  # elements behind a row of a block, which packing may write and the tile may read


def share_grain(units, least: int, products):
    """The fewest tasks of a piece of the range, of `products` multiply-adds each: enough to pay for its start, and
    `least` units with the same packed block, or all there are, to pay for packing it."""
    return units // ((units + least - 1) // least or 1) + 2**20 // (products + 1)


class BlockWriter:
    """Emits into a kernel whose parameters are named and whose last buffer is scratch memory.

    `dtype` is that of the products and of everything in scratch.
    """

    def __init__(self, f: Function, names: list[str], dtype: DType, buffers: int):
        self.f, self.dtype = f, dtype
        self.p = named_params(f, names, f.params)
        self.buffers = [f.buffer(i) for i in range(buffers)]
        self.scratch = f.buffer(buffers)

    def element(self, pointer: V, index: V) -> V:
        return self.f.at(pointer, memory_type(self.dtype), index)

    def bytes(self, count: V) -> V:
        return self.f.mul(count, i64(self.dtype.itemsize))

    def take(self, rows: V, pitch: V) -> V:
        """The next block of scratch memory."""
        block = self.scratch
        self.scratch = self.element(block, self.f.mul(rows, pitch))
        return block

    @contextmanager
    def shares(self, units: V, most: int | V | None = None):
        """Cut this call's tasks, counted as (outer, unit), into shares with one outer index and up to `most` units;
        yields the outer index, the first unit and the number of units."""
        f = self.f
        task = f.variable("i64", f.begin)
        with f.repeat(lambda: f.compare("slt", f.load(task, "i64"), f.end)):
            now = f.load(task, "i64")
            outer, unit = divide(f, now, units)
            count = f.minimum(f.sub(units, unit), f.sub(f.end, now))
            if most is not None:
                count = f.minimum(count, i64(most) if type(most) is int else most)
            yield outer, unit, count
            f.store(f.add(now, count), task)

    def multiply(self, a, b, depth: V, c, rows: V, columns: V, flags: V) -> None:
        """C += A B, see `conv_tile`: A is (pointer, row, step), B (pointer, step), C (pointer, row), in elements."""
        sides = [side for matrix in (a, b) for side in (matrix[0], *map(self.bytes, matrix[1:]))]
        self.f.call("multiply", "void", *sides, depth, c[0], self.bytes(c[1]), rows, columns, flags)

    def transpose(self, source, rows: V, columns: V, target) -> None:
        """See `conv_transpose`: source and target are (pointer, row), in elements."""
        f = self.f
        f.call("transpose", "void", source[0], self.bytes(source[1]), rows, columns, target[0], self.bytes(target[1]))

    def clear(self, pointer: V, count: V) -> None:
        """Set the first elements of a block in scratch to zero, up to a whole vector."""
        lanes = host().lanes(self.dtype.itemsize)
        with self.f.loop(0, count, lanes) as i:
            self.f.store(V("zeroinitializer", vector(memory_type(self.dtype), lanes)), self.element(pointer, i))
