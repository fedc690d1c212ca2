"""Calls: an op with a derivative of its own, kept whole until lowering.

The node carries the op's body as a graph, which is its meaning and what it is lowered to. Of the op only the
name and the rules are used: `vjp_rule(node, cotangents) -> list`, required for reverse mode, and
`jvp_rule(node, tangents) -> list`, without which forward mode goes through the body. `cotangents` and
`tangents` are lists in which None stands for zero.
"""

from __future__ import annotations

from .. import derive
from ..graph import Node, current_graph
from ..primitive import Primitive


def _shape(*inputs, op, graph):
    return [(v.shape, v.dtype) for v in graph.outputs]


class _Call(Primitive):
    """The one primitive whose number of outputs is not fixed: always a tuple."""

    def __call__(self, *inputs, **attrs):
        node = Node(self, inputs, attrs, self.shape_rule(*inputs, **attrs))
        current_graph().nodes.append(node)
        return node.outputs


call = _Call("call", "call", _shape, outputs=0)


@call.vjp
def _(node, *cotangents):
    return node.attrs["op"].vjp_rule(node, list(cotangents))


@call.jvp
def _(node, *tangents):
    rule = getattr(node.attrs["op"], "jvp_rule", None)
    if rule is not None:
        return rule(node, list(tangents))
    graph = node.attrs["graph"]
    recorded = derive.record_inline(graph, node.inputs)
    return derive.append_jvp(recorded.nodes, node.inputs, tangents, recorded.outputs)


@call.batch
def _(node, inputs, dims):
    return derive.batch(node.attrs["graph"], inputs, dims)
