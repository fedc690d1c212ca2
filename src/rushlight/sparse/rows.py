"""Compressed rows as products take them: with kernels of their own, closed under differentiation.

`multiplied` (sparse times dense) and `sampled` (products of dense rows at the places of a sparse matrix) are each
other's derivatives, so gradients of every order are made of the two.
"""

from __future__ import annotations

from functools import cached_property

from .. import ops
from ..core import engine
from ..core.engine import Tensor, clear_memory, empty_tensor, launch_kernel, layout_of
from ..ir import dtypes
from . import graph, lookup
from .convert import int64_of, summed
from .parts import COO, CSR, kind_of, parts_of

_FLAG = layout_of((4,), None, dtypes.int64)
WORK = 1 << 15  # multiplications that are worth a thread
_KERNELS = ("float32", "float64", "int64", "int32")
_WIDENED = {dtypes.float16: dtypes.float32, dtypes.bfloat16: dtypes.float32, dtypes.int16: dtypes.int32,
            dtypes.int8: dtypes.int32, dtypes.uint8: dtypes.int32}  # fmt: skip


class Rows:
    """A matrix's elements row by row: where rows begin, in which columns the elements lie."""

    def __init__(self, pointers: Tensor, places: Tensor, shape: tuple[int, int]):
        self.pointers, self.places, self.shape = pointers, places, shape

    @property
    def count(self) -> int:
        return self.places.shape[0]

    @cached_property
    def numbers(self) -> Tensor:
        """The row of each element."""
        return lookup.expanded(self.pointers, self.count)

    @cached_property
    def transposed(self) -> tuple[Rows, Tensor]:
        """(the transpose, in which order it takes the elements)"""
        ordered, order = ops.sort(int64_of(self.places), stable=True)
        pointers = lookup.pointers_of(ordered, self.shape[1])
        found = Rows(pointers, self.numbers.index_select(0, order), self.shape[::-1])
        inverse = ops.empty_like(order).scatter_(0, order, ops.arange(self.count))
        found.transposed = (self, inverse)
        return found, order


def rows_of(matrix: Tensor) -> tuple[Rows, Tensor]:
    """A sparse matrix by rows, and its values in that order, as part of the graph."""
    parts, new, shape = parts_of(matrix), graph.values(matrix), (matrix.shape[0], matrix.shape[1])
    if kind_of(matrix) == CSR:
        return Rows(parts.pointers, parts.places, shape), new
    if kind_of(matrix) == COO:
        return rows_of_coordinates(parts, new, shape)
    rows, order = Rows(parts.pointers, parts.places, shape[::-1]).transposed
    return rows, new.index_select(0, order)


def rows_of_coordinates(parts, new: Tensor, shape: tuple) -> tuple[Rows, Tensor]:
    lines, places = parts.indices[0], parts.indices[1]
    if not parts.coalesced:
        lines, order = ops.sort(lines, stable=True)
        places, new = places.index_select(0, order), new.index_select(0, order)
    return Rows(lookup.pointers_of(lines, shape[0]), places, shape), new


# -- products -----------------------------------------------------------------------------------
def multiplied(rows: Rows, new: Tensor, dense: Tensor) -> Tensor:
    """[M, N]: the sparse matrix [M, K] of values `new` times a dense one [K, N]."""
    if new.dtype in _WIDENED:
        wide = _WIDENED[new.dtype]
        return multiplied(rows, new.to(wide), dense.to(wide)).to(new.dtype)
    level = engine.dual_level()
    if level:
        return followed(multiplied, rows, new, dense, level)
    if not (new.requires_grad or dense.requires_grad):
        return computed_product(rows, new, dense)
    made = computed_product(rows, new.detach(), dense.detach())

    def rule(g, new, dense):
        by_value = sampled(rows, g, dense.conj()) if new.requires_grad else None
        if not dense.requires_grad:
            return by_value, None
        other, order = rows.transposed
        return by_value, multiplied(other, new.conj().index_select(0, order), g)

    return graph.record(made, "MmBackward0", [new, dense], rule, (new, dense))


