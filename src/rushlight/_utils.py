"""`torch._utils`: the private functions that published programs use, of tensors in one row and of old checkpoints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from . import ops
from .core import Tensor, engine
from .data.worker import CaughtError
from .nn.parameter import Parameter
from .sparse import sparse_coo_tensor

__all__ = ["ExceptionWrapper"]


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """All elements of tensors of one dtype in one row, in their order.

    >>> from rushlight._utils import _flatten_dense_tensors
    >>> _flatten_dense_tensors([rushlight.ones(2, 1), rushlight.zeros(1)])
    tensor([1., 1., 0.])
    """
    return ops.cat([tensor.reshape(-1) for tensor in tensors])


def _unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Views of a row that have the sizes of the tensors, one after another."""
    parts = flat.split([tensor.numel() for tensor in tensors])
    return tuple(part.view(tensor.shape) for part, tensor in zip(parts, tensors))


def _flatten_sparse_tensors(tensors: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """The indices of sparse tensors in one row, and their values in another."""
    pairs = [(tensor._indices(), tensor._values()) for tensor in tensors]
    return tuple(_flatten_dense_tensors(list(parts)) for parts in zip(*pairs))


def _unflatten_sparse_tensors(flat: tuple[Tensor, Tensor], tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Sparse tensors of the given ones' sizes, of rows of indices and of values."""
    indices = _unflatten_dense_tensors(flat[0], [tensor._indices() for tensor in tensors])
    values = _unflatten_dense_tensors(flat[1], [tensor._values() for tensor in tensors])
    return tuple(sparse_coo_tensor(i, v, like.shape) for like, i, v in zip(tensors, indices, values))


def _take_tensors(tensors: Iterable[Tensor], size_limit: int) -> Iterator[list[Tensor]]:
    """Lists of tensors of one type each, of about `size_limit` bytes, in an order that only the types change."""
    waiting: dict[str, tuple[list[Tensor], int]] = {}
    for tensor in tensors:
        kind = tensor.type()
        size = (
            tensor._indices().nbytes + tensor._values().nbytes
            if tensor.is_sparse
            else tensor.numel() * tensor.element_size()
        )
        chosen, total = waiting.get(kind, ([], 0))
        if chosen and total + size > size_limit:
            yield chosen
            chosen, total = [], 0
        waiting[kind] = [*chosen, tensor], total + size
    yield from (chosen for chosen, _ in waiting.values())


def _reorder_tensors_as(tensors: Iterable[Tensor], ordered: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """Tensors that are sorted by type, in the order in which the types come in `ordered`."""
    by_kind: dict[str, list[Tensor]] = {}
    for tensor in tensors:
        by_kind.setdefault(tensor.type(), []).append(tensor)
    sources = {kind: iter(group) for kind, group in by_kind.items()}
    return tuple(next(sources[tensor.type()]) for tensor in ordered)


# -- what pickles of PyTorch's call: some programs replace these to read old files -------------------
def _rebuild_tensor(storage, storage_offset: int, size, stride) -> Tensor:
    """The tensor at a place of a typed storage."""
    return engine.make_tensor(storage._storage, storage_offset, tuple(size), tuple(stride), storage.dtype)


def _rebuild_tensor_v2(
    storage, storage_offset: int, size, stride, requires_grad: bool, backward_hooks, metadata=None
) -> Tensor:
    """`_rebuild_tensor` of a tensor that may require gradients."""
    return _rebuild_tensor(storage, storage_offset, size, stride).requires_grad_(requires_grad)


def _rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks) -> Parameter:
    """A parameter over the memory of `data`."""
    return Parameter(data, requires_grad)


# -- devices, of which there is one -----------------------------------------------------------------
def _get_available_device_type() -> None:
    """The kind of accelerator that is there: None."""


def _get_all_device_indices() -> None:
    """The accelerators that are there: None."""


def _get_device_index(device, optional: bool = False, allow_cpu: bool = False) -> int:
    """The number of a device: -1 for the processor where it is allowed.

    Raises:
        ValueError: for the processor otherwise
    """
    if isinstance(device, int):
        return device
    found = engine.Device("cpu" if device is None else device)
    if found.type == "cpu" and not (allow_cpu or (optional and device is None)):
        raise ValueError(f"Expected a device other than the processor, with its number, but got: {device}")
    return -1 if found.index is None else found.index


class ExceptionWrapper(CaughtError):
    """An exception on its way to another thread or process, where `reraise()` raises it with its first traceback."""

    def __init__(self, exc_info=None, where: str = "in background"):
        import sys

        super().__init__((exc_info or sys.exc_info())[1], where)
        self.exc_type, self.exc_msg, self.where = self.type, self.message, where
