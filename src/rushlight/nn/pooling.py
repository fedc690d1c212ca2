"""Pooling: maxima and means over windows."""

from __future__ import annotations

from ..core import Tensor
from . import functional as F
from .family import describe_member, per_dim
from .function_module import REQUIRED, FunctionModule
from .module import Module


class _Pool(FunctionModule):
    """Without `stride` the windows tile the input."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if "stride" in self.options and self.stride is None:
            self.stride = self.kernel_size


class _MaxPool(_Pool):
    """The maximum of each window of an input (N, C, {sizes}) or (C, {sizes}).

    Each output size is floor((size + 2·padding - dilation·(kernel_size - 1) - 1) / stride) + 1 (ceil with `ceil_mode`;
    windows must start inside). With `return_indices` also the flat positions, for `MaxUnpool{dims}d`.
    """

    options = {
        "kernel_size": REQUIRED, "stride": None, "padding": 0, "dilation": 1, "return_indices": False,
        "ceil_mode": False,
    }  # fmt: skip
    passed = ("kernel_size", "stride", "padding", "dilation", "ceil_mode", "return_indices")
    shown = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        describe_member(cls, _MaxPool)


class MaxPool1d(_MaxPool):
    dims, function = 1, "max_pool1d"


class MaxPool2d(_MaxPool):
    dims, function = 2, "max_pool2d"


class MaxPool3d(_MaxPool):
    dims, function = 3, "max_pool3d"


class _MaxUnpool(Module):
    """Puts pooled values back at the positions `indices`, 0 elsewhere: the partial inverse of `MaxPool{dims}d`.

    Input and indices (N, C, {sizes}) or (C, {sizes}); `output_size` chooses among the sizes that pool to the input's.
    """

    def __init_subclass__(cls) -> None:
        describe_member(cls, _MaxUnpool)

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self.kernel_size = per_dim(kernel_size, self.dims)
        self.stride = self.kernel_size if stride is None else per_dim(stride, self.dims)
        self.padding = per_dim(padding, self.dims)

    def forward(self, input: Tensor, indices: Tensor, output_size: list[int] | None = None) -> Tensor:
        unpool = getattr(F, self.function)
        return unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool):
    dims, function = 1, "max_unpool1d"


class MaxUnpool2d(_MaxUnpool):
    dims, function = 2, "max_unpool2d"


class MaxUnpool3d(_MaxUnpool):
    dims, function = 3, "max_unpool3d"


class _AvgPool(_Pool):
    """The mean of each window of an input (N, C, {sizes}) or (C, {sizes}).

    `count_include_pad` counts padding as zeros; `divisor_override` replaces the number of elements.
    """

    options = {
        "kernel_size": REQUIRED, "stride": None, "padding": 0, "ceil_mode": False, "count_include_pad": True,
        "divisor_override": None,
    }  # fmt: skip
    shown = ("kernel_size", "stride", "padding")

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        describe_member(cls, _AvgPool)


class AvgPool1d(_AvgPool):
    """The mean of each window of an input (N, C, W) or (C, W). `count_include_pad` counts padding as zeros."""

    dims, function = 1, "avg_pool1d"
    options = {"kernel_size": REQUIRED, "stride": None, "padding": 0, "ceil_mode": False, "count_include_pad": True}

    def check(self) -> None:
        for name in ("kernel_size", "padding"):
            setattr(self, name, per_dim(getattr(self, name), 1))
        self.stride = self.kernel_size if self.stride is None else per_dim(self.stride, 1)


class AvgPool2d(_AvgPool):
    dims, function = 2, "avg_pool2d"


class AvgPool3d(_AvgPool):
    dims, function = 3, "avg_pool3d"


class _LPPool(FunctionModule):
    """(Σ xᵖ)^(1/p) over each window, p = `norm_type`; input (N, C, {sizes}) or (C, {sizes})."""

    options = {"norm_type": REQUIRED, "kernel_size": REQUIRED, "stride": None, "ceil_mode": False}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        describe_member(cls, _LPPool)


class LPPool1d(_LPPool):
    dims, function = 1, "lp_pool1d"


class LPPool2d(_LPPool):
    dims, function = 2, "lp_pool2d"


class LPPool3d(_LPPool):
    dims, function = 3, "lp_pool3d"


class _AdaptiveAvgPool(FunctionModule):
    """The mean over windows chosen so that the output has `output_size` (None: as the input) in {sizes}."""

    options = {"output_size": REQUIRED}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        describe_member(cls, _AdaptiveAvgPool)


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    dims, function = 1, "adaptive_avg_pool1d"


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    dims, function = 2, "adaptive_avg_pool2d"


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    dims, function = 3, "adaptive_avg_pool3d"


class _AdaptiveMaxPool(FunctionModule):
    """The maximum over windows chosen so that the output has `output_size` (None: as the input) in {sizes}."""

    options = {"output_size": REQUIRED, "return_indices": False}
    shown = ("output_size",)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        describe_member(cls, _AdaptiveMaxPool)


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    dims, function = 1, "adaptive_max_pool1d"


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    dims, function = 2, "adaptive_max_pool2d"


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    dims, function = 3, "adaptive_max_pool3d"


class _FractionalMaxPool(Module):
    """Maxima over windows at random positions, for output sizes between the usual ones (Graham, 2014).

    Give `output_size` or `output_ratio` (each in (0, 1)), not both.
    """

    def __init_subclass__(cls) -> None:
        describe_member(cls, _FractionalMaxPool)

    def __init__(self, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        super().__init__()
        name = type(self).__name__
        self.kernel_size = per_dim(kernel_size, self.dims)
        self.output_size = None if output_size is None else per_dim(output_size, self.dims)
        self.output_ratio = None if output_ratio is None else per_dim(output_ratio, self.dims)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        if (output_size is None) == (output_ratio is None):
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio, not both")
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor):
        pool = getattr(F, self.function)
        return pool(
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples
        )


class FractionalMaxPool2d(_FractionalMaxPool):
    dims, function = 2, "fractional_max_pool2d"


class FractionalMaxPool3d(_FractionalMaxPool):
    dims, function = 3, "fractional_max_pool3d"
