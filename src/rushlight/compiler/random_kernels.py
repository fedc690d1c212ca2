"""Samplers whose items are exact: uniform numbers, coin tosses, dropout, integers."""

from __future__ import annotations

import functools

from ..ir.dtypes import DType, bool_, dtype_named
from .elementwise import register_type, round_to
from .kernel import Kernel
from .math_expression import Expr, where
from .random_sampler import Draw, Sampler, sampler_kernel
from .random_stream import fused, word_lanes
from .text import Function, element, vector


def unit_kind(dtype: DType) -> str:
    """The arithmetic that float samplers use: half types draw as float32 does, and round at the end."""
    return "double" if dtype.name == "float64" else "float"


@functools.cache
def uniform(name: str) -> Kernel:
    """Numbers low, high: u (high - low) + low for u in [0, 1), in one rounding after the difference.

    What rounds up to high becomes low.
    """
    dtype, lanes = dtype_named(name), word_lanes()
    kind = unit_kind(dtype)

    def begin(f: Function, number):
        low, high = (number(i, vector(kind, lanes)) for i in range(2))
        width, least, excluded = high - low, _rounded(low, dtype), _rounded(high, dtype)

        def body(draw: Draw) -> list[Expr]:
            result = _rounded(fused(draw.unit(kind), width, low), dtype)
            return [where(result.eq(excluded), least, result)]

        return body

    return sampler_kernel(Sampler(2 if kind == "double" else 1, lanes, (dtype,), begin))


def _rounded(x: Expr, dtype: DType) -> Expr:
    return Expr(x.f, round_to(x.f, x.v, dtype, x.lanes))


# -- coin tosses ------------------------------------------------------------------------------------
def as_number(mask: Expr, dtype: DType) -> Expr:
    """1 where the mask holds, else 0, as a register of `dtype`."""
    if dtype.kind == "b":
        return mask
    type = register_type(dtype, mask.lanes)
    one, zero = (Expr(mask.f, mask.f.const(x, type)) for x in (1, 0))
    return where(mask, one, zero)


def heads(draw: Draw, threshold: Expr) -> Expr:
    """u < p for u of 53 bits: `threshold` is p 2^53, rounded up to a whole number."""
    return (draw.words64() & ((1 << 53) - 1)) < threshold


@functools.cache
def bernoulli(name: str) -> Kernel:
    """Number: the threshold of `heads`, an integer. Two words per item, whatever the type."""
    dtype, lanes = dtype_named(name), word_lanes()

    def begin(f: Function, number):
        threshold = number(0, vector("i64", lanes))
        return lambda draw: [as_number(heads(draw, threshold), dtype)]

    return sampler_kernel(Sampler(2, lanes, (dtype,), begin))


@functools.cache
def bernoulli_tensor(name: str, probability_name: str) -> Kernel:
    """Input: probabilities. Two words per item where they are float64, else one."""
    dtype, probability, lanes = dtype_named(name), dtype_named(probability_name), word_lanes()
    kind = unit_kind(probability)

    def begin(f: Function, number):
        return lambda draw: [as_number(draw.unit(kind) < draw.inputs[0], dtype)]

    return sampler_kernel(Sampler(2 if kind == "double" else 1, lanes, (dtype,), begin, (probability,)))


@functools.cache
def noise(name: str) -> Kernel:
    """What dropout multiplies by: a number where heads fall, else 0. Numbers: threshold of `heads`, the number."""
    dtype, lanes = dtype_named(name), word_lanes()

    def begin(f: Function, number):
        threshold, kept = number(0, vector("i64", lanes)), number(1, register_type(dtype, lanes))
        return lambda draw: [where(heads(draw, threshold), kept, 0)]

    return sampler_kernel(Sampler(2, lanes, (dtype,), begin))


@functools.cache
def dropout(name: str) -> Kernel:
    """Input x, outputs x * noise and whether x was kept; numbers as for `noise`."""
    dtype, lanes = dtype_named(name), word_lanes()

    def begin(f: Function, number):
        threshold, kept = number(0, vector("i64", lanes)), number(1, register_type(dtype, lanes))

        def body(draw: Draw) -> list[Expr]:
            mask = heads(draw, threshold)
            # a product, not a choice: NaN and infinity stay visible, zeros keep the sign of x
            return [draw.inputs[0] * where(mask, kept, 0), mask]

        return body

    return sampler_kernel(Sampler(2, lanes, (dtype, bool_), begin, (dtype,)))


# -- integers ---------------------------------------------------------------------------------------
def remainder32(word: Expr, divisor: Expr, inverse: Expr) -> Expr:
    """word mod divisor, both 32 bits and unsigned; `inverse` (double) is 1 / divisor, a little more than less.

    The quotient is below 2^32 / divisor, so its error stays below the distance 1 / divisor to the next whole number.
    """
    quotient = (word.cast("uitofp", "double") * inverse).cast("fptoui", "i32")
    return word - quotient * divisor


def from_integer(x: Expr, base: Expr, dtype: DType) -> Expr:
    """x (unsigned, i32 or i64) + base (i64) as a register of `dtype`."""
    type = element(register_type(dtype, 1))
    if dtype.kind in "ui" and dtype.itemsize < 8:
        narrow = x if type == x.kind else x.cast("trunc", type)
        return narrow + base.cast("trunc", type)
    total = (x if x.kind == "i64" else x.cast("zext", "i64")) + base
    if dtype.kind == "b":
        return total.ne(0)
    return total if dtype.kind == "i" else total.cast("sitofp", type)


@functools.cache
def integers(name: str, how: str) -> Kernel:
    """base + word mod range; `how` says of which word.

    "modulo32"  one word; numbers: base, range (below 2^32), 1 / range (see `remainder32`)
    "modulo64"  two words; numbers: base, range
    "mask64"    two words, for a range that is a power of two up to 2^64; numbers: base, range - 1
    """
    dtype, lanes = dtype_named(name), word_lanes()

    def begin(f: Function, number):
        base, wide = (number(i, vector("i64", lanes)) for i in range(2))
        if how == "modulo32":
            inverse, narrow = number(2, vector("double", lanes)), wide.cast("trunc", "i32")
            return lambda draw: [from_integer(remainder32(draw.words32(), narrow, inverse), base, dtype)]
        opcode = {"modulo64": "urem", "mask64": "and"}[how]

        def body(draw: Draw) -> list[Expr]:
            word = draw.words64()
            return [from_integer(Expr(f, f.binary(opcode, word.v, wide.v)), base, dtype)]

        return body

    return sampler_kernel(Sampler(1 if how == "modulo32" else 2, lanes, (dtype,), begin))
