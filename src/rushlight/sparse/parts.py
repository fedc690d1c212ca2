"""What sparse tensors are made of: dense tensors that say where their elements lie and what they are.

The core keeps these parts behind a tensor (`engine.sparse_tensor`); aliases of the tensor share them. Parts are outside
of any graph: what the graph knows are the sparse tensors themselves, and `graph` leads from one to the other.
"""

from __future__ import annotations

from ..core import engine
from ..core.engine import Tensor
from ..ops import memory_format

COO, CSR, CSC = 1, 2, 3  # the kinds of layouts that the core knows
LAYOUTS = {COO: memory_format.sparse_coo, CSR: memory_format.sparse_csr, CSC: memory_format.sparse_csc}
KINDS = {layout: kind for kind, layout in LAYOUTS.items()}
TITLES = {0: "Strided", COO: "Sparse", CSR: "SparseCsr", CSC: "SparseCsc"}  # as errors name them


class Coordinates:
    """Parts of a COO tensor: indices int64[sparse_dim, nnz], values [nnz, *dense sizes], coalesced or not.

    `distinct` tells whether each place occurs once, in whatever order; None until somebody asked.
    """

    __slots__ = ("coalesced", "distinct", "indices", "values")

    def __init__(self, indices: Tensor, values: Tensor, coalesced: bool):
        self.indices, self.values, self.coalesced, self.distinct = indices, values, coalesced, None


class Compressed:
    """Parts of a CSR (CSC) tensor.

    pointers  int64 or int32 [*batch, rows + 1]: where each row (column) begins among the elements, and their number
    places    int64 or int32 [*batch, nnz]: the column (row) of each element
    values    [*batch, nnz, *dense sizes]
    """

    __slots__ = ("places", "pointers", "values")

    def __init__(self, pointers: Tensor, places: Tensor, values: Tensor):
        self.pointers, self.places, self.values = pointers, places, values


def kind_of(tensor) -> int:
    """0 for dense tensors (and for numbers, and quantized tensors), else COO, CSR or CSC."""
    kind = tensor._layout.sparse if isinstance(tensor, Tensor) else 0
    return kind if kind <= CSC else 0


def parts_of(tensor: Tensor):
    """The parts of a sparse tensor."""
    return engine.parts_of(tensor)


def require_dense(*parts: Tensor) -> None:
    """RuntimeError if a part is itself sparse, or quantized."""
    if any(part._layout.sparse for part in parts):
        raise RuntimeError("a sparse tensor is made of dense ones; use to_dense() or dequantize() first")


def coo(indices: Tensor, values: Tensor, shape, coalesced: bool = False) -> Tensor:
    """A COO tensor of the given parts, outside of any graph."""
    require_dense(indices, values)
    parts = Coordinates(indices.detach(), values.detach(), bool(coalesced) or values.shape[0] < 2)
    return engine.sparse_tensor(shape, values.dtype, COO, parts)


def compressed(kind: int, pointers: Tensor, places: Tensor, values: Tensor, shape) -> Tensor:
    """A CSR or CSC tensor of the given parts, outside of any graph."""
    require_dense(pointers, places, values)
    parts = Compressed(pointers.detach(), places.detach(), values.detach())
    return engine.sparse_tensor(shape, values.dtype, kind, parts)


def same_pattern(a: Tensor, b: Tensor) -> bool:
    """Whether two sparse tensors share the very tensors that say where their elements lie."""
    p, q = parts_of(a), parts_of(b)
    if kind_of(a) != kind_of(b) or tuple(a.shape) != tuple(b.shape) or p.values.shape != q.values.shape:
        return False
    if isinstance(p, Coordinates):
        return is_same(p.indices, q.indices)
    return is_same(p.pointers, q.pointers) and is_same(p.places, q.places)


def is_same(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors show the same memory in the same way."""
    return a is b or (a._storage is b._storage and a._layout is b._layout and a.storage_offset() == b.storage_offset())


def with_parts(like: Tensor, values: Tensor) -> Tensor:
    """A sparse tensor with the places of another one and other values, outside of any graph."""
    parts = parts_of(like)
    if isinstance(parts, Coordinates):
        made = coo(parts.indices, values, like.shape, parts.coalesced)
        parts_of(made).distinct = parts.distinct
        return made
    return compressed(kind_of(like), parts.pointers, parts.places, values, like.shape)
