"""Results that are written in pieces: the operands of a concatenation, the inside and the borders of a pad."""

from __future__ import annotations

from ..ir.graph import Node, Value
from ..ir.primitive import PRIMITIVES
from .templates import Array


def pieces(node: Node, home: Array) -> list[tuple[Value, Array]]:
    """Values and the parts of the result's memory they are stored to."""
    return _concat(node, home) if node.prim.name == "concat" else _pad(node, home)


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
