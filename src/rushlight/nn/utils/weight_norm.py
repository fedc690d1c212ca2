"""Weight normalisation by a hook before the module's call; `parametrizations.weight_norm` is its successor."""

from __future__ import annotations

import warnings

from ... import ops
from ...core import Tensor
from ..parameter import Parameter, is_lazy


def normalized(v: Tensor, g: Tensor, dim: int | None) -> Tensor:
    """g · v / ‖v‖, the norm taken over all dims but `dim` (None or -1: over all)."""
    return v * (g / norm_of(v, dim))


def norm_of(v: Tensor, dim: int | None) -> Tensor:
    """‖v‖ over all dims but `dim` (None or -1: over all)."""
    return ops.norm_except_dim(v, 2, -1 if dim is None else dim)


class WeightNorm:
    """The hook: computes the weight anew from its direction and size before each call."""

    def __init__(self, name: str, dim: int | None):
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module) -> Tensor:
        """The weight as it follows from `<name>_g` and `<name>_v`."""
        return normalized(getattr(module, self.name + "_v"), getattr(module, self.name + "_g"), self.dim)

    @staticmethod
    def apply(module, name: str, dim: int | None) -> WeightNorm:
        """Splits a parameter in size and direction, and registers the hook."""
        if any(isinstance(hook, WeightNorm) and hook.name == name for hook in module._forward_pre_hooks.values()):
            raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
        hook, weight = WeightNorm(name, dim), getattr(module, name)
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `WeightNorm` can't have uninitialized parameters. Make sure to run the dummy "
                "forward before applying weight normalization"
            )
        del module._parameters[name]
        module.register_parameter(name + "_g", Parameter(norm_of(weight, hook.dim).data))
        module.register_parameter(name + "_v", Parameter(weight.data))
        setattr(module, name, hook.compute_weight(module))
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module) -> None:
        """Makes the weight a parameter again."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"], module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module, inputs) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module, name: str = "weight", dim: int | None = 0):
    """Trains the size `<name>_g` and the direction `<name>_v` of a parameter apart: w = g · v / ‖v‖.

    The norm is taken over all dims but `dim`; with None over all of them (Salimans & Kingma, 2016). Returns the module.
    Deprecated in favour of `parametrizations.weight_norm`.

    >>> layer = nn.utils.weight_norm(nn.Linear(3, 4))
    >>> sorted(name for name, _ in layer.named_parameters())
    ['bias', 'weight_g', 'weight_v']
    """
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module, name: str = "weight"):
    """Undoes `weight_norm`: the weight as it is becomes an ordinary parameter. ValueError if there is none."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
