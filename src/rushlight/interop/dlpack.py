"""DLPack: tensors and the arrays of other libraries over the same memory."""

from __future__ import annotations

from ..core.engine import Tensor
from ..ops.declare import add_method, composite

CPU = 1  # the device type of DLPack


def __dlpack__(input, *, stream=None, max_version=None, dl_device=None, copy=None):
    """A capsule that hands the tensor's memory to another library.

    Raises:
        BufferError: for tensors that require gradients, and for devices other than the CPU
    """
    if input.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if dl_device is not None and tuple(dl_device) != (CPU, 0):
        raise BufferError(f"Can't export a tensor of the CPU to device {dl_device}")
    from .dlpack_capsule import exported

    return exported(input.clone() if copy else input, versioned=max_version is not None and max_version[0] >= 1)


def __dlpack_device__(input) -> tuple[int, int]:
    """(device type, number) of DLPack: the CPU."""
    return CPU, 0


add_method("__dlpack__", __dlpack__)
add_method("__dlpack_device__", __dlpack_device__)


@composite
def from_dlpack(ext_tensor, *, device=None, copy=None) -> Tensor:
    """A tensor over the memory of an array with `__dlpack__`, or of a capsule, which can be used once.

    `copy` True copies; writes to the memory are otherwise seen on both sides.
    """
    from .dlpack_capsule import imported

    if hasattr(ext_tensor, "__dlpack__"):
        kind = int(ext_tensor.__dlpack_device__()[0]) if hasattr(ext_tensor, "__dlpack_device__") else CPU
        if kind != CPU:
            raise BufferError(f"from_dlpack: arrays on device type {kind} cannot be used, only those of the CPU")
        try:
            ext_tensor = ext_tensor.__dlpack__(max_version=(1, 0))
        except TypeError:  # a library that knows DLPack before 1.0
            ext_tensor = ext_tensor.__dlpack__()
    made = imported(ext_tensor)
    return made.clone() if copy else made
