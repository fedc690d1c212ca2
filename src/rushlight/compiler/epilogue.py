"""Biases into products: `dot(a, b) + bias` and `conv(x, w) + bias` become one node that stores the sum."""

from __future__ import annotations

from ..ir.graph import Graph, Node, Value


def fuse_biases(graph: Graph) -> Graph:
    """Rewrite the graph in place; a fused node carries its bias as third input."""
    uses: dict[int, int] = {}
    for value in (*graph.outputs, *(v for node in graph.nodes for v in node.inputs)):
        uses[id(value)] = uses.get(id(value), 0) + 1
    gone = set()
    for i, node in enumerate(graph.nodes):
        found = node.prim.name == "add" and biased(node, uses)
        if found:
            product, bias = found
            graph.nodes[i] = joined(product, bias, node)
            gone.add(id(product))
    if gone:
        graph.nodes = [node for node in graph.nodes if id(node) not in gone]
        graph.prune()
    return graph


def biased(node: Node, uses) -> tuple[Node, Value] | None:
    """The product and the bias that an addition joins, or None."""
    for product, other in (node.inputs, node.inputs[::-1]):
        made = product.node
        if made is None or made.prim.name not in ("dot", "conv") or len(made.inputs) > 2 or uses[id(product)] > 1:
            continue
        if other.node is None or other.node.prim.name != "expand":
            continue
        if made.prim.name == "conv" and product.dtype.kind != "f":
            continue  # the direct kernel for integers and complex numbers stores plain sums
        bias = other if made.prim.name == "dot" else channel_vector(other)
        if bias is not None:
            return made, bias
    return None


def channel_vector(expanded: Value) -> Value | None:
    """The (O,) vector behind expand(reshape(bias, (1, O, 1, ...))), or None."""
    reshaped = expanded.node.inputs[0]
    if reshaped.node is None or reshaped.node.prim.name != "reshape":
        return None
    vector = reshaped.node.inputs[0]
    ones = [n for d, n in enumerate(reshaped.shape) if d != 1]
    plain = all(type(n) is int and n == 1 for n in ones) and len(reshaped.shape) == len(expanded.shape)
    return vector if plain and vector.ndim == 1 else None


def joined(product: Node, bias: Value, addition: Node) -> Node:
    """The product with a bias, yielding the addition's value."""
    made = Node.__new__(Node)
    made.prim, made.inputs, made.attrs = product.prim, (*product.inputs, bias), product.attrs
    made.outputs = addition.outputs
    for value in made.outputs:
        value.node = made
    return made
