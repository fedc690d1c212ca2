"""Convolutions and transposed convolutions in one, two and three dimensions."""

from __future__ import annotations

from .. import ops
from ..core import Tensor
from . import functional as F
from .family import describe_member, per_dim
from .linear import parameter_or_none, reset_weight_and_bias
from .module import Module
from .parameter import Parameter

PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _Conv(Module):
    """What all convolutions share: checked options, weight and bias, printing."""

    dims: int
    transposed = False

    def __init__(
        self, in_channels, out_channels, kernel_size, stride, padding, output_padding, dilation, groups, bias,
        padding_mode, device, dtype,
    ):  # fmt: skip
        super().__init__()
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride = per_dim(kernel_size, self.dims), per_dim(stride, self.dims)
        self.padding = padding if isinstance(padding, str) else per_dim(padding, self.dims)
        self.dilation = per_dim(dilation, self.dims)
        self.output_padding, self.padding_mode = per_dim(output_padding, self.dims), padding_mode
        self._check()
        first, second = (in_channels, out_channels) if self.transposed else (out_channels, in_channels)
        shape = (first, second // groups, *self.kernel_size)
        self.weight = Parameter(ops.empty(shape, device=device, dtype=dtype))
        self.register_parameter("bias", parameter_or_none(bias, (out_channels,), device, dtype))
        self.reset_parameters()

    def _check(self) -> None:
        if self.groups <= 0:
            raise ValueError("groups must be a positive integer")
        if self.in_channels % self.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if self.out_channels % self.groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(self.padding, str):
            if self.padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {self.padding!r}, should be one of {{'same', 'valid'}}")
            if self.padding == "same" and any(s != 1 for s in self.stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if self.padding_mode not in PADDING_MODES:
            raise ValueError(
                f"padding_mode must be one of {set(PADDING_MODES)}, but got padding_mode='{self.padding_mode}'"
            )

    def reset_parameters(self) -> None:
        """Draws new initial values: uniform in ±1/sqrt(fan_in)."""
        reset_weight_and_bias(self.weight, self.bias)

    def extra_repr(self) -> str:
        parts = [f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"]
        for name, usual in (("padding", 0), ("dilation", 1), ("output_padding", 0)):
            if getattr(self, name) != (usual,) * self.dims:
                parts.append(f"{name}={getattr(self, name)}")
        if self.groups != 1:
            parts.append(f"groups={self.groups}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)


class _Convolution(_Conv):
    """{dims}-d convolution (cross-correlation) over an input of shape (N, in_channels, {sizes}) or without N.

    Each output size is floor((size + 2·padding - dilation·(kernel_size - 1) - 1) / stride) + 1. `padding` may be
    "valid" or "same" (stride 1), `padding_mode` one of zeros, reflect, replicate, circular. `weight` is
    (out_channels, in_channels / groups, *kernel_size). ValueError for options that do not fit together.
    """

    def __init_subclass__(cls) -> None:
        describe_member(cls, _Convolution)

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size, stride=1, padding=0, dilation=1, groups: int = 1,
        bias: bool = True, padding_mode: str = "zeros", device=None, dtype=None,
    ):  # fmt: skip
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, 0, dilation, groups, bias, padding_mode, device,
            dtype,
        )  # fmt: skip
        self._reversed_padding_repeated_twice = self._padding_of_input()

    def _padding_of_input(self) -> list[int]:
        """What `F.pad` takes to pad the input: (before, after) of each dim, the last dim first."""
        pairs = []
        for i in reversed(range(self.dims)):
            if self.padding == "same":
                total = self.dilation[i] * (self.kernel_size[i] - 1)
                pairs += [total // 2, total - total // 2]
            else:
                pairs += [0 if self.padding == "valid" else self.padding[i]] * 2
        return pairs

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = (0,) * self.dims
        return getattr(F, self._function)(input, weight, bias, self.stride, padding, self.dilation, self.groups)


class Conv1d(_Convolution):
    dims = 1
    _function = "conv1d"


class Conv2d(_Convolution):
    dims = 2
    _function = "conv2d"


class Conv3d(_Convolution):
    dims = 3
    _function = "conv3d"


class _TransposedConvolution(_Conv):
    """{dims}-d transposed convolution: the gradient of a convolution with respect to its input.

    Input (N, in_channels, {sizes}) or without N. Each output size is
    (size - 1)·stride - 2·padding + dilation·(kernel_size - 1) + output_padding + 1; `output_size` in the call chooses
    `output_padding`. `weight` is (in_channels, out_channels / groups, *kernel_size).
    """

    transposed = True

    def __init_subclass__(cls) -> None:
        describe_member(cls, _TransposedConvolution)

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size, stride=1, padding=0, output_padding=0,
        groups: int = 1, bias: bool = True, dilation=1, padding_mode: str = "zeros", device=None, dtype=None,
    ):  # fmt: skip
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, output_padding, dilation, groups, bias,
            padding_mode, device, dtype,
        )  # fmt: skip

    def forward(self, input: Tensor, output_size: list[int] | None = None) -> Tensor:
        output_padding = self.output_padding if output_size is None else self._output_padding(input, output_size)
        return getattr(F, self._function)(
            input, self.weight, self.bias, self.stride, self.padding, output_padding, self.groups, self.dilation
        )

    def _output_padding(self, input: Tensor, output_size: list[int]) -> tuple[int, ...]:
        """The padding that yields `output_size`: each size has stride many reachable values."""
        spatial = tuple(input.shape[-self.dims :])
        wanted = tuple(output_size)
        if len(wanted) == input.ndim:
            wanted = wanted[-self.dims :]
        if len(wanted) != self.dims:
            raise ValueError(
                f"{type(self).__name__}: for {input.ndim}D input, output_size must have {self.dims} or {input.ndim} "
                f"elements (got {len(output_size)})"
            )
        least = [
            (spatial[i] - 1) * self.stride[i] - 2 * self.padding[i] + self.dilation[i] * (self.kernel_size[i] - 1) + 1
            for i in range(self.dims)
        ]
        most = [least[i] + self.stride[i] - 1 for i in range(self.dims)]
        if any(not low <= size <= high for low, size, high in zip(least, wanted, most)):
            raise ValueError(
                f"requested an output size of {list(output_size)}, but valid sizes range from {least} to {most} "
                f"(for an input of {list(spatial)})"
            )
        return tuple(size - low for size, low in zip(wanted, least))


class ConvTranspose1d(_TransposedConvolution):
    dims = 1
    _function = "conv_transpose1d"


class ConvTranspose2d(_TransposedConvolution):
    dims = 2
    _function = "conv_transpose2d"


class ConvTranspose3d(_TransposedConvolution):
    dims = 3
    _function = "conv_transpose3d"
