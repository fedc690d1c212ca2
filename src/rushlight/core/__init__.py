"""The compiled room: tensors, op calls, plans, the autograd engine, threads."""

from .engine import Device, Layout, Size, Storage, Tensor

__all__ = ["Device", "Layout", "Size", "Storage", "Tensor"]
