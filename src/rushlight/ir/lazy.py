"""NumPy, loaded on first use: only the reference interpreter needs it, and it costs 0.1 s."""

from __future__ import annotations


class _NumPy:
    """Stands for the numpy module; each name is kept after its first look-up."""

    def __getattr__(self, name: str):
        import numpy

        found = getattr(numpy, name)
        setattr(self, name, found)
        return found


np = _NumPy()
