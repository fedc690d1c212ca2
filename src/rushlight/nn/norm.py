"""Normalization: over the batch, the features, groups of channels or single channels."""

from __future__ import annotations

from .. import ops
from ..core import Tensor
from ..ir.dtypes import int64
from ..ops.notices import warn_user
from . import functional as F
from . import init
from .family import describe_member
from .linear import parameter_or_none
from .module import Module


class _AffineNorm(Module):
    """A norm with an optional scale `weight` and shift `bias`."""

    def _add_affine(self, shape: tuple[int, ...], weight: bool, bias: bool, device, dtype) -> None:
        self.register_parameter("weight", parameter_or_none(weight, shape, device, dtype))
        self.register_parameter("bias", parameter_or_none(weight and bias, shape, device, dtype))

    def reset_parameters(self) -> None:
        """Scale 1, shift 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)


class _RunningNorm(_AffineNorm):
    """What batch and instance norms share: scale, shift, and running mean and variance."""

    _version = 2  # 1 had no num_batches_tracked
    dims: int

    def __init__(self, num_features, eps, momentum, affine, track_running_stats, device, dtype, bias):
        super().__init__()
        factory = {"device": device, "dtype": dtype}
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self._add_affine((num_features,), affine, bias, device, dtype)
        tracked = track_running_stats
        self.register_buffer("running_mean", ops.zeros(num_features, **factory) if tracked else None)
        self.register_buffer("running_var", ops.ones(num_features, **factory) if tracked else None)
        self.register_buffer("num_batches_tracked", ops.tensor(0, dtype=int64, device=device) if tracked else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forgets the statistics seen so far: mean 0, variance 1."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Scale 1, shift 0, no statistics."""
        self.reset_running_stats()
        super().reset_parameters()

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim not in self._ranks:
            expected = " or ".join(f"{rank}D" for rank in self._ranks)
            raise ValueError(f"{type(self).__name__}: expected {expected} input (got {input.ndim}D input)")

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest) -> None:
        key = prefix + "num_batches_tracked"
        if self._missed_batches(local_metadata) and self.track_running_stats and key not in state_dict:
            counted = self.num_batches_tracked
            state_dict[key] = counted if counted is not None else ops.tensor(0, dtype=int64)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    @staticmethod
    def _missed_batches(local_metadata: dict) -> bool:
        return local_metadata.get("version") is None or local_metadata["version"] < 2


class _BatchNorm(_RunningNorm):
    """Batch normalization over (N, C, {sizes}): each channel gets mean 0 and variance 1, then scale and shift.

    y = (x - E[x]) / sqrt(Var[x] + eps) · weight + bias (Ioffe & Szegedy, 2015). In training the batch's statistics
    are used and the running ones updated, running = (1 - momentum)·running + momentum·batch (momentum None:
    a plain average); in evaluation the running ones are used, if tracked. ValueError for inputs of other rank.
    """

    def __init_subclass__(cls) -> None:
        describe_member(cls, _BatchNorm)

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, device=None, dtype=None, *, bias: bool = True,
    ):  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias)

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim not in self._ranks:
            self._check_input_dim(input)
        mean, var = self.running_mean, self.running_var
        training = self.training
        factor = 0.0 if self.momentum is None else self.momentum
        if training and self.track_running_stats and (batches := self.num_batches_tracked) is not None:
            batches.add_(1)
            if self.momentum is None:
                factor = 1.0 / batches.item()
        if training and not self.track_running_stats:
            mean = var = None
        return F.batch_norm(
            input, mean, var, self.weight, self.bias, training or (mean is None and var is None), factor, self.eps
        )


class BatchNorm1d(_BatchNorm):
    """Batch normalization over (N, C) or (N, C, L); see `BatchNorm2d` for the formula."""

    dims, _ranks = 1, (2, 3)


class BatchNorm2d(_BatchNorm):
    dims, _ranks = 2, (4,)


class BatchNorm3d(_BatchNorm):
    dims, _ranks = 3, (5,)


class SyncBatchNorm(_BatchNorm):
    """Batch normalization for processes that train together; in a single process the same as `BatchNorm`."""

    dims, _ranks = 0, tuple(range(2, 8))

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True,
                 process_group=None, device=None, dtype=None, *, bias=True):  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias)
        self.process_group = process_group


