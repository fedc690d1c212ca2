"""Numerical derivatives of sampled functions."""

from __future__ import annotations

from ..core.engine import Tensor
from ..ir import build as B
from ..ir import dtypes
from .declare import Number, composite, op


def pieces(x, dim: int):
    """A function (start, size) that gives part of `x` along `dim`."""
    return lambda start, size: B.narrow(x, dim, start, size)


@op(public=False)
def slope_even(input, spacing: Number, dim: int, edge_order: int):
    """Central differences of samples at equal distances; one-sided ones of order 1 or 2 at both ends."""
    f, n = pieces(as_floating(input), dim), input.shape[dim]
    inside = (f(2, n - 2) - f(0, n - 2)) / (2 * spacing)
    if edge_order == 1:
        first, last = f(1, 1) - f(0, 1), f(n - 1, 1) - f(n - 2, 1)
    else:
        first = -1.5 * f(0, 1) + 2 * f(1, 1) - 0.5 * f(2, 1)
        last = 0.5 * f(n - 3, 1) - 2 * f(n - 2, 1) + 1.5 * f(n - 1, 1)
    return B.concat([first / spacing, inside, last / spacing], dim)


@op(public=False)
def slope_uneven(input, coordinates, dim: int, edge_order: int):
    """The same for samples at increasing places, by parabolas through three neighbours (Fornberg, 1988)."""
    samples = as_floating(input)
    f, n = pieces(samples, dim), input.shape[dim]
    steps = B.narrow(coordinates, 0, 1, n - 1) - B.narrow(coordinates, 0, 0, n - 1)
    steps = B.reshape(B.cast(steps, samples.dtype), (n - 1, *(1,) * (samples.ndim - 1 - dim)))
    h = pieces(steps, 0)
    left, right = h(0, n - 2), h(1, n - 2)
    inside = middle_slope(f(0, n - 2), f(1, n - 2), f(2, n - 2), left, right)
    if edge_order == 1:
        first, last = (f(1, 1) - f(0, 1)) / h(0, 1), (f(n - 1, 1) - f(n - 2, 1)) / h(n - 2, 1)
    else:
        first = end_slope(f(0, 1), f(1, 1), f(2, 1), h(0, 1), h(1, 1))
        last = -end_slope(f(n - 1, 1), f(n - 2, 1), f(n - 3, 1), h(n - 2, 1), h(n - 3, 1))
    return B.concat([first, inside, last], dim)


def middle_slope(before, here, after, left, right):
    total = left + right
    return (
        after * (left / (right * total)) - before * (right / (left * total)) + here * ((right - left) / (left * right))
    )


def end_slope(here, second, third, near, far):
    """The slope at the first of three places, `near` and `far` the distances between them."""
    total = near + far
    return second * (total / (near * far)) - here * ((near + total) / (near * total)) - third * (near / (far * total))


def as_floating(x):
    return x if x.dtype.kind in "fc" else B.cast(x, dtypes.default)


@composite
def gradient(input, *, spacing=1, dim=None, edge_order=1):
    """The derivative of a sampled function along each of `dim` (all by default), as a tuple of tensors.

    Args:
        input: the samples; integers count as floating point numbers
        spacing: the distance of samples, for all dims or a list with one for each; or a list with a vector of
            coordinates for each dim
        dim: an int or several
        edge_order: 1 or 2, the order of the one-sided differences at both ends

    Raises:
        RuntimeError: for dims shorter than `edge_order` + 1, and for lists that do not go with the dims

    >>> rushlight.gradient(rushlight.tensor([1., 4., 9., 16.]))
    (tensor([3., 4., 6., 7.]),)
    """
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    if input.dtype in (dtypes.uint8, dtypes.bool_):
        raise RuntimeError(f"torch.gradient does not support {input.dtype.name} input.")
    dims = wrapped_dims(input, dim)
    steps = spacings(input, spacing, dim, len(dims))
    for d in dims:
        if input.shape[d] < edge_order + 1:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    return tuple(slope(input, step, d, edge_order) for step, d in zip(steps, dims))


def wrapped_dims(input, dim) -> list[int]:
    if dim is None:
        return list(range(input.ndim))
    dims = [B.wrap_dim(d, input.ndim) for d in ([dim] if isinstance(dim, int) else dim)]
    for d in dims:
        if dims.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    return dims


def spacings(input, spacing, dim, count: int) -> list:
    """One distance, or vector of coordinates, for each dim."""
    if not isinstance(spacing, (list, tuple)):
        return [1 if spacing is None else spacing] * count
    if len(spacing) != count and dim is None:
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to 'self.dim() = "
            f"{input.ndim}', since dim argument was not given, but got a list of length {len(spacing)}"
        )
    if len(spacing) != count:
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim arguments to have the "
            f"same length, but got a spacing argument of length {len(spacing)} and a dim argument of length {count}."
        )
    return list(spacing)


def slope(input, spacing, dim: int, edge_order: int):
    if not isinstance(spacing, Tensor) or spacing.ndim == 0:
        return slope_even(input, spacing, dim, edge_order)
    if tuple(spacing.shape) != (input.shape[dim],):
        raise RuntimeError(
            f"torch.gradient: expected {input.shape[dim]} coordinates for dim {dim}, got a tensor of shape "
            f"{list(spacing.shape)}"
        )
    return slope_uneven(input, spacing, dim, edge_order)
