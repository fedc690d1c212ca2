"""Automatic differentiation: modes, `backward`, `grad`, `Function`."""

from .backward import backward, grad
from .function import Function, once_differentiable
from .modes import *  # noqa: F403

Variable = None  # set by the package: the old name of Tensor
