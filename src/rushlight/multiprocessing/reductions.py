"""How tensors and storages are sent between processes, under PyTorch's names."""

from __future__ import annotations

from multiprocessing.reduction import ForkingPickler

from ..interop.sending import reduce_storage, reduce_tensor, register
from ..nn.parameter import Buffer, Parameter

__all__ = ["ForkingPickler", "init_reductions", "reduce_storage", "reduce_tensor"]


def init_reductions() -> None:
    """Teach the pickler of the standard `multiprocessing` to share tensors. Done when this package is loaded."""
    register(Parameter, Buffer)
