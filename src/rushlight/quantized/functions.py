"""Making quantized tensors, reading them, and asking for their parameters: the functions of the torch namespace."""

from __future__ import annotations

from ..core import engine
from ..core.engine import Tensor
from ..ir import dtypes
from ..ir.dtypes import DType
from ..ops import memory_format
from ..ops.checks import scalar_type
from ..ops.creation import fresh, sizes_of
from ..ops.declare import composite
from ..ops.memory_format import contiguous_format, preserve_format
from . import kernels
from .quantizers import (
    QUANTIZED,
    PerChannel,
    PerTensor,
    inverse,
    is_quantized,
    limits,
    quantized,
    quantizer_of,
    representation,
    single,
)


def require_quantized(name: str, input) -> None:
    """NotImplementedError for other tensors, TypeError for what is none."""
    if not isinstance(input, Tensor):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    if not input.is_quantized:
        raise NotImplementedError(
            f"Could not run 'aten::{name}' with arguments from the 'CPU' backend: the tensor of type "
            f"{input.dtype.name} is not quantized; make one with quantize_per_tensor() or quantize_per_channel()"
        )


def dense(tensor: Tensor) -> Tensor:
    """A tensor whose elements lie row-major or in channels_last, as those of new quantized tensors do."""
    if tensor.is_contiguous() or (tensor.ndim == 4 and tensor.is_contiguous(memory_format=memory_format.channels_last)):
        return tensor
    return tensor.contiguous()


def require_float(name: str, input) -> None:
    if not isinstance(input, Tensor):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    if input.is_quantized:
        raise NotImplementedError(
            f"Could not run 'aten::{name}' with arguments from the 'QuantizedCPU' backend: the tensor is quantized "
            "already; dequantize() it first"
        )
    if input.dtype is not dtypes.float32:
        raise RuntimeError(f"Quantize only works on Float Tensor, got {scalar_type(input.dtype)}")


# -- quantize ---------------------------------------------------------------------------------------
@composite
def quantize_per_tensor(input, scale, zero_point, dtype):
    """The float tensor as integers with one scale and zero point: round(input / scale + zero_point), saturating.

    Args:
        input: float32 of any shape, or a list of such tensors
        scale: a number, or a tensor of one; for a list of tensors a tensor of a scale for each
        zero_point: the integer that stands for 0.0, in the range of the dtype, or tensors as for `scale`
        dtype: quint8, qint8 or qint32

    Returns: a quantized tensor of the same shape; a tuple of them for a list.

    Raises:
        RuntimeError: the input is not float32, the dtype not quantized, the zero point out of its range

    >>> x = rushlight.quantize_per_tensor(rushlight.tensor([-1.0, 0.0, 2.0]), 0.1, 10, rushlight.quint8)
    >>> x
    tensor([-1.,  0.,  2.], size=(3,), dtype=rushlight.quint8,
           quantization_scheme=rushlight.per_tensor_affine, scale=0.1, zero_point=10)
    >>> x.int_repr()
    tensor([ 0, 10, 30], dtype=rushlight.uint8)
    """
    if isinstance(input, (list, tuple)):
        return tuple(
            quantize_per_tensor(part, scale[place], zero_point[place], dtype) for place, part in enumerate(input)
        )
    require_float("quantize_per_tensor", input)
    integer = representation(dtype)
    quantizer = PerTensor(as_scale("quantize_per_tensor", scale), as_zero_point("quantize_per_tensor", zero_point))
    check_zero_point("quantize_tensor_per_tensor_affine", quantizer.zero_point, integer)
    return quantized(affine_integers(input, quantizer, integer), quantizer)


def affine_integers(input: Tensor, quantizer: PerTensor, integer: DType) -> Tensor:
    """The integers that a quantizer makes of floats."""
    return kernels.quantize_affine(dense(input.detach()), inverse(quantizer.scale), quantizer.zero_point, integer)


def as_scale(name: str, scale) -> float:
    """A scale given as a number or as a tensor of one."""
    if isinstance(scale, bool) or (not isinstance(scale, (Tensor, float, int)) and not hasattr(scale, "__float__")):
        raise TypeError(f"{name}(): argument 'scale' must be float, not {type(scale).__name__}")
    return scale.item() if isinstance(scale, Tensor) else float(scale)


def as_zero_point(name: str, zero_point) -> int:
    """A zero point given as an integer or as a tensor of one."""
    if isinstance(zero_point, Tensor):
        return int(zero_point.item())
    if isinstance(zero_point, bool) or not hasattr(zero_point, "__index__"):
        raise TypeError(f"{name}(): argument 'zero_point' must be int, not {type(zero_point).__name__}")
    return zero_point.__index__()


def check_zero_point(name: str, zero_point: int, integer: DType) -> None:
    low, high = limits(integer)
    if zero_point > high:
        raise RuntimeError(f"{name} zero_point {zero_point} is above upper bound {high} of {integer.name}.")
    if zero_point < low:
        raise RuntimeError(f"{name} zero_point {zero_point} is below lower bound {low} of {integer.name}.")


