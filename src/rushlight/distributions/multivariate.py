"""Normal distributions of vectors, with a full covariance or one of low rank."""

from __future__ import annotations

import math

from ..core.engine import Size
from ..ir import build as B
from ..ir.primitives.solve import solve_triangular as lower_solved
from ..ir.sizes import product
from ..linalg import cholesky, solve_triangular
from ..ops import op
from ..ops.diagonals import diag_embed
from ..ops.joining import broadcast_shapes
from ..ops.ranges import eye
from . import constraints
from .distribution import EMPTY, Distribution
from .utils import lazy_property, standard_normal

LOG_TWO_PI = math.log(2 * math.pi)


def times_vector(matrix, vector):
    """(*, n, m) by (*, m), with batches that broadcast."""
    return (matrix @ vector.unsqueeze(-1)).squeeze(-1)


def squares(factor, x):
    """x^T (L L^T)^-1 x, on Values."""
    n, batch = x.shape[-1], factor.shape[:-2]
    wide = B.broadcast_to(x, (*B.broadcast_shapes(x.shape[:-1], batch), n))
    # draws that share a factor are the columns of one triangular system
    lead = wide.ndim - 1 - len(batch)
    rows = B.reshape(wide, (product(wide.shape[:lead]), *wide.shape[lead:]))
    columns = B.move_dim(rows, 0, rows.ndim - 1)
    shared = B.broadcast_to(factor, (*columns.shape[:-1], n))
    solved = lower_solved(shared, columns, upper=False, unitriangular=False, transpose="N")
    found = B.sum(solved * solved, (solved.ndim - 2,))
    return B.reshape(B.move_dim(found, found.ndim - 1, 0), wide.shape[:-1])


@op(public=False)
def squared_mahalanobis(factor, x):
    """x^T (L L^T)^-1 x for L (*, n, n) and x (*, n), with batches that broadcast."""
    return squares(factor, x)


@op(public=False)
def normal_log_prob_of_vectors(value, loc, factor):
    """The density's logarithm, by the lower Cholesky factor of the covariance."""
    half = B.sum(B.log(B.diagonal(factor, 0, factor.ndim - 2, factor.ndim - 1)), (factor.ndim - 2,))
    n = B.full((), loc.shape[-1], factor.dtype)
    return -0.5 * (n * LOG_TWO_PI + squares(factor, value - loc)) - half


def half_log_determinant(factor):
    """log det L."""
    return factor.diagonal(0, -2, -1).log().sum(-1)


def factor_of_precision(precision):
    """The lower Cholesky factor of a precision matrix' inverse, by that of the matrix turned around."""
    turned = cholesky(precision.flip((-2, -1)))
    upper = turned.flip((-2, -1)).mT
    return solve_triangular(upper, eye(precision.shape[-1], dtype=precision.dtype), upper=False)


@op(public=False)
def normal_from_square(square, half_log_det, loc):
    """The density's logarithm at a squared distance."""
    n = B.full((), loc.shape[-1], square.dtype)
    return -0.5 * (n * LOG_TWO_PI + square) - half_log_det


