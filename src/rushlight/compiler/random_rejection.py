"""Distributions drawn by rejection: Poisson, binomial and gamma numbers, each from a parameter of its own.

How many words a number takes is not known before, so these kernels draw one word after another from the state.

Sources: W. Hörmann, "The transformed rejection method for generating Poisson random variables", Insurance:
Mathematics and Economics 12 (1993), algorithm PTRS; "The generation of binomial random variates", Journal of
Statistical Computation and Simulation 46 (1993), algorithm BTRS; G. Marsaglia and W. W. Tsang, "A simple method for
generating gamma variables", ACM TOMS 26 (2000).
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable

from ..ir.dtypes import DType, dtype_named
from .elementwise import from_memory, memory_type, to_memory
from .kernel import Kernel
from .math import call
from .math_expression import Expr, absolute, square_root, where
from .random_normal import box_muller
from .random_state import HAS_NORMAL, NORMAL, POSITION, SIZE
from .random_stream import block_variable, copy_block, integer, temper, twist
from .text import Function, Module, V


class Serial:
    """Draws one number at a time; `f` is the kernel that draws."""

    def __init__(self, f: Function, state: V):
        self.f, self.state = f, state
        _word_function(f.module)

    def number(self, x: float) -> Expr:
        return Expr(self.f, self.f.const(x, "double"))

    def unit(self) -> Expr:
        """Uniform in [0, 1), a multiple of 2^-53."""
        high, low = (Expr(self.f, self.f.value(f"call i32 @next_word({self.state})", "i32")) for _ in range(2))
        word = (high & 0x1FFFFF).cast("zext", "i64") << 32 | low.cast("zext", "i64")
        return word.cast("sitofp", "double") * 2.0**-53

    def normal(self) -> Expr:
        """A normal number; every second one was kept by the first."""
        f = self.f
        kept, spare = f.at(self.state, "i32", HAS_NORMAL), f.at(self.state, "double", NORMAL // 2)

        def pair() -> Expr:
            angle, radius = self.unit(), self.unit()
            first, second = box_muller(1 - radius, angle)
            f.store(second.v, spare)
            return first

        had = Expr(f, f.load(kept, "i32"))
        result = self.either(had.ne(0), lambda: Expr(f, f.load(spare, "double")), pair)
        f.store((had ^ 1).v, kept)
        return result

    def either(self, condition: Expr, yes: Callable[[], Expr], no: Callable[[], Expr]) -> Expr:
        """The double that one of two branches makes."""
        slot = self.f.variable("double")
        with self.f.branch(condition.v) as other:
            self.f.store(yes().v, slot)
            other()
            self.f.store(no().v, slot)
        return Expr(self.f, self.f.load(slot, "double"))

    def until(self, attempt: Callable[[], tuple[Expr, Expr]]) -> Expr:
        """Repeat `attempt() -> (number, accepted)` until it is accepted; returns the number."""
        f = self.f
        result, again = f.variable("double"), f.variable("i1", f.const(True, "i1"))
        with f.repeat(lambda: f.load(again, "i1")):
            number, accepted = attempt()
            f.store(number.v, result)
            f.store((~accepted).v, again)
        return Expr(f, f.load(result, "double"))

    def lazily(self, sure: Expr, possible: Expr, test: Callable[[], Expr]) -> Expr:
        """`sure or (possible and test())`, where the test runs only if it decides."""
        slot = self.f.variable("i1", sure.v)
        with self.f.when((possible & ~sure).v):
            self.f.store(test().v, slot)
        return Expr(self.f, self.f.load(slot, "i1"))


def _word_function(module: Module) -> None:
    """next_word(state): the next tempered word, after another block if this one is used up."""
    f = module.function("next_word", [("ptr", "state")], "i32", "internal")
    state = f.args[0]
    slot = f.at(state, "i32", POSITION)
    position = f.variable("i64", f.cast("zext", f.load(slot, "i32"), "i64"))
    with f.when((Expr(f, f.load(position, "i64")) >= SIZE).v):
        ring = block_variable(f, 4 * 2 * SIZE)
        copy_block(f, state, ring)
        twist(f, ring, integer(f, 1))
        copy_block(f, f.at(ring, "i32", SIZE), state)
        f.store(f.const(0, "i64"), position)
    here = Expr(f, f.load(position, "i64"))
    word = temper(Expr(f, f.load(f.at(state, "i32", here.v), "i32")))
    f.store((here + 1).cast("trunc", "i32").v, slot)
    f.line(f"ret {word.v}")


def floor(x: Expr) -> Expr:
    return x.intrinsic("llvm.floor")


# -- Poisson ----------------------------------------------------------------------------------------
def _poisson(draw: Serial, dtype: DType, rate: Expr) -> Expr:
    return draw.either(rate >= 10, lambda: _poisson_large(draw, rate), lambda: _poisson_small(draw, rate))


def _poisson_small(draw: Serial, rate: Expr) -> Expr:
    """How many uniform numbers can be multiplied before the product falls to e^-rate."""
    f, limit = draw.f, call("exp", -rate)
    product, count = f.variable("double", f.const(1, "double")), f.variable("double", f.const(-1, "double"))
    with f.repeat(lambda: (Expr(f, f.load(product, "double")) > limit).v):
        f.store((Expr(f, f.load(product, "double")) * draw.unit()).v, product)
        f.store((Expr(f, f.load(count, "double")) + 1).v, count)
    result = Expr(f, f.load(count, "double"))
    return where(result < 0, 0.0, result)


def _poisson_large(draw: Serial, rate: Expr) -> Expr:
    log_rate = call("log", rate)
    b = square_root(rate) * 2.53 + 0.931
    a = b * 0.02483 - 0.059
    squeeze = 0.9277 - 3.6224 / (b - 2)
    log_alpha = call("log", 1.1239 + 1.1328 / (b - 3.4))

    def attempt() -> tuple[Expr, Expr]:
        u, v = draw.unit() - 0.5, draw.unit()
        edge = 0.5 - absolute(u)
        k = floor((a * 2 / edge + b) * u + rate + 0.43)

        def accept() -> Expr:
            left = call("log", v) + log_alpha - call("log", a / (edge * edge) + b)
            return left <= k * log_rate - rate - call("lgamma", k + 1)

        possible = (k >= 0) & ~((edge < 0.013) & (v > edge))
        return k, draw.lazily((edge >= 0.07) & (v <= squeeze), possible, accept)

    return draw.until(attempt)


# -- binomial ---------------------------------------------------------------------------------------
def _binomial(draw: Serial, dtype: DType, count: Expr, p: Expr) -> Expr:
    """Counts failures instead of successes where those are the fewer."""

    def draw_some() -> Expr:
        low = p <= 0.5
        rare = where(low, p, 1 - p)
        large = count * rare >= 10
        made = draw.either(large, lambda: _binomial_large(draw, count, rare), lambda: _trials(draw, count, rare))
        return where(low, made, count - made)

    certain = (count <= 0) | (p <= 0) | (p >= 1)
    return draw.either(certain, lambda: where((p >= 1) & (count > 0), count, 0.0), draw_some)


def _trials(draw: Serial, count: Expr, p: Expr) -> Expr:
    """How many waiting times for a success fit into `count` trials."""
    f, divisor = draw.f, call("log1p", -p)
    total, made = f.variable("double", f.const(0, "double")), f.variable("double", f.const(-1, "double"))
    with f.repeat(lambda: (Expr(f, f.load(total, "double")) <= count).v):
        waited = (call("log", draw.unit()) / divisor).intrinsic("llvm.ceil")
        f.store((Expr(f, f.load(total, "double")) + waited).v, total)
        f.store((Expr(f, f.load(made, "double")) + 1).v, made)
    return Expr(f, f.load(made, "double"))


def _binomial_large(draw: Serial, n: Expr, p: Expr) -> Expr:
    deviation = square_root(n * p * (1 - p))
    b = deviation * 2.53 + 1.15
    a = b * 0.0248 + p * 0.01 - 0.0873
    squeeze, odds = 0.92 - 4.2 / b, p / (1 - p)
    alpha = (2.83 + 5.1 / b) * deviation
    m = floor((n + 1) * p)

    def attempt() -> tuple[Expr, Expr]:
        u, v = draw.unit() - 0.5, draw.unit()
        edge = 0.5 - absolute(u)
        k = floor((a * 2 / edge + b) * u + n * p + 0.5)

        def accept() -> Expr:
            left = call("log", v * alpha / (a / (edge * edge) + b))
            right = (m + 0.5) * call("log", (m + 1) / (odds * (n - m + 1)))
            right = right + (n + 1) * call("log", (n - m + 1) / (n - k + 1))
            right = right + (k + 0.5) * call("log", odds * (n - k + 1) / (k + 1))
            return left <= right + _stirling(m) + _stirling(n - m) - _stirling(k) - _stirling(n - k)

        return k, draw.lazily((edge >= 0.07) & (v <= squeeze), (k >= 0) & (k <= n), accept)

    return draw.until(attempt)


def _stirling(k: Expr) -> Expr:
    """What Stirling's formula for log k! lacks."""
    series = 1 / (k + 1)
    square = series * series
    tail = (1 / 12 - (1 / 360 - square * (1 / 1260)) * square) * series
    # the series is too short for the first few, whose exact values a small table holds
    table = k.f.module.table("double", [k.f.const(x, "double").text for x in STIRLING])
    index = where(k < len(STIRLING), k, 0.0).cast("fptosi", "i64")
    return where(k < len(STIRLING), Expr(k.f, k.f.load(k.f.at(table, "double", index.v), "double")), tail)


