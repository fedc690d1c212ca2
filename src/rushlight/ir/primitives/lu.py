"""LU and LDL factorizations, and what pivots stand for."""

from __future__ import annotations

from .. import build as B
from ..columns import matrix_primitive
from ..dtypes import int32, int64
from ..lazy import np
from ..primitive import check_dtype, fail
from .matrix_parts import check_square, identity, no_derivative, no_info, smaller, triangle
from .solve import adjoint_letter, operator_of, over_upper, solve_triangular, wide


@matrix_primitive((2,), (2, 1, 0), {0: 0})
def lu_factor(a, *, fails):
    """L below the diagonal of the first result (with ones on its own), U on and above it: P L U = a.

    The int32 pivots count from 1: row i was exchanged with row pivots[i], one after the other. And LAPACK's int32 info.
    """
    check_dtype("lu_factor", a, "fc")
    if a.ndim < 2:
        fail("lu_factor", f"expected matrices, got {a}")
    return [(a.shape, a.dtype), ((*a.shape[:-2], smaller(a)), int32), (a.shape[:-2], int32)]


@lu_factor.numpy
def _(a, *, fails):
    rows, columns = a.shape[-2:]
    count = min(rows, columns)
    flat = wide(a).reshape(int(np.prod(a.shape[:-2])), rows, columns).copy()
    pivots, info = np.zeros((len(flat), count), "int32"), np.zeros(len(flat), "int32")
    each = np.arange(len(flat))
    for j in range(count):
        column = flat[:, j:, j]
        pivot = np.argmax(np.abs(column.real) + np.abs(column.imag), 1) + j  # LAPACK's measure of complex numbers
        pivots[:, j] = pivot + 1
        flat[each, j], flat[each, pivot] = flat[each, pivot].copy(), flat[each, j].copy()
        zero = flat[:, j, j] == 0
        info = np.where(zero & (info == 0), j + 1, info).astype("int32")
        flat[:, j + 1 :, j] /= np.where(zero, 1, flat[:, j, j])[:, None]
        flat[:, j + 1 :, j + 1 :] -= flat[:, j + 1 :, j, None] * flat[:, None, j, j + 1 :]
    batch = a.shape[:-2]
    return flat.reshape(a.shape).astype(a.dtype), pivots.reshape(*batch, count), info.reshape(batch)


# -- derivative of LU -------------------------------------------------------------------------
def _unit_lower(factors, x, adjoint: bool = False):
    """L^-1 x, or L^-H x, of the lower triangle with ones on its diagonal."""
    letter = adjoint_letter(factors) if adjoint else "N"
    return solve_triangular(factors, x, upper=False, unitriangular=True, transpose=letter)


def parts(factors):
    """(square, L1, U1, L2, U2): the square part of the factors, both of its triangles, and what is below and right."""
    rows, columns = factors.shape[-2:]
    count = smaller(factors)
    tall, broad = count != rows, count != columns
    square = B.narrow(B.narrow(factors, -2, 0, count), -1, 0, count)
    lower = triangle(square, False, -1) + identity(square.shape, square.dtype)
    below = B.narrow(factors, -2, count, rows - count) if tall else None
    right = B.narrow(factors, -1, count, columns - count) if broad else None
    return square, lower, triangle(square, True), below, right


def along_rows(permutation, x):
    """The permutation as an index for every column of x."""
    return B.broadcast_to(B.unsqueeze(permutation, -1), x.shape)


def permuted(permutation, x):
    """Rows of x in the order of a permutation: P^T x."""
    return B.gather(x, -2, along_rows(permutation, x))


def unpermuted(permutation, x):
    """Rows of x put to the places that a permutation names: P x."""
    return B.scatter(B.zeros_like(x), -2, along_rows(permutation, x), x)


def _permutation(node):
    return order_of(node.outputs[1], node.inputs[0].shape[-2])


@lu_factor.vjp
def _(node, g, _pivots, _info):
    factors = node.outputs[0]
    square, lower, upper, below, right = parts(factors)
    gsquare, _, gupper, gbelow, gright = parts(g)
    glower = B.dot(B.adjoint(lower), triangle(gsquare, False, -1))
    gupper = B.dot(gupper, B.adjoint(upper))
    if right is not None:
        glower = glower - B.dot(gright, B.adjoint(right))
    if below is not None:
        gupper = gupper - B.dot(B.adjoint(below), gbelow)
    inner = triangle(glower, False, -1) + triangle(gupper, True)
    if below is None:
        inner = over_upper(square, inner, True)
        inner = inner if right is None else B.concat([inner, gright], -1)
        moved = _unit_lower(square, inner, True)
    else:
        moved = over_upper(square, B.concat([_unit_lower(square, inner, True), gbelow], -2), True)
    return [unpermuted(_permutation(node), moved)]


@lu_factor.jvp
def _(node, tangent):
    square, lower, upper, below, right = parts(node.outputs[0])
    moved = permuted(_permutation(node), tangent)
    if below is None:
        moved = _unit_lower(square, moved)
        count = square.shape[-1]
        inner = over_upper(square, moved if right is None else B.narrow(moved, -1, 0, count), False)
        strict = triangle(inner, False, -1)
        found = B.dot(lower, strict) + B.dot(triangle(inner, True), upper)
        if right is not None:
            rest = B.narrow(moved, -1, count, right.shape[-1]) - B.dot(strict, right)
            found = B.concat([found, rest], -1)
        return [found, None, None]
    moved = over_upper(square, moved, False)
    count = square.shape[-1]
    inner = _unit_lower(square, B.narrow(moved, -2, 0, count))
    found = B.dot(lower, triangle(inner, False, -1)) + B.dot(triangle(inner, True), upper)
    rest = B.narrow(moved, -2, count, below.shape[-2]) - B.dot(below, triangle(inner, True))
    return [B.concat([found, rest], -2), None, None]


