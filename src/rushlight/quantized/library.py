"""`rushlight.ops.quantized`: functions on quantized tensors that are told the scale and zero point of their result.

>>> a = rushlight.quantize_per_tensor(rushlight.tensor([1.0, 2.0]), 0.1, 0, rushlight.quint8)
>>> rushlight.ops.quantized.add(a, a, 0.5, 0).dequantize()
tensor([2., 4.])
"""

from __future__ import annotations

from . import arithmetic, convolution, linear

NAMES = {
    name: getattr(arithmetic, name)
    for name in (
        "add", "add_relu", "add_scalar", "add_scalar_relu", "cat", "cat_relu", "celu", "clamp", "elu", "hardswish",
        "leaky_relu", "mul", "mul_relu", "mul_scalar", "mul_scalar_relu", "relu6", "sigmoid",
    )
}  # fmt: skip
NAMES |= {
    name: getattr(linear, name)
    for name in (
        "linear", "linear_dynamic", "linear_prepack", "linear_relu", "linear_relu_dynamic", "linear_unpack",
    )
}  # fmt: skip
NAMES |= convolution.FUNCTIONS


class Library:
    """The namespace: an attribute for each function."""

    def __getattr__(self, name: str):
        if name not in NAMES:
            raise AttributeError(
                f"'rushlight.ops.quantized' has no function {name!r}; it has {', '.join(sorted(NAMES))}"
            )
        return NAMES[name]

    def __dir__(self):
        return sorted(NAMES)

    def __repr__(self) -> str:
        return "<namespace rushlight.ops.quantized>"


LIBRARY = Library()
