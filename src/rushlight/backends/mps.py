"""`rushlight.backends.mps`: not there."""

from __future__ import annotations


def is_available() -> bool:
    """Whether there is such a device: False."""
    return False


def is_built() -> bool:
    """Whether this build could use such a device: False."""
    return False
