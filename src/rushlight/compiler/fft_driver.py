"""The kernel that runs a transform's passes over tiles of lines, and the stages it is given.

The passes are functions of their own (`fft_pass`), called by address: a new length needs new numbers, but no new code
as long as its radices are known. Between the first and the last pass a tile lies in the thread's scratch memory.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from .fft_pass import ARGUMENTS
from .fft_table import Table
from .index_layout import ONE, ZERO, Nest, Parameters, i64
from .kernel import Kernel
from .text import Function, Module, V

GRAIN = 1 << 13  # numbers: what one thread transforms while another one wakes up


@dataclass
class Stage:
    """One pass: its kernel, its table (a `Table` or 0) and the arguments `count` and `span`."""

    kernel: Kernel
    table: Table | int = 0
    count: int = 1
    span: object = 1


@dataclass
class Side:
    """One end of a transform: `step` bytes between the numbers of a line, `bytes` of the elements that strides count.

    `alone`: the lanes of a tile are adjacent in memory (or there is only one), so that one address tells where all lie;
    otherwise each lane has an address of its own.
    """

    array: object
    step: object
    bytes: int
    alone: bool


def launch(
    context,
    kind: str,
    stages: list[Stage],
    nest: Nest,
    source: Side,
    target: Side,
    tile: tuple,
    scale: float,
    lanes: int,
) -> None:
    """Run the stages: "rows" line by line, "blocks" over neighbours in the last dim of the nest, "lanes" over any.

    `nest` has the strides of target and source; `tile` is (bytes of a tile, bytes of a row in it, numbers in a line).
    """
    tile_bytes, row_bytes, length = tile
    items, each = nest.size, 1
    if kind == "blocks":
        outer = Nest(
            [size for size, _ in nest.dims[:-1]], *([steps[i] for _, steps in nest.dims[:-1]] for i in range(2))
        )
        items, each = outer.size * ((nest.inner + (lanes - 1)) // lanes), lanes
    elif kind == "lanes":
        items, each = (nest.size + (lanes - 1)) // lanes, lanes
    params = [nest.size, source.step, target.step, source.bytes, target.bytes, tile_bytes, row_bytes, len(stages)]
    params += [float(scale), *nest.params]
    for stage in stages:
        params += [stage.kernel, stage.table, stage.count, stage.span]
    kernel = driver(kind, nest.structure, source.alone, target.alone, lanes)
    grain = GRAIN // (length * each) + 1
    context.launch(kernel, [target.array, source.array], params, items, grain, 2 * tile_bytes)


@functools.cache
def driver(kind: str, structure: tuple, source_alone: bool, target_alone: bool, lanes: int) -> Kernel:
    module = Module()
    f = module.kernel("fft_driver")
    w = _Driver(f, structure, (target_alone, source_alone), lanes)
    with f.loop(f.begin, f.end) as item:
        {"rows": w.rows, "blocks": w.blocks, "lanes": w.tiles}[kind](item)
    return Kernel(f.name, str(module))


class _Driver:
    def __init__(self, f: Function, structure: tuple, alone: tuple[bool, bool], lanes: int):
        self.f, self.alone, self.lanes = f, alone, lanes
        self.bases, self.scratch = (f.buffer(0), f.buffer(1)), f.buffer(2)
        p = Parameters(f)
        self.total, self.source_step, self.target_step, source_bytes, target_bytes = p.numbers(5)
        self.tile_bytes, self.row_bytes, self.count = p.numbers(3)
        self.bytes = target_bytes, source_bytes
        self.scale = p.number("double")
        self.loops = p.loops(structure)
        self.stages = p.next
        self.pointers = [f.variable(f"[{lanes} x ptr]") for _ in range(2)]

    # -- where a tile's lines lie --------------------------------------------------------------
    def address(self, side: int, offset: V) -> V:
        return self.f.offset(self.bases[side], self.f.mul(offset, self.bytes[side]))

    def rows(self, item: V) -> None:
        offsets = self.loops.offsets(item, [ZERO, ZERO])
        self.run(ZERO, *(self.address(side, offset) for side, offset in enumerate(offsets)))

    def blocks(self, item: V) -> None:
        """Neighbouring lines; the last tile reaches back over lines of the tile before it rather than past the end."""
        f, lanes = self.f, i64(self.lanes)
        outer, inner = self.loops.split(1)
        width = inner.sizes[0]
        count = f.binary("udiv", f.add(width, i64(self.lanes - 1)), lanes)
        index = f.binary("udiv", item, count)
        block = f.sub(item, f.mul(index, count))
        first = f.minimum(f.mul(block, lanes), f.sub(width, lanes))
        start = outer.offsets(index, [ZERO, ZERO]) if outer.sizes else [ZERO, ZERO]
        start = [f.add(o, f.mul(first, step)) for o, step in zip(start, inner.steps[0])]
        ends = []
        for side, (offset, step) in enumerate(zip(start, inner.steps[0])):
            if self.alone[side]:
                ends.append(self.address(side, offset))
                continue
            with f.loop(ZERO, lanes) as lane:
                address = self.address(side, f.add(offset, f.mul(lane, step)))
                f.store(address, f.at(self.pointers[side], "ptr", lane))
            ends.append(self.pointers[side])
        self.run(block, *ends)

    def tiles(self, item: V) -> None:
        f, first = self.f, self.f.mul(item, i64(self.lanes))
        with f.loop(ZERO, i64(self.lanes)) as lane:
            line = f.minimum(f.add(first, lane), f.sub(self.total, ONE))
            for side, offset in enumerate(self.loops.offsets(line, [ZERO, ZERO])):
                f.store(self.address(side, offset), f.at(self.pointers[side], "ptr", lane))
        self.run(ZERO, *self.pointers)

    # -- passes --------------------------------------------------------------------------------
    def run(self, block: V, target: V, source: V) -> None:
        """All stages, from one half of the scratch memory to the other in turns."""
        f = self.f
        last = f.sub(self.count, ONE)
        with f.loop(ZERO, self.count) as i:
            number = f.at(f.params, "i64", f.add(i64(self.stages), f.mul(i, i64(4))))
            code = f.load(number, "ptr", 8)
            table = f.load(f.at(number, "i64", 1), "ptr", 8)
            count, span = (f.load(f.at(number, "i64", j), "i64") for j in (2, 3))
            odd = f.binary("and", i, ONE)
            here = f.offset(self.scratch, f.mul(odd, self.tile_bytes))
            before = f.offset(self.scratch, f.mul(f.binary("xor", odd, ONE), self.tile_bytes))
            starts, ends = f.compare("eq", i, ZERO), f.compare("eq", i, last)
            arguments = (
                f.select(starts, source, before),
                f.select(starts, self.source_step, self.row_bytes),
                f.select(ends, target, here),
                f.select(ends, self.target_step, self.row_bytes),
                *(table, count, span, block, self.scale),
            )
            assert [a.type for a in arguments] == [type for type, _ in ARGUMENTS]
            f.line(f"call void {code.text}({', '.join(map(str, arguments))})")
