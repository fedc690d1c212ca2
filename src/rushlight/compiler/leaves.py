"""What values are computed from: which kernels share operands, and what is cheaper computed twice than stored."""

from __future__ import annotations

import functools
import operator

from ..ir.graph import Graph, Node, Value
from ..ir.sizes import hint, product
from .cost import EXPENSIVE, weight
from .fetches import is_fetch
from .views import is_view

LONGEST_CHAIN = 6  # nodes of a cheap value that several kernels compute each for themselves
SMALL = 64  # elements of an operand that costs nothing to read again


class Leaves:
    """For each value, as bit sets: the large inputs it is made from, and what its cheap recomputation reads."""

    def __init__(self, graph: Graph):
        self.reach: dict[Value, int] = {}
        self.bases: dict[Value, int] = {}
        self.lengths: dict[Value, int] = {}
        self.folds: dict[Value, dict[int, int]] = {}  # how many elements reductions on the way fold to one: of what
        self.direct: dict[Value, int] = {}  # what it is made from without a reduction on the way, large or small
        self.cheap: set[Value] = set()
        self.sizes: list[int] = []
        for value in graph.inputs:
            self.add_leaf(value)
        for node in graph.nodes:
            self.add(node)

    def is_cheap(self, value: Value) -> bool:
        return value in self.cheap

    def new_bit(self, value: Value) -> int:
        size = 1 if value.weak else hint(product(value.shape))
        self.sizes.append(size)
        return 1 << (len(self.sizes) - 1) if size > SMALL else 0

    def add_leaf(self, value: Value) -> None:
        self.reach[value] = self.bases[value] = self.new_bit(value)
        self.lengths[value], self.folds[value] = 0, {}
        self.direct[value] = 0 if value.weak else 1 << len(self.direct)

    def add(self, node: Node) -> None:
        if is_view(node) or node.prim.kind in ("map", "source"):
            self.add_cheap(node)
        else:
            for value in node.outputs:
                self.add_leaf(value)
                if node.prim.kind == "reduce":
                    source = node.inputs[0]
                    count = hint(product(source.shape)) // max(1, hint(product(value.shape)))
                    self.reach[value] = self.reach[source]
                    self.folds[value] = _joined([self.folds[source], {count: self.direct[source]}])
                    self.direct[value] = 0
                elif is_fetch(node):
                    self.direct[value] |= self.direct[node.inputs[0]]

    def add_cheap(self, node: Node) -> None:
        value = node.outputs[0]
        size = hint(product(value.shape))
        reach = bases = length = 0
        for source in node.inputs:
            reach |= self.reach[source]
            bases |= self.bases[source]
            length += self.lengths[source]
        self.reach[value] = self.large(reach, size)
        self.folds[value] = _joined([self.folds[v] for v in node.inputs])
        self.direct[value] = functools.reduce(operator.or_, (self.direct[v] for v in node.inputs), 0)
        if node.prim.kind == "map":
            length += 1
        expensive = node.prim.kind == "map" and weight(node.prim.name, node.inputs[0].dtype) >= EXPENSIVE
        few = self.large(bases, size).bit_count() <= 1
        if few and length <= LONGEST_CHAIN and (not expensive or bases == 0):
            self.bases[value], self.lengths[value] = bases, length
            self.cheap.add(value)
        else:
            self.bases[value], self.lengths[value] = self.new_bit(value), 0

    def large(self, bits: int, size: int) -> int:
        """Those operands that are not small beside a value of `size` elements."""
        result, rest = 0, bits
        while rest:
            bit = rest & -rest
            rest ^= bit
            if self.sizes[bit.bit_length() - 1] * 4 >= size:
                result |= bit
        return result


def _joined(folds: list[dict[int, int]]) -> dict[int, int]:
    result: dict[int, int] = {}
    for one in folds:
        for count, operands in one.items():
            result[count] = result.get(count, 0) | operands
    return result
