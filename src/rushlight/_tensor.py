"""`torch._tensor`: where PyTorch defines `Tensor`."""

from .core import Tensor

__all__ = ["Tensor"]
