"""Derivatives of every primitive against finite differences, to second order; batching against a loop."""

from __future__ import annotations

import numpy as np
import pytest

from rushlight.ir import build as B
from rushlight.ir import derive
from rushlight.ir.dtypes import float32, float64, int64
from rushlight.ir.graph import Graph, current_graph
from rushlight.ir.interpret import interpret
from rushlight.ir.primitive import PRIMITIVES

from .samples import SAMPLES
from .trace import evaluate, trace_call, traced

STEP = 1e-6
# one moves in steps of its result, which differences do not see; the others have no stated slope, or none along
# the first operand
ROUNDED = {"nextafter", "zeta", "gammainc", "gammaincc", "gamma_slope", "beta_slope"}


def recorded(function, inputs):
    """Apply, and return the nodes that it recorded and the outputs."""
    start = len(current_graph().nodes)
    outputs = function(*inputs)
    return current_graph().nodes[start:], outputs


def reverse(function, count):
    """(operands, cotangents of differentiable outputs) -> cotangents of differentiable operands."""

    def gradient(*arguments):
        inputs, given = arguments[:count], list(arguments[count:])
        nodes, outputs = recorded(function, inputs)
        cotangents = [given.pop(0) if derive.is_differentiable(v) else None for v in outputs]
        wanted = [v for v in inputs if derive.is_differentiable(v)]
        found = derive.append_vjp(nodes, outputs, cotangents, wanted)
        return [B.zeros_like(v) if g is None else g for v, g in zip(wanted, found)]

    return gradient


def forward(function, count):
    """(operands, tangents of differentiable operands) -> tangents of differentiable outputs."""

    def tangent(*arguments):
        inputs, given = arguments[:count], list(arguments[count:])
        nodes, outputs = recorded(function, inputs)
        tangents = [given.pop(0) if derive.is_differentiable(v) else None for v in inputs]
        found = derive.append_jvp(nodes, inputs, tangents, outputs)
        return [B.zeros_like(v) if t is None else t for v, t in zip(outputs, found) if derive.is_differentiable(v)]

    return tangent


def smooth(array) -> bool:
    return np.asarray(array).dtype.kind in "fc"


def direction_like(array, rng):
    noise = rng.standard_normal(np.shape(array))
    return noise + 1j * rng.standard_normal(np.shape(array)) if np.iscomplexobj(array) else noise


def inner(a, b) -> float:
    """The real inner product in which a cotangent pairs with a tangent."""
    return sum(float(np.sum(np.conj(x) * y).real) for x, y in zip(a, b))


def check(function, arrays, order: int, seed: int = 0) -> None:
    """vjp and jvp of a function against central differences; then the same for its vjp."""
    rng = np.random.default_rng(seed)
    count = len(arrays)
    outputs = evaluate(function, *arrays)
    smooth_outputs = [i for i, y in enumerate(outputs) if smooth(y)]
    directions = [direction_like(a, rng) for a in arrays if smooth(a)]
    cotangents = [direction_like(outputs[i], rng) for i in smooth_outputs]
    if not directions or not smooth_outputs:
        return
    ahead, behind = (evaluate(function, *moved(arrays, directions, s)) for s in (STEP, -STEP))
    difference = [(ahead[i] - behind[i]) / (2 * STEP) for i in smooth_outputs]
    tangents = evaluate(forward(function, count), *arrays, *directions)
    for t, d in zip(tangents, difference):
        np.testing.assert_allclose(t, d, rtol=2e-6, atol=2e-7)
    gradients = evaluate(reverse(function, count), *arrays, *cotangents)
    for gradient, array in zip(gradients, [a for a in arrays if smooth(a)]):
        assert gradient.shape == array.shape and gradient.dtype == array.dtype
    assert inner(gradients, directions) == pytest.approx(inner(cotangents, tangents), rel=1e-9, abs=1e-10)
    if order > 1:
        check(reverse(function, count), [*arrays, *cotangents], order - 1, seed + 1)


