"""The one op behind `rushlight.fft`: discrete Fourier transforms of any kind, along one or several dims."""

from __future__ import annotations

import math

from ..ir import build as B
from ..ir import dtypes
from ..ir.primitives import fourier as primitives
from .checks import scalar_type
from .declare import op
from .results import dim_order

NORMS = ("forward", "backward", "ortho")
INVERSE = ("ifft", "irfft", "ihfft")
LONGEST = 1 << 36  # beyond it neither results nor tables of roots fit into memory


@op(public=False, out=True)
def fourier(input, kind: str, s: int | tuple | None, dim: int | tuple | None, norm: str | None):
    """The transform `kind`: fft, ifft, rfft, irfft, hfft or ihfft along one dim, with n behind its name along several.

    s     the signal's length in each dim: longer ones are cut, shorter ones padded with zeros; None or -1 keeps it
    dim   which dims; for real kinds the last of them is the one that is halved
    norm  "backward" (None): the inverse is divided by the number of points; "forward": the other one; "ortho": both by
          its square root
    """
    several = kind.endswith("n")
    kind = kind.removesuffix("n")
    x = as_operand(input, kind, several)
    dims, lengths = several_dims(x, kind, s, dim) if several else one_dim(x, kind, s, dim)
    scale = scale_of(norm, kind in INVERSE, lengths)
    if not dims:
        return x * scale if scale != 1 else x
    for length in lengths:
        if length < 1:
            raise RuntimeError(f"Invalid number of data points ({length}) specified")
        if length > LONGEST:
            raise RuntimeError(f"{kind}: at most 2**36 points along a dim are supported, got {length}")
    kept = lengths if kind not in ("irfft", "hfft") else [*lengths[:-1], lengths[-1] // 2 + 1]
    x = resized(x, dims, kept)
    order = list(range(x.ndim)) if input.strides is None else list(dim_order(input))
    return KINDS[kind](x, order, dims, lengths[-1], scale)


# -- arguments --------------------------------------------------------------------------------------
def as_operand(x, kind: str, several: bool):
    """The input in the type that the kind transforms: integers and bools as the default type."""
    real = kind in ("rfft", "ihfft")
    if x.dtype.is_complex and real:
        if kind == "ihfft" and several:
            raise RuntimeError(f"Only supports floating-point dtypes, but found: {scalar_type(x.dtype)}")
        name, expected = (kind + "n", "real-valued") if several else (kind, "real")
        raise RuntimeError(f"{name} expects a {expected} input tensor, but got {scalar_type(x.dtype)}")
    if x.dtype in (dtypes.float16, dtypes.bfloat16):
        raise RuntimeError(f"Unsupported dtype {scalar_type(x.dtype)}")
    dtype = x.dtype if x.dtype.kind in "fc" else dtypes.default
    return B.cast(x, dtype if real else dtype.to_complex())


def one_dim(x, kind: str, n, dim) -> tuple[list, list]:
    """The dim and the signal's length in it."""
    if type(dim) is not int:
        raise TypeError(f"fft_{kind}(): argument 'dim' must be int, not {type(dim).__name__}")
    if n is not None and type(n) is not int:
        raise TypeError(f"fft_{kind}(): argument 'n' must be int, not {type(n).__name__}")
    if not x.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    d = B.wrap_dim(dim, x.ndim)
    return [d], [default_length(x, kind, d) if n is None else n]


def several_dims(x, kind: str, s, dim) -> tuple[list, list]:
    """Dims and the signal's length in each: all dims if neither is given, the last ones if only lengths are."""
    s, dim = ((v,) if type(v) is int else v for v in (s, dim))
    for name, value in (("s", s), ("dim", dim)):
        if value is not None and not (isinstance(value, tuple) and all(type(v) is int for v in value)):
            raise TypeError(f"fft_{kind}n(): argument '{name}' must be tuple of ints, not {type(value).__name__}")
    if s is not None and dim is not None and len(s) != len(dim):
        raise RuntimeError("When given, dim and shape arguments must have the same length")
    if dim is not None:
        if dim and not x.ndim:
            raise IndexError(f"Dimension specified as {dim[0]} but tensor has no dimensions")
        dims = [B.wrap_dim(d, x.ndim) for d in dim]
        if len(set(dims)) != len(dims):
            raise RuntimeError("FFT dims must be unique")
    else:
        count = x.ndim if s is None else len(s)
        if count > x.ndim:
            raise RuntimeError(f"Got shape with {count} values but input tensor only has {x.ndim} dimensions.")
        dims = list(range(x.ndim - count, x.ndim))
    if not dims and kind not in ("fft", "ifft"):
        raise RuntimeError(f"{kind}n must transform at least one axis")
    last = len(dims) - 1
    given = [-1] * len(dims) if s is None else s
    return dims, [
        n if n != -1 else default_length(x, kind if i == last else "fft", d)
        for i, (d, n) in enumerate(zip(dims, given))
    ]


def default_length(x, kind: str, d: int) -> int:
    """What the size of a dim says of the signal's length."""
    size = int(x.shape[d])
    return 2 * (size - 1) if kind in ("irfft", "hfft") else size


def scale_of(norm: str | None, inverse: bool, lengths: list) -> float:
    if norm is not None and type(norm) is not str:
        raise TypeError(f"fft: argument 'norm' must be str, not {type(norm).__name__}")
    norm = "backward" if norm is None else norm
    if norm not in NORMS:
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    points = max(1, math.prod(lengths))
    if norm == "ortho":
        return 1 / math.sqrt(points)
    return 1 / points if (norm == "backward") == inverse else 1.0


def resized(x, dims: list, lengths: list):
    """Cut, or padded with zeros at the end."""
    high = [0] * x.ndim
    for d, n in zip(dims, lengths):
        if x.shape[d] > n:
            x = B.narrow(x, d, 0, n)
        else:
            high[d] = n - x.shape[d]
    return B.pad(x, [0] * x.ndim, high)


# -- the kinds: (x, dims from outermost to innermost in memory, dims, the last one's length, scale) -------
def result_order(order: list, dims: list, last: int | None) -> tuple:
    """How PyTorch lays results out: other dims, transformed ones, and innermost the one that was halved."""
    return tuple(sorted(order, key=lambda d: (d in dims) + (d == last)))


def complex_lines(x, dims: list, inverse: bool, scale: float, order: tuple):
    """Complex transforms along dims, the innermost one first; the last one applies the scale."""
    dims = sorted(dims, key=order.index, reverse=True)
    for i, d in enumerate(dims):
        x = primitives.fft(x, dim=d, inverse=inverse, scale=scale if i == len(dims) - 1 else 1.0, order=order)
    return x


def of_complex(inverse: bool):
    def transform(x, order, dims, length, scale):
        return complex_lines(x, dims, inverse, scale, result_order(order, dims, None))

    return transform


def of_real(inverse: bool):
    """A real signal's half of the numbers, of the inverse transform if so: their conjugates."""

    def transform(x, order, dims, length, scale):
        *others, last = dims
        if inverse:
            order = result_order(result_order(order, [], last), others, None)
        else:
            order = result_order(order, dims, last)
        made = primitives.rfft(x, dim=last, scale=1.0 if others else scale, order=order)
        return complex_lines(B.conj(made) if inverse else made, others, inverse, scale, order)

    return transform


def to_real(inverse: bool):
    """The real signal that half of the numbers stand for, or with the sign of the forward transform."""

    def transform(x, order, dims, length, scale):
        *others, last = dims
        order = result_order(order, dims, last)
        x = complex_lines(x, others, inverse, 1.0, order)
        return primitives.irfft(x if inverse else B.conj(x), dim=last, n=length, scale=scale, order=order)

    return transform


KINDS = {
    "fft": of_complex(False),
    "ifft": of_complex(True),
    "rfft": of_real(False),
    "ihfft": of_real(True),
    "irfft": to_real(True),
    "hfft": to_real(False),
}
