"""Transforms of numbers: powers, exponentials, affine maps, squashing functions, distribution functions."""

from __future__ import annotations

import math

from ..core.engine import Tensor
from ..ir import build as B
from ..ir.dtypes import finfo
from ..ops import op
from ..ops.activation import softplus
from ..ops.creation import full_like
from ..ops.joining import broadcast_shapes
from . import constraints
from .composed_transforms import Transform
from .sampling import TINY
from .utils import broadcast_all


class ExpTransform(Transform):
    """y = exp(x)."""

    domain, codomain, bijective, sign = constraints.real, constraints.positive, True, 1

    def __eq__(self, other) -> bool:
        return isinstance(other, ExpTransform)

    __hash__ = object.__hash__

    def _call(self, x):
        return x.exp()

    def _inverse(self, y):
        return y.log()

    def log_abs_det_jacobian(self, x, y):
        return x


@op(public=False)
def power_slope(x, y, exponent):
    return B.log(B.abs(exponent * y / x))


class PowerTransform(Transform):
    """y = x^exponent, of positive numbers."""

    domain, codomain, bijective = constraints.positive, constraints.positive, True

    def __init__(self, exponent, cache_size: int = 0):
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    @property
    def sign(self):
        return self.exponent.sign()

    def with_cache(self, cache_size: int = 1):
        return self if self._cache_size == cache_size else PowerTransform(self.exponent, cache_size=cache_size)

    def __eq__(self, other) -> bool:
        return isinstance(other, PowerTransform) and bool(self.exponent.eq(other.exponent).all())

    __hash__ = object.__hash__

    def _call(self, x):
        return x.pow(self.exponent)

    def _inverse(self, y):
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x, y):
        return power_slope(x, y, self.exponent)

    def forward_shape(self, shape):
        return joint_shape(shape, self.exponent)

    inverse_shape = forward_shape


class AffineTransform(Transform):
    """y = loc + scale x; `event_dim` last dims make one event.

    Example:
        >>> from rushlight.distributions.transforms import AffineTransform
        >>> AffineTransform(1.0, -2.0)(rushlight.tensor([0.0, 1.0]))
        tensor([ 1., -1.])
    """

    bijective = True

    def __init__(self, loc, scale, event_dim: int = 0, cache_size: int = 0):
        super().__init__(cache_size=cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    event_dim = property(lambda self: self._event_dim)

    @property
    def domain(self):
        return constraints.independent(constraints.real, self.event_dim) if self.event_dim else constraints.real

    codomain = domain

    def with_cache(self, cache_size: int = 1):
        if self._cache_size == cache_size:
            return self
        return AffineTransform(self.loc, self.scale, self.event_dim, cache_size=cache_size)

    def __eq__(self, other) -> bool:
        if not isinstance(other, AffineTransform):
            return False
        return same(self.loc, other.loc) and same(self.scale, other.scale)

    __hash__ = object.__hash__

    @property
    def sign(self):
        scale = self.scale
        return scale.sign() if isinstance(scale, Tensor) else (scale > 0) - (scale < 0)

    def _call(self, x):
        return self.loc + self.scale * x

    def _inverse(self, y):
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x, y):
        if isinstance(self.scale, Tensor):
            result = self.scale.abs().log()
        else:
            result = full_like(x, math.log(abs(self.scale)))
        if self.event_dim:
            result = result.expand(x.shape).flatten(x.dim() - self.event_dim).sum(-1)
        return result.expand(x.shape[: x.dim() - self.event_dim])

    def forward_shape(self, shape):
        return joint_shape(shape, self.loc, self.scale)

    inverse_shape = forward_shape


def same(a, b) -> bool:
    """Whether two numbers or tensors are equal."""
    equal = a == b
    return bool(equal.all()) if isinstance(equal, Tensor) else equal


def joint_shape(shape, *parameters):
    """The shape that a shape and parameters broadcast to."""
    return broadcast_shapes(shape, *(getattr(p, "shape", ()) for p in parameters))


class AbsTransform(Transform):
    """y = |x|: no bijection; its inverse gives the positive one of two."""

    domain, codomain = constraints.real, constraints.positive

    def __eq__(self, other) -> bool:
        return isinstance(other, AbsTransform)

    __hash__ = object.__hash__

    def _call(self, x):
        return x.abs()

    def _inverse(self, y):
        return y


# -- squashing functions ----------------------------------------------------------------------------
@op(public=False)
def clipped_sigmoid(x):
    """Inside of (0, 1)."""
    return B.clamp(B.sigmoid(x), TINY[x.dtype.name], 1 - finfo(x.dtype).eps)


@op(public=False)
def clipped_logit(y):
    inside = B.clamp(y, TINY[y.dtype.name], 1 - finfo(y.dtype).eps)
    return B.log(inside) - B.log1p(-inside)


@op(public=False)
def sigmoid_slope(x):
    return -softplus(-x) - softplus(x)


class SigmoidTransform(Transform):
    """y = 1 / (1 + exp(-x)), kept inside of (0, 1)."""

    domain, codomain, bijective, sign = constraints.real, constraints.unit_interval, True, 1

    def __eq__(self, other) -> bool:
        return isinstance(other, SigmoidTransform)

    __hash__ = object.__hash__

    def _call(self, x):
        return clipped_sigmoid(x)

    def _inverse(self, y):
        return clipped_logit(y)

    def log_abs_det_jacobian(self, x, y):
        return sigmoid_slope(x)


@op(public=False)
def softplus_inverse(y):
    return B.log(-B.expm1(-y)) + y


class SoftplusTransform(Transform):
    """y = log(1 + exp(x)); x itself above 20."""

    domain, codomain, bijective, sign = constraints.real, constraints.positive, True, 1

    def __eq__(self, other) -> bool:
        return isinstance(other, SoftplusTransform)

    __hash__ = object.__hash__

    def _call(self, x):
        return softplus(x)

    def _inverse(self, y):
        return softplus_inverse(y)

    def log_abs_det_jacobian(self, x, y):
        return -softplus(-x)


@op(public=False)
def tanh_slope(x):
    """log(1 - tanh(x)^2), without cancellation."""
    return 2 * (math.log(2) - x - softplus(-2 * x))


class TanhTransform(Transform):
    """y = tanh(x)."""

    domain, codomain, bijective, sign = constraints.real, constraints.interval(-1.0, 1.0), True, 1

    def __eq__(self, other) -> bool:
        return isinstance(other, TanhTransform)

    __hash__ = object.__hash__

    def _call(self, x):
        return x.tanh()

    def _inverse(self, y):
        return y.atanh()

    def log_abs_det_jacobian(self, x, y):
        return tanh_slope(x)


class CumulativeDistributionTransform(Transform):
    """y = the distribution function of a distribution of numbers."""

    codomain, bijective, sign = constraints.unit_interval, True, 1

    def __init__(self, distribution, cache_size: int = 0):
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    domain = property(lambda self: self.distribution.support)

    def with_cache(self, cache_size: int = 1):
        if self._cache_size == cache_size:
            return self
        return CumulativeDistributionTransform(self.distribution, cache_size=cache_size)

    def _call(self, x):
        return self.distribution.cdf(x)

    def _inverse(self, y):
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x, y):
        return self.distribution.log_prob(x)
