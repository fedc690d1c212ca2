"""Vectors of a matrix between memory and registers, whole or only their first lanes."""

from __future__ import annotations

from ..ir.dtypes import DType
from .elementwise import from_memory, memory_type, to_memory
from .target import host
from .text import Function, V, element, is_float, lanes, scalar_bytes, vector


def i64(number: int) -> V:
    return V(str(number), "i64")


def sum_type(dtype: DType) -> str:
    """The scalar LLVM type that products of a dtype are summed in."""
    return "float" if is_half(dtype) else memory_type(dtype)


def is_half(dtype: DType) -> bool:
    return dtype.kind == "f" and dtype.itemsize == 2


def load_lanes(f: Function, pointer: V, dtype: DType, lanes: int, count: V | None = None) -> V:
    """`lanes` adjacent elements in the type of sums; those at or beyond `count` are not read and count as zero.

    `count` is a number (i64), also above `lanes`, or what `first_lanes` makes of it.
    """
    type = vector(memory_type(dtype), lanes)
    if count is None:
        value = f.load(pointer, type)
    elif (mask := first_lanes(f, count, type)).type != "i64":
        value = f.masked_load(pointer, mask, type)
    else:
        value = _load_each(f, pointer, type, count)
    if is_half(dtype):
        return from_memory(f, value, dtype, lanes)
    return value


def store_lanes(f: Function, value: V, pointer: V, dtype: DType, lanes: int, count: V | None = None) -> None:
    """Store a vector of sums, rounded to `dtype`; lanes at or beyond `count` are not written."""
    if is_half(dtype):
        value = to_memory(f, value, dtype, lanes)
    if count is None:
        f.store(value, pointer)
    elif (mask := first_lanes(f, count, value.type)).type != "i64":
        f.masked_store(value, pointer, mask)
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


def first_lanes(f: Function, count: V, type: str) -> V:
    """A mask of the lanes below `count` if the processor can load and store a vector `type` by mask, else `count`."""
    width, n = host().vector_bytes, lanes(type)
    if count.type != "i64" or not (width >= 64 or (width == 32 and scalar_bytes(type) >= 4)):
        return count
    indices = "<" + ", ".join(f"i32 {i}" for i in range(n)) + ">"
    return f.compare("slt", V(indices, f"<{n} x i32>"), f.splat(f.cast("trunc", count, "i32"), n))


def _load_each(f: Function, pointer: V, type: str, count: V) -> V:
    buffer = f.variable(type, V("zeroinitializer", type))
    kind = element(type)
    with f.loop(0, f.minimum(count, i64(lanes(type)))) as i:
        f.store(f.load(f.at(pointer, kind, i), kind), f.at(buffer, kind, i))
    return f.load(buffer, type)


def _store_each(f: Function, value: V, pointer: V, count: V) -> None:
    buffer = f.variable(value.type, value)
    kind = element(value.type)
    with f.loop(0, f.minimum(count, i64(lanes(value.type)))) as i:
        f.store(f.load(f.at(buffer, kind, i), kind), f.at(pointer, kind, i))
