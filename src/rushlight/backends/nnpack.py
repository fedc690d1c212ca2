"""`rushlight.backends.nnpack`: not in use, convolutions are generated. The setting is kept and changes nothing."""

from __future__ import annotations

import sys

from .settings import kept, set_all

enabled = False


def is_available() -> bool:
    """Whether the library is in use: False."""
    return False


def set_flags(_enabled: bool) -> tuple:
    """Set it; returns what it was."""
    return set_all(sys.modules[__name__], enabled=_enabled)


def flags(enabled: bool = False):
    """The setting within a `with`."""
    return kept(sys.modules[__name__], enabled=enabled)
