"""Least squares."""

from __future__ import annotations

from ..core.engine import Tensor as TensorType
from ..ir import build as B
from ..ir.dtypes import int64
from ..ir.primitives import orthogonal
from ..ops.checks import scalar_type
from ..ops.declare import Tensor, op
from ..ops.named import named
from .checks import broadcast_batches, has_no_elements

__all__ = ["lstsq"]

FAILED = (
    "torch.linalg.lstsq: {batch}The least squares problem could not be solved because the input matrix does not have "
    "full rank, or is not finite (error code: {info})."
)


def lstsq(A, B, rcond=None, *, driver=None):
    """(solution, residuals, rank, singular_values): X with the least ``norm(A @ X - B)``, and if several, the shortest.

    A       (*, m, n), float32, float64, complex64 or complex128
    B       (*, m, k), or vectors (*, m), one for each matrix
    rcond   what counts as 0, relative to the largest singular value; None: eps * max(m, n)
    driver  LAPACK's routine: "gels" (QR; A must have full rank), "gelsy" (QR with exchanged columns, the default),
            "gelsd" or "gelss" (singular values, by divide and conquer or by QR)

    solution         (*, n, k)
    residuals        (*, k), sums of squares, if m > n and A has full rank (not for "gelsy"), else empty
    rank             int64 of the batch's shape, not for "gels"
    singular_values  (*, min(m, n)), for "gelsd" and "gelss"

    The derivative is that of `solution`, for matrices whose rank does not change nearby.

    >>> A, B = rushlight.tensor([[1.0], [1.0]]), rushlight.tensor([[1.0], [3.0]])
    >>> rushlight.linalg.lstsq(A, B).solution
    tensor([[2.0000]])
    """
    name = "torch.linalg.lstsq"
    check_arguments(name, A, B)
    driver = "gelsy" if driver is None else driver
    if driver not in orthogonal.DRIVERS:
        raise RuntimeError(f"{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    vector = is_vector(A, B)
    check_right(name, A, B, vector)
    rcond = None if rcond is None else float(rcond)
    right = B.unsqueeze(-1) if vector else B
    found, squares, rank, values = least_squares(A, right, driver, rcond)
    rows, columns = A.shape[-2:]
    solution = found.narrow(-2, 0, columns)
    residuals = A.new_empty((0,), dtype=A.dtype.to_real())
    whole = rows > columns and driver != "gelsy"
    if whole and (driver == "gels" or bool((rank == columns).all())):
        residuals = squares
    parts = (
        solution.squeeze(-1) if vector else solution,
        residuals,
        A.new_empty((0,), dtype=int64) if driver == "gels" else rank,
        values if driver in ("gelsd", "gelss") else A.new_empty((0,), dtype=A.dtype.to_real()),
    )
    return named("linalg_lstsq", parts)


def is_vector(A, right) -> bool:
    return right.ndim == A.ndim - 1 and right.shape == A.shape[:-1]


def check_arguments(name: str, A, right) -> None:
    for position, tensor in enumerate((A, right), 1):
        if not isinstance(tensor, TensorType):
            raise TypeError(f"linalg_lstsq(): argument {position} must be Tensor, not {type(tensor).__name__}")
    if A.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if right.ndim < 1:
        raise RuntimeError(f"{name}: other must have at least 1 dimension.")
    if A.dtype is not right.dtype:
        raise RuntimeError(
            f"{name}: Expected input and other to have the same dtype, but got input's dtype {scalar_type(A.dtype)} "
            f"and other's dtype {scalar_type(right.dtype)}"
        )
    if A.dtype.kind not in "fc" or A.dtype.itemsize == 2:
        raise RuntimeError("This function doesn't handle types other than float and double")


def check_right(name: str, A, right, vector: bool) -> None:
    if not 0 <= A.ndim - right.ndim <= 1:
        raise RuntimeError(
            f"{name}: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1"
        )
    if not vector and right.shape[-2] != A.shape[-2]:
        raise RuntimeError(f"{name}: input.size(-2) should match other.size(-2)")


@op(public=False)
def least_squares(A: Tensor, right: Tensor, driver: str, rcond: Exponent):
    """The solution in the first rows of the first result; sums of squared residuals, the rank, the singular values."""
    A, right = broadcast_batches(A, right)
    rows, columns = A.shape[-2:]
    if has_no_elements(A):
        return solution_of_nothing(A, right)
    larger = rows if rows >= columns else columns
    padded = right if larger is rows else B.pad(right, [0] * right.ndim, [*[0] * (right.ndim - 2), larger - rows, 0])
    found, _, values, rank, _ = orthogonal.lstsq(A, padded, driver=driver, rcond=rcond, fails=FAILED)
    rest = right - B.dot(A, B.narrow(found, -2, 0, columns))
    squares = B.sum(B.square(B.real(rest)) + (B.square(B.imag(rest)) if A.dtype.is_complex else 0), -2)
    return found, squares, B.cast(rank, int64), values


def solution_of_nothing(A, right):
    *batch, _, columns = A.shape
    real = A.dtype.to_real()
    solution = B.zeros((*batch, columns, right.shape[-1]), A.dtype)
    squares = B.zeros((*batch, right.shape[-1]), real)
    return solution, squares, B.zeros(batch, int64), B.zeros((*batch, 0), real)
