"""Reductions on registers: how one more element is folded in, how partial results are joined, how a sum stays exact.

A fold's state is a tuple of registers with one partial result in each lane.
"""

from __future__ import annotations

from ..ir.dtypes import DType
from . import elementwise
from .text import Function, V, element, is_float, vector


class Fold:
    """One kind of reduction of values of `dtype`. Subclasses say what a state is."""

    def __init__(self, f: Function, dtype: DType):
        self.f, self.dtype = f, dtype

    def identity(self, lanes: int) -> tuple[V, ...]:
        """The state of nothing."""
        raise NotImplementedError

    def step(self, state, x, place, lanes: int):
        """The state with element `x`, which lies at index `place`, folded in."""
        return self.merge(state, x if isinstance(x, tuple) else (x,))

    def merge(self, a, b):
        """The state of two sets of elements."""
        raise NotImplementedError

    def result(self, state, lanes: int):
        """The register value of a state."""
        return state if len(state) > 1 else state[0]

    def across(self, state, lanes: int):
        """All lanes joined to one."""
        while lanes > 1:
            lanes //= 2
            state = self.merge(self.half(state, 0, lanes), self.half(state, lanes, lanes))
        return state

    def half(self, state, first: int, lanes: int) -> tuple[V, ...]:
        if lanes == 1:
            return tuple(self.f.lane(v, first) for v in state)
        return tuple(self.f.shuffle(v, v, list(range(first, first + lanes))) for v in state)


class Sum(Fold):
    """Integers, and floats that are wide enough."""

    def identity(self, lanes):
        zero = elementwise.constant(self.f, 0, self.dtype, lanes)
        return zero if isinstance(zero, tuple) else (zero,)

    def merge(self, a, b):
        return tuple(self.f.add(x, y) for x, y in zip(a, b))


class WideSum(Sum):
    """Floats summed in float64; the state may also be fed by vectors of float32 partial sums."""

    def __init__(self, f, dtype, target: DType):
        super().__init__(f, dtype)
        self.target = target

    def identity(self, lanes):
        zero = self.f.const(0, vector("double", lanes))
        return (zero, zero) if self.dtype.is_complex else (zero,)

    def step(self, state, x, place, lanes):
        return self.merge(state, tuple(self.widened(v) for v in (x if isinstance(x, tuple) else (x,))))

    def widened(self, v: V) -> V:
        return v if element(v.type) == "double" else self.f.cast("fpext", v, v.type.replace("float", "double"))

    def result(self, state, lanes):
        type = elementwise.register_type(self.target, lanes)
        parts = tuple(v if v.type == type else self.f.cast("fptrunc", v, type) for v in state)
        return parts if len(parts) > 1 else parts[0]


class Product(Fold):
    def identity(self, lanes):
        one = elementwise.constant(self.f, 1, self.dtype, lanes)
        return one if isinstance(one, tuple) else (one,)

    def merge(self, a, b):
        f = self.f
        if len(a) == 1:
            return (f.mul(a[0], b[0]),)
        (re, im), (re2, im2) = a, b
        return f.sub(f.mul(re, re2), f.mul(im, im2)), f.add(f.mul(re, im2), f.mul(im, re2))


class Logical(Fold):
    """any, all."""

    def __init__(self, f, dtype, opcode: str):
        super().__init__(f, dtype)
        self.opcode = opcode

    def identity(self, lanes):
        return (self.f.const(self.opcode == "and", vector("i1", lanes)),)

    def merge(self, a, b):
        return (self.f.binary(self.opcode, a[0], b[0]),)


def _least(f: Function, dtype: DType, largest: bool, lanes: int) -> V:
    """What no element is beyond, towards the side that loses."""
    type = elementwise.register_type(dtype, lanes)
    if dtype.kind == "f":
        return f.const(-float("inf") if largest else float("inf"), type)
    if dtype.kind == "b":
        return f.const(not largest, type)
    bits = 8 * dtype.itemsize
    low, high = (0, -1) if dtype.kind == "u" else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    return f.const(low if largest else high, type)


class Extreme(Fold):
    """max, min. Floats carry a mask of lanes that met a NaN, since comparing with one is false."""

    def __init__(self, f, dtype, largest: bool):
        super().__init__(f, dtype)
        self.largest = largest

    def identity(self, lanes):
        least = _least(self.f, self.dtype, self.largest, lanes)
        return (least, self.f.const(False, vector("i1", lanes))) if self.dtype.kind == "f" else (least,)

    def step(self, state, x, place, lanes):
        return self.merge(state, (x, self.f.compare("uno", x, x)) if self.dtype.kind == "f" else (x,))

    def merge(self, a, b):
        f = self.f
        if self.dtype.kind != "f":
            sign = "u" if self.dtype.kind == "u" else "s"
            return (f.intrinsic(f"llvm.{sign}{'max' if self.largest else 'min'}", a[0], b[0]),)
        better = f.compare("ogt" if self.largest else "olt", b[0], a[0])
        return f.select(better, b[0], a[0]), f.binary("or", a[1], b[1])

    def result(self, state, lanes):
        if self.dtype.kind != "f":
            return state[0]
        return self.f.select(state[1], self.f.const(float("nan"), state[0].type), state[0])


