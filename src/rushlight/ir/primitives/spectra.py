"""Eigenvalues and eigenvectors of square matrices.

The derivatives hold for simple eigenvalues, and for losses that don't depend on the vectors' phases: Giles, "Collected
Matrix Derivative Results for Forward and Reverse Mode Algorithmic Differentiation", 2008; Boeddeker et al., "On the
Computation of Complex-valued Gradients with Application to Statistically Optimum Beamforming", 2017.
"""

from __future__ import annotations

from .. import build as B
from ..columns import matrix_primitive
from ..dtypes import int32
from ..lazy import np
from ..primitive import check_dtype, fail, primitive
from .matrix_parts import (
    check_square,
    diagonal_of,
    hermitian_part,
    no_info,
    over_gaps,
    scaled_columns,
    scaled_rows,
    skew,
    with_diagonal,
)
from .solve import inverse


# -- a condition that a derivative needs -------------------------------------------------------
@primitive("matrix")
def claim(x, holds, *, fails):
    """x; with an error whose text is `fails` unless all of the bools `holds` are true."""
    if holds.dtype.kind != "b":
        fail("claim", f"expected bools, got {holds}")
    return x.shape, x.dtype


claim.numpy(lambda x, holds, *, fails: x)
claim.vjp(lambda node, g: [g, None])
claim.jvp(lambda node, tangent, _: tangent)


@claim.batch
def _(node, inputs, dims):
    x, holds = B.lead_all(inputs, dims)
    return [claim(x, holds, **node.attrs)], [0]


def without_phase(x, phases, name: str, what: str):
    """x, of complex type; an error where a loss depends on phases that are arbitrary: `phases` are what must vanish."""
    text = (
        f"{name}_backward: The {what} in the complex case are specified up to multiplication by e^{{{{i phi}}}}. The "
        "specified loss function depends on this quantity, so it is ill-defined."
    )
    return claim(x, B.le(B.abs(phases), 1e-2), fails=text) if x.dtype.is_complex else x


# -- Hermitian matrices ------------------------------------------------------------------------
@matrix_primitive((2,), (1, 2, 0), {1: 0})
def eigh(a, *, lower, fails):
    """Real eigenvalues in ascending order, orthonormal eigenvectors as columns, LAPACK's int32 info.

    One triangle of `a` is read; derivatives take `a` to be Hermitian, whatever the other triangle holds.
    """
    check_dtype("eigh", a, "fc")
    check_square("eigh", a)
    return [(a.shape[:-1], a.dtype.to_real()), (a.shape, a.dtype), (a.shape[:-2], int32)]


@eigh.numpy
def _(a, *, lower, fails):
    return (*np.linalg.eigh(a, "L" if lower else "U"), no_info(a))


@eigh.vjp
def _(node, gl, gv, _):
    values, vectors, _ = node.outputs
    if gv is None:
        inner = scaled_columns(vectors, gl)
        return [B.matmul(inner, B.adjoint(vectors))]
    turn = B.matmul(B.adjoint(vectors), gv)
    turn = without_phase(turn, B.imag(diagonal_of(turn)), "linalg_eigh", "eigenvectors")
    inner = with_diagonal(over_gaps(skew(turn) * 0.5, values), gl)
    return [B.matmul(vectors, B.matmul(inner, B.adjoint(vectors)))]


@eigh.jvp
def _(node, tangent):
    values, vectors, _ = node.outputs
    turn = B.matmul(B.adjoint(vectors), B.matmul(hermitian_part(tangent), vectors))
    return [B.real(diagonal_of(turn)), B.matmul(vectors, over_gaps(turn, values)), None]


@matrix_primitive((2,), (1, 0), {})
def eigvalsh(a, *, lower, fails):
    """The eigenvalues alone, and info. Their derivatives compute the vectors."""
    check_dtype("eigvalsh", a, "fc")
    check_square("eigvalsh", a)
    return [(a.shape[:-1], a.dtype.to_real()), (a.shape[:-2], int32)]


