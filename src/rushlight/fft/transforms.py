"""The transforms: each is the op `fourier` with its kind.

Common to all: `input` is a tensor of any type but float16 and bfloat16; integers and bools are transformed in the
default floating point type. `n` (one dim) or `s` (a length for each dim) is the signal's length: longer signals are
cut, shorter ones padded with zeros; -1 in `s` keeps what is there. `norm` is "backward" (the inverse transform is
divided by the number of points), "forward" (the forward one is) or "ortho" (both are divided by its square root).
RuntimeError for other norms, for repeated dims, for lengths below 1 and for complex input where real input is meant.
"""

from __future__ import annotations

from ..core.engine import Tensor
from ..ops.checks import scalar_type
from ..ops.fourier import fourier


def transformed(kind: str, input, s, dim, norm, out):
    """Run a transform; an `out` of another kind of number is refused."""
    if out is None:
        return fourier(input, kind, s, dim, norm)
    if isinstance(out, Tensor):
        real = kind in ("irfft", "irfftn", "hfft", "hfftn")
        if real and not out.is_floating_point():
            raise RuntimeError(f"{kind} expects a floating point output tensor, but got {scalar_type(out.dtype)}")
        if not real and not out.is_complex():
            raise RuntimeError(f"{kind} expects a complex output tensor, but got {scalar_type(out.dtype)}")
    return fourier(input, kind, s, dim, norm, out=out)


# -- along one dim ----------------------------------------------------------------------------------
def fft(input, n=None, dim=-1, norm=None, *, out=None):
    """The discrete Fourier transform along `dim`: X[k] = sum over j of x[j] exp(-2 pi i j k / n).

    >>> rushlight.fft.fft(rushlight.tensor([1.0, 2.0, 3.0, 4.0]))
    tensor([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j])
    """
    return transformed("fft", input, n, dim, norm, out)


def ifft(input, n=None, dim=-1, norm=None, *, out=None):
    """The inverse of `fft`: x[j] = 1/n sum over k of X[k] exp(2 pi i j k / n).

    >>> rushlight.fft.ifft(rushlight.fft.fft(rushlight.tensor([1.0, 2.0, 3.0, 4.0]))).real
    tensor([1., 2., 3., 4.])
    """
    return transformed("ifft", input, n, dim, norm, out)


def rfft(input, n=None, dim=-1, norm=None, *, out=None):
    """`fft` of real input: the first n // 2 + 1 numbers, of which the others are conjugates.

    >>> rushlight.fft.rfft(rushlight.tensor([1.0, 2.0, 3.0, 4.0]))
    tensor([10.+0.j, -2.+2.j, -2.+0.j])
    """
    return transformed("rfft", input, n, dim, norm, out)


def irfft(input, n=None, dim=-1, norm=None, *, out=None):
    """The inverse of `rfft`: a real signal of `n` numbers, 2 (size - 1) of them by default.

    Where X must be real, at frequency 0 and (n even) n / 2, imaginary parts are ignored.

    >>> rushlight.fft.irfft(rushlight.fft.rfft(rushlight.tensor([1.0, 2.0, 3.0])), 3)
    tensor([1., 2., 3.])
    """
    return transformed("irfft", input, n, dim, norm, out)


def hfft(input, n=None, dim=-1, norm=None, *, out=None):
    """`fft` of a signal given by its first half, the rest being conjugates: `n` real numbers, 2 (size - 1) by default.

    >>> rushlight.fft.hfft(rushlight.tensor([1.0, 2.0, 3.0]))
    tensor([ 8., -2.,  0., -2.])
    """
    return transformed("hfft", input, n, dim, norm, out)


def ihfft(input, n=None, dim=-1, norm=None, *, out=None):
    """The inverse of `hfft`: of real input the first n // 2 + 1 numbers of `ifft`.

    >>> rushlight.fft.ihfft(rushlight.fft.hfft(rushlight.tensor([1.0, 2.0, 3.0]))).real
    tensor([1., 2., 3.])
    """
    return transformed("ihfft", input, n, dim, norm, out)


