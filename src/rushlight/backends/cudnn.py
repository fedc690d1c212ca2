"""`rushlight.backends.cudnn`: not there. Results never depend on these settings: they always repeat."""

from __future__ import annotations

import sys

from .settings import kept, set_all

enabled = True
benchmark = False
benchmark_limit = None
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """Whether the library is there: False."""
    return False


def is_acceptable(tensor) -> bool:
    """Whether the library would compute with a tensor: False."""
    return False


def version() -> None:
    """The library's version: None."""


def set_flags(_enabled=None, _benchmark=None, _benchmark_limit=None, _deterministic=None, _allow_tf32=None) -> tuple:
    """Set those that are given; returns what they were."""
    values = {"enabled": _enabled, "benchmark": _benchmark, "benchmark_limit": _benchmark_limit}
    return set_all(sys.modules[__name__], **values, deterministic=_deterministic, allow_tf32=_allow_tf32)


def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
):
    """Settings within a `with`."""
    values = {"enabled": enabled, "benchmark": benchmark, "benchmark_limit": benchmark_limit}
    return kept(sys.modules[__name__], **values, deterministic=deterministic, allow_tf32=allow_tf32)
