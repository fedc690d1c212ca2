"""Views and rearrangements: those of the integers, read by the same quantizer.

With one scale for all elements every function of the catalogue that only moves elements serves. Channels allow for what
keeps them along one dim.
"""

from __future__ import annotations

from ..core import engine
from ..core.engine import Tensor
from ..ir.dtypes import DType
from ..ops.declare import FUNCTIONS, METHODS, OPS
from .dispatch import implements
from .quantizers import PerChannel, PerTensor, adopt, quantizer_of, rewrap

MOVES = (
    "adjoint", "as_strided", "broadcast_to", "channel_shuffle", "chunk", "contiguous", "diagonal", "expand",
    "expand_as", "flatten", "flip", "index_select", "masked_select", "movedim", "narrow", "narrow_copy", "permute",
    "pixel_shuffle", "pixel_unshuffle", "ravel", "repeat", "reshape", "select", "split", "split_with_sizes",
    "squeeze", "swapaxes", "swapdims", "t", "tensor_split", "tile", "transpose", "unbind", "unflatten", "unfold",
    "unsqueeze", "view", "view_as", "windows",
)  # fmt: skip
IN_PLACE = ("movedim_", "squeeze_", "swapaxes_", "swapdims_", "t_", "transpose_", "unsqueeze_")


def dense_form(name: str):
    """The function or method of the catalogue."""
    return METHODS.get(name) or FUNCTIONS.get(name) or OPS[name]


def wrapped(found, source: Tensor):
    """Integers as quantized tensors again, each of a tuple."""
    if isinstance(found, (tuple, list)):
        return tuple(rewrap(part, source) for part in found)
    return rewrap(found, source)


def declare_move(name: str) -> None:
    def move(input, *args, **kwargs):
        quantizer = quantizer_of(input)
        if name == "view" and any(isinstance(value, DType) for value in (*args, *kwargs.values())):
            raise RuntimeError(f"{name}: a quantized tensor is not read as another dtype; use Tensor.int_repr()")
        if isinstance(quantizer, PerChannel):
            return move_channels(name, input, quantizer, args, kwargs)
        integers = engine.integers_of(input)
        found = dense_form(name)(integers, *args, **kwargs)
        return input if found is integers else wrapped(found, input)

    implements(name)(move)


for _name in MOVES:
    declare_move(_name)


def declare_in_place(name: str) -> None:
    def move(input, *args, **kwargs):
        found = METHODS[name[:-1]](input, *args, **kwargs)
        return adopt(input, found)

    implements(name)(move)


for _name in IN_PLACE:
    declare_in_place(_name)


# -- what the core asks for -------------------------------------------------------------------------
@implements("cut")
def cut(input: Tensor, dim: int, bounds: list) -> tuple:
    """Views of the parts of a dim between bounds."""
    dim = wrap(dim, input.ndim)
    parts = engine.cut(engine.integers_of(input), dim, bounds)
    if isinstance(quantizer_of(input), PerTensor):
        return wrapped(parts, input)
    return tuple(rewrap(p, input, narrowed(input, dim, a, b)) for p, a, b in zip(parts, bounds, bounds[1:]))


def narrowed(input: Tensor, dim: int, begin: int, end: int, step: int = 1):
    """The quantizer of a part of a dim."""
    quantizer = quantizer_of(input)
    if dim != quantizer.axis or ((begin, step) == (0, 1) and end == input.shape[dim]):
        return quantizer
    return quantizer.part(begin, end, step)


def wrap(dim: int, ndim: int) -> int:
    if not -ndim <= dim < ndim:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {dim})")
    return dim % ndim


@implements("strided_view")
def strided_view(input: Tensor, shape, strides, offset) -> Tensor:
    """Any shape and strides that stay within the storage."""
    if isinstance(quantizer_of(input), PerChannel):
        refuse_strides()
    return rewrap(engine.strided_view(engine.integers_of(input), shape, strides, offset), input)


def refuse_strides():
    raise RuntimeError(
        "Setting strides is possible only on uniformly quantized tensor; dequantize() it first, or quantize it per "
        "tensor"
    )


@implements("getitem")
def getitem(input: Tensor, index):
    """Integers and slices make views; tensors and lists of indices copies."""
    quantizer = quantizer_of(input)
    if isinstance(quantizer, PerTensor):
        return rewrap(engine.integers_of(input)[index], input)
    items = list(index) if isinstance(index, tuple) else [index]
    if any(not isinstance(item, (int, slice)) and item is not None and item is not Ellipsis for item in items):
        raise RuntimeError("tensors that are quantized per channel take integers and slices as indices alone")
    return rewrap(engine.integers_of(input)[index], input, indexed(input, quantizer, items))