STIRLING = (0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211)
STIRLING += (0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287)


# -- gamma ------------------------------------------------------------------------------------------
def _gamma(draw: Serial, dtype: DType, shape: Expr) -> Expr:
    """Below 1, a gamma number of shape + 1 times u^(1 / shape). The parameters are rounded to the dtype."""

    def rounded(x: Expr) -> Expr:
        return x if dtype.itemsize == 8 else x.cast("fptrunc", "float").cast("fpext", "double")

    small = (shape < 1) & (shape > 0)
    factor = draw.either(small, lambda: call("pow", 1 - draw.unit(), rounded(1 / shape)), lambda: draw.number(1.0))
    d = rounded(where(small, rounded(shape + 1), shape) - THIRD)
    c = 1 / square_root(d * 9)
    made = draw.either(shape.eq(0), lambda: draw.number(0.0), lambda: _gamma_large(draw, d, c) * factor)
    return where(made > SMALLEST[dtype.name], made, SMALLEST[dtype.name])


def _gamma_large(draw: Serial, d: Expr, c: Expr) -> Expr:
    x_slot = draw.f.variable("double")

    def positive() -> tuple[Expr, Expr]:
        x = draw.normal()
        draw.f.store(x.v, x_slot)
        y = c * x + 1
        return y, y > 0

    def attempt() -> tuple[Expr, Expr]:
        y = draw.until(positive)
        x, v, u = Expr(draw.f, draw.f.load(x_slot, "double")), y * y * y, 1 - draw.unit()
        square = x * x
        sure = u < 1 - square * square * SQUEEZE
        accept = draw.lazily(sure, ~sure, lambda: call("log", u) < square * 0.5 + d * (1 - v + call("log", v)))
        return v, accept

    return d * draw.until(attempt)


