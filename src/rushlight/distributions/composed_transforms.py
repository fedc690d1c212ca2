"""Transforms: maps with an inverse and the logarithm of their Jacobian's determinant, and how to put them together."""

from __future__ import annotations

import functools
import operator
import weakref

from ..ops.creation import zeros_like
from ..ops.joining import cat, stack
from . import constraints
from .utils import sum_rightmost


class Transform:
    """A map y = t(x), with `t.inv` and log |det dy/dx|.

    Args:
        cache_size: 1 keeps the last pair of x and y, so that the inverse of a y just computed costs nothing; 0 does not

    A subclass gives `domain`, `codomain` (constraints), `bijective`, `_call`, `_inverse` and `log_abs_det_jacobian`,
    and `sign` (1 or -1) where the map of numbers is monotone.

    Example:
        >>> from rushlight.distributions.transforms import ExpTransform
        >>> transform = ExpTransform()
        >>> y = transform(rushlight.tensor(1.0))
        >>> transform.inv(y), transform.log_abs_det_jacobian(rushlight.tensor(1.0), y)
        (tensor(1.), tensor(1.))
    """

    bijective = False
    domain: constraints.Constraint
    codomain: constraints.Constraint

    def __init__(self, cache_size: int = 0):
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size, self._inv, self._cached_x_y = cache_size, None, (None, None)

    def __getstate__(self):
        return {**self.__dict__, "_inv": None}

    @property
    def inv(self) -> Transform:
        """The inverse map, with `t.inv.inv is t`."""
        found = None if self._inv is None else self._inv()
        if found is None:
            found = _InverseTransform(self)
            self._inv = weakref.ref(found)
        return found

    @property
    def sign(self) -> int:
        """1 for an increasing map of numbers, -1 for a decreasing one."""
        raise NotImplementedError(f"{type(self).__name__}.sign: the map is not monotone")

    def with_cache(self, cache_size: int = 1) -> Transform:
        """The same map with another size of cache."""
        if self._cache_size == cache_size:
            return self
        if type(self).__init__ is Transform.__init__:
            return type(self)(cache_size=cache_size)
        raise NotImplementedError(f"{type(self)}.with_cache is not implemented")

    def __eq__(self, other) -> bool:
        return self is other

    def __ne__(self, other) -> bool:
        return not self.__eq__(other)

    __hash__ = object.__hash__

    def __call__(self, x):
        if not self._cache_size:
            return self._call(x)
        x_old, y_old = self._cached_x_y
        if x is x_old:
            return y_old
        y = self._call(x)
        self._cached_x_y = x, y
        return y

    def _inv_call(self, y):
        if not self._cache_size:
            return self._inverse(y)
        x_old, y_old = self._cached_x_y
        if y is y_old:
            return x_old
        x = self._inverse(y)
        self._cached_x_y = x, y
        return x

    def _call(self, x):
        raise NotImplementedError(f"{type(self).__name__}._call")

    def _inverse(self, y):
        raise NotImplementedError(f"{type(self).__name__}._inverse")

    def log_abs_det_jacobian(self, x, y):
        """log |det dy/dx| for each event of the domain."""
        raise NotImplementedError(f"{type(self).__name__}.log_abs_det_jacobian")

    def forward_shape(self, shape):
        """The shape of t(x) for x of a shape."""
        return shape

    def inverse_shape(self, shape):
        """The shape of x for t(x) of a shape."""
        return shape

    def __repr__(self) -> str:
        return type(self).__name__ + "()"


class _InverseTransform(Transform):
    """The inverse of a transform, which it keeps alive."""

    def __init__(self, transform: Transform):
        super().__init__(cache_size=transform._cache_size)
        self._inv = transform

    def __getstate__(self):
        return self.__dict__

    domain = property(lambda self: self._inv.codomain)
    codomain = property(lambda self: self._inv.domain)
    bijective = property(lambda self: self._inv.bijective)
    sign = property(lambda self: self._inv.sign)
    inv = property(lambda self: self._inv)

    def with_cache(self, cache_size: int = 1):
        return self._inv.with_cache(cache_size).inv

    def __eq__(self, other) -> bool:
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    __hash__ = object.__hash__

    def __call__(self, x):
        return self._inv._inv_call(x)

    def _inv_call(self, y):
        return self._inv(y)

    def log_abs_det_jacobian(self, x, y):
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape):
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape):
        return self._inv.forward_shape(shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._inv!r})"


def widened(constraint, event_dim: int):
    """A constraint of events with so many dims."""
    more = event_dim - constraint.event_dim
    return constraints.independent(constraint, more) if more > 0 else constraint


