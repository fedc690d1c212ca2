"""Eigenvalues and eigenvectors."""

from __future__ import annotations

from ..ir.primitives import spectra
from ..ops.declare import op
from ..ops.linear_forms import check_square
from ..ops.named import named, named_call
from ..ops.writing import targets
from .checks import UNCONVERGED, check_implemented
from .outputs import check_safe, needs_gradient

__all__ = ["eig", "eigh", "eigvals", "eigvalsh"]


def check_matrices(name: str, A) -> None:
    """Square matrices of single or double precision."""
    check_square(name, A)
    check_implemented(name.replace(".", "_") + "_cpu", A)


# -- Hermitian matrices -------------------------------------------------------------------------------
@op(public=False, out=True, exact=True)
def linalg_eigh(A, lower: bool):
    """Eigenvalues and eigenvectors by one triangle."""
    return spectra.eigh(A, lower=lower, fails=UNCONVERGED.format(name="linalg.eigh", what="eigenvalues"))[:2]


@op(public=False, out=True, exact=True)
def linalg_eigvalsh(A, lower: bool):
    """Eigenvalues by one triangle."""
    return spectra.eigvalsh(A, lower=lower, fails=UNCONVERGED.format(name="linalg.eigh", what="eigenvalues"))[0]


def is_lower(UPLO) -> bool:
    """Which triangle a letter means; RuntimeError unless it is L or U."""
    letter = UPLO.upper() if isinstance(UPLO, str) else UPLO
    if letter not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return letter == "L"


def eigh(A, UPLO="L", *, out=None):
    """(eigenvalues, eigenvectors) of symmetric or Hermitian matrices: ``A = V diag(L) V^H``.

    A     (*, n, n), floating point or complex; only the triangle that `UPLO` names ("L": lower, "U": upper) is read
    L     (*, n), real, in ascending order
    V     (*, n, n), orthonormal columns, each up to its sign (a phase, if complex)

    Gradients are those of a Hermitian A; they are finite where eigenvalues differ. A complex loss must not depend on
    the phases: RuntimeError otherwise.

    >>> L, V = rushlight.linalg.eigh(rushlight.tensor([[2.0, 1.0], [1.0, 2.0]]))
    >>> L
    tensor([1., 3.])
    """
    check_matrices("linalg.eigh", A)
    lower = is_lower(UPLO)
    return named_call("linalg_eigh", linalg_eigh, A, lower, out=out)


def eigvalsh(A, UPLO="L", *, out=None):
    """The eigenvalues of symmetric or Hermitian matrices, in ascending order: see `eigh`. Their gradient is stable.

    >>> rushlight.linalg.eigvalsh(rushlight.tensor([[2.0, 1.0], [1.0, 2.0]]))
    tensor([1., 3.])
    """
    check_matrices("linalg.eigh", A)
    lower = is_lower(UPLO)
    if out is not None:
        return linalg_eigvalsh(A, lower, out=out)
    return linalg_eigh(A, lower)[0] if needs_gradient(A) else linalg_eigvalsh(A, lower)


# -- general square matrices ---------------------------------------------------------------------------
@op(public=False)
def linalg_eig(A):
    """Eigenvalues and eigenvectors."""
    return spectra.eig(A, fails=UNCONVERGED.format(name="linalg.eig", what="eigenvalues"))[:2]


@op(public=False)
def linalg_eigvals(A):
    """Eigenvalues."""
    return spectra.eigvals(A, fails=UNCONVERGED.format(name="linalg.eigvals", what="eigenvalues"))[0]


def eig(A, *, out=None):
    """(eigenvalues, eigenvectors) of square matrices, complex: ``A = V diag(L) V^-1``.

    A     (*, n, n), floating point or complex
    L     (*, n), in no particular order
    V     (*, n, n), columns of length 1, each up to a phase

    Gradients are finite where eigenvalues differ, and a loss must not depend on the phases: RuntimeError otherwise.
    RuntimeError also for matrices with NaN or infinities.

    >>> rushlight.linalg.eig(rushlight.tensor([[0.0, 1.0], [-1.0, 0.0]])).eigenvalues
    tensor([0.+1.j, 0.-1.j])
    """
    check_matrices("linalg.eig", A)
    made = linalg_eig(A)
    if out is not None:
        made = check_safe("torch.linalg.eig", ("eigenvalues", "eigenvectors"), made, targets("linalg_eig", out, 2))
    return named("linalg_eig", made)


def eigvals(A, *, out=None):
    """The eigenvalues of square matrices, complex, in no particular order: see `eig`.

    >>> rushlight.linalg.eigvals(rushlight.tensor([[0.0, 1.0], [-1.0, 0.0]]))
    tensor([0.+1.j, 0.-1.j])
    """
    check_matrices("linalg.eigvals", A)
    made = linalg_eig(A)[0] if out is None and needs_gradient(A) else linalg_eigvals(A)
    return made if out is None else check_safe("torch.linalg.eigvals", ("eigenvalues",), (made,), (out,))[0]