# float32 constants, as the values to follow were made with
THIRD, SQUEEZE = (struct.unpack("f", struct.pack("f", x))[0] for x in (1 / 3, 0.0331))
SMALLEST = {"float16": 2.0**-14, "bfloat16": 2.0**-126, "float32": 2.0**-126, "float64": 2.0**-1022}

RULES = {"poisson": (_poisson, 1), "binomial": (_binomial, 2), "gamma": (_gamma, 1)}


@functools.cache
def rejection(distribution: str, name: str) -> Kernel:
    """One number for each element of contiguous parameters, all of one floating dtype; computed in float64.

    Buffers: state, output, then one or two parameters; params: count. One launch is one piece.
    """
    dtype, (rule, parameters) = dtype_named(name), RULES[distribution]
    f, type = Module().kernel("random"), memory_type(dtype)
    draw, out = Serial(f, f.buffer(0)), f.buffer(1)
    inputs = [f.buffer(2 + i) for i in range(parameters)]
    with f.loop(0, f.param(0)) as i:
        loaded = [Expr(f, from_memory(f, f.load(f.at(p, type, i), type), dtype, 1)) for p in inputs]
        values = [x if x.kind == "double" else x.cast("fpext", "double") for x in loaded]
        result = rule(draw, dtype, *values)
        narrow = result if name == "float64" else result.cast("fptrunc", "float")
        f.store(to_memory(f, narrow.v, dtype, 1), f.at(out, type, i))
    return Kernel("random", str(f.module))
