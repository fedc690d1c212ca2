"""Complex numbers: their parts, conjugates and angles."""

from __future__ import annotations

from ..core import engine
from ..ir import build as B
from ..ir import dtypes
from ..ir.graph import Value
from .checks import scalar_type
from .declare import FUNCTIONS, add_method, composite, op
from .lazy import CONJ, NEG, bits_of


# -- parts ------------------------------------------------------------------------------------------
@op(view="strict", public=False)
def real_part(input):
    """Every other number of the memory, from the first."""
    return B.select(B.view_as_real(input), -1, 0)


@real_part.vjp
def _(cotangents, outputs, input):
    return B.complex(cotangents[0], B.zeros_like(cotangents[0]))


@op(view="strict", public=False)
def imaginary_part(input):
    """Every other number of the memory, from the second."""
    return B.select(B.view_as_real(input), -1, 1)


@imaginary_part.vjp
def _(cotangents, outputs, input):
    return B.complex(B.zeros_like(cotangents[0]), cotangents[0])


@composite
def real(input):
    """The real part of complex numbers, a view; real tensors stay as they are."""
    if not input.dtype.is_complex:
        return input
    return real_part(conj(input) if bits_of(input) & CONJ else input)


@composite
def imag(input):
    """The imaginary part of complex numbers, a view.

    Raises:
        RuntimeError: for real numbers
    """
    if not input.dtype.is_complex:
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return _neg_view(imaginary_part(conj(input))) if bits_of(input) & CONJ else imaginary_part(input)


def _set_real(input, value) -> None:
    real(input).copy_(value if isinstance(value, engine.Tensor) else FUNCTIONS["scalar_tensor"](value))


def _set_imag(input, value) -> None:
    imag(input).copy_(value if isinstance(value, engine.Tensor) else FUNCTIONS["scalar_tensor"](value))


engine.attach_method("real", property(real, _set_real, doc=real.__doc__))
engine.attach_method("imag", property(imag, _set_imag, doc=imag.__doc__))
Value.real, Value.imag = property(real), property(imag)


@op(view="strict", public=False)
def parts(input):
    """Complex numbers as pairs in the last dim, over the same memory."""
    return B.view_as_real(input)


@composite
def view_as_real(input):
    """Complex numbers as pairs of real ones in a new last dim, over the same memory.

    Raises:
        RuntimeError: for real tensors, and for conjugates that are not computed
    """
    if not input.dtype.is_complex:
        raise RuntimeError("view_as_real is only supported for complex tensors")
    check_resolved(input)
    return parts(input)


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
            f"{scalar_type(input.dtype)}"
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


# -- conjugates and negatives -------------------------------------------------------------------------
@op(method=True, view=True, keeps=True)
def conj(input):
    """The complex conjugate, a view over the same memory that computes nothing; real tensors stay as they are.

    What reads it conjugates on the way; what is written into it arrives conjugated in the memory.

    >>> x = rushlight.tensor([1 + 2j])
    >>> y = x.conj()
    >>> y.is_conj(), y.data_ptr() == x.data_ptr()
    (True, True)
    """
    return B.conj(input)


@op(method=True, view=True)
def _neg_view(input):
    """The negative, a view over the same memory that computes nothing."""
    if input.dtype is dtypes.bool_:
        raise NotImplementedError("_neg_view: booleans have no negative")
    return -input


@composite(method=True)
def _conj(input):
    """The conjugate of complex numbers, a view."""
    if not input.dtype.is_complex:
        raise RuntimeError(f"_conj: expected a complex tensor, got {input.dtype.name}")
    return conj(input)


@op(method=True, inplace=True, out=True, keeps=True)
def conj_physical(input):
    """The complex conjugate in memory of its own; real tensors stay as they are."""
    return B.conj(input)


FUNCTIONS["_conj_physical"] = conj_physical
add_method("_conj_physical", conj_physical)


@composite(method=True)
def resolve_conj(input):
    """A copy that has computed the conjugate which `conj` left undone; the tensor itself if there is none."""
    return input.clone() if bits_of(input) & CONJ else input


@composite(method=True)
def resolve_neg(input):
    """A copy that has computed the negative which a view of imaginary parts left undone; else the tensor itself."""
    return input.clone() if bits_of(input) & NEG else input


@composite(method=True)
def is_conj(input) -> bool:
    """Whether memory holds the conjugates of the elements."""
    return bool(bits_of(input) & CONJ)


@composite(method=True)
def is_neg(input) -> bool:
    """Whether memory holds the negatives of the elements."""
    return bool(bits_of(input) & NEG)


def check_resolved(input) -> None:
    """RuntimeError where memory itself is asked for and holds conjugates."""
    if bits_of(input) & CONJ:
        raise RuntimeError(
            "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you can "
            "view it as real, use self.resolve_conj(); however, be warned that the resulting tensor will NOT alias the "
            "original."
        )


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
                f"Expected both inputs to be Float or Double tensors but got {scalar_type(first.dtype)} and "
                f"{scalar_type(second.dtype)}"
            )
    if first.dtype is not second.dtype:
        raise RuntimeError(
            f"Expected object of scalar type {scalar_type(first.dtype)} but got scalar type "
            f"{scalar_type(second.dtype)} for second "
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
