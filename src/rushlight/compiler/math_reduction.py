"""Reduction of huge angles modulo pi/2 (Payne and Hanek), one lane at a time: they are rare."""

from __future__ import annotations

from itertools import pairwise

from .math_expression import Expr, two_product
from .text import Function, V

# the first 1280 bits of 2/pi behind 64 zeros, most significant word first
TWO_OVER_PI_BITS = 1280


def _two_over_pi() -> list[str]:
    """Words of 2/pi by Machin's formula in integers."""
    digits = TWO_OVER_PI_BITS + 64
    one = 1 << digits

    def arctangent_of_inverse(n: int) -> int:
        term, total, k = one // n, 0, 1
        while term:
            total += term // k if k % 4 == 1 else -(term // k)
            term //= n * n
            k += 2
        return total

    pi = 4 * (4 * arctangent_of_inverse(5) - arctangent_of_inverse(239))
    value = ((2 << (digits + TWO_OVER_PI_BITS)) // pi) & ((1 << TWO_OVER_PI_BITS) - 1)
    words = [0] + [value >> shift & (2**64 - 1) for shift in range(TWO_OVER_PI_BITS - 64, -1, -64)]
    return [str(word - 2**64 if word >> 63 else word) for word in words]


def reduce_huge(x: Expr, limit: float, high: Expr, low: Expr, q: Expr) -> tuple[Expr, Expr, Expr]:
    """The parts with those of lanes where |x| >= limit replaced (infinity and NaN give NaN)."""
    f, lanes = x.f, x.lanes
    slots = [f.variable(e.type, e.v) for e in (x, high, low, q)]
    if all(g.name != "math.reduce_huge" for g in f.module.functions):
        _define(f.module, limit)
    with f.loop(0, lanes) as i:
        arguments = ", ".join(str(f.at(slot, "double", i)) for slot in slots)
        f.line(f"call void @math.reduce_huge({arguments}) cold")
    return tuple(Expr(f, f.load(slot, e.type)) for slot, e in zip(slots, (x, high, low, q)))[1:]


def _define(module, limit: float) -> None:
    """void reduce_huge(double *x, double *hi, double *lo, int64 *q): updates a lane if |*x| >= limit."""
    f = module.function("math.reduce_huge", [("ptr", n) for n in ("x", "hi", "lo", "q")], "void", "internal")
    x = Expr(f, f.load(f.args[0], "double"))
    huge = Expr(f, f.compare("uge", f.intrinsic("llvm.fabs", x.v), f.const(limit, "double")))
    with f.when(huge.v):
        finite = Expr(f, f.compare("olt", f.intrinsic("llvm.fabs", x.v), f.const(float("inf"), "double")))
        with f.branch(finite.v) as otherwise:
            high, low, q = _reduce(f, x)
            for e, pointer in zip((high, low, q), f.args[1:]):
                f.store(e.v, pointer)
            otherwise()
            for pointer in f.args[1:3]:
                f.store(f.const(float("nan"), "double"), pointer)


def _reduce(f: Function, x: Expr) -> tuple[Expr, Expr, Expr]:
    bits = x.bits()
    exponent = ((bits >> 52) & 0x7FF) - 1075
    significand = (bits & ((1 << 52) - 1)) | (1 << 52)
    turns, middle = _product_window(f, significand, exponent)
    # two bits of quadrant, then the fraction; to nearest: the fraction becomes signed
    q = (turns + (1 << 61)) >> 62
    top = turns << 2 | middle >> 62
    rest = middle << 2
    negative = top < 0
    flip = Expr(f, f.cast("sext", negative.v, "i64"))
    # one's complement is near enough: the last bit lies far below the result
    top, rest = top ^ flip, rest ^ flip
    high, low = _to_pair(f, top, rest)
    sign = (bits ^ flip) & -(1 << 63)
    q = Expr(f, f.select((bits < 0).v, (0 - q).v, q.v))
    return (high.bits() ^ sign).as_float(), (low.bits() ^ sign).as_float(), q


def _product_window(f: Function, significand: Expr, exponent: Expr) -> tuple[Expr, Expr]:
    """The two words of significand * 2^exponent * 2/pi modulo 4, two bits before the point."""
    table = f.module.table("i64", _two_over_pi())
    position = exponent + 62  # of the first bit that counts; the table starts with 64 zeros
    index, shift = position >> 6, position & 63
    words = [Expr(f, f.load(f.at(table, "i64", (index + k).v), "i64")) for k in range(4)]
    window = [a.intrinsic("llvm.fshl", b, shift) for a, b in pairwise(words)]
    wide = [e.cast("zext", "i128") for e in (significand, *window)]
    carry = wide[0] * wide[3] >> 64
    middle = wide[0] * wide[2] + carry
    top = wide[0] * wide[1] + (middle >> 64)
    return top.cast("trunc", "i64"), middle.cast("trunc", "i64")


def _to_pair(f: Function, top: Expr, rest: Expr) -> tuple[Expr, Expr]:
    """The 128-bit fraction of a quadrant times pi/2, as a pair of doubles."""
    zeros = Expr(f, f.call("llvm.ctlz.i64", "i64", top.v, V("false", "i1")))
    first, second = top.intrinsic("llvm.fshl", rest, zeros), rest << zeros
    unit = ((1023 - 53 - zeros) << 52).as_float()
    high = (first >> 11).cast("sitofp", "double") * unit
    low = ((first << 53 | second >> 11) >> 11).cast("sitofp", "double") * (unit * 2.0**-53)
    product, error = two_product(high, high.constant(1.5707963267948966))
    return product, error + (low * 1.5707963267948966 + high * 6.123233995736766e-17)
