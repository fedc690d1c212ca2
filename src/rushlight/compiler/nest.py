"""The loop nest of a kernel: which loops are parallel, folded, cut into vectors, and in what passes."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..ir.sizes import hint, product
from .affine import Dim
from .cost import EXPENSIVE, weight
from .elementwise import register_type
from .expressions import Access, Body, Expr
from .target import host
from .templates import Array
from .text import scalar_bytes

TILE = 64  # rows and columns of a tile: one of float32 takes half of a small first-level cache
REPEATED = 8  # simple instructions for one vector that are worth a loop inside of the vectors
SHORT_TILE = 8  # iterations below which a loop is not worth tiles


@dataclass(slots=True)
class Pass:
    """One run over the inner loops: reductions it completes, elements it stores, values it keeps for later passes."""

    reduces: list[Expr] = field(default_factory=list)
    stores: list[tuple[Expr, Access]] = field(default_factory=list)
    keep: list[Expr] = field(default_factory=list)
    kept: set[Expr] = field(default_factory=set)


class Nest:
    """Loops of a kernel in order.

    outer     loops around everything, outermost first
    inner     loops of each pass; for a map the last loop alone, or one that much does not depend on
    vertical  the last outer loop is cut into vectors; else the last inner one is
    passes    what each pass over the inner loops does
    results   stores of values that do not depend on the inner loops
    """

    def __init__(self, body: Body):
        self.body, self.cluster = body, body.cluster
        self.is_map = not self.cluster.reduced
        folded = self.cluster.folded()
        loops = self.cluster.loops()
        self.inner = [d for d in loops if d in folded]
        self.outer = [d for d in loops if d not in folded]
        self.order()
        self.vertical = False
        self.vertical = self.choose_vector()
        self.collapse()
        self.staged: dict[Expr, Access] = {}
        self.tile = self.choose_tile()
        self.body.find_dims(set(self.inner), self.reduced_along())
        self.lanes = self.vector_lanes()
        self.body.find_costs(set(self.inner), self.vector, self.lanes)
        self.passes, self.results = self.schedule()

    @property
    def vector(self) -> Dim | None:
        """The loop that is cut into vectors."""
        loops = self.outer if self.vertical else self.inner
        return loops[-1] if loops else None

    # -- order --------------------------------------------------------------------------------
    def order(self) -> None:
        """Sort loops so that the first store, or else the first load, walks memory forward."""
        stores = [a for _, a in self.body.stores]
        for loops in (self.outer, self.inner):
            walks = [a for a in (*stores, *self.body.loads()) if all(d in a.strides for d in loops)]
            if walks:
                loops.sort(key=lambda d: -abs(hint(walks[0].stride(d))))

    def choose_vector(self) -> bool:
        """Move the vector loop to the end of its list; returns whether that is the outer list."""
        if self.is_map:
            self.inner = self.outer
            best = self.most_unit(self.inner, stores_first=True)
            if best is not None:
                self.inner.remove(best[0])
                self.inner.append(best[0])
            self.outer, self.inner = self.inner[:-1], self.inner[-1:]
            return self.repeat_inside()
        down, across = self.most_unit(self.outer), self.most_unit(self.inner)
        vertical = down is not None and (across is None or down[1] > across[1])
        if not vertical and self.is_short():
            return True
        loops, best = (self.outer, down) if vertical else (self.inner, across)
        if best is not None:
            loops.remove(best[0])
            loops.append(best[0])
        return vertical

    def repeat_inside(self) -> bool:
        """Move the outer loop of a map inside of its vectors along which most would be computed again and again.

        What does not change along that loop is then computed before it. Returns whether there is such a loop.
        """
        if self.vector is None or hint(self.vector.size) < host().lanes(4):
            return False
        self.body.find_dims(set(), set())
        moving = [e for e in self.body.exprs if e.kind == "map" and self.vector in e.dims]
        costs = {d: sum(weight(e.name, e.data.inputs[0].dtype) for e in moving if d not in e.dims) for d in self.outer}
        best = max((d for d in reversed(costs) if hint(d.size) > 1), key=costs.get, default=None)
        if best is None or costs[best] < REPEATED:
            return False
        self.outer, self.inner = [*(d for d in self.outer if d is not best), self.vector], [best]
        return True

    def is_short(self) -> bool:
        """Whether rows are so short that vectors across many rows are better filled."""
        width = host().lanes(4)
        count = product(d.size for d in self.inner)
        if self.cluster.parts is not None or not self.outer or hint(count) >= width:
            return False
        return bool(self.outer[-1].size >= width and count < width)

    def most_unit(self, loops, stores_first: bool = False) -> tuple[Dim, int] | None:
        """The loop along which most accesses are contiguous, and how many are.

        What a row kernel accesses once per row hardly counts beside what it accesses all along.
        """
        best = None
        weigh = {id(a): 1 if self.is_map or a.strides.keys() & set(self.inner) else 0.01 for a in self.body.accesses()}
        for dim in reversed(loops):
            if dim is self.cluster.parts:
                continue
            stores = sum(weigh[id(a)] for _, a in self.body.stores if a.is_unit(dim))
            loads = sum(weigh[id(a)] for a in self.body.loads() if a.is_unit(dim))
            score = loads + (100 if stores_first else 1) * stores
            if score and (best is None or score > best[1]):
                best = dim, score
        return best

    def choose_tile(self) -> Dim | None:
        """The loop along which operands of a map are contiguous that lie across its vectors; they get tiles.

        It becomes the last outer loop, and such loads read their tile instead.
        """
        if not self.is_map or self.vertical or self.vector is None or hint(self.vector.size) < SHORT_TILE:
            return None
        loads = [e for e in self.body.exprs if e.kind == "load" and self.may_stage(e.data)]
        counts = {d: [e for e in loads if e.data.is_unit(d)] for d in self.outer if hint(d.size) >= SHORT_TILE}
        tile = max(counts, key=lambda d: len(counts[d]), default=None)
        if tile is None or not counts[tile]:
            return None
        self.outer.remove(tile)
        self.outer.append(tile)
        for expr in counts[tile]:
            self.staged[expr] = expr.data
            expr.data = Access(Array("tile", 0, (), (), expr.dtype), {tile: TILE, self.vector: 1})
        return tile

    def may_stage(self, access: Access) -> bool:
        across = self.vector in access.strides and not access.is_unit(self.vector)
        return across and access.array.dtype.itemsize <= 8

    # -- collapse -----------------------------------------------------------------------------
    def collapse(self) -> None:
        """Join neighbouring loops that all accesses walk as one."""
        self.outer, self.inner = self.collapsed(self.outer), self.collapsed(self.inner)
        if self.is_map and not self.vertical:
            joined = self.collapsed([*self.outer, *self.inner])
            self.outer, self.inner = joined[:-1], joined[-1:]

    def collapsed(self, loops: list[Dim]) -> list[Dim]:
        result: list[Dim] = []
        for dim in reversed(loops):
            if result and self.cluster.parts not in (dim, result[-1]) and self.joins(dim, result[-1]):
                result[-1] = self.join(dim, result[-1])
            else:
                result.append(dim)
        return result[::-1]

    def joins(self, outer: Dim, inner: Dim) -> bool:
        pairs = [(a.stride(outer), a.stride(inner) * inner.size) for a in self.body.accesses()]
        return all(hint(a) == hint(b) for a, b in pairs) and all(a == b for a, b in pairs)

    def join(self, outer: Dim, inner: Dim) -> Dim:
        joined = Dim(outer.size * inner.size)
        for access in self.body.accesses():
            stride = access.stride(inner)
            access.strides.pop(outer, None)
            access.strides.pop(inner, None)
            if hint(stride):
                access.strides[joined] = stride
        return joined

    def reduced_along(self) -> set[Dim]:
        """Loops whose iterations have reductions of their own, even of operands that do not depend on them."""
        along = {self.vector} if self.vertical else set()
        return along | {self.cluster.parts} if self.cluster.parts is not None else along

    # -- vectors ------------------------------------------------------------------------------
    def vector_lanes(self) -> int:
        """Lanes of a vector: as many as the widest register type has in one register."""
        dtypes = [e.dtype for e in self.body.exprs if self.vector in e.dims]
        dtypes += [a.array.dtype for _, a in self.body.stores if self.vector in a.strides]
        widest = max((scalar_bytes(register_type(dtype, 1)) for dtype in dtypes), default=1)
        if widest == 8 and any(e.dtype.kind == "f" and e.dtype.itemsize <= 4 for e in self.body.exprs):
            # a few wide values beside floats, such as indices, take two registers
            widest = 4
        return host().lanes(widest)

    # -- passes -------------------------------------------------------------------------------
    def schedule(self) -> tuple[list[Pass], list[tuple[Expr, Access]]]:
        inner = set(self.inner)
        reduces = [e for e in self.body.exprs if e.kind == "reduce"]
        count = max((e.stage for e in reduces), default=0)
        passes = [Pass() for _ in range(count)]
        for expr in reduces:
            passes[expr.stage - 1].reduces.append(expr)
        results, full = [], []
        for expr, access in self.body.stores:
            (full if self.is_map or access.strides.keys() & inner else results).append((expr, access))
        last = max((e.stage for e, _ in full), default=0)
        if full and last >= count:
            passes.append(Pass())
        for expr, access in full:
            late = self.overwrites_input(access)
            passes[-1 if late else expr.stage].stores.append((expr, access))
        self.keep_values(passes)
        return passes, results

    def overwrites_input(self, access: Access) -> bool:
        array = access.array
        graph = self.body.memory.graph
        return array.role == "output" and graph.aliases[array.index] is not None

    def updates(self, access: Access) -> bool:
        """Whether a store overwrites what the body loads."""
        alias = self.body.memory.graph.aliases[access.array.index]
        loads = [*self.body.loads(), *self.staged.values()]
        return alias is not None and any(a.array.role == "input" and a.array.index == alias for a in loads)

    def keep_values(self, passes: list[Pass]) -> None:
        """Have expensive values that two passes need kept by the first one."""
        inner, done = set(self.inner), {}
        for number, current in enumerate(passes):
            pending = [e for e, _ in current.stores] + [a for e in current.reduces for a in e.args]
            seen = set()
            while pending:
                expr = pending.pop()
                if expr in seen or expr.kind == "reduce":
                    continue
                seen.add(expr)
                if done.get(expr, number) < number and self.is_worth_keeping(expr, inner):
                    passes[done[expr]].keep.append(expr)
                    current.kept.add(expr)
                    continue
                done.setdefault(expr, number)
                pending += expr.args
        for current in passes:
            current.keep = list(dict.fromkeys(current.keep))

    def is_worth_keeping(self, expr: Expr, inner: set[Dim]) -> bool:
        return self.vector in expr.dims and bool(expr.dims & inner) and expr.cost >= EXPENSIVE
