"""The NumPy runner itself, on a kernel written by hand."""

import numpy as np
import pytest

from rushlight.compiler.kernel import Kernel
from rushlight.compiler.launch import Buffer, Launch, Lowered, Scalar
from rushlight.compiler.run import run_lowered, split
from rushlight.compiler.text import Module
from rushlight.ir.dtypes import float64
from rushlight.ir.graph import Graph
from rushlight.ir.sizes import Scope


def scaled_index_kernel() -> Kernel:
    """out[i * stride] = x[i] * scale + i"""
    module = Module()
    f = module.kernel("scaled")
    x, out, stride, scale = f.buffer(0), f.buffer(1), f.param(0), f.param(1, "double")
    with f.loop(f.begin, f.end) as i:
        number = f.mul(f.load(f.at(x, "double", i), "double"), scale)
        total = f.add(number, f.cast("sitofp", i, "double"))
        f.store(total, f.at(out, "double", f.mul(i, stride)))
    return Kernel("scaled", str(module))


def program(scope, size):
    graph = Graph(scope)
    x = graph.tensor((size,), float64)
    graph.scalar(float64)
    graph.returns([x], strides=[(3,)])
    buffers = [Buffer("input", 0), Buffer("output", 0)]
    return Lowered([Launch(scaled_index_kernel(), buffers, [3, Scalar(1, "f")], size)]), graph


def test_sizes_strides_scalars_and_pieces():
    scope = Scope()
    lowered, graph = program(scope, scope.symbol(5))
    for n in (5, 11):
        x = np.arange(n) / 7
        for pieces in (1, 3, 20):
            (out,) = run_lowered(lowered, graph, [x], [0.5], pieces=pieces, symbols={"s0": n})
            np.testing.assert_allclose(out, x * 0.5 + np.arange(n))
            assert out.strides == (24,)


def test_input_with_other_strides_is_refused():
    lowered, graph = program(None, 5)
    with pytest.raises(ValueError, match="byte strides"):
        run_lowered(lowered, graph, [np.zeros(10)[::2]], [1.0])


def test_split_covers_the_range_once():
    for total in (0, 1, 2, 7, 100):
        for pieces in (1, 2, 5):
            parts = split(total, pieces)
            assert [i for a, b in parts for i in range(a, b)] == list(range(total))
