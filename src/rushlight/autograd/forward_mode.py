"""Forward mode: tensors carry tangents, and every op moves them along.

Inside a level, a call with a tensor that has a tangent runs one more op, traced from the forward's graph by the
primitives'
rules: its outputs are the tangents of the results. Being an op, it is planned, cached, recorded and differentiable.
"""

from __future__ import annotations

import itertools
import weakref
from collections import namedtuple

from ..core import engine
from ..core.engine import Op, Tensor, is_grad_enabled
from ..ir.derive import append_jvp
from ..ir.graph import current_graph
from ..ops.declare import FUNCTIONS, Derived
from ..ops.planning import plan_call
from ..ops.results import as_value, flatten

UnpackedDualTensor = namedtuple("UnpackedDualTensor", ["primal", "tangent"])
UnpackedDualTensor.__doc__ = "What `unpack_dual` returns: a tensor without its tangent, and the tangent or None."

_levels = itertools.count(1)
_open: dict[int, list] = {}  # level -> weak references to the tensors that have a tangent there
_around: dict[int, int] = {}  # level -> the level around it, or 0


class dual_level:
    """A block in which tensors may have tangents; they are gone after it.

    >>> import rushlight.autograd.forward_ad as fwAD
    >>> with fwAD.dual_level():
    ...     x = fwAD.make_dual(rushlight.tensor(3.0), rushlight.tensor(1.0))
    ...     print(fwAD.unpack_dual(x * x).tangent)
    tensor(6.)
    """

    def __enter__(self):
        return enter_dual_level()

    def __exit__(self, *exc):
        exit_dual_level()


def enter_dual_level() -> int:
    """Open a level; RuntimeError if one is open in this thread (`func.jvp` may nest, one inside the other)."""
    if engine.dual_level():
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    return open_level()


def open_level() -> int:
    """Open a level inside of the one that is open, if one is."""
    level = next(_levels)
    _open[level], _around[level] = [], engine.dual_level()
    engine.set_dual_level(level)
    return level


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the level; tangents are dropped."""
    current = engine.dual_level()
    if not current or (level is not None and level != current):
        raise RuntimeError("Trying to exit a forward AD level that was not the last one that was created.")
    engine.set_dual_level(_around.pop(current))
    for reference in _open.pop(current):
        tensor = reference()
        if tensor is not None:
            engine.set_tangent(tensor, None, current)


def around(level: int) -> int:
    """The level around one, or 0."""
    return _around.get(level, 0)


def tangents_here(tensor: Tensor) -> dict:
    """The directions in which a tensor moves at the open levels: level -> tangent."""
    level, found = engine.dual_level(), {}
    while level:
        tangent = engine.tangent_of(tensor, level)
        if tangent is not None:
            found[level] = tangent
        level = around(level)
    return found


def current_level(level, what: str) -> int:
    current = engine.dual_level()
    if not current or (level is not None and level != current):
        raise RuntimeError(
            f"Trying to {what} outside of a dual level: open one with `dual_level()` (forward mode has a single "
            f"level at a time)"
        )
    return current


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A view of `tensor` that moves in the direction `tangent`, of the same shape and dtype."""
    level = current_level(level, "create a dual tensor")
    if not (tensor.is_floating_point() or tensor.is_complex()):
        raise ValueError(f"Expected primal to be floating point or complex, but got: {tensor.dtype}")
    if not (tangent.is_floating_point() or tangent.is_complex()):
        raise ValueError(f"Expected tangent to be floating point or complex, but got: {tangent.dtype}")
    if tensor.shape != tangent.shape or tensor.dtype is not tangent.dtype:
        raise RuntimeError(
            f"Expected primal and tangent of the same shape and dtype, got {tensor.dtype}{list(tensor.shape)} and "
            f"{tangent.dtype}{list(tangent.shape)}"
        )
    if engine.tangent_of(tensor, level) is not None:
        raise RuntimeError("make_dual: the tensor already has a tangent at this level")
    dual = tensor.view_as(tensor)
    attach(dual, tangent, level)
    return dual


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """(primal, tangent) of a dual tensor; the tangent is None if it has none, and outside of a level."""
    current = engine.dual_level()
    if not current:
        return UnpackedDualTensor(tensor, None)
    tangent = engine.tangent_of(tensor, current_level(level, "unpack a dual tensor"))
    if tangent is None:
        return UnpackedDualTensor(tensor, None)
    engine.set_dual_level(around(current))
    try:
        return UnpackedDualTensor(tensor.view_as(tensor), tangent.view_as(tangent))
    finally:
        engine.set_dual_level(current)


