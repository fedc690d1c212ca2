"""Argument orders of old: `x.add_(2, y)` for `x.add_(y, alpha=2)`, with the warning that PyTorch gives."""

from __future__ import annotations

import warnings

from ..core.engine import Tensor
from ..ir.graph import Value

# what numbers among the arguments meant, in order; the tensors stay in order
NUMBERS = {
    "add": ("alpha",),
    "sub": ("alpha",),
    "addcmul": ("value",),
    "addcdiv": ("value",),
    "addmm": ("beta", "alpha"),
    "addmv": ("beta", "alpha"),
    "addr": ("beta", "alpha"),
    "addbmm": ("beta", "alpha"),
    "baddbmm": ("beta", "alpha"),
}


def former_order(called, args: list, kwargs: dict) -> tuple[list, dict] | None:
    """Arguments as today's signature has them, where an op was given numbers before tensors; else None."""
    names = NUMBERS.get(called.declaration.name, ())
    tensors = [a for a in args if isinstance(a, (Tensor, Value))]
    numbers = dict(zip(names, (a for a in args if not isinstance(a, (Tensor, Value)))))
    if not numbers or len(tensors) + len(numbers) != len(args) or len(tensors) != called.declaration.positional:
        return None
    now = ", ".join([*called.declaration.names[1 : len(tensors)], "*", *numbers])
    warnings.warn(
        f"This overload of {called.name} is deprecated: numbers before tensors. Consider using {called.name}({now}) "
        "instead",
        UserWarning,
        stacklevel=3,
    )
    return tensors, numbers | kwargs
