"""QR factorizations, and least squares."""

from __future__ import annotations

from .. import build as B
from ..columns import matrix_primitive
from ..dtypes import int32
from ..lazy import np
from ..primitive import check_dtype, fail
from .matrix_parts import halved, no_derivative, smaller, triangle
from .solve import over_upper, wide

MODES = ("reduced", "complete", "r")


# -- QR ---------------------------------------------------------------------------------------
@matrix_primitive((2,), (2, 2, 2), {2: 0})
def qr(a, *, mode):
    """Q with orthonormal columns and R, an upper triangle: Q R = a. The third result is work space.

    For a of M x N and K = min(M, N): "reduced" gives M x K and K x N, "complete" M x M and M x N, "r" no Q and K x N.
    """
    check_dtype("qr", a, "fc")
    if a.ndim < 2 or mode not in MODES:
        fail("qr", f"expected matrices and a mode among {MODES}, got {a} and {mode!r}")
    rows, columns = a.shape[-2:]
    inner = rows if mode == "complete" else smaller(a)
    left = 0 if mode == "r" else inner
    batch = a.shape[:-2]
    return [((*batch, rows, left), a.dtype), ((*batch, inner, columns), a.dtype), (a.shape, a.dtype)]


@qr.numpy
def _(a, *, mode):
    batch = a.shape[:-2]
    if mode == "r":
        upper = np.linalg.qr(wide(a), "r")
        return np.zeros((*batch, a.shape[-2], 0), a.dtype), upper.astype(a.dtype), a
    q, upper = np.linalg.qr(wide(a), mode)
    return q.astype(a.dtype), upper.astype(a.dtype), a


def _hermitian_sum(x):
    """x + x^H with half of the diagonal, of an upper triangle."""
    lower = halved(B.adjoint(x))
    return lower + B.adjoint(lower)


def _real_diagonal(x):
    """The real part of the diagonal, as a matrix."""
    diagonal = triangle(triangle(x, True), False)
    return 0.5 * (diagonal + B.adjoint(diagonal)) if x.dtype.is_complex else diagonal


def _check_mode(node) -> None:
    rows, columns = node.inputs[0].shape[-2:]
    mode = node.attrs["mode"]
    if mode == "r":
        fail(
            "linalg.qr",
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Use another one",
        )
    if mode == "complete" and rows > columns:
        fail("linalg.qr", "The QR decomposition is not differentiable when mode='complete' and nrows > ncols")


@qr.vjp
def _(node, gq, gr, _):
    _check_mode(node)
    q, upper, _ = node.outputs
    rows, columns = node.inputs[0].shape[-2:]
    broad = columns > rows
    if broad:
        count = rows
        right = B.narrow(node.inputs[0], -1, count, columns - count)
        upper = B.narrow(upper, -1, 0, count)
        if gr is not None:
            gright, gr = B.narrow(gr, -1, count, columns - count), B.narrow(gr, -1, 0, count)
            moved = B.dot(right, B.adjoint(gright))
            gq = moved if gq is None else gq + moved
            gright = B.dot(q, gright)
        else:
            gright = B.zeros_like(right)
    inner = None if gr is None else B.dot(gr, B.adjoint(upper))
    if gq is not None:
        turned = B.dot(B.adjoint(q), gq)
        inner = -turned if inner is None else inner - turned
    total = B.dot(q, _hermitian_sum(triangle(inner, True)))
    ga = over_upper(upper, total if gq is None else total + gq, True)
    return [B.concat([ga, gright], -1) if broad else ga]


@qr.jvp
def _(node, tangent):
    _check_mode(node)
    q, upper, _ = node.outputs
    rows, columns = node.inputs[0].shape[-2:]
    if columns > rows:
        count = rows
        right, dright = (B.narrow(x, -1, count, columns - count) for x in (node.inputs[0], tangent))
        dq, dupper = _square_jvp(q, B.narrow(upper, -1, 0, count), B.narrow(tangent, -1, 0, count))
        rest = B.dot(B.adjoint(dq), right) + B.dot(B.adjoint(q), dright)
        return [dq, B.concat([dupper, rest], -1), None]
    return [*_square_jvp(q, upper, tangent), None]


def _square_jvp(q, upper, tangent):
    scaled = over_upper(upper, tangent)
    turned = B.dot(B.adjoint(q), scaled)
    strict = triangle(turned, False, -1)
    diagonal = triangle(triangle(turned, True), False)
    # R's part of the change: what is left of it when the skew-Hermitian part is taken away
    inner = triangle(turned, True) + B.adjoint(strict) - (diagonal - _real_diagonal(turned))
    return scaled - B.dot(q, inner), B.dot(inner, upper)


@matrix_primitive((2,), (2, 1), {0: 0})
def geqrf(a):
    """QR as LAPACK keeps it: R on and above the diagonal, reflections below it, and their factors."""
    check_dtype("geqrf", a, "fc")
    if a.ndim < 2:
        fail("geqrf", f"expected matrices, got {a}")
    return [(a.shape, a.dtype), ((*a.shape[:-2], smaller(a)), a.dtype)]


