"""`rushlight.backends.openmp`: not in use; the threads are rushlight's own (`get_num_threads`)."""

from __future__ import annotations


def is_available() -> bool:
    """Whether the library is in use: False."""
    return False
