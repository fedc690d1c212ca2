"""Fourier transforms: the standard's extension `fft`."""

from __future__ import annotations

from collections.abc import Sequence

from .. import fft as _fft
from ..core.engine import Tensor

__all__ = """
    fft fftfreq fftn fftshift hfft ifft ifftn ifftshift ihfft irfft irfftn rfft rfftfreq rfftn
""".split()  # noqa: SIM905


def _along(name: str, meaning: str):
    transform = getattr(_fft, name)

    def function(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
        return transform(x, n, axis, norm)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{meaning} along an axis, which `n` first cuts or fills up with zeros."
    return function


def _over(name: str, meaning: str):
    transform = getattr(_fft, name)

    def function(
        x: Tensor, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str = "backward"
    ) -> Tensor:
        return transform(x, s, axes, norm)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{meaning} over several axes (all by default), which `s` first cuts or fills up with zeros."
    return function


fft = _along("fft", "Fourier transforms")
ifft = _along("ifft", "Inverse Fourier transforms")
rfft = _along("rfft", "Fourier transforms of real numbers, the half that says all,")
irfft = _along("irfft", "The real numbers with such a half")
hfft = _along("hfft", "Fourier transforms of Hermitian signals, given by a half,")
ihfft = _along("ihfft", "The half of the Hermitian signal with a real transform")
fftn = _over("fftn", "Fourier transforms")
ifftn = _over("ifftn", "Inverse Fourier transforms")
rfftn = _over("rfftn", "Fourier transforms of real numbers, the half that says all,")
irfftn = _over("irfftn", "The real numbers with such a half")


def fftfreq(n: int, /, *, d: float = 1.0, dtype=None, device=None) -> Tensor:
    """The frequencies of the elements of a transform of `n` samples, `d` apart."""
    return _fft.fftfreq(n, d, dtype=dtype, device=device)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype=None, device=None) -> Tensor:
    """The frequencies of the elements of a transform of `n` real samples, `d` apart."""
    return _fft.rfftfreq(n, d, dtype=dtype, device=device)


def fftshift(x: Tensor, /, *, axes: int | Sequence[int] | None = None) -> Tensor:
    """The zero frequency in the middle."""
    return _fft.fftshift(x, axes)


def ifftshift(x: Tensor, /, *, axes: int | Sequence[int] | None = None) -> Tensor:
    """The zero frequency first again."""
    return _fft.ifftshift(x, axes)
