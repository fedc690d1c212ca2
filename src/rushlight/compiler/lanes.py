"""Batches of small matrices: one matrix in each lane of vectors.

A call of LAPACK costs more than all the work on a matrix of 4 x 4; here vectors do the work of 8 or 16 matrices at a
time, and where matrices would go different ways (the choice of a pivot, say) each lane selects its own result.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

from ..ir.dtypes import DType
from ..ir.sizes import product
from .index_layout import ONE, ZERO, i64, times
from .kernel import Kernel
from .registers import memory_type
from .target import host
from .text import Function, Module, V

Number = tuple[V, ...]  # the real part, and the imaginary one of complex numbers: a vector each


@dataclass
class LaneRoutine:
    """How a primitive is computed in lanes.

    emit    `emit(lanes, operands, results, **attrs)`, on what lies in scratch memory
    unread  operands that it does not look at
    extra   `extra(operands, results)`: (dtype, number of elements) of further memory, from the arrays
    """

    emit: Callable
    unread: tuple = ()
    extra: Callable | None = None


LANE_ROUTINES: dict[str, LaneRoutine] = {}


def lane_routine(name: str, unread: tuple = (), extra: Callable | None = None):
    """Register how a primitive is computed in lanes."""

    def register(emit: Callable) -> Callable:
        LANE_ROUTINES[name] = LaneRoutine(emit, unread, extra)
        return emit

    return register


def lane_count(dtypes) -> int:
    """How many matrices go together: as many as numbers of the largest real type fit a vector."""
    return host().vector_bytes // max(d.to_real().itemsize for d in dtypes)


def region_bytes(dtype: DType, elements, lanes: int):
    """Bytes of some elements of every lane's matrix, up to a multiple of a cache line."""
    return (elements * (dtype.itemsize * lanes) + 63) // 64 * 64


@dataclass
class Stack:
    """The same matrix (or vector, or number) of all lanes: element after element, each of them a vector or two."""

    lanes: Lanes
    base: V
    sizes: list[V]
    dtype: DType

    @property
    def rows(self) -> V:
        return self.sizes[0]

    @property
    def columns(self) -> V:
        return self.sizes[1]

    def pointer(self, row: V = ZERO, column: V = ZERO) -> V:
        f = self.lanes.f
        place = row if len(self.sizes) < 2 or column.text == "0" else f.add(row, times(f, column, self.rows))
        return f.offset(self.base, times(f, place, i64(self.dtype.itemsize * self.lanes.count)))

    def load(self, row: V = ZERO, column: V = ZERO) -> Number:
        return self.lanes.load(self.pointer(row, column), self.dtype)

    def store(self, number: Number, row: V = ZERO, column: V = ZERO) -> None:
        self.lanes.store(number, self.pointer(row, column), self.dtype)


class Lanes:
    """Arithmetic on numbers of all lanes."""

    def __init__(self, f: Function, count: int):
        self.f, self.count = f, count

    # -- memory -------------------------------------------------------------------------------
    def wide(self, dtype: DType) -> str:
        return f"<{self.count} x {memory_type(dtype)}>"

    def parts(self, pointer: V, dtype: DType) -> list[V]:
        """Where the parts of an element lie: first the real ones of all lanes."""
        return [pointer, self.f.at(pointer, memory_type(dtype), self.count)] if dtype.is_complex else [pointer]

    def load(self, pointer: V, dtype: DType) -> Number:
        return tuple(self.f.load(p, self.wide(dtype)) for p in self.parts(pointer, dtype))

    def store(self, number: Number, pointer: V, dtype: DType) -> None:
        for part, place in zip(number, self.parts(pointer, dtype)):
            self.f.store(part, place)

    def variable(self, number: Number) -> list[V]:
        return [self.f.variable(v.type, v) for v in number]

    def value(self, variable: list[V], like: Number) -> Number:
        return tuple(self.f.load(p, v.type) for p, v in zip(variable, like))

    def assign(self, variable: list[V], number: Number) -> None:
        for part, place in zip(number, variable):
            self.f.store(part, place)

    # -- numbers ------------------------------------------------------------------------------
    def constant(self, number: float, dtype: DType) -> Number:
        wide = self.wide(dtype)
        return (
            (self.f.const(number, wide), self.f.const(0.0, wide)) if dtype.is_complex else (self.f.const(number, wide),)
        )

    def place(self, index: V) -> V:
        """An index as a 32-bit integer of every lane."""
        return self.f.splat(self.f.cast("trunc", index, "i32"), self.count)

    def conj(self, a: Number) -> Number:
        return a if len(a) == 1 else (a[0], self.f.neg(a[1]))

    def sub(self, a: Number, b: Number) -> Number:
        return tuple(self.f.sub(x, y) for x, y in zip(a, b))

    def mul(self, a: Number, b: Number) -> Number:
        f = self.f
        if len(a) == 1:
            return (f.mul(a[0], b[0]),)
        return (
            f.sub(f.mul(a[0], b[0]), f.mul(a[1], b[1])),
            f.add(f.mul(a[0], b[1]), f.mul(a[1], b[0])),
        )

    def square(self, a: Number) -> V:
        """|a|^2."""
        f = self.f
        first = f.mul(a[0], a[0])
        return first if len(a) == 1 else f.add(first, f.mul(a[1], a[1]))

    def div(self, a: Number, b: Number) -> Number:
        f = self.f
        if len(a) == 1:
            return (f.binary("fdiv", a[0], b[0]),)
        # b scaled to a size near 1, so that its square neither overflows nor vanishes
        size = f.intrinsic("llvm.maxnum", f.intrinsic("llvm.fabs", b[0]), f.intrinsic("llvm.fabs", b[1]))
        unit = tuple(f.binary("fdiv", part, size) for part in b)
        product = self.mul(a, self.conj(unit))
        below = f.mul(self.square(unit), size)
        return tuple(f.binary("fdiv", part, below) for part in product)

    def size(self, a: Number) -> V:
        """|a|, or LAPACK's measure of a complex number in its stead: |re| + |im|."""
        f = self.f
        first = f.intrinsic("llvm.fabs", a[0])
        return first if len(a) == 1 else f.add(first, f.intrinsic("llvm.fabs", a[1]))

    def select(self, condition: V, a: Number, b: Number) -> Number:
        return tuple(self.f.select(condition, x, y) for x, y in zip(a, b))

    def is_zero(self, a: Number) -> V:
        f = self.f
        zeros = [f.compare("oeq", part, f.const(0.0, part.type)) for part in a]
        return zeros[0] if len(zeros) == 1 else f.binary("and", *zeros)


