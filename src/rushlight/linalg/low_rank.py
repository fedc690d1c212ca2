"""Decompositions of matrices that are nearly of low rank, by random projection.

Method: Halko, Martinsson and Tropp, "Finding Structure with Randomness", 2009, algorithms 4.4 and 5.1.
"""

from __future__ import annotations

from ..ops import FUNCTIONS
from .singular import svd

__all__ = ["pca_lowrank", "svd_lowrank"]


def orthonormal(x):
    from .reflections import qr

    return qr(x)[0]


def range_of(A, q: int, niter: int):
    """q orthonormal columns that nearly span what A maps to, after `niter` steps of subspace iteration."""
    start = FUNCTIONS["randn"](A.shape[-1], q, dtype=A.dtype)
    basis = orthonormal(A @ start)
    for _ in range(niter):
        basis = orthonormal(A.mH @ basis)
        basis = orthonormal(A @ basis)
    return basis


def svd_lowrank(A, q=6, niter=2, M=None):
    """(U, S, V) with ``U diag(S) V^H`` near A (or A - M), of rank q at most.

    A      (*, m, n)
    q      a little more than the rank that is looked for
    niter  steps of subspace iteration: more of them for singular values that fall slowly
    M      a matrix that broadcasts to A's shape, such as the mean of its rows

    The projection is random: see `manual_seed`.

    >>> A = rushlight.ones(4, 3)
    >>> U, S, V = rushlight.svd_lowrank(A, q=1)
    >>> rushlight.allclose(U * S @ V.mH, A)
    True
    """
    A = A if M is None else A - M
    is_wide = A.shape[-2] < A.shape[-1]
    tall = A.mH if is_wide else A
    basis = range_of(tall, 6 if q is None else q, 2 if niter is None else niter)
    U, S, Vh = svd(basis.mH @ tall, full_matrices=False)
    U, V = basis @ U, Vh.mH
    return (V, S, U) if is_wide else (U, S, V)


def pca_lowrank(A, q=None, center=True, niter=2):
    """(U, S, V), principal components of the rows of A: the columns of V, by `svd_lowrank`.

    A       (*, m, n): m samples with n features
    q       how many components, at most min(m, n); 6 unless that is smaller
    center  subtract the mean of the rows

    ValueError for q or niter that make no sense.

    >>> samples = rushlight.tensor([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])
    >>> U, S, V = rushlight.pca_lowrank(samples, q=1)
    >>> V.abs().round()
    tensor([[1.],
            [0.]])
    """
    smallest = min(A.shape[-2:])
    q = min(6, smallest) if q is None else q
    if not 0 <= q <= smallest:
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={smallest}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A, q, niter, A.mean(-2, keepdim=True) if center else None)
