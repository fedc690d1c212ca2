"""Running functions on Values over NumPy arrays, through the reference interpreter."""

from __future__ import annotations

import numpy as np

from rushlight.ir.dtypes import dtype_named
from rushlight.ir.graph import Graph, current_graph
from rushlight.ir.interpret import interpret
from rushlight.ir.primitives.call import call


def traced(function, arrays) -> Graph:
    """The graph of `function(*values) -> list of Values` for operands like these arrays."""
    graph = Graph()
    with graph:
        inputs = [graph.tensor(np.shape(a), dtype_named(np.asarray(a).dtype.name)) for a in arrays]
        graph.returns(function(*inputs))
    return graph


def evaluate(function, *arrays) -> list:
    return interpret(traced(function, arrays), arrays)


def trace_call(op, body, *inputs) -> tuple:
    """Record a call of `op`, whose body is traced on inputs like these."""
    graph = Graph(current_graph().scope)
    with graph:
        graph.returns([body(*(graph.tensor(v.shape, v.dtype) for v in inputs))])
    return call(*inputs, op=op, graph=graph)
