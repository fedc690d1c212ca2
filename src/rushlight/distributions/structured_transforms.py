"""Transforms of vectors and matrices: onto the simplex, triangles, positive definite and correlation matrices."""

from __future__ import annotations

import math

from ..ir import build as B
from ..ir.dtypes import finfo
from ..ops import op
from ..ops.activation import softplus
from ..ops.diagonals import diag_embed
from ..ops.ranges import eye
from ..ops.softmax_family import softmax
from ..ops.spatial import pad
from . import constraints
from .composed_transforms import Transform
from .sampling import TINY
from .utils import tril_matrix_to_vec, vec_to_tril_matrix


def needs_dims(shape, count: int) -> None:
    if len(shape) < count:
        raise ValueError("Too few dimensions on input")


class SoftmaxTransform(Transform):
    """y = softmax(x) over the last dim; log is one of its inverses."""

    domain, codomain = constraints.real_vector, constraints.simplex

    def __eq__(self, other) -> bool:
        return isinstance(other, SoftmaxTransform)

    __hash__ = object.__hash__

    def _call(self, x):
        return softmax(x, -1)

    def _inverse(self, y):
        return y.log()

    def forward_shape(self, shape):
        needs_dims(shape, 1)
        return shape

    inverse_shape = forward_shape


# -- breaking a stick -------------------------------------------------------------------------------
def countdown(x):
    """n, ..., 2, 1 along the last dim."""
    return B.cast(x.shape[-1] - B.iota(x.shape, x.ndim - 1), x.dtype)


@op(public=False)
def broken_stick(x):
    """[*, n] to [*, n + 1]: each piece is a part of what the pieces before it left."""
    part = B.sigmoid(x - B.log(countdown(x)))
    left = B.cumprod(1 - part, x.ndim - 1)
    one, none = [0] * (x.ndim - 1) + [1], [0] * x.ndim
    return B.pad(part, none, one, 1) * B.pad(left, one, none, 1)


@op(public=False)
def joined_stick(y):
    pieces = B.narrow(y, y.ndim - 1, 0, y.shape[-1] - 1)
    left = B.clamp(1 - B.cumsum(pieces, y.ndim - 1), TINY[y.dtype.name])
    return B.log(pieces) - B.log(left) + B.log(countdown(pieces))


@op(public=False)
def stick_slope(x, y):
    x = x - B.log(countdown(x))
    pieces = B.narrow(y, y.ndim - 1, 0, y.shape[-1] - 1)
    return B.sum(-x - softplus(-x) + B.log(pieces), (x.ndim - 1,))


class StickBreakingTransform(Transform):
    """From n real numbers to n + 1 that add up to 1: x says how much of the rest each piece takes.

    Example:
        >>> from rushlight.distributions.transforms import StickBreakingTransform
        >>> StickBreakingTransform()(rushlight.zeros(3))
        tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """

    domain, codomain, bijective = constraints.real_vector, constraints.simplex, True

    def __eq__(self, other) -> bool:
        return isinstance(other, StickBreakingTransform)

    __hash__ = object.__hash__

    def _call(self, x):
        return broken_stick(x)

    def _inverse(self, y):
        return joined_stick(y)

    def log_abs_det_jacobian(self, x, y):
        return stick_slope(x, y)

    def forward_shape(self, shape):
        needs_dims(shape, 1)
        return shape[:-1] + type(shape)((shape[-1] + 1,))

    def inverse_shape(self, shape):
        needs_dims(shape, 1)
        return shape[:-1] + type(shape)((shape[-1] - 1,))


# -- triangles and positive definite matrices -------------------------------------------------------
class LowerCholeskyTransform(Transform):
    """The lower triangle of a matrix, with exp of its diagonal."""

    domain, codomain = constraints.independent(constraints.real, 2), constraints.lower_cholesky

    def __eq__(self, other) -> bool:
        return isinstance(other, LowerCholeskyTransform)

    __hash__ = object.__hash__

    def _call(self, x):
        return x.tril(-1) + diag_embed(x.diagonal(0, -2, -1).exp())

    def _inverse(self, y):
        return y.tril(-1) + diag_embed(y.diagonal(0, -2, -1).log())


class PositiveDefiniteTransform(Transform):
    """L L^T, L the `LowerCholeskyTransform` of a matrix."""

    domain, codomain = constraints.independent(constraints.real, 2), constraints.positive_definite

    def __eq__(self, other) -> bool:
        return isinstance(other, PositiveDefiniteTransform)

    __hash__ = object.__hash__

    def _call(self, x):
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y):
        from ..linalg import cholesky

        return LowerCholeskyTransform().inv(cholesky(y))


class CorrCholeskyTransform(Transform):
    """From n (n - 1) / 2 real numbers to the Cholesky factor of an n by n correlation matrix.

    tanh of the numbers, row by row, are partial correlations: each is a part of what those before it left of the
    row's length 1 (Lewandowski, Kurowicka and Joe, "Generating random correlation matrices based on vines and extended
    onion method", Journal of Multivariate Analysis 100, 2009).
    """

    domain, codomain, bijective = constraints.real_vector, constraints.corr_cholesky, True

    def _call(self, x):
        eps = finfo(x.dtype).eps
        partial = vec_to_tril_matrix(x.tanh().clamp(-1 + eps, 1 - eps), -1)
        left = (1 - partial.square()).sqrt().cumprod(-1)
        matrix = partial + eye(partial.shape[-1], dtype=x.dtype)
        return matrix * pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y):
        left = pad((1 - y.square().cumsum(-1))[..., :-1], [1, 0], value=1)
        return (tril_matrix_to_vec(y, -1) / tril_matrix_to_vec(left, -1).sqrt()).atanh()

    def log_abs_det_jacobian(self, x, y):
        left = tril_matrix_to_vec(1 - y.square().cumsum(-1), -2)
        return 0.5 * left.log().sum(-1) - 2 * (x + softplus(-2 * x) - math.log(2)).sum(-1)

    def forward_shape(self, shape):
        needs_dims(shape, 1)
        count = shape[-1]
        size = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != count:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return shape[:-1] + type(shape)((size, size))

    def inverse_shape(self, shape):
        needs_dims(shape, 2)
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        size = shape[-1]
        return shape[:-2] + type(shape)((size * (size - 1) // 2,))
