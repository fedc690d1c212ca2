"""Reading and writing at places given by integer tensors.

Indices are int64 and already wrapped to [0, size); one that is out of range is an IndexError at run time.
"""

from __future__ import annotations

from .. import build as B
from ..dtypes import int64
from ..lazy import np
from ..primitive import check_dim, fail, primitive

SCATTER_MODES = ("set", "add", "mul", "max", "min")


def _check_index(name: str, index) -> None:
    if index.dtype is not int64:
        fail(name, f"expected int64 indices, got {index}")


def _check_range(name: str, index, size: int) -> None:
    if index.size and (index.min() < 0 or index.max() >= size):
        bad = index.min() if index.min() < 0 else index.max()
        fail(name, f"index {bad} is out of bounds for dimension with size {size}", IndexError)


def _check_along(name: str, x, index, dim: int) -> None:
    _check_index(name, index)
    check_dim(name, dim, x.ndim)
    if index.ndim != x.ndim or any(i > s for d, (i, s) in enumerate(zip(index.shape, x.shape)) if d != dim):
        fail(name, f"index must have the rank of the operand and fit it except in dimension {dim}, got {index} and {x}")


# -- gather and scatter -------------------------------------------------------------------------
@primitive("index")
def gather(x, index, *, dim):
    """result[i, j, k] = x[i, index[i, j, k], k], for dim 1."""
    _check_along("gather", x, index, dim)
    return index.shape, x.dtype


@primitive("index")
def scatter(x, index, src, *, dim, mode):
    """A copy of x with src[i, j, k] combined into [i, index[i, j, k], k], for dim 1.

    Among several sources for one place, "set" keeps the last.
    """
    _check_along("scatter", x, index, dim)
    if src.shape != index.shape or src.dtype is not x.dtype or mode not in SCATTER_MODES:
        fail(
            "scatter",
            f"expected a source like {index} of dtype {x.dtype} and a mode of {SCATTER_MODES}, got {src}, {mode}",
        )
    return x.shape, x.dtype


def _grid(index, dim: int) -> tuple:
    """NumPy indices of the elements that `index` names along `dim`."""
    places = list(np.indices(index.shape, sparse=True))
    places[dim] = index
    return tuple(places)


@gather.numpy
def _(x, index, *, dim):
    _check_range("gather", index, x.shape[dim])
    return x[_grid(index, dim)]


@scatter.numpy
def _(x, index, src, *, dim, mode):
    _check_range("scatter", index, x.shape[dim])
    return _write(x, _grid(index, dim), src, mode)


def _write(x, places, values, mode):
    result = x.copy()
    if mode == "set":
        result[places] = values
    else:
        combine = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}[mode]
        combine.at(result, places, values)
    return result


@gather.vjp
def _(node, g):
    x, index = node.inputs
    return [scatter(B.zeros_like(x), index, g, dim=node.attrs["dim"], mode="add"), None]


@gather.jvp
def _(node, tangent, _):
    return gather(tangent, node.inputs[1], dim=node.attrs["dim"])


def _weights(node):
    """What the derivatives of a scatter with mode mul, max or min weigh x and src with."""
    x, index, src = node.inputs
    y, dim, mode = node.outputs[0], node.attrs["dim"], node.attrs["mode"]
    if mode == "mul":
        return scatter(B.full_like(x, 1), index, src, dim=dim, mode="mul"), _products_of_others(node)
    x_wins = B.cast(B.eq(x, y), x.dtype)
    src_wins = B.cast(B.eq(src, gather(y, index, dim=dim)), x.dtype)
    winners = scatter(x_wins, index, src_wins, dim=dim, mode="add")
    share = B.where(B.eq(winners, 0), 0.0, 1 / B.maximum(winners, 1))
    return x_wins * share, src_wins * gather(share, index, dim=dim)


def _products_of_others(node):
    """For each source the product of everything else that meets in its place, right where sources are 0."""
    x, index, src = node.inputs
    dim = node.attrs["dim"]
    zero = B.eq(src, 0)
    zeros = scatter(B.zeros(x.shape, int64), index, B.cast(zero, int64), dim=dim, mode="add")
    alone = B.logical_and(zero, B.eq(gather(zeros, index, dim=dim), 1))
    without = scatter(x, index, B.where(alone, 1, src), dim=dim, mode="mul")
    rest = gather(node.outputs[0], index, dim=dim) / B.where(zero, 1, src)
    return B.where(alone, gather(without, index, dim=dim), rest)


@scatter.vjp
def _(node, g):
    _, index, src = node.inputs
    dim, mode = node.attrs["dim"], node.attrs["mode"]
    if mode == "add":
        return [g, None, gather(g, index, dim=dim)]
    if mode == "set":
        return [scatter(g, index, B.zeros_like(src), dim=dim, mode="set"), None, gather(g, index, dim=dim)]
    for_x, for_src = _weights(node)
    return [g * B.conj(for_x), None, gather(g, index, dim=dim) * B.conj(for_src)]


