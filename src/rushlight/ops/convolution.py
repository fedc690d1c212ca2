"""Convolutions and their transposes, over 1 to 3 spatial dims."""

from __future__ import annotations

from ..ir import build as B
from ..ir.primitives.contract import conv, conv_input_grad
from ..ir.sizes import hint
from .declare import composite, op
from .matmul import check_same_dtype


def per_dim(value, n: int, name: str, what: str) -> tuple:
    """One number for all spatial dims, or one for each."""
    if isinstance(value, int):
        return (value,) * n
    if not isinstance(value, (tuple, list)) or not all(hasattr(part, "__index__") for part in value):
        raise TypeError(f"{name}(): argument '{what}' must be tuple of ints, but got {value!r}")
    value = tuple(value)
    if len(value) == 1:
        return value * n
    if len(value) != n:
        raise RuntimeError(
            f"{name}: expected {what} to be a single integer or a list of {n} integers, got {list(value)}"
        )
    return value


def check_conv(name: str, x, weight, bias, stride, padding, dilation, groups: int, n: int) -> None:
    if weight.ndim != n + 2:
        raise RuntimeError(
            f"{name}: expected a {n + 2}-D weight (out, in / groups, {', '.join(['kernel'] * n)}), got {weight.ndim}-D"
        )
    if x.ndim != n + 2:
        raise RuntimeError(
            f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {name}, but got input of size: {shape_of(x)}"
        )
    if any(s <= 0 for s in stride) or any(d <= 0 for d in dilation):
        raise RuntimeError(
            f"{name}: stride and dilation must be greater than zero, got stride {stride} and dilation {dilation}"
        )
    if any(k <= 0 for k in weight.shape[2:]):
        raise RuntimeError(f"{name}: kernel sizes must be greater than zero, got {tuple(shape_of(weight)[2:])}")
    if any(p < 0 for p in padding):
        raise RuntimeError(f"{name}: negative padding is not supported, got {padding}")
    if groups <= 0:
        raise RuntimeError(f"{name}: groups must be a positive integer, got {groups}")
    if weight.shape[0] < groups:
        raise RuntimeError(
            f"{name}: Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of "
            f"size {shape_of(weight)} instead"
        )
    if bias is not None:
        check_same_dtype(name, x, weight, bias)
    else:
        check_same_dtype(name, x, weight)


def shape_of(x) -> list:
    return list(map(hint, x.shape))


def check_channels(name: str, x, weight, bias, groups: int) -> None:
    if x.shape[1] != weight.shape[1] * groups:
        raise RuntimeError(
            f"{name}: weight expects {hint(weight.shape[1])} input channels per group but input has {hint(x.shape[1])} "
            f"(input {tuple(shape_of(x))}, weight {tuple(shape_of(weight))}, groups={groups})"
        )
    if weight.shape[0] % groups != 0:
        raise RuntimeError(f"{name}: {hint(weight.shape[0])} output channels are not divisible by groups={groups}")
    if bias is not None and (bias.ndim != 1 or bias.shape[0] != weight.shape[0]):
        raise RuntimeError(f"{name}: expected bias of shape ({hint(weight.shape[0])},), got {tuple(shape_of(bias))}")


def check_kernel_fits(x, weight, padding, dilation) -> None:
    padded = [size + 2 * p for size, p in zip(x.shape[2:], padding)]
    kernel = [d * (k - 1) + 1 for k, d in zip(weight.shape[2:], dilation)]
    if any(have < need for have, need in zip(padded, kernel)):
        have, need = (" x ".join(str(hint(n)) for n in sizes) for sizes in (padded, kernel))
        raise RuntimeError(
            f"Calculated padded input size per channel: ({have}). Kernel size: ({need}). Kernel size can't be greater "
            "than actual input size"
        )


