"""`ops.quantized.conv2d` and its kin: exact convolutions of integers, scaled and rounded once, as `linear` does."""

from __future__ import annotations

from .. import ops
from ..core import engine
from ..core.engine import Tensor
from ..ir.dtypes import float64
from .functions import dense
from .linear import PackedWeight, centred, check_input, check_weight, finish, product_scales


class ConvPackedParams(PackedWeight):
    """What `conv2d_prepack` returns: a weight [out, in / groups, *kernel] with its bias, and how windows lie."""

    def __init__(self, dims: int, weight: Tensor, bias, stride, padding, dilation, groups: int):
        check_weight(f"conv{dims}d_prepack", weight, bias, dims + 2)
        super().__init__(weight, bias)
        self.dims, self.window = dims, (tuple(stride), tuple(padding), tuple(dilation), int(groups))
        # float64: sums are exact to the last bit, by whatever algorithm they are computed, once they are rounded
        self.kernel = centred(engine.integers_of(weight), self.zero_points, float64)

    def stride(self) -> list:
        """How far windows are from each other."""
        return list(self.window[0])

    def padding(self) -> list:
        """Zeros around the image."""
        return list(self.window[1])

    def dilation(self) -> list:
        """How far taps are from each other."""
        return list(self.window[2])

    def groups(self) -> int:
        """In how many parts channels are convolved on their own."""
        return self.window[3]

    def __reduce__(self):
        return ConvPackedParams, (self.dims, self.weight, self.kept_bias, *self.window)


def convolved(X: Tensor, packed: ConvPackedParams, scale: float, zero_point: int, relu: bool) -> Tensor:
    quantizer = check_input(f"conv{packed.dims}d", X)
    numbers = centred(dense(engine.integers_of(X)), quantizer.zero_point, float64)
    stride, padding, dilation, groups = packed.window
    function = ops.FUNCTIONS[f"conv{packed.dims}d"]
    sums = function(numbers, packed.kernel, None, stride, padding, dilation, groups).round_()
    shape = (-1, *[1] * packed.dims)
    bias = packed.bias()
    return finish(
        sums, None if bias is None else bias.view(shape), product_scales(packed, quantizer.scale).view(shape), scale,
        zero_point, relu,
    )  # fmt: skip


def declare(dims: int) -> dict:
    """The functions for images of so many dims, by name."""

    def prepack(weight: Tensor, bias, stride, padding, dilation, groups: int = 1) -> ConvPackedParams:
        return ConvPackedParams(dims, weight, bias, stride, padding, dilation, groups)

    def unpack(packed_weights: ConvPackedParams) -> tuple:
        return packed_weights.unpack()

    def conv(qx: Tensor, packed_weight: ConvPackedParams, output_scale: float, output_zero_point: int) -> Tensor:
        return convolved(qx, packed_weight, output_scale, output_zero_point, False)

    def conv_relu(qx: Tensor, packed_weight: ConvPackedParams, output_scale: float, output_zero_point: int) -> Tensor:
        return convolved(qx, packed_weight, output_scale, output_zero_point, True)

    prepack.__doc__ = "A weight (qint8) and a bias (float32) with the places of windows, as `conv` takes them."
    unpack.__doc__ = "(weight, bias), as they were packed."
    conv.__doc__ = "The convolution as quint8 with the scale and zero point given."
    conv_relu.__doc__ = "max(convolution, 0) as quint8 with the scale and zero point given."
    named = {"_prepack": prepack, "_unpack": unpack, "": conv, "_relu": conv_relu}
    return {f"conv{dims}d{suffix}": function for suffix, function in named.items()}


FUNCTIONS = declare(1) | declare(2) | declare(3)
