"""Padding of the last dims by a constant, by reflection, by the edge, or around."""

from __future__ import annotations

from ..core import Tensor
from . import functional as F
from .family import describe_member
from .module import Module


class _Pad(Module):
    """`padding` is one number, or (left, right), (left, right, top, bottom), ... from the last dim forwards."""

    dims: int
    mode: str

    def __init__(self, padding):
        super().__init__()
        single = isinstance(padding, int)
        self.padding = (padding,) * (2 * self.dims) if single else tuple(padding)
        if len(self.padding) != 2 * self.dims:
            raise ValueError(f"{type(self).__name__}: expected {2 * self.dims} padding sizes, got {len(self.padding)}")

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPad(_Pad):
    """Pads (N, C, {sizes}) or (C, {sizes}) with `value`."""

    mode = "constant"

    def __init_subclass__(cls) -> None:
        describe_member(cls, _ConstantPad)

    def __init__(self, padding, value: float):
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPad):
    dims = 1


class ConstantPad2d(_ConstantPad):
    dims = 2


class ConstantPad3d(_ConstantPad):
    dims = 3


class _ZeroPad(_ConstantPad):
    """Pads (N, C, {sizes}) or (C, {sizes}) with zeros."""

    def __init_subclass__(cls) -> None:
        describe_member(cls, _ZeroPad)

    def __init__(self, padding):
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(_ZeroPad):
    dims = 1


class ZeroPad2d(_ZeroPad):
    dims = 2


class ZeroPad3d(_ZeroPad):
    dims = 3


class _ReflectionPad(_Pad):
    """Pads (N, C, {sizes}) or (C, {sizes}) with its mirror image, without repeating the edge."""

    mode = "reflect"

    def __init_subclass__(cls) -> None:
        describe_member(cls, _ReflectionPad)


class ReflectionPad1d(_ReflectionPad):
    dims = 1


class ReflectionPad2d(_ReflectionPad):
    dims = 2


class ReflectionPad3d(_ReflectionPad):
    dims = 3


class _ReplicationPad(_Pad):
    """Pads (N, C, {sizes}) or (C, {sizes}) with copies of its edge."""

    mode = "replicate"

    def __init_subclass__(cls) -> None:
        describe_member(cls, _ReplicationPad)


class ReplicationPad1d(_ReplicationPad):
    dims = 1


class ReplicationPad2d(_ReplicationPad):
    dims = 2


class ReplicationPad3d(_ReplicationPad):
    dims = 3


class _CircularPad(_Pad):
    """Pads (N, C, {sizes}) or (C, {sizes}) with what lies at its other end."""

    mode = "circular"

    def __init_subclass__(cls) -> None:
        describe_member(cls, _CircularPad)


class CircularPad1d(_CircularPad):
    dims = 1


class CircularPad2d(_CircularPad):
    dims = 2


class CircularPad3d(_CircularPad):
    dims = 3
