"""`ops.quantized.conv2d` and its kin: exact convolutions of integers, scaled and rounded once, as `linear` does.

Images are multiplied as matrices of bytes, a row for each window, where the processor has an instruction for that;
else, and for groups of channels, in float64, which holds all sums exactly.
"""

from __future__ import annotations

from .. import ops
from ..core import engine
from ..core.engine import Tensor
from ..ir.dtypes import float64
from ..ops import memory_format
from .functions import dense
from .linear import PackedWeight, check_input, check_packed
from .products import BytePanels, centred, packed_columns, rounded_sums
from .quantizers import PerTensor, quantized, single


class ConvPackedParams(PackedWeight):
    """What `conv2d_prepack` returns: a weight [out, in / groups, *kernel] with its bias, and how windows lie."""

    def __init__(self, dims: int, weight: Tensor, bias, stride, padding, dilation, groups: int):
        super().__init__(f"conv{dims}d_prepack", weight, bias, dims + 2)
        steps = [tuple(int(n) for n in values) for values in (stride, padding, dilation)]
        if any(len(values) != dims for values in steps):
            raise RuntimeError(
                f"quantized::conv{dims}d_prepack: stride, padding and dilation have {dims} numbers, got {steps}"
            )
        if min(steps[0] + steps[2], default=1) < 1 or min(steps[1], default=0) < 0 or groups < 1:
            raise RuntimeError(
                f"quantized::conv{dims}d_prepack: expected stride and dilation above 0, padding not below, got {steps}"
            )
        self.dims, self.window, self.count = dims, tuple(steps), int(groups)
        integers = engine.integers_of(weight)
        self.panels = self.kernel = None
        if dims == 2 and groups == 1:
            packed = packed_columns(integers.permute(0, 2, 3, 1).reshape(weight.shape[0], -1), self.zero_points)
            self.panels = packed if isinstance(packed, BytePanels) else None
        if self.panels is None:
            self.kernel = centred(integers, self.zero_points.view(-1, *[1] * (dims + 1)), float64)

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
        return self.count

    def __reduce__(self):
        return ConvPackedParams, (self.dims, self.weight, self.kept_bias, *self.window, self.count)


def convolved(X: Tensor, packed: ConvPackedParams, dims: int, scale: float, zero_point: int, relu: bool) -> Tensor:
    name, made = f"conv{dims}d", PerTensor(scale, zero_point)
    quantizer = check_input(name, X)
    check_packed(name, packed, ConvPackedParams)
    if packed.dims != dims or X.ndim != dims + 2 or X.shape[1] != packed.weight.shape[1] * packed.count:
        raise RuntimeError(
            f"quantized::{name}: expected an image with {packed.weight.shape[1] * packed.count} channels and "
            f"{packed.dims} dims, got shape {list(X.shape)}"
        )
    result = single(made.scale), made.zero_point, made.zero_point if relu else 0
    compute = by_floats if packed.panels is None else by_bytes
    found = compute(engine.integers_of(X), packed, quantizer, result)
    if dims == 2:
        found = found.contiguous(memory_format=memory_format.channels_last)
    return quantized(found, made)


def by_floats(integers: Tensor, packed: ConvPackedParams, quantizer: PerTensor, result: tuple) -> Tensor:
    """Sums in float64: exact by whatever algorithm they are computed, once they are rounded."""
    numbers = centred(dense(integers), quantizer.zero_point, float64)
    sums = ops.FUNCTIONS[f"conv{packed.dims}d"](numbers, packed.kernel, None, *packed.window, packed.count).round_()
    shape, bias = (-1, *[1] * packed.dims), packed.bias()
    bias = None if bias is None else bias.view(shape)
    return rounded_sums(sums, bias, packed.product_scales(quantizer.scale).view(shape), *result)


def by_bytes(integers: Tensor, packed: ConvPackedParams, quantizer: PerTensor, result: tuple) -> Tensor:
    """A row of bytes for each window, times the weight."""
    rows, shape = windows(integers.permute(0, 2, 3, 1), packed, quantizer.zero_point)
    scales = packed.product_scales(quantizer.scale)
    found = packed.panels.rounded(rows, quantizer.zero_point, packed.bias(), scales, *result)
    return found.view(*shape, found.shape[1]).permute(0, 3, 1, 2)


def windows(image: Tensor, packed: ConvPackedParams, zero_point: int) -> tuple[Tensor, tuple]:
    """The windows of [N, H, W, C] as rows of [kernel height, kernel width, C], and the shape of their places."""
    (height, width), (down, across) = packed.weight.shape[2:], packed.window[1]
    (step_y, step_x), (apart_y, apart_x) = packed.window[0], packed.window[2]
    if (height, width, down, across, step_y, step_x) == (1, 1, 0, 0, 1, 1):
        return image.contiguous().view(-1, image.shape[3]), tuple(image.shape[:3])
    padded = ops.pad(image, (0, 0, across, across, down, down), value=zero_point).contiguous()
    count, tall, wide, channels = padded.shape
    rows, columns = (tall - apart_y * (height - 1) - 1) // step_y + 1, (wide - apart_x * (width - 1) - 1) // step_x + 1
    if min(rows, columns) < 1:
        raise RuntimeError(
            f"quantized::conv2d: the kernel [{height}, {width}] is larger than the padded image [{tall}, {wide}]"
        )
    by_image, by_row, by_pixel, _ = padded.stride()
    found = padded.as_strided(
        (count, rows, columns, height, width, channels),
        (by_image, by_row * step_y, by_pixel * step_x, by_row * apart_y, by_pixel * apart_x, 1),
    )
    return found.reshape(count * rows * columns, height * width * channels), (count, rows, columns)


def declare(dims: int) -> dict:
    """The functions for images of so many dims, by name."""

    def prepack(weight: Tensor, bias, stride, padding, dilation, groups: int = 1) -> ConvPackedParams:
        return ConvPackedParams(dims, weight, bias, stride, padding, dilation, groups)

    def unpack(packed_weights: ConvPackedParams) -> tuple:
        return packed_weights.unpack()

    def conv(qx: Tensor, packed_weight: ConvPackedParams, output_scale: float, output_zero_point: int) -> Tensor:
        return convolved(qx, packed_weight, dims, output_scale, output_zero_point, False)

    def conv_relu(qx: Tensor, packed_weight: ConvPackedParams, output_scale: float, output_zero_point: int) -> Tensor:
        return convolved(qx, packed_weight, dims, output_scale, output_zero_point, True)

    prepack.__doc__ = "A weight (qint8) and a bias (float32) with the places of windows, as `conv` takes them."
    unpack.__doc__ = "(weight, bias), as they were packed."
    conv.__doc__ = "The convolution as quint8 with the scale and zero point given."
    conv_relu.__doc__ = "max(convolution, 0) as quint8 with the scale and zero point given."
    named = {"_prepack": prepack, "_unpack": unpack, "": conv, "_relu": conv_relu}
    return {f"conv{dims}d{suffix}": function for suffix, function in named.items()}


FUNCTIONS = declare(1) | declare(2) | declare(3)
