"""Changing dtype, device or memory of all tensors of a module."""

from __future__ import annotations

from collections.abc import Callable

from .. import ops
from ..autograd import no_grad
from ..core import Tensor
from ..ir.dtypes import DType, bfloat16, float16, float32, float64
from ..ops.notices import warn_user


class Conversion:
    """`to`, `float`, `cpu` and the like. Parameters stay the same objects: optimizers keep hold of them."""

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True):
        """Replaces the data of every parameter, gradient and buffer by `fn` of it."""
        if recurse:
            for module in self.children():
                module._apply(fn, recurse)
        for parameter in self._parameters.values():
            if parameter is None:
                continue
            grad = parameter.grad
            with no_grad():
                parameter.data = fn(parameter.data)
                if grad is not None:
                    converted = fn(grad.data).requires_grad_(grad.requires_grad)
                    parameter.grad = converted
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args, **kwargs):
        """Moves and casts: `to(device)`, `to(dtype)`, `to(tensor)`, `to(device, dtype, non_blocking)`.

        Only floating point and complex tensors are cast. `memory_format` is given to 4-d and 5-d tensors.
        """
        device, dtype, non_blocking, memory_format = _parse_to(*args, **kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
            )
        if dtype is not None and dtype.is_complex:
            warn_user(
                "Complex modules are a new feature under active development whose design may change, and some modules "
                "might not work as expected when using complex tensors as parameters or buffers."
            )

        def convert(t: Tensor) -> Tensor:
            target = dtype if t.is_floating_point() or t.is_complex() else None
            target = t.dtype if target is None else target
            where = t.device if device is None else device
            if memory_format is not None and t.ndim in (4, 5):
                return t.to(where, target, non_blocking, memory_format=memory_format)
            return t.to(where, target, non_blocking)

        return self._apply(convert)

    def type(self, dst_type: DType | str):
        """Casts all parameters and buffers, integer ones too."""
        return self._apply(lambda t: t.type(dst_type))

    def float(self):
        """Casts floating point tensors to float32."""
        return self._apply(lambda t: t.to(float32) if t.is_floating_point() else t)

    def double(self):
        """Casts floating point tensors to float64."""
        return self._apply(lambda t: t.to(float64) if t.is_floating_point() else t)

    def half(self):
        """Casts floating point tensors to float16."""
        return self._apply(lambda t: t.to(float16) if t.is_floating_point() else t)

    def bfloat16(self):
        """Casts floating point tensors to bfloat16."""
        return self._apply(lambda t: t.to(bfloat16) if t.is_floating_point() else t)

    def cpu(self):
        """Moves all tensors to the CPU."""
        return self._apply(lambda t: t.to("cpu"))

    def cuda(self, device: int | str | None = None):
        """Moves all tensors to a CUDA device."""
        target = "cuda" if device is None else f"cuda:{device}" if isinstance(device, int) else device
        return self._apply(lambda t: t.to(target))

    def to_empty(self, *, device, recurse: bool = True):
        """Moves to `device` without copying: the values are undefined afterwards."""
        return self._apply(lambda t: ops.empty_like(t, device=device), recurse)

    def share_memory(self):
        """Moves all tensors to memory that other processes can share."""
        return self._apply(lambda t: t.share_memory_())


def _parse_to(*args, device=None, dtype=None, non_blocking=False, memory_format=None, tensor=None, copy=False):
    """The arguments of `to` as (device, dtype, non_blocking, memory_format)."""
    args = list(args)
    if args and isinstance(args[0], Tensor):
        tensor = args.pop(0)
    if tensor is not None:
        device, dtype = tensor.device, tensor.dtype
    elif args and not isinstance(args[0], DType):
        device = args.pop(0)
    if args and (args[0] is None or isinstance(args[0], DType)) and tensor is None:
        dtype = args.pop(0)
    if args:
        non_blocking = args.pop(0)
    if args:
        raise TypeError(f"to: unexpected arguments {args}")
    return device, dtype, non_blocking, memory_format
