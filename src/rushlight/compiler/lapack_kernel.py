"""Kernels that call LAPACK for one matrix of a batch after another, through addresses that arrive as parameters.

A routine's emitter says what happens to one matrix: `emit(kernel, operands, results, **attrs)`. What all matrices have
in common (sizes, flags, addresses) is set up once, at the kernel's entry.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ..ir.dtypes import DType
from .index_layout import ZERO, i64, storage
from .registers import memory_type
from .text import Function, Module, V

FIXED = 3  # parameters before those of the arrays: count, addresses of `team_size` and `openblas_set_num_threads`


@dataclass
class Matrix:
    """One matrix (vector, number) of an operand or result inside a kernel: where it starts, and its sizes."""

    pointer: V
    sizes: list[V]
    dtype: DType

    @property
    def rows(self) -> V:
        return self.sizes[0]

    @property
    def columns(self) -> V:
        return self.sizes[1]


class LapackKernel:
    """A kernel under construction.

    Its buffers are the operands, the results and, if there are `regions`, scratch memory. Its parameters: those counted
    by FIXED; for each array, the step from one matrix to the next in bytes, and its sizes; the offset of each region
    of scratch memory, and its size in bytes; the addresses of the routines in the order of `routines`.
    """

    def __init__(self, name: str, arrays: list[tuple[int, DType]], regions: int):
        self.module = Module()
        self.f: Function = self.module.kernel(name)
        self.routines: list[str] = []
        self._known: dict = {}
        self._next = FIXED
        with self.at_entry():
            self.count = self.f.param(0)
            self.bases = [self.f.buffer(i) for i in range(len(arrays) + (1 if regions else 0))]
            self._arrays = [(self._param(), [self._param() for _ in range(rank)], dtype) for rank, dtype in arrays]
            self._regions = [(self._param(), self._param()) for _ in range(regions)]

    def _param(self) -> V:
        self._next += 1
        return self.f.param(self._next - 1)

    @contextmanager
    def at_entry(self) -> Iterator[None]:
        """Emit to the kernel's beginning."""
        f = self.f
        lines, f.lines = f.lines, f.entry
        try:
            yield
        finally:
            f.lines = lines

    # -- the batch ----------------------------------------------------------------------------
    @contextmanager
    def batch(self, threaded: bool) -> Iterator[list[Matrix]]:
        """The loop over the batch. With `threaded`, one piece does all of it, on OpenBLAS's threads."""
        f = self.f
        begin, end = f.begin, f.end
        if threaded:
            # the piece that holds index 0 does it all, however the range is split
            first = f.compare("eq", begin, ZERO)
            begin, end = ZERO, f.select(first, self.count, ZERO)
            with f.when(first):
                self.set_threads(self.f.value(f"call i32 {self.address(1).text}()", "i32"))
        with f.loop(begin, end) as index:
            self.index = index
            yield [
                Matrix(f.offset(base, f.mul(index, step)), sizes, dtype)
                for base, (step, sizes, dtype) in zip(self.bases, self._arrays)
            ]
        if threaded:
            with f.when(first):
                self.set_threads(V("1", "i32"))

    def set_threads(self, count: V) -> None:
        self.f.line(f"call void {self.address(2).text}({count})")

    def address(self, param: int) -> V:
        with self.at_entry():
            return self.f.param(param, "ptr")

    # -- arguments ----------------------------------------------------------------------------
    def integer(self, value: V | int) -> V:
        """A pointer to a 32-bit integer that is the same for all matrices."""
        value = i64(value) if isinstance(value, int) else value
        return self.once(("integer", value.text), lambda f: f.variable("i32", f.cast("trunc", value, "i32")))

    def letter(self, letter: str) -> V:
        """A pointer to a flag: LAPACK's UPLO, TRANS, ..."""
        return self.once(("letter", letter), lambda f: f.variable("i8", V(str(ord(letter)), "i8")))

    def number(self, value: float, dtype: DType) -> V:
        """A pointer to a constant of the given type."""
        kind = memory_type(dtype)
        return self.once(("number", value, dtype.name), lambda f: _constant(f, value, kind, dtype.is_complex))

    def scratch(self, region: int) -> V:
        """A pointer to a region of this thread's scratch memory."""
        return self.once(("scratch", region), lambda f: f.offset(self.bases[-1], self._regions[region][0]))

    def scratch_length(self, region: int, dtype: DType) -> V:
        """How many elements of a type a region holds."""
        size = self._regions[region][1]
        return self.once(("length", region, dtype.name), lambda f: f.binary("udiv", size, i64(dtype.itemsize)))

    def minimum(self, a: V, b: V) -> V:
        return self.once(("minimum", a.text, b.text), lambda f: f.minimum(a, b))

    def maximum(self, a: V, b: V) -> V:
        return self.once(("maximum", a.text, b.text), lambda f: f.intrinsic("llvm.smax", a, b))

    def once(self, key: tuple, make) -> V:
        """Something set up at the kernel's entry, once."""
        if key not in self._known:
            with self.at_entry():
                self._known[key] = make(self.f)
        return self._known[key]

    # -- calls --------------------------------------------------------------------------------
    def call(self, routine: str, *arguments: V) -> None:
        """Call a Fortran routine: every argument is a pointer; the lengths of the flags come last."""
        if routine not in self.routines:
            self.routines.append(routine)
            slot = self._next + self.routines.index(routine)
            self._known["routine", routine] = self.address(slot)
        flags = sum(any(a is known for key, known in self._known.items() if key[0] == "letter") for a in arguments)
        text = ", ".join([*map(str, arguments), *["i64 1"] * flags])
        self.f.line(f"call void {self._known['routine', routine].text}({text})")

    def at(self, matrix: Matrix, row: V, column: V) -> V:
        """The address of an element of a matrix stored by columns."""
        f = self.f
        return f.at(matrix.pointer, storage(matrix.dtype.itemsize), f.add(row, f.mul(column, matrix.rows)))

    def clear(self, pointer: V, elements: V, dtype: DType) -> None:
        """Set adjacent elements to zero."""
        size = self.f.mul(elements, i64(dtype.itemsize))
        self.f.call("llvm.memset.p0.i64", "void", pointer, V("0", "i8"), size, V("false", "i1"))


def _constant(f: Function, value: float, kind: str, is_complex: bool) -> V:
    if not is_complex:
        return f.variable(kind, f.const(value, kind))
    pointer = f.variable(f"[2 x {kind}]")
    f.store(f.const(value, kind), pointer)
    f.store(f.const(0.0, kind), f.at(pointer, kind, 1))
    return pointer
