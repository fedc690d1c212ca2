"""Results that are written in pieces: the operands of a concatenation, the inside and the borders of a pad."""

from __future__ import annotations

from ..ir.graph import Graph, Node, Value
from ..ir.primitive import PRIMITIVES
from .memory import Memory
from .templates import Array

_MOVES = ("slice", "flip", "permute", "expand")  # views of any strides


def pieces(node: Node, home: Array) -> list[tuple[Value, Array]]:
    """Values and the parts of the result's memory they are stored to."""
    return _concat(node, home) if node.prim.name == "concat" else _pad(node, home)


def nested_pieces(graph: Graph, memory: Memory) -> set[Value]:
    """Results in pieces that are a piece of another one and of no other use: their place in it becomes their home."""
    made = [node for node in graph.nodes if node.prim.name in ("concat", "pad")]
    if len(made) < 2 or any(alias is not None for alias in graph.aliases):
        return set()
    users: dict[Value, list[Node]] = {}
    for node in graph.nodes:
        for value in dict.fromkeys(node.inputs):
            users.setdefault(value, []).append(node)

    def is_used_by(value: Value, reader: Node) -> bool:
        readers = users.get(value, [])
        moves = [n for n in readers if n is not reader and n.prim.name in _MOVES]
        rest = len(readers) - len(moves) - (reader in readers)
        return value not in memory.places and not rest and all(is_used_by(n.outputs[0], reader) for n in moves)

    nested: set[Value] = set()
    for node in reversed(made):
        inside = [v for v in dict.fromkeys(node.inputs) if v.node in made and node.inputs.count(v) == 1]
        inside = [v for v in inside if is_used_by(v, node)]
        if inside:
            nested.update(inside)
            memory.homes.update((v, array) for v, array in pieces(node, memory.home(node.outputs[0])) if v in inside)
    return nested


def part_of(array: Array, starts, shape) -> Array:
    """A box of an array."""
    offset = array.offset
    for start, stride in zip(starts, array.strides):
        offset = offset + start * stride
    return Array(array.role, array.index, tuple(shape), array.strides, array.dtype, offset)


def _concat(node: Node, home: Array) -> list[tuple[Value, Array]]:
    dim, start, result = node.attrs["dim"], 0, []
    for value in node.inputs:
        starts = [start if d == dim else 0 for d in range(value.ndim)]
        result.append((value, part_of(home, starts, value.shape)))
        start = start + value.shape[dim]
    return result


def _pad(node: Node, home: Array) -> list[tuple[Value, Array]]:
    """The operand in the middle; before and after each dimension a slab, as wide as what is inside of it so far."""
    source, low, high = node.inputs[0], node.attrs["low"], node.attrs["high"]
    result = [(source, part_of(home, low, source.shape))]
    starts, shape = list(low), list(source.shape)
    for d in reversed(range(source.ndim)):
        for start, width in ((0, low[d]), (low[d] + source.shape[d], high[d])):
            if not (type(width) is int and width == 0):
                box = [start if e == d else starts[e] for e in range(source.ndim)]
                slab = tuple(width if e == d else shape[e] for e in range(source.ndim))
                result.append((_filled(node, slab), part_of(home, box, slab)))
        starts[d], shape[d] = 0, node.outputs[0].shape[d]
    return result


def _filled(node: Node, shape) -> Value:
    """A constant that is part of no graph: it is only ever stored."""
    dtype = node.outputs[0].dtype
    value = node.attrs["value"]
    attrs = {"value": value, "shape": shape, "dtype": dtype}
    return Node(PRIMITIVES["constant"], (), attrs, [(shape, dtype)]).outputs[0]
