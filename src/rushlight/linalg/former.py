"""Linear algebra by PyTorch's older names, as functions and methods of tensors; and names that it has removed."""

from __future__ import annotations

from ..ops.declare import FUNCTIONS, add_method, composite
from ..ops.named import named, named_call
from ..ops.notices import warn_deprecated
from ..ops.writing import store_all
from . import (
    definite,
    determinants,
    exponential,
    inverses,
    low_rank,
    lu_factors,
    preconditioned,
    reflections,
    singular,
    solving,
)
from .outputs import needs_gradient


def declare(name: str, op) -> None:
    """Give an op a name among the functions and methods."""
    FUNCTIONS[name] = op
    add_method(name, op)


declare("cholesky_inverse", definite.cholesky_inverse)
declare("cholesky_solve", definite.cholesky_solve)
declare("det", determinants.det)
declare("inverse", inverses.inv)
declare("orgqr", reflections.householder_product)
declare("ormqr", reflections.ormqr_of)
composite(determinants.logdet, method=True)
composite(exponential.matrix_exp, method=True)
composite(low_rank.pca_lowrank)
composite(low_rank.svd_lowrank)
composite(preconditioned.lobpcg)


@composite(method=True)
def cholesky(input, upper=False, *, out=None):
    """The Cholesky factor, lower triangular unless `upper`. Deprecated: see `linalg.cholesky`."""
    warn_deprecated("cholesky", "linalg.cholesky")
    return definite.cholesky_older(input, bool(upper), out=out)


@composite(method=True)
def slogdet(input, *, out=None):
    """(sign, logabsdet) of the determinant: see `linalg.slogdet`."""
    return named("slogdet", determinants.slogdet(input, out=out))


# -- singular values --------------------------------------------------------------------------
@composite(method=True)
def svd(input, some=True, compute_uv=True, *, out=None):
    """(U, S, V), the decomposition ``input = U diag(S) V^H``: `linalg.svd` with V in place of its adjoint.

    some        without the vectors that make U and V square
    compute_uv  if false, U and V are square and filled with zeros

    >>> rushlight.svd(rushlight.tensor([[3.0, 0.0], [0.0, 4.0]])).S
    tensor([4., 3.])
    """
    if compute_uv:
        U, S, Vh = singular.svd(input, not some)
        parts = U, S, Vh.mH
    else:
        batch, (m, n) = input.shape[:-2], input.shape[-2:]
        parts = input.new_zeros((*batch, m, m)), singular.svdvals(input), input.new_zeros((*batch, n, n))
    if out is not None:
        parts = store_all("svd", out, parts)
    return named("svd", parts)


@composite(method=True)
def pinverse(input, rcond=1e-15):
    """The pseudo-inverse: `linalg.pinv` with a relative tolerance.

    >>> rushlight.pinverse(rushlight.tensor([[2.0], [0.0]]))
    tensor([[0.5000, 0.0000]])
    """
    return singular.pinv(input, rcond)


# -- LU ---------------------------------------------------------------------------------------
@composite(method=True)
def lu(A, pivot=True, get_infos=False, out=None):
    """(LU, pivots), and LAPACK's info with `get_infos`: see `linalg.lu_factor` and `linalg.lu_factor_ex`.

    Deprecated. Singular matrices are no error here.
    """
    warn_deprecated("lu", "linalg.lu_factor")
    made = lu_factors.lu_factor_ex(A, pivot=pivot)
    if out is not None:
        made = store_all("lu", out, made[: 3 if get_infos else 2])
    return named("_lu_with_info", made) if get_infos else tuple(made[:2])


@composite(method=True)
def lu_solve(b, LU_data, LU_pivots, *, out=None):
    """The solution of ``A @ x = b``, by the factors and pivots of A. Deprecated: see `linalg.lu_solve`."""
    warn_deprecated("lu_solve", "linalg.lu_solve")
    keywords = {} if out is None else {"out": out}
    return lu_factors.lu_solve(LU_data, LU_pivots, b, **keywords)


@composite
def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True, *, out=None):
    """(P, L, U) of the compact result of `linalg.lu_factor`; those that are not asked for are empty.

    >>> LU, pivots = rushlight.linalg.lu_factor(rushlight.tensor([[1.0, 2.0], [4.0, 6.0]]))
    >>> P, L, U = rushlight.lu_unpack(LU, pivots)
    >>> P @ L @ U
    tensor([[1., 2.],
            [4., 6.]])
    """
    arguments = LU_data, LU_pivots, bool(unpack_data), bool(unpack_pivots)
    made = named_call("lu_unpack", lu_factors.factors_unpacked, *arguments, out=out)
    if needs_gradient(LU_data):  # P has no derivative
        made = named("lu_unpack", (made[0].detach(), *made[1:]))
    return made


# -- QR ---------------------------------------------------------------------------------------
@composite(method=True)
def qr(input, some=True, *, out=None):
    """(Q, R), reduced if `some`, else complete. Deprecated: see `linalg.qr`."""
    warn_deprecated("qr", "linalg.qr")
    return named("qr", reflections.qr(input, "reduced" if some else "complete", out=out))


@composite(method=True)
def geqrf(input, *, out=None):
    """(a, tau): a QR factorization as LAPACK keeps it.

    R lies on and above the diagonal of a, the reflections below it that `linalg.householder_product` and `ormqr` take;
    tau are their factors. There is no derivative.
    """
    return named_call("geqrf", reflections.reflections_of, input, out=out)


# -- triangular systems -----------------------------------------------------------------------
@composite(method=True)
def triangular_solve(b, A, upper=True, transpose=False, unitriangular=False, *, out=None):
    """(solution, cloned_coefficient) of ``A @ X = b`` (or ``A.mT @ X = b``) for triangular A. Deprecated: see
    `linalg.solve_triangular`."""
    warn_deprecated("triangular_solve", "linalg.solve_triangular")
    made = solving.triangular_solution(b, A, bool(upper), bool(transpose), bool(unitriangular))
    return named("triangular_solve", made if out is None else store_all("triangular_solve", out, made))


# -- removed ----------------------------------------------------------------------------------
REMOVED = {
    "solve": "torch.linalg.solve, which takes (A, B) and gives X alone; torch.linalg.lu_factor gives the factors",
    "lstsq": "torch.linalg.lstsq, which takes (A, B), and gives residuals as a result of their own",
    "eig": "torch.linalg.eig or torch.linalg.eigvals, whose results are complex",
    "symeig": "torch.linalg.eigh or torch.linalg.eigvalsh, which read the lower triangle unless UPLO='U'",
}


def declare_removed(name: str, instead: str) -> None:
    def function(*args, **kwargs):
        raise RuntimeError(
            f"This function was deprecated since version 1.9 and is now removed. `torch.{name}` is deprecated in favor "
            f"of {instead}."
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Removed: use {instead}."
    composite(function, method=True)


@composite
def matrix_rank(*args, **kwargs):
    """Removed: use `linalg.matrix_rank`, whose parameter `hermitian` was `symmetric` here."""
    raise RuntimeError(
        "This function was deprecated since version 1.9 and is now removed. Please use `linalg.matrix_rank` instead, "
        "whose parameter `hermitian` was `symmetric` here."
    )


for _name, _instead in REMOVED.items():
    declare_removed(_name, _instead)
