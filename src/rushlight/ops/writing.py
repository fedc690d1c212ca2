"""`out=`: results written into tensors that the caller gives."""

from __future__ import annotations

import warnings

from ..core import engine
from ..core.engine import Tensor, is_grad_enabled
from ..ir.dtypes import category


def call_out(called, args, kwargs, out):
    """Run an op with its result(s) in `out`, resized if it has another shape."""
    if not called.accepts_out:
        raise TypeError(f"{called.name}() got an unexpected keyword argument 'out'")
    outputs = list(out) if isinstance(out, (tuple, list)) else [out]
    for tensor in outputs:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{called.name}(): argument 'out' must be Tensor, not {type(tensor).__name__}")
    if is_grad_enabled() and (
        any_requires_grad(args) or any_requires_grad(kwargs.values()) or any_requires_grad(outputs)
    ):
        raise RuntimeError(
            f"{called.name}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments "
            "requires grad."
        )
    if called.accepts_out == "apart":
        check_apart(called.name, outputs, [*args, *kwargs.values()])
    with_modes = engine.set_grad_mode(False)
    try:
        results = called(*args, **kwargs)
    finally:
        engine.set_grad_mode(with_modes)
    results = list(results) if isinstance(results, (tuple, list)) else [results]
    if len(results) != len(outputs):
        raise TypeError(f"{called.name}(): expected {len(results)} tensors in out, got {len(outputs)}")
    for tensor, result in zip(outputs, results):
        store(tensor, result, called.name)
    return out


def check_apart(name: str, outputs, arguments) -> None:
    """Outputs must not share memory with tensors that are read."""
    for value in arguments:
        for tensor in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(tensor, Tensor) and any(engine.is_alias(tensor, out) for out in outputs):
                raise RuntimeError(
                    f"{name}: unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
                    "single memory location. Please clone() the tensor before performing the operation."
                )


def any_requires_grad(values) -> bool:
    return any(
        (isinstance(v, Tensor) and v.requires_grad) or (isinstance(v, (list, tuple)) and any_requires_grad(v))
        for v in values
    )


def store(out: Tensor, result: Tensor, name: str = "out") -> Tensor:
    """Copy a result into `out`, resizing it first if needed."""
    if category(result.dtype) > category(out.dtype):
        raise RuntimeError(
            f"{name}: result type {result.dtype.name} can't be cast to the desired output type {out.dtype.name}"
        )
    if out.shape != result.shape:
        if out.numel():
            warnings.warn(
                f"An output with one or more elements was resized since it had shape {list(out.shape)}, which does not match the "
                f"required output shape {list(result.shape)}.",
                stacklevel=4,
            )
        engine.resize(out, tuple(result.shape))
    return out.copy_(result)