# -- one after another ------------------------------------------------------------------------------
class ComposeTransform(Transform):
    """Transforms one after another, the first of the list first.

    Example:
        >>> from rushlight.distributions.transforms import AffineTransform, ComposeTransform, ExpTransform
        >>> ComposeTransform([AffineTransform(1.0, 2.0), ExpTransform()])(rushlight.tensor(0.0))
        tensor(2.7183)
    """

    def __init__(self, parts, cache_size: int = 0):
        super().__init__(cache_size=cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else list(parts)

    def __eq__(self, other) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = object.__hash__

    @property
    def domain(self):
        if not self.parts:
            return constraints.real
        event_dim = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            event_dim = max(event_dim + part.domain.event_dim - part.codomain.event_dim, part.domain.event_dim)
        return widened(self.parts[0].domain, event_dim)

    @property
    def codomain(self):
        if not self.parts:
            return constraints.real
        event_dim = self.parts[0].domain.event_dim
        for part in self.parts:
            event_dim = max(event_dim + part.codomain.event_dim - part.domain.event_dim, part.codomain.event_dim)
        return widened(self.parts[-1].codomain, event_dim)

    bijective = property(lambda self: all(part.bijective for part in self.parts))

    @property
    def sign(self):
        return functools.reduce(operator.mul, (part.sign for part in self.parts), 1)

    @property
    def inv(self):
        found = None if self._inv is None else self._inv()
        if found is None:
            found = ComposeTransform([part.inv for part in reversed(self.parts)])
            self._inv, found._inv = weakref.ref(found), weakref.ref(self)
        return found

    def with_cache(self, cache_size: int = 1):
        return self if self._cache_size == cache_size else ComposeTransform(self.parts, cache_size=cache_size)

    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x, y):
        if not self.parts:
            return zeros_like(x)
        values = [x]
        for part in self.parts[:-1]:
            values.append(part(values[-1]))
        values.append(y)
        event_dim, total = self.domain.event_dim, 0
        for part, before, after in zip(self.parts, values, values[1:]):
            slope = part.log_abs_det_jacobian(before, after)
            total = total + sum_rightmost(slope, event_dim - part.domain.event_dim)
            event_dim += part.codomain.event_dim - part.domain.event_dim
        return total

    def forward_shape(self, shape):
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape):
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        inner = ",\n    ".join(map(repr, self.parts))
        return f"{type(self).__name__}(\n    {inner}\n)"


identity_transform = ComposeTransform([])


# -- further dims -----------------------------------------------------------------------------------
class IndependentTransform(Transform):
    """A transform that counts further dims as part of an event: their log determinants are summed."""

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0):
        super().__init__(cache_size=cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def with_cache(self, cache_size: int = 1):
        if self._cache_size == cache_size:
            return self
        return IndependentTransform(self.base_transform, self.reinterpreted_batch_ndims, cache_size=cache_size)

    @property
    def domain(self):
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @property
    def codomain(self):
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    bijective = property(lambda self: self.base_transform.bijective)
    sign = property(lambda self: self.base_transform.sign)

    def _check_dims(self, x, constraint) -> None:
        if x.dim() < constraint.event_dim:
            raise ValueError("Too few dimensions on input")

    def _call(self, x):
        self._check_dims(x, self.domain)
        return self.base_transform(x)

    def _inverse(self, y):
        self._check_dims(y, self.codomain)
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x, y):
        return sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def forward_shape(self, shape):
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape):
        return self.base_transform.inverse_shape(shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


class ReshapeTransform(Transform):
    """Another shape of the last dims; the determinant is 1."""

    bijective = True

    def __init__(self, in_shape, out_shape, cache_size: int = 0):
        from ..core.engine import Size

        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size=cache_size)

    domain = property(lambda self: constraints.independent(constraints.real, len(self.in_shape)))
    codomain = property(lambda self: constraints.independent(constraints.real, len(self.out_shape)))

    def with_cache(self, cache_size: int = 1):
        return self if self._cache_size == cache_size else ReshapeTransform(self.in_shape, self.out_shape, cache_size)

    def _call(self, x):
        return x.reshape((*x.shape[: x.dim() - len(self.in_shape)], *self.out_shape))

    def _inverse(self, y):
        return y.reshape((*y.shape[: y.dim() - len(self.out_shape)], *self.in_shape))

    def log_abs_det_jacobian(self, x, y):
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    def forward_shape(self, shape):
        return reshaped(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape):
        return reshaped(shape, self.out_shape, self.in_shape)


