"""Rewrites a graph to an equal one that is easier to lower: calls inlined, equal nodes shared, no-ops gone."""

from __future__ import annotations

from ..ir.dtypes import DType, promote_types
from ..ir.graph import Graph, Node, Value
from ..ir.primitive import PRIMITIVES
from ..ir.sizes import hint, known_equal
from .affine import size_key
from .fft_rewrite import replacement
from .joining import joined_parts


def simplify(graph: Graph) -> Graph:
    """A new graph with the same inputs (the same Values) and equal outputs."""
    result = Graph(graph.scope)
    result.inputs = graph.inputs
    rewriter = Rewriter(result)
    values = {v: v for v in graph.inputs}
    rewriter.copy(graph, values)
    return result.returns([values[v] for v in graph.outputs], graph.output_strides, graph.aliases)


def new_node(graph: Graph, name: str, inputs, attrs: dict, shape, dtype: DType) -> Value:
    """Append a node whose result is known, without asking the shape rule (which would compare sizes)."""
    node = Node(PRIMITIVES[name], inputs, attrs, [(tuple(shape), dtype)])
    graph.nodes.append(node)
    return node.outputs[0]


def constant(graph: Graph, number, shape, dtype: DType) -> Value:
    return new_node(graph, "constant", (), {"value": number, "shape": tuple(shape), "dtype": dtype}, shape, dtype)


def same_shape(a, b) -> bool:
    """Whether two shapes are known to be equal, without recording a guard."""
    return len(a) == len(b) and all(map(known_equal, a, b))


def is_none(size) -> bool:
    """Whether a size is 0, decided with a guard where that is not known."""
    return bool(size == 0 if hint(size) == 0 else not size > 0)


def _number(size, number: int) -> bool:
    return type(size) is int and size == number


class Rewriter:
    """Copies nodes to a graph, one at a time, through the rules below."""

    def __init__(self, graph: Graph):
        self.graph = graph
        self.seen: dict[tuple, tuple[Value, ...]] = {}
        self.signs: dict = {}

    def copy(self, graph: Graph, values: dict) -> None:
        """Copy a graph's nodes; `values` maps its inputs to values here, and gains its other values."""
        for node in graph.nodes:
            inputs = [values[v] for v in node.inputs]
            if node.prim.name == "call":
                body = node.attrs["graph"]
                inner = dict(zip(body.inputs, inputs))
                self.copy(body, inner)
                outputs = [inner[v] for v in body.outputs]
            else:
                outputs = self.apply(node, inputs)
            values.update(zip(node.outputs, outputs))

    def apply(self, node: Node, inputs: list[Value]) -> tuple[Value, ...]:
        """The outputs of a node for new inputs: simplified, or shared with an equal node."""
        if all(self.is_empty(v) for v in node.outputs):
            return tuple(constant(self.graph, 0, v.shape, v.dtype) for v in node.outputs)
        rule = RULES.get(node.prim.name)
        simpler = rule(self, node, *inputs) if rule else None
        if simpler is not None:
            return (simpler,)
        key = (node.prim.name, tuple(map(id, inputs)), frozen(node.attrs))
        if key not in self.seen:
            copied = Node(node.prim, inputs, node.attrs, [(v.shape, v.dtype) for v in node.outputs])
            for old, new in zip(node.outputs, copied.outputs):
                new.weak, new.name = old.weak, old.name
            self.graph.nodes.append(copied)
            self.seen[key] = copied.outputs
        return self.seen[key]

    def is_empty(self, value: Value) -> bool:
        """Whether a value has no elements: decided once and for all, since then nothing is launched for it."""
        for size in value.shape:
            if type(size) is int:
                if size == 0:
                    return True
                continue
            key = size_key(size)
            if key not in self.signs:
                self.signs[key] = is_none(size)
            if self.signs[key]:
                return True
        return False

    def make(self, name: str, x: Value, attrs: dict, shape, dtype: DType | None = None) -> Value:
        """A node of one operand, simplified in turn."""
        return self.apply(Node(PRIMITIVES[name], (x,), attrs, [(tuple(shape), dtype or x.dtype)]), [x])[0]


def frozen(attr):
    """A hashable form of an attribute in which 1, 1.0 and True differ, as do 0.0 and -0.0."""
    if type(attr) is dict:
        return tuple((k, frozen(v)) for k, v in sorted(attr.items()))
    if type(attr) in (tuple, list):
        return tuple(map(frozen, attr))
    if type(attr) in (int, float, bool, complex):
        return type(attr).__name__, repr(attr)
    return size_key(attr)


