"""Axes of which one window sees all, taken as channels.

Where a kernel is as long as the image and nothing is padded, each of its taps there meets one position: the sum over
taps is one over channels. As an axis it would leave rows of one pixel, and a gradient that is mostly padding.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise

from ..ir.sizes import product
from .conv_copy import copy_image, permuted
from .conv_shape import SPATIAL, ConvShape, is_one
from .templates import Array

AXES = range(SPATIAL)


@contextmanager
def covered_axes_folded(context, shape: ConvShape, result: str):
    """Yields the same convolution with such axes among the channels.

    `result` names the array that is written ("x", "w" or "y"): it is copied where its strides do not allow this view.
    """
    covered = [axis for axis in AXES if is_covered(shape, axis)] if shape.groups == 1 else []
    if not covered:
        yield shape
        return
    others = [axis for axis in AXES if axis not in covered]
    dims = [2 + axis for axis in covered]
    # channels go where they lie in the image: before the axes, or innermost
    inner = [*dims, 1] if is_one(shape.x.strides[1]) and not is_one(shape.x.shape[1]) else [1, *dims]
    arrays = {name: getattr(shape, name) for name in "xw"}
    copies = {name: copy_for(context, a, others, inner) for name, a in arrays.items() if not merges(a, inner)}
    for name in copies.keys() - {result}:
        copy_image(context, arrays[name], copies[name])
    x, w = (folded(copies.get(name, array), inner, others) for name, array in arrays.items())
    y = permuted(shape.y, (0, 1, *[None] * len(covered), *(2 + axis for axis in others)))
    numbers = {"stride": 1, "padding": 0, "dilation": 1}
    moved = {name: moved_last(getattr(shape, name), others, fill) for name, fill in numbers.items()}
    yield replace(shape, x=x, w=w, y=y, **moved)
    if result in copies:
        copy_image(context, copies[result], arrays[result])


def is_covered(shape: ConvShape, axis: int) -> bool:
    """Whether the only window along an axis is all of it."""
    taps = shape.kernel[axis]
    return taps > 1 and shape.padding[axis] == 0 and shape.dilation[axis] == 1 and bool(shape.input[axis] == taps)


def merges(array: Array, dims: list[int]) -> bool:
    """Whether some dimensions, in this order, are one in memory."""
    dims = [d for d in dims if not is_one(array.shape[d])]
    return all(array.strides[a] == array.strides[b] * array.shape[b] for a, b in pairwise(dims))


def folded(array: Array, inner: list[int], others: list[int]) -> Array:
    """[A, channels and covered axes, 1, ..., *others]; the caller knows that `inner` merges."""
    flat = permuted(array, (0, None, *[None] * (SPATIAL - len(others)), *(2 + axis for axis in others)))
    step = array.strides[next(d for d in reversed(inner) if not is_one(array.shape[d]))]
    shape = (flat.shape[0], product(array.shape[d] for d in inner), *flat.shape[2:])
    return replace(flat, shape=shape, strides=(flat.strides[0], step, *flat.strides[2:]))


def copy_for(context, array: Array, others: list[int], inner: list[int]) -> Array:
    """Memory for an array of this shape, in which the dimensions `inner` merge."""
    order = (0, *(2 + axis for axis in others), *inner)
    dense = context.temp([array.shape[d] for d in order], array.dtype)
    return permuted(dense, tuple(map(order.index, range(len(order)))))


def moved_last(numbers: tuple, others: list[int], fill: int) -> tuple:
    """Numbers of three axes, those of `others` last, `fill` for the rest."""
    return (fill,) * (SPATIAL - len(others)) + tuple(numbers[axis] for axis in others)
