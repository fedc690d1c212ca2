"""`compile`: accepted for programs that call it; single ops are compiled anyway, whole functions are not yet."""

from __future__ import annotations

import warnings


def compile(model=None, *, fullgraph=False, dynamic=None, backend=None, mode=None, options=None, disable=False):
    """The function or module itself, with a warning that it runs op by op; without one, a decorator.

    `disable=True` gives it back without the warning; the other arguments change nothing.

    >>> double = rushlight.compile(lambda x: x * 2, disable=True)
    >>> double(rushlight.ones(2))
    tensor([2., 2.])
    """
    if model is None:
        return lambda model: compile(model, disable=disable)
    if not callable(model):
        raise TypeError(f"compile: expected a function or a module, got {type(model).__name__}")
    if not disable:
        warnings.warn(
            "compile: whole functions are not compiled in this version; the function runs op by op, each op compiled",
            UserWarning,
            stacklevel=2,
        )
    return model