class Place(Fold):
    """argmax, argmin: the state is a value and its index. NaN beats all; among equals the first one wins."""

    def __init__(self, f, dtype, largest: bool):
        super().__init__(f, dtype)
        self.largest = largest

    def identity(self, lanes):
        return _least(self.f, self.dtype, self.largest, lanes), self.f.const(0, vector("i64", lanes))

    def step(self, state, x, place, lanes):
        better = self.better(x, state[0])
        return self.f.select(better, x, state[0]), self.f.select(better, place, state[1])

    def better(self, x: V, best: V) -> V:
        f = self.f
        if not is_float(x.type):
            sign = "s" if self.dtype.kind == "i" else "u"
            return f.compare(sign + ("gt" if self.largest else "lt"), x, best)
        # unordered or better, but not where the best is NaN already
        better = f.compare("ugt" if self.largest else "ult", x, best)
        return f.binary("and", better, f.compare("ord", best, best))

    def merge(self, a, b):
        f = self.f
        wins, loses = self.better(b[0], a[0]), self.better(a[0], b[0])
        tied = f.binary("xor", f.binary("or", wins, loses), f.const(True, wins.type))
        earlier = f.binary("and", tied, f.compare("slt", b[1], a[1]))
        take = f.binary("or", wins, earlier)
        return f.select(take, b[0], a[0]), f.select(take, b[1], a[1])

    def result(self, state, lanes):
        return state[1]


def fold_of(f: Function, kind: str, dtype: DType, target: DType) -> Fold:
    """The fold for a reduction's kind, its operand's dtype and that of its result."""
    if kind == "reduce_sum":
        return WideSum(f, dtype, target) if dtype.kind in "fc" else Sum(f, dtype)
    if kind == "reduce_prod":
        return Product(f, dtype)
    if kind in ("argmax", "argmin"):
        return Place(f, dtype, kind == "argmax")
    if kind in ("reduce_any", "reduce_all") or dtype.kind == "b":
        return Logical(f, dtype, "or" if kind in ("reduce_any", "reduce_max") else "and")
    return Extreme(f, dtype, kind == "reduce_max")


class Accumulator:
    """Stack variables that hold a fold's states: one state for each copy of an unrolled loop."""

    def __init__(self, fold: Fold, lanes: int, copies: int):
        self.f, self.fold, self.lanes = fold.f, fold, lanes
        self.states = [self.variables(fold.identity(lanes)) for _ in range(copies)]

    def variables(self, state) -> list[tuple[V, str]]:
        return [(self.f.variable(v.type, v), v.type) for v in state]

    def load(self, variables) -> tuple[V, ...]:
        return tuple(self.f.load(pointer, type) for pointer, type in variables)

    def store(self, variables, state) -> None:
        for (pointer, _), v in zip(variables, state):
            self.f.store(v, pointer)

    def add(self, copy: int, x, place, mask: V | None) -> None:
        """Fold in one vector, or the lanes of it that are in the mask."""
        before = self.load(self.states[copy])
        after = self.fold.step(before, x, place, self.lanes)
        if mask is not None:
            after = tuple(self.f.select(mask, new, old) for new, old in zip(after, before))
        self.store(self.states[copy], after)

    def flush(self) -> None:
        """Bound the error of partial sums: nothing to do for most folds."""

    def total(self):
        """The state of all copies together."""
        states = [self.load(v) for v in self.states]
        while len(states) > 1:
            states = [self.fold.merge(a, b) for a, b in zip(states[::2], states[1::2])]
        return states[0]


class CascadeAccumulator(Accumulator):
    """Sums vectors of float32 in registers for a while, and what comes of it in float64."""

    def __init__(self, fold: WideSum, lanes: int, copies: int):
        self.f, self.fold, self.lanes = fold.f, fold, lanes
        self.type = elementwise.register_type(fold.dtype, lanes)
        zero = self.f.const(0, self.type)
        parts = 2 if fold.dtype.is_complex else 1
        self.states = [self.variables([zero] * parts) for _ in range(copies)]
        self.high = self.variables(fold.identity(lanes))

    def add(self, copy: int, x, place, mask: V | None) -> None:
        f = self.f
        before = self.load(self.states[copy])
        x = x if isinstance(x, tuple) else (x,)
        if mask is not None:
            x = tuple(f.select(mask, v, f.const(0, v.type)) for v in x)
        self.store(self.states[copy], tuple(f.add(a, b) for a, b in zip(before, x)))

    def flush(self) -> None:
        f = self.f
        states = [self.load(v) for v in self.states]
        while len(states) > 1:
            states = [tuple(f.add(a, b) for a, b in zip(*pair)) for pair in zip(states[::2], states[1::2])]
        self.store(self.high, self.fold.step(self.load(self.high), states[0], None, self.lanes))
        for variables in self.states:
            self.store(variables, [f.const(0, self.type)] * len(variables))

    def total(self):
        self.flush()
        return self.load(self.high)


def accumulator(fold: Fold, lanes: int, copies: int) -> Accumulator:
    if isinstance(fold, WideSum) and lanes > 1:
        return CascadeAccumulator(fold, lanes, copies)
    return Accumulator(fold, lanes, copies)
