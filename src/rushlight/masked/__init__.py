"""`rushlight.masked`: reductions, norms and scans of the elements that a mask declares valid.

A mask is a tensor that broadcasts to the input's shape without having more dims; an element counts where it is True.
Elements left out never have an influence, whatever they are (NaN and infinities included), and get a zero gradient.
What has no valid element at all gives the operation's identity, or NaN where there is none. A file is loaded when one
of its functions is first used.
"""

from __future__ import annotations

import importlib

_FILES = {
    "normalization": ("log_softmax", "normalize", "softmax", "softmin"),
    "reductions": ("amax", "amin", "argmax", "argmin", "logaddexp", "logsumexp", "norm", "prod", "sum"),
    "scans": ("cumprod", "cumsum"),
    "statistics": ("mean", "median", "std", "var"),
}
_HOMES = {name: file for file, names in _FILES.items() for name in names}
__all__ = sorted(_HOMES)


def __getattr__(name: str):
    if name not in _HOMES:
        from ..absent import reason

        why = reason(name, "torch.masked")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}" + (f": {why}" if why else ""))
    found = globals()[name] = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    return found


def __dir__():
    return sorted({*globals(), *_HOMES})
