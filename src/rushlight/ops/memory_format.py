"""Memory formats: names for the order of dims in memory."""

from __future__ import annotations

from ..core import engine
from ..ir import dtypes


class MemoryFormat:
    """A named order of dims: contiguous, channels_last (4 dims), channels_last_3d (5 dims), or preserve."""

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return f"{dtypes._MODULE}.{self.name}"

    def __reduce__(self):
        return (memory_format_named, (self.name,))


contiguous_format = MemoryFormat("contiguous_format")
preserve_format = MemoryFormat("preserve_format")
channels_last = MemoryFormat("channels_last")
channels_last_3d = MemoryFormat("channels_last_3d")
_ALL = {f.name: f for f in (contiguous_format, preserve_format, channels_last, channels_last_3d)}
engine.register_static_type(MemoryFormat)


def memory_format_named(name: str) -> MemoryFormat:
    """The format of a name."""
    return _ALL[name]


class TensorLayout:
    """How the elements of a tensor are kept, as `Tensor.layout` shows it: dense, or one of the sparse forms."""

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return f"{dtypes._MODULE}.{self.name}"

    def __reduce__(self):
        return (layout_named, (self.name,))


strided = TensorLayout("strided")
sparse_coo = TensorLayout("sparse_coo")
sparse_csr = TensorLayout("sparse_csr")
sparse_csc = TensorLayout("sparse_csc")
sparse_bsr = TensorLayout("sparse_bsr")
sparse_bsc = TensorLayout("sparse_bsc")
LAYOUTS = {x.name: x for x in (strided, sparse_coo, sparse_csr, sparse_csc, sparse_bsr, sparse_bsc)}
engine.bind("layouts", (strided, sparse_coo, sparse_csr, sparse_csc, strided))  # by the kind that a core layout has
engine.register_static_type(TensorLayout)


def layout_named(name: str) -> TensorLayout:
    """The layout of a name."""
    return LAYOUTS[name]


def channels_last_strides(shape, memory_format=channels_last) -> tuple:
    """Strides with channels (dim 1) innermost."""
    wanted = 4 if memory_format is channels_last else 5
    if len(shape) != wanted:
        raise RuntimeError(f"required rank {wanted} tensor to use {memory_format.name} format")
    strides = [0] * wanted
    step = 1
    for dim in (1, *range(wanted - 1, 1, -1), 0):
        strides[dim] = step
        step = step * max(shape[dim], 1) if isinstance(shape[dim], int) else shape[dim] * step
    return tuple(strides)


def is_contiguous_as(tensor, memory_format) -> bool:
    """Whether the tensor's memory has the format (dims of size 1 don't count)."""
    if memory_format is preserve_format:
        return True
    if tensor.ndim != (4 if memory_format is channels_last else 5):
        return False
    wanted = channels_last_strides(tensor.shape, memory_format)
    return all(n == 1 or s == w for n, s, w in zip(tensor.shape, tensor.stride(), wanted))


engine.bind("is_contiguous_as", is_contiguous_as)
