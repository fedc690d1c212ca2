"""Contractions: batched matrix product, and convolution with its two adjoints.

All are bilinear, and the three convolutions are closed among themselves: the derivative of each is
made of the other two. `stride`, `padding` and `dilation` have one int per spatial dimension.
"""

from __future__ import annotations

from itertools import product as positions

from .. import build as B
from ..lazy import np
from ..primitive import Primitive, check_dtype, check_steps, fail, primitive


def _bilinear(prim: Primitive) -> None:
    @prim.jvp
    def _(node, first, second):
        a, b = node.inputs
        left = None if first is None else prim(first, b, **node.attrs)
        right = None if second is None else prim(a, second, **node.attrs)
        return right if left is None else left if right is None else left + right


def _accumulator(x) -> str:
    return {"f": "float64", "c": "complex128"}.get(x.dtype.kind, x.dtype)


# -- matrix product ---------------------------------------------------------------------------
@primitive("contract")
def dot(a, b):
    """[*B, M, K] x [*B, K, N] -> [*B, M, N]."""
    if a.ndim < 2 or a.ndim != b.ndim or a.dtype is not b.dtype or a.shape[:-2] != b.shape[:-2]:
        fail("dot", f"expected [*B, M, K] and [*B, K, N] of one dtype, got {a} and {b}")
    check_dtype("dot", a, "uifc")
    if a.shape[-1] != b.shape[-2]:
        fail("dot", f"inner sizes must match, got {a} and {b}")
    return (*a.shape[:-1], b.shape[-1]), a.dtype


dot.numpy(lambda a, b: np.matmul(a.astype(_accumulator(a)), b.astype(_accumulator(b))).astype(a.dtype))
_bilinear(dot)


@dot.vjp
def _(node, g):
    a, b = node.inputs
    return [dot(g, B.adjoint(b)), dot(B.adjoint(a), g)]


@dot.batch
def _(node, inputs, dims):
    (a, b), (da, db) = inputs, dims
    if db is None and b.ndim == 2:
        # one matrix for the whole batch: its rows and the batch are one dimension
        a = B.front(a, da)
        rows = dot(B.reshape(a, (a.shape[0] * a.shape[1], a.shape[2])), b)
        return [B.reshape(rows, (*a.shape[:2], b.shape[1]))], [0]
    return [dot(*B.lead_all(inputs, dims))], [0]


# -- convolution ------------------------------------------------------------------------------
def _output_sizes(spatial, kernel, stride, padding, dilation) -> tuple:
    return tuple(
        (size + 2 * p - d * (k - 1) - 1) // s + 1
        for size, k, s, p, d in zip(spatial, kernel, stride, padding, dilation)
    )


def _check(name: str, x_shape, w_shape, y_shape, stride, padding, dilation, groups) -> None:
    """Shapes of input, weight and output (None: still unknown) of one convolution agree."""
    n = len(stride)
    if not len(padding) == len(dilation) == n or len(x_shape) != n + 2 or len(w_shape) != n + 2:
        fail(name, f"expected {n} spatial dimensions, got input {x_shape}, weight {w_shape}, padding {padding}")
    check_steps(name, stride, padding, dilation)
    if x_shape[1] != w_shape[1] * groups or w_shape[0] % groups != 0:
        fail(
            name,
            f"weight {w_shape} with groups={groups} expects {w_shape[1] * groups} input channels "
            f"and output channels divisible by groups, got input {x_shape}",
        )
    sizes = _output_sizes(x_shape[2:], w_shape[2:], stride, padding, dilation)
    if any(size < 1 for size in sizes):
        fail(name, f"kernel of weight {w_shape} is larger than the padded input {x_shape}")
    if y_shape is not None and tuple(y_shape) != (x_shape[0], w_shape[0], *sizes):
        fail(name, f"expected output {(x_shape[0], w_shape[0], *sizes)}, got {y_shape}")


