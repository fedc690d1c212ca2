"""Extremes and order by the integers, means by the numbers; results have the quantizer of the input."""

from __future__ import annotations

from .. import ops
from ..core import engine
from ..core.engine import Tensor
from .copies import require_per_tensor
from .dispatch import implements
from .elementwise import requantized
from .functions import dequantize
from .quantizers import rewrap

METHODS = ops.METHODS


def declare_extreme(name: str) -> None:
    def extreme(input: Tensor, *args, **kwargs):
        require_per_tensor(name, input)
        if any(isinstance(value, Tensor) for value in (*args, *kwargs.values())):
            raise NotImplementedError(
                f"Could not run 'aten::{name}imum' with arguments from the 'QuantizedCPU' backend. Use "
                "Tensor.dequantize() first."
            )
        found = METHODS[name](engine.integers_of(input), *args, **kwargs)
        if isinstance(found, Tensor):
            return rewrap(found, input)
        return type(found)((rewrap(found[0], input), found[1]))

    implements(name)(extreme)


for _name in ("max", "min"):
    declare_extreme(_name)


def declare_order(op: str, name: str) -> None:
    def order(input: Tensor, *args, **kwargs) -> tuple:
        require_per_tensor(name, input)
        values, places = ops.OPS[op](engine.integers_of(input), *args, **kwargs)
        return rewrap(values, input), places

    implements(op)(order)


declare_order("sorted_with_places", "sort")
declare_order("largest_with_places", "topk")


@implements("argsort")
def argsort(input: Tensor, *args, **kwargs) -> Tensor:
    """The places of the elements in order."""
    require_per_tensor("argsort", input)
    return METHODS["argsort"](engine.integers_of(input), *args, **kwargs)


@implements("mean")
def mean(input: Tensor, dim=None, keepdim: bool = False, *, dtype=None) -> Tensor:
    """The mean of the numbers."""
    require_per_tensor("mean", input)
    if dtype is not None and dtype is not input.dtype:
        raise RuntimeError(f"mean: a quantized tensor has a mean of its own type {input.dtype.name}, not of {dtype}")
    return requantized(METHODS["mean"](dequantize(input), dim, keepdim), input)


@implements("std_of")
def std_of(input: Tensor, *args, **kwargs) -> Tensor:
    """The standard deviation of the numbers."""
    require_per_tensor("std", input)
    return requantized(ops.OPS["std_of"](dequantize(input), *args, **kwargs), input)


@implements("embedded")
def embedded(weight: Tensor, indices: Tensor, *args, **kwargs) -> Tensor:
    """Rows of a quantized table (`embedding`)."""
    require_per_tensor("embedding", weight)
    return rewrap(ops.OPS["embedded"](engine.integers_of(weight), indices, *args, **kwargs), weight)
