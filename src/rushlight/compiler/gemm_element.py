"""Vectors of a matrix between memory and registers, whole or only their first lanes."""

from __future__ import annotations

from ..ir.dtypes import DType
from .target import host
from .text import Function, V, element, is_float, lanes, scalar_bytes, vector

_MEMORY = {"uint8": "i8", "float16": "i16", "bfloat16": "i16", "float32": "float", "float64": "double"}
_MEMORY |= {f"int{n}": f"i{n}" for n in (8, 16, 32, 64)} | {"complex64": "float", "complex128": "double"}


def memory_type(dtype: DType) -> str:
    """The scalar LLVM type of an element in memory; for complex numbers that of each of the two parts."""
    return _MEMORY[dtype.name]


def sum_type(dtype: DType) -> str:
    """The scalar LLVM type that products of a dtype are summed in."""
    return "float" if is_half(dtype) else _MEMORY[dtype.name]


def is_half(dtype: DType) -> bool:
    return dtype.kind == "f" and dtype.itemsize == 2


def load_lanes(f: Function, pointer: V, dtype: DType, lanes: int, count: V | None = None) -> V:
    """`lanes` adjacent elements in the type of sums; those at or beyond `count` are not read and count as zero."""
    type = vector(memory_type(dtype), lanes)
    if count is None:
        value = f.load(pointer, type)
    elif has_masks(type):
        value = f.masked_load(pointer, lane_mask(f, count, lanes), type)
    else:
        value = _load_each(f, pointer, type, count)
    if is_half(dtype):
        from .elementwise import from_memory

        return from_memory(f, value, dtype, lanes)
    return value


def store_lanes(f: Function, value: V, pointer: V, dtype: DType, lanes: int, count: V | None = None) -> None:
    """Store a vector of sums, rounded to `dtype`; lanes at or beyond `count` are not written."""
    if is_half(dtype):
        from .elementwise import to_memory

        value = to_memory(f, value, dtype, lanes)
    if count is None:
        f.store(value, pointer)
    elif has_masks(value.type):
        f.masked_store(value, pointer, lane_mask(f, count, lanes))
    else:
        _store_each(f, value, pointer, count)


def finish(f: Function, total: V, bias: V | None, dtype: DType, relu: bool) -> V:
    """relu(total + bias) for a scalar or vector of sums; `bias` points to as many elements of `dtype`."""
    if bias is not None:
        total = f.add(total, load_lanes(f, bias, dtype, lanes(total.type)))
    return rectify(f, total) if relu else total


def rectify(f: Function, value: V) -> V:
    """Negative numbers become zero; comparing for "below zero" lets NaN pass."""
    zero = f.const(0, value.type)
    return f.select(f.compare("olt" if is_float(value.type) else "slt", value, zero), zero, value)


def has_masks(type: str) -> bool:
    """Whether the processor loads and stores some lanes of a vector in one instruction."""
    width = host().vector_bytes
    return width >= 64 or (width == 32 and scalar_bytes(type) >= 4)


def lane_mask(f: Function, count: V, lanes: int) -> V:
    """A vector of i1: lane < count."""
    narrow = f.cast("trunc", count, "i32")
    indices = "<" + ", ".join(f"i32 {i}" for i in range(lanes)) + ">"
    return f.compare("slt", V(indices, f"<{lanes} x i32>"), f.splat(narrow, lanes))


def _load_each(f: Function, pointer: V, type: str, count: V) -> V:
    buffer = f.variable(type, V("zeroinitializer", type))
    kind = element(type)
    with f.loop(0, count) as i:
        f.store(f.load(f.at(pointer, kind, i), kind), f.at(buffer, kind, i))
    return f.load(buffer, type)


def _store_each(f: Function, value: V, pointer: V, count: V) -> None:
    buffer = f.variable(value.type, value)
    kind = element(value.type)
    with f.loop(0, count) as i:
        f.store(f.load(f.at(buffer, kind, i), kind), f.at(pointer, kind, i))
