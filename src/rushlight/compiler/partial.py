"""Splits long reductions with few results in parts, so that threads can share them: parts first, then their fold.

The number of parts depends on the sizes alone, never on the threads, so that results do not either.
"""

from __future__ import annotations

from ..ir.dtypes import DType, bool_, complex64, complex128, float32, float64, int64
from ..ir.graph import Graph, Node, Value
from ..ir.primitive import Primitive
from ..ir.sizes import hint, product
from .simplify import constant, new_node

LONG = 1 << 17  # elements from which on a reduction to few results is split
FEW = 16  # results that give each thread something to do
WIDE_LONG = 1 << 18  # elements from which on a reduction of leading dims is split
ROWS = 128  # of leading dims in one part


def _shape(x, *, kind, dims, parts):
    kept = tuple(s for d, s in enumerate(x.shape) if d not in dims)
    return (parts, *kept), part_dtype(kind, x.dtype)


def part_dtype(kind: str, dtype: DType) -> DType:
    """What parts of a reduction are stored as: sums of floats in the widest type."""
    if kind.startswith("arg"):
        return int64
    if kind == "reduce_sum":
        return {float32: float64, complex64: complex128}.get(dtype, dtype)
    return dtype


# `parts` reductions of consecutive ranges of the first reduced loop, as a new leading dimension
Primitive("partial_reduce", "reduce", _shape)


def split_reductions(graph: Graph) -> Graph:
    """The graph with long reductions replaced; the same graph if there are none."""
    if not any(node.prim.kind == "reduce" and parts_of(node) is not None for node in graph.nodes):
        return graph
    result = Graph(graph.scope)
    result.inputs = graph.inputs
    values = {v: v for v in graph.inputs}
    for node in graph.nodes:
        inputs = [values[v] for v in node.inputs]
        parts = parts_of(node) if node.prim.kind == "reduce" else None
        if parts is not None:
            values[node.outputs[0]] = Splitter(result, node, inputs[0], parts).value()
            continue
        copied = Node(node.prim, inputs, node.attrs, [(v.shape, v.dtype) for v in node.outputs])
        for old, new in zip(node.outputs, copied.outputs):
            values[old], new.weak = new, old.weak
        result.nodes.append(copied)
    return result.returns([values[v] for v in graph.outputs], graph.output_strides, graph.aliases)


def parts_of(node: Node):
    """Into how many parts to split a reduction, or None."""
    shape = node.inputs[0].shape
    dims = node.attrs["dims"] if "dims" in node.attrs else (node.attrs["dim"],)
    folded = product(shape[d] for d in dims)
    kept = product(s for d, s in enumerate(shape) if d not in dims)
    if hint(folded) >= LONG and kept < FEW and folded >= LONG:
        return 64 if folded >= 8 * LONG else 16
    last = max(d for d, s in enumerate(shape) if not (type(s) is int and s == 1))
    if last not in dims and 0 in dims and hint(folded * kept) >= WIDE_LONG and shape[0] >= 4 * ROWS:
        return (shape[0] + (ROWS - 1)) // ROWS if folded * kept >= WIDE_LONG else None
    return None


class Splitter:
    """Writes one reduction as parts and their fold."""

    def __init__(self, graph: Graph, node: Node, source: Value, parts):
        self.graph, self.node, self.source, self.parts = graph, node, source, parts
        self.out = node.outputs[0]

    def value(self) -> Value:
        kind = self.node.prim.name
        if kind.startswith("arg"):
            return self.place("reduce_" + kind[3:])
        parts = self.part(kind)
        return self.cast(self.fold(kind, parts), self.out.dtype)

    def part(self, kind: str) -> Value:
        dims = self.node.attrs["dims"] if "dims" in self.node.attrs else (self.node.attrs["dim"],)
        attrs = {"kind": kind, "dims": tuple(sorted(dims)), "parts": self.parts}
        dtype = part_dtype(kind, self.source.dtype)
        return new_node(self.graph, "partial_reduce", (self.source,), attrs, (self.parts, *self.out.shape), dtype)

    def fold(self, kind: str, parts: Value) -> Value:
        return new_node(self.graph, kind, (parts,), {"dims": (0,)}, self.out.shape, parts.dtype)

    def cast(self, value: Value, dtype: DType) -> Value:
        if value.dtype is dtype:
            return value
        return new_node(self.graph, "cast", (value,), {"dtype": dtype}, value.shape, dtype)

    def place(self, extreme: str) -> Value:
        """The least index among parts whose value is the extreme (or NaN, if that is it)."""
        values, places = self.part(extreme), self.part(self.node.prim.name)
        best = self.fold(extreme, values)
        shape = values.shape
        one = new_node(self.graph, "reshape", (best,), {"shape": (1, *best.shape)}, (1, *best.shape), best.dtype)
        all_best = new_node(self.graph, "expand", (one,), {"shape": shape}, shape, best.dtype)
        hit = new_node(self.graph, "eq", (values, all_best), {}, shape, bool_)
        if values.dtype.kind == "f":
            nan = new_node(self.graph, "isnan", (values,), {}, shape, bool_)
            hit = new_node(self.graph, "bit_or", (hit, nan), {}, shape, bool_)
        far = constant(self.graph, (1 << 63) - 1, shape, int64)
        candidates = new_node(self.graph, "where", (hit, places, far), {}, shape, int64)
        return self.fold("reduce_min", candidates)
