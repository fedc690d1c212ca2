"""Pooling over windows, and its gradients: the choice among kernels."""

from __future__ import annotations

from dataclasses import replace

from ..ir.sizes import hint, product
from .conv_lanes import vector_lanes
from .conv_shape import merge_plane
from .pool_global import launch_global
from .pool_grad import launch_grad
from .pool_planes import is_contiguous, launch_maximum, launch_scatter
from .pool_reduce import Reduction, reduce_windows
from .pool_shape import PoolShape
from .templates import template

NARROW = 3  # the width of adaptive windows up to which their elements are better taken one by one


@template("max_pool", "adaptive_max_pool")
def lower_max_pool(context, node, operands, results) -> None:
    """x [..., C, *S] → the maximum of each window and its int64 flat place in the plane of x."""
    shape = PoolShape.of([*operands, *results], 0, 1, node.attrs)
    if launch_maximum(context, shape) if shape.window else launch_global(context, shape):
        return
    places = "i32" if operands[0].dtype.itemsize <= 4 and product(shape.large) < 2**31 else "i64"
    key, block = reduction(shape, "max", "row", places=places)
    reduce_windows(context, key, shape, block)


@template("avg_pool", "adaptive_avg_pool")
def lower_avg_pool(context, node, operands, results) -> None:
    """x [..., C, *S] → the mean of each window."""
    shape = PoolShape.of([*operands, *results], 0, 1, node.attrs)
    key, block = reduction(shape, "mean", "row" if shape.window else "window", divisor=divisor_kind(node.attrs))
    reduce_windows(context, key, shape, block, node.attrs.get("divisor") or 0)


@template("max_pool_grad")
def lower_max_pool_grad(context, node, operands, results) -> None:
    """gy and the places of the maxima → the gradient with respect to x; a place taken twice gets both."""
    shape = PoolShape.of([*operands, *results], 2, 0, node.attrs)
    flat = [merge_plane(a) for a in shape.arrays[:2]]
    if None not in flat:
        shape.arrays[:2], shape.small = flat, flat[0].shape[-3:]
    if is_contiguous(shape):
        return launch_scatter(context, shape)
    dtype = operands[0].dtype
    axis = "channel" if shape.channels_contiguous() else "plane"
    key = Reduction("max", dtype, len(shape.batch), False, axis, vector_lanes(dtype))
    launch_grad(context, key, shape, 8 * key.lanes if axis == "channel" else 1)


@template("avg_pool_grad", "adaptive_avg_pool_grad")
def lower_avg_pool_grad(context, node, operands, results) -> None:
    """gy → the gradient with respect to x: every window gets its share."""
    shape = PoolShape.of([*operands, *results], 1, 0, node.attrs)
    key, block = reduction(shape, "mean", "row" if shape.window else "window", divisor=divisor_kind(node.attrs))
    if key.axis == "window" and hint(shape.large[2]) <= NARROW * hint(shape.small[2]):
        key = replace(key, lanes=1)  # a vector that is masked waits for the stores of the one before it
    launch_grad(context, key, shape, block, node.attrs.get("divisor") or 0)


def divisor_kind(attrs: dict) -> str:
    if attrs.get("divisor") is not None:
        return "given"
    return "padded" if attrs.get("count_include_pad") else "inside"


def reduction(shape: PoolShape, kind: str, along_rows: str, **options):
    """The specialisation for the layout of the arrays, and how many channels an item of the range takes."""
    dtype = shape.arrays[0].dtype
    lanes = vector_lanes(dtype)
    common = {"kind": kind, "dtype": dtype, "batch": len(shape.batch), "adaptive": shape.window is None}
    common |= {"dilated": shape.dilated, **options}
    if shape.channels_contiguous():
        return Reduction(**common, axis="channel", lanes=lanes), 4 * lanes
    if shape.rows_contiguous() and not (kind == "max" and shape.window is None):
        step = shape.window[1][2] if shape.window else 1
        lanes = row_lanes(lanes, shape)
        block = 16 if along_rows == "window" else 1
        return Reduction(**common, axis=along_rows, lanes=lanes, step=step if step in (1, 2) else 0), block
    return Reduction(**common, axis="channel", lanes=1), 1


def row_lanes(lanes: int, shape: PoolShape) -> int:
    """Narrower vectors, which are cheaper, where rows of outputs are short."""
    if shape.window is None:
        return lanes
    while lanes > 4 and shape.small[2] <= lanes // 2:
        lanes //= 2
    return lanes
