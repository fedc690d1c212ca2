"""Integer arithmetic that cannot trap: division, remainders, powers and shifts as PyTorch defines them."""

from __future__ import annotations

import struct

from .math_expression import Expr, iterate, unlikely, where
from .target import host

ROUNDER = 3 << 51  # the double that leaves, when added, a whole number of less than 2^51 in its low bits


def _safe_quotient(a: Expr, b: Expr, signed: bool) -> Expr:
    """a / b truncated; for b = 0 the quotient is a, and the least integer by -1 is itself."""
    report = getattr(a.f, "on_zero_division", None)
    zero = b.eq(0)
    if report is not None:
        report(zero.v)
    special = zero | b.eq(-1) if signed else zero
    quotient = _divide(a, where(special, 1, b), signed)
    return where(b.eq(-1), 0 - a, quotient) if signed else quotient


def _divide(a: Expr, b: Expr, signed: bool) -> Expr:
    """a / b for divisors other than 0 and -1: vectors of up to 32 bits divide as floats, which is exact."""
    if a.kind == "i64" and a.lanes > 1 and host().vector_bytes >= 32:
        return _divide_long(a, b, signed)
    if a.kind == "i64" or a.lanes == 1:
        return _divide_each(a, b, signed)
    real = "double" if a.kind == "i32" else "float"
    up, down = ("sitofp", "fptosi") if signed else ("uitofp", "fptoui")
    quotient = a.cast(up, real) / b.cast(up, real)
    if a.kind == "i32":
        return quotient.cast(down, "i32")
    # through i32: conversions to narrower integers are emulated
    return quotient.cast("fptosi", "i32").cast("trunc", a.kind)


def _divide_each(a: Expr, b: Expr, signed: bool) -> Expr:
    return Expr(a.f, a.f.binary("sdiv" if signed else "udiv", a.v, b.v))


def _divide_long(a: Expr, b: Expr, signed: bool) -> Expr:
    """Vectors of 64 bits divide as doubles, too, which is exact below 2^51; others, which are rare, one by one."""
    half = 1 << 51
    reach = (a + half) | (b + half) if signed else a | b
    far = Expr(a.f, a.f.compare("uge", reach.v, a.constant(2 * half if signed else half).v))
    quotient = (_to_double(a) / _to_double(b)).intrinsic("llvm.trunc")
    near = (quotient + float(ROUNDER)).bits() - _bits_of_rounder()
    return unlikely(far, (near,), lambda _: (_divide_each(a, b, signed),))[0]


def _to_double(x: Expr) -> Expr:
    return (x + _bits_of_rounder()).as_float() - float(ROUNDER)


def _bits_of_rounder() -> int:
    return struct.unpack("<q", struct.pack("<d", float(ROUNDER)))[0]


def trunc_divide(a: Expr, b: Expr, signed: bool) -> Expr:
    return _safe_quotient(a, b, signed)


def floor_divide(a: Expr, b: Expr, signed: bool) -> Expr:
    quotient = _safe_quotient(a, b, signed)
    if not signed:
        return quotient
    left = a - quotient * b
    return where(left.ne(0) & ((left ^ b) < 0), quotient - 1, quotient)


def fmod(a: Expr, b: Expr, signed: bool) -> Expr:
    """What truncated division leaves: it has the sign of a."""
    return a - _safe_quotient(a, b, signed) * b


def remainder(a: Expr, b: Expr, signed: bool) -> Expr:
    """What floored division leaves: it has the sign of b."""
    left = fmod(a, b, signed)
    return where(left.ne(0) & ((left ^ b) < 0), left + b, left) if signed else left


def gcd(a: Expr, b: Expr, signed: bool) -> Expr:
    """The greatest common divisor by Euclid's algorithm, until no lane has a remainder."""

    def step(a: Expr, b: Expr) -> tuple[Expr, Expr]:
        done = b.eq(0)
        return where(done, a, b), where(done, 0, fmod(a, where(done, 1, b), signed))

    result, _ = iterate((a, b), lambda a, b: b.ne(0), step)
    return where(result < 0, 0 - result, result) if signed else result


def power(a: Expr, b: Expr, dtype) -> Expr:
    """a ** b by squaring, modulo the width; a negative exponent gives 0 except for bases 1 and -1."""
    if dtype.kind == "b":
        return a | ~b
    # by squaring, until no exponent has bits left
    _, _, result = iterate((a, where(b < 0, 0, b) if dtype.kind == "i" else b, a.constant(1)), _bits_left, _square)
    if dtype.kind == "u":
        return result
    odd = (b & 1).ne(0)
    negative = where(a.eq(1), 1, where(a.eq(-1), where(odd, a, 1), a.constant(0)))
    return where(b < 0, negative, result)


def _bits_left(square: Expr, exponent: Expr, result: Expr) -> Expr:
    return exponent.ne(0)


def _square(square: Expr, exponent: Expr, result: Expr) -> tuple[Expr, Expr, Expr]:
    return square * square, exponent >> 1, where((exponent & 1).ne(0), result * square, result)


def shift_left(a: Expr, b: Expr) -> Expr:
    """a << b; counts that are negative or reach the width give 0."""
    bits = int(a.kind[1:])
    inside = Expr(a.f, a.f.compare("ult", b.v, b.constant(bits).v))
    return where(inside, a << where(inside, b, 0), 0)


def shift_right(a: Expr, b: Expr, signed: bool) -> Expr:
    """a >> b, arithmetic if signed; counts out of range shift everything out but the sign."""
    bits = int(a.kind[1:])
    inside = Expr(a.f, a.f.compare("ult", b.v, b.constant(bits).v))
    if signed:
        return a.shift_arithmetic(where(inside, b, bits - 1))
    return where(inside, a >> where(inside, b, 0), 0)
