"""`rushlight.accelerator`: what programs ask about devices beside the processor, answered where there is none."""

from __future__ import annotations

__all__ = ["current_accelerator", "device_count", "is_available"]


def is_available() -> bool:
    """Whether there is a device beside the processor: False."""
    return False


def current_accelerator(check_available: bool = False) -> None:
    """The device beside the processor: None."""


def device_count() -> int:
    """The number of devices beside the processor: 0."""
    return 0
