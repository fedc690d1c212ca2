"""Modules made without initial values."""

from __future__ import annotations

import inspect

from ..module import Module


def skip_init(module_cls: type, *args, **kwargs):
    """A module whose parameters have undefined values: `reset_parameters` is not called, and nothing is drawn for it.

    Modules inside of it are made as usual. `module_cls` must be a Module that takes a `device` (RuntimeError).

    >>> nn.utils.skip_init(nn.Linear, 5, 1)
    Linear(in_features=5, out_features=1, bias=True)
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    module = module_cls.__new__(module_cls)
    module.__dict__["reset_parameters"] = _leave  # hides the method from the constructor
    module.__init__(*args, **kwargs)
    del module.__dict__["reset_parameters"]
    return module


def _leave() -> None:
    """Leaves memory as it was found."""
