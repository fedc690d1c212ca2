"""The order of kernels, and outputs that overwrite inputs in place."""

from __future__ import annotations

import heapq

from ..ir.graph import Value
from .affine import access_key
from .cluster import Step, TemplateStep, reaches
from .fuse import Fuser, base_of
from .templates import Array


def overwrite_inputs(fuser: Fuser) -> list[int]:
    """Let outputs overwrite the inputs they alias after all who read those; returns the outputs that cannot.

    Such an output must go to memory of its own and be copied at the very end.
    """
    unsafe = []
    steps_writing = writers_of(fuser)
    for j, i in enumerate(fuser.graph.aliases):
        if i is None:
            continue
        array = fuser.memory.outputs[j]
        writers = steps_writing.get((array.role, array.index), [])
        readers = fuser.readers_of(fuser.graph.inputs[i])
        if len(writers) != 1 or not _may_overwrite(writers[0], array, readers, fuser, i):
            unsafe.append(j)
            continue
        for reader in readers:
            if reader is not writers[0]:
                reader.after.append(writers[0])
    return unsafe


def writers_of(fuser: Fuser) -> dict[tuple[str, int], list[Step]]:
    """For each buffer the steps that write to it."""
    found: dict[tuple[str, int], dict[int, Step]] = {}
    for step in fuser.steps:
        if type(step) is TemplateStep:
            arrays = [fuser.memory.homes[v] for v in step.node.outputs if v in fuser.memory.homes]
        else:
            arrays = [array for _, _, array in step.stores]
        for array in arrays:
            found.setdefault((array.role, array.index), {})[id(step)] = step
    return {buffer: list(steps.values()) for buffer, steps in found.items()}


def _may_overwrite(writer: Step, array: Array, readers: list[Step], fuser: Fuser, i: int) -> bool:
    if any(reader is not writer and reaches(writer, reader) for reader in readers):
        return False
    if writer not in readers:
        return True
    if type(writer) is TemplateStep:
        return _writes_by_index(writer, fuser.graph.inputs[i])
    if writer in map(Step.find, fuser.readers.get(fuser.graph.inputs[i], ())):
        return False
    # each element must be read by the very iteration that overwrites it
    (stored,) = [access for _, access, a in writer.stores if a is array]
    demands = fuser.demands.get(fuser.graph.inputs[i], ())
    return all(access_key(access) == access_key(stored) for c, access in demands if c.find() is writer)


def _writes_by_index(step: TemplateStep, value: Value) -> bool:
    """Whether a template changes `value` at some places, and hence can do so where it lies."""
    first, *others = step.node.inputs
    return step.node.prim.name in ("put", "scatter") and first is value and all(base_of(v) is not value for v in others)


def ordered(steps: list[Step]) -> list[Step]:
    """The steps in an order that respects who reads what, near to that of the graph."""
    waiting = {id(s): 0 for s in steps}
    number = {id(s): i for i, s in enumerate(steps)}
    for step in steps:
        for follower in step.followers():
            waiting[id(follower)] += 1
    ready = [(s.last, number[id(s)], s) for s in steps if waiting[id(s)] == 0]
    heapq.heapify(ready)
    result = []
    while ready:
        step = heapq.heappop(ready)[2]
        result.append(step)
        for follower in step.followers():
            waiting[id(follower)] -= 1
            if waiting[id(follower)] == 0:
                heapq.heappush(ready, (follower.last, number[id(follower)], follower))
    if len(result) != len(steps):
        raise RuntimeError("lower: kernels wait for each other in a circle")
    return result
