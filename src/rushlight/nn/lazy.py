"""Layers that learn the number of their input features from the first input (or from a loaded state)."""

from __future__ import annotations

from .. import ops
from ..core import Tensor
from ..ir.dtypes import int64
from .conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .linear import Linear
from .norm import BatchNorm1d, BatchNorm2d, BatchNorm3d, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from .parameter import UninitializedBuffer, UninitializedParameter, is_lazy


class LazyModuleMixin:
    """What lazy layers share. They take the options of the layer they become, without the number of input features.

    Until the first call their parameters have no shape: put them on a device and give them a dtype first, create the
    optimizer after a first call.
    """

    cls_to_become: type

    def _start(self) -> None:
        self._lazy_hooks = (
            self.register_forward_pre_hook(_infer, with_kwargs=True),
            self.register_load_state_dict_pre_hook(_materialize_as_saved),
        )

    def has_uninitialized_params(self) -> bool:
        """Whether some parameter or buffer has no shape yet."""
        return any(is_lazy(t) for t in (*self._parameters.values(), *self._buffers.values()))

    def initialize_parameters(self, input: Tensor) -> None:
        """Gives all parameters the shapes that this input needs, and their initial values."""
        if self.has_uninitialized_params():
            self._set_features(self._features(input))
            for name, shape in self._lazy_shapes().items():
                getattr(self, name).materialize(shape)
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws initial values, once there is something to fill."""
        if "_lazy_hooks" in self.__dict__ and not self.has_uninitialized_params():
            super().reset_parameters()

    def _save_to_state_dict(self, destination: dict, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        for name, tensor in self._own_state().items():
            if is_lazy(tensor):  # detaching would make a plain tensor of shape (0,) of it
                destination[prefix + name] = tensor

    def _become(self) -> None:
        for handle in self._lazy_hooks:
            handle.remove()
        del self._lazy_hooks
        self.__class__ = self.cls_to_become


def _infer(module, args: tuple, kwargs: dict) -> None:
    module.initialize_parameters(*args, **kwargs)
    module._become()


def _materialize_as_saved(module, state_dict, prefix: str, *_) -> None:
    """Before loading: the shapes of what is loaded."""
    for name, tensor in module._own_state().items():
        saved = state_dict.get(prefix + name)
        if is_lazy(tensor) and saved is not None and not is_lazy(saved):
            tensor.materialize(tuple(saved.shape))
    if not module.has_uninitialized_params():
        module._set_features(module._features_of_weights())


class LazyLinear(LazyModuleMixin, Linear):
    """`Linear` with in_features from the last dim of the first input."""

    cls_to_become = Linear

    def __init__(self, out_features: int, bias: bool = True, device=None, dtype=None):
        super().__init__(0, 0, False, device, dtype)
        self.out_features = out_features
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)
        self._start()

    def _features(self, input: Tensor) -> int:
        return input.shape[-1]

    def _features_of_weights(self) -> int:
        return self.weight.shape[1]

    def _set_features(self, features: int) -> None:
        self.in_features = features

    def _lazy_shapes(self) -> dict:
        bias = {} if self.bias is None else {"bias": (self.out_features,)}
        return {"weight": (self.out_features, self.in_features), **bias}


class _LazyConv(LazyModuleMixin):
    """in_channels from dim 1 of the first input (dim 0 without a batch)."""

    def __init__(self, out_channels: int, kernel_size, *args, bias: bool = True, device=None, dtype=None, **kwargs):
        if len(args) > 4:  # by place, bias comes fifth
            bias, args = args[4], (*args[:4], False, *args[5:])
        else:
            kwargs["bias"] = False
        super().__init__(0, 0, kernel_size, *args, device=device, dtype=dtype, **kwargs)
        self.out_channels = out_channels
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)
        self._start()

    def _features(self, input: Tensor) -> int:
        if input.ndim not in (self.dims + 1, self.dims + 2):
            raise RuntimeError(
                f"Expected {self.dims + 1}D (unbatched) or {self.dims + 2}D (batched) input to {type(self).__name__}, "
                f"but got input of size: {list(input.shape)}"
            )
        features = input.shape[-self.dims - 1]
        if features % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        return features

    def _features_of_weights(self) -> int:
        return self.weight.shape[0] if self.transposed else self.weight.shape[1] * self.groups

    def _set_features(self, features: int) -> None:
        self.in_channels = features

    def _lazy_shapes(self) -> dict:
        channels = (self.in_channels, self.out_channels)
        first, second = channels if self.transposed else channels[::-1]
        bias = {} if self.bias is None else {"bias": (self.out_channels,)}
        return {"weight": (first, second // self.groups, *self.kernel_size), **bias}


class _LazyNorm(LazyModuleMixin):
    """num_features from dim 1 of the first input."""

    def __init__(self, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool | None = None,
                 track_running_stats: bool | None = None, device=None, dtype=None, *, bias: bool = True):  # fmt: skip
        usual = self._usually_on
        super().__init__(0, eps, momentum, False, False, device, dtype)
        self.affine = usual if affine is None else affine
        self.track_running_stats = usual if track_running_stats is None else track_running_stats
        if self.affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                self.bias = UninitializedParameter(device=device, dtype=dtype)
        if self.track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = ops.tensor(0, dtype=int64, device=device)
        self._start()

    def reset_running_stats(self) -> None:
        """Forgets the statistics, once there are some."""
        if "_lazy_hooks" in self.__dict__ and not self.has_uninitialized_params():
            super().reset_running_stats()

    def _features(self, input: Tensor) -> int:
        return input.shape[1]

    def _features_of_weights(self) -> int:
        held = (self.weight, self.running_mean)
        return next((tensor.shape[0] for tensor in held if tensor is not None), self.num_features)

    def _set_features(self, features: int) -> None:
        self.num_features = features

    def _lazy_shapes(self) -> dict:
        names = ("weight", "bias", "running_mean", "running_var")
        return {name: (self.num_features,) for name in names if getattr(self, name) is not None}


class LazyConv1d(_LazyConv, Conv1d):
    """`Conv1d` with in_channels from its first input."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """`Conv2d` with in_channels from its first input."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """`Conv3d` with in_channels from its first input."""

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConv, ConvTranspose1d):
    """`ConvTranspose1d` with in_channels from its first input."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConv, ConvTranspose2d):
    """`ConvTranspose2d` with in_channels from its first input."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConv, ConvTranspose3d):
    """`ConvTranspose3d` with in_channels from its first input."""

    cls_to_become = ConvTranspose3d


class LazyBatchNorm1d(_LazyNorm, BatchNorm1d):
    """`BatchNorm1d` with num_features from its first input."""

    cls_to_become, _usually_on = BatchNorm1d, True


class LazyBatchNorm2d(_LazyNorm, BatchNorm2d):
    """`BatchNorm2d` with num_features from its first input."""

    cls_to_become, _usually_on = BatchNorm2d, True


class LazyBatchNorm3d(_LazyNorm, BatchNorm3d):
    """`BatchNorm3d` with num_features from its first input."""

    cls_to_become, _usually_on = BatchNorm3d, True


class LazyInstanceNorm1d(_LazyNorm, InstanceNorm1d):
    """`InstanceNorm1d` with num_features from its first input."""

    cls_to_become, _usually_on = InstanceNorm1d, False


class LazyInstanceNorm2d(_LazyNorm, InstanceNorm2d):
    """`InstanceNorm2d` with num_features from its first input."""

    cls_to_become, _usually_on = InstanceNorm2d, False


class LazyInstanceNorm3d(_LazyNorm, InstanceNorm3d):
    """`InstanceNorm3d` with num_features from its first input."""

    cls_to_become, _usually_on = InstanceNorm3d, False
