"""Copies, and what is written into quantized tensors."""

from __future__ import annotations

from .. import ops
from ..core import engine
from ..core.engine import Tensor
from ..ir import dtypes
from ..ir.dtype_names import REPRESENTATION
from ..ops import memory_format as formats
from ..ops.checks import scalar_type
from . import kernels
from .dispatch import implements
from .functions import affine_integers, dense, dequantize
from .quantizers import (
    PerChannel,
    PerTensor,
    adopt,
    is_quantized,
    quantized,
    quantizer_of,
    rewrap,
)
from .shape import getitem


def integers_for(values: Tensor, dtype, quantizer) -> Tensor:
    """The integers that a quantizer makes of a float32 tensor."""
    integer = REPRESENTATION[dtype]
    if isinstance(quantizer, PerTensor):
        return affine_integers(values, quantizer, integer)
    return kernels.quantize_channels(dense(values.detach()), *quantizer.along(values.ndim), integer)


@implements("clone", "__copy__")
def clone(input: Tensor, *, memory_format=formats.preserve_format) -> Tensor:
    """The same integers in fresh memory."""
    integers = engine.integers_of(input)
    if memory_format is formats.preserve_format:
        made = dense(integers)
        made = made.clone() if made is integers else made
    else:
        made = integers.clone(memory_format=memory_format)
    return quantized(made, quantizer_of(input))


@implements("tensor")
def tensor(data: Tensor, *, dtype=None, device=None, requires_grad=False, pin_memory=False) -> Tensor:
    """A copy."""
    if requires_grad or (dtype is not None and dtype is not data.dtype):
        raise RuntimeError(f"tensor: a copy of a tensor of type {data.dtype.name} has this type, and no gradient")
    return clone(data)


@implements("to")
def to(input: Tensor, *args, **kwargs) -> Tensor:
    """The tensor itself for its own dtype and device; RuntimeError for other dtypes."""
    wanted = kwargs.get("dtype"), kwargs.get("device"), kwargs.get("other")
    for value in (*args, *wanted):
        value = value.dtype if isinstance(value, Tensor) else value
        if isinstance(value, dtypes.DType) and value is not input.dtype:
            raise RuntimeError(
                f"to: a tensor of type {input.dtype.name} cannot be cast to {value.name}; use Tensor.dequantize() for "
                "the numbers, or Tensor.int_repr() for the integers"
            )
        if isinstance(value, (str, engine.Device)):
            engine.require_device(value)
    copies = kwargs.get("copy") or (len(args) == 4 and args[3]) or (len(args) == 3 and not isinstance(args[0], str))
    return clone(input) if copies is True else input


def declare_cast(name: str, dtype) -> None:
    implements(name)(lambda input, *args, **kwargs: to(input, dtype))


for _name, _dtype in {
    "float": dtypes.float32, "double": dtypes.float64, "half": dtypes.float16, "bfloat16": dtypes.bfloat16,
    "int": dtypes.int32, "long": dtypes.int64, "short": dtypes.int16, "char": dtypes.int8, "byte": dtypes.uint8,
    "bool": dtypes.bool_,
}.items():  # fmt: skip
    declare_cast(_name, _dtype)


@implements("copy_")
def copy_(input: Tensor, src, non_blocking=False) -> Tensor:
    """Take over the integers and the quantizer of a quantized tensor, or quantize float32 numbers.

    Raises:
        RuntimeError: dtypes or schemes differ, or numbers are to be copied to a tensor that is not quantized
    """
    if not is_quantized(input):
        raise RuntimeError(
            "Copying from quantized Tensor to non-quantized Tensor is not allowed, please use dequantize to get a "
            "float Tensor from a quantized Tensor"
        )
    require_shape(input, src)
    if not is_quantized(src):
        return written(input, src)
    require_same_kind(input, src)
    engine.integers_of(input).copy_(engine.integers_of(src))
    if quantizer_of(input) is quantizer_of(src):
        return input
    return adopt(input, rewrap(engine.integers_of(input), input, quantizer_of(src)))


def require_same_kind(input: Tensor, src: Tensor) -> None:
    if input.dtype is not src.dtype:
        raise RuntimeError(f"Quantized copy: expected a tensor of type {input.dtype.name}, got {src.dtype.name}")
    if quantizer_of(input).scheme is not quantizer_of(src).scheme:
        raise RuntimeError(
            f"Quantized Copy only works with same qscheme, got {quantizer_of(input).scheme} and "
            f"{quantizer_of(src).scheme}"
        )


def require_shape(input: Tensor, src: Tensor) -> None:
    if tuple(input.shape) != tuple(src.shape):
        raise RuntimeError(
            f"Quantized copy only works with Tensors with the same shape, got {list(input.shape)} and {list(src.shape)}"
        )


def written(target: Tensor, values: Tensor) -> Tensor:
    """Quantize float32 numbers into a quantized tensor with its own quantizer."""
    if values.dtype is not dtypes.float32:
        raise RuntimeError(f"Quantized copy only works with kFloat as source Tensor, got {scalar_type(values.dtype)}")
    engine.integers_of(target).copy_(integers_for(values, target.dtype, quantizer_of(target)))
    return target


@implements("fill_")
def fill_(input: Tensor, value) -> Tensor:
    """The number that is nearest to `value`, everywhere."""
    number = value.item() if isinstance(value, Tensor) else value
    if isinstance(quantizer_of(input), PerTensor):
        engine.integers_of(input).fill_(integer_of(input, number))
        return input
    return written(input, ops.FUNCTIONS["full"](tuple(input.shape), float(number), dtype=dtypes.float32))