@primitive("contract")
def conv(x, w, *, stride, padding, dilation, groups):
    """[N, C, *S] with [O, C/groups, *K] -> [N, O, *S'], cross-correlation."""
    _check("conv", x.shape, w.shape, None, stride, padding, dilation, groups)
    _same_dtype("conv", x, w)
    return (x.shape[0], w.shape[0], *_output_sizes(x.shape[2:], w.shape[2:], stride, padding, dilation)), x.dtype


@primitive("contract")
def conv_input_grad(gy, w, *, shape, stride, padding, dilation, groups):
    """The adjoint of conv in its input of spatial shape S: [N, O, *S'], [O, C/groups, *K] -> [N, C, *S]."""
    _same_dtype("conv_input_grad", gy, w)
    x_shape = (gy.shape[0], w.shape[1] * groups, *shape)
    _check("conv_input_grad", x_shape, w.shape, gy.shape, stride, padding, dilation, groups)
    return x_shape, gy.dtype


@primitive("contract")
def conv_weight_grad(gy, x, *, shape, stride, padding, dilation, groups):
    """The adjoint of conv in its weight of kernel shape K: [N, O, *S'], [N, C, *S] -> [O, C/groups, *K]."""
    _same_dtype("conv_weight_grad", gy, x)
    w_shape = (gy.shape[1], x.shape[1] // groups, *shape)
    _check("conv_weight_grad", x.shape, w_shape, gy.shape, stride, padding, dilation, groups)
    return w_shape, gy.dtype


def _same_dtype(name: str, a, b) -> None:
    check_dtype(name, a, "uifc")
    if a.dtype is not b.dtype:
        fail(name, f"operands must have one dtype, got {a} and {b}")


# -- meaning: a matrix product for each place in the kernel ----------------------------------------
def _places(kernel, output, stride, dilation):
    """Pairs of a place in the kernel and the slices of the padded input that meet it."""
    for place in positions(*map(range, kernel)):
        yield (
            place,
            tuple(slice(k * d, k * d + s * (o - 1) + 1, s) for k, d, s, o in zip(place, dilation, stride, output)),
        )


def _grouped(x, groups: int):
    """[N, G*C, *S] as [N, G, C, *S]."""
    return x.reshape(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:])


def _flat_space(x):
    """[N, G, C, *S] as [N, G, C, P]."""
    return x.reshape(*x.shape[:3], -1)


def _padded(x, padding):
    return np.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)])


