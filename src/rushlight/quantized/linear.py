"""`ops.quantized.linear` and its kin: exact products of integers, scaled and rounded once.

Integers of eight bits are multiplied as float32, in which their sums are exact up to 2^24: the depth is cut in parts
that stay below. A result is round((sum + bias / (input scale * weight scale)) * multiplier) + zero point with
multiplier = input scale * weight scale / output scale, all in float32.
"""

from __future__ import annotations

from ..core import engine
from ..core.engine import Tensor
from ..ir import build as B
from ..ir import dtypes
from ..ir.dtypes import float32, float64
from ..ops.declare import Number, op
from .functions import dense, range_parameters
from .kernels import differences, quantize_affine, saturated
from .quantizers import (
    PerChannel,
    PerTensor,
    inverse,
    is_quantized,
    limits,
    qint8,
    quantized,
    quantizer_of,
    quint8,
    single,
)

EXACT = 2**24  # up to here float32 has all integers


@op(public=False)
def centred(integers, zero_point: Number, dtype: Dtype):
    """integers - zero_point as floats."""
    return B.cast(differences(integers, zero_point), dtype)


@op(public=False)
def requantized_sums(sums, bias, scales, output_scale: Number, zero_point: Number, least: Number):
    """Sums of products of integers as quint8; `scales` are those of the products, `bias` is in numbers (or None)."""
    x = B.cast(sums, float32)
    if bias is not None:
        x = x + bias / scales
    rounded = B.round(x * (scales / B.cast(output_scale, float32))) + B.cast(zero_point, float32)
    return B.maximum(saturated(rounded, dtypes.uint8), B.cast(least, dtypes.uint8))


@op(public=False)
def scaled_sums(sums, bias, scales, least: Number):
    """Sums of products of integers as numbers."""
    x = B.cast(sums, float32) * scales
    x = x if bias is None else x + bias
    return B.maximum(x, B.cast(least, float32))


