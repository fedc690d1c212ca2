"""`rushlight.special`: special functions, by the names that SciPy gave them. They are declared in the catalogue."""

from __future__ import annotations

from .ops.orthogonal import SPECIAL

globals().update(SPECIAL)
__all__ = sorted(SPECIAL)
