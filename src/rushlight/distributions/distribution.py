"""What all distributions share: shapes, validation, and what follows from a density."""

from __future__ import annotations

from ..autograd.backward import grad
from ..autograd.modes import enable_grad, no_grad
from ..core.engine import Size, Tensor
from ..ops.checks import every_sample
from . import constraints
from .utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits

EMPTY = Size(())


class Distribution:
    """The base class of distributions.

    Args:
        batch_shape: the shape of the parameters' batch: so many independent distributions
        event_shape: the shape of one draw
        validate_args: whether parameters and values are checked; None for the default (see
            `set_default_validate_args`)

    Draws have the shape sample_shape + batch_shape + event_shape, `log_prob` of a value sample_shape + batch_shape.

    Example:
        >>> from rushlight.distributions import Normal
        >>> normal = Normal(rushlight.zeros(3), 1.0)
        >>> normal.batch_shape, normal.sample((2,)).shape
        (rushlight.Size([3]), rushlight.Size([2, 3]))
        >>> normal.log_prob(rushlight.zeros(3))
        tensor([-0.9189, -0.9189, -0.9189])
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions check parameters and values unless told otherwise: at first, unless Python runs -O.

        Raises:
            ValueError: unless it is True or False
        """
        if value not in (True, False):
            raise ValueError(f"set_default_validate_args: expected True or False, got {value!r}")
        Distribution._validate_args = value

    def __init__(self, batch_shape=EMPTY, event_shape=EMPTY, validate_args: bool | None = None):
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._validate_parameters()

    def _validate_parameters(self) -> None:
        try:
            arg_constraints = self.arg_constraints
        except NotImplementedError:
            import warnings

            warnings.warn(
                f"{type(self)} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or initialize "
                "the distribution with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        for name, constraint in arg_constraints.items():
            if constraints.is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(getattr(type(self), name, None), lazy_property):
                continue  # it will be computed from one that is checked
            value = getattr(self, name)
            valid = constraint.check(value)
            if not every_true(valid):
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                    f"{self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n"
                    f"{every_sample(value)}"
                )

    # -- shapes ---------------------------------------------------------------------------------
    @property
    def batch_shape(self) -> Size:
        """The shape over which parameters are batched."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of a single draw."""
        return self._event_shape

    def _extended_shape(self, sample_shape=EMPTY) -> Size:
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def expand(self, batch_shape, _instance=None):
        """The distribution with its parameters expanded to a batch shape. No memory is allocated."""
        family = next(kind for kind in type(self).__mro__ if kind.__module__.startswith(__package__))
        new = self._get_checked_instance(family, _instance)
        return self._expanded(new, Size(batch_shape))

    def _get_checked_instance(self, cls, _instance=None):
        """An instance without attributes, of this class or given; subclasses with other arguments expand themselves."""
        if _instance is None and type(self).__init__ is not cls.__init__:
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method must also "
                "define a custom .expand() method."
            )
        return self.__new__(type(self)) if _instance is None else _instance

    def _expanded(self, new, batch_shape: Size):
        """Fill `new` with the parameters, each expanded over the batch and its own dims."""
        for name, constraint in self.arg_constraints.items():
            if name in self.__dict__:
                value, own = self.__dict__[name], constraint.event_dim
                setattr(new, name, value.expand((*batch_shape, *value.shape[value.ndim - own :])))
        return self._adopted(new, batch_shape)

    def _adopted(self, new, batch_shape: Size):
        """The shapes and the habit of validation of this distribution in an expanded one; nothing is checked again."""
        Distribution.__init__(new, batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    # -- what a distribution says of itself -----------------------------------------------------
    @property
    def arg_constraints(self) -> dict:
        """The constraint of each parameter, by name."""
        raise NotImplementedError(f"{type(self).__name__}.arg_constraints")

    @property
    def support(self):
        """The constraint that draws satisfy."""
        raise NotImplementedError(f"{type(self).__name__}.support")

    @property
    def mean(self) -> Tensor:
        """The expected value."""
        raise NotImplementedError(f"{type(self).__name__}.mean")

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variance of each number of an event."""
        raise NotImplementedError(f"{type(self).__name__}.variance")

    @property
    def stddev(self) -> Tensor:
        """The square root of the variance."""
        return self.variance.sqrt()

    # -- what a distribution can do -------------------------------------------------------------
    def sample(self, sample_shape=EMPTY) -> Tensor:
        """Draws of shape sample_shape + batch_shape + event_shape, without gradient."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=EMPTY) -> Tensor:
        """Draws that are functions of the parameters, so that gradients flow to these."""
        raise NotImplementedError(f"{type(self).__name__}.rsample: draws are not differentiable; use sample")

    def sample_n(self, n: int) -> Tensor:
        """`n` draws: an older name of `sample((n,))`."""
        import warnings

        warnings.warn("sample_n(n) will be deprecated. Use .sample((n,)) instead", UserWarning, stacklevel=2)
        return self.sample((n,))

    def log_prob(self, value) -> Tensor:
        """The logarithm of the density, or of the probability, at a value."""
        raise NotImplementedError(f"{type(self).__name__}.log_prob")

    def cdf(self, value) -> Tensor:
        """The probability of what is at most the value."""
        raise NotImplementedError(f"{type(self).__name__}.cdf")

    def icdf(self, value) -> Tensor:
        """The quantile: the inverse of `cdf`."""
        raise NotImplementedError(f"{type(self).__name__}.icdf")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values of a discrete distribution, in a first dim; the batch's dims are 1 unless `expand`."""
        raise NotImplementedError(f"{type(self).__name__}.enumerate_support")

    def entropy(self) -> Tensor:
        """The expected value of -log_prob, of shape batch_shape."""
        raise NotImplementedError(f"{type(self).__name__}.entropy")

    def perplexity(self) -> Tensor:
        """exp(entropy)."""
        return self.entropy().exp()

    # -- checks ---------------------------------------------------------------------------------
    def _validate_sample(self, value) -> None:
        """ValueError unless the value is a tensor that broadcasts against batch and event and lies in the support."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        shape, expected = value.shape, (*self._batch_shape, *self._event_shape)
        if shape != expected:
            self._check_shape(tuple(shape), expected)
        try:
            support = self.support
        except NotImplementedError:
            return
        if not every_true(support.check(value)):
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the "
                f"support ({support!r}) of the distribution {self!r}, but found invalid values:\n"
                f"{every_sample(value)}"
            )

    def _check_shape(self, shape: tuple, expected: tuple) -> None:
        start = len(shape) - len(self._event_shape)
        if start < 0 or shape[start:] != tuple(self._event_shape):
            raise ValueError(
                f"The right-most size of value must match event_shape: {Size(shape)} vs {self._event_shape}."
            )
        for given, own in zip(reversed(shape), reversed(expected)):
            if given != 1 and own != 1 and given != own:
                raise ValueError(
                    f"Value is not broadcastable with batch_shape+event_shape: {Size(shape)} vs {Size(expected)}."
                )

    def __repr__(self) -> str:
        known = [name for name in self.arg_constraints if name in self.__dict__]
        shown = ", ".join(f"{name}: {_described(self.__dict__[name])}" for name in known)
        return f"{type(self).__name__}({shown})"


def _described(value) -> str:
    # under `vmap` a number is one for each sample
    return f"{value}" if value.numel() == 1 and not value._layout.batch else f"{value.size()}"


def every_true(valid) -> bool:
    """Whether all elements are true; under `vmap` those of all samples."""
    return bool(every_sample(valid).all())


class ExponentialFamily(Distribution):
    """Densities exp(<t(x), θ> - F(θ) + k(x)) with natural parameters θ, log normaliser F and carrier measure k.

    A subclass that gives `_natural_params`, `_log_normalizer(*θ)` and `_mean_carrier_measure` has an entropy and
    divergences without further formulas: they follow from the gradient of F (Nielsen and Nock, "Entropies and
    cross-entropies of exponential families", ICIP 2010).
    """

    @property
    def _natural_params(self) -> tuple:
        raise NotImplementedError(f"{type(self).__name__}._natural_params")

    def _log_normalizer(self, *natural_params):
        raise NotImplementedError(f"{type(self).__name__}._log_normalizer")

    @property
    def _mean_carrier_measure(self):
        raise NotImplementedError(f"{type(self).__name__}._mean_carrier_measure")

    def entropy(self) -> Tensor:
        """F(θ) - <θ, dF/dθ> - E[k(x)]."""
        params, normalizer, slopes = self._normalizer_slopes()
        result = normalizer - self._mean_carrier_measure
        for parameter, slope in zip(params, slopes):
            product = parameter * slope
            result = result - product.reshape((*self._batch_shape, -1)).sum(-1)
        return result

    def _normalizer_slopes(self):
        """The natural parameters, the log normaliser there and its gradient."""
        with enable_grad():
            params = [p.detach().requires_grad_() for p in self._natural_params]
            normalizer = self._log_normalizer(*params)
            return params, normalizer, grad(normalizer.sum(), params, create_graph=True)


class Elementwise(Distribution):
    """Distributions of single numbers, whose parameters broadcast against each other."""

    def _set(self, validate_args, **parameters) -> None:
        """Keep the parameters, broadcast; their shape is the batch's."""
        tensors = broadcast_all(*parameters.values())
        self.__dict__.update(zip(parameters, tensors))
        Distribution.__init__(self, tensors[0].shape, validate_args=validate_args)


class Odds(Elementwise):
    """Distributions with a probability, given as such or as log odds; the other one is computed when asked for."""

    def _set_odds(self, validate_args, probs, logits, **parameters) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        given = {"logits": logits} if probs is None else {"probs": probs}
        self._set(validate_args, **parameters, **given)

    @lazy_property
    def logits(self):
        """The log odds, log(p / (1 - p))."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self):
        """The probability."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def _param(self):
        given = self.__dict__
        return given["probs"] if "probs" in given else given["logits"]

    @property
    def param_shape(self):
        """The shape of the probabilities."""
        return self._param.size()
