"""Views: primitives whose result is another way to look at the operand's memory."""

from __future__ import annotations

from .. import build as B
from ..lazy import np
from ..primitive import check_dim, check_dims, check_dtype, fail, primitive
from ..sizes import known_equal, product


# -- reshape, permute, expand -------------------------------------------------------------------
@primitive("view")
def reshape(x, *, shape):
    """The same elements in row-major order under another shape."""
    if product(shape) != product(x.shape):
        fail("reshape", f"shape {shape} does not hold the elements of {x}")
    return tuple(shape), x.dtype


reshape.numpy(lambda x, *, shape: x.reshape(shape))
reshape.vjp(lambda node, g: [B.reshape(g, node.inputs[0].shape)])
reshape.linear()


@reshape.batch
def _(node, inputs, dims):
    x = B.front(inputs[0], dims[0])
    return [reshape(x, shape=(x.shape[0], *node.attrs["shape"]))], [0]


@primitive("view")
def permute(x, *, dims):
    """Result dimension d is dimension dims[d] of x."""
    check_dims("permute", dims, x.ndim)
    if len(dims) != x.ndim:
        fail("permute", f"expected {x.ndim} dimensions for {x}, got {dims}")
    return tuple(x.shape[d] for d in dims), x.dtype


permute.numpy(lambda x, *, dims: x.transpose(dims))
permute.linear()


@permute.vjp
def _(node, g):
    dims = node.attrs["dims"]
    return [B.permute(g, tuple(sorted(range(len(dims)), key=dims.__getitem__)))]


@permute.batch
def _(node, inputs, dims):
    x = B.front(inputs[0], dims[0])
    return [permute(x, dims=(0, *(d + 1 for d in node.attrs["dims"])))], [0]


@primitive("view")
def expand(x, *, shape):
    """Repeat dimensions of size 1 and add leading ones, aligned at the right."""
    new = len(shape) - x.ndim
    if new < 0:
        fail("expand", f"{x} does not expand to shape {shape}")
    for d, (a, b) in enumerate(zip(x.shape, shape[new:])):
        if not (type(a) is int and a == 1) and a != b:
            fail(
                "expand",
                f"The expanded size of the tensor ({b}) must match the existing size ({a}) at non-singleton dimension "
                f"{new + d}. Target sizes: {list(shape)}. Tensor sizes: {list(x.shape)}",
            )
    return tuple(shape), x.dtype


expand.numpy(lambda x, *, shape: np.broadcast_to(x, shape))
expand.vjp(lambda node, g: [B.sum_to(g, node.inputs[0].shape)])
expand.linear()


@expand.batch
def _(node, inputs, dims):
    x, shape = B.front(inputs[0], dims[0]), node.attrs["shape"]
    ones = (1,) * (len(shape) - (x.ndim - 1))
    return [expand(B.reshape(x, (x.shape[0], *ones, *x.shape[1:])), shape=(x.shape[0], *shape))], [0]


# -- slice, diagonal, unfold --------------------------------------------------------------------
@primitive("view")
def slice(x, *, starts, sizes, steps):
    """`sizes[d]` elements of each dimension from `starts[d]`, `steps[d]` apart."""
    if not len(starts) == len(sizes) == len(steps) == x.ndim:
        fail("slice", f"expected {x.ndim} starts, sizes and steps for {x}, got {starts}, {sizes}, {steps}")
    for size, start, count, step in zip(x.shape, starts, sizes, steps):
        if type(start) is int and start == 0 and type(step) is int and step == 1 and known_equal(count, size):
            continue
        if start < 0 or count < 0 or step < 1 or (count != 0 and start + (count - 1) * step >= size):
            fail("slice", f"starts {starts}, sizes {sizes}, steps {steps} leave {x}", IndexError)
    return tuple(sizes), x.dtype


slice.linear()


@slice.numpy
def _(x, *, starts, sizes, steps):
    for dim, (start, count, step) in enumerate(zip(starts, sizes, steps)):
        x = np.take(x, start + step * np.arange(count), dim)
    return x


@slice.vjp
def _(node, g):
    return [B.slice_adjoint(g, node.inputs[0].shape, node.attrs["starts"], node.attrs["steps"])]


@slice.batch
def _(node, inputs, dims):
    x, a = B.front(inputs[0], dims[0]), node.attrs
    new = {"starts": (0, *a["starts"]), "sizes": (x.shape[0], *a["sizes"]), "steps": (1, *a["steps"])}
    return [slice(x, **new)], [0]