@eigvalsh.numpy
def _(a, *, lower, fails):
    return np.linalg.eigvalsh(a, "L" if lower else "U"), no_info(a)


@eigvalsh.vjp
def _(node, gl, _):
    vectors = eigh(node.inputs[0], **node.attrs)[1]
    return [B.matmul(scaled_columns(vectors, gl), B.adjoint(vectors))]


@eigvalsh.jvp
def _(node, tangent):
    vectors = eigh(node.inputs[0], **node.attrs)[1]
    turned = B.matmul(hermitian_part(tangent), vectors)
    return [B.real(B.sum(B.conj(vectors) * turned, -2)), None]


# -- general square matrices ---------------------------------------------------------------------
@matrix_primitive((2,), (1, 2, 0), {})
def eig(a, *, fails):
    """Complex eigenvalues in no order, eigenvectors of length 1 as columns, and info."""
    check_dtype("eig", a, "fc")
    check_square("eig", a)
    dtype = a.dtype.to_complex()
    return [(a.shape[:-1], dtype), (a.shape, dtype), (a.shape[:-2], int32)]


def as_complex(x, like):
    return x.astype({"float32": "complex64", "float64": "complex128"}.get(str(like.dtype), like.dtype))


@eig.numpy
def _(a, *, fails):
    values, vectors = np.linalg.eig(a)
    return as_complex(values, a), as_complex(vectors, a), no_info(a)


@eig.vjp
def _(node, gl, gv, _):
    values, vectors, _ = node.outputs
    return [like_input(node, eig_spread(values, vectors, gl, gv))]


def like_input(node, x):
    """A cotangent of the input's type: a real one has no imaginary part."""
    return x if node.inputs[0].dtype.is_complex else B.real(x)


def eig_spread(values, vectors, gl, gv):
    """V^-H inner V^H, by the cotangents of values and vectors."""
    adjoint = B.adjoint(vectors)
    if gv is None:
        inner = scaled_rows(gl, adjoint)
    else:
        turn = B.matmul(adjoint, gv)
        turn = without_phase(turn, B.imag(diagonal_of(turn)), "linalg_eig", "eigenvectors")
        # vectors keep their length: what would change it counts for nothing
        lengths = B.cast(B.real(diagonal_of(turn)), turn.dtype)
        turn = turn - scaled_columns(B.matmul(adjoint, vectors), lengths)
        inner = over_gaps(turn, B.conj(values))
        inner = B.matmul(inner if gl is None else with_diagonal(inner, gl), adjoint)
    return B.matmul(inverse(adjoint, fails=None)[0], inner)


@eig.jvp
def _(node, tangent):
    values, vectors, _ = node.outputs
    turn = turned(vectors, tangent)
    moved = B.matmul(vectors, over_gaps(turn, values))
    lengths = B.cast(B.real(B.sum(B.conj(vectors) * moved, -2)), moved.dtype)
    return [diagonal_of(turn), moved - scaled_columns(vectors, lengths), None]


def turned(vectors, tangent):
    """V^-1 dA V"""
    return B.matmul(inverse(vectors, fails=None)[0], B.matmul(B.cast(tangent, vectors.dtype), vectors))


@matrix_primitive((2,), (1, 0), {})
def eigvals(a, *, fails):
    """The eigenvalues alone, and info. Their derivatives compute the vectors."""
    check_dtype("eigvals", a, "fc")
    check_square("eigvals", a)
    return [(a.shape[:-1], a.dtype.to_complex()), (a.shape[:-2], int32)]


@eigvals.numpy
def _(a, *, fails):
    return as_complex(np.linalg.eigvals(a), a), no_info(a)


@eigvals.vjp
def _(node, gl, _):
    values, vectors, _ = eig(node.inputs[0], **node.attrs)
    return [like_input(node, eig_spread(values, vectors, gl, None))]


@eigvals.jvp
def _(node, tangent):
    vectors = eig(node.inputs[0], **node.attrs)[1]
    return [diagonal_of(turned(vectors, tangent)), None]
