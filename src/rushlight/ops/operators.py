"""Python's operators on tensors: which op each one calls."""

from __future__ import annotations

from ..core import engine
from .declare import FUNCTIONS, OPS

BINARY = [
    "add",
    "sub",
    "mul",
    "true_divide",
    "floor_divide",
    "remainder",
    "pow",
    "matmul",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bitwise_left_shift",
    "bitwise_right_shift",
    "lt",
    "le",
    "gt",
    "ge",
    "eq",
    "ne",
]
UNARY = ["neg", "positive", "bitwise_not", "abs"]
IN_PLACE = [
    "add",
    "sub",
    "mul",
    "true_divide",
    "floor_divide",
    "remainder",
    "pow",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bitwise_left_shift",
    "bitwise_right_shift",
]

for name in (*BINARY, *UNARY):
    engine.bind(name, OPS[name])
for name in IN_PLACE:
    engine.bind(name + "_", OPS[name + "_"])

for name, alias in {"bitwise_left_shift": "__lshift__", "bitwise_right_shift": "__rshift__"}.items():
    FUNCTIONS[alias] = OPS[name]