@conv.numpy
def _(x, w, *, stride, padding, dilation, groups):
    xs = _grouped(_padded(x.astype(_accumulator(x)), padding), groups)
    ws = w.reshape(groups, w.shape[0] // groups, *w.shape[1:]).astype(xs.dtype)
    output = _output_sizes(x.shape[2:], w.shape[2:], stride, padding, dilation)
    y = np.zeros((x.shape[0], groups, ws.shape[1], *output), xs.dtype)
    for place, window in _places(w.shape[2:], output, stride, dilation):
        y += np.einsum("ngc...,goc->ngo...", xs[(..., *window)], ws[(..., *place)])
    return y.reshape(x.shape[0], w.shape[0], *output).astype(x.dtype)


@conv_input_grad.numpy
def _(gy, w, *, shape, stride, padding, dilation, groups):
    gys = _grouped(gy.astype(_accumulator(gy)), groups)
    ws = w.reshape(groups, w.shape[0] // groups, *w.shape[1:]).astype(gys.dtype)
    padded = [size + 2 * p for size, p in zip(shape, padding)]
    gx = np.zeros((gy.shape[0], groups, w.shape[1], *padded), gys.dtype)
    for place, window in _places(w.shape[2:], gy.shape[2:], stride, dilation):
        gx[(..., *window)] += np.einsum("ngo...,goc->ngc...", gys, ws[(..., *place)])
    inside = tuple(slice(p, p + size) for size, p in zip(shape, padding))
    return gx[(..., *inside)].reshape(gy.shape[0], -1, *shape).astype(gy.dtype)


@conv_weight_grad.numpy
def _(gy, x, *, shape, stride, padding, dilation, groups):
    gys = _grouped(gy.astype(_accumulator(gy)), groups)
    xs = _grouped(_padded(x.astype(gys.dtype), padding), groups)
    gw = np.zeros((groups, gys.shape[2], xs.shape[2], *shape), gys.dtype)
    for place, window in _places(shape, gy.shape[2:], stride, dilation):
        met = xs[(..., *window)]
        gw[(..., *place)] = np.einsum("ngop,ngcp->goc", _flat_space(gys), _flat_space(met))
    return gw.reshape(gy.shape[1], xs.shape[2], *shape).astype(gy.dtype)


# -- derivatives ------------------------------------------------------------------------------
def _geometry(attrs) -> dict:
    return {name: attrs[name] for name in ("stride", "padding", "dilation", "groups")}


@conv.vjp
def _(node, g):
    x, w = node.inputs
    return [
        conv_input_grad(g, B.conj(w), shape=x.shape[2:], **node.attrs),
        conv_weight_grad(g, B.conj(x), shape=w.shape[2:], **node.attrs),
    ]


@conv_input_grad.vjp
def _(node, g):
    gy, w = node.inputs
    geometry = _geometry(node.attrs)
    return [conv(g, B.conj(w), **geometry), conv_weight_grad(B.conj(gy), g, shape=w.shape[2:], **geometry)]


@conv_weight_grad.vjp
def _(node, g):
    gy, x = node.inputs
    geometry = _geometry(node.attrs)
    return [conv(B.conj(x), g, **geometry), conv_input_grad(B.conj(gy), g, shape=x.shape[2:], **geometry)]


for _prim in (conv, conv_input_grad, conv_weight_grad):
    _bilinear(_prim)


# -- batch rules: a batch of images is more images, a batch of weights is more groups -----------------
def _into_images(x, dim):
    """Merge the batch with the images: [V, N, ...] -> [V*N, ...]."""
    x = B.front(x, dim)
    return B.reshape(x, (x.shape[0] * x.shape[1], *x.shape[2:]))


def _into_channels(x):
    """Merge the batch with the channels, batch outermost: [V, N, C, ...] -> [N, V*C, ...]."""
    x = B.move_dim(x, 0, 1)
    return B.reshape(x, (x.shape[0], x.shape[1] * x.shape[2], *x.shape[3:]))


def _out_of_channels(x, count):
    x = B.reshape(x, (x.shape[0], count, x.shape[1] // count, *x.shape[2:]))
    return B.move_dim(x, 1, 0)


def _into_groups(w):
    """Merge the batch with a weight's output channels: [V, O, ...] -> [V*O, ...]."""
    return B.reshape(w, (w.shape[0] * w.shape[1], *w.shape[2:]))


def _out_of_first(x, count):
    return B.reshape(x, (count, x.shape[0] // count, *x.shape[1:]))


@conv.batch
def _(node, inputs, dims):
    (x, w), attrs = inputs, node.attrs
    if dims[1] is None:
        return [_out_of_first(conv(_into_images(x, dims[0]), w, **attrs), x.shape[dims[0]])], [0]
    x, w = B.lead_all(inputs, dims)
    count = w.shape[0]
    y = conv(_into_channels(x), _into_groups(w), **{**attrs, "groups": count * attrs["groups"]})
    return [_out_of_channels(y, count)], [0]


@conv_input_grad.batch
def _(node, inputs, dims):
    (gy, w), attrs = inputs, node.attrs
    if dims[1] is None:
        gx = conv_input_grad(_into_images(gy, dims[0]), w, **attrs)
        return [_out_of_first(gx, gy.shape[dims[0]])], [0]
    gy, w = B.lead_all(inputs, dims)
    count = w.shape[0]
    wider = {**attrs, "groups": count * attrs["groups"]}
    return [_out_of_channels(conv_input_grad(_into_channels(gy), _into_groups(w), **wider), count)], [0]


@conv_weight_grad.batch
def _(node, inputs, dims):
    gy, x = B.lead_all(inputs, dims)
    attrs, count = node.attrs, gy.shape[0]
    wider = {**attrs, "groups": count * attrs["groups"]}
    return [_out_of_first(conv_weight_grad(_into_channels(gy), _into_channels(x), **wider), count)], [0]
