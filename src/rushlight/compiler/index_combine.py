"""The innermost loop of a write by index: combining adjacent or strided elements with what is there."""

from __future__ import annotations

from types import SimpleNamespace

from ..ir.dtypes import DType
from . import elementwise
from .index import Indices
from .index_layout import Loops, i64, plus, storage, times
from .target import host
from .text import Function, V

MODES = {"add": "add", "mul": "mul", "max": "maximum", "min": "minimum"}
DECOYS = 16  # places to write what another thread owns; several, so that these writes do not wait for each other


def combine(f: Function, mode: str, dtype: DType, old: V, new: V, lanes: int) -> V:
    """What to store where `old` was in memory and `new` comes; both as loaded."""
    if mode == "set":
        return new
    node = SimpleNamespace(prim=SimpleNamespace(name=MODES[mode]), inputs=[SimpleNamespace(dtype=dtype)])
    operands = [elementwise.from_memory(f, v, dtype, lanes) for v in (old, new)]
    return elementwise.to_memory(f, elementwise.emit(f, node, operands, lanes), dtype, lanes)


def lanes_of(dtype: DType) -> int:
    """How many elements are combined at once: half types compute as float, hence in four bytes."""
    return host().vector_bytes // max(dtype.itemsize, 4 if dtype.kind == "f" else 1)


class Run:
    """A run of elements with an index for each, or one index for all.

    result   pointer to what is written
    owned    (begin, end) of the first index, which this thread alone writes; or None
    decoys   pointer to DECOYS elements of scratch memory, if `owned`
    """

    def __init__(
        self, f: Function, mode: str, dtype: DType, indices: Indices, result: V, source: V, owned=None, decoys=None
    ):
        self.f, self.mode, self.dtype, self.indices = f, mode, dtype, indices
        self.result, self.source, self.owned, self.decoys = result, source, owned, decoys
        self.type = storage(dtype.itemsize)

    def emit(self, inner: Loops, structure: tuple, at: list[V], first: V, last: V) -> None:
        """Elements [first, last) of the innermost dimension, from the offsets `at` of result, source and indices."""
        if any(step != 0 for step in structure[2:]):
            self.single(inner.steps[0], at, first, last)
        else:
            self.row(inner.steps[0], structure[:2] == (1, 1), at, first, last)

    def single(self, steps: list[V], at: list[V], first: V, last: V) -> None:
        f = self.f
        with f.loop(first, last) as i:
            to, of, *index_at = (plus(f, o, times(f, i, s)) for o, s in zip(at, steps))
            numbers = self.indices.load(index_at)
            with f.branch(self.indices.valid(numbers)) as other:
                target = f.at(self.result, self.type, plus(f, to, self.indices.offset(numbers)))
                if self.owned:  # without a branch, which nobody could predict
                    decoy = f.binary("and", i, i64(DECOYS - 1))
                    target = f.select(self.mine(numbers), target, f.at(self.decoys, self.type, decoy))
                self.one(target, f.at(self.source, self.type, of))
                other()
                self.indices.report(numbers)

    def row(self, steps: list[V], dense: bool, at: list[V], first: V, last: V) -> None:
        f, (to, of, *index_at) = self.f, at
        numbers = self.indices.load(index_at)
        with f.branch(self.indices.valid(numbers)) as other:
            to = plus(f, to, self.indices.offset(numbers))
            loop = self.adjacent if dense else self.strided
            if self.owned:
                with f.when(self.mine(numbers)):
                    loop(to, of, first, last, steps)
            else:
                loop(to, of, first, last, steps)
            other()
            self.indices.report(numbers)

    def mine(self, numbers: list[V]) -> V:
        begin, end = self.owned
        return self.f.compare("ult", self.f.sub(numbers[0], begin), self.f.sub(end, begin))

    def strided(self, to: V, of: V, first: V, last: V, steps: list[V]) -> None:
        f = self.f
        with f.loop(first, last) as i:
            target, source = (plus(f, o, times(f, i, s)) for o, s in zip((to, of), steps))
            self.one(f.at(self.result, self.type, target), f.at(self.source, self.type, source))

    def adjacent(self, to: V, of: V, first: V, last: V, _) -> None:
        """Whole vectors, then single elements."""
        f = self.f
        lanes = lanes_of(self.dtype)
        vectors = f.add(first, f.binary("and", f.sub(last, first), i64(-lanes)))
        for begin, end, count in ((first, vectors, lanes), (vectors, last, 1)):
            with f.loop(begin, end, count) as i:
                target, source = f.at(self.result, self.type, f.add(to, i)), f.at(self.source, self.type, f.add(of, i))
                self.one(target, source, count)

    def one(self, target: V, source: V, lanes: int = 1) -> None:
        """Combine `lanes` adjacent elements."""
        f, loaded = self.f, elementwise.loaded_type(self.dtype, lanes)
        old = f.load(target, loaded) if self.mode != "set" else None
        f.store(combine(f, self.mode, self.dtype, old, f.load(source, loaded), lanes), target)
