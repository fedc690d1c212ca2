"""Which frequency each number of a transform belongs to, and the order with frequency 0 in the middle."""

from __future__ import annotations

from ..ir import build as B
from ..ir import dtypes
from ..ops import FUNCTIONS
from ..ops.creation import delivered, dtype_for, fresh
from ..ops.declare import op


@op(inplace=True, narrows=True, public=False)
def spectrum(input, count, positive, step):
    """step * i at place i, of which those from `positive` on count from -count + positive up."""
    place = B.iota(input.shape, 0)
    place = B.where(B.lt(place, positive), place, place - count)
    return B.cast(place, input.dtype) * step


def frequencies(name: str, n, d, size: int, positive: int, out, dtype, layout, device, requires_grad):
    if not hasattr(n, "__index__"):
        raise TypeError(f"fft_{name}(): argument 'n' (position 1) must be int, not {type(n).__name__}")
    dtype = dtype_for(out, dtype) or dtypes.default
    if dtype.kind not in "fc":
        raise RuntimeError(f"{name} requires a floating point or complex dtype")
    if dtype.is_complex:
        raise NotImplementedError(f"{name}: complex frequencies are not supported; convert real ones")
    if size < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {size}: [{size}]")
    made = fresh((size,), dtype, False, device, None, layout)
    if size:
        divisor = float(n) * float(d)
        spectrum.in_place(made, int(n), positive, 1 / divisor if divisor else float("inf"))
    return delivered(made.requires_grad_() if requires_grad else made, out)


def fftfreq(n, d=1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """The frequencies of `fft` of n samples that are `d` apart: [0, 1, ..., (n-1)//2, -(n//2), ..., -1] / (n d).

    >>> rushlight.fft.fftfreq(4)
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    return frequencies(
        "fftfreq", n, d, n if hasattr(n, "__index__") else 0, (n + 1) // 2, out, dtype, layout, device, requires_grad
    )


def rfftfreq(n, d=1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """The frequencies of `rfft` of n samples that are `d` apart: [0, 1, ..., n//2] / (n d).

    >>> rushlight.fft.rfftfreq(4)
    tensor([0.0000, 0.2500, 0.5000])
    """
    size = n // 2 + 1 if hasattr(n, "__index__") else 0
    return frequencies("rfftfreq", n, d, size, size, out, dtype, layout, device, requires_grad)


def fftshift(input, dim=None):
    """The order of a transform's numbers with frequency 0 in the middle: each dim rolled by half its size.

    >>> rushlight.fft.fftshift(rushlight.tensor([0, 1, 2, -2, -1]))
    tensor([-2, -1,  0,  1,  2])
    """
    return rolled(input, dim, lambda size: size // 2)


def ifftshift(input, dim=None):
    """The inverse of `fftshift`.

    >>> rushlight.fft.ifftshift(rushlight.tensor([-2, -1, 0, 1, 2]))
    tensor([ 0,  1,  2, -2, -1])
    """
    return rolled(input, dim, lambda size: (size + 1) // 2)


def rolled(input, dim, places):
    dims = tuple(range(input.ndim)) if dim is None else (dim,) if hasattr(dim, "__index__") else tuple(dim)
    for d in dims:
        B.wrap_dim(d, input.ndim)
    return FUNCTIONS["roll"](input, tuple(places(input.shape[d]) for d in dims), dims)
