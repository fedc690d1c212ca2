"""Writes the values of a kernel: loads, stores and expressions, each as far out as it can be.

What a loop's body needs and does not change in it is written before the loop (`hoist`). Values that depend on the
vector loop have `lanes` lanes, others one.
"""

from __future__ import annotations

from ..ir.dtypes import DType, float64, int64
from . import elementwise
from .codegen_fetch import fetch, shift
from .codegen_scopes import Scopes, i64
from .error_flag import ZERO_DIVISION, report
from .expressions import Access, Expr
from .launch import Scalar
from .text import V, element, scalar_bytes, vector
from .text import lanes as lanes_of


class Values(Scopes):
    """Writes expressions at the current place of a kernel."""

    def hoist(self, exprs, accesses=()) -> None:
        """Write what can be written here of the values, in order, and of the addresses."""
        loops = set(self.open)
        for access in accesses:
            self.pointer(access)
        for expr in exprs:
            if expr.kind in ("load", "fetch") and not expr.dims <= loops:
                self.pointer(expr.data)
                if expr.kind == "fetch" and all(a.dims <= loops and self.is_ready(a) for a in expr.args):
                    shift(self, expr)
            elif expr.kind != "reduce" and expr.dims <= loops and all(self.is_ready(a) for a in expr.args):
                self.value(expr)

    def is_ready(self, expr: Expr) -> bool:
        return self.known(self.key(expr)) is not None

    # -- expressions ----------------------------------------------------------------------------
    def is_vector(self, expr: Expr) -> bool:
        return self.nest.vector in expr.dims

    def key(self, expr: Expr):
        return (expr, self.copy, self.lanes) if self.is_vector(expr) else expr

    def value(self, expr: Expr):
        """The register value of an expression; a pair for complex numbers."""
        key = self.key(expr)
        found = self.known(key)
        if found is None:
            found = self.scopes[-1][key] = self.make(expr)
        return found

    def define(self, expr: Expr, value) -> None:
        """Make a value known that was computed elsewhere (a completed reduction)."""
        self.scopes[-1][self.key(expr)] = value

    def wide(self, expr: Expr):
        """The value with as many lanes as are being written."""
        value = self.value(expr)
        if self.lanes == 1 or self.is_vector(expr):
            return value
        key = ("wide", expr, self.lanes)
        found = self.known(key)
        if found is None:
            found = self.each(lambda v: self.f.splat(v, self.lanes), value)
            self.scopes[-1][key] = found
        return found

    @staticmethod
    def each(function, *values):
        """A function of one or more registers, on both parts of complex numbers."""
        if isinstance(values[0], tuple):
            return tuple(function(*parts) for parts in zip(*values))
        return function(*values)

    def make(self, expr: Expr):
        if expr in self.kept:
            return self.read_slot(expr)
        return getattr(self, "make_" + expr.kind)(expr)

    def define_tile(self, access: Access, begin: V) -> None:
        """Say where the tile of a load begins, counted back to index 0 of its loops."""
        self.scopes[-1]["tile", access] = begin

    def make_load(self, expr: Expr):
        lanes = self.lanes if self.is_vector(expr) else 1
        return self.load(expr.data, expr.dtype, lanes)

    def make_fetch(self, expr: Expr):
        return fetch(self, expr)

    def make_constant(self, expr: Expr):
        return elementwise.constant(self.f, expr.data, expr.dtype, 1)

    def make_size(self, expr: Expr):
        return self.number_to(self.param(expr.data), "i64", expr.dtype, 1)

    def make_scalar(self, expr: Expr):
        """A run-time number, as its register type."""
        index = self.nest.body.memory.numbers[expr.data]
        if expr.dtype.is_complex:
            parts = (self.scalar(Scalar(index, slot), "double") for slot in ("re", "im"))
            return tuple(self.f.cast("fptrunc", p, "float") if expr.dtype.itemsize == 8 else p for p in parts)
        if expr.dtype.kind == "f":
            return self.number_to(self.scalar(Scalar(index, "f"), "double"), "double", expr.dtype, 1)
        return self.number_to(self.scalar(Scalar(index, "i"), "i64"), "i64", expr.dtype, 1)

    def scalar(self, scalar: Scalar, type: str) -> V:
        key = ("scalar", scalar.index, scalar.slot)
        if key not in self.pointers:
            self.pointers[key] = self.param(scalar, type)
        return self.pointers[key]

    def number_to(self, v: V, type: str, dtype: DType, lanes: int):
        """An i64 or double as another element type."""
        return elementwise.convert(self.f, v, int64 if type == "i64" else float64, dtype, lanes)

    def make_index(self, expr: Expr):
        """An index along loops, as a number."""
        f, access, total = self.f, expr.data, self.param(expr.data.offset)
        for dim in access.strides:
            if dim is not self.nest.vector:
                total = f.add(total, f.mul(self.index[dim], self.stride(access, dim)))
        if not self.is_vector(expr):
            return self.number_to(total, "i64", expr.dtype, 1)
        stride = self.stride(access, self.nest.vector)
        total = f.add(total, f.mul(self.vector_index[self.copy], stride))
        if self.lanes == 1:
            return self.number_to(total, "i64", expr.dtype, 1)
        type = vector("i64", self.lanes)
        steps = V("<" + ", ".join(f"i64 {i}" for i in range(self.lanes)) + ">", type)
        steps = steps if stride.text == "1" else f.mul(steps, f.splat(stride, self.lanes))
        return self.number_to(f.add(f.splat(total, self.lanes), steps), "i64", expr.dtype, self.lanes)

    def make_map(self, expr: Expr):
        if not self.is_vector(expr):
            with self.vectors(1):
                return self.emit(expr, [self.value(a) for a in expr.args], 1)
        return self.emit(expr, [self.wide(a) for a in expr.args], self.lanes)

    def emit(self, expr: Expr, operands, lanes: int):
        self.f.on_zero_division = self.report_zero_division
        return elementwise.emit(self.f, expr.data, operands, lanes)

    def report_zero_division(self, zero: V) -> None:
        """Set the error flag if an integer is divided by zero in a lane that counts."""
        with self.f.when(self.any_lane(zero)):
            report(self.f, self.error_flag(), ZERO_DIVISION)

    def any_lane(self, condition: V) -> V:
        """Whether a condition holds in a lane that counts."""
        f, count = self.f, lanes_of(condition.type)
        if count == 1:
            return condition
        condition = condition if self.mask is None else f.binary("and", condition, self.mask)
        bits = f.cast("bitcast", condition, f"i{count}")
        return f.compare("ne", bits, f.const(0, bits.type))

    # -- memory ---------------------------------------------------------------------------------
    def places(self, access: Access, pointer: V, lanes: int) -> list[V]:
        """The addresses of all lanes along the vector loop, from `pointer`; one if they are adjacent."""
        f, dim = self.f, self.nest.vector
        first, dtype = self.vector_index[self.copy], access.array.dtype
        if access.is_unit(dim):
            return [self.element(pointer, dtype, first)]
        stride = self.stride(access, dim)
        places = [self.element(pointer, dtype, f.mul(first, stride))]
        while len(places) < lanes:
            places.append(self.element(places[-1], dtype, stride))
        return places

    def load(self, access: Access, dtype: DType, lanes: int, shift: V | None = None):
        """The elements at the current indices, moved by `shift` elements, as a register value."""
        f, pointer = self.f, self.pointer(access)
        if shift is not None:
            pointer = self.element(pointer, dtype, shift)
        if self.nest.vector not in access.strides:
            raw = f.load(pointer, elementwise.loaded_type(dtype, 1))
            return elementwise.from_memory(f, raw, dtype, 1)
        if lanes > 1 and access.is_reversed(self.nest.vector):
            return self.load_reversed(pointer, dtype, lanes)
        places = self.places(access, pointer, lanes)
        if len(places) == 1:
            type = elementwise.loaded_type(dtype, lanes)
            raw = f.load(places[0], type) if self.mask is None else f.masked_load(places[0], self.doubled(dtype), type)
            return elementwise.from_memory(f, raw, dtype, lanes)
        return elementwise.from_memory(f, self.gather(places, dtype, lanes), dtype, lanes)

    def load_reversed(self, pointer: V, dtype: DType, lanes: int):
        """Adjacent elements from the last to the first."""
        f = self.f
        last = f.add(self.vector_index[self.copy], i64(lanes - 1))
        place = self.element(pointer, dtype, f.sub(i64(0), last))
        value = elementwise.from_memory(f, f.load(place, elementwise.loaded_type(dtype, lanes)), dtype, lanes)
        return self.each(lambda v: f.shuffle(v, v, list(reversed(range(lanes)))), value)

    def gather(self, places: list[V], dtype: DType, lanes: int):
        f, type = self.f, elementwise.memory_type(dtype)
        if dtype.is_complex:
            pairs = [f.load(p, vector(type, 2)) for p in places]
            parts = ([f.lane(v, k) for v in pairs] for k in (0, 1))
            return tuple(self.collect(lane_values, vector(type, lanes)) for lane_values in parts)
        return self.collect([f.load(p, type) for p in places], vector(type, lanes))

    def collect(self, items: list[V], type: str) -> V:
        """A vector of single values."""
        result = V("poison", type)
        for lane, item in enumerate(items):
            result = self.f.value(f"insertelement {result}, {item}, i32 {lane}", type)
        return result

    def doubled(self, dtype: DType) -> V:
        """The mask, with each lane twice for complex numbers."""
        if not dtype.is_complex:
            return self.mask
        return self.f.shuffle(self.mask, self.mask, [i // 2 for i in range(2 * self.lanes)])

    def store(self, value, access: Access) -> None:
        """Store a register value to the current indices."""
        f, dtype = self.f, access.array.dtype
        if self.nest.vector not in access.strides:
            f.store(elementwise.to_memory(f, value, dtype, 1), self.pointer(access))
            return
        places = self.places(access, self.pointer(access), self.lanes)
        if len(places) == 1:
            self.store_vector(elementwise.to_memory(f, value, dtype, self.lanes), places[0], dtype)
            return
        for lane, place in enumerate(places):
            one = self.each(lambda v, lane=lane: f.lane(v, lane), value)
            f.store(elementwise.to_memory(f, one, dtype, 1), place)

    def store_vector(self, raw: V, place: V, dtype: DType) -> None:
        f = self.f
        if self.mask is not None:
            f.masked_store(raw, place, self.doubled(dtype))
        elif self.streaming:
            f.line(f"store {raw}, {place}, align {min(64, self.nest.lanes * dtype.itemsize)}, !nontemporal !0")
        else:
            f.store(raw, place)

    # -- values kept for later passes -----------------------------------------------------------
    def slot_place(self, access: Access, type: str) -> V:
        """Where the current vector of a kept value lies in this thread's scratch memory."""
        pointer = self.pointer(access)
        if self.nest.vertical:
            return self.f.at(pointer, type, self.copy * self.nest.lanes)
        return self.f.at(pointer, type, self.vector_index[self.copy])

    def write_slot(self, expr: Expr) -> None:
        value = self.value(expr)
        parts = value if isinstance(value, tuple) else (value,)
        for part, (access, type) in zip(parts, self.slots[expr]):
            if type == "i8":
                part = self.f.cast("zext", part, vector("i8", self.lanes)) if element(part.type) == "i1" else part
            self.f.store(part, self.slot_place(access, type))

    def read_slot(self, expr: Expr):
        parts = []
        for access, type in self.slots[expr]:
            part = self.f.load(self.slot_place(access, type), vector(type, self.lanes))
            parts.append(self.f.compare("ne", part, self.f.const(0, part.type)) if expr.dtype.kind == "b" else part)
        return tuple(parts) if len(parts) == 2 else parts[0]


def slot_type(dtype: DType) -> str:
    """The element type in scratch memory of one part of a register value."""
    type = elementwise.register_type(dtype, 1)
    return "i8" if type == "i1" else type


def slot_bytes(dtype: DType) -> int:
    return scalar_bytes(slot_type(dtype))
