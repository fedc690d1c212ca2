"""Formulas of distributions: each is one op, so a density is one pass over memory and is differentiated as a whole."""

from __future__ import annotations

from operator import attrgetter

from ..ops import op

PROPERTIES = ("mean", "mode", "variance", "stddev")


def formula(body):
    """Make a method of a formula over Values whose arguments are named as attributes of the distribution.

    A formula whose first argument is `value` becomes `method(self, value)`, which checks the value first if the
    distribution validates; others become `method(self)`, or a property if they have the name of a moment. The op
    itself is the method's `compute`.
    """
    owner, name = body.__qualname__.split(".")[-2:]
    code = body.__code__
    names = code.co_varnames[: code.co_argcount]
    body.__name__ = f"{owner.lower()}_{name}"
    made = op(body, public=False)
    if name == "icdf":  # its value is a probability
        method = _of_probability(made, names[1:])
    elif names[0] == "value":
        method = _of_value(made, names[1:])
    else:
        method = _of_parameters(made, names)
    method.__name__, method.__qualname__, method.__doc__ = name, f"{owner}.{name}", body.__doc__
    method.compute = made
    return property(method) if name in PROPERTIES else method


def _of_value(compute, names):
    if len(names) == 1:
        (name,) = names

        def method(self, value):
            if self._validate_args:
                self._validate_sample(value)
            return compute(value, getattr(self, name))

        return method
    parameters = attrgetter(*names) if names else lambda self: ()

    def method(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return compute(value, *parameters(self))

    return method


def _of_probability(compute, names):
    def method(self, value):
        return compute(value, *[getattr(self, name) for name in names])

    return method


def _of_parameters(compute, names):
    def method(self):
        return compute(*[getattr(self, name) for name in names])

    return method