class MultivariateNormal(Distribution):
    """The normal distribution of vectors.

    Args:
        loc: (*, n) the mean
        covariance_matrix, precision_matrix: (*, n, n) positive definite
        scale_tril: (*, n, n) the lower Cholesky factor of the covariance; one of the three must be given

    Computing goes by `scale_tril`, so that is the cheapest to give.

    Example:
        >>> from rushlight.distributions import MultivariateNormal
        >>> MultivariateNormal(rushlight.zeros(2), rushlight.eye(2)).log_prob(rushlight.zeros(2))
        tensor(-1.8379)
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        name, matrix = one_matrix(covariance_matrix, precision_matrix, scale_tril)
        batch = broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand(batch + (-1, -1)))
        self.loc = loc.expand(batch + (-1,))
        super().__init__(batch, self.loc.shape[-1:], validate_args)
        self._unbroadcasted_scale_tril = factor_from(name, matrix)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(MultivariateNormal, _instance)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        return self._expanded(new, Size(batch_shape))

    mean = mode = property(lambda self: self.loc)

    @lazy_property
    def scale_tril(self):
        """The lower Cholesky factor of the covariance."""
        return self._wide(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self):
        """The covariance."""
        factor = self._unbroadcasted_scale_tril
        return self._wide(factor @ factor.mT)

    @lazy_property
    def precision_matrix(self):
        """The inverse of the covariance."""
        return self._wide(self._unbroadcasted_scale_tril.cholesky_inverse())

    def _wide(self, matrix):
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @property
    def variance(self):
        return self._unbroadcasted_scale_tril.square().sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape=EMPTY):
        noise = standard_normal(self._extended_shape(sample_shape), self.loc.dtype, self.loc.device)
        return self.loc + times_vector(self._unbroadcasted_scale_tril, noise)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return normal_log_prob_of_vectors(value, self.loc, self._unbroadcasted_scale_tril)

    def entropy(self):
        half = half_log_determinant(self._unbroadcasted_scale_tril)
        return (0.5 * self._event_shape[0] * (1.0 + LOG_TWO_PI) + half).expand(self._batch_shape)


def one_matrix(covariance_matrix, precision_matrix, scale_tril):
    """The name and value of the one matrix that is given."""
    given = {
        "covariance_matrix": covariance_matrix,
        "precision_matrix": precision_matrix,
        "scale_tril": scale_tril,
    }
    given = [(name, matrix) for name, matrix in given.items() if matrix is not None]
    if len(given) != 1:
        raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
    name, matrix = given[0]
    if matrix.dim() < 2:
        raise ValueError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
    return name, matrix


def factor_from(name: str, matrix):
    """The lower Cholesky factor of the covariance."""
    if name == "scale_tril":
        return matrix
    return cholesky(matrix) if name == "covariance_matrix" else factor_of_precision(matrix)


class LowRankMultivariateNormal(Distribution):
    """The normal distribution of vectors with covariance W W^T + diag(D), W of few columns.

    Args:
        loc: (*, n) the mean
        cov_factor: (*, n, r) W
        cov_diag: (*, n) D, positive

    Densities take time in proportion to n r^2, by the matrix determinant lemma and Woodbury's identity.

    Example:
        >>> from rushlight.distributions import LowRankMultivariateNormal
        >>> normal = LowRankMultivariateNormal(rushlight.zeros(2), rushlight.tensor([[1.0], [0.0]]), rushlight.ones(2))
        >>> normal.covariance_matrix
        tensor([[2., 0.],
                [0., 1.]])
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc, cov_factor, cov_diag, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        if cov_factor.shape[-2:-1] != event:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {event[0]} x m")
        if cov_diag.shape[-1:] != event:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event}")
        try:
            batch = broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        except RuntimeError as error:
            shapes = f"{loc.shape}, cov_factor {cov_factor.shape}, cov_diag {cov_diag.shape}"
            raise ValueError(f"Incompatible batch shapes: loc {shapes}") from error
        self.loc, self.cov_diag = loc.expand(batch + event), cov_diag.expand(batch + event)
        self.cov_factor = cov_factor.expand(batch + cov_factor.shape[-2:])
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        self._capacitance_tril = capacitance_factor(cov_factor, cov_diag)
        super().__init__(batch, event, validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(LowRankMultivariateNormal, _instance)
        for name in ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril"):
            setattr(new, name, getattr(self, name))
        return self._expanded(new, Size(batch_shape))

    mean = mode = property(lambda self: self.loc)

    @lazy_property
    def variance(self):
        variance = self._unbroadcasted_cov_factor.square().sum(-1) + self._unbroadcasted_cov_diag
        return variance.expand(self._batch_shape + self._event_shape)

    def _wide(self, matrix):
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self):
        """The covariance."""
        factor = self._unbroadcasted_cov_factor
        return self._wide(factor @ factor.mT + diag_embed(self._unbroadcasted_cov_diag))

    @lazy_property
    def scale_tril(self):
        """The lower Cholesky factor of the covariance: sqrt(D) times that of 1 + D^-1/2 W W^T D^-1/2."""
        root = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / root
        return self._wide(root * cholesky(scaled @ scaled.mT + eye(self._event_shape[0], dtype=root.dtype)))

    @lazy_property
    def precision_matrix(self):
        """The inverse of the covariance, by Woodbury's identity."""
        diagonal = self._unbroadcasted_cov_diag
        weighted = self._unbroadcasted_cov_factor.mT / diagonal.unsqueeze(-2)
        half = solve_triangular(self._capacitance_tril, weighted, upper=False)
        return self._wide(diag_embed(diagonal.reciprocal()) - half.mT @ half)

    def rsample(self, sample_shape=EMPTY):
        shape = self._extended_shape(sample_shape)
        rank = self.cov_factor.shape[-1]
        low = standard_normal(shape[:-1] + (rank,), self.loc.dtype, self.loc.device)
        own = standard_normal(shape, self.loc.dtype, self.loc.device)
        spread = times_vector(self._unbroadcasted_cov_factor, low)
        return self.loc + spread + self._unbroadcasted_cov_diag.sqrt() * own

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        factor, diagonal = self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag
        square = low_rank_mahalanobis(factor, diagonal, value - self.loc, self._capacitance_tril)
        return normal_from_square(square, self._half_log_determinant(), self.loc)

    def _half_log_determinant(self):
        return low_rank_half_log_determinant(self._unbroadcasted_cov_diag, self._capacitance_tril)

    def entropy(self):
        half = self._half_log_determinant()
        return (0.5 * self._event_shape[0] * (1.0 + LOG_TWO_PI) + half).expand(self._batch_shape)


def capacitance_factor(factor, diagonal):
    """The Cholesky factor of 1 + W^T D^-1 W."""
    inner = factor.mT @ (factor / diagonal.unsqueeze(-1))
    return cholesky(inner + eye(inner.shape[-1], dtype=inner.dtype))


def low_rank_half_log_determinant(diagonal, capacitance):
    """Half of log det(W W^T + D)."""
    return half_log_determinant(capacitance) + 0.5 * diagonal.log().sum(-1)


def low_rank_mahalanobis(factor, diagonal, x, capacitance):
    """x^T (W W^T + D)^-1 x."""
    weighted = x / diagonal
    return (weighted * x).sum(-1) - squared_mahalanobis(capacitance, times_vector(factor.mT, weighted))
