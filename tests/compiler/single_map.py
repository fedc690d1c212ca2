"""Run one `map` primitive on NumPy arrays, through a kernel that does nothing else."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace

import numpy as np

from rushlight.compiler import elementwise
from rushlight.compiler.cache import load
from rushlight.compiler.text import Function, Module, V
from rushlight.ir.dtypes import DType, dtype_named

KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


def make_node(name: str, inputs: list[DType], output: DType, attrs: dict | None = None, exponent=None):
    """What `emit` reads of a node; `exponent` makes the second input a constant, or "number" a run-time number."""
    values = [SimpleNamespace(dtype=d, node=None, weak=False) for d in inputs]
    if exponent == "number":
        values[1].weak = True
    elif exponent is not None:
        source = SimpleNamespace(prim=SimpleNamespace(name="constant"), attrs={"value": exponent}, inputs=())
        values[1].node = source
    prim = SimpleNamespace(name=name)
    return SimpleNamespace(prim=prim, attrs=attrs or {}, inputs=values, outputs=[SimpleNamespace(dtype=output)])


def _at(f: Function, pointer: V, dtype: DType, index: V) -> V:
    parts = 2 if dtype.is_complex else 1
    return f.at(pointer, elementwise.memory_type(dtype), f.mul(index, V(str(parts), "i64")))


def kernel_text(node, lanes: int) -> str:
    """A kernel over whole vectors: buffers are the inputs and the output, all contiguous."""
    module = Module()
    f = module.kernel("kernel")
    *inputs, output = (f.buffer(i) for i in range(len(node.inputs) + 1))
    with f.loop(f.begin, f.end, lanes) as i:
        registers = []
        for pointer, value in zip(inputs, node.inputs):
            loaded = f.load(_at(f, pointer, value.dtype, i), elementwise.loaded_type(value.dtype, lanes))
            registers.append(elementwise.from_memory(f, loaded, value.dtype, lanes))
        result = elementwise.emit(f, node, registers, lanes)
        dtype = node.outputs[0].dtype
        f.store(elementwise.to_memory(f, result, dtype, lanes), _at(f, output, dtype, i))
    return str(module)


def storage(dtype: DType):
    """The NumPy type that holds a dtype's bits."""
    return np.uint16 if dtype.name == "bfloat16" else np.dtype(dtype.name)


def apply(name: str, arrays, output: str | DType, *, inputs=None, lanes: int = 16, attrs=None, exponent=None):
    """The primitive on 1-d arrays of equal length; dtypes are the arrays' own unless `inputs` names them."""
    inputs = [dtype_named(i if isinstance(i, str) else i.name) for i in inputs or [a.dtype for a in arrays]]
    output = dtype_named(output) if isinstance(output, str) else output
    address = load("kernel", kernel_text(make_node(name, inputs, output, attrs, exponent), lanes))
    count = len(arrays[0])
    padding = -count % lanes
    padded = [np.concatenate([a, np.repeat(a[-1:], padding)]) for a in arrays]
    result = np.empty(count + padding, storage(output))
    pointers = (ctypes.c_void_p * (len(padded) + 1))(*(a.ctypes.data for a in [*padded, result]))
    KERNEL(address)(ctypes.addressof(pointers), None, 0, count + padding)
    return result[:count]
