"""What a primitive is: one object with all of its rules side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .graph import Node, Value, current_graph

PRIMITIVES: dict[str, Primitive] = {}
KINDS = ("source", "map", "view", "structure", "reduce", "scan", "contract", "index", "window", "sort", "call")


class Primitive:
    """A primitive operation of the language.

    name     unique, lower case
    kind     how it may be lowered, one of KINDS
    shape    `shape(*inputs, **attrs) -> (shape, dtype)`, or a list of them for several outputs
    vjp      `vjp(node, *cotangents) -> one cotangent (or None) per input`; traced, in terms of ops on Values
    jvp      `jvp(node, *tangents) -> tangent(s)`; a None tangent stands for zero
    batch    `batch(node, inputs, dims) -> (outputs, dims)` for vmap
    numpy    `numpy(*arrays, **attrs) -> array(s)`: its meaning, used by the reference interpreter
    """

    def __init__(self, name: str, kind: str, shape: Callable, *, numpy: Callable | None = None, outputs: int = 1):
        if name in PRIMITIVES:
            raise ValueError(f"primitive {name} is declared twice")
        if kind not in KINDS:
            raise ValueError(f"primitive {name}: unknown kind {kind}")
        self.name, self.kind, self.shape_rule, self.numpy_rule = name, kind, shape, numpy
        self.n_outputs = outputs
        self.vjp_rule: Callable | None = None
        self.jvp_rule: Callable | None = None
        self.batch_rule: Callable | None = None
        PRIMITIVES[name] = self

    def __call__(self, *inputs: Value, **attrs: Any):
        """Record an application in the current graph; returns its output value(s)."""
        result = self.shape_rule(*inputs, **attrs)
        single = self.n_outputs == 1
        node = Node(self, inputs, attrs, [result] if single else result)
        current_graph().nodes.append(node)
        return node.outputs[0] if single else node.outputs

    def vjp(self, rule: Callable) -> Callable:
        self.vjp_rule = rule
        return rule

    def jvp(self, rule: Callable) -> Callable:
        self.jvp_rule = rule
        return rule

    def batch(self, rule: Callable) -> Callable:
        self.batch_rule = rule
        return rule

    def __repr__(self) -> str:
        return f"<primitive {self.name}>"
