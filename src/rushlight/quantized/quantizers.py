"""What gives a quantized tensor's integers their meaning: number = (integer - zero point) * scale.

A quantized tensor is an ordinary tensor of integers seen with a quantizer (core/quantized.pxi); views have the same
integers in memory and, where they can, the same quantizer.
"""

from __future__ import annotations

import ctypes
import functools

from ..core import engine
from ..core.engine import Tensor
from ..ir import dtypes
from ..ir.dtype_names import NAMED, REPRESENTATION
from ..ir.dtypes import DType
from .schemes import per_channel_affine, per_channel_affine_float_qparams, per_tensor_affine

quint8, qint8, qint32 = NAMED["quint8"], NAMED["qint8"], NAMED["qint32"]
QUANTIZED = {integer: dtype for dtype, integer in REPRESENTATION.items()}


class PerTensor:
    """One scale and zero point for all elements."""

    __slots__ = ("scale", "zero_point")
    scheme = per_tensor_affine

    def __init__(self, scale: float, zero_point: int):
        self.scale, self.zero_point = float(scale), int(zero_point)

    def is_same(self, other) -> bool:
        """Whether another quantizer reads integers the same way."""
        return isinstance(other, PerTensor) and (self.scale, self.zero_point) == (other.scale, other.zero_point)

    def check(self, shape) -> None:
        """Tensors of every shape can be read with one scale."""

    def state(self) -> tuple:
        """What makes such a quantizer again: the scheme first."""
        return self.scheme, self.scale, self.zero_point


class PerChannel:
    """A scale and zero point for each place along a dim.

    scales       float64[channels]; float32 with zero points that are floats
    zero_points  int64[channels], or float32
    """

    __slots__ = ("axis", "scales", "scheme", "zero_points")

    def __init__(self, scales: Tensor, zero_points: Tensor, axis: int):
        floating = zero_points.is_floating_point()
        self.scheme = per_channel_affine_float_qparams if floating else per_channel_affine
        self.scales = scales.detach().to(dtypes.float32 if floating else dtypes.float64).contiguous()
        self.zero_points = zero_points.detach().to(dtypes.float32 if floating else dtypes.int64).contiguous()
        self.axis = axis

    def is_same(self, other) -> bool:
        """Whether another quantizer reads integers the same way."""
        return (
            isinstance(other, PerChannel)
            and (self.scheme, self.axis) == (other.scheme, other.axis)
            and self.scales.equal(other.scales)
            and self.zero_points.equal(other.zero_points)
        )

    def check(self, shape) -> None:
        """RuntimeError unless a tensor of this shape has as many channels."""
        if not 0 <= self.axis < len(shape):
            raise RuntimeError(
                f"Channel axis out of range in per channel affine quantization. Got: {self.axis} "
                f"Expected: [0, {len(shape)})"
            )
        if shape[self.axis] != len(self.scales):
            raise RuntimeError(
                f"length of scales must equal to channel, expected {shape[self.axis]} got, {len(self.scales)}"
            )

    def state(self) -> tuple:
        """What makes such a quantizer again: the scheme first."""
        return self.scheme, self.scales, self.zero_points, self.axis

    def along(self, ndim: int) -> tuple[Tensor, Tensor]:
        """Scales and zero points in the shape in which they broadcast with a tensor of so many dims."""
        shape = [1] * ndim
        shape[self.axis] = -1
        return self.scales.view(shape), self.zero_points.view(shape)

    def moved(self, axis: int) -> PerChannel:
        """The same channels along another dim."""
        return PerChannel(self.scales, self.zero_points, axis)

    def part(self, begin: int, end: int, step: int = 1):
        """The quantizer of some of the channels; that of one channel is a tensor's."""
        if len(range(begin, end, step)) == 1 and self.scheme is per_channel_affine:
            return PerTensor(single(self.scales[begin].item()), self.zero_points[begin].item())
        return PerChannel(self.scales[begin:end:step], self.zero_points[begin:end:step], self.axis)


def from_state(scheme, *parts):
    """The quantizer that `state` describes."""
    return PerTensor(*parts) if scheme is per_tensor_affine else PerChannel(*parts)


# -- tensors ----------------------------------------------------------------------------------------
def quantizer_of(tensor: Tensor):
    """The quantizer of a quantized tensor."""
    return engine.parts_of(tensor)


def is_quantized(value) -> bool:
    return isinstance(value, Tensor) and value.is_quantized


def quantized(integers: Tensor, quantizer, base: Tensor | None = None) -> Tensor:
    """The quantized tensor over the memory of integers; as a view of `base`, if that is given."""
    quantizer.check(integers.shape)
    return engine.quantized_tensor(integers, QUANTIZED[integers.dtype], quantizer, base)


def rewrap(integers: Tensor, source: Tensor, quantizer=None) -> Tensor:
    """Integers that were computed from those of `source`, with its quantizer: as a view of it if they share memory."""
    quantizer = quantizer_of(source) if quantizer is None else quantizer
    return quantized(integers, quantizer, source if integers._storage is source._storage else None)


def adopt(target: Tensor, source: Tensor) -> Tensor:
    """Let a quantized tensor have the integers and the quantizer of another from now on."""
    engine.swap_memory(target, source)
    return target


# -- dtypes and numbers -----------------------------------------------------------------------------
def representation(dtype) -> DType:
    """The type of the integers of a quantized type.

    Raises:
        RuntimeError: the dtype is not quantized
        NotImplementedError: several elements lie in one byte
    """
    if dtype in REPRESENTATION:
        return REPRESENTATION[dtype]
    if isinstance(dtype, DType) and dtype.kind == "q":
        raise NotImplementedError(f"{dtype} packs several elements in a byte, which is not supported; use {quint8}")
    raise RuntimeError(
        f"expected a quantized dtype ({quint8}, {qint8} or {qint32}), got {dtype}: creation of quantized tensors "
        "requires one"
    )


def limits(integer: DType) -> tuple[int, int]:
    """The least and the greatest integer of a type."""
    info = dtypes.iinfo(integer)
    return info.min, info.max


@functools.lru_cache(4096)
def single(number: float) -> float:
    """A number as float32 has it."""
    return ctypes.c_float(number).value


@functools.lru_cache(4096)
def inverse(scale: float) -> float:
    """1 / scale in float32, which is what numbers are multiplied with."""
    scale = single(scale)
    if scale == 0:
        return float("-inf") if str(scale)[0] == "-" else float("inf")
    return single(1.0 / scale)