def attach(tensor: Tensor, tangent: Tensor, level: int) -> None:
    """Give a tensor its tangent, in the tensor's own layout, so that views of one are views of the other.

    Of batch dims that nobody sees it may have others than the tensor.
    """
    layout = tensor._layout.logical
    if tangent._layout.logical is not layout and not layout.overlapping:
        laid = engine.empty_tensor(engine.extended_layout(layout, tangent._layout.batch))
        was = engine.set_dual_level(around(level))
        tangent = laid.copy_(tangent)
        engine.set_dual_level(was)
    engine.set_tangent(tensor, tangent, level)
    _open[level].append(weakref.ref(tensor))


def directional(func, inputs: tuple, tangents: dict[int, Tensor]) -> list:
    """(output, tangent) of every output of `func` when the numbered inputs move; zeros for outputs that stand still."""
    with dual_level():
        given = [make_dual(x, tangents[i]) if i in tangents else x for i, x in enumerate(inputs)]
        found = func(*given)
        pairs = [(y, unpack_dual(y).tangent) for y in (found if isinstance(found, (tuple, list)) else (found,))]
    return [(y, FUNCTIONS["zeros_like"](y.detach()) if t is None else t) for y, t in pairs if isinstance(y, Tensor)]


# -- one call -----------------------------------------------------------------------------------------
class ForwardDeclaration(Derived):
    """The body of the op that moves tangents: arguments are the forward's flat inputs, then one tangent per flag."""

    keeps = "view"  # a tangent may be passed through, or be seen through a view

    def __init__(self, template, name: str, flags: tuple):
        self.template, self.name, self.flags = template, name, flags

    def channels_source(self, flat: list, j: int) -> None:
        """A tangent is laid out as what it belongs to when it is attached."""

    def run(self, arguments: list) -> list:
        """The tangents of the results, None where one does not move."""
        flat = arguments[: len(self.flags)]
        supply = iter(arguments[len(self.flags) :])
        tangents = [next(supply) if flag else None for flag in self.flags]
        graph = current_graph()
        start = len(graph.nodes)
        results = self.template.declaration.run(self.template.arguments(flat))
        results = list(flatten(results if isinstance(results, (tuple, list)) else [results]))
        values = [None if r is None else as_value(r) for r in results]
        moved = append_jvp(graph.nodes[start:], flat, tangents, [v for v in values if v is not None])
        supply = iter(moved)
        return [None if v is None else next(supply) for v in values]


def forward_op(structure, flags: tuple) -> Op:
    """The op that moves tangents through calls of a structure."""
    found = structure.__dict__.setdefault("forwards", {})
    if flags not in found:
        declaration = ForwardDeclaration(structure.template, structure.called.declaration.name + "_forward", flags)
        made = Op(declaration.name, (), b"", 0, plan_call, variadic=True)
        made.declaration, made.structures = declaration, {}
        found[flags] = made
    return found[flags]


