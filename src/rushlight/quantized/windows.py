"""Pooling, resampling and padding of quantized images: on the integers, with the quantizer of the input."""

from __future__ import annotations

from .. import ops
from ..core import engine
from ..core.engine import Tensor
from ..ir import dtypes
from ..ops.declare import composite
from . import kernels
from .copies import integer_of, require_per_tensor
from .dispatch import implements
from .functions import require_quantized
from .quantizers import quantizer_of, rewrap


def declare_max_pool(dims: int) -> None:
    name = f"max_pool{dims}d_with_indices"

    def max_pool(input: Tensor, *window, **options):
        require_per_tensor(f"max_pool{dims}d", input)
        values, places = ops.OPS[name](engine.integers_of(input), *window, **options)
        return rewrap(values, input), places

    implements(name)(max_pool)


def declare_pool_by_name(dims: int) -> None:
    def pool(input, kernel_size, stride=(), padding=0, dilation=1, ceil_mode: bool = False):
        require_quantized(f"quantized_max_pool{dims}d", input)
        return ops.FUNCTIONS[f"max_pool{dims}d"](input, kernel_size, stride or None, padding, dilation, ceil_mode)

    pool.__name__ = pool.__qualname__ = f"quantized_max_pool{dims}d"
    pool.__doc__ = f"The greatest number of each window of {dims} dims of a quantized tensor."
    composite(pool)


def differences(input: Tensor) -> Tensor:
    """How far the integers are from the zero point, as float32."""
    return kernels.dequantize_affine(engine.integers_of(input), 1.0, quantizer_of(input).zero_point)


def placed(means: Tensor, input: Tensor) -> Tensor:
    """Differences from the zero point as integers again."""
    integer = engine.integers_of(input).dtype
    return rewrap(kernels.quantize_affine(means, 1.0, quantizer_of(input).zero_point, integer), input)


def declare_on_differences(name: str, function) -> None:
    def pool(input: Tensor, *args, **options) -> Tensor:
        require_per_tensor(name, input)
        return placed(function(differences(input), *args, **options), input)

    implements(name)(pool)


for _dims in (1, 2, 3):
    declare_max_pool(_dims)
    declare_pool_by_name(_dims)
for _name in ("avg_pool1d", "avg_pool2d", "avg_pool3d"):
    declare_on_differences(_name, ops.FUNCTIONS[_name])
for _name in ("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"):
    declare_on_differences(_name, ops.FUNCTIONS[_name])


@implements("resampled")
def resampled(input: Tensor, size: tuple, scales: tuple, mode: str, align_corners: bool) -> Tensor:
    """Images of another size (`interpolate`), by nearest, nearest-exact or bilinear."""
    require_per_tensor("interpolate", input)
    integers = engine.integers_of(input)
    if mode.startswith("nearest"):
        return rewrap(ops.OPS["resampled"](integers, size, scales, mode, align_corners), input)
    if mode != "bilinear":
        refuse_resampling(mode)
    found = ops.OPS["resampled"](integers.to(dtypes.float32), size, scales, mode, align_corners)
    return placed(found - quantizer_of(input).zero_point, input)


@implements("antialiased")
def antialiased(input: Tensor, size: tuple, scales: tuple, mode: str, align_corners: bool) -> Tensor:
    """NotImplementedError: there is no quantized form."""
    refuse_resampling(mode + "_aa")


def refuse_resampling(mode: str):
    raise NotImplementedError(
        f"Could not run 'aten::upsample_{mode}' with arguments from the 'QuantizedCPU' backend: quantized images are "
        "resampled by nearest and bilinear. Use Tensor.dequantize() first."
    )


@implements("constant_pad")
def constant_pad(input: Tensor, pad: tuple, value=0.0) -> Tensor:
    """A margin of what is nearest to `value`."""
    require_per_tensor("pad", input)
    return rewrap(ops.OPS["constant_pad"](engine.integers_of(input), pad, integer_of(input, value)), input)


@implements("edge_pad")
def edge_pad(input: Tensor, pad: tuple, mode: str) -> Tensor:
    """A margin that repeats the image."""
    require_per_tensor("pad", input)
    return rewrap(ops.OPS["edge_pad"](engine.integers_of(input), pad, mode), input)
