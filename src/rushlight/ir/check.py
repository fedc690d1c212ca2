"""Which graphs are legal. The rules that follow are all there are; `check` verifies each.

Every graph:
 1. inputs are Values without a node: tensors with one stride per dimension, or run-time numbers (weak, shape (),
    bool, int64, float64 or complex128);
 2. nodes are in execution order: each operand is an input or an output of an earlier node, and belongs there once;
 3. a node applies a known primitive, and its outputs have the shapes and dtypes that the shape rule derives;
 4. attributes are plain: numbers, sizes, strings, dtypes, None and tuples of these (calls: an op and a graph);
 5. every output is an input or a node's output; its strides are None or one per dimension; if it aliases an input
    it has that input's shape and dtype, and no other output aliases the same one.

"lowerable" graphs also have no calls.
"""

from __future__ import annotations

from .dtypes import DType, bool_, complex128, float64, int64
from .graph import Graph, Node, Value
from .primitive import PRIMITIVES
from .printing import format_node
from .sizes import Sym, known_equal

STAGES = ("traced", "lowerable")


class IllegalGraph(RuntimeError):
    """A graph breaks a rule of `ir.check`."""


def check(graph: Graph, stage: str = "traced") -> None:
    """Raise IllegalGraph, with the rule and the place, if the graph is not legal at this stage."""
    if stage not in STAGES:
        raise ValueError(f"stage must be one of {STAGES}, got {stage!r}")
    known = _check_inputs(graph)
    saved = _decisions(graph)
    for node in graph.nodes:
        _check_node(node, known, stage)
        for index, value in enumerate(node.outputs):
            _require(value.node is node and value.index == index, f"output {index} does not belong to", node)
            known.add(id(value))
    _check_outputs(graph, known)
    _require(saved == _decisions(graph), "re-deriving shapes took decisions that tracing did not take")


def _require(condition: bool, message: str, node: Node | None = None) -> None:
    if not condition:
        raise IllegalGraph(message if node is None else f"{message}: {format_node(node)}")


def _decisions(graph: Graph):
    return None if graph.scope is None else (len(graph.scope.guards), len(graph.scope.substitution))


def _check_inputs(graph: Graph) -> set[int]:
    for i, value in enumerate(graph.inputs):
        _require(type(value) is Value and value.node is None, f"input {i} is not a graph input: {value}")
        if value.weak:
            scalar = value.shape == () and value.dtype in (bool_, int64, float64, complex128)
            _require(scalar, f"input {i} is not a run-time number: {value}")
        else:
            strided = value.strides is not None and len(value.strides) == value.ndim
            _require(strided, f"input {i} needs one stride per dimension: {value} has {value.strides}")
    ids = {id(v) for v in graph.inputs}
    _require(len(ids) == len(graph.inputs), "an input appears twice")
    return ids


def _check_node(node: Node, known: set[int], stage: str) -> None:
    prim = node.prim
    _require(PRIMITIVES.get(prim.name) is prim, "unknown primitive", node)
    _require(all(id(v) in known for v in node.inputs), "an operand is not an input or an earlier result", node)
    _require(not any(id(v) in known for v in node.outputs), "a result was defined before", node)
    if prim.kind == "call":
        _require(stage != "lowerable", "a lowerable graph has no calls", node)
        check(node.attrs["graph"], stage)
    else:
        for name, attr in node.attrs.items():
            _require(_is_plain(attr), f"attribute {name} is not plain: {attr!r}", node)
    derived = _derive(node)
    _require(len(derived) == len(node.outputs), f"the shape rule yields {len(derived)} results", node)
    for value, (shape, dtype) in zip(node.outputs, derived):
        same = value.dtype is dtype and len(value.shape) == len(shape) and all(map(known_equal, value.shape, shape))
        _require(same, f"the shape rule yields {dtype.name}{list(shape)} for", node)


def _derive(node: Node) -> list:
    try:
        result = node.prim.shape_rule(*node.inputs, **node.attrs)
    except (RuntimeError, IndexError, TypeError) as error:
        raise IllegalGraph(f"{error}: {format_node(node)}") from error
    return [result] if isinstance(result, tuple) else list(result)


def _is_plain(attr) -> bool:
    if type(attr) is tuple:
        return all(map(_is_plain, attr))
    return attr is None or type(attr) in (bool, int, float, complex, str, DType, Sym)


def _check_outputs(graph: Graph, known: set[int]) -> None:
    count = len(graph.outputs)
    _require(len(graph.output_strides) == count, f"expected {count} output strides, got {len(graph.output_strides)}")
    _require(len(graph.aliases) == count, f"expected {count} aliases, got {len(graph.aliases)}")
    for j, value in enumerate(graph.outputs):
        _require(id(value) in known, f"output {j} is not defined in the graph: {value}")
        strides, alias = graph.output_strides[j], graph.aliases[j]
        _require(strides is None or len(strides) == value.ndim, f"output {j} {value} has strides {strides}")
        if alias is not None:
            _require(0 <= alias < len(graph.inputs), f"output {j} aliases input {alias}, which does not exist")
            target = graph.inputs[alias]
            same = target.dtype is value.dtype and len(target.shape) == value.ndim
            same = same and all(map(known_equal, target.shape, value.shape)) and not target.weak
            _require(same, f"output {j} {value} cannot overwrite input {alias} {target}")
    taken = [alias for alias in graph.aliases if alias is not None]
    _require(len(set(taken)) == len(taken), f"two outputs overwrite one input: {graph.aliases}")
