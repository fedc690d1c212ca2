"""`rushlight.backends.cudnn`: not there. Results never depend on these settings: they always repeat."""

from __future__ import annotations

enabled = True
benchmark = False
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """Whether the library is there: False."""
    return False


def version() -> None:
    """The library's version: None."""
