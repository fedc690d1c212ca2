"""Matrices: the standard's main names and its extension `linalg`."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.engine import Tensor
from ..ops import FUNCTIONS as F


def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Products of matrices in the last two axes."""
    return F["matmul"](x1, x2)


def matrix_transpose(x: Tensor, /) -> Tensor:
    """The last two axes exchanged."""
    return x.mT


def tensordot(x1: Tensor, x2: Tensor, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Tensor:
    """Sums of products over the last `axes` axes of `x1` and the first of `x2`, or over two lists of axes."""
    return F["tensordot"](x1, x2, dims=axes)


def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Products of vectors along an axis, the first conjugated."""
    return F["sum"](F["conj"](x1) * x2, axis) if x1.is_complex() else F["sum"](x1 * x2, axis)
