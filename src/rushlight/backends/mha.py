"""`rushlight.backends.mha`: whether attention may take shorter ways. The setting is kept and changes nothing."""

from __future__ import annotations

_enabled = True


def get_fastpath_enabled() -> bool:
    """The setting."""
    return _enabled


def set_fastpath_enabled(value: bool) -> None:
    """Set it."""
    global _enabled
    _enabled = value
