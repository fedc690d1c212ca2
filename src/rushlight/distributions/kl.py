"""Kullback-Leibler divergences: `kl_divergence`, the table behind it, and how to add to it.

Formulas of pairs of one family are single ops; the rest, and pairs of different families, are in `kl_pairs`.
"""

from __future__ import annotations

import warnings
from operator import attrgetter

from ..ops import op

__all__ = ["kl_divergence", "register_kl"]

_REGISTRY: dict = {}  # pairs of classes -> function(p, q)
_FOUND: dict = {}  # pairs of classes that were asked for -> the function that serves them


def register_kl(type_p: type, type_q: type):
    """Register a function of p and q for two classes of distributions and what derives from them.

    Of several pairs that match a call the closest one counts, by p first.

    Raises:
        TypeError: for what is no distribution class

    Example:
        >>> from rushlight.distributions import Distribution, kl_divergence, register_kl
        >>> class Certain(Distribution):
        ...     arg_constraints = {}
        >>> @register_kl(Certain, Certain)
        ... def certainly_nothing(p, q):
        ...     return rushlight.zeros(p.batch_shape)
        >>> kl_divergence(Certain(), Certain())
        tensor(0.)
    """
    from .distribution import Distribution

    for name, kind in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(kind, type) or not issubclass(kind, Distribution):
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {kind}")

    def decorator(function):
        _REGISTRY[type_p, type_q] = function
        _FOUND.clear()
        return function

    return decorator


def divergence(type_p: type, type_q: type):
    """Register a formula over Values, one op, whose arguments are attributes of p and q: `p_loc`, `q_scale`, ..."""

    def declare(body):
        body.__name__ = f"kl_{type_p.__name__}_{type_q.__name__}".lower()
        names = body.__code__.co_varnames[: body.__code__.co_argcount]
        made, readers = op(body, public=False), [(name[0] == "p", attrgetter(name[2:])) for name in names]

        def function(p, q):
            return made(*[read(p if of_p else q) for of_p, read in readers])

        return register_kl(type_p, type_q)(function)

    return declare


def kl_divergence(p, q):
    """KL(p || q), the expected value under p of log p(x) - log q(x), of shape batch_shape.

    Raises:
        NotImplementedError: if the table has nothing for such a pair

    Example:
        >>> from rushlight.distributions import Normal, kl_divergence
        >>> kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
        tensor(0.5000)
    """
    types = type(p), type(q)
    function = _FOUND.get(types)
    if function is None:
        function = _FOUND[types] = _closest(*types)
    return function(p, q)


def _closest(type_p: type, type_q: type):
    """The function of the closest pair of classes in the table."""
    from . import kl_pairs  # noqa: F401  the table

    line_p, line_q = type_p.__mro__, type_q.__mro__
    matches = [(line_p.index(a), line_q.index(b), f) for (a, b), f in _REGISTRY.items() if a in line_p and b in line_q]
    if not matches:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type_p.__name__} and q type {type_q.__name__}"
        )
    by_p, by_q = min(matches, key=lambda m: m[:2]), min(matches, key=lambda m: (m[1], m[0]))
    if by_p[2] is not by_q[2]:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}): the closest pair by p is "
            f"({line_p[by_p[0]].__name__}, {line_q[by_p[1]].__name__}), by q ({line_p[by_q[0]].__name__}, "
            f"{line_q[by_q[1]].__name__}). Please register_kl for the pair itself.",
            RuntimeWarning,
            stacklevel=3,
        )
    return by_p[2]
