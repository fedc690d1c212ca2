"""Normalisation: batch, layer, group, instance; lengths of vectors."""

from __future__ import annotations

from ..ir import build as B
from ..ir.sizes import hint, product
from .activation import FUNCTIONAL
from .checks import check_kinds
from .declare import FUNCTIONS, Number, composite, op
from .reduction import check_floating
from .vector_norm import norm_of, order_of
from .widths import wide_type


def per_channel(v, ndim: int):
    """A vector over channels (dim 1) in a shape that broadcasts against `ndim` dims."""
    return B.reshape(v, (1, v.shape[0], *(1,) * (ndim - 2)))


def batch_dims(x) -> tuple:
    return (0, *range(2, x.ndim))


def check_channels(name: str, x, **vectors) -> None:
    for what, v in vectors.items():
        if v is not None and (v.ndim != 1 or v.shape[0] != x.shape[1]):
            raise RuntimeError(
                f"{name}: {what} should contain {hint(x.shape[1])} elements not {hint(product(v.shape))} (input "
                f"{list(map(hint, x.shape))})"
            )


@op(public=False)
def batch_norm_eval(input, mean, var, weight=None, bias=None, eps: float = 1e-5):
    """(x - mean) / sqrt(var + eps) * weight + bias with given statistics."""
    check_channels("batch_norm", input, running_mean=mean, running_var=var, weight=weight, bias=bias)
    scale = B.rsqrt(var + eps)
    if weight is not None:
        scale = scale * weight
    shift = -mean * scale
    if bias is not None:
        shift = shift + bias
    wide = B.cast(input, wide_type(input.dtype))
    return B.cast(wide * per_channel(scale, input.ndim) + per_channel(shift, input.ndim), input.dtype)


@op(public=False, visible=3, channels=True)
def batch_norm_train(input, weight=None, bias=None, eps: float = 1e-5):
    """Normalised by the statistics of the batch; also returns mean and variance (and 1 / sqrt(variance + eps))."""
    check_channels("batch_norm", input, weight=weight, bias=bias)
    dims = batch_dims(input)
    wide = B.cast(input, wide_type(input.dtype))
    mean = B.mean(wide, dims)
    centred = wide - per_channel(mean, input.ndim)
    var = B.mean(centred * centred, dims)
    inverse = B.rsqrt(var + eps)
    scale = inverse if weight is None else inverse * weight
    result = centred * per_channel(scale, input.ndim)
    if bias is not None:
        result = result + per_channel(bias, input.ndim)
    return B.cast(result, input.dtype), mean, var, inverse


@batch_norm_train.vjp
def _(cotangents, outputs, input, weight=None, bias=None, eps=1e-5):
    _, mean, _, inverse = outputs
    dims, ndim, wide = batch_dims(input), input.ndim, wide_type(input.dtype)
    n = product(input.shape[d] for d in dims)
    if type(n) is int and n == 0:
        return B.zeros_like(input), B.zeros_like(mean), B.zeros_like(mean)
    centred = B.cast(input, wide) - per_channel(mean, ndim)
    through_statistics = statistics_cotangent(cotangents, centred, inverse, n)
    if cotangents[0] is None:
        return through_statistics, None, None
    g = B.cast(cotangents[0], wide)
    bias_cotangent = B.sum(g, dims)
    weight_cotangent = B.sum(g * centred, dims) * inverse
    scale = inverse if weight is None else inverse * weight
    along = weight_cotangent * inverse / n
    input_cotangent = per_channel(scale, ndim) * (
        g - per_channel(bias_cotangent / n, ndim) - centred * per_channel(along, ndim)
    )
    if through_statistics is not None:
        input_cotangent = input_cotangent + through_statistics
    return input_cotangent, weight_cotangent, bias_cotangent


def statistics_cotangent(cotangents, centred, inverse, n):
    """What reaches the input through the statistics, which a second derivative reads."""
    _, of_mean, of_var, of_inverse = cotangents
    if of_inverse is not None:
        through_inverse = -0.5 * of_inverse * (inverse * inverse * inverse)
        of_var = through_inverse if of_var is None else of_var + through_inverse
    parts = []
    if of_mean is not None:
        parts.append(B.expand(per_channel(of_mean / n, centred.ndim), centred.shape))
    if of_var is not None:
        parts.append(centred * per_channel(of_var * (2 / n), centred.ndim))
    return None if not parts else parts[0] if len(parts) == 1 else parts[0] + parts[1]


