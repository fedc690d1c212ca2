"""`rushlight.cpu.amp`: mixed precision on the processor, by its former names."""

from __future__ import annotations

from ..ir.dtypes import bfloat16
from . import autocast_mode, grad_scaler

__all__ = ["GradScaler", "autocast"]


class autocast(autocast_mode.autocast):
    """`autocast("cpu", ...)`."""

    def __init__(self, enabled: bool = True, dtype=bfloat16, cache_enabled: bool = True):
        super().__init__("cpu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(grad_scaler.GradScaler):
    """`GradScaler("cpu", ...)`."""

    def __init__(
        self, init_scale: float = 2.0**16, growth_factor: float = 2.0, backoff_factor: float = 0.5,
        growth_interval: int = 2000, enabled: bool = True,
    ):  # fmt: skip
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
