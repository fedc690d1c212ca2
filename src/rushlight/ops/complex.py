"""Complex numbers: their parts, conjugates and angles."""

from __future__ import annotations

from ..core import engine
from ..ir import build as B
from ..ir import dtypes
from ..ir.graph import Value
from .declare import FUNCTIONS, composite, op


# -- parts ------------------------------------------------------------------------------------------
@op(view=True, public=False)
def real_part(input):
    """Every other number of the memory, from the first."""
    return B.select(B.view_as_real(input), -1, 0)


@real_part.vjp
def _(cotangents, outputs, input):
    return B.complex(cotangents[0], B.zeros_like(cotangents[0]))


@op(view=True, public=False)
def imaginary_part(input):
    """Every other number of the memory, from the second."""
    return B.select(B.view_as_real(input), -1, 1)


@imaginary_part.vjp
def _(cotangents, outputs, input):
    return B.complex(B.zeros_like(cotangents[0]), cotangents[0])


@composite
def real(input):
    """The real part of complex numbers, a view; real tensors stay as they are."""
    return real_part(input) if input.dtype.is_complex else input


@composite
def imag(input):
    """The imaginary part of complex numbers, a view.

    Raises:
        RuntimeError: for real numbers
    """
    if not input.dtype.is_complex:
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return imaginary_part(input)


def _set_real(input, value) -> None:
    real(input).copy_(value if isinstance(value, engine.Tensor) else FUNCTIONS["scalar_tensor"](value))


def _set_imag(input, value) -> None:
    imag(input).copy_(value if isinstance(value, engine.Tensor) else FUNCTIONS["scalar_tensor"](value))


engine.attach_method("real", property(real, _set_real, doc=real.__doc__))
engine.attach_method("imag", property(imag, _set_imag, doc=imag.__doc__))
Value.real, Value.imag = property(real), property(imag)


@op(view=True)
def view_as_real(input):
    """Complex numbers as pairs of real ones in a new last dim, over the same memory."""
    if not input.dtype.is_complex:
        raise RuntimeError("view_as_real is only supported for complex tensors")
    return B.view_as_real(input)


@op(view="strict", public=False)
def paired(input):
    """Pairs in the last dim as complex numbers, over the same memory."""
    return B.view_as_complex(input)


@composite
def view_as_complex(input):
    """Pairs of real numbers in the last dim as complex ones, over the same memory.

    input: float32 or float64, (..., 2), with pairs that lie together in memory at even offsets.
    """
    if input.dtype not in (dtypes.float32, dtypes.float64):
        raise RuntimeError(
            "view_as_complex is only supported for float and double tensors, but got a tensor of scalar type: "
            f"{input.dtype.name}"
        )
    if input.ndim == 0:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if input.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if isinstance(input, engine.Tensor):
        check_pairs(input)
    return paired(input)


def check_pairs(input) -> None:
    if input.stride(-1) != 1:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any(s % 2 for s, n in zip(input.stride()[:-1], input.shape) if n > 1):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    if input.storage_offset() % 2:
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")


# -- conjugates -------------------------------------------------------------------------------------
@op(method=True, keeps=True)
def conj(input):
    """The complex conjugate; real tensors stay as they are."""
    return B.conj(input)


@op(method=True, inplace=True, out=True)
def conj_physical(input):
    """The complex conjugate in memory of its own."""
    return B.conj(input)


@composite(method=True)
def resolve_conj(input):
    """The tensor itself: conjugates are always computed."""
    return input


@composite(method=True)
def resolve_neg(input):
    """The tensor itself: negatives are always computed."""
    return input


@composite(method=True)
def is_conj(input) -> bool:
    """False: conjugates are always computed."""
    return False


@composite(method=True)
def is_neg(input) -> bool:
    """False: negatives are always computed."""
    return False


# -- angles -----------------------------------------------------------------------------------------
@op(method=True, out=True)
def angle(input):
    """The argument in (-pi, pi], in radians; of real numbers 0 or pi."""
    return B.angle(input)


@angle.vjp
def _(cotangents, outputs, input):
    if not input.dtype.is_complex:
        return B.zeros_like(input)
    re, im = B.real(input), B.imag(input)
    zero = B.logical_and(B.eq(re, 0), B.eq(im, 0))
    scale = cotangents[0] / B.where(zero, 1, re * re + im * im)
    return B.complex(B.where(zero, 0, -im * scale), B.where(zero, 0, re * scale))


def check_parts(first, second) -> None:
    for part in (first, second):
        if part.dtype not in (dtypes.float32, dtypes.float64):
            raise RuntimeError(
                f"Expected both inputs to be Float or Double tensors but got {first.dtype.name} and {second.dtype.name}"
            )
    if first.dtype is not second.dtype:
        raise RuntimeError(
            f"Expected object of scalar type {first.dtype.name} but got scalar type {second.dtype.name} for second "
            f"argument"
        )


@op(out=True, public=False)
def of_parts(real, imag):
    """real + imag i."""
    check_parts(real, imag)
    return B.complex(real, imag)


def complex(real, imag, *, out=None):
    """Complex numbers of real and imaginary parts: float32 or float64, both alike; they broadcast.

    >>> rushlight.complex(rushlight.tensor([1.0]), rushlight.tensor([2.0]))
    tensor([1.+2.j])
    """
    return of_parts(real, imag) if out is None else of_parts(real, imag, out=out)


composite(complex)


@op(out=True)
def polar(abs, angle):
    """Complex numbers of absolute values and angles: abs * (cos(angle) + sin(angle) i)."""
    check_parts(abs, angle)
    return B.complex(abs * B.cos(angle), abs * B.sin(angle))
