"""Runs one template on NumPy arrays, with every size symbolic."""

from types import SimpleNamespace

import numpy as np

from rushlight.compiler.launch import Lowered
from rushlight.compiler.run import Bound
from rushlight.compiler.templates import TEMPLATES, Array, Context
from rushlight.ir.dtypes import dtype_named
from rushlight.ir.graph import Graph, Value
from rushlight.ir.sizes import Scope, contiguous_strides


def channels_last(array: np.ndarray) -> np.ndarray:
    """The same values with the channel dimension innermost in memory."""
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(array, 1, -1)), -1, 1)


def bind(name, inputs, output_shapes, attrs, *, dtypes=None, orders=None, symbolic=True, **options) -> Bound:
    """Lower primitive `name` for the given arrays.

    output_shapes  (shape, dtype name) of each result
    dtypes         dtype names of the inputs, where NumPy's differ (bfloat16)
    orders         for each result, its dimensions from outermost to innermost in memory (default: row-major)
    options        passed to the template
    """
    scope = Scope()
    symbols: dict = {}

    def size(number):
        if not symbolic:
            return number
        return symbols.setdefault(number, scope.symbol(number))

    graph, arrays = Graph(scope), []
    for i, array in enumerate(inputs):
        dtype = dtype_named(str(array.dtype) if dtypes is None else dtypes[i])
        shape = tuple(map(size, array.shape))
        strides = tuple(s // array.itemsize for s in array.strides)
        plain = contiguous_strides(array.shape) == strides
        strides = contiguous_strides(shape) if plain else strides
        graph.tensor(shape, dtype, strides)
        arrays.append(Array("input", i, shape, strides, dtype))
    values, results, layouts = [], [], []
    for j, (shape, dtype) in enumerate(output_shapes):
        shape, dtype = tuple(map(size, shape)), dtype_named(dtype)
        strides = contiguous_strides(shape)
        if orders is not None:
            inner = contiguous_strides([shape[d] for d in orders[j]])
            strides = tuple(inner[orders[j].index(d)] for d in range(len(shape)))
        values.append(Value(shape, dtype))
        layouts.append(strides)
        results.append(Array("output", j, shape, strides, dtype))
    graph.returns(values, layouts)
    lowered = Lowered([])
    TEMPLATES[name](
        Context(lowered), SimpleNamespace(prim=SimpleNamespace(name=name), attrs=attrs), arrays, results, **options
    )
    bound = Bound(lowered, graph, inputs)
    bound.lowered, bound.guards, bound.graph = lowered, list(scope.guards), graph
    return bound


def call(name, inputs, output_shapes, attrs, *, pieces=3, **keywords) -> list[np.ndarray]:
    """The results of primitive `name`; every launch is split into `pieces`."""
    bound = bind(name, inputs, output_shapes, attrs, **keywords)
    bound.run(pieces)
    return bound.outputs


def rebind(bound: Bound, inputs, sizes: dict) -> Bound:
    """The same launches for arrays of other sizes: `sizes` maps every size at lowering to its new number."""
    symbols = {name: sizes[number] for name, number in bound.graph.scope.hints.items()}
    assert all(eval(guard, {}, dict(symbols)) for guard in bound.guards), "a guard does not hold for these sizes"
    return Bound(bound.lowered, bound.graph, inputs, symbols=symbols)
