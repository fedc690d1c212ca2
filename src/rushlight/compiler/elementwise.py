"""How each `map` primitive is computed on registers, for every element type (see `registers`)."""

from __future__ import annotations

from collections.abc import Callable

from . import complex_math, math, math_integer
from .math_expression import Expr, absolute, copy_sign, square_root, unlikely, where
from .registers import (
    constant,
    convert,
    from_memory,
    loaded_type,
    memory_type,
    register_type,
    round_to,
    to_memory,
)
from .text import Function, V

__all__ = [
    "constant",
    "convert",
    "emit",
    "from_memory",
    "loaded_type",
    "memory_type",
    "register_type",
    "round_to",
    "to_memory",
]

MAPS: dict[str, Callable] = {}


def emit(f: Function, node, args, lanes: int):
    """Emit one `map` primitive on register values; `args` are its operands, complex ones as pairs.

    Integer division by zero yields some number and does not trap. If the function has an attribute
    `on_zero_division`, it is called with the mask (i1 lanes) of lanes that divide by zero.
    """
    name = node.prim.name
    dtype = node.inputs[0].dtype
    if name == "where":
        return choose(f, *args)
    if name == "cast":
        return convert(f, args[0], dtype, node.attrs["dtype"], lanes)
    exponent = known_exponent(node.inputs[1]) if name == "pow" else None
    if dtype.is_complex:
        return complex_math.emit(f, name, args, exponent)
    operands = [tuple(Expr(f, part) for part in a) if isinstance(a, tuple) else Expr(f, a) for a in args]
    if name == "pow":
        return power(dtype, *operands, exponent).v
    result = MAPS[name](dtype, *operands)
    return tuple(part.v for part in result) if isinstance(result, tuple) else result.v


NUMBER = "a number that comes at run time"


def known_exponent(value):
    """The number behind a value that is a `constant`, perhaps expanded, reshaped or cast; `NUMBER`; else None."""
    while value.node is not None and value.node.prim.name in ("expand", "reshape", "cast"):
        value = value.node.inputs[0]
    if value.node is None:
        return NUMBER if value.weak else None
    return value.node.attrs["value"] if value.node.prim.name == "constant" else None


def maps(*names: str):
    """Register `rule(dtype, *operands)` on `Expr`s for real element types."""

    def register(rule: Callable) -> Callable:
        for name in names:
            MAPS[name] = rule
        return rule

    return register


def choose(f: Function, mask: V, a, b):
    """where(cond, a, b) of any type."""
    if isinstance(a, tuple):
        return tuple(f.select(mask, x, y) for x, y in zip(a, b))
    return f.select(mask, a, b)


@maps("add")
def add(dtype, a, b):
    return a | b if dtype.kind == "b" else a + b


@maps("sub")
def subtract(dtype, a, b):
    return a ^ b if dtype.kind == "b" else a - b


@maps("mul")
def multiply(dtype, a, b):
    return a & b if dtype.kind == "b" else a * b


@maps("div")
def divide(dtype, a, b):
    return a / b


@maps("floor_divide")
def floor_divide(dtype, a, b):
    if dtype.kind != "f":
        return math_integer.floor_divide(a, b, dtype.is_signed)
    # Python's algorithm: exact where (a - a mod b) / b is, then made whole
    modulus = float_fmod(a, b)
    quotient = (a - modulus) / b
    quotient = where(modulus.ne(0) & ((b < 0) ^ (modulus < 0)), quotient - 1, quotient)
    whole = quotient.intrinsic("llvm.floor")
    whole = where(quotient - whole > 0.5, whole + 1, whole)
    whole = where(quotient.eq(0), copy_sign(a.constant(0), a / b), whole)
    return where(b.eq(0), a / b, whole)


@maps("trunc_divide")
def trunc_divide(dtype, a, b):
    if dtype.kind == "f":
        # the quotient of half types is rounded before the cut, or 96.99 would count as 96
        quotient = a / b
        return Expr(a.f, round_to(a.f, quotient.v, dtype, a.lanes)).intrinsic("llvm.trunc")
    return math_integer.trunc_divide(a, b, dtype.is_signed)


@maps("remainder")
def remainder(dtype, a, b):
    if dtype.kind != "f":
        return math_integer.remainder(a, b, dtype.is_signed)
    modulus = float_fmod(a, b)
    return where(modulus.ne(0) & ((b < 0) ^ (modulus < 0)), modulus + b, modulus)


@maps("fmod")
def fmod(dtype, a, b):
    if dtype.kind == "f":
        return float_fmod(a, b)
    return math_integer.fmod(a, b, dtype.is_signed)


def float_fmod(a: Expr, b: Expr) -> Expr:
    """a - trunc(a / b) * b exactly, with the sign of a (C's fmod)."""
    return math.call("fmod", a, b)


def power(dtype, a, b, exponent=None):
    """a ** b; a small exponent known while compiling needs no logarithm."""
    if dtype.kind != "f":
        return math_integer.power(a, b, dtype)
    if exponent is NUMBER:
        return _power_by_number(a, b)
    if exponent in SMALL_POWERS and not isinstance(exponent, bool):
        return SMALL_POWERS[exponent](a)
    return math.call("pow", a, b)


