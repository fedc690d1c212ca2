"""Where LAPACK's matrices lie: stored by columns, one after another, in memory that may be overwritten."""

from __future__ import annotations

from ..ir.columns import column_strides
from ..ir.sizes import contiguous_strides, known_equal, product
from .index_layout import is_number
from .templates import Array, Context


def dense_strides(shape, rank: int) -> tuple:
    """Matrices by columns, vectors and numbers one after another."""
    return column_strides(shape) if rank == 2 else contiguous_strides(shape)


def is_dense(array: Array, rank: int) -> bool:
    """Whether an array is stored so, which is known without a guard."""
    wanted = dense_strides(array.shape, rank)
    return all(is_number(n, 1) or known_equal(a, b) for n, a, b in zip(array.shape, array.strides, wanted))


def is_repeated(array: Array, rank: int) -> bool:
    """Whether an array is one matrix, vector or number for the whole batch."""
    batch = len(array.shape) - rank
    alone = Array(array.role, array.index, array.shape[batch:], array.strides[batch:], array.dtype)
    return all(is_number(n, 1) or is_number(s, 0) for n, s in zip(array.shape[:batch], array.strides)) and is_dense(
        alone, rank
    )


def dense_temp(context: Context, shape, dtype, rank: int) -> Array:
    array = context.temp(shape, dtype)
    array.strides = dense_strides(array.shape, rank)
    return array


def place_columns(fuser, step) -> None:
    """Have the operands of a node of kind "matrix" stored as LAPACK wants them.

    What it overwrites is computed right where the result will lie, if that is stored by columns.
    """
    node, columns = step.node, step.node.prim.columns
    started = {operand: result for result, operand in columns.starts.items()}
    for i, (value, rank) in enumerate(zip(node.inputs, columns.operands)):
        if i in started:
            home = fuser.memory.home(node.outputs[started[i]])
            array = home if is_dense(home, rank) else dense_temp(fuser.memory.context, value.shape, value.dtype, rank)
        elif readable(fuser, value, rank):
            fuser.require(value, step)
            continue
        else:
            array = dense_temp(fuser.memory.context, value.shape, value.dtype, rank)
        fuser.memory.work[node, i] = array
        fuser.copy(value, array, step.first, (step,))


def readable(fuser, value, rank: int) -> bool:
    """Whether a value lies in memory as it must, or will."""
    array = fuser.memory.find(value)
    return array is not None and (is_dense(array, rank) or is_repeated(array, rank))


def matrix_count(shape, rank: int):
    """How many matrices, vectors or numbers there are."""
    return product(shape[: len(shape) - rank])