# -- the kernel -------------------------------------------------------------------------------
class LaneKernel:
    """A kernel over groups of matrices: loads, the emitter, stores.

    Parameters: the number of matrices; for each array the step from one matrix to the next in bytes, and its sizes;
    then the offset of each region of scratch memory: those of the arrays, but for results that start as an operand, and
    the extra ones.
    """

    def __init__(self, name: str, arrays: list[tuple[int, DType]], operands: int, starts: dict):
        self.module = Module()
        self.f = f = self.module.kernel(name)
        self.lanes = Lanes(f, lane_count(dtype for _, dtype in arrays))
        self.next = 1
        self.total = f.param(0)
        self.memory = [f.buffer(i) for i in range(len(arrays) + 1)]
        described = [(self.param(), [self.param() for _ in range(rank)], dtype) for rank, dtype in arrays]
        self.steps = [step for step, _, _ in described]
        self.stacks: list[Stack] = []
        for i, (_, sizes, dtype) in enumerate(described):
            shared = starts.get(i - operands)
            base = self.stacks[shared].base if shared is not None else self.region()
            self.stacks.append(Stack(self.lanes, base, sizes, dtype))
        self.operands = operands

    def param(self) -> V:
        self.next += 1
        return self.f.param(self.next - 1)

    def region(self) -> V:
        return self.f.offset(self.memory[-1], self.param())

    def run(self, routine: LaneRoutine, extra: tuple, attrs: dict) -> None:
        f, lanes = self.f, self.lanes
        work = [Stack(lanes, self.region(), [ZERO], dtype) for dtype in extra]
        operands, results = self.stacks[: self.operands], self.stacks[self.operands :]
        with f.loop(f.begin, f.end) as group:
            first = f.mul(group, i64(lanes.count))
            last = f.sub(self.total, ONE)
            for i, stack in enumerate(operands):
                if i not in routine.unread:
                    # lanes past the end repeat the last matrix
                    self.exchange(i, stack, i64(lanes.count), lambda lane: f.minimum(f.add(first, lane), last), True)
            routine.emit(lanes, operands, results, *([work] if work else []), **attrs)
            valid = f.minimum(i64(lanes.count), f.sub(self.total, first))
            for i, stack in enumerate(results, self.operands):
                self.exchange(i, stack, valid, lambda lane: f.add(first, lane), False)

    def exchange(self, i: int, stack: Stack, count: V, number, loading: bool) -> None:
        """Copy matrices between their memory and the lanes."""
        f, dtype, kind = self.f, stack.dtype, memory_type(stack.dtype)
        elements = functools.reduce(lambda a, b: times(f, a, b), stack.sizes, ONE)
        parts = 2 if dtype.is_complex else 1
        with f.loop(ZERO, count) as lane:
            matrix = f.offset(self.memory[i], f.mul(number(lane), self.steps[i]))
            with f.loop(ZERO, times(f, elements, i64(parts))) as part:
                there = f.at(matrix, kind, part)
                here = f.at(stack.base, kind, f.add(f.mul(part, i64(self.lanes.count)), lane))
                source, target = (there, here) if loading else (here, there)
                f.store(f.load(source, kind), target)


def launch_lanes(
    context, name: str, arrays: list, ranks: tuple, operands: int, starts: dict, attrs: dict, count, steps
):
    """Append the launch of a primitive in lanes."""
    routine = LANE_ROUTINES[name]
    extra = tuple(routine.extra(arrays[:operands], arrays[operands:])) if routine.extra else ()
    described = tuple((rank, a.dtype) for rank, a in zip(ranks, arrays))
    lanes = lane_count(dtype for _, dtype in described)
    kernel = lane_kernel(
        name, described, operands, tuple(starts.items()), tuple(d for d, _ in extra), tuple(sorted(attrs.items()))
    )
    params, offsets, total = [count], [], 0
    for i, (array, rank) in enumerate(zip(arrays, ranks)):
        sizes = array.shape[len(array.shape) - rank :]
        params += [steps[i], *sizes]
        if i - operands not in starts:
            offsets.append(total)
            total = total + region_bytes(array.dtype, product(sizes), lanes)
    for dtype, elements in extra:
        offsets.append(total)
        total = total + region_bytes(dtype, elements, lanes)
    context.launch(kernel, arrays, [*params, *offsets], (count + (lanes - 1)) // lanes, 8, total)


@functools.cache
def lane_kernel(name: str, arrays: tuple, operands: int, starts: tuple, extra: tuple, attrs: tuple) -> Kernel:
    kernel = LaneKernel(name + "_lanes", list(arrays), operands, dict(starts))
    kernel.run(LANE_ROUTINES[name], extra, dict(attrs))
    return Kernel(kernel.f.name, str(kernel.module))
