"""What the rules of matrix primitives share: checks, and parts of matrices."""

from __future__ import annotations

from .. import build as B
from ..lazy import np
from ..primitive import fail


def check_square(name: str, a) -> None:
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        fail(name, f"expected square matrices, got {a}")


def smaller(a):
    """The smaller size of a matrix."""
    rows, columns = a.shape[-2:]
    return rows if rows is columns or rows <= columns else columns


def no_derivative(node, *_):
    """The derivative rules of a primitive that has none."""
    fail(node.prim.name, f"the derivative for '{node.prim.name}' is not implemented", NotImplementedError)


def no_info(a):
    """LAPACK's numbers where nothing failed, as NumPy array."""
    return np.zeros(a.shape[:-2], "int32")


# -- triangles --------------------------------------------------------------------------------
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


# -- diagonals --------------------------------------------------------------------------------
def on_diagonal(shape):
    """Where the diagonal of each matrix is."""
    plane = tuple(shape[-2:])
    return B.broadcast_to(B.eq(B.iota(plane, 0), B.iota(plane, 1)), tuple(shape))


def identity(shape, dtype):
    """The identity, or what of it a shape [*B, M, N] has room for."""
    return B.cast(on_diagonal(shape), dtype)


def diagonal_of(x):
    return B.diagonal(x, 0, -2, -1)


def scaled_columns(x, values):
    """x times the diagonal matrix of `values`."""
    return x * B.unsqueeze(values, -2)


def scaled_rows(values, x):
    """The diagonal matrix of `values` times x."""
    return B.unsqueeze(values, -1) * x


def with_diagonal(x, values=None):
    """x with another diagonal: `values`, or 0."""
    values = B.zeros_like(x) if values is None else B.cast(B.expand(B.unsqueeze(values, -1), x.shape), x.dtype)
    return B.where(on_diagonal(x.shape), values, x)


def over_gaps(x, values):
    """x[i, j] / (values[j] - values[i]) off the diagonal, and 0 on it."""
    gaps = B.unsqueeze(values, -2) - B.unsqueeze(values, -1)
    here = on_diagonal(gaps.shape)
    return B.where(here, 0.0, x) / B.where(here, 1.0, gaps)


def skew(x):
    return x - B.adjoint(x)


def hermitian_part(x):
    return (x + B.adjoint(x)) * 0.5


def plus(a, b):
    """a + b, where None is 0."""
    return b if a is None else a if b is None else a + b
