"""Distributions of matrices: Wishart's, and the Cholesky factors of correlation matrices."""

from __future__ import annotations

import math
import warnings

from ..autograd.modes import no_grad
from ..core.engine import Size, Tensor
from ..ir.dtypes import finfo
from ..linalg import cholesky_ex, solve_triangular
from ..ops.comparison import where
from ..ops.creation import full_like
from ..ops.diagonals import diag_embed
from ..ops.from_data import tensor
from ..ops.joining import broadcast_shapes
from ..ops.random import randn
from ..ops.ranges import arange
from ..ops.spatial import pad
from ..ops.unary import mvlgamma
from . import constraints
from .distribution import EMPTY, Distribution, ExponentialFamily, every_true
from .multivariate import factor_from, half_log_determinant, one_matrix
from .positive import Beta, Chi2
from .utils import lazy_property, vec_to_tril_matrix


def multidigamma(x, p: int):
    """The derivative of log of the multivariate gamma function."""
    return (x.unsqueeze(-1) - arange(p, dtype=x.dtype) / 2).digamma().sum(-1)


class Wishart(ExponentialFamily):
    """The Wishart distribution of positive definite matrices: of the sum of `df` outer products of normal vectors.

    Args:
        df: degrees of freedom, above n - 1; it need not be whole
        covariance_matrix, precision_matrix, scale_tril: (*, n, n), one of them, as of `MultivariateNormal`

    Draws are L A A^T L^T with A lower triangular: normal numbers below a diagonal of square roots of chi squared ones
    (Bartlett's decomposition).

    Example:
        >>> from rushlight.distributions import Wishart
        >>> Wishart(rushlight.tensor(3.0), rushlight.eye(2)).mean
        tensor([[3., 0.],
                [0., 3.]])
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    @property
    def arg_constraints(self):
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self._event_shape[-1] - 1),
        }

    def __init__(self, df, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        name, matrix = one_matrix(covariance_matrix, precision_matrix, scale_tril)
        df = df if isinstance(df, Tensor) else tensor(df, dtype=matrix.dtype)
        batch, event = broadcast_shapes(df.shape, matrix.shape[:-2]), matrix.shape[-2:]
        if bool((df <= event[-1] - 1).any()):
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {event[-1] - 1}.")
        self.df = df.expand(batch)
        setattr(self, name, matrix.expand(batch + (-1, -1)))
        self._batch_shape, self._event_shape = batch, event
        super().__init__(batch, event, validate_args)
        if bool((self.df < event[-1]).any()):
            warnings.warn(
                "Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.",
                stacklevel=2,
            )
        self._unbroadcasted_scale_tril = factor_from(name, matrix)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Wishart, _instance)
        new._unbroadcasted_scale_tril, new._event_shape = self._unbroadcasted_scale_tril, self._event_shape
        return self._expanded(new, Size(batch_shape))

    def _wide(self, matrix):
        return matrix.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self):
        """The lower Cholesky factor of the covariance."""
        return self._wide(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self):
        """The covariance of the normal vectors."""
        return self._wide(self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT)

    @lazy_property
    def precision_matrix(self):
        """Its inverse."""
        return self._wide(self._unbroadcasted_scale_tril.cholesky_inverse())

    def _per_matrix(self):
        return self.df.unsqueeze(-1).unsqueeze(-1)

    mean = property(lambda self: self._per_matrix() * self.covariance_matrix)

    @property
    def mode(self):
        factor = self._per_matrix() - self._event_shape[-1] - 1
        return factor.where(factor > 0, full_like(factor, math.nan)) * self.covariance_matrix

    @property
    def variance(self):
        covariance = self.covariance_matrix
        diagonal = covariance.diagonal(0, -2, -1)
        return self._per_matrix() * (covariance.square() + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def rsample(self, sample_shape=EMPTY, max_try_correction=None):
        """Draws; what rounding makes singular is drawn again, `max_try_correction` times (10, or 3 with a batch)."""
        tries = (3 if self._batch_shape else 10) if max_try_correction is None else max_try_correction
        made = self._bartlett(sample_shape)
        for _ in range(tries):
            singular = cholesky_ex(made.detach()).info != 0
            if not every_true(~singular):
                made = where(singular.unsqueeze(-1).unsqueeze(-1), self._bartlett(sample_shape), made)
        return made

    def _bartlett(self, sample_shape):
        n = self._event_shape[-1]
        # the diagonal's degrees of freedom fall from row to row
        falling = self.df.unsqueeze(-1) - arange(n, dtype=self.df.dtype)
        diagonal = Chi2(falling, validate_args=False).rsample(sample_shape).sqrt()
        shape = Size((*sample_shape, *self._batch_shape, n * (n - 1) // 2))
        below = vec_to_tril_matrix(randn(shape, dtype=self.df.dtype), -1)
        factor = self._unbroadcasted_scale_tril @ (below + diag_embed(diagonal))
        return factor @ factor.mT

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        df, n, factor = self.df, self._event_shape[-1], self._unbroadcasted_scale_tril
        half = factor_from("covariance_matrix", value)
        # the trace of the product of value and precision
        within = solve_triangular(factor, half, upper=False).square().sum((-2, -1))
        normaliser = df * half_log_determinant(factor) + df * (n * math.log(2) / 2) + mvlgamma(df / 2, n)
        return (df - n - 1) * half_log_determinant(half) - within / 2 - normaliser

    def entropy(self):
        df, n = self.df, self._event_shape[-1]
        normaliser = df * half_log_determinant(self._unbroadcasted_scale_tril)
        normaliser = normaliser + df * (n * math.log(2) / 2) + mvlgamma(df / 2, n)
        log_det = multidigamma(df / 2, n) + n * math.log(2)
        log_det = log_det + 2 * half_log_determinant(self._unbroadcasted_scale_tril)
        return normaliser - (df - n - 1) / 2 * log_det + df * (n / 2)


class LKJCholesky(Distribution):
    """Lower Cholesky factors of correlation matrices C, whose density is in proportion to det(C)^(concentration - 1).

    Args:
        dim: rows of the matrices, 2 or more
        concentration: 1 makes all matrices alike, more favours those near the identity

    Draws are made row by row: a direction, and how much of the row's length it takes (the onion method of Lewandowski,
    Kurowicka and Joe, Journal of Multivariate Analysis 100, 2009).

    Example:
        >>> from rushlight.distributions import LKJCholesky
        >>> factor = LKJCholesky(3, 0.5).sample()
        >>> bool(((factor @ factor.T).diagonal() - 1).abs().max() < 1e-5)
        True
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration=1.0, validate_args=None):
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        self.concentration = concentration if isinstance(concentration, Tensor) else tensor(float(concentration))
        super().__init__(self.concentration.size(), Size((dim, dim)), validate_args)
        self._beta = row_lengths(dim, self.concentration)

    def _adopted(self, new, batch_shape):
        new.dim, new._beta = self.dim, self._beta.expand(batch_shape + (self.dim,))
        return super()._adopted(new, batch_shape)

    def sample(self, sample_shape=EMPTY):
        with no_grad():
            length = self._beta.sample(sample_shape).unsqueeze(-1)
            direction = randn(self._extended_shape(sample_shape), dtype=length.dtype).tril(-1)
            direction = direction / direction.norm(dim=-1, keepdim=True)
            direction[..., 0, :] = 0.0
            rows = length.sqrt() * direction
            rest = (1 - rows.square().sum(-1)).clamp(min=finfo(rows.dtype).tiny).sqrt()
            return rows + diag_embed(rest)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        diagonal = value.diagonal(0, -2, -1)[..., 1:]
        order = arange(2, self.dim + 1, dtype=self.concentration.dtype)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        density = (order * diagonal.log()).sum(-1)
        n = self.dim - 1
        alpha = self.concentration + 0.5 * n
        normaliser = 0.5 * n * math.log(math.pi) + mvlgamma(alpha - 0.5, n) - alpha.lgamma() * n
        return density - normaliser


def row_lengths(dim: int, concentration) -> Beta:
    """The distributions of the squared length of each row, without its last number.

    Row k has k numbers there, uniform in direction: Beta(k / 2, concentration + (dim - 1 - k) / 2).
    """
    half = pad(arange(1, dim, dtype=concentration.dtype) / 2, [1, 0], value=0.5)  # the first row has none: any will do
    return Beta(half, concentration.unsqueeze(-1) + 0.5 * (dim - 1) - half, validate_args=False)
