"""`rushlight.cuda.amp`: mixed precision on a device that is not there, by its former names."""

from __future__ import annotations

import functools

from ..ir.dtypes import float16
from ..ops.notices import warn_user
from . import autocast_mode, grad_scaler

__all__ = ["GradScaler", "amp_definitely_not_available", "autocast", "custom_bwd", "custom_fwd"]
custom_fwd = functools.partial(autocast_mode.custom_fwd, device_type="cuda")
custom_bwd = functools.partial(autocast_mode.custom_bwd, device_type="cuda")


def amp_definitely_not_available() -> bool:
    """Whether there is no device: True."""
    return True


def warn_of_former_name(name: str) -> None:
    warn_user(
        f"`cuda.amp.{name}(args...)` is deprecated. Please use `amp.{name}('cuda', args...)` instead.", FutureWarning
    )


class autocast(autocast_mode.autocast):
    """`autocast("cuda", ...)`: it warns, unless `enabled=False`, and does nothing."""

    def __init__(self, enabled: bool = True, dtype=float16, cache_enabled: bool = True):
        warn_of_former_name("autocast")
        super().__init__("cuda", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(grad_scaler.GradScaler):
    """`GradScaler("cuda", ...)`: it warns, unless `enabled=False`, and scales nothing."""

    def __init__(
        self, init_scale: float = 2.0**16, growth_factor: float = 2.0, backoff_factor: float = 0.5,
        growth_interval: int = 2000, enabled: bool = True,
    ):  # fmt: skip
        warn_of_former_name("GradScaler")
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
