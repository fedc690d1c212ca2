"""Norms of matrices, and what follows from them: condition numbers and ranks."""

from __future__ import annotations

import math

from ..ir import build as B
from ..ops.declare import op
from ..ops.linear_forms import check_square
from ..ops.reduction import check_not_empty
from ..ops.vector_norm import as_dims, check_norm, check_target, vector_norm
from ..ops.writing import store
from .outputs import check_safe

__all__ = ["cond", "matrix_norm", "matrix_rank", "norm", "vector_norm"]


@op(public=False, out=True, exact=True)
def sums_compared(input, summed: int, compared: int, smallest: bool, keepdim: bool, dtype: Dtype = None):
    """The largest (or smallest) along one dim of the sums of sizes along another: the 1- and infinity-norms."""
    x = input if dtype is None else B.cast(input, dtype)
    check_not_empty("amin" if smallest else "amax", x, (compared,))
    sums = B.sum(B.abs(x), summed, True)
    found = (B.min if smallest else B.max)(sums, compared, True)
    return found if keepdim else B.squeeze(found, (summed, compared))


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None, out=None):
    """The norm of matrices, which lie in two dims.

    ord    "fro" (square root of the sum of squares), "nuc" (sum of singular values), 2 and -2 (largest and smallest
           singular value), 1 and -1 (largest and smallest sum of sizes over a column), inf and -inf (over a row)
    dtype  A is cast to it first; the result has its real type

    RuntimeError for other orders and for integers.

    >>> A = rushlight.tensor([[3.0, 0.0], [4.0, 5.0]])
    >>> rushlight.linalg.matrix_norm(A, 1), rushlight.linalg.matrix_norm(A, float("inf"))
    (tensor(7.), tensor(9.))
    """
    name = "linalg.matrix_norm"
    check_norm(name, A, dtype)
    if A.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    rows, columns = matrix_dims(A, dim)
    ord = checked_order(ord)
    check_target(name, out, (dtype or A.dtype).to_real())
    if ord == "fro":
        return vector_norm(A, 2, (rows, columns), keepdim, dtype=dtype, out=out)
    if ord in (2, -2, "nuc"):
        made = norm_of_singular_values(A if dtype is None else A.to(dtype), ord, rows, columns, keepdim)
        return made if out is None else store(out, made, name)
    summed, compared = (rows, columns) if abs(ord) == 1 else (columns, rows)
    if ord > 0 and A.shape[compared] == 0:  # the norm of nothing
        return vector_norm(A, 1, (rows, columns), keepdim, dtype=dtype, out=out)
    arguments = (A, summed, compared, ord < 0, bool(keepdim), dtype)
    return sums_compared(*arguments) if out is None else sums_compared(*arguments, out=out)


def matrix_dims(A, dim) -> tuple:
    if not isinstance(dim, (tuple, list)):
        raise TypeError(f"linalg_matrix_norm(): argument 'dim' must be tuple of ints, not {type(dim).__name__}")
    dims = as_dims(dim)
    if len(dims) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dims))}")
    rows, columns = (B.wrap_dim(d, A.ndim) for d in dims)
    if rows == columns:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got {dims}")
    return rows, columns


def checked_order(ord):
    """A matrix norm's order: "fro", "nuc", or one of the numbers that have a meaning."""
    if ord is None:
        raise TypeError("linalg_matrix_norm(): argument 'ord' must be str or Number, not NoneType")
    if ord not in ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    return ord


def norm_of_singular_values(A, ord, rows: int, columns: int, keepdim: bool):
    from .singular import svdvals

    if A.dtype in B.HALVES:
        from ..ops.checks import scalar_type

        raise RuntimeError(f"linalg.matrix_norm: Low precision dtypes not supported. Got {scalar_type(A.dtype)}")
    values = svdvals(A.movedim((rows, columns), (-2, -1)))
    if ord == "nuc" or values.shape[-1] == 0:
        found = values.sum(-1)
    else:
        found = values.amax(-1) if ord > 0 else values.amin(-1)
    if keepdim:
        for d in sorted((rows, columns)):
            found = found.unsqueeze(d)
    return found