def _power_by_number(a: Expr, b: Expr) -> Expr:
    """a ** b for an exponent that is the same in all lanes: branches for those that people write."""

    def chain(numbers) -> tuple[Expr]:
        number, *others = numbers
        first = (SMALL_POWERS[number](a),)
        rest = (lambda _: chain(others)) if others else (lambda _: (math.call("pow", a, b),))
        return unlikely(b.ne(number), first, rest)

    return chain((2, 3, 0.5, -1, -0.5, 1))[0]


SMALL_POWERS = {
    0: lambda x: x.constant(1),
    1: lambda x: x,
    2: lambda x: x * x,
    3: lambda x: x * x * x,
    0.5: square_root,
    -0.5: lambda x: 1 / square_root(x),
    -1: lambda x: 1 / x,
    -2: lambda x: 1 / (x * x),
}


@maps("maximum")
def maximum(dtype, a, b):
    return _extreme(dtype, a, b, ">")


@maps("minimum")
def minimum(dtype, a, b):
    return _extreme(dtype, a, b, "<")


def _extreme(dtype, a, b, order):
    if dtype.kind == "b":
        return a | b if order == ">" else a & b
    if dtype.kind == "u":
        return a.intrinsic("llvm.umax" if order == ">" else "llvm.umin", b)
    if dtype.kind == "i":
        return a.intrinsic("llvm.smax" if order == ">" else "llvm.smin", b)
    # max instructions hand back the second operand if either is NaN
    return where(a.is_nan(), a, where(a > b if order == ">" else a < b, a, b))


@maps("copysign")
def copysign(dtype, a, b):
    return copy_sign(a, b)


@maps("nextafter")
def nextafter(dtype, a, b):
    return math.next_after(a, b) if dtype.itemsize > 2 else _next_half(dtype, a, b)


def _next_half(dtype, a, b):
    """One step in the half type's own bits, which order like sign and magnitude."""
    f, lanes = a.f, a.lanes
    bits = Expr(f, to_memory(f, a.v, dtype, lanes))
    step = where((b > a) ^ (a < 0), bits + 1, bits - 1)
    least = where(b < 0, bits.constant(-0x7FFF), bits.constant(1))
    step = where(a.eq(0), least, step)
    result = where(a.eq(b), b, Expr(f, from_memory(f, step.v, dtype, lanes)))
    return where(a.is_nan() | b.is_nan(), a + b, result)


@maps("gcd")
def gcd(dtype, a, b):
    return math_integer.gcd(a, b, dtype.is_signed)


@maps("neg")
def negate(dtype, a):
    return -a


@maps("abs")
def magnitude(dtype, a):
    if dtype.kind == "f":
        return absolute(a)
    return where(a < 0, -a, a) if dtype.kind == "i" else a


@maps("sign")
def sign(dtype, a):
    if dtype.kind == "b":
        return a
    if dtype.kind == "u":
        return where(a.ne(0), a.constant(1), 0)
    positive = where(a > 0, a.constant(1), 0)
    # PyTorch's sign of NaN is 0
    return where(a < 0, a.constant(-1), positive)


@maps("bit_and")
def bit_and(dtype, a, b):
    return a & b


@maps("bit_or")
def bit_or(dtype, a, b):
    return a | b


@maps("bit_xor")
def bit_xor(dtype, a, b):
    return a ^ b


@maps("bit_not")
def bit_not(dtype, a):
    return ~a


@maps("shift_left")
def shift_left(dtype, a, b):
    return math_integer.shift_left(a, b)


@maps("shift_right")
def shift_right(dtype, a, b):
    return math_integer.shift_right(a, b, dtype.is_signed)


def _comparison(condition: str) -> Callable:
    """`condition` is one of eq ne lt le gt ge; only `ne` holds for NaN."""

    def rule(dtype, a, b):
        if dtype.kind == "f":
            prefix = "u" if condition == "ne" else "o"
        else:
            prefix = "" if condition in ("eq", "ne") else "s" if dtype.is_signed else "u"
        return Expr(a.f, a.f.compare(prefix + condition, a.v, b.v))

    return rule


MAPS |= {name: _comparison(name) for name in ("eq", "ne", "lt", "le", "gt", "ge")}


@maps("isfinite")
def isfinite(dtype, a):
    return absolute(a) < float("inf") if dtype.kind == "f" else a.eq(a)


@maps("isnan")
def isnan(dtype, a):
    return a.is_nan() if dtype.kind == "f" else a.ne(a)


def _rounding(intrinsic: str) -> Callable:
    return lambda dtype, a: a.intrinsic(intrinsic) if dtype.kind == "f" else a


MAPS |= {name: _rounding(f"llvm.{name}") for name in ("floor", "ceil", "trunc")}
MAPS["round"] = _rounding("llvm.roundeven")


def _function(name: str) -> Callable:
    return lambda dtype, *operands: math.call(name, *operands)


MAPS |= {name: _function(name) for name in math.FUNCTIONS if name not in MAPS}


@maps("complex")
def make_complex(dtype, re, im):
    return re, im


@maps("real")
def real(dtype, a):
    return a


@maps("imag")
def imaginary(dtype, a):
    return a.constant(0)


@maps("conj")
def conjugate(dtype, a):
    return a
