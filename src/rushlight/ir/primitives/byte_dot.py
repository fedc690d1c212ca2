"""Products of bytes with exact sums of 32 bits: what linear layers of quantized numbers are made of."""

from __future__ import annotations

from .. import build as B
from ..dtypes import float64, int8, int32, uint8
from ..lazy import np
from ..primitive import fail, primitive

LANES = 16  # columns in a panel
DEPTH = 4  # bytes of a column that lie side by side


@primitive("contract")
def byte_dot(a, w):
    """uint8[M, K] x int8[N / 16, K / 4, 16, 4] -> int32[M, N]; `w` is cut in panels of 16 columns, four rows abreast.

    Sums wrap around, as those of int32 do.
    """
    if a.ndim != 2 or a.dtype is not uint8 or w.ndim != 4 or w.dtype is not int8:
        fail("byte_dot", f"expected uint8[M, K] and int8[panels, K / 4, 16, 4], got {a} and {w}")
    if tuple(w.shape[2:]) != (LANES, DEPTH) or a.shape[1] != DEPTH * w.shape[1]:
        fail("byte_dot", f"inner sizes must match, got {a} and {w}")
    return (a.shape[0], LANES * w.shape[0]), int32


@byte_dot.numpy
def _(a, w):
    columns = w.transpose(1, 3, 0, 2).reshape(a.shape[1], -1)
    return a.astype(np.int32) @ columns.astype(np.int32)


@byte_dot.batch
def _(node, inputs, dims):
    (a, w), (da, dw) = inputs, dims
    if dw is None:  # the rows of all samples
        a = B.front(a, da)
        rows = byte_dot(B.reshape(a, (a.shape[0] * a.shape[1], a.shape[2])), w)
        return [B.reshape(rows, (a.shape[0], a.shape[1], rows.shape[1]))], [0]
    w = B.front(w, dw)
    if da is None:  # the panels of all samples
        columns = byte_dot(a, B.reshape(w, (w.shape[0] * w.shape[1], *w.shape[2:])))
        return [B.reshape(columns, (a.shape[0], w.shape[0], LANES * w.shape[1]))], [1]
    depth = DEPTH * w.shape[2]
    columns = B.reshape(B.permute(w, (0, 2, 4, 1, 3)), (w.shape[0], depth, LANES * w.shape[1]))
    return [B.cast(B.dot(B.cast(B.front(a, da), float64), B.cast(columns, float64)), int32)], [0]
