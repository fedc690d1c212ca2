"""`rushlight.special`: special functions, by the names that SciPy gave them. They are declared in the catalogue."""

from __future__ import annotations

from .ops.explaining import explained
from .ops.orthogonal import SPECIAL

for _name, _function in list(SPECIAL.items()):
    SPECIAL[_name] = explained(_function, f"special.{_name}")
globals().update(SPECIAL)
__all__ = sorted(SPECIAL)
