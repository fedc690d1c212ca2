"""Executes a `Lowered` program on NumPy arrays through ctypes: slow to start, meant for tests and experiments."""

from __future__ import annotations

import ctypes
import struct
from itertools import pairwise

import numpy as np

from ..ir import failures
from ..ir.graph import Graph, Value
from ..ir.sizes import Sym, contiguous_strides
from .launch import Buffer, Lowered, Scalar

ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


def run_lowered(lowered: Lowered, graph: Graph, arrays=(), scalars=(), *, pieces=1, symbols=None, outputs=None) -> list:
    """Run a lowered graph and return its outputs as NumPy arrays.

    arrays    one per tensor input of `graph`, in order; bfloat16 travels as uint16 bits. Their strides must be
              those of the graph's input values. Inputs that an output aliases are overwritten.
    scalars   one number per scalar input, in order
    pieces    split every launch's range into this many uneven parts, run last to first
    symbols   {symbol name: number} for sizes other than those that were traced
    outputs   arrays to write to instead of fresh ones
    """
    program = Bound(lowered, graph, arrays, scalars, symbols, outputs)
    program.run(pieces)
    return program.outputs


def evaluate(size, symbols: dict) -> int:
    """The number that a size stands for, given numbers for the symbols."""
    return eval(size.source(), {}, symbols) if type(size) is Sym else int(size)


def numpy_dtype(dtype) -> np.dtype:
    return np.dtype("uint16" if dtype.numpy_name is None else dtype.numpy_name)


def aligned(bytes: int, alignment: int = 64) -> np.ndarray:
    """An uninitialised byte array that starts at a multiple of `alignment`."""
    raw = np.empty(bytes + alignment, np.uint8)
    start = -raw.ctypes.data % alignment
    return raw[start : start + bytes]


class Bound:
    """A program with memory and numbers filled in, ready to run many times."""

    def __init__(self, lowered: Lowered, graph: Graph, arrays=(), scalars=(), symbols=None, outputs=None):
        self.symbols = dict(symbols if symbols is not None else graph.scope.hints if graph.scope else {})
        self.inputs = self._inputs(graph, list(arrays), list(scalars))
        self.temps = [aligned(evaluate(size, self.symbols)) for size in lowered.temps]
        self.outputs = list(outputs) if outputs is not None else self._outputs(graph)
        for role, index in lowered.zeroed:
            (self.temps if role == "temp" else self.outputs)[index][...] = 0
        self.error = np.zeros(4, np.int64)
        self.calls = [self._bind(launch) for launch in lowered.launches]

    def run(self, pieces: int = 1) -> None:
        for call in self.calls:
            entry, buffers, params, total = call[:4]
            for begin, end in reversed(split(total, pieces)):
                entry(buffers, params, begin, end)
            if self.error[0]:
                what, index, dim, size = self.error
                self.error[...] = 0
                if what >= failures.FIRST:
                    raise failures.failure(what, index, dim, size)
                if what == 2:
                    raise ZeroDivisionError("integer division by zero")
                raise IndexError(f"index {index} is out of bounds for dimension {dim} with size {size}")

    def _inputs(self, graph: Graph, arrays: list, scalars: list) -> list:
        inputs = [scalars.pop(0) if v.weak else arrays.pop(0) for v in graph.inputs]
        for value, array in zip(graph.inputs, inputs):
            if not value.weak:
                self._check(value, array)
        return inputs

    def _check(self, value: Value, array: np.ndarray) -> None:
        shape = tuple(evaluate(s, self.symbols) for s in value.shape)
        strides = tuple(evaluate(s, self.symbols) * value.dtype.itemsize for s in value.strides)
        same = all(a == b for n, a, b in zip(shape, strides, array.strides) if n > 1) or 0 in shape
        if array.shape != shape or not same or array.dtype != numpy_dtype(value.dtype):
            raise ValueError(
                f"input {value} expects {shape} with byte strides {strides}, "
                f"got {array.dtype} {array.shape} {array.strides}"
            )

    def _outputs(self, graph: Graph) -> list:
        outputs = []
        for value, strides, alias in zip(graph.outputs, graph.output_strides, graph.aliases):
            outputs.append(self.inputs[alias] if alias is not None else self._empty(value, strides))
        return outputs

    def _empty(self, value: Value, strides) -> np.ndarray:
        shape = tuple(evaluate(s, self.symbols) for s in value.shape)
        strides = [evaluate(s, self.symbols) for s in (contiguous_strides(shape) if strides is None else strides)]
        extent = 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, strides))
        size = value.dtype.itemsize
        memory = aligned(extent * size)
        memory[...] = 0xAB  # makes an element that no kernel wrote visible
        return np.ndarray(shape, numpy_dtype(value.dtype), memory, 0, tuple(s * size for s in strides))

    def _bind(self, launch) -> tuple:
        scratch = aligned(evaluate(launch.scratch, self.symbols))
        pointers = [self._address(b) for b in launch.buffers] + [scratch.ctypes.data] * bool(len(scratch))
        params = [self._param(p) for p in launch.params]
        buffers = (ctypes.c_void_p * max(len(pointers), 1))(*pointers)
        values = (ctypes.c_int64 * max(len(params), 1))(*params)
        total = evaluate(launch.range, self.symbols)
        entry = ENTRY(launch.kernel.address)
        return entry, ctypes.addressof(buffers), ctypes.addressof(values), total, buffers, values, scratch

    def _address(self, buffer: Buffer) -> int:
        if buffer.role == "error":
            return self.error.ctypes.data
        arrays = {"input": self.inputs, "output": self.outputs, "temp": self.temps}[buffer.role]
        return arrays[buffer.index].ctypes.data + evaluate(buffer.offset, self.symbols)

    def _param(self, param) -> int:
        if isinstance(param, float):
            return double_bits(param)
        if hasattr(param, "address"):
            return param.address
        if not isinstance(param, Scalar):
            return evaluate(param, self.symbols)
        number = self.inputs[param.index]
        if param.slot == "i":
            return int(number)
        return double_bits({"f": number, "re": complex(number).real, "im": complex(number).imag}[param.slot])


def double_bits(number: float) -> int:
    return struct.unpack("<q", struct.pack("<d", number))[0]


def split(total: int, pieces: int) -> list[tuple[int, int]]:
    """`pieces` uneven, non-empty parts of range(total) (fewer if it is short)."""
    weights = [1 + (i * 7 + 3) % 5 for i in range(pieces)]
    bounds = [total * sum(weights[:i]) // sum(weights) for i in range(pieces + 1)]
    return [(a, b) for a, b in pairwise(bounds) if a < b]
