"""How quantized tensors are shown: the numbers that they stand for, then what reads them so."""

from __future__ import annotations

from ..core.engine import Tensor
from ..ops import printing
from .dispatch import implements
from .functions import dequantize
from .quantizers import PerTensor, quantizer_of


@implements("repr")
def show(tensor: Tensor) -> str:
    """`repr` of a quantized tensor."""
    name = "tensor" if printing.plain(type(tensor)) else type(tensor).__name__
    indent = len(name) + 1
    return printing.with_facts(f"{name}({printing.elements(dequantize(tensor), indent)}", facts(tensor), indent)


def facts(tensor: Tensor):
    """What is told after the numbers."""
    quantizer = quantizer_of(tensor)
    yield f"size={tuple(tensor.shape)}"
    yield f"dtype={tensor.dtype}"
    yield f"quantization_scheme={quantizer.scheme}"
    if isinstance(quantizer, PerTensor):
        yield f"scale={quantizer.scale}"
        yield f"zero_point={quantizer.zero_point}"
        return
    yield f"scale={quantizer.scales}"
    yield f"zero_point={quantizer.zero_points}"
    yield f"axis={quantizer.axis}"
