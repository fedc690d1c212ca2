"""Runs one template on NumPy arrays, with every size symbolic."""

from types import SimpleNamespace

import numpy as np

from rushlight.compiler.launch import Lowered
from rushlight.compiler.run import Bound
from rushlight.compiler.templates import Array, Context, template_for
from rushlight.ir.dtypes import dtype_named
from rushlight.ir.graph import Graph, Value
from rushlight.ir.sizes import Scope, contiguous_strides


def channels_last(array: np.ndarray) -> np.ndarray:
    """The same values with the channel dimension innermost in memory."""
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(array, 1, -1)), -1, 1)


def bind(
    name,
    inputs,
    output_shapes,
    attrs,
    *,
    dtypes=None,
    orders=None,
    symbolic=True,
    fixed=(),
    operands=None,
    options=None,
) -> Bound:
    """Lower primitive `name` for the given arrays.

    output_shapes  (shape, dtype name) of each result
    dtypes         dtype names of the inputs, where NumPy's differ (bfloat16)
    orders         for each result, its dimensions from outermost to innermost in memory (default: row-major)
    symbolic       whether sizes are symbols, equal sizes the same one; numbers in `fixed` stay numbers
    operands       how many of the inputs are operands (default: all); the others are for `options`
    options        options(arrays) gives keyword arguments for the template
    """
    scope = Scope()
    symbols: dict = {}

    def size(number):
        if not symbolic or number in fixed:
            return number
        return symbols.setdefault(number, scope.symbol(number))

    graph, arrays = Graph(scope), []
    for i, array in enumerate(inputs):
        dtype = dtype_named(str(array.dtype) if dtypes is None else dtypes[i])
        shape = tuple(map(size, array.shape))
        graph.tensor(shape, dtype, strides := strides_of(array, shape))
        arrays.append(Array("input", i, shape, strides, dtype))
    values, results = [], []
    for j, (shape, dtype) in enumerate(output_shapes):
        shape, dtype = tuple(map(size, shape)), dtype_named(dtype)
        strides = ordered_strides(shape, range(len(shape)) if orders is None else orders[j])
        values.append(Value(shape, dtype))
        results.append(Array("output", j, shape, strides, dtype))
    graph.returns(values, [result.strides for result in results])
    lowered = Lowered([])
    keywords = options(arrays) if options else {}
    node = SimpleNamespace(prim=SimpleNamespace(name=name), attrs=attrs)
    template_for(name)(Context(lowered), node, arrays[:operands], results, **keywords)
    bound = Bound(lowered, graph, inputs)
    bound.lowered, bound.guards, bound.graph = lowered, list(scope.guards), graph
    return bound


def strides_of(array: np.ndarray, shape: tuple) -> tuple:
    """The strides of an array in elements, as expressions of the symbols in `shape` where it is dense."""
    strides = tuple(s // array.itemsize for s in array.strides)
    by_stride = sorted(range(array.ndim), key=lambda d: (-strides[d], d))
    for order in (tuple(range(array.ndim)), tuple(by_stride)):
        if ordered_strides(array.shape, order) == strides:
            return ordered_strides(shape, order)
    return strides


def ordered_strides(shape: tuple, order) -> tuple:
    """Dense strides with the dimensions in `order` from outermost to innermost."""
    order = list(order)
    inner = contiguous_strides([shape[d] for d in order])
    return tuple(inner[order.index(d)] for d in range(len(shape)))


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
