"""Which function runs when an op meets a quantized tensor.

The core hands over every call with one among its arguments. `implements("relu")` registers the quantized form of an op
by its name; every other op refuses and says what to do.
"""

from __future__ import annotations

from collections.abc import Callable

from ..core import engine
from ..core.engine import Op, Tensor
from ..ir.dtype_names import TITLES
from .quantizers import adopt, is_quantized

IMPLEMENTATIONS: dict[str, Callable] = {}
UNUSUAL = (AttributeError, ArithmeticError, KeyError, AssertionError)  # what arguments of wrong kinds lead to


def implements(*names: str):
    """Register a function as the quantized form of ops."""

    def register(function):
        for name in names:
            IMPLEMENTATIONS[name] = function
        return function

    return register


def quantized_call(called: Op | None, name: str, args: tuple, kwargs: dict):
    """The result of an op for arguments among which is a quantized tensor."""
    found = IMPLEMENTATIONS.get(name)
    if found is None:
        refuse(name, args, kwargs)
    try:
        return run(found, args, kwargs)
    except UNUSUAL as error:
        raise RuntimeError(f"{name}: cannot be computed for these arguments ({error})") from error


def run(function: Callable, args: tuple, kwargs: dict):
    """Call a quantized form; what `out` names then takes the result over."""
    if not kwargs:
        return function(*args)
    out = kwargs.get("out")
    if out is None:
        return function(*args, **{name: value for name, value in kwargs.items() if name != "out"})
    result = function(*args, **{name: value for name, value in kwargs.items() if name != "out"})
    if not isinstance(out, Tensor) or not isinstance(result, Tensor):
        raise NotImplementedError("out= with several results is not supported for quantized tensors")
    if not is_quantized(result):
        return out.copy_(result)
    if out.dtype is not result.dtype:
        raise RuntimeError(f"out: expected a tensor of type {result.dtype.name}, got {out.dtype.name}")
    return adopt(out, result)


def refuse(name: str, args: tuple, kwargs: dict) -> None:
    """NotImplementedError that names the op, the dtype and the way out."""
    parts = [p for v in (*args, *kwargs.values()) for p in (v if isinstance(v, (list, tuple)) else (v,))]
    dtype = next(p.dtype for p in parts if is_quantized(p))
    known = f", or rushlight.ops.quantized.{name}" if has_library_form(name) else ""
    raise NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the 'QuantizedCPU' backend: there is no form of it for "
        f"tensors of type {TITLES.get(dtype, dtype.name)}. Use Tensor.dequantize() first{known}."
    )


def has_library_form(name: str) -> bool:
    from . import library

    return name in library.NAMES


engine.bind("quantized_call", quantized_call)
