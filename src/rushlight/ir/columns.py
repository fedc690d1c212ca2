"""Primitives on batches of matrices: how their operands and results lie in memory, and what they share.

LAPACK works on matrices stored by columns and overwrites them. A primitive of kind "matrix" says which of its
operands and results are matrices, vectors or single numbers, each preceded by the same batch dimensions, and which
results start as a copy of an operand.
"""

from __future__ import annotations

from . import batching
from .graph import Value
from .primitive import Primitive, fail, primitive
from .sizes import strides_in_order

LARGEST = 1 << 31  # sizes are 32-bit integers in LAPACK


class Columns:
    """The memory that a primitive of kind "matrix" wants.

    operands, results   for each one 2 (matrices), 1 (vectors) or 0 (numbers): its dimensions after those of the batch
    starts              {result: operand}: the result starts as a copy of that operand, of the same shape and type,
                        and is then overwritten. All other operands are only read
    """

    __slots__ = ("operands", "results", "starts")

    def __init__(self, operands: tuple, results: tuple, starts: dict):
        self.operands, self.results, self.starts = operands, results, starts


def matrix_primitive(operands: tuple, results: tuple, starts: dict):
    """Declare a primitive of kind "matrix" by its shape rule; its batch rule is that of all."""

    def declare(shape) -> Primitive:
        def checked(*inputs, **attrs):
            check_sizes(shape.__name__, inputs)
            return shape(*inputs, **attrs)

        checked.__name__, checked.__doc__ = shape.__name__, shape.__doc__
        prim = primitive("matrix", outputs=len(results))(checked)
        prim.columns = Columns(operands, results, starts)

        @prim.batch
        def _(node, inputs, dims):
            found = prim(*batching.lead_all(inputs, dims), **node.attrs)
            found = [found] if prim.n_outputs == 1 else list(found)
            return found, [0] * len(found)

        return prim

    return declare


def check_sizes(name: str, inputs) -> None:
    for x in inputs:
        if any(size >= LARGEST for size in x.shape[-2:]):
            fail(name, f"matrices with 2**31 or more rows or columns are not supported, got {x}")


def column_strides(shape) -> tuple:
    """Strides of matrices stored by columns, one after another, as PyTorch reports them (a size of 0 counts as 1)."""
    *batch, rows, columns = shape
    step = rows if not (type(rows) is int and rows == 0) else 1
    strides, total = [], step * columns if not (type(columns) is int and columns == 0) else step
    for size in reversed(batch):
        strides.append(total)
        total = total if (type(size) is int and size == 0) else size * total
    return (*reversed(strides), 1, step)


def natural_strides(value: Value) -> tuple | None:
    """How the primitive that computes a value stores it: by columns, or in the order that a transform was given."""
    if value.node is None:
        return None
    order = transform_order(value)
    if order is not None:
        return strides_in_order(value.shape, order)
    columns = value.node.prim.columns
    return column_strides(value.shape) if columns is not None and columns.results[value.index] == 2 else None


def transform_order(value: Value) -> tuple | None:
    """The dims from outermost to innermost of what a transform yields, perhaps conjugated or permuted; else None."""
    node = value.node
    if node is None or node.prim.kind == "transform":
        return node and node.attrs["order"]
    if node.prim.name == "conj":
        return transform_order(node.inputs[0])
    if node.prim.name == "permute":
        order = transform_order(node.inputs[0])
        return order and tuple(map(node.attrs["dims"].index, order))
    return None