def moved(arrays, directions, step):
    directions = list(directions)
    return [a + step * directions.pop(0) if smooth(a) else a for a in arrays]


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_derivatives(sample):
    if sample.primitive.name not in ROUNDED:
        check(sample.apply, sample.arrays, order=2)


def test_every_primitive_has_a_sample():
    # the compiler adds primitives of its own, which no op records
    language = {name for name, p in PRIMITIVES.items() if p.shape_rule.__module__.startswith("rushlight.ir")}
    assert {s.primitive.name for s in SAMPLES} == language - {"call"}


def alike(sample, i: int) -> list:
    """An operand and two more in its domain: permutations of its elements, or for ends of runs what stays in order."""
    a = sample.arrays[i]
    if (sample.primitive.name, i) == ("segment_reduce", 1):
        return [a, a // 2, np.minimum(a, 3)]
    return [a, np.flip(a), np.roll(a, 1)]


@pytest.mark.parametrize("sample", [s for s in SAMPLES if s.arrays], ids=str)
def test_batch_rules_equal_a_loop(sample):
    rng = np.random.default_rng(1)
    count = len(sample.arrays)
    graph = traced(sample.apply, sample.arrays)
    choices = {(True,) * count, *(tuple(i == j for j in range(count)) for i in range(count))}
    choices |= {tuple(not c for c in choice) for choice in choices} - {(False,) * count}
    for choice in sorted(choices):
        dims = [int(rng.integers(0, np.ndim(a) + 1)) if c else None for a, c in zip(sample.arrays, choice)]
        rows = [alike(sample, i) if c else [a] * 3 for i, (a, c) in enumerate(zip(sample.arrays, choice))]
        stacked = [np.stack(r, d) if d is not None else r[0] for r, d in zip(rows, dims)]
        places = []

        def batched(*values, dims=dims, places=places):
            outputs, places[:] = derive.batch(graph, values, dims)
            return outputs

        results = evaluate(batched, *stacked)
        for i in range(3):
            expected = interpret(graph, [r[i] for r in rows])
            for result, place, one in zip(results, places, expected):
                np.testing.assert_allclose(np.take(result, i, place), one, rtol=1e-12, atol=1e-12)


# -- conventions ------------------------------------------------------------------------------
def gradient_of(function, *arrays):
    """The gradient of the sum of a function's only output."""
    ones = np.ones_like(evaluate(lambda *v: [function(*v)], *arrays)[0])
    return evaluate(reverse(lambda *v: [function(*v)], len(arrays)), *arrays, ones)


def test_ties_are_shared():
    x = np.array([1.0, 3.0, 3.0])
    assert gradient_of(lambda v: B.max(v), x)[0].tolist() == [0, 0.5, 0.5]
    a, b = gradient_of(B.maximum, np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    assert a.tolist() == [0.5, 1] and b.tolist() == [0.5, 0]


def test_kinks_and_zeros():
    zero = np.array([0.0, -0.0])
    assert gradient_of(B.abs, zero)[0].tolist() == [0, 0]
    assert gradient_of(lambda x: B.pow(x, B.full_like(x, 0)), zero)[0].tolist() == [0, 0]
    base, exponent = gradient_of(B.pow, np.array([0.0]), np.array([2.0]))
    assert base.tolist() == [0] and exponent.tolist() == [0]
    np.testing.assert_allclose(gradient_of(B.abs, np.array([0j, 3 + 4j]))[0], [0, 0.6 + 0.8j])


def test_angle_at_the_origin_and_nextafter():
    zero = np.array([0.0])
    assert [g.tolist() for g in gradient_of(B.atan2, zero, zero)] == [[0], [0]]
    assert gradient_of(B.angle, np.array([0j]))[0].tolist() == [0]
    found = gradient_of(B.nextafter, np.array([1.0]), np.array([2.0]))
    assert [g.tolist() for g in found] == [[1], [0]]


def test_scatter_max_shares_among_sources_and_target():
    x, src = np.array([2.0, 0.0]), np.array([2.0, 2.0])
    found = gradient_of(lambda v, s: B.scatter(v, 0, B.zeros((2,), int64), s, "max"), x, src)
    np.testing.assert_allclose(found[0], [1 / 3, 1])
    np.testing.assert_allclose(found[1], [1 / 3, 1 / 3])


def test_scatter_of_products_with_two_zeros_in_one_place():
    function = lambda v, s: B.scatter(v, 0, B.zeros((3,), int64), s, "mul")  # noqa: E731
    found = gradient_of(function, np.array([2.0, 5.0]), np.array([0.0, 3.0, 0.0]))
    assert [g.tolist() for g in found] == [[0, 1], [0, 0, 0]]
    found = gradient_of(function, np.array([2.0, 5.0]), np.array([0.0, 3.0, 4.0]))
    assert [g.tolist() for g in found] == [[0, 1], [24, 0, 0]]


def test_logcumsumexp_of_minus_infinity():
    x = np.array([-np.inf, -np.inf, 0.0, 1.0])
    gradient = gradient_of(lambda v: B.logcumsumexp(v, 0), x)[0]
    assert np.isfinite(gradient).all() and gradient[:2].tolist() == [0, 0]


def test_uses_add_up_and_unreached_inputs_have_no_cotangent():
    graph = Graph()
    with graph:
        x, y = graph.tensor((2,), float64), graph.tensor((2,), float64)
        z = x * x + x
        found = derive.append_vjp(graph.nodes, [z], [B.ones_like(z)], [x, y, z])
        graph.returns([found[0], found[2]])
    assert found[1] is None
    assert [r.tolist() for r in interpret(graph, [[1, 2], [0, 0]])] == [[3, 5], [1, 1]]


def test_no_cotangent_through_integers():
    graph = Graph()
    with graph:
        x = graph.tensor((2,), float32)
        y = B.cast(B.cast(x, int64), float32)
        assert derive.append_vjp(graph.nodes, [y], [B.ones_like(y)], [x]) == [None]
        assert derive.append_jvp(graph.nodes, [x], [B.ones_like(x)], [y]) == [None]


# -- calls ------------------------------------------------------------------------------------
class Doubled:
    """An op that claims a derivative of its own, to see that it is asked."""

    name = "doubled"

    @staticmethod
    def vjp_rule(node, cotangents):
        return [cotangents[0] * 10]


def test_call_uses_the_op_in_reverse_and_its_body_forward():
    graph = Graph()
    with graph:
        x = graph.tensor((2,), float64)
        y = trace_call(Doubled, lambda v: v * 2, x)[0]
        nodes = list(graph.nodes)
        (gx,) = derive.append_vjp(nodes, [y], [B.ones_like(y)], [x])
        (ty,) = derive.append_jvp(nodes, [x], [B.ones_like(x)], [y])
        graph.returns([y, gx, ty])
    expected = [[6, 8], [10, 10], [2, 2]]
    assert [r.tolist() for r in interpret(graph, [[3, 4]])] == expected


def test_call_in_a_batch():
    body = traced(lambda v: [trace_call(Doubled, lambda x: x * 2 + B.sum(x), v)[0]], [np.ones(2)])
    x = np.array([[1.0, 2], [3, 4], [5, 6]])
    (result,) = evaluate(lambda v: derive.batch(body, [v], [0])[0], x)
    np.testing.assert_array_equal(result, x * 2 + x.sum(1, keepdims=True))


def test_inline_copies_and_checks_inputs():
    body = traced(lambda a, b: [a * b + 1], [np.ones(2), np.ones(2)])
    (result,) = evaluate(lambda a: derive.inline(body, [a, a]), np.array([2.0, 3.0]))
    assert result.tolist() == [5, 10]
    with pytest.raises(RuntimeError, match="expected an input"):
        evaluate(lambda a: derive.inline(body, [a, a]), np.array([2, 3]))
