"""Arithmetic on registers written as formulas: an `Expr` is a value together with the function it is emitted into.

Operators on floats carry the `contract` flag (a product and a sum may fuse); the error-free transformations
below are exempt from it, since they rely on each rounding. Comparisons yield masks (i1 lanes).
"""

from __future__ import annotations

from . import text
from .target import host
from .text import Function, V


class Expr:
    """A register value with operators; plain numbers on the other side become literals of the same type."""

    __slots__ = ("f", "v")

    def __init__(self, f: Function, v: V):
        self.f, self.v = f, v

    @property
    def type(self) -> str:
        return self.v.type

    @property
    def kind(self) -> str:
        """The lane type, for example "float"."""
        return text.element(self.v.type)

    @property
    def lanes(self) -> int:
        return text.lanes(self.v.type)

    def lift(self, other) -> V:
        """The other operand as a value of this type."""
        return other.v if type(other) is Expr else self.f.const(other, self.v.type)

    def constant(self, number) -> Expr:
        """A literal of this value's type."""
        return Expr(self.f, self.f.const(number, self.v.type))

    def _is_float(self) -> bool:
        return text.is_float(self.v.type)

    def _binary(self, floating: str, integer: str, other, swap: bool = False) -> Expr:
        a, b = self.v, self.lift(other)
        if swap:
            a, b = b, a
        return Expr(self.f, self.f.binary(floating if self._is_float() else integer, a, b))

    # -- arithmetic -----------------------------------------------------------------------------
    def __add__(self, other):
        return self._binary("fadd contract", "add", other)

    __radd__ = __add__

    def __sub__(self, other):
        return self._binary("fsub contract", "sub", other)

    def __rsub__(self, other):
        return self._binary("fsub contract", "sub", other, swap=True)

    def __mul__(self, other):
        return self._binary("fmul contract", "mul", other)

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self._binary("fdiv", "sdiv", other)

    def __rtruediv__(self, other):
        return self._binary("fdiv", "sdiv", other, swap=True)

    def __neg__(self):
        return Expr(self.f, self.f.neg(self.v))

    # -- bits and masks -------------------------------------------------------------------------
    def __and__(self, other):
        return self._binary("", "and", other)

    def __or__(self, other):
        return self._binary("", "or", other)

    def __xor__(self, other):
        return self._binary("", "xor", other)

    def __invert__(self):
        return self ^ (1 if self.kind == "i1" else -1)

    def __lshift__(self, other):
        return self._binary("", "shl", other)

    def __rshift__(self, other):
        """Logical shift; see `shift_arithmetic`."""
        return self._binary("", "lshr", other)

    def shift_arithmetic(self, count) -> Expr:
        return self._binary("", "ashr", count)

    # -- comparisons: ordered (false for NaN) except `ne` ---------------------------------------
    def _compare(self, condition: str, other) -> Expr:
        prefix = "o" if self._is_float() else "s"
        return Expr(self.f, self.f.compare(prefix + condition, self.v, self.lift(other)))

    def __lt__(self, other):
        return self._compare("lt", other)

    def __le__(self, other):
        return self._compare("le", other)

    def __gt__(self, other):
        return self._compare("gt", other)

    def __ge__(self, other):
        return self._compare("ge", other)

    def eq(self, other) -> Expr:
        return Expr(self.f, self.f.compare("oeq" if self._is_float() else "eq", self.v, self.lift(other)))

    def ne(self, other) -> Expr:
        return Expr(self.f, self.f.compare("une" if self._is_float() else "ne", self.v, self.lift(other)))

    def is_nan(self) -> Expr:
        return Expr(self.f, self.f.compare("uno", self.v, self.v))

    # -- conversions ----------------------------------------------------------------------------
    def cast(self, opcode: str, kind: str) -> Expr:
        """`opcode` is LLVM's; `kind` is the new lane type."""
        return Expr(self.f, self.f.cast(opcode, self.v, text.vector(kind, self.lanes)))

    def bits(self) -> Expr:
        """A float's bits as an integer of the same width."""
        return self.cast("bitcast", "i32" if self.kind == "float" else "i64")

    def as_float(self) -> Expr:
        """The float whose bits this integer holds."""
        return self.cast("bitcast", "float" if self.kind == "i32" else "double")

    def to_integer(self) -> Expr:
        """Truncate a float that is known to be in range to the integer of the same width."""
        return self.cast("fptosi", "i32" if self.kind == "float" else "i64")

    def to_float(self) -> Expr:
        return self.cast("sitofp", "float" if self.kind == "i32" else "double")

    def intrinsic(self, base: str, *others) -> Expr:
        return Expr(self.f, self.f.intrinsic(base, self.v, *(self.lift(o) for o in others)))

    def exact(self, opcode: str, other) -> Expr:
        """fadd, fsub or fmul that must not be contracted."""
        return Expr(self.f, self.f.binary(opcode, self.v, self.lift(other)))


