"""View primitives as index arithmetic: an access of the result as one of the operand, a strided array as another."""

from __future__ import annotations

from itertools import pairwise

from ..ir.graph import Node
from ..ir.sizes import Sym, hint, product
from .affine import ZERO, Affine, divide, linear
from .templates import Array

VIEWS = ("reshape", "permute", "expand", "slice", "diagonal", "unfold", "flip", "view_as_real", "view_as_complex")


def is_view(node: Node | None) -> bool:
    return node is not None and node.prim.name in VIEWS


def view_access(node: Node, access) -> tuple[Affine, ...] | None:
    """Where the operand is read when the result is read at `access`; None if that is not affine."""
    rule = _ACCESS.get(node.prim.name)
    return None if rule is None else rule(node.inputs[0].shape, node.outputs[0].shape, access, node.attrs)


def view_array(node: Node, array: Array) -> Array | None:
    """The result as a view of the operand's memory; None if no strides describe it."""
    rule = _LAYOUT.get(node.prim.name)
    return _by_access(node, array) if rule is None else rule(node, array)


# -- accesses -----------------------------------------------------------------------------------
def _reshape(inner, outer, access, attrs):
    return reshape_access(access, outer, inner)


def reshape_access(access, shape, target) -> tuple[Affine, ...] | None:
    """The access of the same elements under shape `target`."""
    result = [ZERO] * len(target)
    for here, there in matching_groups(shape, target):
        index = linear((access[d], shape[d]) for d in here)
        for d in reversed(there[1:]):
            parts = divide(index, target[d])
            if parts is None:
                return None
            index, result[d] = parts
        if there:
            result[there[0]] = index
    return tuple(a.resolved() for a in result)


def matching_groups(shape, target) -> list[tuple[list[int], list[int]]]:
    """The finest groups of consecutive dims, sizes of 1 left out, that hold equally many elements."""
    left = [d for d, size in enumerate(shape) if not _one(size)]
    right = [d for d, size in enumerate(target) if not _one(size)]
    groups = []
    while left or right:
        here, there = [left.pop(0)] if left else [], [right.pop(0)] if right else []
        a, b = product(shape[d] for d in here), product(target[d] for d in there)
        while not _same(a, b):
            source, group = (left, here) if left and (hint(a) <= hint(b) or not right) else (right, there)
            group.append(source.pop(0))
            a, b = product(shape[d] for d in here), product(target[d] for d in there)
        groups.append((here, there))
    return groups


def _same(a, b) -> bool:
    return hint(a) == hint(b) and bool(a == b)


def _one(size) -> bool:
    return type(size) is int and size == 1


def _permute(inner, outer, access, attrs):
    result = [ZERO] * len(inner)
    for d, source in enumerate(attrs["dims"]):
        result[source] = access[d]
    return tuple(result)


def _expand(inner, outer, access, attrs):
    new = len(outer) - len(inner)
    return tuple(ZERO if _one(size) else access[new + d] for d, size in enumerate(inner))


def _slice(inner, outer, access, attrs):
    return tuple(a.scaled(step).shifted(start) for a, start, step in zip(access, attrs["starts"], attrs["steps"]))


def _diagonal(inner, outer, access, attrs):
    dim1, dim2, offset = attrs["dim1"], attrs["dim2"], attrs["offset"]
    rest, along = list(access[:-1]), access[-1]
    shifts = {dim1: max(-offset, 0), dim2: max(offset, 0)}
    return tuple(along.shifted(shifts[d]) if d in shifts else rest.pop(0) for d in range(len(inner)))


def _unfold(inner, outer, access, attrs):
    dim = attrs["dim"]
    index = access[dim].scaled(attrs["step"]) + access[-1]
    return (*access[:dim], index, *access[dim + 1 : -1])


def _flip(inner, outer, access, attrs):
    dims = attrs["dims"]
    return tuple(a.scaled(-1).shifted(inner[d] - 1) if d in dims else a for d, a in enumerate(access))


_ACCESS = {
    "reshape": _reshape,
    "permute": _permute,
    "expand": _expand,
    "slice": _slice,
    "diagonal": _diagonal,
    "unfold": _unfold,
    "flip": _flip,
}


# -- strided arrays -------------------------------------------------------------------------------
def _by_access(node: Node, array: Array) -> Array:
    """Strides from the access rule, by reading it at one unknown index for each dimension of the result."""
    shape = node.outputs[0].shape
    units = [_Unit() for _ in shape]
    inner = view_access(node, tuple(Affine({u: 1}) for u in units))
    offset, strides = array.offset, dict.fromkeys(units, 0)
    for affine, stride in zip(inner, array.strides):
        offset = offset + affine.const * stride
        for unit, coefficient in affine.terms.items():
            strides[unit] = strides[unit] + coefficient * stride
    return Array(array.role, array.index, shape, tuple(strides.values()), array.dtype, offset)


class _Unit:
    """An index without a loop behind it."""

    parts = None


def _reshape_array(node: Node, array: Array) -> Array | None:
    return reshape_array(array, node.outputs[0].shape)


def reshape_array(array: Array, shape) -> Array | None:
    """The array under another shape, if its strides allow that without a copy."""
    strides = [0] * len(shape)
    for here, there in matching_groups(array.shape, shape):
        for d, after in pairwise(here):
            if not _nests(array.strides[d], array.strides[after] * array.shape[after]):
                return None
        step = array.strides[here[-1]] if here else 0
        for d in reversed(there):
            strides[d] = step
            step = step * shape[d]
    return Array(array.role, array.index, tuple(shape), tuple(strides), array.dtype, array.offset)


def _nests(outer, inner) -> bool:
    return hint(outer) == hint(inner) and bool(outer == inner)


def _real_array(node: Node, array: Array) -> Array:
    strides = (*(2 * s for s in array.strides), 1)
    return Array(array.role, array.index, node.outputs[0].shape, strides, node.outputs[0].dtype, 2 * array.offset)


def _complex_array(node: Node, array: Array) -> Array | None:
    *outer, last = array.strides
    if not (hint(last) == 1 and last == 1) or not all(_even(s) for s in (*outer, array.offset)):
        return None
    strides = tuple(s // 2 for s in outer)
    return Array(array.role, array.index, node.outputs[0].shape, strides, node.outputs[0].dtype, array.offset // 2)


def _even(size) -> bool:
    if hint(size) % 2:
        return False
    rest = size % 2
    return type(rest) is not Sym or bool(rest == 0)


_LAYOUT = {"reshape": _reshape_array, "view_as_real": _real_array, "view_as_complex": _complex_array}
