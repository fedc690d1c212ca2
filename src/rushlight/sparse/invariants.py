"""What the parts of sparse tensors must be. What an index out of range would do is never left open: ranges are always
checked; `check_sparse_tensor_invariants` adds the checks of order that only matter for results."""

from __future__ import annotations

from .. import ops
from ..core.engine import Tensor
from ..ir import dtypes
from . import lookup
from .parts import CSR

_state = {"enabled": False}


def is_enabled() -> bool:
    """Whether everything is checked."""
    return _state["enabled"]


class check_sparse_tensor_invariants:
    """Whether the making of sparse tensors checks the order of indices, too: a context manager and decorator.

    >>> with rushlight.sparse.check_sparse_tensor_invariants():
    ...     rushlight.sparse.check_sparse_tensor_invariants.is_enabled()
    True
    """

    def __init__(self, enable: bool = True):
        self.wanted, self.before = enable, None

    @staticmethod
    def is_enabled() -> bool:
        """Whether everything is checked."""
        return _state["enabled"]

    @staticmethod
    def enable() -> None:
        """Check everything from now on."""
        _state["enabled"] = True

    @staticmethod
    def disable() -> None:
        """Check ranges alone from now on."""
        _state["enabled"] = False

    def __enter__(self):
        if self.before is not None:
            raise RuntimeError("This context manager instance is already activated. Use a different context manager.")
        self.before, _state["enabled"] = _state["enabled"], self.wanted
        return self

    def __exit__(self, *exc):
        _state["enabled"], self.before = self.before, None

    def __call__(self, function):
        import functools

        @functools.wraps(function)
        def checked(*args, **kwargs):
            with type(self)(self.wanted):
                return function(*args, **kwargs)

        return checked


# -- coordinates --------------------------------------------------------------------------------
def check_sizes(indices: Tensor, values: Tensor, size) -> tuple:
    """The size of a COO tensor, given or the smallest that fits; RuntimeError if the parts do not fit together."""
    if indices.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(indices.shape)}")
    if values.ndim == 0:
        raise RuntimeError("values must have at least one dimension, the number of elements")
    sparse_dim, nnz = indices.shape
    if nnz != values.shape[0]:
        raise RuntimeError(
            f"indices and values must have same nnz, but got nnz from indices: {nnz}, nnz from values: "
            f"{values.shape[0]}"
        )
    if size is None:
        return (*smallest(indices), *values.shape[1:])
    shape = tuple(int(n) for n in ((size,) if isinstance(size, int) else size))
    if len(shape) != sparse_dim + values.ndim - 1:
        raise RuntimeError(
            "'len(size) == sparse_dim + dense_dim' is not satisfied: "
            f"len(size) = {len(shape)}, sparse_dim = {sparse_dim}, dense_dim = {values.ndim - 1}"
        )
    if shape[sparse_dim:] != tuple(values.shape[1:]):
        expected = [nnz, *shape[sparse_dim:]]
        raise RuntimeError(f"values has incorrect size, expected {expected}, got {list(values.shape)}")
    return shape


def smallest(indices: Tensor) -> list[int]:
    """The least sparse sizes that hold all indices."""
    if not indices.shape[1]:
        return [0] * indices.shape[0]
    least, most = extremes(indices)
    for d, low in enumerate(least):
        if low < 0:
            raise RuntimeError(f"found negative index {low} for dim {d}")
    return [n + 1 for n in most]


def extremes(indices: Tensor) -> tuple[list, list]:
    """The least and the greatest index of each dim."""
    if not indices.shape[0]:
        return [], []
    return ops.amin(indices, (1,)).tolist(), ops.amax(indices, (1,)).tolist()


def check_coordinates(indices: Tensor, shape: tuple) -> None:
    """RuntimeError for an index that is out of range."""
    if not indices.shape[1]:
        return
    for d, (low, high) in enumerate(zip(*extremes(indices))):
        if low < 0:
            raise RuntimeError(f"found negative index {low} for dim {d}")
        if high >= shape[d]:
            raise RuntimeError(
                f"size is inconsistent with indices: for dim {d}, size is {shape[d]} but found index {high}"
            )


def check_order(indices: Tensor, shape: tuple) -> None:
    """RuntimeError unless the indices are in order, each once."""
    from .convert import in_order

    if not in_order(lookup.keys(indices, shape[: indices.shape[0]])):
        raise RuntimeError(
            "cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor: they must be in "
            "lexicographic order, each once"
        )


