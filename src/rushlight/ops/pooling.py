"""Pooling over windows of the trailing dims."""

from __future__ import annotations

from ..core.engine import DividedByZero
from ..ir import build as B
from ..ir import dtypes
from ..ir.primitives.window import adaptive_avg_pool, adaptive_max_pool, avg_pool, max_pool
from ..ir.sizes import hint, product
from .checks import check_kinds
from .convolution import per_dim
from .declare import composite, op


def check_spatial(name: str, x, n: int) -> None:
    if x.ndim not in (n + 1, n + 2):
        raise RuntimeError(
            f"{name}: Expected {n + 1}D or {n + 2}D input, but got input of shape {list(map(hint, x.shape))}"
        )
    if any(type(s) is int and s == 0 for s in x.shape[-n - 1 :]):
        raise RuntimeError(f"{name}: expected non-zero sizes behind the batch, got {list(map(hint, x.shape))}")


def check_window(name: str, kernel, stride, padding, dilation) -> None:
    if any(k <= 0 for k in kernel) or any(s <= 0 for s in stride) or any(d <= 0 for d in dilation):
        raise RuntimeError(
            f"{name}: kernel size, stride and dilation should be greater than zero, got {kernel}, {stride}, {dilation}"
        )
    for k, p, d in zip(kernel, padding, dilation):
        if p < 0 or p > ((k - 1) * d + 1) // 2:
            raise RuntimeError(
                f"{name}: pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k}"
            )


