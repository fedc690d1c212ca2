"""Each rule of `ir.check`, broken once."""

from __future__ import annotations

import pytest

from rushlight.ir import build as B
from rushlight.ir.check import IllegalGraph, check
from rushlight.ir.dtypes import float32, float64, int32, int64
from rushlight.ir.graph import Graph, Node
from rushlight.ir.primitive import PRIMITIVES
from rushlight.ir.sizes import Scope

from .trace import trace_call


def good() -> Graph:
    scope = Scope()
    n = scope.symbol(4)
    graph = Graph(scope)
    with graph:
        x, y = graph.tensor((n, 3), float32), graph.tensor((3,), float32)
        s = graph.scalar(float64)
        graph.returns([x * y + s, B.sum(x, 1)], [None, (1,)], [0, None])
    return graph


def test_a_good_graph_passes_and_keeps_its_guards():
    graph = good()
    before = dict(graph.scope.guards)
    check(graph)
    check(graph, "lowerable")
    assert graph.scope.guards == before


def reorder(graph):
    graph.nodes.reverse()


def foreign_operand(graph):
    graph.nodes[0].inputs = good().nodes[0].inputs


def twice(graph):
    graph.nodes.append(graph.nodes[0])


def lie_about_shape(graph):
    graph.nodes[-1].outputs[0].shape = (7,)


def lie_about_dtype(graph):
    graph.nodes[-1].outputs[0].dtype = float64


def stranger(graph):
    graph.nodes[0].prim = type("Imitation", (), {"name": "add", "kind": "map"})()


def mixed_operands(graph):
    graph.nodes.append(Node(PRIMITIVES["add"], graph.inputs[:2], {}, [((3,), float32)]))


def odd_attribute(graph):
    graph.nodes[-1].attrs["dims"] = [1]


def undefined_output(graph):
    graph.outputs[0] = good().outputs[0]


def short_strides(graph):
    graph.output_strides[0] = (1,)


def missing_strides(graph):
    graph.output_strides.pop()


def missing_alias(graph):
    graph.aliases.pop()


def alias_of_other_shape(graph):
    graph.aliases[1] = 1


def alias_beyond(graph):
    graph.aliases[0] = 9


def alias_twice(graph):
    graph.outputs[1], graph.aliases[1], graph.output_strides[1] = graph.outputs[0], 0, None


def input_strides(graph):
    graph.inputs[0].strides = (1,)


def narrow_number(graph):
    graph.inputs[2].dtype = int32


def repeated_input(graph):
    graph.inputs.append(graph.inputs[0])


def node_as_input(graph):
    graph.inputs.append(graph.nodes[0].outputs[0])


def wrong_owner(graph):
    graph.nodes[0].outputs[0].index = 1


@pytest.mark.parametrize(
    "breakage",
    [
        reorder,
        foreign_operand,
        twice,
        lie_about_shape,
        lie_about_dtype,
        stranger,
        mixed_operands,
        odd_attribute,
        undefined_output,
        short_strides,
        missing_strides,
        missing_alias,
        alias_of_other_shape,
        alias_beyond,
        alias_twice,
        input_strides,
        narrow_number,
        repeated_input,
        node_as_input,
        wrong_owner,
    ],
)
def test_every_broken_rule_is_found(breakage):
    graph = good()
    breakage(graph)
    with pytest.raises(IllegalGraph):
        check(graph)


def test_calls_are_legal_until_lowering():
    graph = Graph()
    with graph:
        x = graph.tensor((2,), int64)
        graph.returns(trace_call(type("Op", (), {"name": "next"}), lambda v: v + 1, x))
    check(graph)
    with pytest.raises(IllegalGraph, match="no calls"):
        check(graph, "lowerable")


def test_unknown_stage():
    with pytest.raises(ValueError, match="stage"):
        check(good(), "finished")
