"""The geometry of a convolution: sizes, strides and attributes brought to three spatial dimensions."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .templates import Array

SPATIAL = 3


@dataclass(slots=True)
class ConvShape:
    """x [N, C, *input], w [O, C / groups, *kernel], y [N, O, *output], each with three spatial dimensions.

    `x`, `w` and `y` are the arrays of the convolution in whichever role (operand or result) they have in a
    gradient; missing leading spatial dimensions have size 1 and stride 0.
    """

    x: Array
    w: Array
    y: Array
    stride: tuple[int, int, int]
    padding: tuple[int, int, int]
    dilation: tuple[int, int, int]
    groups: int

    @classmethod
    def of(cls, x: Array, w: Array, y: Array, attrs: dict) -> ConvShape:
        stride, padding, dilation = attrs["stride"], attrs["padding"], attrs["dilation"]
        return cls(
            widen(x), widen(w), widen(y), leading(stride, 1), leading(padding, 0), leading(dilation, 1), attrs["groups"]
        )

    @property
    def batch(self):
        return self.x.shape[0]

    @property
    def channels(self):
        """Input channels of one group."""
        return self.w.shape[1]

    @property
    def features(self):
        """Output channels of one group."""
        return self.w.shape[0] // self.groups

    @property
    def input(self) -> tuple:
        return self.x.shape[2:]

    @property
    def kernel(self) -> tuple:
        return self.w.shape[2:]

    @property
    def output(self) -> tuple:
        return self.y.shape[2:]


def leading(numbers, fill: int) -> tuple[int, int, int]:
    """Three spatial numbers from one to three, the missing leading ones being `fill`."""
    return (fill,) * (SPATIAL - len(numbers)) + tuple(numbers)


def widen(array: Array) -> Array:
    """The same memory as [A, B, D, H, W]: missing spatial dimensions have size 1."""
    missing = SPATIAL + 2 - len(array.shape)
    shape = array.shape[:2] + (1,) * missing + array.shape[2:]
    strides = array.strides[:2] + (0,) * missing + array.strides[2:]
    return replace(array, shape=shape, strides=strides)