@op(public=False, mutates=("running_mean", "running_var"))
def update_statistics(running_mean, running_var, mean, var, momentum: float, correction: float):
    """Move running statistics towards those of a batch; `correction` makes the variance unbiased."""
    return (
        running_mean + momentum * (B.cast(mean, running_mean.dtype) - running_mean),
        running_var + momentum * (B.cast(var, running_var.dtype) * correction - running_var),
    )


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    """Normalise each channel (dim 1) over the batch and all other dims (Ioffe & Szegedy 2015).

    input: (N, C, ...); running_mean, running_var, weight, bias: (C,). In training the running statistics move by
    `momentum` towards those of the batch.
    """
    if input.ndim < 2:
        if input.numel() == 0:
            return input.clone()
        raise RuntimeError(f"batch_norm: expected at least 2 dimensions, got {input.ndim}D input")
    if not training:
        if running_mean is None or running_var is None:
            raise RuntimeError("Expected running_mean and running_var to be defined when training=False")
        return batch_norm_eval(input, running_mean, running_var, weight, bias, float(eps))
    count = input.numel() // input.shape[1] if input.shape[1] else 0
    if count == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.shape}")
    result, mean, var = batch_norm_train(input, weight, bias, float(eps))
    if running_mean is not None and count:
        update_statistics(running_mean, running_var, mean, var, float(momentum), count / (count - 1.0))
    return result


composite(batch_norm)


def native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled=False):
    """`nn.functional.batch_norm` with its arguments in another order."""
    return batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


FUNCTIONAL["batch_norm"], FUNCTIONS["batch_norm"] = batch_norm, native_batch_norm


def normalised_dims(x, normalized_shape) -> tuple:
    shape = tuple(normalized_shape)
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element"
        )
    if len(shape) > x.ndim or any(a != b for a, b in zip(x.shape[x.ndim - len(shape) :], shape)):
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*, {', '.join(map(str, shape))}], "
            f"but got input of "
            f"size{list(map(hint, x.shape))}"
        )
    return tuple(range(x.ndim - len(shape), x.ndim))


# -- rows: what layer, group and RMS normalisation have in common -------------------------------------
def row_length(x, dims):
    """The number of elements over dims, to divide by: 1 where there are none."""
    n = product(x.shape[d] for d in dims)
    return 1 if type(n) is int and n == 0 else n


def unit_rows(wide, dims, eps):
    """Rows of mean 0 and variance 1, the means, and 1 / sqrt(variance + eps)."""
    if any(type(wide.shape[d]) is int and wide.shape[d] == 0 for d in dims):  # no elements, and no mean of them
        nothing = B.zeros(tuple(1 if d in dims else n for d, n in enumerate(wide.shape)), wide.dtype)
        return wide, nothing, nothing
    mean = B.mean(wide, dims, True)
    centred = wide - mean
    inverse = B.rsqrt(B.mean(centred * centred, dims, True) + eps)
    return centred * inverse, mean, inverse


def rows_cotangent(g, unit, inverse, dims, of_mean, of_inverse):
    """What reaches the rows through their normalisation (g, may be None), and through statistics that a second
    derivative reads."""
    n = row_length(unit, dims)
    total = None
    if g is not None:
        total = inverse * (g - B.mean(g, dims, True) - unit * B.mean(g * unit, dims, True))
    if of_mean is not None:
        total = added(total, B.broadcast_to(of_mean / n, unit.shape))
    if of_inverse is not None:
        total = added(total, unit * (of_inverse * (inverse * inverse) * (-1 / n)))
    return total


def added(total, term):
    return term if total is None else total + term


@op(public=False, visible=1)
def layer_norm_of(input, normalized_shape: tuple, weight=None, bias=None, eps: float = 1e-5):
    """Normalised over the trailing dims (and the rows' means and 1 / sqrt(variance + eps))."""
    dims = normalised_dims(input, normalized_shape)
    check_rows("layer_norm", input, normalized_shape, weight=weight, bias=bias)
    result, mean, inverse = unit_rows(B.cast(input, wide_type(input.dtype)), dims, eps)
    if weight is not None:
        result = result * weight
    if bias is not None:
        result = result + bias
    return B.cast(result, input.dtype), mean, inverse


