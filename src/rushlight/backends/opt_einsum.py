"""`rushlight.backends.opt_einsum`: not in use: `einsum` decides by itself. The settings change nothing."""

from __future__ import annotations

import sys

from .settings import kept, set_all

enabled = False
strategy = None


def is_available() -> bool:
    """Whether the library is in use: False."""
    return False


def get_opt_einsum() -> None:
    """The library: None."""


def set_flags(_enabled=None, _strategy=None) -> tuple:
    """Set those that are given; returns what they were."""
    return set_all(sys.modules[__name__], enabled=_enabled, strategy=_strategy)


def flags(enabled=None, strategy=None):
    """Settings within a `with`."""
    return kept(sys.modules[__name__], enabled=enabled, strategy=strategy)
