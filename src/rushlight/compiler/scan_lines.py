"""The loops of a scan along one line of memory, or along several adjacent lines at once."""

from __future__ import annotations

from . import elementwise
from .index_layout import ZERO, i64, plus, storage, times
from .scan_operations import Scan, State
from .text import Function, V, vector


class Line:
    """A line of the results and of x: `at` are the element offsets where it starts.

    The state before the next element is kept in variables, as vectors of equal lanes if `lanes` > 1.
    """

    def __init__(self, f: Function, operation: Scan, buffers: list[V], steps: list[V], lanes: int):
        self.f, self.operation, self.buffers, self.steps, self.lanes = f, operation, buffers, steps, lanes
        self.at: list[V] = []
        self.carry = [f.variable(vector(t, lanes)) for t in operation.types]

    def reset(self, state: State | None = None) -> None:
        """Begin with a state given as scalars, or with nothing."""
        f = self.f
        state = self.operation.identity(f, 1) if state is None else state
        self.keep(tuple(f.splat(v, self.lanes) for v in state))

    def keep(self, state: State) -> None:
        for value, variable in zip(state, self.carry):
            self.f.store(value, variable)

    def state(self) -> State:
        return tuple(self.f.load(v, vector(t, self.lanes)) for v, t in zip(self.carry, self.operation.types))

    def carried(self) -> State:
        """The state as scalars."""
        return self.state() if self.lanes == 1 else tuple(self.f.lane(v, 0) for v in self.state())

    def scan(self, first: V, last: V, writing: bool = True) -> None:
        """Elements [first, last): vectors with their prefixes, then one by one."""
        f, lanes = self.f, self.lanes
        if lanes > 1:
            vectors = f.add(first, f.binary("and", f.sub(last, first), i64(-lanes)))
            with f.loop(first, vectors, lanes) as i:
                local = self.prefixes(self.element(i, lanes))
                before = self.state()
                if writing:
                    self.write(i, self.operation.combine(f, before, local), lanes)
                total = tuple(f.shuffle(v, v, [lanes - 1] * lanes) for v in local)
                self.keep(self.operation.combine(f, before, total))
            first = vectors
        with f.loop(first, last) as i:
            state = self.operation.combine(f, self.carried(), self.element(i, 1))
            self.keep(tuple(f.splat(v, lanes) for v in state))
            if writing:
                self.write(i, state, 1)

    def prefixes(self, state: State) -> State:
        """Fold within a vector, in log2(lanes) steps."""
        f, shift = self.f, 1
        identity = self.operation.filling(f, self.lanes)
        while shift < self.lanes:
            mask = [self.lanes + i - shift for i in range(self.lanes)]
            earlier = tuple(f.shuffle(nothing, v, mask) for nothing, v in zip(identity, state))
            state = self.operation.combine(f, earlier, state)
            shift *= 2
        return state

    def across(self, length: V, width: int) -> None:
        """`width` adjacent lines, each element after element."""
        f, operation = self.f, self.operation
        carry = [f.variable(v.type, v) for v in operation.identity(f, width)]
        with f.loop(ZERO, length) as i:
            before = tuple(f.load(v, vector(t, width)) for v, t in zip(carry, operation.types))
            state = operation.combine(f, before, self.element(i, width, across=True))
            for value, variable in zip(state, carry):
                f.store(value, variable)
            self.write(i, state, width)

    def element(self, position: V, lanes: int, across: bool = False) -> State:
        """The states of `lanes` elements from a position on, or of that position in `lanes` adjacent lines."""
        f, dtype = self.f, self.operation.dtype
        pointer = self.pointer(len(self.buffers) - 1, position, storage(dtype.itemsize))
        loaded = f.load(pointer, elementwise.loaded_type(dtype, lanes))
        places = f.splat(position, lanes)
        if lanes > 1 and not across:
            counting = ", ".join(f"i64 {lane}" for lane in range(lanes))
            places = f.add(places, V(f"<{counting}>", places.type))
        return self.operation.start(f, elementwise.from_memory(f, loaded, dtype, lanes), places, lanes)

    def write(self, position: V, state: State, lanes: int) -> None:
        f, dtype = self.f, self.operation.dtype
        values, *places = self.operation.finish(f, state, lanes)
        f.store(elementwise.to_memory(f, values, dtype, lanes), self.pointer(0, position, storage(dtype.itemsize)))
        for place in places:
            f.store(place, self.pointer(1, position, "i64"))

    def pointer(self, buffer: int, position: V, type: str) -> V:
        offset = plus(self.f, self.at[buffer], times(self.f, position, self.steps[buffer]))
        return self.f.at(self.buffers[buffer], type, offset)


WORD = 8  # bytes for each part of a state in memory


def store_state(f: Function, state: State, base: V, index: V) -> None:
    first = f.mul(index, i64(WORD * len(state)))
    for part, value in enumerate(state):
        if value.type == "i1":
            value = f.cast("zext", value, "i8")
        f.store(value, f.offset(base, f.add(first, i64(WORD * part))))


def load_state(f: Function, types: tuple[str, ...], base: V, index: V) -> State:
    first = f.mul(index, i64(WORD * len(types)))
    state = []
    for part, type in enumerate(types):
        value = f.load(f.offset(base, f.add(first, i64(WORD * part))), "i8" if type == "i1" else type)
        state.append(f.cast("trunc", value, "i1") if type == "i1" else value)
    return tuple(state)