def norm(A, ord=None, dim=None, keepdim=False, *, out=None, dtype=None):
    """The norm of vectors or matrices: of vectors where one dim is meant, of matrices where two are.

    Without `ord` the 2-norm of all elements; without `dim` A must be a vector or a matrix. See `vector_norm` and
    `matrix_norm` for the orders.

    >>> rushlight.linalg.norm(rushlight.tensor([[3.0, 0.0], [4.0, 5.0]]), 1)
    tensor(7.)
    """
    dims = as_dims(dim)
    if dims is not None and len(dims) not in (1, 2) and ord is not None:
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}")
    if dims is None and ord is not None and A.ndim not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {A.ndim}D."
        )
    options = {"dtype": dtype, "out": out}
    if ord is None:
        return vector_norm(A, 2, dims, keepdim, **options)
    if isinstance(ord, str) or (len(dims) == 2 if dims is not None else A.ndim == 2):
        return matrix_norm(A, ord, (-2, -1) if dims is None else dims, keepdim, **options)
    return vector_norm(A, ord, dims, keepdim, **options)


# -- condition ----------------------------------------------------------------------------------------
def cond(A, p=None, *, out=None):
    """The condition number in the norm p: ``norm(A) * norm(inv(A))``; by singular values for None, 2 and -2.

    Infinite for matrices that have no inverse. Matrices must be square unless p is None, 2 or -2.

    >>> rushlight.linalg.cond(rushlight.tensor([[2.0, 0.0], [0.0, 4.0]]), 1)
    tensor(2.)
    """
    if A.ndim < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if p not in (None, "fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    check_norm("linalg.cond", A)
    made = spectral_condition(A, p) if p in (None, 2, -2) else condition_by_inverse(A, p)
    return made if out is None else check_safe("linalg.cond", ("result",), (made,), (out,))[0]


def spectral_condition(A, p):
    from .singular import svdvals

    if A.numel() == 0:
        return A.new_zeros(A.shape[:-2], dtype=A.dtype.to_real())
    values = svdvals(A)
    largest, smallest = values[..., 0], values[..., -1]
    return smallest / largest if p == -2 else largest / smallest


def condition_by_inverse(A, p):
    from .inverses import inv_ex

    check_square(f"linalg.cond(ord={p})", A)
    if A.numel() == 0:
        return A.new_zeros(A.shape[:-2], dtype=A.dtype.to_real())
    inverse, info = inv_ex(A)
    singular = info > 0
    inverse = inverse.masked_fill(singular[..., None, None], 0.0)
    return (matrix_norm(A, p) * matrix_norm(inverse, p)).masked_fill(singular, math.inf)


# -- rank ---------------------------------------------------------------------------------------------
def matrix_rank(A, tol=None, hermitian=False, *, atol=None, rtol=None, out=None):
    """How many singular values of matrices are larger than ``max(atol, rtol * the largest)``; int64.

    atol, rtol  numbers or tensors for the batch; 0 and, unless `atol` is positive, eps times the larger size
    tol         the older name of `atol`; no relative tolerance then
    hermitian   A equals its adjoint: sizes of eigenvalues serve

    >>> rushlight.linalg.matrix_rank(rushlight.tensor([[1.0, 2.0], [2.0, 4.0]]))
    tensor(1)
    """
    from .eigen import eigvalsh
    from .singular import svdvals, tolerances

    if tol is not None:
        atol, rtol = tol, 0.0
    if A.ndim < 2:
        raise RuntimeError("linalg.matrix_rank: The input tensor A must have at least 2 dimensions.")
    check_norm("linalg.matrix_rank", A)
    atol, rtol = tolerances("linalg.matrix_rank", A, atol, rtol)
    values = eigvalsh(A.detach()).abs() if hermitian else svdvals(A.detach())
    if A.numel() == 0:
        made = values.sum(-1).long()
    else:
        least = largest_tolerance(values.amax(-1), atol, rtol)
        made = (values > least[..., None]).sum(-1)
    return made if out is None else check_safe("torch.linalg.matrix_rank", ("result",), (made,), (out,))[0]


def largest_tolerance(largest, atol, rtol):
    """max(atol, rtol * largest), of numbers or tensors."""
    relative = largest * rtol
    return relative.clamp_min(atol) if isinstance(atol, float) else relative.maximum(atol)
