"""How elements sit in registers and in memory, and how they change type.

Registers hold bool as i1, integers at their own width, float16 and bfloat16 as float (rounded by `convert` and by
`to_memory` only, so that a fused chain keeps float32 between), complex numbers as a pair (real, imaginary).
Memory holds bool as bytes of 0 or 1, half types as i16, complex numbers as two adjacent floats.
"""

from __future__ import annotations

import struct

from ..ir.dtypes import DType
from .math_expression import Expr, absolute, unlikely, where
from .target import host
from .text import Function, V, vector

DENORMAL_OR_NAN = 0xA1  # classes of floats, as AVX-512 numbers them
_KINDS = {"bool": "i1", "uint8": "i8", "float16": "float", "bfloat16": "float", "float32": "float", "float64": "double"}
_KINDS |= {f"int{n}": f"i{n}" for n in (8, 16, 32, 64)} | {f"uint{n}": f"i{n}" for n in (16, 32, 64)}
_KINDS |= {"complex64": "float", "complex128": "double"}
_STORED = _KINDS | {"bool": "i8", "float16": "i16", "bfloat16": "i16"}


# -- registers and memory ---------------------------------------------------------------------------
def register_type(dtype: DType, lanes: int) -> str:
    """The LLVM type of `lanes` elements in a register; for complex numbers that of each part."""
    return vector(_KINDS[dtype.name], lanes)


def memory_type(dtype: DType) -> str:
    """The scalar LLVM type of an element in memory; for complex numbers that of each of the two parts."""
    return _STORED[dtype.name]


def loaded_type(dtype: DType, lanes: int) -> str:
    """The type to load for `lanes` adjacent elements: complex numbers count twice."""
    return vector(_STORED[dtype.name], lanes * (2 if dtype.is_complex else 1))


def from_memory(f: Function, v, dtype: DType, lanes: int):
    """The register value of what was loaded: `loaded_type`, or for complex numbers already a pair of parts."""
    if dtype.kind == "b":
        return f.compare("ne", v, f.const(0, v.type))
    if dtype.is_complex:
        return v if isinstance(v, tuple) else _deinterleave(f, v, lanes)
    if dtype.name in ("float16", "bfloat16"):
        single = half_to_float(f, v) if dtype.name == "float16" else _bfloat_to_float(f, v, lanes)
        _halves(f)[dtype.name, single.text] = v
        return single
    return v


def _halves(f: Function) -> dict:
    """What registers of half types were before they became floats: it can be stored again as it is."""
    if not hasattr(f, "halves"):
        f.halves = {}
    return f.halves


def _bfloat_to_float(f: Function, v: V, lanes: int) -> V:
    wide = f.cast("zext", v, vector("i32", lanes))
    return f.cast("bitcast", f.binary("shl", wide, f.const(16, wide.type)), vector("float", lanes))


def to_memory(f: Function, v, dtype: DType, lanes: int) -> V:
    """What to store for a register value, of type `loaded_type(dtype, lanes)`."""
    if dtype.kind == "b":
        return f.cast("zext", v, vector("i8", lanes))
    if dtype.is_complex:
        return _interleave(f, v, lanes)
    if dtype.name in ("float16", "bfloat16"):
        known = _halves(f).get((dtype.name, v.text))
        if known is not None:
            return known
        return float_to_half(f, v) if dtype.name == "float16" else float_to_bfloat(Expr(f, v)).v
    return v


def constant(f: Function, value, dtype: DType, lanes: int):
    """A Python number as a register value; integers wrap to the width, floats round to the dtype."""
    type = register_type(dtype, lanes)
    if dtype.is_complex:
        value = complex(value)
        return f.const(value.real, type), f.const(value.imag, type)
    if dtype.kind == "b":
        return f.const(bool(value), type)
    if dtype.kind == "f":
        return f.const(_rounded(value, dtype), type)
    bits = 8 * dtype.itemsize
    value = int(value) & ((1 << bits) - 1)
    return f.const(value - (1 << bits) if value >> (bits - 1) else value, type)


def _rounded(value, dtype: DType) -> float:
    if dtype.name == "float16":
        return _decode("half", value)
    return _decode("bfloat", value) if dtype.name == "bfloat16" else float(value)


