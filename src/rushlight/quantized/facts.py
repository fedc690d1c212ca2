"""Single elements, comparisons, and functions that refuse what integers cannot give."""

from __future__ import annotations

from .. import ops
from ..core import engine
from ..core.engine import Tensor
from ..ir import dtypes
from ..ir.dtype_names import TITLES
from .dispatch import implements
from .functions import dequantize
from .quantizers import is_quantized, quantizer_of


@implements("item")
def item(input: Tensor) -> float:
    """The number that the one element stands for."""
    return dequantize(input).item()


@implements("is_nonzero")
def is_nonzero(input: Tensor) -> bool:
    """Whether the one element stands for another number than 0."""
    return item(input) != 0


@implements("tolist")
def tolist(input: Tensor):
    """RuntimeError: elements are integers and numbers, and neither is meant for sure."""
    raise RuntimeError(
        f"tolist: invalid type {TITLES[input.dtype]}; use Tensor.dequantize().tolist() for the numbers, or "
        "Tensor.int_repr().tolist() for the integers"
    )


@implements("numpy")
def numpy(input: Tensor, *, force: bool = False):
    """TypeError: NumPy has no quantized arrays."""
    raise TypeError(
        f"Got unsupported ScalarType {TITLES[input.dtype]}: use Tensor.dequantize() for the numbers, or "
        "Tensor.int_repr() for the integers"
    )


@implements("type")
def type_(input: Tensor, dtype=None, non_blocking=False, **options):
    """The name of the tensor's type; RuntimeError for another dtype."""
    if dtype is None:
        return f"{dtypes._MODULE}.quantized.{TITLES[input.dtype]}Tensor"
    return input.to(dtype)


@implements("equal")
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same dtype, shape, quantizer and integers."""
    if not (is_quantized(input) and is_quantized(other)) or input.dtype is not other.dtype:
        return False
    if tuple(input.shape) != tuple(other.shape) or not quantizer_of(input).is_same(quantizer_of(other)):
        return False
    return engine.integers_of(input).equal(engine.integers_of(other))


def numbers(value):
    """The numbers of a quantized tensor; anything else stays."""
    return dequantize(value) if is_quantized(value) else value


def declare_comparison(name: str) -> None:
    def compare(input, other):
        return ops.FUNCTIONS[name](numbers(input), numbers(other))

    implements(name)(compare)


for _name in ("eq", "ne", "lt", "le", "gt", "ge", "not_equal", "less", "less_equal", "greater", "greater_equal"):
    declare_comparison(_name)
