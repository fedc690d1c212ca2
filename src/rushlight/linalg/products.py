"""Products of vectors and matrices."""

from __future__ import annotations

from ..core.engine import Tensor
from ..ir import build as B
from ..ops import FUNCTIONS
from ..ops.checks import scalar_type
from ..ops.declare import op
from ..ops.linear_forms import cross as cross_of
from ..ops.linear_forms import matrix_power
from ..ops.matmul import matmul, product_of_chain
from ..ops.vector_norm import check_norm, check_target
from ..ops.writing import store
from .checks import check_same_types

__all__ = ["cross", "diagonal", "matmul", "matrix_power", "multi_dot", "vander", "vecdot"]


# -- vectors ----------------------------------------------------------------------------------------
@op(public=False, out=True, exact=True)
def inner_products(x, y, dim: int):
    """The sum of conj(x) * y along a dim."""
    return B.sum(B.conj(x) * y, dim, dtype=x.dtype)


def vecdot(x, y, *, dim=-1, out=None):
    """The inner product of vectors along `dim`, the first conjugated; other dims broadcast.

    >>> rushlight.linalg.vecdot(rushlight.tensor([[1.0, 2.0], [3.0, 4.0]]), rushlight.tensor([1.0, 1.0]))
    tensor([3., 7.])
    """
    check_norm("linalg.vecdot", x)
    check_same_types("linalg.vecdot", x, y, "x", "y")
    check_target("linalg.vecdot", out, x.dtype)
    if x.ndim == y.ndim == 1 and x.shape != y.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{x.shape[0]}] and src [{y.shape[0]}] to have the same number "
            "of elements"
        )
    return inner_products(x, y, dim) if out is None else inner_products(x, y, dim, out=out)


def cross(input, other, *, dim=-1, out=None):
    """The cross product of vectors of 3 along `dim`; other dims broadcast.

    >>> rushlight.linalg.cross(rushlight.tensor([1, 0, 0]), rushlight.tensor([0, 1, 0]))
    tensor([0, 0, 1])
    """
    if input.dtype is not other.dtype:
        raise RuntimeError(
            f"linalg.cross: expected scalar type {scalar_type(input.dtype)} but found {scalar_type(other.dtype)}"
        )
    check_target("linalg.cross", out, input.dtype)
    return cross_of(input, other, dim, out=out)


# -- matrices ---------------------------------------------------------------------------------------
def diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """The diagonals of matrices, which lie in two dims, as a new last dim. A view.

    >>> rushlight.linalg.diagonal(rushlight.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])
    """
    return FUNCTIONS["diagonal"](A, offset, dim1, dim2)


@op(public=False)
def vandermonde(x, N: int):
    """1, x, x ** 2, ... of every element along a new last dim."""
    powers = B.cumprod(B.expand(B.unsqueeze(x, -1), (*x.shape, N - 1)), -1)
    return B.concat([B.ones((*x.shape, 1), powers.dtype), powers], -1)


def vander(x, *, N=None):
    """Vandermonde matrices: the powers 0 to N - 1 of each element of a vector as a row; N is its length unless given.

    x: (*, n), result (*, n, N); int64 for integers. RuntimeError for bools, half types, and N < 2.

    >>> rushlight.linalg.vander(rushlight.tensor([1, 2, 3]))
    tensor([[1, 1, 1],
            [1, 2, 4],
            [1, 3, 9]])
    """
    if x.dtype.kind == "b" or x.dtype in B.HALVES:
        raise RuntimeError(
            f"linalg.vander supports floating point, complex, and integer tensors, but got {scalar_type(x.dtype)}"
        )
    x = x if x.ndim else x.reshape(1)
    N = x.shape[-1] if N is None else int(N)
    if N <= 1:
        raise RuntimeError("N must be greater than 1.")
    return vandermonde(x, N)


def multi_dot(tensors, *, out=None):
    """The product of two or more matrices in the order that needs the fewest multiplications.

    The first and the last may be vectors: a row and a column, which the result does not keep.

    >>> rushlight.linalg.multi_dot([rushlight.ones(2), rushlight.ones(2, 3), rushlight.ones(3, 4)])
    tensor([6., 6., 6., 6.])
    """
    matrices = checked_chain(tensors)
    is_row, is_column = matrices[0].ndim == 1, matrices[-1].ndim == 1
    first, last = matrices[0], matrices[-1]
    check_target("linalg.multi_dot", out, first.dtype)
    matrices[0] = first.unsqueeze(0) if is_row else first
    matrices[-1] = last.unsqueeze(1) if is_column else last
    made = product_of_chain(matrices)
    made = made.squeeze(-1) if is_column else made
    made = made.squeeze(0) if is_row else made
    return made if out is None else store(out, made, "linalg.multi_dot")


def checked_chain(tensors) -> list:
    if isinstance(tensors, Tensor):
        raise TypeError("linalg_multi_dot(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor")
    chain = list(tensors)
    if len(chain) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(chain)}")
    for place, word in ((0, "first"), (-1, "last")):
        if chain[place].ndim not in (1, 2):
            raise RuntimeError(f"multi_dot(): the {word} tensor must be 1D or 2D but got {chain[place].ndim}D")
    for i, tensor in enumerate(chain):
        if tensor.ndim != 2 and 0 < i < len(chain) - 1:
            raise RuntimeError(f"multi_dot(): tensor {i} must be 2D but got {tensor.ndim}D")
        if tensor.dtype is not chain[0].dtype:
            raise RuntimeError(
                f"multi_dot(): all tensors must have be the same dtype but tensor 0 is {chain[0].dtype.name} and "
                f"tensor {i} {tensor.dtype.name}"
            )
    return chain
