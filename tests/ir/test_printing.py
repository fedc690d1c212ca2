"""Text of graphs: reading back what was written gives the same graph, and keys see structure only."""

from __future__ import annotations

import random

import numpy as np
import pytest

from rushlight.ir import build as B
from rushlight.ir.check import check
from rushlight.ir.dtypes import complex128, float32, float64
from rushlight.ir.graph import Graph
from rushlight.ir.interpret import interpret
from rushlight.ir.parsing import parse_graph
from rushlight.ir.printing import format_graph, graph_key
from rushlight.ir.sizes import Scope

from .samples import SAMPLES
from .trace import trace_call, traced

UNARY = (B.exp, B.abs, B.sin, lambda x: B.flip(x, 0), lambda x: B.cumsum(x, -1), lambda x: B.sort(x)[0], B.square)
BINARY = (B.add, B.mul, B.maximum, B.atan2, lambda a, b: B.where(a < b, a, b), lambda a, b: B.concat([a, b], 0)[1:])


def random_graph(seed: int, symbols=("a", "b")) -> Graph:
    """A chain of random functions over tensors with symbolic sizes and a run-time number."""
    rng = random.Random(seed)
    scope = Scope()
    n, m = (scope.input_symbol(name, hint) for name, hint in zip(symbols, (4, 3)))
    graph = Graph(scope)
    with graph:
        values = [graph.tensor((n, m), float64), graph.tensor((n, m), float64, (1, n))]
        scale = graph.scalar(float64)
        for _ in range(rng.randint(3, 12)):
            if rng.random() < 0.4:
                values.append(rng.choice(UNARY)(rng.choice(values)))
            elif rng.random() < 0.3:
                literal = rng.choice([1, -0.0, float("inf"), 1e-300, 0.1])
                values.append(rng.choice(values) * (scale * 2 + literal))
            else:
                a, b = rng.choice(values), rng.choice(values)
                size = a.shape[0] if rng.random() < 0.5 else b.shape[0]
                a, b = (B.pad(v, (0, 0), (size, 0))[:size] for v in (a, b))
                values.append(rng.choice(BINARY)(a, b))
        last = B.sum(values[-1], 0, keepdim=True)
        graph.returns([last, values[-1], values[0]], [None, (1, n), None], [None, None, 0])
    return graph


@pytest.mark.parametrize("seed", range(60))
def test_round_trip_of_random_graphs(seed):
    graph = random_graph(seed)
    check(graph, "lowerable")
    text = format_graph(graph)
    again = parse_graph(text)
    assert format_graph(again) == text
    assert graph_key(again) == graph_key(graph)
    check(again, "lowerable")
    rng = np.random.default_rng(seed)
    inputs = [rng.standard_normal((5, 3)), rng.standard_normal((5, 3)), 0.5]
    for a, b in zip(interpret(graph, inputs), interpret(again, inputs)):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_round_trip_of_every_primitive(sample):
    graph = traced(sample.apply, sample.arrays)
    check(graph, "lowerable")
    text = format_graph(graph)
    assert format_graph(parse_graph(text)) == text


def test_exact_constants():
    graph = Graph()
    numbers = [0.1, -0.0, 5e-324, float("inf"), float("-inf"), float("nan"), 1e22]
    with graph:
        floats = [B.full((), x, float64) for x in numbers]
        graph.returns([*floats, B.full((), complex(-0.0, 2.5), complex128), B.full((), 2**63 - 1), B.full((), True)])
    results = interpret(parse_graph(str(graph)), [])
    np.testing.assert_array_equal(results[:7], numbers)
    assert (
        np.signbit(results[1]) and np.signbit(results[7].real) and results[8] == 2**63 - 1 and results[9].dtype == bool
    )


def test_text_of_a_small_graph():
    scope = Scope()
    n = scope.symbol(5)
    graph = Graph(scope)
    with graph:
        x, s = graph.tensor((n, 3), float32), graph.scalar(float64)
        graph.returns([B.mean(x, 0) * s], [(1,)])
    assert str(graph) == "\n".join(
        [
            "sizes s0=5",
            "guards s0 > 1",
            "input %0: float32[s0, 3] strides (3, 1)",
            "input %1: weak float64[]",
            "%2 = reduce_sum(%0; dims=(0,)): float32[3]",
            "%3 = constant(value=s0, shape=(3,), dtype=float32): float32[3]",
            "%4 = div(%2, %3): float32[3]",
            "%5 = cast(%1; dtype=float32): weak float32[]",
            "%6 = expand(%5; shape=(3,)): float32[3]",
            "%7 = mul(%4, %6): float32[3]",
            "return %7 strides (1,)",
        ]
    )


def test_key_ignores_names_and_hints_but_not_structure():
    def graph(symbols, hint=5, dims=(0,), order=True):
        scope = Scope()
        a, b = (scope.input_symbol(name, hint) for name in symbols)
        result = Graph(scope)
        with result:
            x = result.tensor((a, b) if order else (a, a), float32)
            y = B.pad(x, (0, a + 2 * b), (0, 0)) if order else B.pad(x, (0, 3 * a), (0, 0))
            result.returns([B.sum(y, dims)])
        return result

    key = graph_key(graph(("s0", "s1")))
    assert key == graph_key(graph(("s1", "s0"))) == graph_key(graph(("x", "y"), hint=9))
    assert key != graph_key(graph(("s0", "s1"), dims=(1,)))
    assert key != graph_key(graph(("s0", "s1"), order=False))


class Halved:
    name = "halved"


def test_calls_and_their_bodies():
    def outer(v):
        return trace_call(Halved, lambda x: x / 2, v)[0] + 1

    graph = traced(lambda v: [trace_call(Halved, outer, v)[0]], [np.ones(2)])
    check(graph)
    again = parse_graph(str(graph), {"halved": Halved})
    assert str(again) == str(graph) and str(graph).count("graph_1") == 2
    assert again.nodes[0].attrs["op"] is Halved
    assert parse_graph(str(graph)).nodes[0].attrs["op"].name == "halved"
    assert interpret(again, [[2.0, 4.0]])[0].tolist() == [2, 3]


@pytest.mark.parametrize(
    "text",
    [
        "hello",
        "input %0: float32[2] strides (1,)\n%1 = sin(%0): float32[3]\nreturn %1",
        "input %0: float32[2] strides (1,)\n%1 = constant(value=__import__('os'), shape=(), dtype=int64): int64[]",
        "%0 = constant(value=2 ** 9, shape=(), dtype=int64): int64[]\nreturn %0",
    ],
)
def test_what_is_not_a_graph_is_refused_and_nothing_is_executed(text):
    with pytest.raises((ValueError, AttributeError)):
        parse_graph(text)


def test_printing_takes_no_decision():
    graph = random_graph(3)
    before = dict(graph.scope.guards)
    str(graph), graph_key(graph)
    assert graph.scope.guards == before
