"""What kernels report when a computation fails: a number in an error flag on their side, an exception on Python's.

A primitive that can fail has an attribute `fails`: None, or the text to raise, in which `{batch}` stands for the place
in the batch and `{info}` for LAPACK's number.
"""

from __future__ import annotations

FIRST = 16  # smaller numbers mean an index out of bounds, or a division by zero
_texts: list[str] = []


class LinAlgError(RuntimeError):
    """A matrix does not have the property that a function needs: it is singular, say, or not positive-definite."""

    __module__ = "rushlight.linalg"


def code_of(text: str) -> int:
    """The number by which kernels of this process report a failure."""
    if text not in _texts:
        _texts.append(text)
    return FIRST + _texts.index(text)


def failure(code: int, index: int, info: int, batched: int) -> LinAlgError:
    """The exception for what a kernel reported: matrix `index` failed with LAPACK's `info`."""
    batch = f"(Batch element {index}): " if batched else ""
    return LinAlgError(_texts[code - FIRST].format(batch=batch, info=info))