def computed_product(rows: Rows, new: Tensor, dense: Tensor) -> Tensor:
    if new.dtype.name not in _KERNELS:
        lines = new.unsqueeze(1) * dense.index_select(0, int64_of(rows.places))
        return summed(lines, rows.numbers, rows.shape[0])
    result = empty_tensor(layout_of((rows.shape[0], dense.shape[1]), None, new.dtype))
    if result.numel():
        run("product", rows, [new, dense], result, dense)
    return result


def sampled(rows: Rows, left: Tensor, right: Tensor) -> Tensor:
    """[elements]: for an element in row i and column j the product of row i of `left` and row j of `right`."""
    if left.dtype in _WIDENED:
        wide = _WIDENED[left.dtype]
        return sampled(rows, left.to(wide), right.to(wide)).to(left.dtype)
    level = engine.dual_level()
    if level:
        return followed(sampled, rows, left, right, level)
    made = computed_samples(rows, left.detach(), right.detach())

    def rule(g, left, right):
        by_left = multiplied(rows, g, right.conj()) if left.requires_grad else None
        if not right.requires_grad:
            return by_left, None
        other, order = rows.transposed
        return by_left, multiplied(other, g.index_select(0, order), left.conj())

    return graph.record(made, "SampledBackward0", [left, right], rule, (left, right))


def computed_samples(rows: Rows, left: Tensor, right: Tensor) -> Tensor:
    if left.dtype.name not in _KERNELS:
        return (left.index_select(0, rows.numbers) * right.index_select(0, int64_of(rows.places))).sum(1)
    result = empty_tensor(layout_of((rows.count,), None, left.dtype))
    if result.numel():
        run("sampled", rows, [left, right], result, right)
    return result


def followed(function, rows: Rows, a: Tensor, b: Tensor, level: int) -> Tensor:
    """A product whose factors forward mode follows: it moves with each of them."""
    moves = [engine.tangent_of(x, level) for x in (a, b)]
    engine.set_dual_level(0)
    try:
        made = function(rows, a, b)
        found = [function(rows, moves[0], b)] if moves[0] is not None else []
        found += [function(rows, a, moves[1])] if moves[1] is not None else []
    finally:
        engine.set_dual_level(level)
    if found:
        engine.set_tangent(made, found[0] if len(found) == 1 else found[0] + found[1], level)
    return made


def run(kernel: str, rows: Rows, operands: list, result: Tensor, dense: Tensor) -> None:
    """Launch a kernel of `compiler.sparse_product` over the rows; IndexError for an index that is out of range."""
    from ..compiler import sparse_product

    if not dense.shape[0] and rows.count:
        raise IndexError(f"index is out of bounds for dimension 1 with size 0 (there are {rows.count} elements)")
    tensors = [plain(x) for x in (rows.pointers, rows.places, *operands)]
    error = empty_tensor(_FLAG)
    clear_memory(error)
    index_size, columns = rows.places.dtype.itemsize, dense.shape[1]
    if kernel == "product":
        code = sparse_product.product_kernel(result.dtype, index_size, columns)
    else:
        code = sparse_product.sampled_kernel(result.dtype, index_size)
    buffers = [x.data_ptr() for x in (*tensors, result, error)]
    params = [columns, dense.shape[0], rows.count]
    per_row = max(rows.count * columns // max(rows.shape[0], 1), 1)
    launch_kernel(code.address, buffers, params, rows.shape[0], max(WORK // per_row, 1))
    wrong, index, dim, size = error.tolist()
    if wrong:
        raise IndexError(f"index {index} of a sparse matrix is out of bounds for dimension {dim} with size {size}")


def plain(x: Tensor) -> Tensor:
    """A tensor whose memory holds its elements in row-major order, for a kernel."""
    layout = x._layout
    return x if layout.contiguous and not layout.bits else x.resolve_conj().resolve_neg().contiguous()
