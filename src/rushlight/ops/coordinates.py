"""Flat indices and coordinates."""

from __future__ import annotations

from ..ir import build as B
from ..ir import dtypes
from .declare import Number, composite, op


@op(public=False)
def coordinate(indices, step: Number, size: Number):
    return B.remainder(B.floor_divide(B.cast(indices, dtypes.int64), step), size)


@composite
def unravel_index(indices, shape):
    """The coordinates in a tensor of the given shape that flat indices stand for: a tensor for each dim.

    Raises:
        TypeError: for indices that are not integers
        ValueError: for negative sizes
        IndexError: for any index into a shape without elements

    >>> rushlight.unravel_index(rushlight.tensor([1, 5, 11]), (3, 4))
    (tensor([0, 1, 2]), tensor([1, 1, 3]))
    """
    if indices.dtype.kind not in "iu":
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    sizes = checked_sizes(shape)
    steps = [1]
    for size in reversed(sizes[1:]):
        steps.append(steps[-1] * size)
    if 0 in sizes and indices.numel():
        raise IndexError(f"unravel_index: shape {sizes} has no elements")
    return tuple(coordinate(indices, step, max(size, 1)) for step, size in zip(reversed(steps), sizes))


def checked_sizes(shape) -> tuple[int, ...]:
    single = hasattr(shape, "__index__") and not hasattr(shape, "shape")
    if not single and not isinstance(shape, (tuple, list)):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    sizes = (shape,) if single else tuple(shape)
    for size in sizes:
        if not hasattr(size, "__index__"):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(size)}")
        if size < 0:
            raise ValueError(f"'shape' cannot have negative values, but got {sizes}")
    return tuple(int(size) for size in sizes)
