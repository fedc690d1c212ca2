"""Singular values of matrices, and their vectors.

The derivatives hold for singular values that differ and are not 0, and for losses that don't depend on the vectors'
phases: Seeger et al., "Auto-Differentiating Linear Algebra", 2017; for complex matrices Wan and Zhang, "Automatic
Differentiation for Complex Valued SVD", 2019.
"""

from __future__ import annotations

from .. import build as B
from ..columns import matrix_primitive
from ..dtypes import int32
from ..lazy import np
from ..primitive import check_dtype, fail
from .matrix_parts import (
    diagonal_of,
    no_info,
    over_gaps,
    plus,
    scaled_columns,
    scaled_rows,
    skew,
    with_diagonal,
)
from .spectra import without_phase


@matrix_primitive((2,), (2, 1, 2, 0), {})
def svd(a, *, full, fails):
    """U, S, V^H with a = U diag(S) V^H, S in descending order, and info. With `full`, U and V^H are square.

    Cotangents of the vectors that `full` adds count for nothing: they are any basis of their space.
    """
    check_dtype("svd", a, "fc")
    *batch, m, n = a.shape
    k = min(m, n)
    left, right = (m, m if full else k), (n if full else k, n)
    shapes = [(*batch, *left), (*batch, k), (*batch, *right), tuple(batch)]
    return list(zip(shapes, [a.dtype, a.dtype.to_real(), a.dtype, int32]))


@svd.numpy
def _(a, *, full, fails):
    return (*np.linalg.svd(a, full), no_info(a))


def thin(node):
    """U, S, V^H without the vectors that `full` adds, and cotangents likewise."""
    u, s, vh, _ = node.outputs
    k = s.shape[-1]
    return B.narrow(u, -1, 0, k), s, B.narrow(vh, -2, 0, k)


@svd.vjp
def _(node, gu, gs, gvh, _):
    u, s, vh = thin(node)
    k = s.shape[-1]
    gu = None if gu is None else B.narrow(gu, -1, 0, k)
    gvh = None if gvh is None else B.narrow(gvh, -2, 0, k)
    if gu is None and gvh is None:
        return [B.matmul(scaled_columns(u, gs), vh)]
    left = None if gu is None else B.matmul(B.adjoint(u), gu)
    right = None if gvh is None else B.matmul(vh, B.adjoint(gvh))
    inner = svd_turns(s, left, right, gs)
    return [svd_spread(inner, u, s, vh, gu, gvh, left, right)]


def svd_turns(s, left, right, gs):
    """What U^H gA V is, from U^H gU and V^H gV."""
    squares = s * s
    left, right = (None if x is None else skew(x) for x in (left, right))
    inner = None if left is None else scaled_columns(over_gaps(left, squares), s)
    inner = inner if right is None else plus(inner, scaled_rows(s, over_gaps(right, squares)))
    diagonal = None if gs is None else B.cast(gs, inner.dtype)
    if inner.dtype.is_complex and left is not None and right is not None:
        diagonal = plus(diagonal, diagonal_of(left) / (s * 2))
    inner = inner if diagonal is None else with_diagonal(inner, diagonal)
    return without_phase(inner, B.imag(diagonal_of(plus(left, right))), "svd", "singular vectors")


def svd_spread(inner, u, s, vh, gu, gvh, left, right):
    """U inner V^H, plus what leaves the spaces of U and V."""
    m, n, k = u.shape[-2], vh.shape[-1], s.shape[-1]
    if gu is not None and m > k:
        outside = (gu - B.matmul(u, left)) / B.unsqueeze(s, -2)
        found = B.matmul(B.matmul(u, inner) + outside, vh)
    else:
        found = B.matmul(u, B.matmul(inner, vh))
    if gvh is not None and n > k:
        outside = (gvh - B.matmul(B.adjoint(right), vh)) / B.unsqueeze(s, -1)
        found = found + B.matmul(u, outside)
    return found


@svd.jvp
def _(node, tangent):
    u, s, vh = thin(node)
    m, n, k = u.shape[-2], vh.shape[-1], s.shape[-1]
    if node.attrs["full"] and not (m == k and n == k):
        fail("svd", "the forward derivative with full_matrices=True exists for square matrices only")
    v, squares = B.adjoint(vh), s * s
    turn = B.matmul(B.adjoint(u), B.matmul(tangent, v))
    back = B.adjoint(turn)
    left = over_gaps(scaled_columns(turn, s) + scaled_rows(s, back), squares)
    right = over_gaps(scaled_rows(s, turn) + scaled_columns(back, s), squares)
    if turn.dtype.is_complex:
        left = with_diagonal(left, diagonal_of(skew(turn)) / (s * 2))
    du, dv = B.matmul(u, left), B.matmul(v, right)
    if m > k:
        along = B.matmul(tangent, v)
        du = du + (along - B.matmul(u, turn)) / B.unsqueeze(s, -2)
    if n > k:
        along = B.matmul(B.adjoint(tangent), u)
        dv = dv + (along - B.matmul(v, back)) / B.unsqueeze(s, -2)
    return [du, B.real(diagonal_of(turn)), B.adjoint(dv), None]


@matrix_primitive((2,), (1, 0), {})
def svdvals(a, *, fails):
    """The singular values alone, and info. Their derivatives compute the vectors."""
    check_dtype("svdvals", a, "fc")
    *batch, m, n = a.shape
    return [((*batch, min(m, n)), a.dtype.to_real()), (tuple(batch), int32)]


@svdvals.numpy
def _(a, *, fails):
    return np.linalg.svd(a, compute_uv=False), no_info(a)


@svdvals.vjp
def _(node, gs, _):
    u, _, vh, _ = svd(node.inputs[0], full=False, **node.attrs)
    return [B.matmul(scaled_columns(u, gs), vh)]


@svdvals.jvp
def _(node, tangent):
    u, _, vh, _ = svd(node.inputs[0], full=False, **node.attrs)
    turned = B.matmul(B.adjoint(u), tangent)
    return [B.real(B.sum(turned * B.conj(vh), -1)), None]
