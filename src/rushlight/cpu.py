"""`rushlight.cpu`: the processor, asked as other devices are."""

from __future__ import annotations

from .aliases import install

__all__ = ["current_device", "device_count", "is_available", "is_initialized", "set_device", "synchronize"]


def is_available() -> bool:
    """Whether there is a processor: True."""
    return True


def is_initialized() -> bool:
    """Whether it is in use: True."""
    return True


def device_count() -> int:
    """The number of processors as devices: 1."""
    return 1


def current_device() -> str:
    """The device's name: "cpu"."""
    return "cpu"


def set_device(device) -> None:
    """Does nothing: there is one."""


def synchronize(device=None) -> None:
    """Does nothing: an op has finished when it returns."""


install(__name__, {"amp": "amp.cpu", "amp.autocast_mode": "amp.cpu", "amp.grad_scaler": "amp.cpu"})