def check_rows(name: str, x, shape, **vectors) -> None:
    check_kinds("LayerNormKernelImpl", x.dtype, "f")
    for what, v in vectors.items():
        if v is not None and (v.ndim != len(shape) or any(n != m for n, m in zip(v.shape, shape))):
            raise RuntimeError(
                f"{name}: Expected {what} to be of same shape as normalized_shape, but got {what} of shape "
                f"{list(map(hint, v.shape))} and normalized_shape = {list(shape)}"
            )


@layer_norm_of.vjp
def _(cotangents, outputs, input, normalized_shape, weight=None, bias=None, eps=1e-5):
    _, mean, inverse = outputs
    dims = normalised_dims(input, normalized_shape)
    lead = tuple(d for d in range(input.ndim) if d not in dims)
    unit = (B.cast(input, mean.dtype) - mean) * inverse
    if cotangents[0] is None:
        return rows_cotangent(None, unit, inverse, dims, *cotangents[1:]), None, None
    g = B.cast(cotangents[0], mean.dtype)
    return (
        rows_cotangent(g if weight is None else g * weight, unit, inverse, dims, *cotangents[1:]),
        None if weight is None else B.sum(g * unit, lead) if lead else g * unit,
        None if bias is None else B.sum(g, lead) if lead else g,
    )


@composite
def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True):
    """Normalise over the trailing dims `normalized_shape` (Ba et al. 2016), then scale and shift.

    weight, bias: of shape `normalized_shape`, or None.
    """
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    return layer_norm_of(input, shape, weight, bias, float(eps))


def in_groups(x, groups: int):
    """(N, C, ...) as (N, groups, C / groups, the rest)."""
    n, c = x.shape[:2]
    return B.reshape(x, (n, groups, c // groups, product(x.shape[2:])))


def of_groups(v, groups: int):
    """A vector over channels in a shape that broadcasts against `in_groups`."""
    return B.reshape(v, (1, groups, v.shape[0] // groups, 1))


@op(public=False, visible=1, channels=True)
def group_norm_of(input, num_groups: int, weight=None, bias=None, eps: float = 1e-5):
    """Normalised by groups of channels (and the groups' means and 1 / sqrt(variance + eps))."""
    if input.ndim < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.ndim}")
    if num_groups <= 0 or input.shape[1] % num_groups != 0:
        raise RuntimeError(
            f"Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(map(hint, input.shape))} and num_groups={num_groups}"
        )
    check_kinds("GroupNormKernelImpl", input.dtype, "f")
    check_channels("group_norm", input, weight=weight, bias=bias)
    wide = B.cast(in_groups(input, num_groups), wide_type(input.dtype))
    result, mean, inverse = unit_rows(wide, (2, 3), eps)
    if weight is not None:
        result = result * of_groups(weight, num_groups)
    if bias is not None:
        result = result + of_groups(bias, num_groups)
    return B.cast(B.reshape(result, input.shape), input.dtype), mean, inverse


@group_norm_of.vjp
def _(cotangents, outputs, input, num_groups, weight=None, bias=None, eps=1e-5):
    """All sums follow from two per channel and sample, so that one pass over the data yields them."""
    _, mean, inverse = outputs
    unit = (B.cast(in_groups(input, num_groups), mean.dtype) - mean) * inverse
    found = rows_cotangent(None, unit, inverse, (2, 3), *cotangents[1:])
    if cotangents[0] is None:
        return B.reshape(found, input.shape), None, None
    g = B.cast(in_groups(cotangents[0], num_groups), mean.dtype)
    sums, products = B.sum(g, (3,), True), B.sum(g * unit, (3,), True)
    scaled, scale = g, None if weight is None else of_groups(weight, num_groups)
    of_bias, of_weight = sums, products
    if scale is not None:
        scaled, sums, products = g * scale, sums * scale, products * scale
    n = row_length(unit, (2, 3))
    level, slope = B.sum(sums, (2,), True) / n, B.sum(products, (2,), True) / n
    found = added(found, inverse * (scaled - level - unit * slope))
    return (
        B.reshape(found, input.shape),
        None if weight is None else B.reshape(B.sum(of_weight, (0, 3)), weight.shape),
        None if bias is None else B.reshape(B.sum(of_bias, (0, 3)), bias.shape),
    )


@composite
def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5, cudnn_enabled=True):
    """Normalise groups of channels (dim 1) of each sample (Wu & He 2018), then scale and shift channels.

    input: (N, C, ...); weight, bias: (C,) or None; C is a multiple of `num_groups`.
    """
    if input.ndim >= 2 and num_groups > 0 and input.numel() == num_groups:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.shape}")
    return group_norm_of(input, num_groups, weight, bias, float(eps))


@composite
def instance_norm(
    input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-5
):
    """Normalise each channel of each sample (Ulyanov et al. 2016)."""
    if not use_input_stats:
        return batch_norm_eval(input, running_mean, running_var, weight, bias, float(eps))
    n, c = input.shape[0], input.shape[1]
    if input.numel() == n * c:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.shape}")
    if running_mean is not None and input.numel():
        rows = input.detach().reshape(n, c, -1)
        mean, var = rows.mean(2).mean(0), rows.var(2).mean(0)
        update_statistics(running_mean, running_var, mean, var, float(momentum), 1.0)
    return group_norm_of(input, c, weight, bias, float(eps))