def perform_dual(op: Op, plan, flat: list):
    """Run a planned call some of whose arguments have tangents, and give its results theirs.

    Inside, the level around is open: the call and the op that moves tangents are differentiated there in turn.
    """
    current = level = engine.dual_level()
    tangents: list = []
    while level and not any(t is not None for t in tangents):
        tangents = [engine.tangent_of(v, level) if isinstance(v, Tensor) else None for v in flat]
        found, level = level, around(level)
    engine.set_dual_level(level)
    try:
        if all(t is None for t in tangents):  # of a level that is not open here
            return engine.perform_plan(op, plan, flat)
        return perform_moving(op, plan, flat, tangents, found)
    finally:
        engine.set_dual_level(current)


def perform_moving(op: Op, plan, flat: list, tangents: list, level: int):
    flags = tuple(t is not None for t in tangents)
    mover = forward_op(plan.derive.__self__, flags)
    moved = mover.call([*flat, *(t for t in tangents if t is not None)])
    if op.into >= 0:
        return perform_in_place(op, plan, flat, tangents[op.into], moved[0], level)
    result = engine.perform_plan(op, plan, flat)
    if result is not None:
        results = result if isinstance(result, (tuple, list)) else [result]
        for value, tangent in zip(results, moved):
            if tangent is not None and not any(value is v for v in flat):
                attach(value, as_tangent(tangent, value), level)
                follow_kept(value, -1, engine.tangent_of(value, level), level)
    return result


def perform_in_place(op: Op, plan, flat: list, before, after, level: int):
    """A write: what its node keeps of the old value moves as that did."""
    target = flat[op.into]
    recorded = is_grad_enabled() and any(isinstance(v, Tensor) and v.requires_grad for v in flat)
    before = before.clone() if recorded and before is not None else None
    result = engine.perform_plan(op, plan, flat)
    move_in_place(target, after, level)
    if recorded:
        follow_kept(target, op.into, before, level)
        follow_kept(target, -1, engine.tangent_of(target, level), level)
    return result


def follow_kept(value: Tensor, position: int, tangent, level: int) -> None:
    """Let the alias that a node keeps for its backward move too, so that gradients can be followed forward."""
    kept = engine.kept_by_node(value, position) if tangent is not None else None
    if kept is not None and kept is not value and engine.tangent_of(kept, level) is None:
        engine.set_tangent(kept, tangent, level)
        _open[level].append(weakref.ref(kept))


def as_tangent(tangent: Tensor, value: Tensor) -> Tensor:
    return tangent if tangent.dtype is value.dtype else tangent.to(value.dtype)


def move_in_place(target: Tensor, tangent: Tensor | None, level: int) -> None:
    """The tangent of what was written, laid into that of the target, or of its base if it is a view."""
    held = engine.tangent_of(target, level)
    if held is not None and (tangent is None or holds_samples(held, tangent)):
        held.copy_(tangent) if tangent is not None else held.zero_()
        return
    if tangent is None:
        return
    base = target._base
    if base is None:
        attach(target, as_tangent(tangent, target), level)
        return
    whole = whole_tangent(base, tangent, level)
    offset = whole.storage_offset() + target.storage_offset() - base.storage_offset()
    part = whole.as_strided(tuple(target.shape), target.stride(), offset)
    part.copy_(tangent)
    engine.set_tangent(target, part, level)
    _open[level].append(weakref.ref(target))


def holds_samples(held: Tensor, tangent: Tensor) -> bool:
    """Whether a tangent has a sample of its own wherever (at the levels of `vmap`) another one has."""
    return {entry[0] for entry in tangent._layout.batch or ()} <= {
        entry[0] for entry in held._layout.batch or () if entry[2]
    }


def whole_tangent(base: Tensor, tangent: Tensor, level: int) -> Tensor:
    """The tangent of a base, with room for the samples that a tangent of a part of it has."""
    held = engine.tangent_of(base, level)
    if held is None or not holds_samples(held, tangent):
        made = engine.empty_tensor(engine.extended_layout(base._layout.logical, tangent._layout.batch))
        made.zero_() if held is None else made.copy_(held)
        attach(base, made, level)
    return engine.tangent_of(base, level)


engine.bind("perform_dual", perform_dual)
