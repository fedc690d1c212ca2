"""`rushlight.fft`: discrete Fourier transforms, computed by kernels generated for the processor at hand.

Lengths of any kind are transformed in O(n log n) steps. Names and arguments are those of `torch.fft`.
"""

from __future__ import annotations

from ..ops.explaining import explained
from .frequencies import fftfreq, fftshift, ifftshift, rfftfreq
from .transforms import (
    fft,
    fft2,
    fftn,
    hfft,
    hfft2,
    hfftn,
    ifft,
    ifft2,
    ifftn,
    ihfft,
    ihfft2,
    ihfftn,
    irfft,
    irfft2,
    irfftn,
    rfft,
    rfft2,
    rfftn,
)

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

for _name in __all__:
    globals()[_name] = explained(globals()[_name], f"fft.{_name}")
