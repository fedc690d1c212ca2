"""Ops on tensors with batch dims that nobody sees (`vmap`): the body runs for one sample, then its graph is batched.

The plan that comes out is one like any other: it is found in the op's dictionary, its kernels run over the whole batch.
"""

from __future__ import annotations

from ..core.engine import Layout
from ..ir import build as B
from ..ir.batching import sum_batch
from ..ir.derive import batch
from ..ir.graph import Graph, Value
from .results import as_value, check_fits, flatten


def levels_of(entry, memory: bool = False) -> tuple:
    """The levels of `vmap` at which a layout has samples; with `memory`, those whose samples lie apart in memory."""
    if not isinstance(entry, Layout):
        return ()
    return tuple(level for level, _, stride in entry.batch or () if stride or not memory)


def logical(entry):
    """A data entry of a key, as one sample has it."""
    return entry.logical if isinstance(entry, Layout) else entry


class Batch:
    """One trace of an op over a batch.

    `levels` are those of all operands, by level; `sizes` their sizes. Operand i has samples at the levels `held[i]`;
    those among them that are dims of memory are `real[i]`, in front of the sample's own dims in `flat[i]`.
    """

    def __init__(self, called, template, entries: list, tracer, flat: list):
        self.called, self.declaration, self.template = called, called.declaration, template
        self.flat, self.scope, self.sizes = flat, tracer.graph.scope, tracer.sizes
        self.held = [levels_of(entry) for entry in entries]
        self.real = [levels_of(entry, memory=True) for entry in entries]
        self.levels = tuple(sorted({level for held in self.held for level in held}))
        self.marks: list = []

    def run(self):
        """The body's results over the batch, in the form in which the body gave them for one sample."""
        graph = Graph(self.scope)
        inputs = [self.sample(graph, value, len(real)) for value, real in zip(self.flat, self.real)]
        with graph:
            results = self.declaration.run(self.template.arguments(inputs))
            values = list(results) if isinstance(results, (tuple, list)) else [results]
            targets = self.targets()
            values = [as_value(v) for v in (flatten(values) if targets else values)]
            for j, position in enumerate(targets):
                check_fits(self.called, values[j], inputs[position])
            graph.returns([v for v in values if v is not None])
        found = iter(self.batched(graph))
        found = [None if v is None else next(found) for v in values]
        values = [self.placed(j, pair, targets) for j, pair in enumerate(found)]
        if not isinstance(results, (tuple, list)):
            return values[0]
        return tuple(values) if isinstance(results, tuple) else values

    @staticmethod
    def sample(graph: Graph, value: Value, dims: int) -> Value:
        """An input of the graph for one sample of an operand."""
        if value.weak:
            return graph.scalar(value.dtype)
        strides = None if value.strides is None else value.strides[dims:]
        return graph.tensor(value.shape[dims:], value.dtype, strides)

    def targets(self) -> list:
        """Flat positions of the operands that the results overwrite."""
        if self.called.into >= 0:
            return [self.called.into]
        if not getattr(self.declaration, "mutates", ()):
            return []
        arguments = self.template.arguments(range(len(self.flat)))
        written = [arguments[self.declaration.names.index(name)] for name in self.declaration.mutates]
        return [i for part in written for i in (part if isinstance(part, list) else [part]) if i is not None]

    def batched(self, graph: Graph) -> list:
        """(value, levels of its leading dims) of each output of a sample's graph, level by level from the last."""
        given = graph.outputs
        levels: list = [()] * len(given)
        for k in reversed(range(len(self.levels))):
            level = self.levels[k]
            dims = [0 if level in real else None for real in self.real]
            if k:
                outer = Graph(self.scope)
                inputs = [self.sample(outer, v, sum(l < level for l in real)) for v, real in zip(self.flat, self.real)]
                with outer:
                    given, places = batch(graph, inputs, dims)
                    given = [v if place is None else B.move_dim(v, place, 0) for v, place in zip(given, places)]
                graph = outer.returns(given)
            else:
                given, places = batch(graph, self.flat, dims)
                given = [v if place is None else B.move_dim(v, place, 0) for v, place in zip(given, places)]
            levels = [known if place is None else (level, *known) for known, place in zip(levels, places)]
        return list(zip(given, levels))

    def placed(self, j: int, pair, targets: list):
        """A result with the levels that it must have; what they are in the plan's outputs goes to `marks`."""
        if pair is None:
            self.marks.append(None)
            return None
        value, real = pair
        if targets:
            position = targets[j]
            self.marks.append(None)
            return self.fitted(value, real, position)
        wanted = self.wanted(j)
        for level in [level for level in self.levels if level not in wanted]:
            value, real = self.summed(value, real, level)
        self.marks.append(tuple((level, -1 if level in real else self.sizes[level]) for level in wanted))
        return value

    def fitted(self, value: Value, real: tuple, position: int) -> Value:
        """A result with all the batch dims of the operand that it overwrites."""
        dims = self.real[position]
        if any(level not in dims for level in real):
            raise RuntimeError(
                "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a Tensor `other` in "
                f"extra_args that has more elements than `self` ({self.called.name}). This happened due to `other` "
                "being vmapped over but `self` not being vmapped over in a vmap. Please try to use out-of-place "
                "operators instead of inplace arithmetic, or make `self` from a tensor that is vmapped over "
                "(`x.new_zeros(...)`)."
            )
        count = len(real)
        for place, level in enumerate(dims):
            if level not in real:
                value = B.unsqueeze(value, place)
                count += 1
        return B.expand(value, self.flat[position].shape) if count != len(real) else value

    def wanted(self, j: int) -> tuple:
        """The levels of result j: those of all operands, unless a derivative's op says otherwise."""
        rule = getattr(self.declaration, "levels_of_result", None)
        return self.levels if rule is None else rule(j, self.template.key, self.levels)

    def summed(self, value: Value, real: tuple, level: int):
        """The sum over a level: what is one for all samples receives the cotangents of all of them."""
        if level in real:
            place = real.index(level)
            if place == 0:
                return sum_batch(value), real[1:]
            return B.sum(value, (place,), False, value.dtype), tuple(other for other in real if other != level)
        return B.mul(value, B.full((), self.sizes[level], value.dtype)), real
