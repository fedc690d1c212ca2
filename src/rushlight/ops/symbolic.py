"""`sym_int`, `sym_max`, ..: arithmetic for sizes that programs may trace. Sizes are plain numbers here."""

from __future__ import annotations

import math

from .declare import composite


def _check(name: str, *values) -> None:
    for value in values:
        if isinstance(value, complex) or not hasattr(value, "__float__"):
            raise TypeError(f"{name}(): expected numbers, got {type(value).__name__}")


@composite
def sym_int(a) -> int:
    """The number as an int, rounded towards zero."""
    return int(a)


@composite
def sym_float(a) -> float:
    """The number as a float."""
    return float(a)


@composite
def sym_not(a) -> bool:
    """The opposite of a truth value."""
    return not a


@composite
def sym_max(a, b):
    """The larger number, a float if one of them is."""
    _check("sym_max", a, b)
    return _float_if_one_is(max(a, b), a, b)


@composite
def sym_min(a, b):
    """The smaller number, a float if one of them is."""
    _check("sym_min", a, b)
    return _float_if_one_is(min(a, b), a, b)


def _float_if_one_is(found, a, b):
    return float(found) if isinstance(a, float) or isinstance(b, float) else found


@composite
def sym_sum(*args):
    """The sum of numbers, given one by one or as a list."""
    return sum(args[0]) if len(args) == 1 and isinstance(args[0], (list, tuple)) else sum(args)


@composite
def sym_sqrt(a) -> float:
    """The square root of a number."""
    return math.sqrt(a)


@composite
def sym_ite(b, t, f):
    """`t` if `b` else `f`; both of one type."""
    if type(b) is not bool or type(t) is not type(f):
        raise TypeError(
            f"sym_ite(): expected a bool and two values of one type, got {type(b).__name__}, {type(t).__name__} and "
            f"{type(f).__name__}"
        )
    return t if b else f
