"""`gather` and `take` as part of a kernel: where their operands are read when the result is read at an access."""

from __future__ import annotations

from ..ir.graph import Node
from ..ir.sizes import hint

FETCHES = ("gather", "take")


def is_fetch(node: Node) -> bool:
    return node.prim.name in FETCHES


def indexed_dims(node: Node) -> range:
    """The dimensions of the first operand that indices point into."""
    return range(node.attrs["dim"], node.attrs["dim"] + len(node.inputs) - 1)


def split_access(node: Node, access) -> tuple[tuple, tuple]:
    """(where the indices are read, where the first operand is read in its other dimensions)"""
    dim, index = node.attrs["dim"], node.inputs[1]
    rank = 1 if node.prim.name == "gather" else len(index.shape)
    place = access if node.prim.name == "gather" else access[dim : dim + rank]
    return tuple(place), (*access[:dim], *access[dim + rank :])


def has_elements(node: Node) -> bool:
    """Whether there is an element to read in place of one that is out of bounds."""
    sizes = [node.inputs[0].shape[d] for d in indexed_dims(node)]
    return all(hint(size) >= 1 and bool(size >= 1) for size in sizes)


def takes_rows(node: Node) -> bool:
    """Whether one index names a whole row of elements."""
    return node.prim.name == "take" and indexed_dims(node).stop < len(node.inputs[0].shape)
