"""Samplers of the normal distribution and of what follows from it or from a logarithm.

Normal numbers come in pairs by the transform of Box and Muller: radius sqrt(-2 log u), angle 2 pi v, cosine and sine.
Contiguous outputs of 16 or more take the words in blocks of 16: u from the first eight, v from the others. Everything
else takes pairs of float64 (v first) one by one, and keeps the sine of an odd last pair for the next call.

The float32 functions are those of the Cephes library (S. Moshier): PyTorch's values follow their errors bit for bit.
"""

from __future__ import annotations

import functools
import math

from ..ir.dtypes import DType, dtype_named
from .elementwise import register_type
from .kernel import Kernel
from .math import call
from .math_exponential import LN2, log_parts, log_tail, round_to_integer
from .math_expression import Expr, fma, quick_two_sum, square_root, two_sum, where
from .math_trigonometric import HALF_PI, TWO_OVER_PI, kernels
from .random_kernels import unit_kind
from .random_sampler import Draw, Edge, Sampler, sampler_kernel
from .random_state import HAS_NORMAL, NORMAL
from .random_stream import block_variable, consume, fused, word_lanes, words64
from .text import Function, Module, V, element, vector

LOG = (7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1)
LOG += (-1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1)
LN2_PARTS = (0.693359375, -2.12194440e-4)
QUARTER_PI_PARTS = (0.78515625, 2.4187564849853515625e-4, 3.77489497744594108e-8)
SINE = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
COSINE = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
PAIRS = 8  # pairs in a block


# -- functions of float32 ---------------------------------------------------------------------------
def _horner(x: Expr, coefficients) -> Expr:
    result = x.constant(coefficients[0])
    for c in coefficients[1:]:
        result = fused(result, x, c)
    return result


def log_cephes(x: Expr) -> Expr:
    """log of a float in [2^-24, 1]."""
    bits = x.bits()
    mantissa = ((bits & 0x7FFFFF) | 0x3F000000).as_float()  # in [1/2, 1)
    low = mantissa < math.sqrt(0.5)
    exponent = (((bits >> 23) - 126) - where(low, bits.constant(1), 0)).to_float()
    m = where(low, mantissa + mantissa, mantissa) - 1
    square = m.exact("fmul", m)
    tail = _horner(m, LOG).exact("fmul", m)
    tail = fused(tail, square, exponent.exact("fmul", exponent.constant(LN2_PARTS[1])))
    tail = fused(square, -0.5, tail)
    return fused(exponent, LN2_PARTS[0], m.exact("fadd", tail))


def sincos_cephes(x: Expr) -> tuple[Expr, Expr]:
    """sine and cosine of a float in [0, 2 pi]."""
    octant = (x.exact("fmul", x.constant(4 / math.pi)).to_integer() + 1) & -2
    whole = octant.to_float()
    for part in QUARTER_PI_PARTS:
        x = fused(whole, -part, x)
    z = x.exact("fmul", x)
    cosine = _horner(z, COSINE).exact("fmul", z)
    cosine = fused(cosine, z, -(z.exact("fmul", z.constant(0.5)))).exact("fadd", z.constant(1))
    sine = fused(_horner(z, SINE).exact("fmul", z), x, x)
    swap = (octant & 2).ne(0)
    first, second = where(swap, cosine, sine), where(swap, sine, cosine)
    first = (first.bits() ^ ((octant & 4) << 29)).as_float()
    return first, (second.bits() ^ (((octant + 2) & 4) << 29)).as_float()


# -- functions of float64 ---------------------------------------------------------------------------
def log_positive(x: Expr) -> Expr:
    """log of a double in (0, 1]."""
    e, m = log_parts(x)
    f = m - 1
    # summed in two parts: half as many results differ from the correctly rounded ones
    high, low = two_sum(e * LN2["double"][0], f)
    return high + (low + fma(e, LN2["double"][1], log_tail(f)))


def sincos_double(x: Expr) -> tuple[Expr, Expr]:
    """sine and cosine of a double in [0, 2 pi], reduced by pi / 2 in three parts."""
    whole, quadrant = round_to_integer(x * TWO_OVER_PI)
    first = fma(whole, -HALF_PI[0], x)
    high, low = two_sum(first, whole * -HALF_PI[1])
    high, low = quick_two_sum(high, fma(whole, -HALF_PI[2], low))
    sine, cosine = (a + b for a, b in kernels(high, low))
    odd = (quadrant & 1).ne(0)
    first, second = where(odd, cosine, sine), where(odd, sine, cosine)
    first = (first.bits() ^ ((quadrant & 2) << 62)).as_float()
    return first, (second.bits() ^ (((quadrant + 1) & 2) << 62)).as_float()


def box_muller(radius: Expr, angle: Expr) -> tuple[Expr, Expr]:
    """Two normal numbers of two uniform ones: radius in (0, 1], angle in turns."""
    log, sincos = (log_cephes, sincos_cephes) if radius.kind == "float" else (log_positive, sincos_double)
    # the angle is rounded to its type before sine and cosine see it, hence no fusing here
    sine, cosine = sincos(angle.exact("fmul", angle.constant(2 * math.pi)))
    length = square_root(log(radius).exact("fmul", radius.constant(-2)))
    return length.exact("fmul", cosine), length.exact("fmul", sine)