@geqrf.numpy
def _(a):
    rows, columns = a.shape[-2:]
    found = [np.linalg.qr(m, "raw") for m in wide(a).reshape(-1, rows, columns)]
    count = min(rows, columns)
    factors = np.array([h.T for h, _ in found]).reshape(a.shape)
    scales = np.array([tau for _, tau in found]).reshape(*a.shape[:-2], count)
    return factors.astype(a.dtype), scales.astype(a.dtype)


geqrf.vjp(no_derivative)
geqrf.jvp(no_derivative)


# -- least squares ----------------------------------------------------------------------------
DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


@matrix_primitive((2, 2), (2, 2, 1, 0, 0), {0: 1, 1: 0})
def lstsq(a, b, *, driver, rcond, fails):
    """x with the smallest |a x - b|, and among those the shortest, in the first rows of the first result.

    a is M x N, b and the first result are max(M, N) x K; below the N rows of x lie residuals, where a has full rank.
    Further results: work space, the singular values (of "gelsd" and "gelss"), the int32 rank (not of "gels") and info.
    `rcond`, relative to the largest singular value, is what counts as 0; None is eps * max(M, N).
    """
    check_dtype("lstsq", a, "fc")
    rows, columns = a.shape[-2:]
    if b.shape[-2] != (rows if rows >= columns else columns) or a.dtype is not b.dtype or driver not in DRIVERS:
        fail("lstsq", f"expected [*B, M, N] and [*B, max(M, N), K] of one dtype, and a driver, got {a}, {b}, {driver}")
    batch = a.shape[:-2]
    values = ((*batch, smaller(a)), a.dtype.to_real())
    return [(b.shape, b.dtype), (a.shape, a.dtype), values, (batch, int32), (batch, int32)]


@lstsq.numpy
def _(a, b, *, driver, rcond, fails):
    rows, columns = a.shape[-2:]
    u, s, v = np.linalg.svd(wide(a), full_matrices=False)
    eps = np.finfo(a.dtype).eps * max(rows, columns) if rcond is None else rcond
    kept = s > eps * s.max(-1, keepdims=True)
    inverse = np.where(kept, 1 / np.where(kept, s, 1), 0)[..., None]
    solution = np.conj(np.swapaxes(v, -1, -2)) @ (inverse * (np.conj(np.swapaxes(u, -1, -2)) @ wide(b)[..., :rows, :]))
    found = np.zeros(b.shape, solution.dtype)
    found[..., :columns, :] = solution
    batch = a.shape[:-2]
    return found.astype(b.dtype), a, s.astype(a.real.dtype), kept.sum(-1).astype("int32"), np.zeros(batch, "int32")


def _padded(x, rows):
    """Rows of zeros below, up to a number."""
    return x if x.shape[-2] == rows else B.pad(x, [0] * x.ndim, [*[0] * (x.ndim - 2), rows - x.shape[-2], 0])


def pseudo_solve(a, b, attrs: dict):
    """The pseudo-inverse of a, times b."""
    rows, columns = a.shape[-2:]
    larger = rows if rows >= columns else columns
    found = lstsq(a, _padded(b, larger), **{**attrs, "fails": None})[0]
    return B.narrow(found, -2, 0, columns)


@lstsq.vjp
def _(node, g, *_):
    """From d(a+) = -a+ da a+ + a+ a+^H da^H (1 - a a+) + (1 - a+ a) da^H a+^H a+ (Golub and Pereyra)."""
    (a, b), attrs = node.inputs, node.attrs
    rows, columns = a.shape[-2:]
    x, g, b = B.narrow(node.outputs[0], -2, 0, columns), B.narrow(g, -2, 0, columns), B.narrow(b, -2, 0, rows)
    gb = pseudo_solve(B.adjoint(a), g, attrs)
    rest = b - B.dot(a, x)
    ga = B.dot(rest, B.adjoint(pseudo_solve(a, gb, attrs))) - B.dot(gb, B.adjoint(x))
    outside = g - pseudo_solve(a, B.dot(a, g), attrs)
    ga = ga + B.dot(pseudo_solve(B.adjoint(a), x, attrs), B.adjoint(outside))
    return [ga, _padded(gb, node.inputs[1].shape[-2])]


@lstsq.jvp
def _(node, da, db):
    (a, b), attrs = node.inputs, node.attrs
    rows, columns = a.shape[-2:]
    x, b = B.narrow(node.outputs[0], -2, 0, columns), B.narrow(b, -2, 0, rows)
    moved = None if db is None else pseudo_solve(a, B.narrow(db, -2, 0, rows), attrs)
    if da is not None:
        rest = b - B.dot(a, x)
        first = pseudo_solve(B.adjoint(a), B.dot(B.adjoint(da), rest), attrs) - B.dot(da, x)
        outside = B.dot(B.adjoint(da), pseudo_solve(B.adjoint(a), x, attrs))
        change = pseudo_solve(a, first, attrs) + outside - pseudo_solve(a, B.dot(a, outside), attrs)
        moved = change if moved is None else moved + change
    return [None if moved is None else _padded(moved, node.inputs[1].shape[-2]), None, None, None, None]