# -- weights ----------------------------------------------------------------------------------------
class PackedWeight:
    """A quantized weight with its bias: what `linear_prepack` and `conv2d_prepack` return.

    It is kept as floats that are whole numbers, the integers less their zero points.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None):
        self.weight, self.kept_bias = weight, bias
        quantizer = quantizer_of(weight)
        if isinstance(quantizer, PerChannel):
            if quantizer.axis != 0:
                raise RuntimeError(f"prepack: channels of a weight lie along dim 0, got axis {quantizer.axis}")
            self.scales = quantizer.scales.to(float32)
            zero_points, low, high = quantizer.along(weight.ndim)[1], *quantizer.zero_points.aminmax()
        else:
            self.scales = scale_tensor(quantizer)
            zero_points, low, high = quantizer.zero_point, quantizer.zero_point, quantizer.zero_point
        least, most = limits(dtypes.int8)
        self.largest = max(most - int(low), int(high) - least)
        self.zero_points = zero_points

    def unpack(self) -> tuple:
        """(weight, bias), as they were packed."""
        return self.weight, self.kept_bias

    def bias(self) -> Tensor | None:
        """The bias, in numbers."""
        return self.kept_bias

    def __reduce__(self):
        return type(self), (self.weight, self.kept_bias)


def scale_tensor(quantizer: PerTensor) -> Tensor:
    from .. import ops

    return ops.FUNCTIONS["full"]((1,), single(quantizer.scale), dtype=float32)


def check_weight(name: str, weight, bias, ndim: int) -> None:
    if not is_quantized(weight) or weight.dtype is not qint8:
        kind = weight.dtype.name if isinstance(weight, Tensor) else type(weight).__name__
        raise RuntimeError(f"quantized::{name}: expected a weight of type qint8, got {kind}")
    if weight.ndim != ndim:
        raise RuntimeError(f"quantized::{name}: expected a weight of {ndim} dims, got shape {list(weight.shape)}")
    if bias is not None and (bias.dtype is not float32 or tuple(bias.shape) != (weight.shape[0],)):
        raise RuntimeError(
            f"quantized::{name}: expected a bias of type float32 and shape [{weight.shape[0]}], got "
            f"{bias.dtype.name}{list(bias.shape)}"
        )


class LinearPackedParams(PackedWeight):
    """What `linear_prepack` returns: a weight [out, in] with its bias."""

    def __init__(self, weight: Tensor, bias: Tensor | None = None):
        check_weight("linear_prepack", weight, bias, 2)
        super().__init__(weight, bias)
        self.columns = centred(engine.integers_of(weight), self.zero_points, float32).t().contiguous()

    def sums(self, integers: Tensor, zero_point: int) -> Tensor:
        """(integers - zero_point) @ weight, exact: float32 where the depth is small, else float64."""
        depth = self.columns.shape[0]
        if integers.ndim == 0 or integers.shape[-1] != depth:
            raise RuntimeError(
                f"quantized::linear: the weight takes {depth} numbers in the last dim, got {list(integers.shape)}"
            )
        rows = centred(dense(integers), zero_point, float32)
        part = max(EXACT // (self.largest * largest_difference(zero_point)), 1)
        if depth <= part:
            return rows @ self.columns
        total = None
        for start in range(0, depth, part):
            found = rows[..., start : start + part] @ self.columns[start : start + part]
            total = found.to(float64) if total is None else total.add_(found)
        return total


def largest_difference(zero_point: int) -> int:
    """How far an element of quint8 may be from its zero point."""
    low, high = limits(dtypes.uint8)
    return max(high - zero_point, zero_point - low, 1)


def linear_prepack(W: Tensor, B: Tensor | None = None) -> LinearPackedParams:
    """A weight (qint8, [out, in]) and a bias (float32, [out]) in the form that `linear` takes."""
    return LinearPackedParams(W, B)


def linear_unpack(W_prepack: LinearPackedParams) -> tuple:
    """(weight, bias), as they were packed."""
    return W_prepack.unpack()


def product_scales(packed: PackedWeight, scale: float) -> Tensor:
    """input scale * weight scale in float32, for each column."""
    return packed.scales * single(scale)


def check_input(name: str, X) -> PerTensor:
    if not is_quantized(X) or X.dtype is not quint8 or isinstance(quantizer_of(X), PerChannel):
        kind = f"{X.dtype.name}" if isinstance(X, Tensor) else type(X).__name__
        raise RuntimeError(f"quantized::{name}: expected an input of type quint8, quantized per tensor, got {kind}")
    return quantizer_of(X)


def finish(sums: Tensor, bias, scales: Tensor, scale: float, zero_point: int, relu: bool) -> Tensor:
    """Sums of products as quint8 with the scale and zero point given."""
    made = PerTensor(scale, zero_point)
    least = made.zero_point if relu else 0
    return quantized(requantized_sums(sums, bias, scales, single(made.scale), made.zero_point, least), made)


def product(X: Tensor, packed: LinearPackedParams, scale: float, zero_point: int, relu: bool) -> Tensor:
    quantizer = check_input("linear", X)
    sums = packed.sums(engine.integers_of(X), quantizer.zero_point)
    return finish(sums, packed.bias(), product_scales(packed, quantizer.scale), scale, zero_point, relu)


def linear(X: Tensor, W_prepack: LinearPackedParams, Y_scale_i: float, Y_zero_point_i: int) -> Tensor:
    """X @ weight.T + bias as quint8 with the scale and zero point given."""
    return product(X, W_prepack, Y_scale_i, Y_zero_point_i, False)


def linear_relu(X: Tensor, W_prepack: LinearPackedParams, Y_scale_i: float, Y_zero_point_i: int) -> Tensor:
    """max(X @ weight.T + bias, 0) as quint8 with the scale and zero point given."""
    return product(X, W_prepack, Y_scale_i, Y_zero_point_i, True)


def dynamic(X: Tensor, packed: LinearPackedParams, reduce_range: bool, least: float) -> Tensor:
    """The product of numbers that are quantized for it, by their range."""
    if not isinstance(X, Tensor) or X.dtype is not float32:
        raise RuntimeError("quantized::linear_dynamic: expected an input of type float32")
    if not X.numel():
        raise RuntimeError(f"quantized::linear_dynamic: expected numbers, got shape {list(X.shape)}")
    scale, zero_point = range_parameters(X, 0, 127 if reduce_range else 255)
    integers = quantize_affine(dense(X.detach()), inverse(scale), zero_point, dtypes.uint8)
    sums = packed.sums(integers, zero_point)
    return scaled_sums(sums, packed.bias(), product_scales(packed, scale), least)


def linear_dynamic(X: Tensor, W_prepack: LinearPackedParams, reduce_range: bool = False) -> Tensor:
    """X @ weight.T + bias as float32: X is quantized by its range first."""
    return dynamic(X, W_prepack, reduce_range, float("-inf"))


def linear_relu_dynamic(X: Tensor, W_prepack: LinearPackedParams, reduce_range: bool = False) -> Tensor:
    """max(X @ weight.T + bias, 0) as float32: X is quantized by its range first."""
    return dynamic(X, W_prepack, reduce_range, 0.0)