# -- along several dims -----------------------------------------------------------------------------
def fftn(input, s=None, dim=None, norm=None, *, out=None):
    """`fft` along several dims.

    `dim`: by default all dims, or the last ones that `s` has lengths for.

    >>> rushlight.fft.fftn(rushlight.ones(2, 3)).shape
    rushlight.Size([2, 3])
    """
    return transformed("fftn", input, s, dim, norm, out)


def ifftn(input, s=None, dim=None, norm=None, *, out=None):
    """`ifft` along several dims.

    `dim`: by default all dims, or the last ones that `s` has lengths for.

    >>> rushlight.fft.ifftn(rushlight.ones(2, 3)).shape
    rushlight.Size([2, 3])
    """
    return transformed("ifftn", input, s, dim, norm, out)


def rfftn(input, s=None, dim=None, norm=None, *, out=None):
    """`fftn` of real input, of which the last of `dim` is halved as in `rfft`.

    `dim`: by default all dims, or the last ones that `s` has lengths for.

    >>> rushlight.fft.rfftn(rushlight.ones(2, 3)).shape
    rushlight.Size([2, 2])
    """
    return transformed("rfftn", input, s, dim, norm, out)


def irfftn(input, s=None, dim=None, norm=None, *, out=None):
    """The inverse of `rfftn`: a real signal, in the last of `dim` 2 (size - 1) long by default.

    `dim`: by default all dims, or the last ones that `s` has lengths for.

    >>> rushlight.fft.irfftn(rushlight.ones(2, 3)).shape
    rushlight.Size([2, 4])
    """
    return transformed("irfftn", input, s, dim, norm, out)


def hfftn(input, s=None, dim=None, norm=None, *, out=None):
    """`fftn` of a signal that equals its reversed conjugate, of which half is given in the last of `dim`: real.

    `dim`: by default all dims, or the last ones that `s` has lengths for.

    >>> rushlight.fft.hfftn(rushlight.ones(2, 3)).shape
    rushlight.Size([2, 4])
    """
    return transformed("hfftn", input, s, dim, norm, out)


def ihfftn(input, s=None, dim=None, norm=None, *, out=None):
    """The inverse of `hfftn`: of real input half of `ifftn`, in the last of `dim`.

    `dim`: by default all dims, or the last ones that `s` has lengths for.

    >>> rushlight.fft.ihfftn(rushlight.ones(2, 3)).shape
    rushlight.Size([2, 2])
    """
    return transformed("ihfftn", input, s, dim, norm, out)


def fft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    """`fftn` along the last two dims, or those of `dim`.

    >>> rushlight.fft.fft2(rushlight.ones(5, 2, 3)).shape
    rushlight.Size([5, 2, 3])
    """
    return transformed("fftn", input, s, dim, norm, out)


def ifft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    """`ifftn` along the last two dims, or those of `dim`.

    >>> rushlight.fft.ifft2(rushlight.ones(5, 2, 3)).shape
    rushlight.Size([5, 2, 3])
    """
    return transformed("ifftn", input, s, dim, norm, out)


def rfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    """`rfftn` along the last two dims, or those of `dim`.

    >>> rushlight.fft.rfft2(rushlight.ones(5, 2, 3)).shape
    rushlight.Size([5, 2, 2])
    """
    return transformed("rfftn", input, s, dim, norm, out)


def irfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    """`irfftn` along the last two dims, or those of `dim`.

    >>> rushlight.fft.irfft2(rushlight.ones(5, 2, 3)).shape
    rushlight.Size([5, 2, 4])
    """
    return transformed("irfftn", input, s, dim, norm, out)


def hfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    """`hfftn` along the last two dims, or those of `dim`.

    >>> rushlight.fft.hfft2(rushlight.ones(5, 2, 3)).shape
    rushlight.Size([5, 2, 4])
    """
    return transformed("hfftn", input, s, dim, norm, out)


def ihfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None):
    """`ihfftn` along the last two dims, or those of `dim`.

    >>> rushlight.fft.ihfft2(rushlight.ones(5, 2, 3)).shape
    rushlight.Size([5, 2, 2])
    """
    return transformed("ihfftn", input, s, dim, norm, out)
