"""The geometry of a convolution: sizes, strides and attributes brought to three spatial dimensions."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..ir.sizes import product
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
        x, w, y = map(widen, (x, w, y))
        # the size of the kernel is part of the structure: symbols of it are decided here
        w = replace(w, shape=w.shape[:2] + tuple(map(int, w.shape[2:])))
        return cls(x, w, y, leading(stride, 1), leading(padding, 0), leading(dilation, 1), int(attrs["groups"]))

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


def is_one(size) -> bool:
    """Whether a size is the number 1; symbols never are, and asking them would record a guard."""
    return type(size) is int and size == 1


def merge(array: Array, dim: int) -> Array:
    """Dimensions `dim` and `dim + 1` as one; the caller knows that their strides allow it."""
    size = array.shape[dim] * array.shape[dim + 1]
    shape = (*array.shape[:dim], size, *array.shape[dim + 2 :])
    return replace(array, shape=shape, strides=(*array.strides[:dim], *array.strides[dim + 1 :]))


def merge_plane(array: Array) -> Array | None:
    """[..., D, H, W] as [..., 1, 1, D * H * W]; None where the strides do not allow it."""
    stride = array.strides[-1]
    step = stride * array.shape[-1]
    for dim in (-2, -3):
        if is_one(array.shape[dim]):
            continue
        if array.strides[dim] != step:
            return None
        step = step * array.shape[dim]
    shape = (*array.shape[:-SPATIAL], 1, 1, product(array.shape[-SPATIAL:]))
    return replace(array, shape=shape, strides=(*array.strides[:-SPATIAL], 0, 0, stride))


def is_contiguous(array: Array, first: int = 0) -> bool:
    """Whether the dimensions from `first` on lie in row-major order without gaps."""
    step = 1
    for size, stride in zip(reversed(array.shape[first:]), reversed(array.strides[first:])):
        if not is_one(size) and stride != step:
            return False
        step = step * size
    return True
