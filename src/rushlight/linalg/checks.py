"""Checks that the functions of this room share; they run when a call is planned, on Values."""

from __future__ import annotations

from ..ir import build as B
from ..ir.sizes import hint
from ..ops.checks import scalar_type
from ..ops.linear_forms import check_square

SINGULAR = (
    "{name}: {{batch}}The diagonal element {{info}} is zero, the inversion could not be completed because the input "
    "matrix is singular."
)
UNSOLVED = "{name}: {{batch}}The solver failed because the input matrix is singular."
INDEFINITE = (
    "{name}: {{batch}}The factorization could not be completed because the input is not positive-definite (the leading "
    "minor of order {{info}} is not positive-definite)."
)
UNCONVERGED = (
    "{name}: {{batch}}The algorithm failed to converge because the input matrix is ill-conditioned, has too many "
    "repeated {what}, or contained non-finite values (error code: {{info}})."
)
DIVISION = (
    "{name}: {{batch}}U[{{info}},{{info}}] is zero and using it on lu_solve would result in a division by zero. If you "
    "still want to perform the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
)


def check_field(name: str, x) -> None:
    """RuntimeError for integers."""
    if x.dtype.kind not in "fc":
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {scalar_type(x.dtype)}")


def check_precision(name: str, x) -> None:
    """RuntimeError for half types, in words of the functions that ask first."""
    check_field(name, x)
    if x.dtype in B.HALVES:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {scalar_type(x.dtype)}")


def check_implemented(kernel: str, x) -> None:
    """NotImplementedError for all but float32, float64 and the complex types, as the kernel's own refusal."""
    if x.dtype.kind not in "fc" or x.dtype in B.HALVES:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_type(x.dtype)}'")


def check_matrix(name: str, x, word: str = "A") -> None:
    """RuntimeError unless x has two dimensions or more."""
    if x.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {word} must have at least 2 dimensions.")


def check_same_types(name: str, a, b, first: str = "A", second: str = "B") -> None:
    if a.dtype is not b.dtype:
        raise RuntimeError(
            f"{name}: Expected {first} and {second} to have the same dtype, but found {first} of type "
            f"{scalar_type(a.dtype)} and {second} of type {scalar_type(b.dtype)} instead"
        )


def check_pivots(name: str, factors, pivots, word: str) -> None:
    """RuntimeError unless there is a pivot for each row of the factors, which errors call `word`."""
    if pivots.ndim != factors.ndim - 1 or any(a != b for a, b in zip(pivots.shape, factors.shape[:-1])):
        raise RuntimeError(
            f"{name}: Expected {word}.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
            f"{list(map(hint, pivots.shape))} instead"
        )


def check_system(name: str, a, b, left: bool) -> None:
    """Square a, and b with as many rows (columns, unless `left`)."""
    check_square(name, a)
    check_matrix(name, b, "B")
    if a.shape[-2] != b.shape[-2 if left else -1]:
        equation = "AX = B" if left else "XA = B"
        rows, columns, height, width = map(hint, (*a.shape[-2:], *b.shape[-2:]))
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation {equation} ({rows}x{columns} and "
            f"{height}x{width})"
        )


def broadcast_batches(*matrices) -> list:
    """Matrices with the same batch dimensions."""
    first = matrices[0].shape[:-2]
    if all(m.ndim == len(first) + 2 and all(a is b for a, b in zip(first, m.shape)) for m in matrices):
        return list(matrices)
    batch = B.broadcast_shapes(*(m.shape[:-2] for m in matrices))
    return [B.broadcast_to(m, (*batch, *m.shape[-2:])) for m in matrices]


def stores_columns(made):
    """Have an op's results stored by columns, as LAPACK's are."""
    made.declaration.by_columns = True
    return made


def has_no_elements(A) -> bool:
    """Whether that is known of matrices without a guard."""
    return any(type(size) is int and size == 0 for size in A.shape[-2:])
