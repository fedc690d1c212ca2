"""Arrays in other shapes and orders, put together and taken apart."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.engine import Tensor
from ..ir.shaping import wrap_dim
from ..ops import FUNCTIONS as F


def broadcast_arrays(*arrays: Tensor) -> list[Tensor]:
    """The arrays expanded to the shape they have together."""
    return list(F["broadcast_tensors"](*arrays)) if arrays else []


def broadcast_to(x: Tensor, /, shape: Sequence[int]) -> Tensor:
    """The array expanded to a shape."""
    return F["broadcast_to"](x, tuple(shape))


def concat(arrays: Sequence[Tensor], /, *, axis: int | None = 0) -> Tensor:
    """Arrays one after the other along an axis; as vectors if it is None."""
    arrays = list(arrays)
    return F["cat"]([x.reshape(-1) for x in arrays], 0) if axis is None else F["cat"](arrays, axis)


def expand_dims(x: Tensor, /, axis: int = 0) -> Tensor:
    """A new axis of size 1 at `axis`."""
    return x.unsqueeze(axis)


def flip(x: Tensor, /, *, axis: int | tuple[int, ...] | None = None) -> Tensor:
    """The elements in the opposite order along one, several or all axes."""
    axes = tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    return F["flip"](x, axes)


def moveaxis(x: Tensor, source: int | tuple[int, ...], destination: int | tuple[int, ...], /) -> Tensor:
    """Axes at other places, the rest in order."""
    return F["movedim"](x, source, destination)


def permute_dims(x: Tensor, /, axes: tuple[int, ...]) -> Tensor:
    """Axis i of the result is axis axes[i] of the array."""
    return x.permute(tuple(axes))


def repeat(x: Tensor, repeats: int | Tensor, /, *, axis: int | None = None) -> Tensor:
    """Every element repeated, a number of times or its own one, along an axis; as a vector if it is None."""
    return F["repeat_interleave"](x, repeats, dim=axis)


def reshape(x: Tensor, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Tensor:
    """The elements in another shape; `copy` False gives a view or raises ValueError, True a copy."""
    if copy is False:
        try:
            return x.view(tuple(shape))
        except RuntimeError as error:
            raise ValueError(f"reshape: without a copy, {error}") from None
    return (x.clone() if copy else x).reshape(tuple(shape))


def roll(x: Tensor, /, shift: int | tuple[int, ...], *, axis: int | tuple[int, ...] | None = None) -> Tensor:
    """Elements moved along axes (in the flat array if None), those that leave come in at the other end."""
    return F["roll"](x, shift) if axis is None else F["roll"](x, shift, axis)


def squeeze(x: Tensor, /, axis: int | tuple[int, ...]) -> Tensor:
    """Without axes of size 1; ValueError if one of them has another size."""
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    for a in axes:
        if x.shape[wrap_dim(a, x.ndim)] != 1:
            raise ValueError(f"squeeze: axis {a} of shape {tuple(x.shape)} has another size than 1")
    return F["squeeze"](x, axes)


def stack(arrays: Sequence[Tensor], /, *, axis: int = 0) -> Tensor:
    """Arrays of one shape along a new axis."""
    return F["stack"](list(arrays), axis)


def tile(x: Tensor, repetitions: tuple[int, ...], /) -> Tensor:
    """The array repeated along its axes."""
    return F["tile"](x, tuple(repetitions))


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """The slices along an axis."""
    return F["unbind"](x, axis)
