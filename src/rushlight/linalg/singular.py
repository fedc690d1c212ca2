"""Singular values and vectors, and what is made of them: pseudo-inverses."""

from __future__ import annotations

from ..core.engine import Tensor
from ..ir import build as B
from ..ir.dtypes import finfo
from ..ir.primitives import singular, spectra
from ..ir.primitives.matrix_parts import identity
from ..ops.checks import scalar_type
from ..ops.declare import Number, op
from ..ops.linear_forms import check_square
from ..ops.named import named_call
from ..ops.writing import store
from . import checks
from .outputs import needs_gradient

__all__ = ["pinv", "svd", "svdvals"]

FAILS = checks.UNCONVERGED.format(name="linalg.svd", what="singular values")


def check_matrix(A, driver=None) -> None:
    """Matrices of single or double precision, and no choice of driver, which is for GPUs."""
    checks.check_matrix("linalg.svd", A)
    checks.check_field("linalg.svd", A)
    checks.check_implemented("linalg_svd_cpu", A)
    if driver is not None:
        raise RuntimeError(
            "linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend."
        )


@op(public=False, out=True, exact=True)
def linalg_svd(A, full: bool):
    """U, S and V^H."""
    if checks.has_no_elements(A):
        return vectors_of_nothing(A, full)
    return singular.svd(A, full=full, fails=FAILS)[:3]


def vectors_of_nothing(A, full: bool):
    """The decomposition of a matrix without elements: any orthonormal vectors, say those of the identity."""
    *batch, m, n = A.shape
    u, vh = (identity((*batch, *plane), A.dtype) for plane in ((m, m if full else 0), (n if full else 0, n)))
    return u, B.zeros((*batch, 0), A.dtype.to_real()), vh


@op(public=False, out=True, exact=True)
def linalg_svdvals(A):
    """Singular values."""
    return singular.svdvals(A, fails=FAILS)[0]


def svd(A, full_matrices=True, *, driver=None, out=None):
    """(U, S, Vh), the singular value decomposition of matrices: ``A = U diag(S) Vh``.

    A     (*, m, n), floating point or complex; k = min(m, n)
    U     (*, m, m), or (*, m, k) without `full_matrices`: orthonormal columns, each up to its sign (or phase)
    S     (*, k), real, in descending order
    Vh    (*, n, n) or (*, k, n): orthonormal rows
    driver  must be None: it chooses among algorithms on GPUs

    Gradients are finite where singular values differ and, unless A is square, are not 0; those of the vectors that
    `full_matrices` adds are ignored. A complex loss must not depend on the phases: RuntimeError otherwise.
    `LinAlgError` for matrices with NaN or infinities.

    >>> rushlight.linalg.svd(rushlight.tensor([[3.0, 0.0], [0.0, 4.0]])).S
    tensor([4., 3.])
    """
    check_matrix(A, driver)
    full = bool(full_matrices)
    return named_call("linalg_svd", linalg_svd, A, full, out=out)


def svdvals(A, *, driver=None, out=None):
    """The singular values of matrices in descending order: see `svd`. Their gradient is stable.

    >>> rushlight.linalg.svdvals(rushlight.tensor([[3.0, 0.0], [0.0, 4.0]]))
    tensor([4., 3.])
    """
    check_matrix(A, driver)
    if out is not None:
        return linalg_svdvals(A, out=out)
    return linalg_svd(A, False)[1] if needs_gradient(A) else linalg_svdvals(A)


# -- tolerances -----------------------------------------------------------------------------------------
def tolerances(name: str, A, atol, rtol) -> tuple:
    """(atol, rtol) as numbers or tensors: below them, or below rtol times the largest, a singular value counts as 0."""
    for word, value in (("atol", atol), ("rtol", rtol)):
        if isinstance(value, Tensor) and value.is_complex():
            raise RuntimeError(
                f"{name}: {word} tensor of complex type is not supported. Got {scalar_type(value.dtype)}"
            )
    given = atol
    atol = 0.0 if atol is None else atol if isinstance(atol, Tensor) else float(atol)
    if rtol is None:
        rtol = finfo(A.dtype.to_real()).eps * max(A.shape[-2:])
        if isinstance(given, Tensor):
            rtol = rtol * (given <= 0).to(A.dtype.to_real())
        elif atol > 0:
            rtol = 0.0
    return atol, rtol if isinstance(rtol, Tensor) else float(rtol)


