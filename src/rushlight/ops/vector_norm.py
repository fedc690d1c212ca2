"""Norms of tensors taken as vectors."""

from __future__ import annotations

import math

from ..core.engine import Tensor
from ..ir import build as B
from ..ir import dtypes
from ..ir.dtypes import promote_types
from ..ir.sizes import product
from .checks import scalar_type
from .declare import Number, composite, op
from .reduction import reduced_dims


@op(public=False, out=True, exact=True)
def norm_of(input, p: Number, dim: int | tuple | None, keepdim: bool, dtype: Dtype = None, order: Order = 2):
    """The p-norm; `order` tells the special cases 0, 1, 2 and infinite from the rest, which read `p`."""
    x = input if dtype is None else B.cast(input, dtype)
    result = x.dtype.to_real()
    x = B.cast(x, dtypes.float32) if x.dtype in B.HALVES else x
    dims = reduced_dims(x, dim)
    if order == 2:
        squares = x * x if x.dtype.kind == "f" else B.real(x) * B.real(x) + B.imag(x) * B.imag(x)
        return B.cast(B.root(B.sum(squares, dims, keepdim)), result)
    size = B.abs(x)
    if order == "inf":
        return B.cast(B.max(size, dims, keepdim), result)
    if order == "-inf":
        return B.cast(B.min(size, dims, keepdim), result)
    if order == 0:
        return B.cast(B.sum(B.cast(B.ne(size, 0), size.dtype), dims, keepdim), result)
    if order == 1:
        return B.cast(B.sum(size, dims, keepdim), result)
    return B.cast(B.raised(B.sum(B.raised(size, p), dims, keepdim), 1 / p), result)


def order_of(p):
    """The special case that an exponent is, or "p"."""
    if p in (math.inf, -math.inf):
        return "inf" if p > 0 else "-inf"
    return int(p) if p in (0, 1, 2) else "p"


@norm_of.vjp
def _(cotangents, outputs, input, p, dim, keepdim, dtype=None, order=2):
    """With 0 as the derivative where the norm is 0."""
    x = input if dtype is None else B.cast(input, dtype)
    dims = reduced_dims(x, dim)
    shape = x.shape
    g, y = (v if keepdim else B.unreduce(v, shape, dims) for v in (cotangents[0], outputs[0]))
    g, y = B.expand(g, shape), B.expand(y, shape)
    if order == 0:
        return B.zeros_like(x)
    if order in ("inf", "-inf"):
        return evenly_signed(x, y, g, dims)
    if order == 1:
        return g * B.sign(x)
    zero = B.eq(y, 0)
    safe = B.where(zero, 1.0, y)
    if order == 2:
        return B.where(zero, 0.0, g / safe) * x
    size = B.abs(x)
    still = B.eq(size, 0)
    power = B.where(still, 0.0, B.pow(B.where(still, 1.0, size), p - 1))
    return B.sign(x) * power * B.where(zero, 0.0, g / B.pow(safe, p - 1))


def evenly_signed(x, y, g, dims):
    """The cotangent of the largest (or smallest) size, shared by all elements that attain it."""
    mask = B.cast(B.eq(B.abs(x), y), y.dtype)
    return B.sign(x) * (g * mask / B.expand(B.sum(mask, dims, True), x.shape))


# -- checks -----------------------------------------------------------------------------------------
def check_norm(name: str, x, dtype=None) -> None:
    """RuntimeError unless x, taken in `dtype`, has a norm."""
    if x.dtype.kind not in "fc":
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {scalar_type(x.dtype)}")
    if dtype is None:
        return
    if dtype.kind not in "fc":
        raise RuntimeError(f"{name}: dtype should be floating point or complex, but got {scalar_type(dtype)}")
    if dtype.kind != x.dtype.kind:
        kind = "complex" if x.dtype.is_complex else "real"
        raise RuntimeError(f"{name}: dtype should be {kind} for {kind} inputs, but got {scalar_type(dtype)}")
    if promote_types(x.dtype, dtype) is not dtype:
        raise RuntimeError(
            f"{name}: the dtype of the input ({scalar_type(x.dtype)}) should be convertible without narrowing to the "
            f"specified dtype ({scalar_type(dtype)})"
        )


