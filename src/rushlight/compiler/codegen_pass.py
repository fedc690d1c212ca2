"""Writes one pass over the inner loops of a kernel: folds, stores, values kept for later passes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .affine import Dim
from .codegen_fold import Accumulator, accumulator, fold_of
from .codegen_scopes import i64
from .expressions import Access, Expr, reduction_of
from .nest import Pass
from .text import V

if TYPE_CHECKING:
    from .codegen import KernelWriter

CHAIN = 16  # float32 additions to one partial sum before it is moved to float64: no worse than pairwise


@dataclass(frozen=True, slots=True)
class Block:
    """A loop over vectors: `copies` of the body, each of `lanes` lanes; `masked` ones also do what is left over."""

    lanes: int
    copies: int
    masked: bool = False


class PassWriter:
    """One pass: opens the inner loops, folds, stores."""

    def __init__(self, kernel: KernelWriter, current: Pass, needed: list[Expr], block: Block | None, low: V, high: V):
        self.kernel, self.f, self.values, self.nest = kernel, kernel.f, kernel.values, kernel.nest
        self.current, self.needed, self.block, self.low, self.high = current, needed, block, low, high
        self.plan = [block] if block else kernel.plan
        self.accumulators: dict[tuple, list[Accumulator]] = {}
        self.cascade = False
        for expr in current.reduces:
            self.prepare(expr)
        self.counter = None
        if self.cascade and len(self.nest.inner) > 1:
            self.counter = self.f.variable("i64", i64(0))

    def prepare(self, expr: Expr) -> None:
        """Accumulators: in an outer vector loop one per copy, else one for vectors and one for single elements."""
        source = expr.args[0].dtype
        fold = fold_of(self.f, reduction_of(expr.data), source, expr.dtype)
        if self.block:
            each = [accumulator(fold, self.block.lanes, 1) for _ in range(self.block.copies)]
            self.accumulators[expr, "copies"] = each
        else:
            for lanes in {b.lanes: None for b in self.plan}:
                copies = max(b.copies for b in self.plan if b.lanes == lanes)
                self.accumulators[expr, lanes] = [accumulator(fold, lanes, copies)]
        self.cascade |= reduction_of(expr.data) == "reduce_sum" and source.kind in "fc"

    def write(self) -> None:
        values, before = self.values, self.values.kept
        values.kept = self.current.kept
        if self.nest.inner:
            self.loops(self.nest.inner)
        else:
            self.innermost_of_nothing()
        values.kept = before
        for expr in self.current.reduces:
            self.complete(expr)

    def innermost_of_nothing(self) -> None:
        """A kernel without loops: one element."""
        self.values.vector_index = [i64(0)]
        with self.values.vectors(1):
            self.body(Block(1, 1))

    def bounds(self, dim: Dim) -> tuple[V, V]:
        """The range of an inner loop: all of it, or one part of it in a reduction that is split."""
        if self.nest.is_map and not self.nest.vertical:
            return self.low, self.high
        if self.nest.cluster.parts is None or dim is not self.nest.inner[0]:
            return i64(0), self.values.size(dim)
        return self.kernel.part_bounds(dim)

    def loops(self, dims: list[Dim]) -> None:
        """Open the inner loops and write the body in the last one."""
        f, values = self.f, self.values
        low, high = self.bounds(dims[0])
        if len(dims) > 1:
            with f.loop(low, high) as index, values.inside(dims[0], index):
                self.hoist()
                self.loops(dims[1:])
        elif self.block:
            self.down(dims[0], low, high)
        else:
            self.across(dims[0], low, high)

    def hoist(self) -> None:
        for _ in self.kernel.copies(self.block) if self.block else (0,):
            self.values.hoist(self.needed, self.accesses())

    def accesses(self) -> list[Access]:
        slots = [s for e in (*self.current.keep, *self.current.kept) for s, _ in self.values.slots[e]]
        return [*(a for _, a in self.current.stores), *slots]

    def down(self, dim: Dim, low: V, high: V) -> None:
        """The last inner loop, with vectors along an outer one."""
        f, values = self.f, self.values
        self.splat_invariants(self.block)
        if not self.cascade:
            with f.loop(low, high) as index, values.inside(dim, index):
                self.body(self.block)
            return
        with f.loop(low, high, CHAIN) as start:
            end = f.minimum(f.add(start, i64(CHAIN)), high)
            with f.loop(start, end) as index, values.inside(dim, index):
                self.body(self.block)
            self.flush(f.sub(end, start))

    def across(self, dim: Dim, low: V, high: V) -> None:
        """The last inner loop, cut into vectors."""
        f, main = self.f, self.plan[0]
        self.splat_invariants(main)
        whole = f.add(low, f.binary("and", f.sub(high, low), i64(-main.lanes * main.copies)))
        streams = self.kernel.streams(self.current, self.needed)
        if streams is None:
            self.main_loop(dim, low, whole)
        else:
            with f.branch(streams) as other:
                self.values.streaming = True
                self.main_loop(dim, low, whole)
                self.values.streaming = False
                other()
                self.main_loop(dim, low, whole)
        for block, index, mask in self.kernel.vector_loop(self.plan[1:], whole, high):
            self.vector_body(block, dim, index, mask)
        if self.counter is not None:
            self.flush(i64(1))

    def main_loop(self, dim: Dim, low: V, whole: V) -> None:
        """The unrolled vectors; sums are moved to float64 after every few."""
        f, main = self.f, self.plan[0]
        step = main.lanes * main.copies
        if not self.cascade or main.lanes == 1:
            with f.loop(low, whole, step) as index:
                self.vector_body(main, dim, index, None)
            return
        length = i64(step * CHAIN)
        with f.loop(low, whole, length) as start:
            end = f.minimum(f.add(start, length), whole)
            with f.loop(start, end, step) as index:
                self.vector_body(main, dim, index, None)
            self.flush(f.binary("udiv", f.sub(end, start), i64(step)))

    def vector_body(self, block: Block, dim: Dim, index: V, mask: V | None) -> None:
        with self.kernel.at_vectors(block, index, mask), self.values.inside(dim, index):
            self.body(block)

    def splat_invariants(self, block: Block) -> None:
        """Widen, before the loop, what does not change in it."""
        values, vector_dim = self.values, self.nest.vector
        users = [e.args for e in self.needed if e.kind == "map" and vector_dim in e.dims]
        users += [e.args for e in self.current.reduces] + [[e for e, _ in self.current.stores]]
        with values.vectors(block.lanes):
            for expr in dict.fromkeys(e for args in users for e in args):
                if vector_dim not in expr.dims and values.is_ready(expr):
                    values.wide(expr)

    def flush(self, added: V) -> None:
        """Move partial sums to where they are exact: now, or if inner loops are short, after enough of them."""
        if self.counter is None:
            self.flush_all()
            return
        f = self.f
        count = f.add(f.load(self.counter, "i64"), added)
        f.store(count, self.counter)
        with f.when(f.compare("sge", count, i64(CHAIN))):
            self.flush_all()
            f.store(i64(0), self.counter)

    def flush_all(self) -> None:
        for accumulators in self.accumulators.values():
            for one in accumulators:
                one.flush()

    def body(self, block: Block) -> None:
        """One step of the innermost loop: all values first, then stores, for each copy."""
        values = self.values
        with values.scope():
            for copy in self.kernel.copies(block):
                found = [values.wide(e) for e, _ in self.current.stores]
                for expr in self.current.reduces:
                    self.fold(expr, copy, block)
                for expr in self.current.keep:
                    values.write_slot(expr)
                for value, (_, access) in zip(found, self.current.stores):
                    values.store(value, access)

    def fold(self, expr: Expr, copy: int, block: Block) -> None:
        values = self.values
        x, *places = [values.wide(a) for a in expr.args]
        place = places[0] if places else None
        mask = None if self.block else values.mask
        if self.block:
            self.accumulators[expr, "copies"][copy].add(0, x, place, mask)
        else:
            self.accumulators[expr, block.lanes][0].add(copy, x, place, mask)

    def complete(self, expr: Expr) -> None:
        """Make the result of a reduction known."""
        values = self.values
        if self.block:
            for copy in self.kernel.copies(self.block):
                one = self.accumulators[expr, "copies"][copy]
                values.define(expr, one.fold.result(one.total(), self.block.lanes))
            return
        found = [one for (owner, _), (one,) in self.accumulators.items() if owner is expr]
        fold = found[0].fold
        states = [fold.across(one.total(), one.lanes) for one in found]
        state = states[0] if len(states) == 1 else fold.merge(*states)
        values.define(expr, fold.result(state, 1))


def closure(roots, stop=frozenset()) -> list[Expr]:
    """All that is needed for some expressions, operands first; not beyond what is in `stop`."""
    order: dict[Expr, None] = {}

    def visit(expr: Expr) -> None:
        if expr in order:
            return
        if expr.kind != "reduce" and expr not in stop:
            for arg in expr.args:
                visit(arg)
        order[expr] = None

    for root in roots:
        visit(root)
    return list(order)


def needed_by(current: Pass) -> list[Expr]:
    roots = [e for e, _ in current.stores] + [a for e in current.reduces for a in e.args] + current.keep
    return closure(roots, current.kept)
