"""`autocast`: a block in which chosen functions compute in a half type, and `Function`s that live with it."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping

from ..core import Device, Tensor
from ..ir.dtypes import DType, bfloat16, float16
from . import state as setting
from .state import check_device, state

__all__ = ["autocast", "autocast_decorator", "custom_bwd", "custom_fwd", "is_autocast_available"]
CPU_DTYPES = (bfloat16, float16)


def is_autocast_available(device_type: str) -> bool:
    """Whether autocast knows a type of device; RuntimeError for a name that is none."""
    if device_type in setting.DEFAULTS:
        return True
    Device(device_type)
    return False


class autocast:
    """A block (or with the decorator form a function) in which products and convolutions compute in a half type.

    On the CPU their float32 tensors are cast to `dtype` (bfloat16 by default, or float16); losses, pooling and
    transforms in 3 dims, and others that need range, compute in float32; `cat` and `stack` in the widest type given;
    float64 and all other functions are left alone. Parameters are cast once, and gradients have their own type.
    `enabled=False` switches it off within another block; `cache_enabled=False` casts parameters anew at each use. For a
    device that is not there it warns and does nothing, and likewise for other types.

    >>> layer, x = nn.Linear(4, 2), rushlight.ones(3, 4)
    >>> with rushlight.autocast("cpu", dtype=rushlight.bfloat16):
    ...     y = layer(x)
    ...     loss = nn.functional.mse_loss(y, rushlight.zeros(3, 2))
    >>> y.dtype, loss.dtype
    (rushlight.bfloat16, rushlight.float32)
    >>> loss.backward()
    >>> layer.weight.grad.dtype
    rushlight.float32
    """

    def __init__(
        self, device_type: str, dtype: DType | None = None, enabled: bool = True, cache_enabled: bool | None = None
    ):
        self.device = check_device(device_type)
        self.fast_dtype = state.dtypes[device_type] if dtype is None else dtype
        self._cache_enabled = state.cache_enabled if cache_enabled is None else cache_enabled
        self._enabled = bool(enabled) and self._is_possible()
        self._before: list[tuple] = []

    def _is_possible(self) -> bool:
        if self.device != "cpu":
            more = " or torch_xla is imported" if self.device == "cuda" else ""
            warnings.warn(f"{self.device.upper()} is not available{more}. Disabling autocast.", stacklevel=3)
            return False
        if self.fast_dtype not in CPU_DTYPES:
            warnings.warn(
                "In CPU autocast, but the target dtype is not supported. Disabling autocast.\nCPU Autocast only "
                "supports dtypes of torch.bfloat16, torch.float16 currently.",
                stacklevel=3,
            )
            return False
        return True

    def __enter__(self):
        device = self.device
        self._before.append((state.cache_enabled, state.enabled[device], state.dtypes[device]))
        setting.set_autocast_enabled(device, self._enabled)
        state.dtypes[device], state.cache_enabled = self.fast_dtype, self._cache_enabled
        setting.autocast_increment_nesting()
        return self

    def __exit__(self, *exception):
        if setting.autocast_decrement_nesting() == 0:
            setting.clear_autocast_cache()
        state.cache_enabled, enabled, state.dtypes[self.device] = self._before.pop()
        setting.set_autocast_enabled(self.device, enabled)
        return False

    def __call__(self, func: Callable) -> Callable:
        return autocast_decorator(self, func)


def autocast_decorator(autocast_instance: autocast, func: Callable) -> Callable:
    """A function whose body runs in the block."""

    @functools.wraps(func)
    def decorated(*args, **kwargs):
        with autocast_instance:
            return func(*args, **kwargs)

    return decorated


def _cast(value, device_type: str, dtype: DType):
    """A value with all floating point tensors of a device, but float64, in a type."""
    if isinstance(value, Tensor):
        fits = value.is_floating_point() and value.device.type == device_type and value.dtype.itemsize < 8
        return value.to(dtype) if fits else value
    if isinstance(value, (str, bytes)):
        return value
    if isinstance(value, Mapping):
        return {_cast(k, device_type, dtype): _cast(v, device_type, dtype) for k, v in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_cast(part, device_type, dtype) for part in value))
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(part, device_type, dtype) for part in value)
    return value


def custom_fwd(fwd: Callable | None = None, *, device_type: str, cast_inputs: DType | None = None) -> Callable:
    """Decorates the `forward` of a `Function`, which then runs under the autocast of its call.

    With `cast_inputs` it runs without autocast, on floating point tensors cast to that type, if autocast is on.
    """
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(ctx, *args, **kwargs):
        ctx._dtype = setting.get_autocast_dtype(device_type)
        enabled = setting.is_autocast_enabled(device_type)
        ctx._fwd_used_autocast = enabled and cast_inputs is None
        if not enabled or cast_inputs is None:
            return fwd(ctx, *args, **kwargs)
        with autocast(device_type=device_type, enabled=False):
            return fwd(ctx, *_cast(args, device_type, cast_inputs), **_cast(kwargs, device_type, cast_inputs))

    return decorated


def custom_bwd(bwd: Callable | None = None, *, device_type: str) -> Callable:
    """Decorates the `backward` of a `Function`, which then runs under the same autocast as its `forward`."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorated(ctx, *args, **kwargs):
        with autocast(device_type=device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return bwd(ctx, *args, **kwargs)

    return decorated
