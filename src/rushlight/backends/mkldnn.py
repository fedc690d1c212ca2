"""`rushlight.backends.mkldnn`: not in use, kernels are generated. The settings are kept and change nothing."""

from __future__ import annotations

import sys

from .settings import Verbose, kept, set_all

VERBOSE_OFF, VERBOSE_ON, VERBOSE_ON_CREATION = 0, 1, 2

enabled = True
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """Whether the library is in use: False."""
    return False


def is_acl_available() -> bool:
    """Whether its kernels for ARM are in use: False."""
    return False


def set_flags(_enabled=None, _deterministic=None, _allow_tf32=None) -> tuple:
    """Set those that are given; returns what they were."""
    return set_all(sys.modules[__name__], enabled=_enabled, deterministic=_deterministic, allow_tf32=_allow_tf32)


def flags(enabled: bool = False, deterministic: bool = False, allow_tf32: bool = True):
    """Settings within a `with`."""
    return kept(sys.modules[__name__], enabled=enabled, deterministic=deterministic, allow_tf32=allow_tf32)


class verbose(Verbose):
    """A `with` in which the library would print its calls: nothing is printed."""
