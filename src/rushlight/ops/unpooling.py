"""Max pooling undone, and max pooling over windows of random places."""

from __future__ import annotations

from ..ir import build as B
from ..ir import dtypes
from ..ir.sizes import hint, product
from .checks import check_kinds, scalar_type
from .convolution import per_dim
from .declare import FUNCTIONS, Tensor, composite, op
from .pooling import window


# -- unpooling --------------------------------------------------------------------------------------
@op(public=False)
def unpooled(input, indices: Tensor, size: tuple):
    """The input's elements at their flat places in planes of the given size, zeros elsewhere."""
    n = len(size)
    check_kinds(f"max_unpool{max(n, 2)}d", input.dtype, "f")
    if indices.dtype is not dtypes.int64:
        raise RuntimeError(f"elements in indices should be type int64 but got: {scalar_type(indices.dtype)}")
    if len(input.shape) != len(indices.shape) or any(a != b for a, b in zip(input.shape, indices.shape)):
        raise RuntimeError(
            f"Expected shape of indices to be same as that of the input tensor ({list(map(hint, input.shape))}) but "
            f"got indices "
            f"tensor with shape: {list(map(hint, indices.shape))}"
        )
    lead = input.shape[: input.ndim - n]
    flat = (*lead, product(input.shape[-n:]))
    planes = B.zeros((*lead, product(size)), input.dtype)
    filled = B.scatter(planes, len(lead), B.reshape(indices, flat), B.reshape(input, flat))
    return B.reshape(filled, (*lead, *size))


def unpooled_size(x, kernel, stride, padding, output_size, n: int) -> tuple:
    """The smallest size that pools to that of x, or a given one close to it."""
    least = [(s - 1) * t - 2 * p + k for s, k, t, p in zip(x.shape[-n:], kernel, stride, padding)]
    if output_size is None:
        return tuple(least)
    given = tuple(output_size)[2:] if len(output_size) == n + 2 else tuple(output_size)
    if len(given) != n:
        raise ValueError(
            f"output_size should be a sequence containing {n} or {n + 2} elements, but it has a length of "
            f"'{len(given)}'"
        )
    for size, low, step in zip(given, least, stride):
        if not low - step < size < low + step:
            raise ValueError(
                f'invalid output_size "{list(given)}" (dim 0 must be between {low - step} and {low + step})'
            )
    return given


def _unpool(n: int):
    name = f"max_unpool{n}d"

    def function(input, indices, kernel_size, stride=None, padding=0, output_size=None):
        if input.ndim not in (n + 1, n + 2) or 0 in input.shape[1:]:
            raise RuntimeError(
                f"{name}: Expected {n + 1}D or {n + 2}D input with sizes other than 0, but got {list(input.shape)}"
            )
        kernel = per_dim(kernel_size, n, name, "kernel_size")
        stride = kernel if stride is None or stride == [] else per_dim(stride, n, name, "stride")
        padding = per_dim(padding, n, name, "padding")
        return unpooled(input, indices, unpooled_size(input, kernel, stride, padding, output_size, n))

    function.__name__ = name
    function.__doc__ = (
        f"The inverse of max_pool{n}d, as far as there is one: values go back to where `indices` says they came "
        f"from, the rest "
        "is zero. `output_size` chooses among the sizes that pool to the input's."
    )
    return composite(function)


max_unpool1d, max_unpool2d, max_unpool3d = map(_unpool, (1, 2, 3))


# -- fractional max pooling -------------------------------------------------------------------------
@op(public=False)
def fractional(input, samples: Tensor, kernel: tuple, size: tuple):
    """The largest element of each window, and its flat place; windows start where `samples` has put them."""
    n = len(size)
    lead = input.shape[:2]
    place, planes = None, B.reshape(input, (*lead, product(input.shape[2:])))
    for d in range(n):
        if input.shape[2 + d] < size[d] + kernel[d] - 1:
            raise RuntimeError(
                f"fractional_max_pool{n}d(): pool size {kernel[d]} too large relative to input size "
                f"{hint(input.shape[2 + d])}"
            )
        # of two samples the first is for columns
        sample = B.select(samples, 2, d if n == 3 else n - 1 - d)
        inside = B.unsqueeze(starts(sample, input.shape[2 + d], size[d], kernel[d]), 3) + B.iota((kernel[d],))
        shape = [*lead, *(1,) * (2 * n)]
        shape[2 + d], shape[2 + n + d] = size[d], kernel[d]
        inside = B.reshape(inside, tuple(shape))
        place = inside if place is None else place * input.shape[2 + d] + inside
    place = B.reshape(place, (*lead, product(size), product(kernel)))
    values = B.gather(planes, 2, B.reshape(place, (*lead, product(size) * product(kernel))))
    best = B.argmax(B.reshape(values, place.shape), 3, True)
    index = B.squeeze(B.gather(place, 3, best), 3)
    return B.reshape(B.gather(planes, 2, index), (*lead, *size)), B.reshape(index, (*lead, *size))


def starts(sample, size, count: int, k: int):
    """Where `count` windows of k start: at random steps of one or another width (Graham 2014)."""
    i = B.iota((count,))
    u = B.unsqueeze(sample, 2)
    alpha = B.full((), size - k, sample.dtype) / max(count - 1, 1)
    whole = lambda x: B.cast(x, dtypes.int64)  # noqa: E731
    steps = whole((B.cast(i, sample.dtype) + u) * alpha) - whole(u * alpha)
    return B.where(B.eq(i, count - 1), size - k, steps)


def _fractional(n: int):
    name = f"fractional_max_pool{n}d"

    def with_indices(
        input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
    ):
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
        if output_size is None:
            ratios = output_ratio if isinstance(output_ratio, (tuple, list)) else (output_ratio,) * n
            if len(ratios) > n:
                raise ValueError(f"{name} requires output_ratio to either be a single Int or tuple of Ints.")
            output_size = tuple(int(s * r) for s, r in zip(input.shape[-n:], ratios))
        kernel, size = (
            per_dim(window(v), n, name, what) for v, what in ((kernel_size, "kernel_size"), (output_size, "size"))
        )
        if input.ndim not in (n + 1, n + 2) or 0 in input.shape[-n - 1 :]:
            raise RuntimeError(f"{name}: Expected {n + 1}D or {n + 2}D input, but got {list(input.shape)}")
        if any(k <= 0 for k in kernel) or any(s <= 0 for s in size):
            raise RuntimeError(f"{name}: kernel_size and output_size must be positive, got {kernel} and {size}")
        batch = input if input.ndim == n + 2 else input.unsqueeze(0)
        if _random_samples is None:
            _random_samples = FUNCTIONS["rand"](batch.shape[0], batch.shape[1], n, dtype=input.dtype)
        found = fractional(batch, _random_samples, kernel, size)
        return found if input.ndim == n + 2 else tuple(part.squeeze(0) for part in found)

    def function(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        found = with_indices(input, kernel_size, output_size, output_ratio, return_indices, _random_samples)
        return found if return_indices else found[0]

    for made, suffix in ((with_indices, "_with_indices"), (function, "")):
        made.__name__ = name + suffix
        made.__doc__ = (
            f"The largest element of each of `output_size` windows of {n} dims at random places (Graham 2014); "
            f"`output_ratio` "
            "gives sizes as parts of the input's."
        )
        composite(made)
    return function


fractional_max_pool2d, fractional_max_pool3d = _fractional(2), _fractional(3)
