"""Values made from nothing: constants and index ramps."""

from __future__ import annotations

from ..lazy import np
from ..primitive import check_dim, fail, primitive
from ..sizes import Sym


@primitive("source")
def constant(*, value, shape, dtype):
    """`shape` filled with the Python number or symbolic size `value`."""
    if type(value) not in (int, float, bool, complex, Sym):
        fail("constant", f"value must be a Python number or a size, got {value!r}")
    if (type(value) is complex and dtype.kind != "c") or (type(value) is float and dtype.kind not in "fc"):
        fail("constant", f"value {value!r} does not fit {dtype}")
    return tuple(shape), dtype


@constant.numpy
def _(*, value, shape, dtype):
    with np.errstate(over="ignore"):
        return np.full(shape, value, dtype.numpy_name or "float32")


@primitive("source")
def iota(*, shape, dim, dtype):
    """`shape` filled with the index along `dim`."""
    check_dim("iota", dim, len(shape))
    if dtype.kind not in "uif":
        fail("iota", f"expected an integer or floating point dtype, got {dtype}")
    return tuple(shape), dtype


@iota.numpy
def _(*, shape, dim, dtype):
    ramp = np.arange(shape[dim]).astype(dtype.numpy_name or "float32")
    return np.broadcast_to(ramp.reshape([-1 if d == dim else 1 for d in range(len(shape))]), shape).copy()
