"""Systems of linear equations."""

from __future__ import annotations

from ..ir import build as B
from ..ir.primitives import lu
from ..ir.primitives import solve as primitives
from ..ir.sizes import product
from ..ops.declare import Tensor, op
from ..ops.linear_forms import check_square
from ..ops.named import named_call
from ..ops.writing import store
from .checks import (
    UNSOLVED,
    broadcast_batches,
    check_implemented,
    check_precision,
    check_same_types,
    check_system,
    stores_columns,
)

__all__ = ["solve", "solve_ex", "solve_triangular", "tensorsolve"]


def is_vector(A, right) -> bool:
    """Whether the right side is one vector for each matrix of A, not a matrix."""
    return right.ndim == 1 or (
        A.ndim - 1 == right.ndim and all(a is b or a == b for a, b in zip(right.shape, A.shape[:-1]))
    )


def solved(name: str, A, right, left: bool, checked: bool) -> tuple:
    """The solution, and what its derivative needs."""
    check_precision(name, A)
    check_same_types(name, A, right)
    check_square(name, A)
    vector = is_vector(A, right)
    if vector and not left:
        raise RuntimeError(
            f"{name}: Vector broadcasting of the left hand side is not supported for left=False. In this case "
            "linalg.solve is equivalent to B / A.squeeze(-1)"
        )
    right = B.unsqueeze(right, -1) if vector else right
    check_system(name, A, right, left)
    right = right if left else B.transpose(right, -1, -2)
    A, right = broadcast_batches(A if left else B.transpose(A, -1, -2), right)
    factors, pivots, info = lu.lu_factor(A, fails=UNSOLVED.format(name=f"torch.{name}") if checked else None)
    x = primitives.solve(A, factors, pivots, right, adjoint=False)
    x = B.squeeze(x, -1) if vector else x if left else B.transpose(x, -1, -2)
    return x, info, factors, pivots


@op(public=False, out=True, exact=True, visible=1)
def linalg_solve(A: Tensor, B: Tensor, *, left: bool = True):
    """X with ``A @ X = B``, or with ``X @ A = B`` unless `left`.

    A: (*, n, n); B: (*, n, k), (*, k, n) unless `left`, or vectors (n,) or (*, n), one for each matrix of A; batches
    broadcast. float32, float64, complex64 or complex128, both the same. `LinAlgError` if A is singular.

    >>> rushlight.linalg.solve(rushlight.tensor([[2.0, 0.0], [0.0, 4.0]]), rushlight.tensor([1.0, 1.0]))
    tensor([0.5000, 0.2500])
    """
    x, _, factors, pivots = solved("linalg.solve", A, B, left, True)
    return x, factors, pivots


@op(public=False, out=True, exact=True, visible=2)
def linalg_solve_ex(A: Tensor, B: Tensor, left: bool, checked: bool):
    """The solution, and LAPACK's info."""
    return solved("linalg.solve_ex", A, B, left, checked)


solve = linalg_solve


def solve_ex(A, B, *, left=True, check_errors=False, out=None):
    """(result, info): as `solve`, but `info` tells for each matrix whether it is invertible.

    info  int32 of the shape of the batch: 0, or the place of the zero on U's diagonal in the LU factorization; the
          result is then of no use. With `check_errors` that is an error

    >>> rushlight.linalg.solve_ex(rushlight.zeros(2, 2), rushlight.ones(2)).info
    tensor(1, dtype=rushlight.int32)
    """
    return named_call("linalg_solve_ex", linalg_solve_ex, A, B, bool(left), bool(check_errors), out=out)


# -- triangular -------------------------------------------------------------------------------
@stores_columns
@op(public=False, out=True, exact=True)
def linalg_solve_triangular(A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False):
    """X with ``A @ X = B``, or with ``X @ A = B`` unless `left`, for triangular A.

    A              (*, n, n), of which only the upper (lower) triangle is read
    B              (*, n, k), or (*, k, n) unless `left`; batches broadcast
    unitriangular  the diagonal counts as ones and is not read

    A zero on the diagonal gives infinities or NaN.

    >>> A = rushlight.tensor([[1.0, 2.0], [0.0, 4.0]])
    >>> rushlight.linalg.solve_triangular(A, rushlight.tensor([[4.0], [4.0]]), upper=True)
    tensor([[2.],
            [1.]])
    """
    name = "linalg.solve_triangular"
    check_same_types(name, A, B)
    check_system(name, A, B, left)
    check_implemented("triangular_solve_cpu", A)
    return triangular(A, B, upper, left, unitriangular, "N")


FLIP = {"N": "T", "T": "N"}


def triangular(A, right, upper: bool, left: bool, unitriangular: bool, transpose: str):
    """The solution with op(A); on the right, that of the transposed system."""
    if not left:
        x = triangular(A, B.transpose(right, -1, -2), upper, True, unitriangular, FLIP[transpose])
        return B.transpose(x, -1, -2)
    if A.strides is not None and type(A.strides[-1]) is int and A.strides[-1] == 1:
        # stored by rows: LAPACK reads the transposed matrix without a copy
        A, upper, transpose = B.transpose(A, -1, -2), not upper, FLIP[transpose]
    A, right = broadcast_batches(A, right)
    return primitives.solve_triangular(A, right, upper=upper, unitriangular=unitriangular, transpose=transpose)


solve_triangular = linalg_solve_triangular


@stores_columns
@op(public=False)
def triangular_solution(b, A: Tensor, upper: bool, transpose: bool, unitriangular: bool):
    """The solution of the older `triangular_solve`, and A as broadcast."""
    check_implemented("triangular_solve_cpu", b)
    if b.ndim < 2 or A.ndim < 2:
        which, ndim = ("b", b.ndim) if b.ndim < 2 else ("A", A.ndim)
        raise RuntimeError(
            f"torch.triangular_solve: Expected {which} to have at least 2 dimensions, but it has {ndim} dimensions "
            "instead"
        )
    check_same_types("triangular_solve", b, A, "b", "A")
    check_system("triangular_solve", A, b, True)
    A, b = broadcast_batches(A, b)
    x = triangular(A, b, upper, True, unitriangular, "T" if transpose else "N")
    return x, A


# -- tensors ----------------------------------------------------------------------------------
def tensorsolve(A, B, dims=None, *, out=None):
    """X with ``tensordot(A, X, X.ndim) = B``.

    A     of shape B.shape + X.shape; the products of both parts' sizes are equal
    dims  dims of A to be moved to its end first

    >>> A, B = rushlight.eye(6).reshape(2, 3, 6), rushlight.arange(6.0).reshape(2, 3)
    >>> rushlight.linalg.tensorsolve(A, B)
    tensor([0., 1., 2., 3., 4., 5.])
    """
    if dims is not None:
        A = A.movedim(tuple(dims), tuple(range(A.ndim - len(dims), A.ndim)))
    shape = A.shape[B.ndim :]
    rows, columns = product(A.shape[: B.ndim]), product(shape)
    if rows != columns:
        raise RuntimeError(
            f"Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), "
            f"but got {columns} != {rows}"
        )
    made = linalg_solve(A.reshape(rows, columns), B.reshape(-1)).reshape(shape)
    return made if out is None else store(out, made, "linalg.tensorsolve")