def pooled_size(size, k: int, s: int, p: int, d: int, ceil_mode: bool):
    """How many windows fit; with `ceil_mode` a last partial one counts if it starts inside."""
    span = size + 2 * p - d * (k - 1) - 1
    count = ((span + s - 1) // s if ceil_mode else span // s) + 1
    if ceil_mode and (count - 1) * s >= size + p:
        count = count - 1
    return count


def geometry(name: str, n: int, x, kernel, stride, padding, dilation, ceil_mode: bool):
    kernel = per_dim(kernel, n, name, "kernel_size")
    stride = kernel if stride is None or stride == () else per_dim(stride, n, name, "stride")
    padding, dilation = per_dim(padding, n, name, "padding"), per_dim(dilation, n, name, "dilation")
    check_spatial(name, x, n)
    check_window(name, kernel, stride, padding, dilation)
    shape = tuple(
        pooled_size(size, k, s, p, d, ceil_mode)
        for size, k, s, p, d in zip(x.shape[-n:], kernel, stride, padding, dilation)
    )
    if any(hint(m) < 1 for m in shape):
        raise RuntimeError(
            f"{name}: Given input size {list(map(hint, x.shape))}: calculated output size {list(map(hint, shape))} "
            f"is too small"
        )
    return kernel, stride, padding, dilation, shape


def _max(n: int):
    name = f"max_pool{n}d"

    def body(
        input,
        kernel_size: Sizes,
        stride: Sizes = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        ceil_mode: bool = False,
    ):
        kernel, strides, pads, dilations, shape = geometry(
            name, n, input, kernel_size, stride, padding, dilation, ceil_mode
        )
        return max_pool(input, kernel=kernel, stride=strides, padding=pads, dilation=dilations, shape=shape)

    body.__name__ = name + "_with_indices"
    body.__doc__ = f"The largest element of each window of {n} dims, and its flat place in the plane."
    made = op(body, channels=True)

    @made.vjp
    def _(cotangents, outputs, input, *window):
        from ..ir.primitives.window import max_pool_grad

        return max_pool_grad(cotangents[0], outputs[1], shape=input.shape[-n:])

    def function(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        found = made(input, window(kernel_size), window(stride), window(padding), window(dilation), ceil_mode)
        return found if return_indices else found[0]

    function.__name__ = name
    function.__doc__ = f"The largest element of each window of {n} dims; `stride` is `kernel_size` unless given."
    return composite(function)


def window(value):
    """Lists as tuples: static arguments."""
    return tuple(value) if isinstance(value, list) else value


max_pool1d, max_pool2d, max_pool3d = _max(1), _max(2), _max(3)


def _avg(n: int):
    name = f"avg_pool{n}d"

    def body(
        input,
        kernel_size: Sizes,
        stride: Sizes = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ):
        if divisor_override == 0:
            raise RuntimeError("divisor must be not zero")
        kernel, strides, pads, _, shape = geometry(name, n, input, kernel_size, stride, padding, 1, ceil_mode)
        if n == 3:
            check_volume(input.shape[-3:], kernel)
        x = B.cast(input, dtypes.float64) if input.dtype is dtypes.int64 else input
        check_kinds(name, x.dtype, "f")
        mean = avg_pool(
            x,
            kernel=kernel,
            stride=strides,
            padding=pads,
            shape=shape,
            count_include_pad=count_include_pad,
            divisor=divisor_override,
        )
        return mean if x is input else truncated(mean)

    body.__name__ = name
    body.__doc__ = f"The mean of each window of {n} dims; `stride` is `kernel_size` unless given."
    return op(body, channels=True, out=True)


def check_volume(size, kernel) -> None:
    """A volume must have room for one whole window, whatever is padded: PyTorch's rule in 3 dims alone."""
    if any(n < k for n, k in zip(size, kernel)):
        have, need = (" ".join(f"{d}: {hint(n)}" for d, n in zip("THW", sizes)) for sizes in (size, kernel))
        raise RuntimeError(f"input image ({have}) smaller than kernel size ({need})")


def truncated(mean):
    """The integer quotient that a mean of integers stands for: it may lie a rounding error below."""
    near = B.round(mean)
    return B.cast(B.where(B.lt(B.abs(mean - near), 1e-6), near, B.trunc(mean)), dtypes.int64)


avg_pool1d, avg_pool2d, avg_pool3d = _avg(1), _avg(2), _avg(3)


def adaptive_shape(name: str, x, n: int, output_size) -> tuple:
    """Output sizes, None meaning the input's."""
    if isinstance(output_size, tuple) and n > 1 and len(output_size) >= x.ndim:
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    if x.ndim not in (n + 1, n + 2):
        raise RuntimeError(f"{name}: Expected {n + 1}D or {n + 2}D tensor, but got {list(map(hint, x.shape))}")
    if any(type(s) is int and s == 0 for s in x.shape[-n if "avg" in name else -n - 1 :]):
        raise RuntimeError(
            f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes "
            f"{list(map(hint, x.shape))}"
        )
    check_kinds(name, x.dtype, "f" if "avg" in name else "uif")
    sizes = output_size if isinstance(output_size, tuple) else (output_size,) * n
    if not all(want is None or hasattr(want, "__index__") for want in sizes):
        raise TypeError(f"{name}(): argument 'output_size' must be tuple of ints, but got {output_size!r}")
    if len(sizes) != n:
        raise RuntimeError(f"{name}: output_size must have {n} elements, got {sizes}")
    if any(type(want) is int and want < 0 for want in sizes):
        raise RuntimeError(
            f"{name}: elements of output_size must be greater than or equal to 0 but received {list(sizes)}"
        )
    return tuple(have if want is None else want for want, have in zip(sizes, x.shape[-n:]))


def _adaptive_avg(n: int):
    name = f"adaptive_avg_pool{n}d"

    def body(input, output_size: Sizes):
        shape = adaptive_shape(name, input, n, output_size)
        if all(type(m) is int and m == 1 for m in shape):
            return B.mean(input, tuple(range(input.ndim - n, input.ndim)), True)
        return adaptive_avg_pool(input, shape=shape)

    body.__name__ = name
    body.__doc__ = f"Means over windows that divide {n} dims evenly into `output_size` parts."
    return op(body, channels=True)


adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = map(_adaptive_avg, (1, 2, 3))


def _adaptive_max(n: int):
    name = f"adaptive_max_pool{n}d"

    def body(input, output_size: Sizes):
        return adaptive_max_pool(input, shape=adaptive_shape(name, input, n, output_size))

    body.__name__ = name + "_with_indices"
    body.__doc__ = f"Largest elements of windows that divide {n} dims evenly, and their flat places."
    made = op(body, channels=True)

    def function(input, output_size, return_indices=False):
        found = made(input, window(output_size))
        return found if return_indices else found[0]

    function.__name__ = name
    function.__doc__ = f"Largest elements of windows that divide {n} dims evenly into `output_size` parts."
    return composite(function)


adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = map(_adaptive_max, (1, 2, 3))


def _lp(n: int):
    def function(input, norm_type, kernel_size, stride=None, ceil_mode=False):
        if norm_type == 0:
            raise DividedByZero(f"lp_pool{n}d: norm_type must not be zero")
        kernel = per_dim(window(kernel_size), n, f"lp_pool{n}d", "kernel_size")
        pool = (avg_pool1d, avg_pool2d, avg_pool3d)[n - 1]
        total = pool(input.pow(norm_type), kernel, window(stride), 0, ceil_mode) * product(kernel)
        return total.pow(1.0 / norm_type)

    function.__name__ = f"lp_pool{n}d"
    function.__doc__ = f"The p-norm of each window of {n} dims (without absolute values, as PyTorch has it)."
    return composite(function)


lp_pool1d, lp_pool2d, lp_pool3d = map(_lp, (1, 2, 3))
