"""The matrix exponential, by scaling and squaring.

``exp(A) = exp(A / 2**s) ** (2**s)``: A is scaled until a Taylor polynomial is exact to rounding, and the value of the
polynomial squared s times. Method: Higham, "The Scaling and Squaring Method for the Matrix Exponential Revisited",
2005, with a polynomial in Paterson and Stockmeyer's form in place of a quotient, which would need to divide matrices.
"""

from __future__ import annotations

import math

from ..core.engine import reveal
from ..ir import build as B
from ..ir import dtypes
from ..ir.primitives.matrix_parts import identity
from ..ops.declare import op
from ..ops.linear_forms import check_square
from ..ops.vector_norm import check_norm

# degree of a polynomial: (powers of A that are formed, products of matrices that it takes)
POLYNOMIALS = {2: (2, 1), 4: (2, 2), 6: (3, 3), 9: (3, 4), 12: (4, 5), 16: (4, 6)}


def matrix_exp(A):
    """The exponential of square matrices, ``I + A + A @ A / 2 + ...``.

    A: (*, n, n), floating point or complex. The derivative is the exact one, of Fréchet.

    >>> rushlight.linalg.matrix_exp(rushlight.tensor([[0.0, 1.0], [0.0, 0.0]]))
    tensor([[1., 1.],
            [0., 1.]])
    """
    check_norm("linalg.matrix_exp", A)
    check_square("linalg.matrix_exp", A)
    if A.shape[-1] <= 1:
        return A.exp()
    degree, squarings = plan_for(largest_of_all(A), A.dtype) if A.numel() else (2, 0)
    return linalg_matrix_exp(A, degree, squarings)


def largest_of_all(A) -> float:
    """The largest 1-norm of all matrices, in a `vmap` of all samples."""
    found = largest_norm(A.detach())
    for level, *_ in found._layout.batch or ():
        found = reveal(found, 0, level).amax()
    return found.item()


@op(public=False)
def largest_norm(A):
    """The largest 1-norm of the matrices."""
    return B.cast(B.max(norms(wide(A))), dtypes.float64)


def plan_for(norm: float, dtype) -> tuple:
    """(degree, squarings) that take the fewest products for matrices of such a norm."""
    if not math.isfinite(norm):
        return 2, 0
    choices = []
    for degree, (_, products) in POLYNOMIALS.items():
        squarings = max(0, math.ceil(math.log2(norm / reach(degree, dtype)))) if norm else 0
        choices.append((products + squarings, squarings, degree))
    _, squarings, degree = min(choices)
    return degree, squarings


def reach(degree: int, dtype) -> float:
    """The norm up to which the polynomial's error is lost in rounding: that of a slightly changed A."""
    unit = dtypes.finfo(wide_dtype(dtype).to_real()).eps / 2
    return 0.93 * (unit * math.factorial(degree + 1)) ** (1 / degree)


def wide_dtype(dtype):
    return dtypes.float32 if dtype in B.HALVES else dtype


def wide(A):
    return B.cast(A, wide_dtype(A.dtype))


def norms(A):
    """The 1-norms of matrices, of shape (*, 1, 1)."""
    return B.max(B.sum(B.abs(A), -2, True), -1, True)


# -- the exponential for a known number of squarings -------------------------------------------------
@op(public=False)
def linalg_matrix_exp(A, degree: int, squarings: int):
    """exp(A) by a polynomial and at most so many squarings; each matrix takes as many as it needs."""
    x = wide(A)
    needed = halvings(x, degree, squarings)
    y = taylor(x * B.exp2(-needed), degree)
    for k in range(squarings):
        y = B.where(B.lt(k, needed), B.matmul(y, y), y)
    # what is not finite spoils its whole matrix
    return B.cast(y + B.cast(norms(x) * 0, y.dtype), A.dtype)


def halvings(x, degree: int, most: int):
    """How often to halve each matrix, as floats of shape (*, 1, 1)."""
    size = norms(x)
    if not most:
        return B.zeros_like(size)
    number = B.ceil(B.log2(B.where(B.eq(size, 0), 1.0, size) / reach(degree, x.dtype)))
    return B.clamp(B.where(B.isfinite(size), number, 0.0), 0, most)


def taylor(x, degree: int):
    """The Taylor polynomial: coefficients grouped by powers of the highest power that is formed."""
    count, _ = POLYNOMIALS[degree]
    powers = [identity(x.shape, x.dtype), x]
    while len(powers) <= count:
        powers.append(B.matmul(powers[-1], x))
    groups = range(0, degree, count)
    value = powers[count] * (1 / math.factorial(degree))
    for first in reversed(groups):
        for k in range(count):
            value = value + powers[k] * (1 / math.factorial(first + k))
        if first:
            value = B.matmul(value, powers[count])
    return value


@linalg_matrix_exp.vjp
def _(cotangents, outputs, A, degree, squarings):
    """Fréchet's derivative at the adjoint: the upper right block of exp([[A^H, G], [0, A^H]]).

    It is linear in G, which is therefore scaled to the size that the polynomial allows.
    """
    x, g = wide(A), wide(cotangents[0])
    x = B.adjoint(x)
    allowed = reach(degree, x.dtype) * B.exp2(halvings(x, degree, squarings))
    scale = power_of_two(allowed / norms(g))
    zero = B.zeros_like(x)
    block = B.concat([B.concat([x, g * scale], -1), B.concat([zero, x], -1)], -2)
    n = x.shape[-1]
    corner = B.narrow(B.narrow(linalg_matrix_exp(block, degree, squarings + 1), -2, 0, n), -1, n, n)
    return B.cast(corner / scale, A.dtype)


def power_of_two(x):
    """The power of two below x, and 1 where there is none; a constant to derivatives."""
    exponent = B.floor(B.log2(x))
    return B.exp2(B.where(B.isfinite(exponent), exponent, 0.0))
