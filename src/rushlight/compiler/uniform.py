"""One number written to many places: writes by index read it from one element, not from an array filled with it."""

from __future__ import annotations

from ..ir.graph import Graph, Node
from ..ir.primitive import PRIMITIVES

_WRITTEN = {"put": 1, "scatter": 2}  # which input of the primitive is written


def share_constants(graph: Graph) -> Graph:
    """Make the written constants of `put` and `scatter` views of one element; rewrites the graph in place."""
    nodes: list[Node] = []
    for node in graph.nodes:
        place = _WRITTEN.get(node.prim.name)
        source = None if place is None else node.inputs[place]
        if source is not None and source.ndim and source.node is not None and source.node.prim.name == "constant":
            made = spread(source.node)
            nodes += made
            node.inputs = (*node.inputs[:place], made[1].outputs[0], *node.inputs[place + 1 :])
        nodes.append(node)
    if len(nodes) > len(graph.nodes):
        graph.nodes = nodes
        graph.prune()
    return graph


def spread(constant: Node) -> tuple[Node, Node]:
    """A constant of one element, and its expansion to the old one's shape."""
    shape, dtype = constant.outputs[0].shape, constant.outputs[0].dtype
    one = Node(PRIMITIVES["constant"], (), {**constant.attrs, "shape": ()}, [((), dtype)])
    return one, Node(PRIMITIVES["expand"], one.outputs, {"shape": shape}, [(shape, dtype)])
