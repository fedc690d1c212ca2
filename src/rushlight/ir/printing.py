"""Graphs as text: one line for each input, node and output.

    sizes s0=5, s1=7
    guards s0 > 1 and s1 > 1
    input %0: float32[s0, s1] strides (s1, 1)
    input %1: weak float64[]
    %2, %3 = sort(%0; dim=1, descending=False): float32[s0, s1], int64[s0, s1]
    return %2, %3 strides (1, s0) alias 0

A call names its op and a graph that follows: `call(%0; op=op('gelu'), graph=graph_0)`, under the line `graph_0:`.
`parsing.parse_graph` reads the text back.
"""

from __future__ import annotations

from .dtypes import DType
from .graph import Graph, Node, Value
from .sizes import Sym


def format_graph(graph: Graph) -> str:
    """The graph's text; equal structures with equal symbols give equal texts."""
    return "\n".join(_Printer(_sources).document(graph))


def graph_key(graph: Graph) -> str:
    """A hash that graphs share if they differ only in the names of values and symbols, in hints and in guards."""
    from hashlib import sha256

    names: dict[str, str] = {}
    lines = _Printer(lambda size: _renamed(size, names), head=False).document(graph)
    return sha256("\n".join(lines).encode()).hexdigest()


def format_node(node: Node, names: dict[int, str] | None = None) -> str:
    """One node's line; values without a name appear as their types."""
    printer = _Printer(_sources)
    printer.names = names or {}
    return printer.node(node)


def _sources(size: Sym) -> str:
    return size.source()


def _renamed(size: Sym, names: dict[str, str]) -> str:
    """The source with symbols named in the order in which they are first met."""
    parts = []
    for mono, c in sorted(size.terms.items()):
        atoms = []
        for atom in mono:
            if atom in size.scope.opaque:
                op, left, right = size.scope.opaque[atom]
                left, right = (_renamed(x, names) if type(x) is Sym else repr(x) for x in (left, right))
                atoms.append(f"({left} {op} {right})")
            else:
                atoms.append(names.setdefault(atom, f"n{len(names)}"))
        parts.append("*".join([str(c), *sorted(atoms)]))
    return "(" + " + ".join(sorted(parts)) + ")"


class _Printer:
    """Numbers values in order and writes lines; `size` spells symbolic sizes."""

    def __init__(self, size, head: bool = True):
        self.size, self.head = size, head
        self.names: dict[int, str] = {}
        self.nested: list[Graph] = []

    def document(self, graph: Graph) -> list[str]:
        lines = self.head_lines(graph) if self.head else []
        lines += self.body(graph)
        for i, nested in enumerate(self.nested):  # grows while the bodies are written
            lines += [f"graph_{i}:", *self.body(nested)]
        return lines

    def head_lines(self, graph: Graph) -> list[str]:
        scope = graph.scope
        if scope is None or not scope.hints:
            return []
        sizes = ", ".join(f"{name}={hint}" for name, hint in scope.hints.items())
        return [f"sizes {sizes}", *([f"guards {' and '.join(scope.guards)}"] if scope.guards else [])]

    def body(self, graph: Graph) -> list[str]:
        self.names = {}
        lines = [self.input(v) for v in graph.inputs]
        for node in graph.nodes:
            for v in node.outputs:
                self.name(v)
            lines.append(self.node(node))
        return [*lines, f"return {', '.join(self.output(graph, j) for j in range(len(graph.outputs)))}"]

    def name(self, value: Value) -> str:
        return self.names.setdefault(id(value), f"%{len(self.names)}")

    def reference(self, value: Value) -> str:
        return self.names.get(id(value), self.type(value))

    def input(self, value: Value) -> str:
        strides = "" if value.weak or value.strides is None else f" strides {self.attr(value.strides)}"
        return f"input {self.name(value)}: {self.type(value)}{strides}"

    def node(self, node: Node) -> str:
        attrs = ", ".join(f"{k}={self.attr(v)}" for k, v in node.attrs.items())
        inputs = ", ".join(map(self.reference, node.inputs))
        arguments = f"{inputs}; {attrs}" if inputs and attrs else inputs + attrs
        types = ", ".join(map(self.type, node.outputs))
        if any(id(v) not in self.names for v in node.outputs):
            return f"{node.prim.name}({arguments}): {types}"
        return f"{', '.join(map(self.reference, node.outputs))} = {node.prim.name}({arguments}): {types}"

    def output(self, graph: Graph, j: int) -> str:
        strides, alias = graph.output_strides[j], graph.aliases[j]
        text = self.reference(graph.outputs[j])
        text += "" if strides is None else f" strides {self.attr(strides)}"
        return text if alias is None else f"{text} alias {alias}"

    def type(self, value: Value) -> str:
        dims = ", ".join(map(self.attr, value.shape))
        return f"{'weak ' if value.weak else ''}{value.dtype.name}[{dims}]"

    def attr(self, value) -> str:
        if isinstance(value, (tuple, list)):
            return "(" + ", ".join(map(self.attr, value)) + ("," if len(value) == 1 else "") + ")"
        if type(value) is Sym:
            return self.size(value)
        if type(value) is complex:
            return f"complex({value.real!r}, {value.imag!r})"
        if type(value) is DType:
            return value.name
        if type(value) is Graph:
            self.nested.append(value)
            return f"graph_{len(self.nested) - 1}"
        return repr(value) if value is None or isinstance(value, (bool, int, float, str)) else f"op({value.name!r})"