def explicit_padding(x, weight, stride, padding: str, dilation, name: str):
    """ "valid" or "same" as numbers; an odd total pads the end once more, on the input itself."""
    n = len(stride)
    if padding == "valid":
        return x, (0,) * n
    if padding != "same":
        raise RuntimeError(f"{name}: invalid padding string {padding!r}, expected 'valid' or 'same'")
    if any(s != 1 for s in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    totals = [d * (int(k) - 1) for d, k in zip(dilation, weight.shape[2:])]
    odd = [t % 2 for t in totals]
    if any(odd):
        x = B.pad(x, (0,) * x.ndim, (0, 0, *odd))
    return x, tuple(t // 2 for t in totals)


def convolve(name: str, n: int, x, weight, bias, stride, padding, dilation, groups: int):
    unbatched = x.ndim == n + 1
    x = B.unsqueeze(x, 0) if unbatched else x
    stride, dilation = per_dim(stride, n, name, "stride"), per_dim(dilation, n, name, "dilation")
    if isinstance(padding, str):
        x, padding = explicit_padding(x, weight, stride, padding, dilation, name)
    padding = per_dim(padding, n, name, "padding")
    check_conv(name, x, weight, bias, stride, padding, dilation, groups, n)
    check_channels(name, x, weight, bias, groups)
    check_kernel_fits(x, weight, padding, dilation)
    result = conv(x, weight, stride=stride, padding=padding, dilation=dilation, groups=groups)
    if bias is not None:
        result = result + B.reshape(bias, (1, bias.shape[0], *(1,) * n))
    return B.squeeze(result, 0) if unbatched else result


_FORMULA = """input: (N, C, {dims}) or (C, {dims}); weight: (O, C / groups, {kernel}); bias: (O,) or None. `stride`,
`padding` and
    `dilation` are integers or one per spatial dim; `padding` may be "valid" or "same"."""


@op(channels=True)
def conv1d(input, weight, bias=None, stride: Sizes = 1, padding: Sizes = 0, dilation: Sizes = 1, groups: int = 1):
    return convolve("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


@op(channels=True)
def conv2d(input, weight, bias=None, stride: Sizes = 1, padding: Sizes = 0, dilation: Sizes = 1, groups: int = 1):
    return convolve("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


@op(channels=True)
def conv3d(input, weight, bias=None, stride: Sizes = 1, padding: Sizes = 0, dilation: Sizes = 1, groups: int = 1):
    return convolve("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)


for _made, _dims, _kernel in ((conv1d, "L", "K"), (conv2d, "H, W", "KH, KW"), (conv3d, "D, H, W", "KD, KH, KW")):
    _made.__doc__ = (
        f"Cross-correlation of a batch of signals with filters.\n\n    {_FORMULA.format(dims=_dims, kernel=_kernel)}"
    )


def convolve_transposed(name: str, n: int, x, weight, bias, stride, padding, output_padding, groups: int, dilation):
    unbatched = x.ndim == n + 1
    x = B.unsqueeze(x, 0) if unbatched else x
    stride, dilation = per_dim(stride, n, name, "stride"), per_dim(dilation, n, name, "dilation")
    padding = per_dim(padding, n, name, "padding")
    extra = per_dim(output_padding, n, name, "output_padding")
    check_conv(name, x, weight, bias, stride, padding, dilation, groups, n)
    if x.shape[1] != weight.shape[0]:
        raise RuntimeError(
            f"{name}: weight expects {hint(weight.shape[0])} input channels but input has {hint(x.shape[1])} "
            f"(input {tuple(shape_of(x))}, weight {tuple(shape_of(weight))})"
        )
    if any(type(n) is int and n == 0 for n in weight.shape):
        raise RuntimeError(f"{name}: non-empty {n + 2}D weight tensor expected, but got: {shape_of(weight)}")
    if any(e >= s and e >= d for e, s, d in zip(extra, stride, dilation)):
        raise RuntimeError(f"output padding must be smaller than either stride or dilation, but got {extra}")
    shape = tuple(
        (size - 1) * s - 2 * p + d * (k - 1) + e + 1
        for size, s, p, d, k, e in zip(x.shape[2:], stride, padding, dilation, weight.shape[2:], extra)
    )
    if any(hint(m) <= 0 for m in shape):
        raise RuntimeError(f"{name}: calculated output size {list(map(hint, shape))} is too small")
    place = {"stride": stride, "dilation": dilation, "groups": groups}
    if any(e >= s for e, s in zip(extra, stride)):
        result = cut(
            conv_input_grad(x, weight, shape=whole(x, weight, **place), padding=(0,) * n, **place), padding, shape
        )
    else:
        result = conv_input_grad(x, weight, shape=shape, padding=padding, **place)
    if bias is not None:
        result = result + B.reshape(bias, (1, bias.shape[0], *(1,) * n))
    return B.squeeze(result, 0) if unbatched else result


def whole(x, weight, stride, dilation, groups) -> tuple:
    """The spatial sizes of a transposed convolution without padding."""
    return tuple(
        (size - 1) * s + d * (k - 1) + 1 for size, s, d, k in zip(x.shape[2:], stride, dilation, weight.shape[2:])
    )


def cut(x, padding, shape):
    """The part of `shape` behind the padding; zeros where nothing was computed."""
    low = (0, 0, *(-p for p in padding))
    high = (0, 0, *(wanted + p - size for wanted, p, size in zip(shape, padding, x.shape[2:])))
    return B.pad(x, low, high)


@op(channels=True)
def conv_transpose1d(
    input,
    weight,
    bias=None,
    stride: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
    groups: int = 1,
    dilation: Sizes = 1,
):
    """The transpose of conv1d; weight: (C, O / groups, K)."""
    return convolve_transposed(
        "conv_transpose1d", 1, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


@op(channels=True)
def conv_transpose2d(
    input,
    weight,
    bias=None,
    stride: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
    groups: int = 1,
    dilation: Sizes = 1,
):
    """The transpose of conv2d; weight: (C, O / groups, KH, KW)."""
    return convolve_transposed(
        "conv_transpose2d", 2, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


@op(channels=True)
def conv_transpose3d(
    input,
    weight,
    bias=None,
    stride: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
    groups: int = 1,
    dilation: Sizes = 1,
):
    """The transpose of conv3d; weight: (C, O / groups, KD, KH, KW)."""
    return convolve_transposed(
        "conv_transpose3d", 3, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


@composite
def conv_tbc(input, weight, bias, pad=0):
    """1-d convolution of (time, batch, channels) with weight (K, C, O)."""
    result = conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad)
    return result.permute(2, 0, 1)