def reshaped(shape, old, new):
    """A shape whose last dims are `old`, with `new` in their place."""
    if len(shape) < len(old):
        raise ValueError("Too few dimensions on input")
    cut = len(shape) - len(old)
    if tuple(shape[cut:]) != tuple(old):
        raise ValueError(f"Shape mismatch: expected {shape[cut:]} but got {old}")
    return shape[:cut] + new


# -- side by side -----------------------------------------------------------------------------------
class CatTransform(Transform):
    """Transforms of parts of a tensor along `dim`, of the given lengths (1 each by default).

    Example:
        >>> from rushlight.distributions.transforms import CatTransform, ExpTransform, identity_transform
        >>> CatTransform([ExpTransform(), identity_transform], dim=0, lengths=[1, 2])(rushlight.zeros(3))
        tensor([1., 0., 0.])
    """

    def __init__(self, tseq, dim: int = 0, lengths=None, cache_size: int = 0):
        transforms = list(tseq)
        if not all(isinstance(t, Transform) for t in transforms):
            raise ValueError("CatTransform: expected a sequence of transforms")
        super().__init__(cache_size=cache_size)
        self.transforms = [t.with_cache(cache_size) for t in transforms] if cache_size else transforms
        self.lengths = [1] * len(transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(transforms):
            raise ValueError(f"CatTransform: expected {len(transforms)} lengths, got {len(self.lengths)}")
        self.dim = dim

    event_dim = property(lambda self: max(t.codomain.event_dim for t in self.transforms))
    length = property(lambda self: sum(self.lengths))
    bijective = property(lambda self: all(t.bijective for t in self.transforms))

    @property
    def domain(self):
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @property
    def codomain(self):
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)

    def with_cache(self, cache_size: int = 1):
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _parts(self, x):
        """The parts of a tensor, one for each transform."""
        if not -x.dim() <= self.dim < x.dim() or x.size(self.dim) != self.length:
            raise ValueError(f"CatTransform: expected {self.length} elements along dim {self.dim}, got {x.shape}")
        return x.split(self.lengths, self.dim)

    def _call(self, x):
        return cat([t(part) for t, part in zip(self.transforms, self._parts(x))], self.dim)

    def _inverse(self, y):
        return cat([t.inv(part) for t, part in zip(self.transforms, self._parts(y))], self.dim)

    def log_abs_det_jacobian(self, x, y):
        slopes = []
        for t, before, after in zip(self.transforms, self._parts(x), self._parts(y)):
            slope = t.log_abs_det_jacobian(before, after)
            slopes.append(sum_rightmost(slope, self.event_dim - t.domain.event_dim))
        dim = self.dim - x.dim() if self.dim >= 0 else self.dim
        dim += self.event_dim
        # where the parts are parts of one event, their log determinants add up
        return cat(slopes, dim) if dim < 0 else sum(slopes)


class StackTransform(Transform):
    """Transforms of the slices of a tensor along `dim`.

    Example:
        >>> from rushlight.distributions.transforms import ExpTransform, StackTransform, identity_transform
        >>> StackTransform([identity_transform, ExpTransform()], dim=1)(rushlight.zeros(1, 2))
        tensor([[0., 1.]])
    """

    def __init__(self, tseq, dim: int = 0, cache_size: int = 0):
        transforms = list(tseq)
        if not all(isinstance(t, Transform) for t in transforms):
            raise ValueError("StackTransform: expected a sequence of transforms")
        super().__init__(cache_size=cache_size)
        self.transforms = [t.with_cache(cache_size) for t in transforms] if cache_size else transforms
        self.dim = dim

    bijective = property(lambda self: all(t.bijective for t in self.transforms))
    domain = property(lambda self: constraints.stack([t.domain for t in self.transforms], self.dim))
    codomain = property(lambda self: constraints.stack([t.codomain for t in self.transforms], self.dim))

    def with_cache(self, cache_size: int = 1):
        return self if self._cache_size == cache_size else StackTransform(self.transforms, self.dim, cache_size)

    def _slices(self, x):
        if not -x.dim() <= self.dim < x.dim() or x.size(self.dim) != len(self.transforms):
            raise ValueError(f"StackTransform: expected {len(self.transforms)} slices in dim {self.dim}, got {x.shape}")
        return x.unbind(self.dim)

    def _call(self, x):
        return stack([t(part) for t, part in zip(self.transforms, self._slices(x))], self.dim)

    def _inverse(self, y):
        return stack([t.inv(part) for t, part in zip(self.transforms, self._slices(y))], self.dim)

    def log_abs_det_jacobian(self, x, y):
        pairs = zip(self.transforms, self._slices(x), self._slices(y))
        return stack([t.log_abs_det_jacobian(before, after) for t, before, after in pairs], self.dim)
