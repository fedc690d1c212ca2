"""`ops.quantized.linear` and its kin."""

from __future__ import annotations

from .. import ops
from ..core import engine
from ..core.engine import Tensor
from ..ir import dtypes
from ..ir.dtypes import float32
from .functions import dense, range_parameters
from .kernels import quantize_affine
from .products import packed_columns
from .quantizers import PerChannel, PerTensor, inverse, is_quantized, qint8, quantized, quantizer_of, quint8, single


class PackedWeight:
    """A quantized weight with its bias: what `linear_prepack` and `conv2d_prepack` return.

    scales, zero_points  of the weight: float32 and int64 [channels], or [1]
    """

    def __init__(self, name: str, weight, bias, ndim: int):
        check_weight(name, weight, bias, ndim)
        self.weight, self.kept_bias = weight, bias
        quantizer = quantizer_of(weight)
        if isinstance(quantizer, PerTensor):
            self.scales = ops.FUNCTIONS["full"]((1,), single(quantizer.scale), dtype=float32)
            self.zero_points = ops.FUNCTIONS["full"]((1,), quantizer.zero_point, dtype=dtypes.int64)
            return
        if quantizer.axis != 0 or quantizer.zero_points.is_floating_point():
            raise RuntimeError(
                f"quantized::{name}: expected channels along dim 0 and whole zero points, got {quantizer.scheme} along "
                f"dim {quantizer.axis}"
            )
        self.scales, self.zero_points = quantizer.scales.to(float32), quantizer.zero_points

    def unpack(self) -> tuple:
        """(weight, bias), as they were packed."""
        return self.weight, self.kept_bias

    def bias(self) -> Tensor | None:
        """The bias, in numbers."""
        return self.kept_bias

    def product_scales(self, scale: float) -> Tensor:
        """input scale * weight scale in float32, for each channel."""
        return self.scales * single(scale)


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
        super().__init__("linear_prepack", weight, bias, 2)
        self.columns = packed_columns(engine.integers_of(weight), self.zero_points)

    def rows(self, integers: Tensor) -> Tensor:
        """The integers of an input as a matrix."""
        depth = self.weight.shape[1]
        if integers.ndim == 0 or integers.shape[-1] != depth:
            raise RuntimeError(
                f"quantized::linear: the weight takes {depth} numbers in the last dim, got {list(integers.shape)}"
            )
        return integers if integers.ndim == 2 else integers.reshape(integers.shape[:-1].numel(), depth)

    def shaped(self, found: Tensor, like: Tensor) -> Tensor:
        """Rows of results in the shape of the input but for the last dim."""
        return found if like.ndim == 2 else found.view(*like.shape[:-1], self.weight.shape[0])

    def __reduce__(self):
        return LinearPackedParams, (self.weight, self.kept_bias)


def linear_prepack(W: Tensor, B: Tensor | None = None) -> LinearPackedParams:
    """A weight (qint8, [out, in]) and a bias (float32, [out]) in the form that `linear` takes."""
    return LinearPackedParams(W, B)


def linear_unpack(W_prepack: LinearPackedParams) -> tuple:
    """(weight, bias), as they were packed."""
    return W_prepack.unpack()


def check_packed(name: str, packed, kind: type) -> None:
    if not isinstance(packed, kind):
        raise TypeError(f"quantized::{name}: expected what {name}_prepack returns, got {type(packed).__name__}")


def check_input(name: str, X) -> PerTensor:
    if not is_quantized(X) or X.dtype is not quint8 or isinstance(quantizer_of(X), PerChannel):
        kind = f"{X.dtype.name}" if isinstance(X, Tensor) else type(X).__name__
        raise RuntimeError(f"quantized::{name}: expected an input of type quint8, quantized per tensor, got {kind}")
    return quantizer_of(X)


def product(X: Tensor, packed: LinearPackedParams, scale: float, zero_point: int, relu: bool) -> Tensor:
    quantizer, made = check_input("linear", X), PerTensor(scale, zero_point)
    check_packed("linear", packed, LinearPackedParams)
    found = packed.columns.rounded(
        packed.rows(engine.integers_of(X)), quantizer.zero_point, packed.bias(),
        packed.product_scales(quantizer.scale), single(made.scale), made.zero_point, made.zero_point if relu else 0,
    )  # fmt: skip
    return quantized(packed.shaped(found, X), made)


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
    check_packed("linear", packed, LinearPackedParams)
    rows = packed.rows(X.detach())
    if not rows.numel():
        raise RuntimeError(f"quantized::linear_dynamic: expected numbers, got shape {list(X.shape)}")
    scale, zero_point = range_parameters(rows, 0, 127 if reduce_range else 255)
    integers = quantize_affine(dense(rows), inverse(scale), zero_point, dtypes.uint8)
    found = packed.columns.scaled(integers, zero_point, packed.bias(), packed.product_scales(scale), least)
    return packed.shaped(found, X)


def linear_dynamic(X: Tensor, W_prepack: LinearPackedParams, reduce_range: bool = False) -> Tensor:
    """X @ weight.T + bias as float32: X is quantized by its range first."""
    return dynamic(X, W_prepack, reduce_range, float("-inf"))


def linear_relu_dynamic(X: Tensor, W_prepack: LinearPackedParams, reduce_range: bool = False) -> Tensor:
    """max(X @ weight.T + bias, 0) as float32: X is quantized by its range first."""
    return dynamic(X, W_prepack, reduce_range, 0.0)