def where(mask: Expr, a, b) -> Expr:
    """Lane by lane: a where the mask holds, else b; one of them may be a number."""
    if type(a) is not Expr:
        a = b.constant(a)
    return Expr(mask.f, mask.f.select(mask.v, a.v, a.lift(b)))


def absolute(x: Expr) -> Expr:
    return x.intrinsic("llvm.fabs")


def square_root(x: Expr) -> Expr:
    return x.intrinsic("llvm.sqrt")


def copy_sign(magnitude: Expr, sign: Expr) -> Expr:
    return magnitude.intrinsic("llvm.copysign", sign)


def has_fma() -> bool:
    return host().has("fma")


def fma(a: Expr, b, c) -> Expr:
    """a*b + c, with one rounding where the processor can and two where it cannot."""
    return a.intrinsic("llvm.fma" if has_fma() else "llvm.fmuladd", b, c)


def clamp(x: Expr, low: float, high: float) -> Expr:
    """x limited to [low, high]; NaN stays."""
    x = where(x < low, low, x)
    return where(x > high, high, x)


def polynomial(x: Expr, coefficients) -> Expr:
    """c[0] + c[1] x + ...: even and odd parts apart, two independent chains of multiply-adds."""
    if len(coefficients) < 5:
        return horner(x, coefficients)
    square = x * x
    return fma(horner(square, coefficients[1::2]), x, horner(square, coefficients[0::2]))


def horner(x: Expr, coefficients) -> Expr:
    result = x.constant(coefficients[-1])
    for c in coefficients[-2::-1]:
        result = fma(result, x, c)
    return result


# -- pairs: an unevaluated sum hi + lo, good for twice the precision ------------------------------
def two_sum(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """a + b exactly, as (rounded sum, error); any magnitudes (Knuth)."""
    total = a.exact("fadd", b)
    shared = total.exact("fsub", a)
    error = a.exact("fsub", total.exact("fsub", shared)).exact("fadd", b.exact("fsub", shared))
    return total, error


def quick_two_sum(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """a + b exactly, for |a| >= |b| or a = 0 (Dekker)."""
    total = a.exact("fadd", b)
    return total, b.exact("fsub", total.exact("fsub", a))


def two_product(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """a * b exactly, as (rounded product, error)."""
    high = a.exact("fmul", b)
    if has_fma():
        return high, a.intrinsic("llvm.fma", b, -high)
    (a1, a2), (b1, b2) = _split(a), _split(b)
    error = a1.exact("fmul", b1).exact("fsub", high)
    error = error.exact("fadd", a1.exact("fmul", b2)).exact("fadd", a2.exact("fmul", b1))
    return high, error.exact("fadd", a2.exact("fmul", b2))


def _split(a: Expr) -> tuple[Expr, Expr]:
    """Halves of the significand: clearing low bits cannot overflow, unlike Veltkamp's product."""
    high = (a.bits() & (-(1 << 12) if a.kind == "float" else -(1 << 27))).as_float()
    return high, a.exact("fsub", high)


# -- control --------------------------------------------------------------------------------------
def any_lane(mask: Expr) -> V:
    """Whether the mask holds in some lane, as an i1."""
    if mask.lanes == 1:
        return mask.v
    bits = mask.f.cast("bitcast", mask.v, f"i{mask.lanes}")
    return mask.f.compare("ne", bits, mask.f.const(0, bits.type))


def iterate(values: tuple[Expr, ...], condition, step) -> tuple[Expr, ...]:
    """`while any(condition(*values)): values = step(*values)`; returns the last values."""
    f = values[0].f
    slots = [f.variable(e.type, e.v) for e in values]

    def current() -> tuple[Expr, ...]:
        return tuple(Expr(f, f.load(slot, e.type)) for slot, e in zip(slots, values))

    head, body, done = (f.name_of(p) for p in ("head", "body", "done"))
    f.label(head)
    f.line(f"br {any_lane(condition(*current()))}, label %{body}, label %{done}")
    f.lines.append(f"{body}:")
    for slot, e in zip(slots, step(*current())):
        f.store(e.v, slot)
    f.line(f"br label %{head}")
    f.lines.append(f"{done}:")
    return current()


def unlikely(mask: Expr, values: tuple[Expr, ...], change) -> tuple[Expr, ...]:
    """The values, or `change(*values)` in a branch of its own if the mask holds in some lane."""
    f = mask.f
    slots = [f.variable(e.type, e.v) for e in values]
    with f.when(any_lane(mask)):
        for slot, e in zip(slots, change(*values)):
            f.store(e.v, slot)
    return tuple(Expr(f, f.load(slot, e.type)) for slot, e in zip(slots, values))