def cutoff(values, atol, rtol):
    """Per matrix the largest size that counts as 0, to compare with the values of its last dim."""
    atol, rtol = (B.unsqueeze(x, -1) if getattr(x, "ndim", 0) else x for x in (atol, rtol))
    return B.maximum(B.max(values, -1, True) * rtol, atol)


# -- pseudo-inverse ---------------------------------------------------------------------------------------
@op(public=False)
def linalg_pinv(A, atol: Number, rtol: Number, hermitian: bool):
    """The pseudo-inverse by singular values, or by eigenvalues."""
    if hermitian:
        values, right, _ = spectra.eigh(
            A, lower=True, fails=checks.UNCONVERGED.format(name="linalg.eigh", what="eigenvalues")
        )
        left, sizes = right, B.abs(values)
    else:
        left, values, vh, _ = singular.svd(A, full=False, fails=FAILS)
        right, sizes = B.adjoint(vh), values
    counts = B.gt(sizes, cutoff(sizes, atol, rtol))
    inverse = B.cast(B.where(counts, 1.0, 0.0), values.dtype) / B.where(counts, values, 1.0)
    shape = B.broadcast_shapes(inverse.shape[:-1], A.shape[:-2])
    inverse = B.broadcast_to(inverse, (*shape, inverse.shape[-1]))
    return B.matmul(right * B.unsqueeze(inverse, -2), B.adjoint(left))


@linalg_pinv.vjp
def _(cotangents, outputs, A, atol, rtol, hermitian):
    """Golub and Pereyra, "The Differentiation of Pseudo-Inverses", 1973: holds while the rank stays."""
    (g,), (p,) = cotangents, outputs
    ph, gh = B.adjoint(p), B.adjoint(g)
    first = B.matmul(B.matmul(gh, p), ph)
    second = B.matmul(ph, B.matmul(p, gh))
    found = first - B.matmul(A, B.matmul(p, first)) + second - B.matmul(B.matmul(second, p), A)
    return found - B.matmul(ph, B.matmul(g, ph))


def pinv(A, rcond=None, hermitian=False, *, atol=None, rtol=None, out=None):
    """The Moore-Penrose pseudo-inverse of matrices: singular values up to ``max(atol, rtol * the largest)`` count as 0.

    A           (*, m, n), floating point or complex; the result is (*, n, m)
    atol, rtol  numbers or tensors for the batch; 0 and, unless `atol` is positive, eps times the larger size
    rcond       the older name of `rtol`
    hermitian   A equals its adjoint: eigenvalues serve, by the lower triangle

    >>> rushlight.linalg.pinv(rushlight.tensor([[2.0, 0.0], [0.0, 0.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.0000]])
    """
    if A.ndim < 2 or A.dtype.kind not in "fc" or A.dtype.itemsize == 2:
        raise RuntimeError(
            f"linalg.pinv({scalar_type(A.dtype)}{{{list(A.shape)}}}): expected a tensor with 2 or more dimensions of "
            "float, double, cfloat or cdouble types"
        )
    if hermitian:
        check_square("linalg.pinv", A)
    atol, rtol = tolerances("torch.linalg.pinv", A, atol, rcond if rtol is None else rtol)
    if A.numel() == 0:
        made = A.new_zeros((*A.shape[:-2], A.shape[-1], A.shape[-2]))
    else:
        made = linalg_pinv(A, atol, rtol, bool(hermitian))
    return made if out is None else store(out, made, "linalg.pinv")
