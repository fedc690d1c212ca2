"""Exact products of bytes, scaled and rounded once: the kernels behind `ops.quantized.linear` and convolutions.

A result is round((sum + bias / (input scale * weight scale)) * multiplier) + zero point in float32 with multiplier =
input scale * weight scale / output scale. Sums are of 32-bit integers where the processor has an instruction for
products of bytes (`compiler/byte_dot.py`), else of floats that hold them exactly.
"""

from __future__ import annotations

from .. import ops
from ..core.engine import Tensor
from ..ir import build as B
from ..ir import dtypes
from ..ir.dtypes import float32, float64, int32
from ..ir.primitives.byte_dot import DEPTH, LANES, byte_dot
from ..ops.declare import Number, op
from .kernels import differences, saturated
from .quantizers import limits

EXACT = 2**24  # up to here float32 has all integers
DEEPEST = 2**15  # bytes whose products' sums surely fit in 32 bits


# -- results of sums --------------------------------------------------------------------------------
def rounded(sums, bias, scales, output_scale, zero_point, least):
    """Sums of products of integers as quint8; `scales` are those of the products, `bias` is in numbers (or None)."""
    x = B.cast(sums, float32)
    x = x if bias is None else x + bias / scales
    whole = B.round(x * (scales / B.cast(output_scale, float32))) + B.cast(zero_point, float32)
    return B.maximum(saturated(whole, dtypes.uint8), B.cast(least, dtypes.uint8))


def as_numbers(sums, bias, scales, least):
    """Sums of products of integers as float32."""
    x = B.cast(sums, float32) * scales
    x = x if bias is None else x + bias
    return B.maximum(x, B.cast(least, float32))


@op(public=False)
def rounded_sums(sums, bias, scales, output_scale: Number, zero_point: Number, least: Number):
    """See `rounded`."""
    return rounded(sums, bias, scales, output_scale, zero_point, least)


@op(public=False)
def scaled_sums(sums, bias, scales, least: Number):
    """See `as_numbers`."""
    return as_numbers(sums, bias, scales, least)


@op(public=False)
def centred(integers, zero_point: Number, dtype: Dtype):
    """integers - zero_point as floats."""
    return B.cast(differences(integers, zero_point), dtype)


# -- bytes ------------------------------------------------------------------------------------------
def byte_sums(a, panels, columns, weight_zeros, zero_point):
    """The sums of (a - zero_point) * (weight - weight_zeros): int32[M, N].

    `columns` has the sums of weight - weight_zeros; weight_zeros None: all are 0.
    """
    if a.shape[1] % DEPTH:
        a = B.pad(a, (0, 0), (0, DEPTH - a.shape[1] % DEPTH))
    sums = B.narrow(byte_dot(a, panels), 1, 0, columns.shape[0]) - B.cast(zero_point, int32) * columns
    if weight_zeros is None:
        return sums
    return sums - weight_zeros * B.sum(B.cast(a, int32), (1,), True, int32)


@op(public=False)
def rounded_product(
    a, panels, columns, weight_zeros, bias, scales, zero_in: Number, output_scale: Number, zero_point: Number,
    least: Number,
):  # fmt: skip
    """The product of bytes as quint8."""
    sums = byte_sums(a, panels, columns, weight_zeros, zero_in)
    return rounded(sums, bias, scales, output_scale, zero_point, least)


@op(public=False)
def scaled_product(a, panels, columns, weight_zeros, bias, scales, zero_in: Number, least: Number):
    """The product of bytes as float32."""
    return as_numbers(byte_sums(a, panels, columns, weight_zeros, zero_in), bias, scales, least)


class BytePanels:
    """A weight int8[N, K] for products of bytes, padded and cut in panels."""

    def __init__(self, weight: Tensor, zero_points: Tensor):
        count, depth = weight.shape
        padded = ops.pad(weight, (0, -depth % DEPTH, 0, -count % LANES))
        cut = padded.view(padded.shape[0] // LANES, LANES, padded.shape[1] // DEPTH, DEPTH)
        self.panels = cut.permute(0, 2, 1, 3).contiguous()
        zeros = zero_points.to(int32).expand(count).contiguous()
        self.columns = weight.sum(1, dtype=dtypes.int64).sub_(zeros * depth).to(int32)
        self.zeros = zeros if bool(zeros.ne(0).any()) else None

    def rounded(self, a: Tensor, zero: int, bias, scales, *result) -> Tensor:
        """a @ weight.T + bias as quint8, for uint8[M, K]."""
        return rounded_product(a, self.panels, self.columns, self.zeros, bias, scales, zero, *result)

    def scaled(self, a: Tensor, zero: int, bias, scales, least: float) -> Tensor:
        """a @ weight.T + bias as float32."""
        return scaled_product(a, self.panels, self.columns, self.zeros, bias, scales, zero, least)


# -- floats -----------------------------------------------------------------------------------------
class FloatColumns:
    """A weight int8[N, K] as whole float32 numbers: the depth is cut in parts whose sums float32 holds exactly."""

    def __init__(self, weight: Tensor, zero_points: Tensor):
        self.columns = centred(weight, zero_points.view(-1, 1), float32).t().contiguous()
        low, high = limits(dtypes.int8)
        self.largest = max(high - int(zero_points.min()), int(zero_points.max()) - low)

    def sums(self, a: Tensor, zero: int) -> Tensor:
        """(a - zero) @ weight, exact."""
        rows, depth = centred(a, zero, float32), self.columns.shape[0]
        part = max(EXACT // (self.largest * max(255 - zero, zero, 1)), 1)
        if depth <= part:
            return rows @ self.columns
        total = None
        for start in range(0, depth, part):
            found = rows[:, start : start + part] @ self.columns[start : start + part]
            total = found.to(float64) if total is None else total.add_(found)
        return total

    def rounded(self, a: Tensor, zero: int, bias, scales, *result) -> Tensor:
        """a @ weight.T + bias as quint8, for uint8[M, K]."""
        return rounded_sums(self.sums(a, zero), bias, scales, *result)

    def scaled(self, a: Tensor, zero: int, bias, scales, least: float) -> Tensor:
        """a @ weight.T + bias as float32."""
        return scaled_sums(self.sums(a, zero), bias, scales, least)


def packed_columns(weight: Tensor, zero_points: Tensor):
    """A weight int8[N, K] in the form that this processor multiplies fastest."""
    from ..compiler.byte_dot import has_instruction

    fits = weight.shape[1] <= DEEPEST and weight.numel() > 0
    return (BytePanels if fits and has_instruction() else FloatColumns)(weight, zero_points)
