"""Writes the kernel of a loop nest: parallel loops, vector blocks with their tails, passes over the inner loops."""

from __future__ import annotations

from contextlib import contextmanager

from ..ir.dtypes import DType, float32, float64, uint8
from ..ir.sizes import Sym, hint, product
from .affine import Dim
from .codegen_pass import Block, PassWriter, closure, needed_by
from .codegen_scopes import i64
from .codegen_sweep import SweepWriter, can_sweep
from .codegen_tile import Transposer
from .codegen_values import Values, slot_bytes
from .cost import EXPENSIVE
from .expressions import MEMORY, Access, Expr
from .kernel import Kernel
from .launch import Launch
from .nest import TILE, Nest, Pass
from .target import host
from .templates import Array
from .text import Module, V, scalar_bytes, vector

MANY = 64  # iterations of the parallel loops that are enough for any number of threads
BLOCK = 4096  # elements: the unit in which a single long loop is divided among threads
GRAIN = 16384  # elements of cheap work that are worth a thread
SWEPT = 512  # columns that are swept at a time if rows alone are too few parallel parts
SHORT_BODY = 20  # expressions up to which a loop may be written twice


def write_kernel(nest: Nest) -> Launch:
    """The launch of a nest."""
    return KernelWriter(nest).launch()


class KernelWriter:
    def __init__(self, nest: Nest):
        self.nest = nest
        self.module = Module()
        self.name = kernel_name(nest)
        self.f = self.module.kernel(self.name)
        self.values = Values(self.f, nest)
        self.needed = [needed_by(p) for p in nest.passes]
        self.final = closure([e for e, _ in nest.results])
        self.everything = list(dict.fromkeys([*(e for n in self.needed for e in n), *self.final]))
        self.accesses = [a for p in nest.passes for _, a in p.stores] + [a for _, a in nest.results]
        self.sweeps = can_sweep(nest)
        self.plan = self.blocks()
        self.stream_condition: V | None = None
        self.scratch_size = 0
        self.scratch_at: dict = {}
        self.place_slots()
        for expr in nest.staged:
            self.scratch_at[expr] = self.scratch_size
            self.scratch_size = self.scratch_size + TILE * TILE * expr.dtype.itemsize
        self.split()

    # -- decisions ----------------------------------------------------------------------------
    def blocks(self) -> list[Block]:
        """How the vector loop is run: unrolled vectors first, then single ones, masked or scalar at the end."""
        nest, vector_dim = self.nest, self.nest.vector
        if vector_dim is None:
            return [Block(1, 1)]
        moving = [e for e in self.everything if vector_dim in e.dims]
        units = [e.is_run(vector_dim) for e in moving if e.kind in MEMORY and not e.is_spread(vector_dim)]
        units += [a.is_unit(vector_dim) for a in self.accesses if vector_dim in a.strides]
        work = sum(max(e.cost - sum(a.cost for a in e.args), 1) for e in moving)
        if units and not any(units) and work < EXPENSIVE and not (nest.vertical or self.reduces()):
            return [Block(1, 4), Block(1, 1)]
        copies = 4 if work <= 6 or (self.sweeps and work < EXPENSIVE * 2) else 2 if work <= 16 else 1
        lanes = nest.lanes
        if all(units) and host().vector_bytes == 64:
            return [Block(lanes, copies), Block(lanes, 1, True)]
        middle = [Block(lanes, 1)] if copies > 1 else []
        return [Block(lanes, copies), *middle, Block(1, 1)]

    def reduces(self) -> list[Expr]:
        return [e for p in self.nest.passes for e in p.reduces]

    def split(self) -> None:
        """Choose the parallel loops: `flat` of the outer loops, and blocks of the vector loop if those are few."""
        nest = self.nest
        others = nest.outer[:-1] if nest.vertical or nest.tile else nest.outer
        self.blocked = nest.vector if nest.tile is None or self.follows_staged() else nest.tile
        blockable = nest.is_map or nest.vertical
        flat, count = 0, 1
        while flat < len(others) and hint(count) < MANY:
            count = count * others[flat].size
            flat += 1
        self.others, self.block = others, None
        if nest.tile or (blockable and nest.vector is not None and flat == len(others) and hint(count) < MANY):
            self.block = self.block_size()
        self.flat = flat
        if self.block is not None:
            count = count * self.block_count()
        self.range = count

    def follows_staged(self) -> bool:
        """Whether tiles follow one another along the operands that lie across: those are then read without jumps.

        Long rows are worth it, if no more operands are read along the stores. (Stores then jump: pieces of four tiles.)
        """
        nest = self.nest
        loads = [e for e in self.everything if e.kind == "load" and e not in nest.staged]
        others = sum(nest.vector in e.data.strides and nest.tile in e.data.strides for e in loads)
        return len(nest.staged) >= others and hint(nest.vector.size) >= 32 * TILE

    def block_count(self):
        return (self.blocked.size + (self.block - 1)) // self.block

    def block_size(self):
        """Iterations of the blocked loop in one parallel unit."""
        if self.nest.tile:
            return 4 * TILE if self.blocked is self.nest.vector else TILE
        if not self.nest.vertical:
            return BLOCK
        width = self.plan[0].lanes * self.plan[0].copies
        if self.sweeps:
            return max(width, SWEPT)
        rows = hint(product(d.size for d in self.nest.inner))
        return width * max(1, BLOCK // (width * max(rows, 1)))

    def grain(self):
        """Parallel units that are worth a thread."""
        nest = self.nest
        per_unit = product(d.size for d in self.others[self.flat :]) * product(d.size for d in nest.inner)
        if self.block is not None:
            flat = nest.is_map and not nest.tile and not nest.vertical
            across = [nest.tile] if nest.tile and self.blocked is nest.vector else nest.inner
            per_unit = self.block if flat else self.block * product(d.size for d in across)
        elif nest.vertical:
            per_unit = per_unit * nest.vector.size
        work = max([e.cost for e in self.everything], default=0)
        grain = GRAIN // 4 if work >= EXPENSIVE else GRAIN
        return grain // per_unit + 1 if type(per_unit) is Sym else max(1, grain // max(per_unit, 1))

    def place_slots(self) -> None:
        """Give each kept value a row of scratch memory."""
        nest = self.nest
        width = self.plan[0].lanes * self.plan[0].copies if nest.vertical else 1
        count = product(d.size for d in nest.inner) * width
        for expr in (e for p in nest.passes for e in p.keep):
            dtype, parts = slot_dtype(expr.dtype), 2 if expr.dtype.is_complex else 1
            self.values.slots[expr] = []
            for _ in range(parts):
                strides, step = {}, width
                for dim in reversed(nest.inner):
                    strides[dim] = step
                    step = step * dim.size
                array = Array("scratch", 0, (), (), dtype)
                self.values.slots[expr].append((Access(array, strides, self.scratch_size), dtype_text(dtype)))
                size = (count + nest.lanes) * slot_bytes(expr.dtype)
                self.scratch_size = self.scratch_size + (size + 63) // 64 * 64

    def streams(self, current: Pass, needed: list[Expr]) -> V | None:
        """At run time: whether a pass's stores are so large that they should bypass the caches; None if never."""
        nest = self.nest
        stores = [a for _, a in current.stores if a.is_unit(nest.vector)]
        once = all(a.array.role == "output" and not nest.updates(a) for a in stores)
        if not stores or not once or len(needed) > SHORT_BODY or nest.cluster.followers():
            return None
        if not host().triple.startswith("x86_64"):
            return None
        if self.stream_condition is None:
            self.stream_condition = self.values.large_and_aligned(stores)
        return self.stream_condition

    # -- the kernel -----------------------------------------------------------------------------
    def launch(self) -> Launch:
        self.write()
        self.values.finish()
        if self.stream_condition is not None:
            self.f.call("llvm.x86.sse.sfence", "void")
        text = str(self.module)
        if "!nontemporal" in text:
            text += "!0 = !{i32 1}\n"
        buffers = [a.buffer() for a in self.values.arrays]
        kernel = Kernel(self.name, text)
        return Launch(kernel, buffers, self.values.params, self.range, self.grain(), self.scratch_size)

    def write(self) -> None:
        f, values = self.f, self.values
        values.hoist(self.everything, self.accesses)
        if self.block is not None and not self.others and not self.sweeps:
            size, block = values.size(self.blocked), values.param(self.block)
            low = f.mul(f.begin, block)
            self.rows(low, f.minimum(f.mul(f.end, block), size))
            return
        with f.loop(f.begin, f.end) as unit, values.scope():
            low, high = i64(0), values.size(self.blocked) if self.blocked is not None else i64(1)
            if self.block is not None:
                block = values.param(self.block)
                blocks = values.param(self.block_count())
                low = f.mul(f.binary("urem", unit, blocks), block)
                high = f.minimum(f.add(low, block), high)
                unit = f.binary("udiv", unit, blocks)
            with self.flat_loops(self.others[: self.flat], unit), self.serial_loops(self.others[self.flat :]):
                self.rows(low, high)

    @contextmanager
    def flat_loops(self, dims: list[Dim], unit: V):
        """Several loops in one: the indices are digits of the unit's number."""
        f, values, digits = self.f, self.values, []
        for dim in reversed(dims[1:]):
            size = values.size(dim)
            digits.append(f.binary("urem", unit, size))
            unit = f.binary("udiv", unit, size)
        digits.append(unit)
        with self.nested(list(zip(dims, reversed(digits)))):
            yield

    @contextmanager
    def nested(self, indices):
        """Be inside of loops whose indices are given."""
        if not indices:
            yield
            return
        (dim, index), *rest = indices
        with self.values.inside(dim, index):
            self.values.hoist(self.everything, self.accesses)
            with self.nested(rest):
                yield

    @contextmanager
    def serial_loops(self, dims: list[Dim]):
        if not dims:
            yield
            return
        size = self.values.size(dims[0])
        with self.f.loop(0, size) as index, self.nested([(dims[0], index)]), self.serial_loops(dims[1:]):
            yield

    def rows(self, low: V, high: V) -> None:
        """Everything inside of the outer loops; `low` and `high` bound the blocked loop."""
        if self.nest.tile:
            self.tiles(low, high)
            return
        if not self.nest.vertical:
            self.passes(None, low, high)
            return
        if self.sweeps:
            SweepWriter(self, low, high).write()
            return
        for block, index, mask in self.vector_loop(self.plan, low, high):
            with self.at_vectors(block, index, mask), self.values.inside(self.nest.vector, index):
                self.passes(block, low, high)

    def part_bounds(self, dim: Dim) -> tuple[V, V]:
        """The range of the first inner loop in one part of a reduction that is split."""
        f, values, parts = self.f, self.values, self.nest.cluster.parts
        unit = 1 if self.nest.vector is not dim else 64
        width = values.param((dim.size + (parts.size * unit - 1)) // (parts.size * unit) * unit)
        size = values.size(dim)
        low = f.minimum(f.mul(values.index[parts], width), size)
        return low, f.minimum(f.add(low, width), size)

    def state_at(self, expr: Expr, number: int, type: str):
        """Where the states of all columns for part `number` of a reduction's state begin in scratch memory."""
        if (expr, number) not in self.scratch_at:
            columns = self.block if self.block is not None else self.nest.vector.size
            self.scratch_at[expr, number] = self.scratch_size
            size = (columns + self.plan[0].lanes) * scalar_bytes(type)
            self.scratch_size = self.scratch_size + (size + 63) // 64 * 64
        return self.scratch_at[expr, number]

    # -- tiles ----------------------------------------------------------------------------------
    def tiles(self, low: V, high: V) -> None:
        """A map over tiles: operands that lie across are turned over first. `low` and `high` bound the blocked loop."""
        f, nest = self.f, self.nest
        bounds = {dim: (i64(0), self.values.size(dim)) for dim in (nest.tile, nest.vector)} | {
            self.blocked: (low, high)
        }
        (top, bottom), (left, right) = bounds[nest.tile], bounds[nest.vector]
        with f.loop(top, bottom, TILE) as row, f.loop(left, right, TILE) as column, self.values.scope():
            below, beside = f.minimum(f.add(row, i64(TILE)), bottom), f.minimum(f.add(column, i64(TILE)), right)
            for expr, source in nest.staged.items():
                if expr in self.everything:
                    self.stage(expr, source, (row, column), (below, beside))
            with f.loop(row, below) as index, self.nested([(nest.tile, index)]):
                self.passes(None, column, beside)

    def stage(self, expr: Expr, source: Access, low: tuple[V, V], high: tuple[V, V]) -> None:
        """Turn one operand's tile over, into scratch memory, and have it read there."""
        f, values = self.f, self.values
        begin = f.offset(values.scratch(), values.param(self.scratch_at[expr]))
        Transposer(values, source, low, high, begin).write()
        back = f.sub(i64(0), f.add(f.mul(low[0], i64(TILE)), low[1]))
        values.define_tile(expr.data, values.element(begin, expr.dtype, back))

    # -- vectors --------------------------------------------------------------------------------
    def vector_loop(self, plan: list[Block], low: V, high: V):
        """Run through [low, high) by the blocks of the plan; yields (block, index, mask) inside each loop."""
        f, position = self.f, low
        for block in plan:
            step = block.lanes * block.copies
            end = high
            if step > 1 and not block.masked:
                whole = f.binary("and", f.sub(high, position), i64(-step))
                end = f.add(position, whole)
            with f.loop(position, end, step) as index:
                mask = self.lane_mask(f.sub(high, index), block.lanes) if block.masked else None
                yield block, index, mask
            position = end

    def lane_mask(self, left: V, lanes: int) -> V:
        """The first `left` (at least 1) of the lanes."""
        f = self.f
        missing = f.sub(i64(64), f.minimum(left, i64(lanes)))
        bits = f.binary("lshr", i64(-1), missing)
        if lanes < 64:
            bits = f.cast("trunc", bits, f"i{lanes}")
        return f.cast("bitcast", bits, vector("i1", lanes))

    @contextmanager
    def at_vectors(self, block: Block, index: V, mask: V | None):
        """Write for a block: every copy has its own index of the vector loop."""
        f, values = self.f, self.values
        before = values.vector_index
        values.vector_index = [f.add(index, i64(c * block.lanes)) if c else index for c in range(block.copies)]
        with values.vectors(block.lanes, 0, mask):
            yield
        values.vector_index = before

    def copies(self, block: Block):
        """Write the same for each copy."""
        values = self.values
        for copy in range(block.copies):
            with values.vectors(block.lanes, copy, values.mask):
                yield copy

    # -- passes ---------------------------------------------------------------------------------
    def passes(self, block: Block | None, low: V, high: V) -> None:
        """All passes over the inner loops, and the results. `block` is that of an outer vector loop."""
        values = self.values
        for current, needed in zip(self.nest.passes, self.needed):
            for _ in self.copies(block) if block else (0,):
                values.hoist(needed, [a for _, a in current.stores])
            PassWriter(self, current, needed, block, low, high).write()
        self.store_results(block)

    def store_results(self, block: Block | None) -> None:
        """Store what does not depend on the inner loops."""
        values = self.values
        for _ in self.copies(block) if block else (0,):
            found = [values.wide(e) if block else values.value(e) for e, _ in self.nest.results]
            for value, (_, access) in zip(found, self.nest.results):
                values.store(value, access)


def kernel_name(nest: Nest) -> str:
    """A readable name that depends on the structure only."""
    names = [e.name.removeprefix("reduce_") for e in nest.body.exprs if e.kind in ("map", "reduce")]
    kind = "map" if nest.is_map else "row"
    return "_".join([kind, *dict.fromkeys(names)][:6]) if names else "copy"


def slot_dtype(dtype: DType) -> DType:
    """The dtype that holds one part of a register value in scratch memory."""
    if dtype.is_complex:
        return dtype.to_real()
    if dtype.kind == "f":
        return float64 if dtype.itemsize == 8 else float32
    return uint8 if dtype.kind == "b" else dtype


def dtype_text(dtype: DType) -> str:
    from .elementwise import register_type

    return register_type(dtype, 1)
