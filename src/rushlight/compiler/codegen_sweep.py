"""Reductions of columns of tall matrices: a few rows at a time across all columns, whose states lie in scratch memory.

Going down one block of columns after the other would touch a new page for every few bytes; sweeping reads whole rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ir.sizes import hint
from .codegen_fold import Accumulator
from .codegen_pass import CHAIN, Block, PassWriter
from .codegen_scopes import i64
from .expressions import Expr
from .nest import Nest
from .text import V, element, vector

if TYPE_CHECKING:
    from .codegen import KernelWriter

WIDE = 256  # columns from which on rows are swept


def can_sweep(nest: Nest) -> bool:
    """Whether a nest does nothing but reduce many rows to one, so wide that a block of it would be scattered."""
    if not nest.vertical or len(nest.inner) != 1 or len(nest.passes) != 1 or nest.passes[0].stores:
        return False
    return hint(nest.inner[0].size) >= 2 * CHAIN and hint(nest.vector.size) >= WIDE


class SweepWriter:
    def __init__(self, kernel: KernelWriter, low: V, high: V):
        self.kernel, self.f, self.values, self.nest = kernel, kernel.f, kernel.values, kernel.nest
        self.low, self.high = low, high
        self.current, self.needed = self.nest.passes[0], kernel.needed[0]
        self.begins: dict[tuple, V] = {}

    def write(self) -> None:
        f = self.f
        (dim,) = self.nest.inner
        first, last = i64(0), self.values.size(dim)
        if self.nest.cluster.parts is not None:
            first, last = self.kernel.part_bounds(dim)
        self.each_block(lambda one, block: self.save(one, block, merge=False))
        with f.loop(first, last, CHAIN) as start:
            end = f.minimum(f.add(start, i64(CHAIN)), last)
            self.each_block(lambda one, block: self.fold(one, block, start, end))
        self.each_block(self.finish)

    def each_block(self, write) -> None:
        """Run over all columns; `write(pass, block)` writes what is done with a block of them."""
        kernel, values = self.kernel, self.values
        for block, index, mask in kernel.vector_loop(kernel.plan, self.low, self.high):
            with kernel.at_vectors(block, index, mask), values.inside(self.nest.vector, index):
                write(PassWriter(kernel, self.current, self.needed, block, self.low, self.high), block)

    def fold(self, one: PassWriter, block: Block, start: V, end: V) -> None:
        values, (dim,) = self.values, self.nest.inner
        for _ in self.kernel.copies(block):
            values.hoist(self.needed)
        one.splat_invariants(block)
        with self.f.loop(start, end) as row, values.inside(dim, row):
            one.body(block)
        self.save(one, block, merge=True)

    def states(self, one: PassWriter, block: Block):
        """(reduction, accumulator, copy) of all columns of a block."""
        for expr in self.current.reduces:
            for copy in self.kernel.copies(block):
                yield expr, one.accumulators[expr, "copies"][copy], copy

    def save(self, one: PassWriter, block: Block, merge: bool) -> None:
        """Put the states of a block to memory, joined with what is there."""
        for expr, accumulator, copy in self.states(one, block):
            state = accumulator.total()
            if merge:
                state = accumulator.fold.merge(self.load(expr, accumulator, copy), state)
            for part, (place, type) in zip(state, self.memory(expr, accumulator, copy)):
                self.f.store(self.f.cast("zext", part, type) if element(part.type) == "i1" else part, place)

    def finish(self, one: PassWriter, block: Block) -> None:
        for expr, accumulator, copy in self.states(one, block):
            state = self.load(expr, accumulator, copy)
            self.values.define(expr, accumulator.fold.result(state, block.lanes))
        self.kernel.store_results(block)

    def load(self, expr: Expr, accumulator: Accumulator, copy: int) -> tuple[V, ...]:
        f, parts = self.f, []
        identity = accumulator.fold.identity(accumulator.lanes)
        for (place, type), like in zip(self.memory(expr, accumulator, copy), identity):
            part = f.load(place, type)
            parts.append(f.compare("ne", part, f.const(0, type)) if element(like.type) == "i1" else part)
        return tuple(parts)

    def memory(self, expr: Expr, accumulator: Accumulator, copy: int) -> list[tuple[V, str]]:
        """Where each part of the state of the current columns lies, and its type there."""
        f, result = self.f, []
        column = f.sub(self.values.vector_index[copy], self.low)
        for number, part in enumerate(accumulator.fold.identity(accumulator.lanes)):
            type = "i8" if element(part.type) == "i1" else element(part.type)
            result.append((f.at(self.begin(expr, number, type), type, column), vector(type, accumulator.lanes)))
        return result

    def begin(self, expr: Expr, number: int, type: str) -> V:
        """Where a part of the states of all columns begins."""
        if (expr, number) not in self.begins:
            values, offset = self.values, self.values.param(self.kernel.state_at(expr, number, type))
            self.begins[expr, number] = values.at_entry(f"getelementptr i8, {values.scratch()}, {offset}", "ptr")
        return self.begins[expr, number]