def indexed(input: Tensor, quantizer: PerChannel, items: list):
    """The quantizer of what integers, slices, None and `...` leave of the channels."""
    taken = sum(isinstance(item, (int, slice)) for item in items)
    if Ellipsis not in items:
        items = [*items, Ellipsis]
    place = items.index(Ellipsis)
    items[place : place + 1] = [slice(None)] * (input.ndim - taken)
    dim, axis = 0, 0
    for item in items:
        if item is not None and dim == quantizer.axis:
            return at_axis(quantizer, item, axis, input.shape[dim])
        axis += not isinstance(item, int)
        dim += item is not None
    raise IndexError(f"too many indices for tensor of dimension {input.ndim}")


def at_axis(quantizer: PerChannel, item, axis: int, size: int):
    """The quantizer of the channels that an integer or a slice leaves, along another dim."""
    if isinstance(item, int):
        return quantizer.part(item % size, item % size + 1)
    begin, end, step = item.indices(size)
    if (begin, step) == (0, 1) and end == size:
        return quantizer.moved(axis)
    part = quantizer.part(begin, end, step)
    return part.moved(axis) if isinstance(part, PerChannel) else part


# -- channels ---------------------------------------------------------------------------------------
def move_channels(name: str, input: Tensor, quantizer: PerChannel, args: tuple, kwargs: dict):
    """A rearrangement of a tensor that is quantized per channel; RuntimeError where channels would not stay one dim."""
    if name in ("view", "reshape", "flatten", "ravel", "view_as", "contiguous", "unflatten"):
        integers = engine.integers_of(input)
        found = dense_form(name)(integers, *args, **kwargs)
        return input if found is integers else wrapped(found, input)
    if name not in CHANNELS:
        refuse_strides()
    return CHANNELS[name](input, *args, **kwargs)


def select(input: Tensor, dim: int, index: int) -> Tensor:
    items = [slice(None)] * wrap(dim, input.ndim) + [int(index)]
    return getitem(input, tuple(items))


def narrow(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    part = engine.integers_of(input).narrow(dim, start, length)
    dim = wrap(dim, input.ndim)
    start = int(start) % max(input.shape[dim], 1) if int(start) < 0 else int(start)
    return rewrap(part, input, narrowed(input, dim, start, start + length))


def unbind(input: Tensor, dim: int = 0) -> tuple:
    return tuple(select(input, dim, place) for place in range(input.shape[wrap(dim, input.ndim)]))


def in_parts(name: str):
    """The parts of `split` and `chunk`, by their sizes."""

    def function(input: Tensor, sizes, dim: int = 0) -> tuple:
        parts = dense_form(name)(engine.integers_of(input), sizes, dim)
        lengths = [part.shape[dim] for part in parts]
        bounds = [sum(lengths[:place]) for place in range(len(lengths) + 1)]
        return cut(input, dim, bounds)

    return function


def unsqueeze(input: Tensor, dim: int) -> Tensor:
    quantizer = quantizer_of(input)
    place = wrap(dim, input.ndim + 1)
    return rewrap(
        engine.integers_of(input).unsqueeze(dim), input, quantizer.moved(quantizer.axis + (place <= quantizer.axis))
    )


def squeeze(input: Tensor, dim=None) -> Tensor:
    integers, quantizer = engine.integers_of(input), quantizer_of(input)
    dims = range(input.ndim) if dim is None else [wrap(d, input.ndim) for d in (dim if type(dim) is tuple else (dim,))]
    gone = [d for d in dims if input.shape[d] == 1]
    if quantizer.axis in gone:
        return rewrap(integers.squeeze(tuple(gone)), input, quantizer.part(0, 1))
    axis = quantizer.axis - sum(d < quantizer.axis for d in gone)
    return rewrap(integers.squeeze(tuple(gone)), input, quantizer.moved(axis))


CHANNELS = {
    "chunk": in_parts("chunk"),
    "narrow": narrow,
    "select": select,
    "split": in_parts("split"),
    "split_with_sizes": in_parts("split_with_sizes"),
    "squeeze": squeeze,
    "unbind": unbind,
    "unsqueeze": unsqueeze,
}