# -- compressed ---------------------------------------------------------------------------------
def names(kind: int) -> tuple[str, str]:
    """What the index tensors of a kind are called."""
    return ("crow_indices", "col_indices") if kind == CSR else ("ccol_indices", "row_indices")


def compressed_size(kind: int, pointers: Tensor, places: Tensor, values: Tensor, size) -> tuple:
    """The size of a compressed tensor, given or the smallest that fits."""
    if pointers.ndim > 1:
        raise NotImplementedError("batches of compressed matrices are not supported; use a COO tensor or a list")
    if pointers.ndim != 1 or places.ndim != 1 or values.ndim < 1:
        raise RuntimeError(
            f"{names(kind)[0]} and {names(kind)[1]} must be vectors and values have a dim for the elements, got "
            f"{list(pointers.shape)}, {list(places.shape)} and {list(values.shape)}"
        )
    if size is not None:
        return tuple(int(n) for n in size)
    outer = max(pointers.shape[0] - 1, 0)
    inner = int(places.max().item()) + 1 if places.numel() else 0
    return (*((outer, inner) if kind == CSR else (inner, outer)), *values.shape[1:])


def check_compressed(kind: int, pointers: Tensor, places: Tensor, values: Tensor, shape: tuple) -> None:
    """RuntimeError for parts that do not fit together or lead out of range."""
    outer_name, inner_name = names(kind)
    for name, index in ((outer_name, pointers), (inner_name, places)):
        if index.dtype not in (dtypes.int32, dtypes.int64):
            raise RuntimeError(f"expected {name} to have dtype int32 or int64, but got {index.dtype.name}")
    if pointers.dtype is not places.dtype:
        raise RuntimeError(f"{outer_name} and {inner_name} must have the same dtype, but got "
                           f"{pointers.dtype.name} and {places.dtype.name}")  # fmt: skip
    if len(shape) != 2 + values.ndim - 1 or shape[2:] != tuple(values.shape[1:]):
        raise RuntimeError(
            f"size {list(shape)} does not fit values of shape {list(values.shape)}: expected 2 sparse dims and "
            f"the dense dims {list(values.shape[1:])}"
        )
    outer, inner = shape[:2] if kind == CSR else shape[1::-1]
    nnz = places.shape[0]
    if pointers.shape[0] != outer + 1:
        lines = f"number of {'rows' if kind == CSR else 'columns'} + 1 = {outer + 1}"
        raise RuntimeError(f"{outer_name}.shape[-1] must be equal to the {lines}, but got {pointers.shape[0]}")
    if values.shape[0] != nnz:
        raise RuntimeError(f"{inner_name} and values must have the same nnz, but got {nnz} and {values.shape[0]}")
    check_pointers(outer_name, pointers, nnz)
    if nnz:
        low, high = places.min().item(), places.max().item()
        if low < 0 or high >= inner:
            raise RuntimeError(f"`0 <= {inner_name} < {inner}` is not satisfied: found {low if low < 0 else high}")


def check_pointers(name: str, pointers: Tensor, nnz: int) -> None:
    """RuntimeError unless pointers start at 0, end at the number of elements and never step back or too far."""
    first, last = pointers[0].item(), pointers[-1].item()
    if first != 0:
        raise RuntimeError(f"`{name}[..., 0] == 0` is not satisfied: got {first}")
    if last != nnz:
        raise RuntimeError(f"`{name}[..., -1] == nnz` is not satisfied: got {last}, nnz is {nnz}")
    if pointers.shape[0] > 1 and (pointers[1:] - pointers[:-1]).min().item() < 0:
        raise RuntimeError(f"`0 <= {name}[..., 1:] - {name}[..., :-1]` is not satisfied")


def check_rows_in_order(kind: int, pointers: Tensor, places: Tensor) -> None:
    """RuntimeError unless the places in each row are in order, each once."""
    if places.shape[0] < 2:
        return
    rows = lookup.expanded(pointers, places.shape[0])
    fine = (rows[1:] != rows[:-1]) | (places[1:] > places[:-1])
    if not fine.all().item():
        outer, inner = names(kind)
        raise RuntimeError(
            f"`{inner}[..., {outer}[..., i - 1]:{outer}[..., i]] for all i = 1, ..., "
            f"{'nrows' if kind == CSR else 'ncols'} are sorted and distinct along the last dimension values` is not "
            "satisfied"
        )
