"""What the rules of matrix primitives share: checks, and parts of matrices."""

from __future__ import annotations

from .. import build as B
from ..primitive import fail


def check_square(name: str, a) -> None:
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        fail(name, f"expected square matrices, got {a}")


def triangle(x, upper: bool, offset: int = 0):
    """The part on and above (or below) a diagonal; zeros elsewhere."""
    rows, columns = x.shape[-2:]
    place = B.iota((rows, columns), 1) - B.iota((rows, columns), 0)
    return B.where(B.ge(place, offset) if upper else B.le(place, offset), x, B.zeros_like(x))


def halved(x):
    """The lower triangle with half of the diagonal: for a Hermitian x, this and its adjoint sum up to x."""
    rows = x.shape[-1]
    place = B.iota((rows, rows), 0) - B.iota((rows, rows), 1)
    factor = B.where(B.gt(place, 0), 1.0, B.where(B.eq(place, 0), 0.5, 0.0))
    return x * B.cast(factor, x.dtype)


def identity(shape, dtype):
    """The identity (of shape [*B, N, N])."""
    rows, columns = shape[-2:]
    one = B.eq(B.iota((rows, columns), 0), B.iota((rows, columns), 1))
    return B.broadcast_to(B.cast(one, dtype), tuple(shape))
