"""`rushlight.autograd.forward_ad`: PyTorch's name of `forward_mode`."""

from .forward_mode import UnpackedDualTensor, dual_level, enter_dual_level, exit_dual_level, make_dual, unpack_dual

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]