# -- normal numbers in blocks -----------------------------------------------------------------------
@functools.cache
def normal(name: str) -> Kernel:
    """Blocks of 16: `total` is a multiple of that, and the tail covers a remainder. Numbers: mean, deviation."""
    dtype = dtype_named(name)
    kind = unit_kind(dtype)
    pairs = max(PAIRS, word_lanes()) if kind == "float" else PAIRS
    lanes = 2 * pairs
    # registers hold whole blocks, their halves side by side or, for two blocks, apart
    halves = [[i % PAIRS + i // PAIRS * 2 * PAIRS + shift for i in range(pairs)] for shift in (0, PAIRS)]
    back = sorted(range(lanes), key=(halves[0] + halves[1]).__getitem__)

    def begin(f: Function, number):
        mean, deviation = (number(i, vector(kind, pairs)) for i in range(2))

        def body(draw: Draw) -> list[Expr]:
            unit = draw.unit(kind)
            u, v = (Expr(f, f.shuffle(unit.v, unit.v, half)) for half in halves)
            first, second = (fused(z, deviation, mean) for z in box_muller(1 - u, v))
            return [Expr(f, f.shuffle(first.v, second.v, back))]

        return body

    return sampler_kernel(Sampler(2 if kind == "double" else 1, lanes, (dtype,), begin, tail=True))


# -- normal numbers one by one ----------------------------------------------------------------------
@functools.cache
def normal_serial(name: str, exponential: bool = False) -> Kernel:
    """mean + deviation z, or e to that, for z that come in pairs of float64, a spare one kept in the state.

    Buffers: state, output; params: count, mean, deviation. One launch is one piece.
    """
    dtype = dtype_named(name)
    f = Module().kernel("random")
    state, out = f.buffer(0), f.buffer(1)
    mean, deviation = (Expr(f, f.param(i, "double")) for i in (1, 2))

    def finish(z: Expr) -> Expr:
        result = fma(z, *(Expr(f, f.splat(x.v, z.lanes)) for x in (deviation, mean)))
        return _from_double(call("exp", result) if exponential else result, dtype)

    kept = f.at(state, "i32", HAS_NORMAL)
    taken = Expr(f, f.load(kept, "i32")).cast("zext", "i64")
    count = Expr(f, f.param(0)) - taken
    with f.when(taken.ne(0).v):
        spare = Edge(f, out, dtype, 1, V("1", "i64"))
        spare.store(finish(Expr(f, f.load(f.at(state, "double", NORMAL // 2), "double"))), V("0", "i64"))
        f.store(f.const(0, "i32"), kept)
    _pairs(f, state, f.at(out, spare.type, taken.v), dtype, count, finish)
    return Kernel("random", str(f.module))


def _pairs(f: Function, state: V, out: V, dtype: DType, count: Expr, finish) -> None:
    """Make count numbers and keep the one that is left over if count is odd."""
    lanes = 2 * PAIRS
    raw = block_variable(f, 8 * lanes)
    edge = Edge(f, out, dtype, lanes, count.v)

    def step(ring: V, offset: V, item: V, local: V) -> None:
        z = _polar(f, words64(f, ring, offset, lanes))
        f.store(z.v, raw, 64)
        edge.store(finish(z), (Expr(f, item) * 2).v)

    consume(f, state, ((count + 1) >> 1).v, 4, PAIRS, step)
    edge.copy_out()
    with f.when((count & 1).ne(0).v):
        left = f.load(f.at(raw, "double", (count & (lanes - 1)).v), "double")
        f.store(left, f.at(state, "double", NORMAL // 2))
        f.store(f.const(1, "i32"), f.at(state, "i32", HAS_NORMAL))


def _polar(f: Function, words: Expr) -> Expr:
    """Normal numbers of pairs of words: the first is the angle's, the second the radius'."""
    unit = (words & ((1 << 53) - 1)).cast("sitofp", "double") * 2.0**-53
    angle, radius = (Expr(f, f.shuffle(unit.v, unit.v, list(range(i, unit.lanes, 2)))) for i in (0, 1))
    first, second = box_muller(1 - radius, angle)
    return Expr(f, f.shuffle(first.v, second.v, [i // 2 + PAIRS * (i % 2) for i in range(unit.lanes)]))


def _from_double(x: Expr, dtype: DType) -> Expr:
    """A double as a register of any dtype; integers are truncated."""
    type = element(register_type(dtype, 1))
    if dtype.kind in "bui":
        whole = x.cast("fptosi", "i64")
        return whole.ne(0) if dtype.kind == "b" else whole if type == "i64" else whole.cast("trunc", type)
    return x if type == "double" else x.cast("fptrunc", type)


# -- transforms of one uniform number ---------------------------------------------------------------
def _exponential(u: Expr, rate: Expr, _) -> Expr:
    """-log(1 - u) / rate; the first number is -1 / rate."""
    return log_positive(1 - u) * rate


def _cauchy(u: Expr, median: Expr, scale: Expr) -> Expr:
    """median + scale tan(pi (u - 1/2))."""
    return fma(scale, call("tan", (u - 0.5).exact("fmul", u.constant(math.pi))), median)


def _geometric(u: Expr, divisor: Expr, _) -> Expr:
    """The number of trials up to the first success: log(u) / log(1 - p), rounded up; the number is log(1 - p)."""
    return (log_positive(where(u.eq(0), 2.0**-53, u)) / divisor).intrinsic("llvm.ceil")


TRANSFORMS = {"exponential": _exponential, "cauchy": _cauchy, "geometric": _geometric}


@functools.cache
def transformed(distribution: str, name: str) -> Kernel:
    """Items made of one u of 53 bits in float64 and then rounded, by a row of TRANSFORMS with up to two numbers."""
    dtype, transform = dtype_named(name), TRANSFORMS[distribution]

    def begin(f: Function, number):
        first, second = (number(i, vector("double", PAIRS)) for i in range(2))
        return lambda draw: [_from_double(transform(draw.unit("double"), first, second), dtype)]

    return sampler_kernel(Sampler(2, PAIRS, (dtype,), begin))