def _decode(kind: str, value) -> float:
    if kind == "half":
        try:
            return struct.unpack("<e", struct.pack("<e", value))[0]
        except OverflowError:
            return float("inf") if value > 0 else float("-inf")
    try:
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    if value != value:
        return float(value)
    return struct.unpack("<f", struct.pack("<I", (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000))[0]


def _deinterleave(f: Function, v: V, lanes: int) -> tuple[V, V]:
    if lanes == 1:
        return f.lane(v, 0), f.lane(v, 1)
    return f.shuffle(v, v, list(range(0, 2 * lanes, 2))), f.shuffle(v, v, list(range(1, 2 * lanes, 2)))


def _interleave(f: Function, pair: tuple[V, V], lanes: int) -> V:
    re, im = pair
    if lanes > 1:
        return f.shuffle(re, im, [i // 2 + lanes * (i % 2) for i in range(2 * lanes)])
    type = vector(re.type, 2)
    first = f.value(f"insertelement {type} poison, {re}, i32 0", type)
    return f.value(f"insertelement {type} {first.text}, {im}, i32 1", type)


# -- half types -------------------------------------------------------------------------------------
def half_to_float(f: Function, v: V) -> V:
    """float16 bits (i16 lanes) as float."""
    x = Expr(f, v)
    if host().has("f16c"):
        return x.cast("bitcast", "half").cast("fpext", "float").v
    # shifted into place the exponent is off by 112, which a multiplication corrects for denormals as well
    wide = x.cast("zext", "i32")
    magnitude = ((wide & 0x7FFF) << 13).as_float() * 2.0**112
    special = where((wide & 0x7C00).eq(0x7C00), magnitude.bits() | 0x7F800000, magnitude.bits())
    return (special | ((wide & 0x8000) << 16)).as_float().v


def float_to_half(f: Function, v: V) -> V:
    """float rounded to float16 (nearest, ties to even), as i16 lanes."""
    x = Expr(f, v)
    if host().has("f16c"):
        return x.cast("fptrunc", "half").cast("bitcast", "i16").v
    magnitude = absolute(x)
    bits = magnitude.bits()
    # adding a power of two aligned with the last place of the result rounds to it, denormals included
    normal = (bits + 0xFFF + ((bits >> 13) & 1)) - (112 << 23)
    small = (magnitude + 0.5).bits() - 0x3F000000
    result = where(magnitude < 2.0**-14, small << 13, normal) >> 13
    result = where(magnitude >= 65520.0, 0x7C00, result)
    result = where(x.is_nan(), 0x7E00, result)
    return (result | ((x.bits() >> 16) & 0x8000)).cast("trunc", "i16").v


def float_to_bfloat(x: Expr) -> Expr:
    """float rounded to bfloat16 as i16 lanes."""
    if x.lanes == 16 and host().has("avx512bf16"):
        f = x.f
        rounded = f.call("llvm.x86.avx512bf16.cvtneps2bf16.512", "<16 x bfloat>", x.v)
        # the processor's own instruction would flush denormals and keep what a NaN carries
        special = f.call("llvm.x86.avx512.fpclass.ps.512", "<16 x i1>", x.v, f.const(DENORMAL_OR_NAN, "i32"))
        values = (Expr(f, rounded).cast("bitcast", "i16"),)
        return unlikely(Expr(f, special), values, lambda _: (_round_bits(x),))[0]
    return _round_bits(x)


def _round_bits(x: Expr) -> Expr:
    bits = x.bits()
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return where(x.is_nan(), 0x7FC0, rounded).cast("trunc", "i16")


def round_to(f: Function, v, dtype: DType, lanes: int):
    """A register value rounded to what `dtype` can hold (only half types change)."""
    if dtype.name in ("float16", "bfloat16"):
        return from_memory(f, to_memory(f, v, dtype, lanes), dtype, lanes)
    return v


# -- casts ------------------------------------------------------------------------------------------
def convert(f: Function, v, source: DType, target: DType, lanes: int):
    """The value as another element type: PyTorch's `to`."""
    if source.is_complex:
        if target.is_complex:
            return tuple(_convert_real(f, part, source.to_real(), target.to_real(), lanes) for part in v)
        if target.kind == "b":
            return f.binary("or", *(_convert_real(f, part, source.to_real(), target, lanes) for part in v))
        return _convert_real(f, v[0], source.to_real(), target, lanes)
    if target.is_complex:
        part = target.to_real()
        return _convert_real(f, v, source, part, lanes), constant(f, 0, part, lanes)
    return _convert_real(f, v, source, target, lanes)


def _convert_real(f: Function, v: V, source: DType, target: DType, lanes: int) -> V:
    if source is target:
        return v
    type = register_type(target, lanes)
    if target.kind == "b":
        zero = f.const(0, v.type)
        return f.compare("une" if source.kind == "f" else "ne", v, zero)
    if source.kind == "f":
        if target.kind == "f":
            return _float_to_float(f, v, type, target, lanes)
        if target.kind == "u" and target.itemsize >= 4:
            return float_to_unsigned(f, v, type, lanes)
        return float_to_integer(f, v, type, lanes)
    if target.kind == "f" and source.kind == "b":
        return f.select(v, f.const(1, type), f.const(0, type))
    if target.kind == "f":
        opcode = "sitofp" if source.is_signed else "uitofp"
        return round_to(f, f.cast(opcode, v, type), target, lanes)
    if source.kind != "b" and target.itemsize <= source.itemsize:
        return v if v.type == type else f.cast("trunc", v, type)
    return f.cast("sext" if source.is_signed else "zext", v, type)


def _float_to_float(f: Function, v: V, type: str, target: DType, lanes: int) -> V:
    if v.type != type:
        v = f.cast("fpext" if target.itemsize == 8 else "fptrunc", v, type)
    return round_to(f, v, target, lanes)


def float_to_unsigned(f: Function, v: V, type: str, lanes: int) -> V:
    """Truncate towards zero to an unsigned integer of 32 or 64 bits; negative numbers wrap."""
    wide = vector("i64", lanes)
    if type != wide:
        return f.cast("trunc", float_to_integer(f, v, wide, lanes), type)
    half = f.const(2.0**63, v.type)
    above = f.compare("oge", v, half)
    whole = float_to_integer(f, f.select(above, f.binary("fsub", v, half), v), wide, lanes)
    return f.select(above, f.binary("xor", whole, f.const(-(1 << 63), wide)), whole)


def float_to_integer(f: Function, v: V, type: str, lanes: int) -> V:
    """Truncate towards zero; out of range wraps or saturates as the processor does, without being undefined."""
    wide = vector("i64" if type.endswith(("i64", "i64>")) else "i32", lanes)
    whole = f.cast("fptosi", v, wide)
    whole = f.value(f"freeze {whole}", wide)
    return whole if wide == type else f.cast("trunc", whole, type)
