"""The geometry of views: how a chain of view primitives looks at the memory of a graph input."""

from __future__ import annotations

from ..ir.graph import Value
from ..ir.sizes import Sym, contiguous_strides, hint
from .lazy import CONJ, NODES


def resolve_view(value: Value):
    """(input, shape, strides, offset, bits) if `value` is a view of a tensor input of its graph, else None."""
    chain = []
    origin = value
    while origin.node is not None:
        name = origin.node.prim.name
        if name not in NODES and (origin.node.prim.kind != "view" or name not in _STRIDE_RULES):
            return None
        chain.append(origin.node)
        origin = origin.node.inputs[0]
    if origin.weak or origin.strides is None:
        return None
    shape, strides, offset, bits = origin.shape, origin.strides, 0, 0
    for node in reversed(chain):
        if node.prim.name in NODES:
            bits ^= NODES[node.prim.name]
            continue
        if bits & CONJ and node.prim.name == "view_as_real":
            return None  # every other number would be a negative
        found = _STRIDE_RULES[node.prim.name](shape, strides, node)
        if found is None:
            return None
        strides, step = found
        offset = offset + step
        shape = node.outputs[0].shape
        if node.prim.name == "view_as_real":
            offset = offset * 2
        elif node.prim.name == "view_as_complex":
            offset = offset // 2
    return origin, shape, tuple(strides), offset, bits


def _reshape(shape, strides, node):
    found = reshaped_strides(shape, strides, node.outputs[0].shape)
    return None if found is None else (found, 0)


def _permute(shape, strides, node):
    return [strides[d] for d in node.attrs["dims"]], 0


def _expand(shape, strides, node):
    target = node.outputs[0].shape
    new = len(target) - len(shape)
    kept = [0 if _is_one(n) and not _is_one(m) else s for n, m, s in zip(shape, target[new:], strides)]
    return [0] * new + kept, 0


def _slice(shape, strides, node):
    starts, steps = node.attrs["starts"], node.attrs["steps"]
    offset = 0
    for start, stride, size in zip(starts, strides, node.outputs[0].shape):
        if not (type(size) is int and size == 0):
            offset = offset + start * stride
    return [s * stride for s, stride in zip(steps, strides)], offset


def _diagonal(shape, strides, node):
    offset, dim1, dim2 = node.attrs["offset"], node.attrs["dim1"], node.attrs["dim2"]
    rest = [s for d, s in enumerate(strides) if d not in (dim1, dim2)]
    start = offset * strides[dim2] if offset >= 0 else -offset * strides[dim1]
    return [*rest, strides[dim1] + strides[dim2]], start


def _unfold(shape, strides, node):
    dim, step = node.attrs["dim"], node.attrs["step"]
    return [s * step if d == dim else s for d, s in enumerate(strides)] + [strides[dim]], 0


def _view_as_real(shape, strides, node):
    return [s * 2 for s in strides] + [1], 0


def _view_as_complex(shape, strides, node):
    if strides[-1] != 1 or any(s % 2 != 0 for s in strides[:-1]):
        return None
    return [s // 2 for s in strides[:-1]], 0


_STRIDE_RULES = {
    "reshape": _reshape,
    "permute": _permute,
    "expand": _expand,
    "slice": _slice,
    "diagonal": _diagonal,
    "unfold": _unfold,
    "view_as_real": _view_as_real,
    "view_as_complex": _view_as_complex,
}


def _is_one(size) -> bool:
    return hint(size) == 1 and size == 1  # a computed size that is 1 now becomes a condition of the plan


def _is_zero(size) -> bool:
    return type(size) is int and size == 0


def reshaped_strides(shape, strides, target):
    """Strides that show memory of `shape` and `strides` as `target` without moving anything, or None.

    Old dims are gathered in runs that lie in memory like one dim; each run must be filled by a run of new dims.
    """
    if any(_is_zero(n) for n in target):
        return contiguous_strides(target)
    runs = []  # (size, innermost stride) of runs, outermost first
    for size, stride in zip(shape, strides):
        if _is_one(size):
            continue
        if runs and runs[-1][1] == size * stride:
            runs[-1] = (runs[-1][0] * size, stride)
        else:
            runs.append((size, stride))
    result: list = [1] * len(target)
    position = len(target) - 1
    for size, stride in reversed(runs):
        filled = 1
        while position >= 0 and (_is_one(target[position]) or filled != size):
            result[position] = stride * filled
            filled = filled * target[position]
            position -= 1
            if not isinstance(filled, Sym) and not isinstance(size, Sym) and filled > size:
                return None
        if filled != size:
            return None
    while position >= 0:
        if not _is_one(target[position]):
            return None
        result[position] = result[position + 1] * target[position + 1] if position + 1 < len(target) else 1
        position -= 1
    return result
