"""`rushlight.signal`: what signal processing needs besides `rushlight.fft` and `rushlight.stft`: windows."""

from . import windows

__all__ = ["windows"]