# -- pivots -----------------------------------------------------------------------------------
@matrix_primitive((1,), (1, 0), {})
def permutation_of(pivots, *, size, fails):
    """The int64 permutation of `size` rows that exchanging them by int32 pivots yields; P^T x is x by its order.

    The int32 info is 0, or the place (from 1) of a pivot that is not in [1, size].
    """
    if pivots.dtype is not int32 or pivots.ndim < 1:
        fail("permutation_of", f"expected int32 pivots, got {pivots}")
    return [((*pivots.shape[:-1], size), int64), (pivots.shape[:-1], int32)]


@permutation_of.numpy
def _(pivots, *, size, fails):
    flat = pivots.reshape(-1, pivots.shape[-1])
    order = np.tile(np.arange(size), (len(flat), 1))
    each = np.arange(len(flat))
    for i in range(flat.shape[1]):
        other = np.clip(flat[:, i] - 1, 0, size - 1)
        order[each, i], order[each, other] = order[each, other].copy(), order[each, i].copy()
    bad = (flat < 1) | (flat > size)
    info = np.where(bad.any(1), bad.argmax(1) + 1, 0) if flat.shape[1] else np.zeros(len(flat))
    return order.reshape(*pivots.shape[:-1], size), info.reshape(pivots.shape[:-1]).astype("int32")


def order_of(pivots, size, fails=None):
    """The permutation; of no pivots, the identity."""
    if type(pivots.shape[-1]) is int and pivots.shape[-1] == 0:
        return B.iota((*pivots.shape[:-1], size), -1)
    return permutation_of(pivots, size=size, fails=fails)[0]


# -- LDL --------------------------------------------------------------------------------------
@matrix_primitive((2,), (2, 1, 0), {0: 0})
def ldl_factor(a, *, hermitian, fails):
    """L D L^T = a (L D L^H, if hermitian), from the lower triangle: both in one, with int32 pivots and info as LAPACK
    has them (sytrf, hetrf). Its derivative is not implemented."""
    check_dtype("ldl_factor", a, "fc")
    check_square("ldl_factor", a)
    return [(a.shape, a.dtype), (a.shape[:-1], int32), (a.shape[:-2], int32)]


@ldl_factor.numpy
def _(a, *, hermitian, fails):
    """Without exchanging rows, which is a factorization, too, where no pivot is 0."""
    n = a.shape[-1]
    left = wide(np.tril(a))
    for j in range(n):
        pivot = left[..., j, j].copy()
        column = left[..., j + 1 :, j] / pivot[..., None]
        left[..., j + 1 :, j] = column
        other = np.conj(column) if hermitian else column
        left[..., j + 1 :, j + 1 :] -= np.tril(column[..., :, None] * other[..., None, :] * pivot[..., None, None])
    pivots = np.broadcast_to(np.arange(1, n + 1, dtype="int32"), a.shape[:-1])
    return np.tril(left).astype(a.dtype), pivots.copy(), no_info(a)


ldl_factor.vjp(no_derivative)
ldl_factor.jvp(no_derivative)


@matrix_primitive((2, 1, 2), (2, 0), {0: 2})
def ldl_solve(factors, pivots, b, *, hermitian, fails):
    """x with a x = b, by the result of `ldl_factor` for a; info is not 0 if the pivots are none that it can yield."""
    check_dtype("ldl_solve", factors, "fc")
    check_square("ldl_solve", factors)
    if factors.dtype is not b.dtype or factors.shape[:-1] != b.shape[:-1] or pivots.dtype is not int32:
        fail("ldl_solve", f"expected the factors and int32 pivots of a system, got {factors}, {pivots} and {b}")
    return [(b.shape, b.dtype), (b.shape[:-2], int32)]


@ldl_solve.numpy
def _(factors, pivots, b, *, hermitian, fails):
    """For factors without exchanged rows."""
    lower = wide(np.tril(factors, -1)) + np.eye(factors.shape[-1])
    diagonal = wide(np.diagonal(factors, axis1=-2, axis2=-1))
    x = np.linalg.solve(lower, wide(b)) / diagonal[..., None]
    x = np.linalg.solve(operator_of(lower, "C" if hermitian else "T"), x)
    return x.astype(b.dtype), no_info(b)


def _conjugated(x):
    return B.conj(x) if x.dtype.is_complex else x


def _adjoint_solve(node, b):
    """The system of the adjoint: of a itself where it is Hermitian, of its conjugate where it is symmetric."""
    factors, pivots, _ = node.inputs
    factors = factors if node.attrs["hermitian"] else _conjugated(factors)
    return ldl_solve(factors, pivots, b, **{**node.attrs, "fails": None})[0]


@ldl_solve.vjp
def _(node, g, _):
    return [None, None, _adjoint_solve(node, g)]


@ldl_solve.jvp
def _(node, _factors, _pivots, tangent):
    if tangent is None:
        return [None, None]
    factors, pivots, _ = node.inputs
    return [ldl_solve(factors, pivots, tangent, **{**node.attrs, "fails": None})[0], None]