def integer_of(input: Tensor, number: float) -> int:
    """The integer that stands for a number in a tensor that is quantized per tensor."""
    values = ops.FUNCTIONS["full"]((), float(number), dtype=dtypes.float32)
    return affine_integers(values, quantizer_of(input), REPRESENTATION[input.dtype]).item()


@implements("setitem")
def setitem(input: Tensor, index, value) -> None:
    """Write numbers, or a quantized tensor's, at an index; they take the quantizer that is there."""
    if not is_quantized(input):
        raise RuntimeError(
            "Copying from quantized Tensor to non-quantized Tensor is not allowed, please use dequantize to get a "
            "float Tensor from a quantized Tensor"
        )
    if not isinstance(value, Tensor):
        value = ops.tensor(value, dtype=dtypes.float32)
    if is_quantized(value):
        require_same_kind(input, value)
        value = dequantize(value)
    if isinstance(quantizer_of(input), PerTensor):
        values = integers_for(value.to(dtypes.float32), input.dtype, quantizer_of(input))
        engine.integers_of(input)[index] = values
        return
    target = getitem(input, index)
    written(target, value.to(dtypes.float32).expand(target.shape))


@implements("fill_masked_")
def fill_masked_(input: Tensor, mask: Tensor, value) -> Tensor:
    """The number nearest to `value` where the mask is true."""
    require_per_tensor("masked_fill", input)
    number = value.item() if isinstance(value, Tensor) else value
    engine.integers_of(input).masked_fill_(mask, integer_of(input, number))
    return input


@implements("fill_both")
def fill_both(input: Tensor, mask: Tensor, value) -> Tensor:
    """A copy with the number nearest to `value` where the mask is true."""
    return fill_masked_(clone(input), mask, value)


def require_per_tensor(name: str, *tensors: Tensor) -> None:
    """RuntimeError unless tensors are quantized with one scale."""
    for tensor in tensors:
        if isinstance(quantizer_of(tensor), PerChannel):
            raise RuntimeError(
                f"Only per-tensor quantization is supported in '{name}'; got a tensor of {quantizer_of(tensor).scheme}"
            )


@implements("cat")
def cat(tensors, dim: int = 0) -> Tensor:
    """Tensors behind each other, with the quantizer of the first; others are quantized anew where theirs differs."""
    tensors = list(tensors)
    if not all(map(is_quantized, tensors)) or len({t.dtype for t in tensors}) > 1:
        raise RuntimeError(f"cat: All dtypes must be the same, got {[t.dtype.name for t in tensors]}")
    require_per_tensor("cat", *tensors)
    return quantized(ops.cat([as_read_by(t, tensors[0]) for t in tensors], dim), quantizer_of(tensors[0]))


@implements("stack")
def stack(tensors, dim: int = 0) -> Tensor:
    """Tensors along a new dim, as `cat` joins them."""
    tensors = list(tensors)
    if len({tuple(t.shape) for t in tensors}) > 1:
        raise RuntimeError(f"stack expects each tensor to be equal size, but got {[list(t.shape) for t in tensors]}")
    return cat([t.unsqueeze(dim) for t in tensors], dim if dim >= 0 else dim + tensors[0].ndim + 1)


def as_read_by(tensor: Tensor, other: Tensor) -> Tensor:
    """The integers of a tensor as the quantizer of another would have them."""
    if quantizer_of(tensor).is_same(quantizer_of(other)):
        return engine.integers_of(tensor)
    return integers_for(dequantize(tensor), other.dtype, quantizer_of(other))


@implements("resize_")
def resize_(input: Tensor, *sizes, size=None, memory_format=formats.contiguous_format) -> Tensor:
    """Another shape, row-major; elements stay in memory as far as there are enough."""
    from ..ops.creation import fresh, sizes_of

    require_per_tensor("resize_", input)
    shape = sizes_of(sizes, size)
    integers = engine.integers_of(input)
    made = fresh(shape, integers.dtype)
    available = min(made.numel(), input.untyped_storage().nbytes() // made.itemsize - input.storage_offset())
    flat = engine.strided_view(integers, (available,), (1,), input.storage_offset())
    if available == made.numel():
        return adopt(input, rewrap(flat.view(shape), input))
    made.view(-1)[:available].copy_(flat)
    return adopt(input, rewrap(made, input))


@implements("empty_like")
def empty_like(input: Tensor, *, dtype=None, layout=None, memory_format=formats.preserve_format, **options) -> Tensor:
    """An uninitialised tensor with the same quantizer."""
    if dtype is not None and dtype is not input.dtype:
        raise RuntimeError(f"empty_like: a quantized tensor of type {input.dtype.name} has no likes of type {dtype}")
    made = ops.FUNCTIONS["empty_like"](engine.integers_of(input), memory_format=memory_format)
    return quantized(made, quantizer_of(input))


@implements("ones_like")
def ones_like(input: Tensor, **options) -> Tensor:
    """A tensor with the same quantizer of what is nearest to 1.0."""
    return fill_(empty_like(input, **options), 1.0)


@implements("full_like")
def full_like(input: Tensor, fill_value, **options) -> Tensor:
    """A tensor with the same quantizer of what is nearest to a value."""
    return fill_(empty_like(input, **options), fill_value)