class _InstanceNorm(_RunningNorm):
    """Instance normalization over (N, C, {sizes}) or (C, {sizes}): each channel of each sample gets mean 0, variance 1.

    y = (x - E[x]) / sqrt(Var[x] + eps) · weight + bias (Ulyanov et al., 2016); scale, shift and running
    statistics are off unless asked for.
    """

    def __init_subclass__(cls) -> None:
        describe_member(cls, _InstanceNorm)

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = False,
        track_running_stats: bool = False, device=None, dtype=None, *, bias: bool = True,
    ):  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias)

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        batched = input if input.ndim == self.dims + 2 else input.unsqueeze(0)
        if batched.shape[1] != self.num_features and self.affine:
            raise ValueError(
                f"expected input's size at dim={input.ndim - self.dims - 1} to match num_features "
                f"({self.num_features}), but got: {batched.shape[1]}."
            )
        if batched.shape[1] != self.num_features:
            warn_user(
                f"input's size at dim={input.ndim - self.dims - 1} does not match num_features. You can silence this "
                "warning by not passing in num_features, which is not used because affine=False"
            )
        result = F.instance_norm(
            batched, self.running_mean, self.running_var, self.weight, self.bias,
            self.training or not self.track_running_stats, 0.0 if self.momentum is None else self.momentum, self.eps,
        )  # fmt: skip
        return result if batched is input else result.squeeze(0)


class InstanceNorm1d(_InstanceNorm):
    dims, _ranks = 1, (2, 3)


class InstanceNorm2d(_InstanceNorm):
    dims, _ranks = 2, (3, 4)


class InstanceNorm3d(_InstanceNorm):
    dims, _ranks = 3, (4, 5)


class _ShapeNorm(_AffineNorm):
    """What layer and RMS norms share: the normalized shape."""

    def __init__(self, normalized_shape, eps, elementwise_affine, bias, device, dtype):
        super().__init__()
        single = not isinstance(normalized_shape, (tuple, list))
        self.normalized_shape = (normalized_shape,) if single else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self._add_affine(self.normalized_shape, elementwise_affine, bias, device, dtype)
        self.reset_parameters()

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class LayerNorm(_ShapeNorm):
    """Normalizes over the last dims, whose sizes are `normalized_shape`.

    y = (x - E[x]) / sqrt(Var[x] + eps) · weight + bias (Ba et al., 2016), with the biased variance.
    """

    def __init__(self, normalized_shape, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True,
                 device=None, dtype=None):  # fmt: skip
        super().__init__(normalized_shape, eps, elementwise_affine, bias, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, bias={self.bias is not None}"


class RMSNorm(_ShapeNorm):
    """Divides by the root mean square over the last dims: y = x / sqrt(E[x²] + eps) · weight (Zhang & Sennrich, 2019).

    `eps` None means the machine epsilon of the input's dtype.
    """

    def __init__(self, normalized_shape, eps: float | None = None, elementwise_affine: bool = True, device=None,
                 dtype=None, *, bias: bool = True):  # fmt: skip
        super().__init__(normalized_shape, eps, elementwise_affine, False, device, dtype)
        del self._parameters["bias"]

    def forward(self, input: Tensor) -> Tensor:
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)


class GroupNorm(_AffineNorm):
    """Normalizes over groups of channels of (N, C, *): each group of each sample gets mean 0 and variance 1.

    y = (x - E[x]) / sqrt(Var[x] + eps) · weight + bias (Wu & He, 2018). ValueError unless `num_groups` divides
    `num_channels`.
    """

    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, device=None,
                 dtype=None, *, bias: bool = True):  # fmt: skip
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self._add_affine((num_channels,), affine, bias, device, dtype)
        self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        shown = f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}"
        return f"{shown}, bias={self.bias is not None}"


class LocalResponseNorm(Module):
    """y = x / (k + alpha/size · Σ x²)^beta, summed over `size` neighbouring channels (Krizhevsky et al., 2012)."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0):
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k
        if size < 1:
            raise ValueError(f"LocalResponseNorm: size must be positive, got {size}")

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(Module):
    """`LocalResponseNorm` of images (N, C, H, W); an even `size` looks at one channel less, but divides by `size`."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1):
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.ndim}D instead.")
        window = (self.size - 1) // 2 * 2 + 1
        return F.local_response_norm(input, window, self.alpha * window / self.size, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
