"""A sampler is what one item of a random stream becomes; this file makes a kernel of it.

Kernel arguments: buffers are the generator states, then outputs, then inputs; params are `total` items, items per
`chunk`, two about the tail (see below), then the sampler's own numbers. The range counts chunks: chunk c makes items
[c chunk, (c+1) chunk) from state c, so that threads work on states that were moved ahead (see `random_jump`).

Tail: unless params[2] is negative, 16 items are made at that place once all others are, after params[3] skipped words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..ir.dtypes import DType
from .elementwise import from_memory, loaded_type, memory_type, to_memory
from .kernel import Kernel
from .math_expression import Expr
from .random_state import STATE_BYTES
from .random_stream import block_variable, consume, copy_elements, integer, words32, words64
from .text import Function, Module, V, element, lanes, scalar_bytes

TOTAL, CHUNK, TAIL, SKIPPED, NUMBERS = range(5)  # places in a kernel's params
TAIL_ITEMS = 16


@dataclass(frozen=True)
class Sampler:
    """How items are made.

    words    random words that one item takes, 1 or 2
    lanes    items that one step makes
    outputs  element types that are written, one register of `lanes` lanes each
    inputs   element types that are read beside
    begin    `begin(f, number) -> body`, called once before the loop to load the sampler's own numbers:
             `number(i, type)` is the i-th one, splat. `body(step)` returns one register per output.
    tail     whether the kernel honours params[2]
    """

    words: int
    lanes: int
    outputs: tuple[DType, ...]
    begin: Callable
    inputs: tuple[DType, ...] = ()
    tail: bool = False


@dataclass
class Draw:
    """What a sampler's body sees of one step."""

    f: Function
    ring: V
    offset: V
    lanes: int
    inputs: list[Expr] = field(default_factory=list)

    def words32(self, count: int = 0) -> Expr:
        """The next words, one per item unless `count` says how many."""
        return words32(self.f, self.ring, self.offset, count or self.lanes)

    def words64(self) -> Expr:
        """A number of 64 bits for each item."""
        return words64(self.f, self.ring, self.offset, self.lanes)

    def unit(self, kind: str) -> Expr:
        """Uniform in [0, 1): multiples of 2^-24 (kind "float", one word) or 2^-53 ("double", two words)."""
        if kind == "float":
            return (self.words32() & 0xFFFFFF).cast("sitofp", "float") * 2.0**-24
        return (self.words64() & ((1 << 53) - 1)).cast("sitofp", "double") * 2.0**-53


def sampler_kernel(sampler: Sampler) -> Kernel:
    """A kernel that fills contiguous outputs with the sampler's items."""
    module = Module()
    fill = _fill(module, sampler)
    f = module.kernel("random")
    count = len(sampler.outputs) + len(sampler.inputs)
    types = [*sampler.outputs, *sampler.inputs]
    states, pointers = f.buffer(0), [f.buffer(1 + i) for i in range(count)]
    total, chunk = Expr(f, f.param(TOTAL)), Expr(f, f.param(CHUNK))
    with f.loop(f.begin, f.end) as c:
        index = Expr(f, c)
        first = index * chunk
        items = (total - first).intrinsic("llvm.smin", chunk)
        state = f.offset(states, (index * STATE_BYTES).v)
        _call(f, fill, state, items, integer(f, 0), _moved(f, pointers, types, first))
        if sampler.tail:
            begin = Expr(f, f.param(TAIL))
            with f.when(((first + items).eq(total) & (begin >= 0)).v):
                moved = _moved(f, pointers, types, begin)
                _call(f, fill, state, integer(f, TAIL_ITEMS), Expr(f, f.param(SKIPPED)), moved)
    return Kernel("random", str(module))


def _moved(f: Function, pointers: list[V], types: list[DType], first: Expr) -> list[V]:
    return [f.at(p, memory_type(t), first.v) for p, t in zip(pointers, types)]


def _call(f: Function, fill: Function, state: V, items: Expr, skip: Expr, pointers: list[V]) -> None:
    arguments = ", ".join(map(str, [state, items.v, skip.v, f.params, *pointers]))
    f.line(f"call void @{fill.name}({arguments})")


def _fill(module: Module, sampler: Sampler) -> Function:
    """The private function fill(state, count, skip, params, *outputs, *inputs)."""
    names = [("ptr", "state"), ("i64", "count"), ("i64", "skip"), ("ptr", "params")]
    names += [("ptr", f"out{i}") for i in range(len(sampler.outputs))]
    names += [("ptr", f"in{i}") for i in range(len(sampler.inputs))]
    f = module.function("fill", names, linkage="internal")
    state, count, skip, params = f.args[:4]
    outputs = [Edge(f, p, t, sampler.lanes, count) for p, t in zip(f.args[4:], sampler.outputs)]
    inputs = [Edge(f, p, t, sampler.lanes, count) for p, t in zip(f.args[4 + len(outputs) :], sampler.inputs)]
    for edge in inputs:
        edge.copy_in()

    def number(i: int, type: str) -> Expr:
        value = f.load(f.at(params, "i64", NUMBERS + i), "double" if element(type) in ("float", "double") else "i64", 8)
        if element(type) != value.type:
            value = f.cast("fptrunc" if value.type == "double" else "trunc", value, element(type))
        return Expr(f, f.splat(value, lanes(type)))

    body = sampler.begin(f, number)

    def step(ring: V, offset: V, item: V, local: V) -> None:
        loaded = [edge.load(item) for edge in inputs]
        for edge, register in zip(outputs, body(Draw(f, ring, offset, sampler.lanes, loaded))):
            edge.store(register, item)

    consume(f, state, count, sampler.words, sampler.lanes, step, skip=skip)
    for edge in outputs:
        edge.copy_out()
    return f


class Edge:
    """An array that is read or written a vector at a time, the remainder through a block on the stack.

    This keeps the loop free of masks, which small element types lack on older processors.
    """

    def __init__(self, f: Function, pointer: V, dtype: DType, lanes: int, count: V):
        self.f, self.pointer, self.dtype, self.lanes = f, pointer, dtype, lanes
        self.type = memory_type(dtype)
        self.block = block_variable(f, lanes * scalar_bytes(self.type))
        self.whole = Expr(f, count) & -lanes  # lanes are a power of two
        self.rest = Expr(f, count) - self.whole

    def place(self, item: V) -> V:
        inside = Expr(self.f, item) < self.whole
        return self.f.select(inside.v, self.f.at(self.pointer, self.type, item), self.block)

    def load(self, item: V) -> Expr:
        loaded = self.f.load(self.place(item), loaded_type(self.dtype, self.lanes), scalar_bytes(self.type))
        return Expr(self.f, from_memory(self.f, loaded, self.dtype, self.lanes))

    def store(self, register: Expr, item: V) -> None:
        stored = to_memory(self.f, register.v, self.dtype, self.lanes)
        self.f.store(stored, self.place(item), scalar_bytes(self.type))

    def copy_in(self) -> None:
        copy_elements(self.f, self.f.at(self.pointer, self.type, self.whole.v), self.block, self.rest.v, self.type)

    def copy_out(self) -> None:
        copy_elements(self.f, self.block, self.f.at(self.pointer, self.type, self.whole.v), self.rest.v, self.type)
