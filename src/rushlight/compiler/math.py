"""Mathematical functions on registers: which there are, and whether they are emitted in line or called.

A short function is emitted where it is used, so that its constants stay in registers over the loop. A long one
becomes a private function of the module, emitted once for each vector type. Everything is generic over float and
double and over the number of lanes.
"""

from __future__ import annotations

from collections.abc import Callable

from .math_exponential import EXPONENTIAL
from .math_expression import Expr
from .math_fmod import FMOD, next_after
from .math_gamma import GAMMA
from .math_hyperbolic import HYPERBOLIC
from .math_inverse import INVERSE
from .math_quantile import QUANTILE
from .math_special import SPECIAL
from .math_trigonometric import TRIGONOMETRIC
from .text import mangle

__all__ = ["FUNCTIONS", "call", "next_after"]

FUNCTIONS: dict[str, Callable] = EXPONENTIAL | FMOD | GAMMA | HYPERBOLIC | INVERSE | QUANTILE | SPECIAL
FUNCTIONS |= TRIGONOMETRIC

# a call saves and restores all vector registers around it, which is worth it only for long bodies
INLINE = {"exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sigmoid", "sqrt", "rsqrt", "reciprocal", "tanh"}
INLINE |= {"sin", "cos", "erf"}


def call(name: str, *operands: Expr) -> Expr:
    """The value of function `name` at the operands (all of one type, float or double)."""
    if name in INLINE:
        return FUNCTIONS[name](*operands)
    return call_private(f"math.{name}", FUNCTIONS[name], *operands)


def call_private(prefix: str, body: Callable, *operands: Expr):
    """Call a private function of the module made from `body`, which maps `Expr`s to one `Expr`."""
    f, type = operands[0].f, operands[0].type
    name = f"{prefix}.{mangle(type)}"
    if all(g.name != name for g in f.module.functions):
        g = f.module.function(name, [(type, f"x{i}") for i in range(len(operands))], type, "internal")
        result = body(*(Expr(g, v) for v in g.args))
        g.line(f"ret {result.v}")
    arguments = ", ".join(str(x.v) for x in operands)
    return Expr(f, f.value(f"call {type} @{name}({arguments})", type))
