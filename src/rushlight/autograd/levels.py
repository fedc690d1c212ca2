"""Levels of `vmap`: a dim of tensors is hidden while a function runs on single samples, and shown again after.

What hides and shows is recorded, so gradients pass through; between the two, ops are planned over the whole batch
(`ops.batched`). A level's number is part of a layout. It is free again when the level is closed and no graph holds it:
numbers stay small, and calls find the plans of earlier ones.
"""

from __future__ import annotations

import itertools
from collections import namedtuple

from ..core import engine
from ..core.engine import Tensor, is_grad_enabled
from ..ir.sizes import product
from ..ops.declare import FUNCTIONS

_numbers: dict[int, object] = {}  # in use


class Level:
    """An open `vmap`: its number, how many samples it maps over, and what its random numbers are like."""

    def __init__(self, size: int, randomness: str = "error"):
        self.size, self.randomness = size, randomness
        mark = object()
        # setdefault: two threads never get one number
        self.number = next(n for n in itertools.count(1) if _numbers.setdefault(n, mark) is mark)

    def __del__(self):
        _numbers.pop(getattr(self, "number", 0), None)

    def __enter__(self):
        self.was = engine.set_open_levels((*engine.open_levels(), self))
        return self

    def __exit__(self, *exc):
        engine.set_open_levels(self.was)


# -- in and out -------------------------------------------------------------------------------------
def enter(tensor: Tensor, dim: int, level: Level) -> Tensor:
    """The tensor as one sample of a level, whose samples lie along `dim`."""
    return recorded(
        tensor,
        engine.hide(tensor, dim, level.number),
        "BatchBackward",
        lambda cotangent: leave(cotangent, dim, level),
        lambda tangent: enter(tangent, dim, level),
    )


def leave(tensor: Tensor, dim: int, level: Level) -> Tensor:
    """All samples of a level along `dim`, repeated without memory if they are one."""
    if not is_batched(tensor, level):
        tensor = share(tensor, level)
    return recorded(
        tensor,
        engine.reveal(tensor, dim, level.number),
        "UnbatchBackward",
        lambda cotangent: enter(cotangent, dim, level),
        lambda tangent: leave(tangent, dim, level),
    )


def share(tensor: Tensor, level: Level) -> Tensor:
    """One sample for all of a level, which has a gradient for each of them."""
    return recorded(
        tensor,
        engine.share(tensor, level.number, level.size),
        "ShareBackward",
        lambda cotangent: leave(cotangent, 0, level).sum(0),
        lambda tangent: tangent if is_batched(tangent, level) else share(tangent, level),
    )


def is_batched(tensor: Tensor, level: Level) -> bool:
    return any(number == level.number for number, _, _ in tensor._layout.batch or ())


def recorded(tensor: Tensor, made: Tensor, name: str, backward, forward) -> Tensor:
    """A view with its node, and the directions in which it moves."""
    if tensor.requires_grad and is_grad_enabled():
        engine.attach(engine.python_node(name, [tensor], backward), made)
    if engine.dual_level():
        from .forward_mode import attach, tangents_here

        for number, tangent in tangents_here(tensor).items():
            attach(made, forward(tangent), number)
    return made


def alias(tensor: Tensor) -> Tensor:
    """The same tensor in the same graph, as a variable of its own."""
    return recorded(tensor, engine.alias(tensor), "AliasBackward0", lambda cotangent: cotangent, alias)


def untracked(tensor: Tensor) -> Tensor:
    """The tensor outside of any graph, still moving in forward mode."""
    was = engine.set_grad_mode(False)
    try:
        return alias(tensor) if tensor.requires_grad else tensor
    finally:
        engine.set_grad_mode(was)


def variable(tensor: Tensor) -> Tensor:
    """A tensor to differentiate by: with a gradient of its own for each sample of every open level."""
    made = tensor
    for level in engine.open_levels():
        if not is_batched(made, level):
            made = share(made, level)
    made = alias(made) if made is tensor else made
    return made if made.requires_grad else made.requires_grad_()


# -- custom functions -------------------------------------------------------------------------------
VmapInfo = namedtuple("VmapInfo", ["batch_size", "randomness"])
VmapInfo.__doc__ = "What a custom function's own `vmap` rule is told: how many samples, and what randomness does."


def innermost(args: tuple) -> Level | None:
    """The innermost open level at which an argument has samples."""
    for level in reversed(engine.open_levels()):
        if any(isinstance(a, Tensor) and is_batched(a, level) for a in args):
            return level
    return None


def mapped_by_rule(function, args: tuple, level: Level):
    """A custom function's call by its own `vmap` rule: outside of the level, on all samples."""
    in_dims = tuple(0 if isinstance(a, Tensor) and is_batched(a, level) else None for a in args)
    given = [a if dim is None else leave(a, 0, level) for a, dim in zip(args, in_dims)]
    was = engine.set_open_levels(tuple(other for other in engine.open_levels() if other is not level))
    try:
        found, dims = function.vmap(VmapInfo(level.size, level.randomness), in_dims, *given)
    finally:
        engine.set_open_levels(was)
    if not isinstance(found, (tuple, list)):
        return found if dims is None else enter(found, dims, level)
    dims = dims if isinstance(dims, (tuple, list)) else (dims,) * len(found)
    entered = [y if dim is None else enter(y, dim, level) for y, dim in zip(found, dims, strict=True)]
    return tuple(entered) if isinstance(found, tuple) else entered


# -- whole maps -------------------------------------------------------------------------------------
def over(function, tensors, size: int) -> list:
    """`function` of samples along dim 0 of tensors (None stays), to a list of tensors with all samples along dim 0."""
    with Level(size) as level:
        found = function(*(None if t is None else enter(t, 0, level) for t in tensors))
        return [None if y is None else leave(y, 0, level) for y in found]


def basis(shapes: list, dtypes: list) -> list:
    """The unit vectors of the space that tensors of such shapes and dtypes span: one for each along dim 0."""
    counts = [product(shape) for shape in shapes]
    total, start, found = sum(counts), 0, []
    for shape, dtype, count in zip(shapes, dtypes, counts):
        columns = FUNCTIONS["eye"](total, dtype=dtype)[:, start : start + count]
        found.append(columns.reshape((total, *shape)))
        start += count
    return found
