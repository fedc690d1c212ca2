"""Structure: primitives that move elements to other places."""

from __future__ import annotations

from .. import build as B
from ..lazy import np
from ..primitive import check_dim, check_dims, fail, primitive


@primitive("structure")
def pad(x, *, low, high, value):
    """`low[d]` elements of `value` before and `high[d]` after each dimension."""
    if not len(low) == len(high) == x.ndim or any(n < 0 for n in (*low, *high)):
        fail("pad", f"expected {x.ndim} non-negative low and high for {x}, got {low}, {high}")
    return tuple(size + a + b for size, a, b in zip(x.shape, low, high)), x.dtype


@pad.numpy
def _(x, *, low, high, value):
    return np.pad(x, list(zip(low, high)), constant_values=np.asarray(value).astype(x.dtype)) if x.ndim else x


@pad.vjp
def _(node, g):
    return [B.slice(g, node.attrs["low"], node.inputs[0].shape)]


@pad.jvp
def _(node, tangent):
    return B.pad(tangent, node.attrs["low"], node.attrs["high"])


@pad.batch
def _(node, inputs, dims):
    a = node.attrs
    x = B.front(inputs[0], dims[0])
    return [pad(x, low=(0, *a["low"]), high=(0, *a["high"]), value=a["value"])], [0]


@primitive("structure")
def concat(*inputs, dim):
    """Operands one after the other along `dim`."""
    if not inputs:
        fail("concat", "expected at least one operand")
    first = inputs[0]
    check_dim("concat", dim, first.ndim)
    total = first.shape[dim]
    for x in inputs[1:]:
        if x.ndim != first.ndim or x.dtype is not first.dtype:
            fail("concat", f"expected operands of equal rank and dtype, got {first} and {x}")
        if any(a != b for d, (a, b) in enumerate(zip(x.shape, first.shape)) if d != dim):
            fail("concat", f"sizes must match except in dimension {dim}, got {first} and {x}")
        total = total + x.shape[dim]
    return (*first.shape[:dim], total, *first.shape[dim + 1 :]), first.dtype


concat.numpy(lambda *inputs, dim: np.concatenate(inputs, dim))


@concat.vjp
def _(node, g):
    dim, start, parts = node.attrs["dim"], 0, []
    for x in node.inputs:
        parts.append(B.narrow(g, dim, start, x.shape[dim]))
        start = start + x.shape[dim]
    return parts


@concat.jvp
def _(node, *tangents):
    filled = [B.zeros_like(x) if t is None else t for x, t in zip(node.inputs, tangents)]
    return concat(*filled, **node.attrs)


@concat.batch
def _(node, inputs, dims):
    return [concat(*B.lead_all(inputs, dims), dim=node.attrs["dim"] + 1)], [0]


@primitive("structure")
def flip(x, *, dims):
    """The order along `dims` reversed."""
    check_dims("flip", dims, x.ndim)
    return x.shape, x.dtype


flip.numpy(lambda x, *, dims: np.flip(x, dims))
flip.vjp(lambda node, g: [B.flip(g, node.attrs["dims"])])
flip.batch(
    lambda node, inputs, dims: (
        [flip(B.front(inputs[0], dims[0]), dims=tuple(d + 1 for d in node.attrs["dims"]))],
        [0],
    )
)
flip.linear()
