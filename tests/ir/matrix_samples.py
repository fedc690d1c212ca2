"""Sample applications of the primitives that factorise matrices and solve systems."""

from __future__ import annotations

import numpy as np

from rushlight.ir import build as B
from rushlight.ir.dtypes import float64
from rushlight.ir.primitives import factor, lu, orthogonal, solve
from rushlight.ir.primitives.matrix_parts import identity, triangle

SYMMETRIC = np.array([[4, 1, 2], [1, 5, 3], [2, 3, 7]])
PIVOTS = np.array([[3, 2, 3], [1, 3, 3]], "int32")


def definite(a):
    return B.dot(a, B.adjoint(a)) + 2 * identity(a.shape, a.dtype)


def dominant(a):
    """A matrix whose pivots are its own diagonal, near which no small step changes them."""
    rows, columns = a.shape[-2:]
    eye = B.cast(B.eq(B.iota((rows, columns), 0), B.iota((rows, columns), 1)), a.dtype)
    return a + 9 * eye


def by_factors(adjoint: bool):
    def function(a, b):
        a = dominant(a)
        factors, pivots, _ = lu.lu_factor(a, fails=None)
        return [solve.solve(a, factors, pivots, b, adjoint=adjoint)]

    return function


def triangular(**attrs):
    return lambda a, b: [solve.solve_triangular(dominant(a), b, **attrs)]


def by_ldl(a, b):
    factors, pivots, _ = lu.ldl_factor(B.cast(a, b.dtype), hermitian=True, fails=None)
    return lu.ldl_solve(factors, pivots, b, hermitian=True, fails=None)[:1]


def factorizations(sample, real, imaginary):
    """Samples, made with what `samples` has: a class, and makers of real and complex numbers."""

    def applied(primitive, function, *arrays, label=""):
        made = sample(primitive, *arrays, label=label)
        made.apply = lambda *values: list(function(*values))
        return made

    for label, make in (("real", real), ("complex", imaginary)):
        a, b = make(2, 3, 3), make(2, 3, 2)
        for upper in (False, True):
            place = f"{label}-{upper}"
            yield applied(
                factor.cholesky,
                lambda a, u=upper: factor.cholesky(definite(a), upper=u, fails=None)[:1],
                a,
                label=place,
            )
            yield applied(
                factor.cholesky_inverse,
                lambda a, u=upper: factor.cholesky_inverse(triangle(dominant(a), u), upper=u, fails=None)[:1],
                a,
                label=place,
            )
            yield applied(solve.solve, by_factors(upper), a, b, label=place)
            for transpose in "NTC":
                attrs = {"upper": upper, "unitriangular": transpose == "C", "transpose": transpose}
                yield applied(solve.solve_triangular, triangular(**attrs), a, b, label=f"{place}-{transpose}")
        yield applied(solve.inverse, lambda a: solve.inverse(dominant(a), fails=None)[:1], a, label=label)
        for shape in ((3, 3), (2, 4, 3), (2, 5)):
            place = f"{label}-{shape}"
            yield applied(lu.lu_factor, lambda a: lu.lu_factor(dominant(a), fails=None)[:2], make(*shape), label=place)
            yield applied(orthogonal.qr, lambda a: orthogonal.qr(a, mode="reduced")[:2], make(*shape), label=place)
            yield applied(
                orthogonal.lstsq,
                lambda a, b: orthogonal.lstsq(a, b, driver="gelsd", rcond=None, fails=None)[:1],
                make(*shape),
                make(*shape[:-2], max(shape[-2:]), 2),
                label=place,
            )
    yield applied(lu.permutation_of, lambda p: lu.permutation_of(p, size=4, fails=None), PIVOTS)
    yield applied(lu.ldl_solve, by_ldl, SYMMETRIC, real(3, 2))
    yield applied(
        lu.ldl_factor, lambda a: lu.ldl_factor(B.cast(a, float64), hermitian=False, fails=None)[:1], SYMMETRIC
    )
    yield applied(orthogonal.geqrf, lambda a: orthogonal.geqrf(B.cast(a, float64)), SYMMETRIC[:, :2])
