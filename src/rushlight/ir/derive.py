"""Transformations of graphs: reverse mode, forward mode, batching, copying. All record in the current graph.

Derivatives are dense or absent: None stands for zero. Values of integer or bool type have none.
"""

from __future__ import annotations

from . import build as B
from .graph import Graph, Node, Value, current_graph

TYPE_CHECKING = False  # typing itself would cost milliseconds at import
if TYPE_CHECKING:
    from collections.abc import Sequence

Direction = "Value | None"  # a cotangent or tangent


def is_differentiable(value: Value) -> bool:
    return value.dtype.kind in "fc"


def active_values(nodes: Sequence[Node], sources: Sequence[Value]) -> set[int]:
    """Ids of the values that depend differentiably on `sources`."""
    active = {id(v) for v in sources if is_differentiable(v)}
    for node in nodes:
        if any(id(v) in active for v in node.inputs):
            active.update(id(v) for v in node.outputs if is_differentiable(v))
    return active


def append_vjp(nodes: Sequence[Node], outputs, cotangents, wanted: Sequence[Value]) -> list:
    """Record the reverse pass of `nodes`, given in execution order.

    `cotangents[j]` (or None) has the shape and dtype of `outputs[j]`. Returns the cotangent of each wanted
    value, which may be any value that the nodes use or yield; None where no path leads to it.
    """
    active = active_values(nodes, wanted)
    total: dict[int, Value] = {}
    for value, cotangent in zip(outputs, cotangents):
        _accumulate(total, active, value, cotangent)
    kept = {id(v) for v in wanted}
    for node in reversed(list(nodes)):
        # a wanted value keeps its cotangent; any other is complete here and not needed after
        given = [total.get(id(v)) if id(v) in kept else total.pop(id(v), None) for v in node.outputs]
        if node.prim.vjp_rule is None or all(g is None for g in given):
            continue
        for value, cotangent in zip(node.inputs, node.prim.vjp_rule(node, *given)):
            _accumulate(total, active, value, cotangent)
    return [total.get(id(v)) for v in wanted]


def _accumulate(total: dict, active: set, value: Value, cotangent) -> None:
    if cotangent is None or id(value) not in active:
        return
    if cotangent.dtype is not value.dtype or len(cotangent.shape) != len(value.shape):
        raise RuntimeError(f"expected a cotangent like {value}, got {cotangent}")
    known = total.get(id(value))
    total[id(value)] = cotangent if known is None else B.add(known, cotangent)


def append_jvp(nodes: Sequence[Node], inputs: Sequence[Value], tangents, outputs: Sequence[Value]) -> list:
    """Record the forward pass of derivatives of `nodes`, given in execution order.

    `tangents[i]` (or None) is the direction in which `inputs[i]` moves. Returns each output's tangent, or None
    where it does not move.
    """
    moved = {id(v): t for v, t in zip(inputs, tangents) if t is not None and is_differentiable(v)}
    for node in nodes:
        given = [moved.get(id(v)) for v in node.inputs]
        if node.prim.jvp_rule is None or all(t is None for t in given):
            continue
        found = node.prim.jvp_rule(node, *given)
        found = found if isinstance(found, (list, tuple)) else [found]
        for value, tangent in zip(node.outputs, found):
            if tangent is not None and is_differentiable(value):
                moved[id(value)] = tangent
    return [moved.get(id(v)) for v in outputs]


def inline(graph: Graph, inputs: Sequence[Value]) -> list[Value]:
    """Copy a graph's nodes, with `inputs` (of the same shapes and dtypes) in place of its own; its outputs."""
    return record_inline(graph, inputs).outputs


class Inlined:
    """The copies of a graph's nodes and outputs."""

    __slots__ = ("nodes", "outputs")

    def __init__(self, nodes: list[Node], outputs: list[Value]):
        self.nodes, self.outputs = nodes, outputs


def record_inline(graph: Graph, inputs: Sequence[Value]) -> Inlined:
    """As `inline`, and the copied nodes, for transformations that follow."""
    mapped = _substitution(graph, inputs)
    nodes = []
    for node in graph.nodes:
        copy = _copy(node, [mapped[id(v)] for v in node.inputs])
        mapped.update((id(old), new) for old, new in zip(node.outputs, copy.outputs))
        nodes.append(copy)
    current_graph().nodes.extend(nodes)
    return Inlined(nodes, [mapped[id(v)] for v in graph.outputs])


def _substitution(graph: Graph, inputs) -> dict[int, Value]:
    if len(inputs) != len(graph.inputs):
        raise RuntimeError(f"the graph has {len(graph.inputs)} inputs, got {len(inputs)}")
    for old, new in zip(graph.inputs, inputs):
        if old.dtype is not new.dtype:
            raise RuntimeError(f"expected an input like {old}, got {new}")
    return {id(old): new for old, new in zip(graph.inputs, inputs)}


def _copy(node: Node, inputs) -> Node:
    copy = Node(node.prim, inputs, node.attrs, [(v.shape, v.dtype) for v in node.outputs])
    for old, new in zip(node.outputs, copy.outputs):
        new.weak = old.weak
    return copy


def batch(graph: Graph, inputs: Sequence[Value], dims: Sequence[int | None]) -> tuple[list[Value], list[int | None]]:
    """Record a graph for a whole batch: vmap.

    `inputs[i]` has one dimension more than the graph's input, at `dims[i]`, or the same shape if that is None.
    Returns the outputs and the place of each one's batch dimension; None where it depends on no batched input.
    """
    mapped = {id(old): (new, dim) for old, new, dim in zip(graph.inputs, inputs, dims)}
    for node in graph.nodes:
        values, places = zip(*(mapped[id(v)] for v in node.inputs)) if node.inputs else ((), ())
        if all(place is None for place in places):
            copy = _copy(node, values)
            current_graph().nodes.append(copy)
            results, places = copy.outputs, [None] * len(copy.outputs)
        else:
            if node.prim.batch_rule is None:
                raise RuntimeError(f"primitive {node.prim.name} has no batch rule")
            results, places = node.prim.batch_rule(node, values, places)
        mapped.update((id(old), pair) for old, pair in zip(node.outputs, zip(results, places)))
    found = [mapped[id(v)] for v in graph.outputs]
    return [value for value, _ in found], [place for _, place in found]