@composite
def quantize_per_channel(input, scales, zero_points, axis: int, dtype):
    """The float tensor as integers with a scale and zero point for each place along a dim.

    Args:
        input: float32 of any shape
        scales: floats[input.shape[axis]]
        zero_points: integers of as many; floats are added before rounding (`per_channel_affine_float_qparams`)
        axis: the dim of the channels, not negative
        dtype: quint8, qint8 or qint32

    Raises:
        RuntimeError: input, scales or dtype are of another kind, or a zero point is out of range

    >>> weight = rushlight.tensor([[1.0, 2.0], [10.0, 20.0]])
    >>> scales, zero_points = rushlight.tensor([0.1, 1.0]), rushlight.tensor([0, 5])
    >>> rushlight.quantize_per_channel(weight, scales, zero_points, 0, rushlight.qint8).int_repr()
    tensor([[10, 20],
            [15, 25]], dtype=rushlight.int8)
    """
    require_float("quantize_per_channel", input)
    integer = representation(dtype)
    quantizer = channels("quantize_per_channel", scales, zero_points, axis)
    quantizer.check(input.shape)
    if len(quantizer.zero_points) and not quantizer.zero_points.is_floating_point():
        for extreme in (quantizer.zero_points.max(), quantizer.zero_points.min()):
            check_zero_point("quantize_tensor_per_channel_affine", extreme.item(), integer)
    shaped = quantizer.along(input.ndim)
    return quantized(kernels.quantize_channels(dense(input.detach()), *shaped, integer), quantizer)


def channels(name: str, scales, zero_points, axis: int) -> PerChannel:
    """The quantizer of a user's scales and zero points."""
    for title, part in (("scales", scales), ("zero_points", zero_points)):
        if not isinstance(part, Tensor):
            raise TypeError(f"{name}(): argument '{title}' must be Tensor, not {type(part).__name__}")
    if not scales.is_floating_point():
        raise RuntimeError("scale tensor must be floating point")
    if scales.ndim != 1:
        raise RuntimeError(f"scale tensor must have dimension 1, got shape {list(scales.shape)}")
    if zero_points.ndim != 1:
        raise RuntimeError(f"zero_points tensor must have dimension 1, got shape {list(zero_points.shape)}")
    if scales.numel() != zero_points.numel():
        raise RuntimeError(
            f"number of elements in scales and zero_points must match, got {scales.numel()} and {zero_points.numel()}"
        )
    return PerChannel(scales, zero_points, axis.__index__())


