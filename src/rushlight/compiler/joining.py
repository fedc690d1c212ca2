"""Sums of values that are padded with zeros to different places are concatenations.

They come from the derivatives of slices: the parts of a projection, the halves of a rotation.
"""

from __future__ import annotations

from ..ir.graph import Value
from ..ir.sizes import hint


def placed_parts(value: Value) -> tuple[int, list[tuple]] | None:
    """(dim, [(start, part)]) of a value that is zero elsewhere along `dim`, or None."""
    node = value.node
    if node is None:
        return None
    if node.prim.name == "concat":
        dim, start, parts, zeros = node.attrs["dim"], 0, [], False
        for part in node.inputs:
            if _is_zero(part):
                zeros = True
            else:
                parts.append((start, part))
            start = start + part.shape[dim]
        return (dim, parts) if zeros else None
    if node.prim.name != "pad" or node.attrs["value"] != 0:
        return None
    low, high = node.attrs["low"], node.attrs["high"]
    moved = [d for d, around in enumerate(zip(low, high)) if not all(type(n) is int and n == 0 for n in around)]
    return (moved[0], [(low[moved[0]], node.inputs[0])]) if len(moved) == 1 else None


def _is_zero(value: Value) -> bool:
    node = value.node
    return node is not None and node.prim.name == "constant" and node.attrs["value"] == 0


def joined_parts(x: Value, y: Value, zeros) -> tuple[int, list[Value]] | None:
    """The operands of the concatenation that is x + y, or None; `zeros(shape)` makes what lies between parts."""
    first, second = placed_parts(x), placed_parts(y)
    if first is None or second is None or first[0] != second[0]:
        return None
    dim = first[0]
    result, end = [], 0
    for start, part in sorted(first[1] + second[1], key=lambda placed: hint(placed[0])):
        if hint(start) < hint(end) or start < end:
            return None
        if hint(start) > hint(end) and start > end:
            result.append(zeros(_with_size(x.shape, dim, start - end)))
        result.append(part)
        end = start + part.shape[dim]
    left = x.shape[dim] - end
    if hint(left) > 0 and left > 0:
        result.append(zeros(_with_size(x.shape, dim, left)))
    return dim, result


def _with_size(shape, dim: int, size) -> tuple:
    return (*shape[:dim], size, *shape[dim + 1 :])
