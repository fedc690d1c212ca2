"""`rushlight.compile`: for programs that call it. Every op is compiled without being asked."""

from __future__ import annotations


def compile(model=None, *, fullgraph=False, dynamic=None, backend=None, mode=None, options=None, disable=False):
    """The function or module itself, unchanged; without one, a decorator. The other arguments change nothing.

    >>> @rushlight.compile
    ... def double(x):
    ...     return x * 2
    >>> double(rushlight.ones(2))
    tensor([2., 2.])
    """
    if model is None:
        return lambda model: model
    if not callable(model):
        raise TypeError(f"compile: expected a function or a module, got {type(model).__name__}")
    return model
