"""What each scan folds: how an element becomes a state, how two states combine, what a state yields.

A state is a tuple of registers, scalars or vectors; `combine(a, b)` is associative, with a the earlier one. Sums
and products of floats are kept in double (halves in float), as PyTorch does.
"""

from __future__ import annotations

from ..ir.dtypes import DType
from . import math
from .elementwise import register_type
from .math_expression import Expr, absolute, where
from .text import Function, V, element, is_float, vector

State = tuple[V, ...]


class Scan:
    """One scan of one element type.

    outputs     how many results there are: values, or values and positions
    in_order    combine states strictly one after the other: any other grouping may over- or underflow
    """

    outputs, in_order = 1, False

    def __init__(self, dtype: DType):
        self.dtype = dtype
        self.register = element(register_type(dtype, 1))
        wide = self.register == "float" and dtype.itemsize in (4, 8) and dtype.to_real().itemsize == 4
        self.type = "double" if wide else self.register  # of what is accumulated
        self.parts = 2 if dtype.is_complex else 1

    @property
    def types(self) -> tuple[str, ...]:
        """The lane types of a state."""
        return (self.type,) * self.parts

    def start(self, f: Function, x, position: V, lanes: int) -> State:
        """The state of one element per lane; complex ones come as pairs."""
        parts = x if isinstance(x, tuple) else (x,)
        return tuple(self.widen(f, part, lanes) for part in parts)

    def finish(self, f: Function, state: State, lanes: int) -> list:
        """Registers to store for each output."""
        parts = tuple(self.narrow(f, part, lanes) for part in state)
        return [parts if self.parts == 2 else parts[0]]

    def combine(self, f: Function, a: State, b: State) -> State:
        raise NotImplementedError

    def identity(self, f: Function, lanes: int) -> State:
        """A state that changes nothing as the earlier one."""
        raise NotImplementedError

    def filling(self, f: Function, lanes: int) -> State:
        """An identity to shift into vectors."""
        return self.identity(f, lanes)

    def widen(self, f: Function, v: V, lanes: int) -> V:
        return v if self.type == self.register else f.cast("fpext", v, vector(self.type, lanes))

    def narrow(self, f: Function, v: V, lanes: int) -> V:
        return v if self.type == self.register else f.cast("fptrunc", v, vector(self.register, lanes))


class CumulativeSum(Scan):
    def combine(self, f, a, b):
        return (f.add(*a, *b),)

    def identity(self, f, lanes):
        return (f.const(0, vector(self.type, lanes)),)

    def filling(self, f, lanes):
        # -0: no sum tells it from 0, but LLVM, which shifts zeros in by slow expansions
        return (f.const(-0.0, vector(self.type, lanes)),)


class CumulativeProduct(Scan):
    def __init__(self, dtype: DType):
        super().__init__(dtype)
        self.in_order = is_float(self.type)

    def combine(self, f, a, b):
        if self.parts == 1:
            return (f.mul(*a, *b),)
        (ar, ai), (br, bi) = a, b
        return f.sub(f.mul(ar, br), f.mul(ai, bi)), f.add(f.mul(ar, bi), f.mul(ai, br))

    def identity(self, f, lanes):
        ones = tuple(f.const(number, vector(self.type, lanes)) for number in (1, 0))
        return ones[: self.parts]


class LogCumulativeSum(Scan):
    """State (m, s): the largest x so far, and the sum of exp(x - m)."""

    @property
    def types(self):
        return self.type, self.type

    def start(self, f, x, position, lanes):
        return self.widen(f, x, lanes), f.const(1, vector(self.type, lanes))

    def combine(self, f, a, b):
        (ma, sa), (mb, sb) = (tuple(Expr(f, v) for v in state) for state in (a, b))
        # equal maxima differ by 0, also when both are infinite; a NaN stays
        less = where(ma.eq(mb), 0.0, -absolute(ma - mb))
        scale = math.call("exp", less)
        first = ma > mb
        m = where(ma.is_nan() | first, ma, mb)
        s = where(first, sa + sb * scale, sa * scale + sb)
        return m.v, s.v

    def finish(self, f, state, lanes):
        m, s = (Expr(f, v) for v in state)
        return [self.narrow(f, (m + math.call("log", s)).v, lanes)]

    def identity(self, f, lanes):
        type = vector(self.type, lanes)
        return f.const(-float("inf"), type), f.const(0, type)


class CumulativeExtreme(Scan):
    """State (value, position): a later element wins if it is not worse, or NaN."""

    outputs = 2

    def __init__(self, dtype: DType, order: str):
        super().__init__(dtype)
        self.type, self.order = self.register, order

    @property
    def types(self):
        return self.type, "i64"

    def start(self, f, x, position, lanes):
        return x, position

    def combine(self, f, a, b):
        prefix = {"f": "o", "i": "s"}.get(self.dtype.kind, "u")
        later = f.compare(prefix + self.order, b[0], a[0])
        if self.dtype.kind == "f":
            later = f.binary("or", later, f.compare("uno", b[0], b[0]))
        return f.select(later, b[0], a[0]), f.select(later, b[1], a[1])

    def finish(self, f, state, lanes):
        return list(state)

    def identity(self, f, lanes):
        return f.const(self.worst(), vector(self.type, lanes)), f.const(0, vector("i64", lanes))

    def worst(self):
        low = self.order == "ge"
        bits = 8 * self.dtype.itemsize
        if self.dtype.kind == "f":
            return -float("inf") if low else float("inf")
        if self.dtype.kind == "i":
            return -(1 << (bits - 1)) if low else (1 << (bits - 1)) - 1
        return 0 if low else 1 if self.dtype.kind == "b" else (1 << bits) - 1


OPERATIONS = {
    "cumsum": CumulativeSum,
    "cumprod": CumulativeProduct,
    "logcumsumexp": LogCumulativeSum,
    "cummax": lambda dtype: CumulativeExtreme(dtype, "ge"),
    "cummin": lambda dtype: CumulativeExtreme(dtype, "le"),
}
