"""`rushlight.autograd.variable`: the old name of tensors."""

from ..core.engine import Tensor as Variable

__all__ = ["Variable"]
