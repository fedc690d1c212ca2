"""What `vmap` does to functions about memory: geometry for the autograd engine, bytes as another dtype, showing."""

from __future__ import annotations

from ..core import engine
from ..core.engine import Layout, Tensor


def geometry(layout: Layout) -> tuple:
    """The entries of a layout's batch dims that are dims of its memory."""
    return tuple(entry for entry in layout.batch or () if entry[2])


def memory_like(base: Layout, cotangent: Layout) -> Layout:
    """A layout for new memory that lies as a base does, once for each sample that only the cotangent has."""
    own = geometry(base)
    levels = {level for level, _, _ in own}
    return engine.extended_layout(
        engine.layout_with_batch(base, own), [entry for entry in cotangent.batch or () if entry[0] not in levels]
    )


def part_layout(view: Layout, whole: Layout) -> Layout:
    """The layout of a view of a base in memory that `memory_like` made for the base."""
    entries = {entry[0]: entry for entry in whole.batch or ()} | {entry[0]: entry for entry in geometry(view)}
    return engine.layout_with_batch(view, entries.values())


def part_of(whole: Tensor, base_start: int, view: Layout, start: int) -> Tensor:
    """The part of `whole`, laid out as a base, that a view of that base shows."""
    return engine.view_as_layout(whole, part_layout(view, whole._layout), start - base_start)


def scattered(cotangent: Tensor, base: Layout, base_start: int, view: Layout, start: int) -> Tensor:
    """Zeros of a base's shape with `cotangent` laid in where a view of the base lies."""
    from .copying import fill

    given = cotangent._layout
    view = engine.layout_with_batch(view, geometry(view))
    extra = [entry for entry in given.batch or () if entry[0] not in {level for level, _, _ in view.batch or ()}]
    memory = engine.extended_layout(engine.layout_of((base.high + 1,), None, base.dtype), extra)
    flat = fill.in_place(engine.empty_tensor(memory), 0)
    part_of(flat, base_start, view, start).copy_(cotangent)
    if base.overlapping:
        from .shape import times_shown

        sizes, strides = [tuple(entry[i] for entry in geometry(base)) for i in (1, 2)]
        flat = flat / times_shown(base.high + 1, base.dtype, sizes + base.shape, strides + base.strides, 0)
    own = {entry[0]: entry for entry in flat._layout.batch or ()} | {entry[0]: entry for entry in geometry(base)}
    return engine.view_as_layout(flat, engine.layout_with_batch(base, own.values()), 0)


# -- all samples at once ------------------------------------------------------------------------
def revealed(tensor: Tensor) -> tuple:
    """(the tensor with its batch dims in front, their levels)"""
    levels = [level for level, _, _ in tensor._layout.batch or ()]
    for level in reversed(levels):
        tensor = engine.reveal(tensor, 0, level)
    return tensor, levels


def hidden(tensor: Tensor, levels: list) -> Tensor:
    """A tensor whose leading dims are the batch dims of the levels."""
    for level in levels:
        tensor = engine.hide(tensor, 0, level)
    return tensor


def physically(function, tensor: Tensor, *args) -> Tensor:
    """`function` of all samples at once: for what concerns the last dims of memory alone."""
    tensor, levels = revealed(tensor)
    return hidden(function(tensor, *args), levels)


def shown(tensor: Tensor, show) -> str:
    """How a tensor of a batch is printed: all samples along dim 0, the innermost level outermost."""
    *_, (level, _, _) = tensor._layout.batch
    inner = show(engine.reveal(tensor.detach(), 0, level)).replace("\n", "\n    ")
    return f"BatchedTensor(lvl={level}, bdim=0, value=\n    {inner}\n)"
