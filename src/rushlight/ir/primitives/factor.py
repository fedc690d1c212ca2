"""Cholesky's factorization of positive-definite matrices, and the inverse by it."""

from __future__ import annotations

from .. import build as B
from ..columns import matrix_primitive
from ..dtypes import int32
from ..lazy import np
from ..primitive import check_dtype
from .matrix_parts import check_square, halved, no_info, triangle
from .solve import adjoint_letter, solve_triangular, wide


# -- Cholesky ---------------------------------------------------------------------------------
@matrix_primitive((2,), (2, 0), {0: 0})
def cholesky(a, *, upper, fails):
    """L with L L^H = a, from the lower triangle; with `upper`, U with U^H U = a. And LAPACK's int32 info."""
    check_dtype("cholesky", a, "fc")
    check_square("cholesky", a)
    return [(a.shape, a.dtype), (a.shape[:-2], int32)]


@cholesky.numpy
def _(a, *, upper, fails):
    """Column by column, for the whole batch; a matrix that fails stays as it is from there on."""
    a = np.conj(np.swapaxes(a, -1, -2)) if upper else a
    factor, info = np.tril(a), no_info(a)
    for j in range(a.shape[-1]):
        row = factor[..., j, :j]
        pivot = factor[..., j, j].real - np.sum(np.abs(row) ** 2, -1)
        info = np.where((info == 0) & ~(pivot > 0), j + 1, info).astype("int32")
        root = np.sqrt(np.where(info == 0, pivot, 1))
        below = (factor[..., j + 1 :, j] - (factor[..., j + 1 :, :j] @ np.conj(row)[..., None])[..., 0]) / root[
            ..., None
        ]
        factor[..., j, j] = np.where(info == 0, root, factor[..., j, j])
        factor[..., j + 1 :, j] = np.where(info[..., None] == 0, below, factor[..., j + 1 :, j])
    return np.conj(np.swapaxes(factor, -1, -2)) if upper else factor, info


def _lower(node, factor):
    """The factor as a lower triangle."""
    return B.adjoint(factor) if node.attrs["upper"] else factor


def _solved(lower, x, adjoint: bool):
    """L^-1 x, or L^-H x."""
    letter = adjoint_letter(lower) if adjoint else "N"
    return solve_triangular(lower, x, upper=False, unitriangular=False, transpose=letter)


@cholesky.vjp
def _(node, g, _):
    lower = _lower(node, node.outputs[0])
    inner = B.dot(B.adjoint(lower), _lower(node, g))
    # the input counts as Hermitian; what an imaginary diagonal of g would mean is left as it is, as in PyTorch
    whole = triangle(inner, False) + B.adjoint(triangle(inner, False, -1))
    return [0.5 * B.adjoint(_solved(lower, B.adjoint(_solved(lower, whole, True)), True))]


@cholesky.jvp
def _(node, tangent):
    lower = _lower(node, node.outputs[0])
    hermitian = 0.5 * (tangent + B.adjoint(tangent))
    inner = _solved(lower, B.adjoint(_solved(lower, hermitian, False)), False)
    moved = B.dot(lower, halved(inner))
    return [_lower(node, moved), None]


# -- the inverse by the factor ----------------------------------------------------------------
@matrix_primitive((2,), (2, 0), {0: 0})
def cholesky_inverse(factor, *, upper, fails):
    """(L L^H)^-1 (with `upper`, (U^H U)^-1), of which only the triangle is read; and LAPACK's int32 info."""
    check_dtype("cholesky_inverse", factor, "fc")
    check_square("cholesky_inverse", factor)
    return [(factor.shape, factor.dtype), (factor.shape[:-2], int32)]


@cholesky_inverse.numpy
def _(factor, *, upper, fails):
    lower = np.conj(np.swapaxes(np.triu(factor), -1, -2)) if upper else np.tril(factor)
    product = wide(lower) @ np.conj(np.swapaxes(wide(lower), -1, -2))
    return np.linalg.inv(product).astype(factor.dtype), no_info(factor)


@cholesky_inverse.vjp
def _(node, g, _):
    factor, result, upper = node.inputs[0], node.outputs[0], node.attrs["upper"]
    both = B.dot(B.dot(result, g + B.adjoint(g)), result)
    read = triangle(factor, upper)
    return [-(B.dot(read, both) if upper else B.dot(both, read))]  # as if the other triangle were read, as in PyTorch


@cholesky_inverse.jvp
def _(node, tangent):
    factor, result, upper = node.inputs[0], node.outputs[0], node.attrs["upper"]
    read, moved = triangle(factor, upper), triangle(tangent, upper)
    half = B.dot(B.adjoint(moved), read) if upper else B.dot(moved, B.adjoint(read))
    return [-B.dot(B.dot(result, half + B.adjoint(half)), result), None]