def check_identity(x, ord, dim) -> None:
    """RuntimeError for a norm of nothing that would be an extreme: it has no neutral element."""
    if not (ord < 0 or ord == math.inf):
        return
    if not dim and product(x.shape) == 0:
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {ord} norm on an empty tensor because the operation does not "
            "have an identity"
        )
    for d in dim or ():
        if x.ndim and x.shape[d] == 0:
            raise RuntimeError(
                f"linalg.vector_norm cannot compute the {ord} norm on the dimension {d} because this dimension is "
                "empty and the operation does not have an identity"
            )


def check_target(name: str, out, dtype) -> None:
    """RuntimeError unless `out` is None or has the result's dtype."""
    if out is not None and out.dtype is not dtype:
        raise RuntimeError(
            f"{name}: expected out tensor to have dtype {scalar_type(dtype)}, but got {scalar_type(out.dtype)} instead"
        )


def as_dims(dim):
    """`dim` as a tuple, or None."""
    if dim is None:
        return None
    return tuple(map(int, dim)) if isinstance(dim, (tuple, list)) else (int(dim),)


# -- public -----------------------------------------------------------------------------------------
@composite(public=False)
def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None, out=None):
    """The norm of x as a vector, over all elements or over `dim`.

    ord    2 (Euclidean), 1, inf (largest size), -inf (smallest size), 0 (how many are not zero), or any other
           number p: ``sum(abs(x) ** p) ** (1 / p)``
    dim    an int, several, or None: all
    dtype  x is cast to it first; the result has its real type

    RuntimeError for integers, for complex `ord`, and for the extremes of nothing.

    >>> rushlight.linalg.vector_norm(rushlight.tensor([3.0, -4.0]))
    tensor(5.)
    >>> rushlight.linalg.vector_norm(rushlight.tensor([[3.0, -4.0], [0.0, 2.0]]), 1, dim=1)
    tensor([7., 2.])
    """
    check_norm("linalg.vector_norm", x, dtype)
    exponent = exponent_of(ord)
    dims = as_dims(dim)
    check_identity(x, exponent, dims)
    check_target("linalg.vector_norm", out, (dtype or x.dtype).to_real())
    arguments = (x, exponent, dims, bool(keepdim), dtype, order_of(exponent))
    return norm_of(*arguments) if out is None else norm_of(*arguments, out=out)


def exponent_of(ord) -> float:
    """A norm's order as a number; TypeError for what is none."""
    if isinstance(ord, Tensor):
        ord = ord.item()
    if isinstance(ord, complex):
        raise RuntimeError("linalg.vector_norm: Expected a non-complex scalar as the order of norm.")
    if isinstance(ord, str) or not hasattr(ord, "__float__"):
        raise TypeError(f"linalg_vector_norm(): argument 'ord' must be Number, not {type(ord).__name__}")
    return float(ord)


@composite(method=True)
def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """The p-norm over all elements or `dim`; "fro" is the 2-norm, "nuc" the sum of a matrix's singular values.

    Kept for old programs; `linalg.vector_norm` and `linalg.matrix_norm` say which of the two they take.
    """
    dims = as_dims(dim)
    if p == "nuc":
        return matrix_norm(input, "nuc", tuple(range(input.ndim)) if dims is None else dims, keepdim, dtype, out)
    if isinstance(p, str) and (p != "fro" or len(dims or ()) > 2):
        return matrix_norm(input, p, dims or (-2, -1), keepdim, dtype, out)
    return vector_norm(input, 2 if p in ("fro", None) else p, dims, keepdim, dtype=dtype, out=out)


@composite
def frobenius_norm(input, dim, keepdim=False, *, out=None):
    """The 2-norm over at most two dims."""
    dims = as_dims(dim)
    if len(dims) > 2:
        raise RuntimeError(f"Expected at most 2 dimensions, but got {len(dims)} dimensions instead.")
    return vector_norm(input, 2, dims, keepdim, out=out)


@composite
def nuclear_norm(input, dim=(-2, -1), keepdim=False, *, out=None):
    """The sum of the singular values of matrices in two dims; also called as `nuclear_norm(input, keepdim)`."""
    if isinstance(dim, bool):
        dim, keepdim = (-2, -1), dim
    return matrix_norm(input, "nuc", as_dims(dim), keepdim, None, out)


def matrix_norm(input, ord, dim, keepdim, dtype, out):
    from ..linalg.norms import matrix_norm

    return matrix_norm(input, ord, dim, keepdim, dtype=dtype, out=out)
