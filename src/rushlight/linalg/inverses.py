"""Inverses of matrices, and of tensors seen as matrices."""

from __future__ import annotations

from ..core.engine import Tensor as TensorType
from ..ir.primitives import solve as primitives
from ..ir.sizes import product
from ..ops.declare import Tensor, op
from ..ops.linear_forms import check_square
from ..ops.named import named_call
from ..ops.writing import store
from .checks import SINGULAR, check_precision

__all__ = ["inv", "inv_ex", "tensorinv"]


def inverted(name: str, A, checked: bool) -> tuple:
    check_precision(name, A)
    check_square(name, A)
    return primitives.inverse(A, fails=SINGULAR.format(name=name) if checked else None)


@op(public=False, out=True, exact=True)
def linalg_inv(A: Tensor):
    """The inverse of square matrices.

    A: (*, n, n), float32, float64, complex64 or complex128. `LinAlgError` if a matrix has none. To multiply by an
    inverse, `linalg.solve` is faster and more exact.

    >>> rushlight.linalg.inv(rushlight.tensor([[2.0, 1.0], [1.0, 1.0]]))
    tensor([[ 1., -1.],
            [-1.,  2.]])
    """
    return inverted("linalg.inv", A, True)[0]


@op(public=False, out=True, exact=True)
def linalg_inv_ex(A: Tensor, checked: bool):
    """The inverse, and LAPACK's info."""
    return inverted("linalg.inv_ex", A, checked)


inv = linalg_inv


def inv_ex(A, *, check_errors=False, out=None):
    """(inverse, info): as `inv`, but `info` tells for each matrix whether it has an inverse.

    info  int32 of shape (*): 0, or the place of the zero on U's diagonal in the LU factorization; the inverse is then
          of no use. With `check_errors` that is an error

    >>> rushlight.linalg.inv_ex(rushlight.zeros(2, 2)).info
    tensor(1, dtype=rushlight.int32)
    """
    return named_call("linalg_inv_ex", linalg_inv_ex, A, bool(check_errors), out=out)


def tensorinv(A, ind=2, *, out=None):
    """The inverse of the map that `tensordot(A, x, ind)` is: a tensor of shape ``A.shape[ind:] + A.shape[:ind]``.

    The product of the sizes before dim `ind` must be that of the sizes from it on.

    >>> rushlight.linalg.tensorinv(rushlight.eye(6).reshape(2, 3, 6)).shape
    rushlight.Size([6, 2, 3])
    """
    if not isinstance(A, TensorType):
        raise TypeError(f"linalg_tensorinv(): argument 'input' (position 1) must be Tensor, not {type(A).__name__}")
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    rows, columns = product(A.shape[:ind]), product(A.shape[ind:])
    if rows != columns:
        raise RuntimeError(
            f"Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
            f"{columns} != {rows}"
        )
    made = linalg_inv(A.reshape(rows, columns)).reshape(*A.shape[ind:], *A.shape[:ind])
    return made if out is None else store(out, made, "linalg.tensorinv")
