"""Graphs are rewritten to equal ones: no-ops go, equal nodes are shared, padded parts are joined."""

import pytest
from lower_harness import check, random

from rushlight.compiler.simplify import simplify
from rushlight.ir import build as B
from rushlight.ir.dtypes import bfloat16, float16, float32, int32
from rushlight.ir.graph import Graph
from rushlight.ir.primitive import PRIMITIVES
from rushlight.ir.sizes import Scope


def names(build, *shapes, dtype=float32, symbolic=False):
    scope = Scope() if symbolic else None
    graph = Graph(scope)
    values = [graph.tensor([scope.symbol(n) if symbolic else n for n in shape], dtype) for shape in shapes]
    with graph:
        outputs = build(*values)
    graph.returns(outputs if isinstance(outputs, tuple) else [outputs])
    return [node.prim.name for node in simplify(graph).nodes]


CASES = {
    "equal nodes": (lambda x: B.exp(x) + B.exp(x), ["exp", "add"]),
    "unused nodes": (lambda x: (B.exp(x), x)[1], []),
    "a cast and back": (lambda x: B.cast(B.cast(x, bfloat16), float32), ["cast", "cast"]),
    "views of views": (lambda x: B.reshape(B.reshape(x, (24,)), (4, 6)), []),
    "permuted twice": (lambda x: B.permute(B.permute(x, (1, 0)), (1, 0)), []),
    "a whole slice": (lambda x: B.slice(x, (0, 0), x.shape), []),
    "a view of a constant": (lambda x: x + B.reshape(B.zeros((6, 4), float32), (4, 6)), ["constant", "add"]),
    "a pad by nothing": (lambda x: B.pad(x, (0, 0), (0, 0)), []),
    "one operand joined": (lambda x: B.concat([x], 0), []),
    "a sum over size 1": (lambda x: B.sum(B.reshape(x, (4, 1, 6)), (1,)), []),
    "a sum over sizes 1 and 6": (lambda x: B.sum(B.reshape(x, (4, 1, 6)), (1, 2)), ["reduce_sum"]),
    "1 and 1.0 differ": (lambda x: (B.full_like(x, 0.0), B.full_like(x, -0.0)), ["constant", "constant"]),
}


@pytest.mark.parametrize("name", CASES)
def test_rules(name):
    build, wanted = CASES[name]
    assert names(build, (4, 6)) == wanted


def test_casts_that_lose_nothing_cancel():
    assert names(lambda x: B.cast(B.cast(x, float32), float16), (4,), dtype=float16) == []
    assert names(lambda x: B.cast(B.cast(x, float32), int32), (4,), dtype=int32) == ["cast", "cast"]


def test_calls_are_inlined():
    body = Graph()
    y = body.tensor((4, 6), float32)
    with body:
        body.returns([B.exp(y) * 2.0])

    def build(x):
        return PRIMITIVES["call"](x, op="an op", graph=body)[0] + B.exp(x)

    assert names(build, (4, 6)) == ["exp", "constant", "mul", "add"]


# -- padded parts -------------------------------------------------------------------------------------
def padded(x, y, z):
    """What the derivative of three slices of one value is."""
    return B.pad(x, (0, 0), (0, 5)) + B.pad(y, (0, 2), (0, 3)) + B.pad(z, (0, 4), (0, 1))


def test_padded_parts_are_joined():
    shapes = (4, 2), (4, 2), (4, 2)
    for symbolic in (False, True):
        made = names(padded, *shapes, symbolic=symbolic)
        assert made.count("concat") == 1 and "pad" not in made and "add" not in made
    check(padded, *(random(s, seed=i) for i, s in enumerate(shapes)))
    check(padded, *(random(s, seed=i) for i, s in enumerate(shapes)), symbolic=True)


def test_overlapping_parts_are_added():
    def build(x, y):
        return B.pad(x, (0,), (2,)) + B.pad(y, (1,), (1,))

    assert "add" in names(build, (4,), (4,))
    check(build, random((4,)), random((4,), seed=1))
    assert "add" in names(lambda x, y: B.pad(x, (0,), (4,), 1.0) + B.pad(y, (4,), (0,)), (4,), (4,))
