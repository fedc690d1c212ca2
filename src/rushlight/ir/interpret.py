"""The reference interpreter: runs any graph slowly and rightly, by each primitive's NumPy meaning.

bfloat16 arrays are float32 arrays whose numbers are rounded to bfloat16 after every primitive.
"""

from __future__ import annotations

from .dtypes import bfloat16
from .graph import Graph, Value
from .lazy import np
from .meaning import round_to_bfloat16
from .sizes import Sym


def interpret(graph: Graph, inputs, sizes: dict[str, int] | None = None) -> list:
    """The graph's outputs as NumPy arrays, for one array or Python number per input.

    Symbolic sizes take the values in `sizes`; without it those that the inputs' shapes give them, or else their hints.
    """
    if len(inputs) != len(graph.inputs):
        raise ValueError(f"interpret: the graph has {len(graph.inputs)} inputs, got {len(inputs)}")
    arrays = {id(v): _as_array(x, v) for v, x in zip(graph.inputs, inputs)}
    sizes = _bind(graph, [arrays[id(v)] for v in graph.inputs]) if sizes is None else sizes
    with np.errstate(all="ignore"):
        for node in graph.nodes:
            _run(node, arrays, sizes)
    return [arrays[id(v)] for v in graph.outputs]


def _as_array(x, value: Value):
    array = np.asarray(x)
    array = np.ascontiguousarray(array.astype(value.dtype.numpy_name or "float32")).reshape(array.shape)
    return round_to_bfloat16(array) if value.dtype is bfloat16 else array


def _run(node, arrays: dict, sizes: dict) -> None:
    attrs = {name: _concrete(attr, sizes) for name, attr in node.attrs.items()}
    inputs = [arrays[id(v)] for v in node.inputs]
    if node.prim.kind == "call":
        results = interpret(attrs["graph"], inputs, sizes)
    else:
        results = node.prim.numpy_rule(*inputs, **attrs)
        results = [results] if node.prim.n_outputs == 1 else results
    for value, result in zip(node.outputs, results):
        result = np.asarray(result)
        expected = tuple(_concrete(s, sizes) for s in value.shape)
        if result.shape != expected or result.dtype != (value.dtype.numpy_name or "float32"):
            raise RuntimeError(
                f"{node.prim.name}: the shape rule says {value.dtype.name}{expected}, "
                f"the meaning yields {result.dtype}{result.shape}"
            )
        arrays[id(value)] = round_to_bfloat16(result) if value.dtype is bfloat16 else result


def _bind(graph: Graph, arrays) -> dict[str, int]:
    """What each symbol stands for: from the sizes of the inputs that are lone symbols, else its hint."""
    sizes = dict(graph.scope.hints) if graph.scope is not None else {}
    for value, array in zip(graph.inputs, arrays):
        for size, actual in zip(value.shape, array.shape):
            if type(size) is Sym and size.source() in sizes:
                sizes[size.source()] = actual
    return sizes


def _concrete(attr, sizes: dict):
    if type(attr) is Sym:
        return eval(attr.source(), {"__builtins__": {}}, sizes)
    if type(attr) is tuple:
        return tuple(_concrete(a, sizes) for a in attr)
    return attr