@scatter.jvp
def _(node, x_tangent, _, src_tangent):
    x, index, src = node.inputs
    dim, mode = node.attrs["dim"], node.attrs["mode"]
    x_tangent = B.zeros_like(x) if x_tangent is None else x_tangent
    src_tangent = B.zeros_like(src) if src_tangent is None else src_tangent
    if mode in ("add", "set"):
        return scatter(x_tangent, index, src_tangent, dim=dim, mode=mode)
    for_x, for_src = _weights(node)
    return scatter(x_tangent * for_x, index, src_tangent * for_src, dim=dim, mode="add")


def _along_batch(node, inputs, dims):
    return [node.prim(*B.lead_all(inputs, dims), **{**node.attrs, "dim": node.attrs["dim"] + 1})], [0]


gather.batch(_along_batch)
scatter.batch(_along_batch)


# -- take and put -------------------------------------------------------------------------------
def _taken_shape(name: str, x, indices, dim: int) -> tuple:
    check_dim(name, dim, x.ndim)
    if not indices or dim + len(indices) > x.ndim:
        fail(name, f"{len(indices)} indices from dimension {dim} do not fit {x}")
    for index in indices:
        _check_index(name, index)
        if index.shape != indices[0].shape:
            fail(name, f"indices must have one shape, got {indices}")
    return (*x.shape[:dim], *indices[0].shape, *x.shape[dim + len(indices) :])


@primitive("index")
def take(x, *indices, dim):
    """x[:, .., i, j, ..] with `indices` of one shape I in dimensions dim.., which I replaces."""
    return _taken_shape("take", x, indices, dim), x.dtype


@primitive("index")
def put(x, values, *indices, dim, mode):
    """A copy of x with `values` (shaped as by `take`) set or added there; "set" keeps the last of several."""
    shape = _taken_shape("put", x, indices, dim)
    if values.shape != shape or values.dtype is not x.dtype or mode not in ("set", "add"):
        fail("put", f"expected values of shape {shape}, dtype {x.dtype} and mode set or add, got {values}, {mode}")
    return x.shape, x.dtype


def _checked_places(name: str, x, indices, dim: int) -> tuple:
    for d, index in enumerate(indices):
        _check_range(name, index, x.shape[dim + d])
    return (np.s_[:],) * dim + tuple(indices)


@take.numpy
def _(x, *indices, dim):
    return x[_checked_places("take", x, indices, dim)]


@put.numpy
def _(x, values, *indices, dim, mode):
    return _write(x, _checked_places("put", x, indices, dim), values, mode)


@take.vjp
def _(node, g):
    x, *indices = node.inputs
    return [put(B.zeros_like(x), g, *indices, dim=node.attrs["dim"], mode="add"), *(None for _ in indices)]


@take.jvp
def _(node, tangent, *_):
    return take(tangent, *node.inputs[1:], dim=node.attrs["dim"])


@put.vjp
def _(node, g):
    _, values, *indices = node.inputs
    dim, mode = node.attrs["dim"], node.attrs["mode"]
    gx = g if mode == "add" else put(g, B.zeros_like(values), *indices, dim=dim, mode="set")
    return [gx, take(g, *indices, dim=dim), *(None for _ in indices)]


@put.jvp
def _(node, x_tangent, values_tangent, *_):
    x, values, *indices = node.inputs
    x_tangent = B.zeros_like(x) if x_tangent is None else x_tangent
    values_tangent = B.zeros_like(values) if values_tangent is None else values_tangent
    return put(x_tangent, values_tangent, *indices, **node.attrs)


@take.batch
def _(node, inputs, dims):
    dim = node.attrs["dim"]
    if all(d is None for d in dims[1:]):
        return [take(B.front(inputs[0], dims[0]), *inputs[1:], dim=dim + 1)], [0]
    x, *indices = B.lead_all(inputs, dims)
    x, rows, order = _indexed_first(x, indices, dim)
    return [B.permute(take(x, rows, *indices, dim=0), order)], [0]


@put.batch
def _(node, inputs, dims):
    dim, mode = node.attrs["dim"], node.attrs["mode"]
    if all(d is None for d in dims[2:]):
        x, values = B.lead_all(inputs[:2], dims[:2])
        return [put(x, values, *inputs[2:], dim=dim + 1, mode=mode)], [0]
    x, values, *indices = B.lead_all(inputs, dims)
    kept = tuple(range(1, dim + 1))
    x, rows, order = _indexed_first(x, indices, dim)
    written = put(x, B.permute(values, _inverse(order)), rows, *indices, dim=0, mode=mode)
    for place in kept:
        written = B.move_dim(written, len(indices) + place, place)
    return [written], [0]


def _indexed_first(x, indices, dim: int):
    """For x and indices with a leading batch: x with its indexed dimensions right after the batch, the batch's
    own index, and the order that brings what `take` yields back to [batch, kept, index, rest]."""
    kept, k, width = dim, len(indices), indices[0].ndim
    order = (0, *range(1 + kept, 1 + kept + k), *range(1, 1 + kept), *range(1 + kept + k, x.ndim))
    rows = B.iota(indices[0].shape, 0)
    # taken: [batch, index (width - 1), kept, rest]
    total = width + kept + (x.ndim - 1 - kept - k)
    back = (0, *range(width, width + kept), *range(1, width), *range(width + kept, total))
    return B.permute(x, order), rows, back


def _inverse(order) -> tuple:
    return tuple(sorted(range(len(order)), key=order.__getitem__))
