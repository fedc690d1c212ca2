"""Reading a graph's text, as `printing` writes it, back into a graph."""

from __future__ import annotations

import re

from . import primitives  # noqa: F401 - fills the table
from .dtypes import STORED, dtype_named
from .graph import Graph, Node, Value
from .primitive import PRIMITIVES
from .sizes import Scope, Sym

_NODE = re.compile(r"(%[\d, %]+) = (\w+)\((.*)\): (.+)")
_INPUT = re.compile(r"input (%\d+): (weak )?(\w+)\[(.*?)\](?: strides (.+))?")
_OUTPUT = re.compile(r"(%\d+)(?: strides (\(.*?\)))?(?: alias (\d+))?(?:, (?=%)|$)")
_TYPE = re.compile(r"(weak )?(\w+)\[(.*?)\](?:, |$)")
_LITERALS = {"True": True, "False": False, "None": None, "nan": float("nan"), "inf": float("inf")}


class NamedOp:
    """Stands for an op that the reader of a graph does not know: it has a name and no rules."""

    def __init__(self, name: str):
        self.name = name


def parse_graph(text: str, ops: dict | None = None) -> Graph:
    """The graph that the text describes; shapes are derived again and must be those that it states.

    `ops` gives the ops that calls name. ValueError if the text is not a graph's.
    """
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    scope = None
    if lines and lines[0].startswith("sizes "):
        scope = _scope(lines.pop(0)[6:], lines.pop(0)[7:] if lines[0].startswith("guards ") else "")
    sections: list[list[str]] = [[]]
    for line in lines:
        if re.fullmatch(r"graph_\d+:", line):
            sections.append([])
        else:
            sections[-1].append(line)
    reader = _Reader(scope, ops or {})
    graphs = [Graph(scope) for _ in sections]
    reader.graphs = graphs[1:]
    # a body comes after the graph that calls it, so the last one is complete on its own
    for graph, section in zip(reversed(graphs), reversed(sections)):
        reader.read(graph, section)
    return graphs[0]


def _scope(sizes: str, guards: str) -> Scope:
    scope = Scope()
    for item in sizes.split(", "):
        name, hint = item.split("=")
        scope.input_symbol(name, int(hint))
    for condition in guards.split(" and ") if guards else ():
        scope.guard(condition)
        if positive := re.fullmatch(r"(\w+) > 1", condition):
            scope.least[positive[1]] = 2
    return scope


class _Reader:
    def __init__(self, scope: Scope | None, ops: dict):
        self.ops, self.graphs = ops, []
        self.known = dict(_LITERALS) | {dtype.name: dtype for dtype in STORED}
        if scope is not None:
            self.known |= {name: Sym(scope, {(name,): 1}, hint) for name, hint in scope.hints.items()}

    def read(self, graph: Graph, lines: list[str]) -> None:
        values: dict[str, Value] = {}
        for line in lines:
            if found := _INPUT.fullmatch(line):
                values[found[1]] = self.input(graph, *found.groups()[1:])
            elif found := _NODE.fullmatch(line):
                names = found[1].split(", ")
                values.update(zip(names, self.node(graph, found, values)))
            elif line.startswith("return"):
                self.outputs(graph, line[6:].strip(), values)
            else:
                raise ValueError(f"not a line of a graph: {line}")

    def input(self, graph: Graph, weak, dtype: str, dims: str, strides) -> Value:
        if weak:
            return graph.scalar(dtype_named(dtype))
        return graph.tensor(self.sizes(dims), dtype_named(dtype), self.literal(strides) if strides else None)

    def node(self, graph: Graph, found, values: dict) -> tuple[Value, ...]:
        inputs, _, attrs = found[3].partition("; ") if "; " in found[3] else self.bare(found[3])
        prim = PRIMITIVES[found[2]]
        operands = [values[name] for name in inputs.split(", ") if name]
        given = self.attrs(attrs)
        result = prim.shape_rule(*operands, **given)
        node = Node(prim, operands, given, [result] if isinstance(result, tuple) else result)
        for value, (weak, dtype, dims) in zip(node.outputs, _TYPE.findall(found[4])):
            value.weak = bool(weak)
            if value.dtype.name != dtype or value.shape != self.sizes(dims):
                raise ValueError(f"{found[0]}: the shape rule yields {value}")
        graph.nodes.append(node)
        return node.outputs

    @staticmethod
    def bare(arguments: str) -> tuple[str, str, str]:
        """Arguments without a semicolon: operands only, or (for a source) attributes only."""
        return ("", "", arguments) if "=" in arguments else (arguments, "", "")

    def outputs(self, graph: Graph, text: str, values: dict) -> None:
        found = _OUTPUT.findall(text)
        graph.outputs = [values[name] for name, _, _ in found]
        graph.output_strides = [self.literal(strides) if strides else None for _, strides, _ in found]
        graph.aliases = [int(alias) if alias else None for _, _, alias in found]

    # -- attributes: Python's syntax, of which a few forms are read -------------------------------------
    def attrs(self, text: str) -> dict:
        import ast

        call = ast.parse(f"f({text})", mode="eval").body
        return {keyword.arg: self.evaluate(keyword.value) for keyword in call.keywords}

    def literal(self, text: str):
        import ast

        return self.evaluate(ast.parse(text, mode="eval").body)

    def sizes(self, dims: str) -> tuple:
        return self.literal(f"({dims},)") if dims else ()

    def evaluate(self, tree):
        """The value of an expression of literals, names, tuples and integer arithmetic; nothing else is executed."""
        kind = type(tree).__name__
        if kind == "Constant":
            return tree.value
        if kind == "Tuple":
            return tuple(map(self.evaluate, tree.elts))
        if kind == "Name":
            return self.graphs[int(tree.id[6:])] if tree.id.startswith("graph_") else self.known[tree.id]
        if kind == "UnaryOp" and type(tree.op).__name__ == "USub":
            return -self.evaluate(tree.operand)
        if kind == "BinOp":
            return self.arithmetic(type(tree.op).__name__, self.evaluate(tree.left), self.evaluate(tree.right))
        if kind == "Call" and tree.func.id in ("complex", "op"):
            arguments = list(map(self.evaluate, tree.args))
            return complex(*arguments) if tree.func.id == "complex" else self.op(*arguments)
        raise ValueError(f"not a value of an attribute: {kind}")

    def op(self, name: str):
        return self.ops.get(name) or NamedOp(name)

    @staticmethod
    def arithmetic(op: str, a, b):
        if op == "Add":
            return a + b
        if op == "Mult":
            return a * b
        if op == "FloorDiv":
            return a // b
        if op == "Mod":
            return a % b
        raise ValueError(f"not an operator of sizes: {op}")