def native_instance_norm(
    input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled=False
):
    """`nn.functional.instance_norm` with its arguments in another order."""
    return instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


FUNCTIONAL["instance_norm"], FUNCTIONS["instance_norm"] = instance_norm, native_instance_norm


@op(public=False, visible=1)
def rms_norm_of(input, normalized_shape: tuple, weight=None, eps: Number = None):
    """Divided by the root mean square over the trailing dims (and 1 / that)."""
    dims = normalised_dims(input, normalized_shape)
    check_kinds("rms_norm", input.dtype, "fc")
    wide = B.cast(input, wide_type(input.dtype))
    if any(type(input.shape[d]) is int and input.shape[d] == 0 for d in dims):
        return input, B.zeros(tuple(1 if d in dims else n for d, n in enumerate(input.shape)), wide.dtype)
    eps = (2.0**-52 if wide.dtype.to_real().itemsize == 8 else 2.0**-23) if eps is None else eps
    inverse = B.rsqrt(B.mean(wide * wide, dims, True) + eps)
    result = wide * inverse
    return B.cast(result if weight is None else result * weight, input.dtype), inverse


@rms_norm_of.vjp
def _(cotangents, outputs, input, normalized_shape, weight=None, eps=None):
    inverse = outputs[1]
    dims = normalised_dims(input, normalized_shape)
    lead = tuple(d for d in range(input.ndim) if d not in dims)
    unit = B.cast(input, inverse.dtype) * inverse
    total = None
    if cotangents[1] is not None:
        n = row_length(unit, dims)
        total = B.conj(unit * (inverse * inverse)) * (cotangents[1] * (-1 / n))
    if cotangents[0] is None:
        return total, None
    g = B.cast(cotangents[0], inverse.dtype)
    scaled = g if weight is None else g * B.conj(weight)
    along = B.mean(scaled * B.conj(unit), dims, True)
    found = B.conj(inverse) * scaled - B.conj(inverse * unit) * along
    return added(total, found), None if weight is None else B.sum(g * B.conj(unit), lead) if lead else g * B.conj(unit)


@composite
def rms_norm(input, normalized_shape, weight=None, eps=None):
    """Divide by the root mean square over the trailing dims `normalized_shape` (Zhang & Sennrich 2019), then scale.

    `eps` is the machine epsilon of the type that the mean is computed in, unless given.
    """
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    if eps is None:
        return rms_norm_of(input, shape, weight)
    return rms_norm_of(input, shape, weight, float(eps))


@op(public=False, out=True)
def normalized(input, p: Number, dim: int | tuple, eps: float, order: Order):
    return input / B.maximum(norm_of(input, p, dim, True, None, order), eps)


@composite
def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """Divide by the p-norm along `dim` (or several), or by `eps` where that is larger."""
    check_floating("normalize", input)
    arguments = (input, float(p), tuple(dim) if isinstance(dim, list) else dim, float(eps), order_of(p))
    return normalized(*arguments) if out is None else normalized(*arguments, out=out)


@op(channels=True)
def local_response_norm(input, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0):
    """Divide by the response of neighbouring channels (Krizhevsky et al. 2012)."""
    if input.ndim < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {input.ndim} dimensions)")
    if size < 1:
        raise RuntimeError(f"local_response_norm: size must be greater than 0, got {size}")
    squares = input * input
    before, after = size // 2, (size - 1) // 2
    low = [before if d == 1 else 0 for d in range(input.ndim)]
    high = [after if d == 1 else 0 for d in range(input.ndim)]
    windows = B.unfold(B.pad(squares, low, high), 1, size, 1)
    return input / B.pow(B.mean(windows, (input.ndim,)) * alpha + k, beta)
