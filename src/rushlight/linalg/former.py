"""What PyTorch had before `linalg`: decompositions by their older names, with their older results."""

from __future__ import annotations

from ..ops.declare import composite
from ..ops.named import named
from ..ops.writing import store_all
from .exponential import matrix_exp
from .low_rank import pca_lowrank, svd_lowrank
from .preconditioned import lobpcg
from .singular import pinv, svdvals
from .singular import svd as decomposition

composite(matrix_exp, method=True)
composite(svd_lowrank)
composite(pca_lowrank)
composite(lobpcg)


@composite(method=True)
def svd(input, some=True, compute_uv=True, *, out=None):
    """(U, S, V), the decomposition ``input = U diag(S) V^H``: `linalg.svd` with V in place of its adjoint.

    some        without the vectors that make U and V square
    compute_uv  if false, U and V are square and filled with zeros

    >>> rushlight.svd(rushlight.tensor([[3.0, 0.0], [0.0, 4.0]])).S
    tensor([4., 3.])
    """
    if compute_uv:
        U, S, Vh = decomposition(input, not some)
        parts = U, S, Vh.mH
    else:
        batch, (m, n) = input.shape[:-2], input.shape[-2:]
        parts = input.new_zeros((*batch, m, m)), svdvals(input), input.new_zeros((*batch, n, n))
    if out is not None:
        parts = store_all("svd", out, parts)
    return named("svd", "U S V", parts)


@composite(method=True)
def pinverse(input, rcond=1e-15):
    """The pseudo-inverse: `linalg.pinv` with a relative tolerance.

    >>> rushlight.pinverse(rushlight.tensor([[2.0], [0.0]]))
    tensor([[0.5000, 0.0000]])
    """
    return pinv(input, rcond)


@composite
def matrix_rank(*args, **kwargs):
    """Removed: use `linalg.matrix_rank`, whose parameter `hermitian` was `symmetric` here."""
    raise RuntimeError(
        "This function was deprecated since version 1.9 and is now removed. Please use `linalg.matrix_rank` instead, "
        "whose parameter `hermitian` was `symmetric` here."
    )


__all__ = ["lobpcg", "matrix_exp", "matrix_rank", "pca_lowrank", "pinverse", "svd", "svd_lowrank"]