@primitive("view")
def diagonal(x, *, offset, dim1, dim2):
    """x[.., i, .., i + offset, ..] over i, as a new last dimension in place of dim1 and dim2."""
    check_dims("diagonal", (dim1, dim2), x.ndim)
    rows, columns = (x.shape[dim1], x.shape[dim2] - offset) if offset >= 0 else (x.shape[dim1] + offset, x.shape[dim2])
    size = rows if rows <= columns else columns
    size = size if size >= 0 else 0
    return (*(s for d, s in enumerate(x.shape) if d not in (dim1, dim2)), size), x.dtype


diagonal.numpy(lambda x, *, offset, dim1, dim2: np.diagonal(x, offset, dim1, dim2))
diagonal.linear()


@diagonal.vjp
def _(node, g):
    """Write the cotangent at (i, i + offset) of a zero tensor whose last dimensions are dim1 and dim2."""
    x, a = node.inputs[0], node.attrs
    dim1, dim2, offset = a["dim1"], a["dim2"], a["offset"]
    order = [*(d for d in range(x.ndim) if d not in (dim1, dim2)), dim1, dim2]
    ramp = B.iota((g.shape[-1],), 0)
    zeros = B.zeros([x.shape[d] for d in order], x.dtype)
    written = B.put(zeros, g, ramp + max(-offset, 0), ramp + max(offset, 0), dim=x.ndim - 2, mode="add")
    return [B.permute(written, tuple(sorted(range(x.ndim), key=order.__getitem__)))]


@diagonal.batch
def _(node, inputs, dims):
    x, a = B.front(inputs[0], dims[0]), node.attrs
    return [diagonal(x, offset=a["offset"], dim1=a["dim1"] + 1, dim2=a["dim2"] + 1)], [0]


@primitive("view")
def unfold(x, *, dim, size, step):
    """Windows of `size` elements, `step` apart along `dim`, as a new last dimension."""
    check_dim("unfold", dim, x.ndim)
    if not 0 <= size <= x.shape[dim] or step < 1:
        fail("unfold", f"size {size} and step {step} do not fit dimension {dim} of {x}")
    windows = (x.shape[dim] - size) // step + 1
    return (*x.shape[:dim], windows, *x.shape[dim + 1 :], size), x.dtype


unfold.linear()


@unfold.numpy
def _(x, *, dim, size, step):
    windows = (x.shape[dim] - size) // step + 1
    places = step * np.arange(windows)[:, None] + np.arange(size)
    return np.moveaxis(np.take(x, places, dim), dim + 1, -1)


@unfold.vjp
def _(node, g):
    x, a = node.inputs[0], node.attrs
    dim, size = a["dim"], a["size"]
    shape = (g.shape[dim], size)
    places = B.iota(shape, 0) * a["step"] + B.iota(shape, 1)
    values = B.move_dim(g, g.ndim - 1, dim + 1)
    return [B.put(B.zeros(x.shape, x.dtype), values, places, dim=dim, mode="add")]


@unfold.batch
def _(node, inputs, dims):
    a = node.attrs
    return [unfold(B.front(inputs[0], dims[0]), dim=a["dim"] + 1, size=a["size"], step=a["step"])], [0]


# -- complex numbers as pairs -------------------------------------------------------------------
@primitive("view")
def view_as_real(x):
    """Complex numbers as pairs (real, imaginary) in a new last dimension."""
    check_dtype("view_as_real", x, "c")
    return (*x.shape, 2), x.dtype.to_real()


view_as_real.numpy(lambda x: np.stack([x.real, x.imag], -1))
view_as_real.vjp(lambda node, g: [B.view_as_complex(g)])
view_as_real.batch(lambda node, inputs, dims: ([view_as_real(B.front(inputs[0], dims[0]))], [0]))
view_as_real.linear()


@primitive("view")
def view_as_complex(x):
    """Pairs in the last dimension as complex numbers."""
    if x.ndim == 0 or x.shape[-1] != 2 or x.dtype.name not in ("float32", "float64"):
        fail("view_as_complex", f"expected float32 or float64 with a last dimension of 2, got {x}")
    return x.shape[:-1], x.dtype.to_complex()


@view_as_complex.numpy
def _(x):
    return np.ascontiguousarray(x).view("complex64" if x.dtype == "float32" else "complex128")[..., 0]


view_as_complex.vjp(lambda node, g: [B.view_as_real(g)])
view_as_complex.batch(lambda node, inputs, dims: ([view_as_complex(B.front(inputs[0], dims[0]))], [0]))
view_as_complex.linear()
