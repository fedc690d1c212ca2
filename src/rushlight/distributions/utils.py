"""Parameters that broadcast, probabilities and log odds, and attributes computed when first asked for."""

from __future__ import annotations

import functools
from numbers import Number

from ..autograd.modes import enable_grad
from ..core.engine import Tensor
from ..ir import build as B
from ..ir import dtypes
from ..ops import op
from ..ops.from_data import tensor
from ..ops.joining import broadcast_tensors
from ..ops.random import randn
from ..ops.softmax_family import softmax

__all__ = ["broadcast_all", "clamp_probs", "euler_constant", "is_tensor_like", "lazy_property", "logits_to_probs"]
__all__ += ["probs_to_logits", "tril_matrix_to_vec", "vec_to_tril_matrix"]

euler_constant = 0.57721566490153286060


def broadcast_all(*values):
    """The values as tensors of one shape; numbers take dtype and device of the first tensor, or the default dtype.

    Raises:
        ValueError: for what is neither a number nor a tensor

    Example:
        >>> from rushlight.distributions.utils import broadcast_all
        >>> broadcast_all(rushlight.zeros(2), 1)
        [tensor([0., 0.]), tensor([1., 1.])]
    """
    if not all(isinstance(value, (Tensor, Number)) for value in values):
        raise ValueError("Input arguments must all be instances of Number or torch.Tensor")
    if all(isinstance(value, Tensor) for value in values):
        first = values[0].shape
        if all(value.shape == first for value in values):
            return list(values)
        return list(broadcast_tensors(*values))
    like = next((value for value in values if isinstance(value, Tensor)), None)
    dtype = dtypes.default if like is None else like.dtype
    made = [value if isinstance(value, Tensor) else tensor(value, dtype=dtype) for value in values]
    return made if like is None else list(broadcast_tensors(*made))


def is_tensor_like(value) -> bool:
    """Whether a value is a tensor."""
    return isinstance(value, Tensor)


def sum_rightmost(value, count: int):
    """The sum over the last `count` dims."""
    return value.sum(tuple(range(-count, 0))) if count else value


def standard_normal(shape, dtype, device=None):
    """Normal numbers that have no gradient."""
    return randn(shape, dtype=dtype, device=device)


# -- probabilities ----------------------------------------------------------------------------------
EPSILON = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}


@op(public=False)
def clamp_probs(probs):
    """Probabilities moved into [eps, 1 - eps], eps that of the dtype."""
    eps = EPSILON[probs.dtype.name]
    return B.clamp(probs, eps, 1 - eps)


@op(public=False)
def log_odds(probs):
    eps = EPSILON[probs.dtype.name]
    inside = B.clamp(probs, eps, 1 - eps)
    return B.log(inside) - B.log1p(-inside)


@op(public=False)
def log_probabilities(probs):
    eps = EPSILON[probs.dtype.name]
    return B.log(B.clamp(probs, eps, 1 - eps))


def logits_to_probs(logits, is_binary: bool = False):
    """Probabilities of log odds (`is_binary`), or of the logits of categories in the last dim."""
    return logits.sigmoid() if is_binary else softmax(logits, -1)


def probs_to_logits(probs, is_binary: bool = False):
    """Log odds of probabilities (`is_binary`), or their logarithms; both finite at 0 and 1."""
    return log_odds(probs) if is_binary else log_probabilities(probs)


# -- lazy attributes --------------------------------------------------------------------------------
class lazy_property:
    """An attribute that a method computes when it is first asked for; then it is an ordinary one."""

    def __init__(self, wrapped):
        self.wrapped = wrapped
        functools.update_wrapper(self, wrapped)

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        with enable_grad():
            value = self.wrapped(instance)
        instance.__dict__[self.wrapped.__name__] = value
        return value


# -- triangles --------------------------------------------------------------------------------------
def vec_to_tril_matrix(vec, diag: int = 0):
    """(*, D) to (*, n, n): lower triangles filled row by row, up to the diagonal `diag`.

    Raises:
        ValueError: if no triangle has so many elements
    """
    n = (-(1 + 2 * diag) + ((1 + 2 * diag) ** 2 + 8 * vec.shape[-1] + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2
    size = round(n)
    if abs(n - size) > EPSILON["float32"] * max(size, 1):
        raise ValueError(f"The size of last dimension is {vec.shape[-1]} which cannot be expressed as lower triangular")
    rows, columns = triangle(size, diag)
    matrix = vec.new_zeros((*vec.shape[:-1], size, size))
    matrix[..., rows, columns] = vec
    return matrix


def tril_matrix_to_vec(mat, diag: int = 0):
    """(*, n, n) to (*, D): the lower triangle up to the diagonal `diag`, row by row.

    Raises:
        ValueError: for a diagonal outside of the matrix
    """
    n = mat.shape[-1]
    if diag < -n or diag >= n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = triangle(n, diag)
    return mat[..., rows, columns]


def triangle(size: int, diag: int):
    """Rows and columns of the places of a lower triangle."""
    from ..ops.diagonals import tril_indices

    return tril_indices(size, size, diag).unbind()
