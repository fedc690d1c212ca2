"""Order: stable sort and the k largest or smallest. NaN counts as greater than every number."""

from __future__ import annotations

from .. import build as B
from ..dtypes import int64
from ..lazy import np
from ..primitive import check_dim, check_dtype, fail, primitive


@primitive("sort", outputs=2)
def sort(x, *, dim, descending):
    """Values in order along `dim`, equal ones in their old order, and the int64 places they came from."""
    check_dtype("sort", x, "buif")
    check_dim("sort", dim, x.ndim)
    return [(x.shape, x.dtype), (x.shape, int64)]


@primitive("sort", outputs=2)
def topk(x, *, k, dim, largest):
    """The first k of `sort(x, dim, descending=largest)`."""
    check_dtype("topk", x, "buif")
    check_dim("topk", dim, x.ndim)
    if not 0 <= k <= x.shape[dim]:
        fail("topk", f"k={k} is out of range for dimension {dim} of {x}")
    shape = (*x.shape[:dim], k, *x.shape[dim + 1 :])
    return [(shape, x.dtype), (shape, int64)]


@sort.numpy
def _sorted(x, *, dim, descending):
    if descending:
        # reversed twice, so that equal elements keep their order
        backwards = np.argsort(np.flip(x, dim), dim, kind="stable")
        indices = np.flip(x.shape[dim] - 1 - backwards, dim)
    else:
        indices = np.argsort(x, dim, kind="stable")
    return np.take_along_axis(x, indices, dim), indices.astype("int64")


@topk.numpy
def _(x, *, k, dim, largest):
    return tuple(np.take(a, np.arange(k), dim) for a in _sorted(x, dim=dim, descending=largest))


def _vjp(node, g, _):
    return [B.scatter(B.zeros_like(node.inputs[0]), node.attrs["dim"], node.outputs[1], g, "add")]


def _jvp(node, tangent):
    return [B.gather(tangent, node.attrs["dim"], node.outputs[1]), None]


def _batch(node, inputs, dims):
    x = B.front(inputs[0], dims[0])
    return list(node.prim(x, **{**node.attrs, "dim": node.attrs["dim"] + 1})), [0, 0]


for _prim in (sort, topk):
    _prim.vjp(_vjp)
    _prim.jvp(_jvp)
    _prim.batch(_batch)


@primitive("sort")
def searchsorted(row, values, *sorter, right):
    """How many elements of a sorted row lie before each value (with `right`, not after it); int64.

    `row` has one dimension, or those of `values` but for the last; `sorter`, if given, is the order that sorts it.
    """
    if row.dtype is not values.dtype:
        fail("searchsorted", f"expected rows and values of one dtype, got {row} and {values}")
    if row.ndim != 1 and (row.ndim != values.ndim or any(a != b for a, b in zip(row.shape[:-1], values.shape[:-1]))):
        fail("searchsorted", f"expected one row or a row for each row of values, got {row} and {values}")
    return values.shape, int64


@searchsorted.numpy
def _(row, values, *sorter, right):
    side = "right" if right else "left"
    ordered = np.take_along_axis(row, sorter[0], -1) if sorter else row
    if row.ndim == 1:
        return np.searchsorted(ordered, values, side).astype("int64")
    rows, queries = ordered.reshape(-1, row.shape[-1]), values.reshape(-1, values.shape[-1])
    found = [np.searchsorted(a, v, side) for a, v in zip(rows, queries)]
    return np.array(found, "int64").reshape(values.shape)


@searchsorted.batch
def _(node, inputs, dims):
    row, values = inputs[:2]
    if dims[0] is None and row.ndim == 1 and all(d is None for d in dims[2:]):
        return [searchsorted(row, B.front(values, dims[1]), *inputs[2:], right=node.attrs["right"])], [0]
    row, values, *sorter = B.lead_all(inputs, dims)
    shape = values.shape
    if row.ndim == 2 and len(shape) != 2:
        values = B.reshape(values, (shape[0], B.product(shape[1:])))
    return [B.reshape(searchsorted(row, values, *sorter, right=node.attrs["right"]), shape)], [0]
