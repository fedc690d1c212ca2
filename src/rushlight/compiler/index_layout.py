"""Loop dimensions that several arrays share: merged where they can be, handed to kernels as parameters.

A template builds a `Nest` from shapes and strides that may be symbolic. Its `structure` is all that a kernel is
specialised on (rank, which steps are 0 or 1); its `params` carry the rest to run time, where `Parameters` reads them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..ir.sizes import product
from .text import Function, V


def i64(number: int) -> V:
    """A literal."""
    return V(str(number), "i64")


ZERO, ONE = i64(0), i64(1)


def is_number(size, number: int) -> bool:
    """Whether a size is this very number, without a guard for symbols."""
    return type(size) is int and size == number


class Nest:
    """Loops over `shape` by arrays with these `strides`, in elements.

    Neighbouring dimensions that every array walks as one are merged, and dimensions of size 1 dropped, but
    `dims` has at least one. With `reorder`, the dimension that is dense in the first array comes last.
    """

    def __init__(self, shape, *strides, reorder: bool = False):
        dims = [(n, tuple(steps)) for n, *steps in zip(shape, *strides) if not is_number(n, 1)]
        if reorder:
            dims.sort(key=lambda dim: is_number(dim[1][0], 1))
        self.dims = _merged(dims) or [(1, (0,) * len(strides))]

    @property
    def size(self):
        """How many elements the loops visit."""
        return product(n for n, _ in self.dims)

    @property
    def inner(self):
        """The size of the last dimension."""
        return self.dims[-1][0]

    @property
    def structure(self) -> tuple:
        """For each dimension the step of each array: 0, 1 or None where it is a parameter."""
        return tuple(tuple(s if type(s) is int and s in (0, 1) else None for s in steps) for _, steps in self.dims)

    @property
    def params(self) -> list:
        """Sizes, then the steps that the structure leaves open."""
        kinds = zip(self.dims, self.structure)
        return [n for n, _ in self.dims] + [s for (_, steps), k in kinds for s, fixed in zip(steps, k) if fixed is None]


def _merged(dims: list) -> list:
    merged: list = []
    for size, steps in dims:
        if merged and all(outer == size * step for outer, step in zip(merged[-1][1], steps)):
            merged[-1] = (merged[-1][0] * size, steps)
        else:
            merged.append((size, steps))
    return merged


class Parameters:
    """Reads a kernel's parameters one after another."""

    def __init__(self, f: Function):
        self.f, self.next = f, 0

    def number(self, type: str = "i64") -> V:
        self.next += 1
        return self.f.param(self.next - 1, type)

    def numbers(self, count: int) -> list[V]:
        return [self.number() for _ in range(count)]

    def loops(self, structure: tuple) -> Loops:
        """What a nest of this structure passes in its `params`."""
        sizes = self.numbers(len(structure))
        steps = [[self.number() if s is None else i64(s) for s in dim] for dim in structure]
        return Loops(self.f, sizes, steps)


class Loops:
    """A nest inside a kernel: `sizes[dim]` and `steps[dim][array]`."""

    def __init__(self, f: Function, sizes: list[V], steps: list[list[V]]):
        self.f, self.sizes, self.steps = f, sizes, steps

    def split(self, count: int) -> tuple[Loops, Loops]:
        """The first dimensions and the last `count` ones."""
        cut = len(self.sizes) - count
        return Loops(self.f, self.sizes[:cut], self.steps[:cut]), Loops(self.f, self.sizes[cut:], self.steps[cut:])

    @property
    def size(self) -> V:
        total = ONE
        for size in self.sizes:
            total = times(self.f, total, size)
        return total

    def offsets(self, index: V, start: list[V]) -> list[V]:
        """Element offsets of the arrays at a flat index, on top of `start`."""
        f, offsets = self.f, list(start)
        for dim in reversed(range(len(self.sizes))):
            coordinate = index
            if dim:
                index = f.binary("udiv", coordinate, self.sizes[dim])
                coordinate = f.sub(coordinate, f.mul(index, self.sizes[dim]))
            offsets = [plus(f, o, times(f, coordinate, s)) for o, s in zip(offsets, self.steps[dim])]
        return offsets


def times(f: Function, a: V, b: V) -> V:
    """a * b, leaving out what is known."""
    if "0" in (a.text, b.text):
        return ZERO
    return b if a.text == "1" else a if b.text == "1" else f.mul(a, b)


def plus(f: Function, a: V, b: V) -> V:
    """a + b, leaving out what is known."""
    return b if a.text == "0" else a if b.text == "0" else f.add(a, b)


@contextmanager
def segments(f: Function, begin: V, end: V, inner: V) -> Iterator[tuple[V, V, V]]:
    """Cut the flat range [begin, end) where rows of `inner` elements meet; yields (row, first, last)."""
    last_row = f.binary("udiv", f.add(end, f.sub(inner, ONE)), inner)
    with f.loop(f.binary("udiv", begin, inner), last_row) as row:
        base = f.mul(row, inner)
        first = f.intrinsic("llvm.smax", f.sub(begin, base), ZERO)
        yield row, first, f.minimum(f.sub(end, base), inner)


def storage(itemsize: int) -> str:
    """The integer type in which an element is moved without being looked at."""
    return f"i{8 * itemsize}"


def alignment(itemsize: int) -> int:
    """What user pointers are aligned to: complex128 to its parts."""
    return min(itemsize, 8)


def copy_run(f: Function, target: V, source: V, count: V, itemsize: int, vector_bytes: int) -> None:
    """Copy `count` adjacent elements that do not overlap: whole vectors, then single elements."""
    type, align = storage(itemsize), alignment(itemsize)
    lanes = vector_bytes // itemsize
    wide = f"<{vector_bytes // align} x {storage(align)}>"
    vectors = f.binary("and", count, i64(-lanes))
    for first, last, step, kind in ((ZERO, vectors, lanes, wide), (vectors, count, 1, type)):
        with f.loop(first, last, step) as i:
            f.store(f.load(f.at(source, type, i), kind, align), f.at(target, type, i), align)


def fill_run(f: Function, target: V, one: V, count: V, lanes: int) -> None:
    """Store one value to `count` adjacent elements: whole vectors, then single elements."""
    vectors = f.binary("and", count, i64(-lanes))
    for first, last, step in ((ZERO, vectors, lanes), (vectors, count, 1)):
        value = f.splat(one, step)
        with f.loop(first, last, step) as i:
            f.store(value, f.at(target, one.type, i))