# -- rules: the simpler value, or None -------------------------------------------------------------
def _cast(rewriter, node, x):
    dtype = node.attrs["dtype"]
    if x.dtype is dtype:
        return x
    inner = x.node
    if inner is not None and inner.prim.name == "cast":
        source = inner.inputs[0]
        if source.dtype is dtype and promote_types(dtype, x.dtype) is x.dtype and _holds(x.dtype, dtype):
            return source
    return None


def _holds(wide: DType, narrow: DType) -> bool:
    """Whether every number of `narrow` is one of `wide`."""
    digits = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53, "complex64": 24, "complex128": 53}
    if narrow.kind in "bui" and wide.kind in "fc":
        return 8 * narrow.itemsize <= digits[wide.name]
    return True


def _view(compose=None):
    """Views of nothing new: a no-op, a view of a constant, or one that joins the view before it."""

    def rule(rewriter, node, x):
        shape = node.outputs[0].shape
        if node.prim.name in ("reshape", "expand", "slice") and same_shape(x.shape, shape):
            return x
        inner = x.node
        if inner is not None and inner.prim.name == "constant":
            return constant(rewriter.graph, inner.attrs["value"], shape, x.dtype)
        if compose is not None:
            if inner is not None and inner.prim is node.prim:
                return compose(rewriter, node, inner)
            return compose(rewriter, node, None)
        return None

    return rule


def _reshape(rewriter, node, inner):
    return rewriter.make("reshape", inner.inputs[0], node.attrs, node.attrs["shape"]) if inner else None


def _permute(rewriter, node, inner):
    dims = node.attrs["dims"]
    if inner is not None:
        composed = tuple(inner.attrs["dims"][d] for d in dims)
        return rewriter.make("permute", inner.inputs[0], {"dims": composed}, node.outputs[0].shape)
    return None


def _plain_permute(rewriter, node, x):
    return x if node.attrs["dims"] == tuple(range(x.ndim)) else _view(_permute)(rewriter, node, x)


def _reduce(rewriter, node, x):
    """Reductions over nothing, or over dims of size 1."""
    name, dims, out = node.prim.name, node.attrs["dims"], node.outputs[0]
    if rewriter.is_empty(x) and not rewriter.is_empty(out):
        return constant(rewriter.graph, IDENTITIES[name], out.shape, out.dtype)
    if not any(_number(x.shape[d], 1) for d in dims):
        return None
    kept = [d for d in range(x.ndim) if not (d in dims and _number(x.shape[d], 1))]
    squeezed = rewriter.make("reshape", x, {"shape": (shape := tuple(x.shape[d] for d in kept))}, shape)
    left = tuple(i for i, d in enumerate(kept) if d in dims)
    return rewriter.make(name, squeezed, {"dims": left}, out.shape) if left else squeezed


IDENTITIES = {"reduce_sum": 0, "reduce_prod": 1, "reduce_any": False, "reduce_all": True}


def _place(rewriter, node, x):
    if not _number(x.shape[node.attrs["dim"]], 1):
        return None
    return constant(rewriter.graph, 0, node.outputs[0].shape, node.outputs[0].dtype)


def _concat(rewriter, node, *inputs):
    filled = [x for x in inputs if not rewriter.is_empty(x)]
    return filled[0] if len(filled) == 1 else None


def _add(rewriter, node, x, y):
    """Parts padded with zeros to different places make a concatenation."""
    found = joined_parts(x, y, lambda shape: constant(rewriter.graph, 0, shape, x.dtype))
    if found is None:
        return None
    dim, parts = found
    joined = Node(PRIMITIVES["concat"], parts, {"dim": dim}, [(x.shape, x.dtype)])
    return rewriter.apply(joined, parts)[0]


def _pad(rewriter, node, x):
    return x if all(_number(n, 0) for n in (*node.attrs["low"], *node.attrs["high"])) else None


def _transform(rewriter, node, x):
    graph = replacement(node.prim.name, x, node.attrs, rewriter.graph.scope)
    if graph is None:
        return None
    values = {graph.inputs[0]: x}
    rewriter.copy(graph, values)
    return values[graph.outputs[0]]


RULES = {
    "add": _add,
    "cast": _cast,
    "reshape": _view(_reshape),
    "permute": _plain_permute,
    "argmax": _place,
    "argmin": _place,
    "concat": _concat,
    "pad": _pad,
}
RULES |= dict.fromkeys(("fft", "rfft", "irfft"), _transform)
RULES |= dict.fromkeys(("expand", "slice", "flip", "diagonal", "unfold"), _view())
RULES |= dict.fromkeys(("reduce_sum", "reduce_prod", "reduce_any", "reduce_all", "reduce_max", "reduce_min"), _reduce)
