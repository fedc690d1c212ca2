"""Matrices in the last two axes: the standard's main names and its extension `linalg`."""

from __future__ import annotations

from collections.abc import Sequence

from .. import linalg as _linalg
from ..core.engine import Tensor
from ..ops import FUNCTIONS as F

__all__ = """
    cholesky cross det diagonal eigh eigvalsh inv matmul matrix_norm matrix_power matrix_rank matrix_transpose outer
    pinv qr slogdet solve svd svdvals tensordot trace vecdot vector_norm
""".split()  # noqa: SIM905


# -- products ---------------------------------------------------------------------------------------
def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Products of matrices."""
    return F["matmul"](x1, x2)


def matrix_transpose(x: Tensor, /) -> Tensor:
    """The last two axes exchanged."""
    return x.mT


def tensordot(x1: Tensor, x2: Tensor, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Tensor:
    """Sums of products over the last `axes` axes of `x1` and the first of `x2`, or over two lists of axes."""
    return F["tensordot"](x1, x2, dims=axes)


def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Products of vectors along an axis, the first conjugated."""
    dtype = F["promote_types"](x1.dtype, x2.dtype)
    return _linalg.vecdot(x1.to(dtype), x2.to(dtype), dim=axis)


def outer(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The products of every element of one vector with every one of another."""
    return F["outer"](x1, x2)


def cross(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Cross products of vectors with three elements along an axis."""
    return _linalg.cross(x1, x2, dim=axis)


def matrix_power(x: Tensor, n: int, /) -> Tensor:
    """Square matrices to a whole power; negative ones invert."""
    return _linalg.matrix_power(x, n)


# -- diagonals, norms -------------------------------------------------------------------------------
def diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    """The diagonals of matrices, `offset` places above the main ones."""
    return F["diagonal"](x, offset, -2, -1)


def trace(x: Tensor, /, *, offset: int = 0, dtype=None) -> Tensor:
    """The sums of diagonals, as the widest type of their kind unless one is given."""
    from .statistics import sum

    return sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def vector_norm(x: Tensor, /, *, axis=None, keepdims: bool = False, ord: int | float = 2) -> Tensor:
    """The norms of vectors along one or several axes, or of all elements."""
    return _linalg.vector_norm(x, ord, axis, keepdims)


def matrix_norm(x: Tensor, /, *, keepdims: bool = False, ord: int | float | str | None = "fro") -> Tensor:
    """The norms of matrices."""
    return _linalg.matrix_norm(x, "fro" if ord is None else ord, keepdim=keepdims)


def matrix_rank(x: Tensor, /, *, rtol: float | Tensor | None = None) -> Tensor:
    """How many singular values are above `rtol` times the largest."""
    return _linalg.matrix_rank(x, rtol=rtol)


# -- factors, inverses ------------------------------------------------------------------------------
def cholesky(x: Tensor, /, *, upper: bool = False) -> Tensor:
    """The triangular matrix whose product with its adjoint is a positive definite matrix."""
    return _linalg.cholesky(x, upper=upper)


def qr(x: Tensor, /, *, mode: str = "reduced"):
    """(Q, R): orthonormal columns times an upper triangular matrix; `mode` "complete" has a square Q."""
    if mode not in ("reduced", "complete"):
        raise ValueError(f"qr: expected mode 'reduced' or 'complete', got {mode!r}")
    return _linalg.qr(x, mode)


def svd(x: Tensor, /, *, full_matrices: bool = True):
    """(U, S, Vh): singular vectors and values."""
    return _linalg.svd(x, full_matrices)


def svdvals(x: Tensor, /) -> Tensor:
    """Singular values, from the largest down."""
    return _linalg.svdvals(x)


def eigh(x: Tensor, /):
    """(eigenvalues, eigenvectors) of symmetric or Hermitian matrices, the values in increasing order."""
    return _linalg.eigh(x)


def eigvalsh(x: Tensor, /) -> Tensor:
    """The eigenvalues of symmetric or Hermitian matrices in increasing order."""
    return _linalg.eigvalsh(x)


def det(x: Tensor, /) -> Tensor:
    """Determinants."""
    return _linalg.det(x)


def slogdet(x: Tensor, /):
    """(sign, logabsdet): the signs of determinants and the logarithms of their sizes."""
    return _linalg.slogdet(x)


def inv(x: Tensor, /) -> Tensor:
    """Inverses."""
    return _linalg.inv(x)


def pinv(x: Tensor, /, *, rtol: float | Tensor | None = None) -> Tensor:
    """Pseudo-inverses; singular values below `rtol` times the largest count as zero."""
    return _linalg.pinv(x, rtol=rtol)


def solve(x1: Tensor, x2: Tensor, /) -> Tensor:
    """X with x1 X = x2, where `x2` is one vector or matrices."""
    if x2.ndim == 1:
        return _linalg.solve(x1, x2.unsqueeze(1)).squeeze(-1)
    lead = F["broadcast_shapes"](tuple(x1.shape[:-2]), tuple(x2.shape[:-2]))
    return _linalg.solve(x1.expand(*lead, *x1.shape[-2:]), x2.expand(*lead, *x2.shape[-2:]))
