"""`rushlight.backends.mkl`: not in use; factorizations come from OpenBLAS, products are generated."""

from __future__ import annotations

from .settings import Verbose

VERBOSE_OFF, VERBOSE_ON = 0, 1


def is_available() -> bool:
    """Whether the library is in use: False."""
    return False


class verbose(Verbose):
    """A `with` in which the library would print its calls: nothing is printed."""

    def __init__(self, enable: int):
        super().__init__(enable)