@composite
def quantize_per_tensor_dynamic(input, dtype, reduce_range: bool):
    """`quantize_per_tensor` with the scale and zero point that suit the range of the input; float16 is a cast.

    reduce_range  whether to use one bit less, so that sums of products fit in 16 bits

    >>> rushlight.quantize_per_tensor_dynamic(rushlight.tensor([-1.0, 0.0, 1.0]), rushlight.quint8, False).int_repr()
    tensor([  1, 128, 255], dtype=rushlight.uint8)
    """
    require_float("quantize_per_tensor_dynamic", input)
    if dtype is dtypes.float16:
        return input.to(dtypes.float16)
    integer = representation(dtype)
    if integer is dtypes.int32:
        raise RuntimeError(f"quantize_per_tensor_dynamic: dtype {dtype} is not supported; use quint8 or qint8")
    low, high = limits(integer)
    scale, zero_point = range_parameters(input, *((low // 2, high // 2) if reduce_range else (low, high)))
    return quantize_per_tensor(input, scale, zero_point, dtype)


def range_parameters(input: Tensor, low: int, high: int) -> tuple[float, int]:
    """The scale and zero point with which the range of a tensor fits in the integers from `low` to `high`."""
    least, most = input.detach().aminmax()
    if not bool(least <= most):
        raise RuntimeError("In ChooseQuantizationParams, min should be less than or equal to max")
    scale, zero_point = kernels.parameters_of_range(least, most, low, high, False)
    return scale.item(), zero_point.item()


@composite
def _choose_qparams_per_tensor(input, reduce_range: bool = False) -> tuple[float, int]:
    """The scale and zero point with which the range of a tensor fits in quint8 (in 7 bits with `reduce_range`)."""
    return range_parameters(input, 0, 127 if reduce_range else 255)


# -- back -------------------------------------------------------------------------------------------
@composite(method=True)
def dequantize(input):
    """The numbers that a quantized tensor stands for, as float32; a tuple of such tensors for a list.

    Tensors that are not quantized are cast to float32.

    >>> x = rushlight.quantize_per_tensor(rushlight.tensor([0.1, 0.26]), 0.1, 0, rushlight.quint8)
    >>> x.dequantize()
    tensor([0.1000, 0.3000])
    """
    if isinstance(input, (list, tuple)):
        return tuple(map(dequantize, input))
    if not is_quantized(input):
        return input.to(dtypes.float32)
    quantizer = quantizer_of(input)
    integers = dense(engine.integers_of(input))
    if isinstance(quantizer, PerTensor):
        return kernels.dequantize_affine(integers, single(quantizer.scale), quantizer.zero_point)
    return kernels.dequantize_channels(integers, *quantizer.along(input.ndim))


@composite(method=True)
def int_repr(input):
    """The integers of a quantized tensor, copied: uint8, int8 or int32.

    >>> rushlight.quantize_per_tensor(rushlight.tensor([0.5]), 0.1, 0, rushlight.qint8).int_repr()
    tensor([5], dtype=rushlight.int8)
    """
    require_quantized("int_repr", input)
    return dense(engine.integers_of(input)).clone()


# -- parameters -------------------------------------------------------------------------------------
@composite(method=True, public=False)
def qscheme(input):
    """How the integers of a quantized tensor are read: one of the constants of type `rushlight.qscheme`."""
    require_quantized("qscheme", input)
    return quantizer_of(input).scheme


def of_kind(name: str, input, kind: type):
    require_quantized(name, input)
    quantizer = quantizer_of(input)
    if not isinstance(quantizer, kind):
        wanted = "per tensor" if kind is PerTensor else "per channel"
        raise RuntimeError(f"{name}: expected a tensor that is quantized {wanted}, got one of {quantizer.scheme}")
    return quantizer


@composite(method=True)
def q_scale(input) -> float:
    """The scale of a tensor that is quantized per tensor."""
    return of_kind("q_scale", input, PerTensor).scale


@composite(method=True)
def q_zero_point(input) -> int:
    """The zero point of a tensor that is quantized per tensor."""
    return of_kind("q_zero_point", input, PerTensor).zero_point


@composite(method=True)
def q_per_channel_scales(input):
    """The scales of a tensor that is quantized per channel: float64[channels]."""
    return of_kind("q_per_channel_scales", input, PerChannel).scales


@composite(method=True)
def q_per_channel_zero_points(input):
    """The zero points of a tensor that is quantized per channel: int64[channels]."""
    return of_kind("q_per_channel_zero_points", input, PerChannel).zero_points


@composite(method=True)
def q_per_channel_axis(input) -> int:
    """The dim of the channels of a tensor that is quantized per channel."""
    return of_kind("q_per_channel_axis", input, PerChannel).axis


# -- from integers ----------------------------------------------------------------------------------
@composite
def empty_quantized(size, qtensor, *, dtype=None, layout=None, device=None, pin_memory=False, memory_format=None):
    """An uninitialised quantized tensor with the parameters of another one."""
    require_quantized("empty_quantized", qtensor)
    integer = representation(qtensor.dtype if dtype is None else dtype)
    return quantized(empty_integers((size,), integer, device, memory_format), quantizer_of(qtensor))


@composite
def _empty_affine_quantized(
    *size, dtype=None, layout=None, device=None, pin_memory=False, scale=1.0, zero_point=0,
    memory_format=contiguous_format, requires_grad=False,
):  # fmt: skip
    """An uninitialised tensor that is quantized per tensor."""
    refuse_gradient(requires_grad)
    name = "_empty_affine_quantized"
    quantizer = PerTensor(as_scale(name, scale), as_zero_point(name, zero_point))
    return quantized(empty_integers(size, representation(dtype), device, memory_format), quantizer)


@composite
def _empty_per_channel_affine_quantized(
    *size, scales, zero_points, axis: int, dtype=None, layout=None, device=None, pin_memory=False,
    memory_format=contiguous_format, requires_grad=False,
):  # fmt: skip
    """An uninitialised tensor that is quantized per channel."""
    refuse_gradient(requires_grad)
    quantizer = channels("_empty_per_channel_affine_quantized", scales, zero_points, axis)
    return quantized(empty_integers(size, representation(dtype), device, memory_format), quantizer)


def empty_integers(size, integer: DType, device, format) -> Tensor:
    if device is not None:
        engine.require_device(device)
    made = fresh(sizes_of(size), integer)
    if format in (None, contiguous_format, preserve_format):
        return made
    return made.contiguous(memory_format=format)


def refuse_gradient(requires_grad: bool) -> None:
    if requires_grad:
        raise RuntimeError("only Tensors of floating point dtype can require gradients; quantized ones are of integers")


@composite
def _make_per_tensor_quantized_tensor(input, scale, zero_point):
    """A copy of integers (uint8, int8 or int32) as a tensor that is quantized per tensor."""
    name = "_make_per_tensor_quantized_tensor"
    return quantized(own_integers(input), PerTensor(as_scale(name, scale), as_zero_point(name, zero_point)))


@composite
def _make_per_channel_quantized_tensor(input, scale, zero_point, axis: int):
    """A copy of integers (uint8, int8 or int32) as a tensor that is quantized per channel."""
    quantizer = channels("_make_per_channel_quantized_tensor", scale, zero_point, axis)
    return quantized(own_integers(input), quantizer)


def own_integers(input: Tensor) -> Tensor:
    if input.dtype not in QUANTIZED:
        raise RuntimeError(
            f"Creation of quantized tensor requires integers of type uint8, int8 or int32, got {input.dtype.name}"
        )
    return dense(input).clone()
