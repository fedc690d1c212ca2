"""Spectral normalisation by a hook before the module's call; `parametrizations.spectral_norm` is its successor."""

from __future__ import annotations

from ... import linalg, ops
from ...autograd import no_grad
from ...core import Tensor
from ..parameter import Parameter, is_lazy

VERSION = 1  # of what is saved: 1 keeps the vector v, older files lack it


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """The weight with `dim` first and all other dims joined."""
    if dim != 0:
        weight = weight.permute(dim, *[d for d in range(weight.ndim) if d != dim])
    return weight.reshape(weight.shape[0], -1)


def normalize(vector: Tensor, eps: float) -> Tensor:
    """The vector over its norm."""
    return ops.normalize(vector, dim=0, eps=eps)


def usual_dim(module) -> int:
    """Where a module's weight has its outputs."""
    from ..conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d

    return 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0


class SpectralNorm:
    """The hook: divides the weight by its largest singular value, which power iterations estimate."""

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12):
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.name, self.n_power_iterations, self.dim, self.eps = name, n_power_iterations, dim, eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """The weight as a matrix with one row for each output."""
        return as_matrix(weight, self.dim)

    def compute_weight(self, module, do_power_iteration: bool) -> Tensor:
        """The normalised weight; power iterations change the vectors u and v in place."""
        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(normalize(ops.mv(matrix.t(), u), self.eps))
                    u.copy_(normalize(ops.mv(matrix, v), self.eps))
                u, v = u.clone(), v.clone()  # the next call writes into the buffers
        return weight / ops.dot(u, ops.mv(matrix, v))

    def remove(self, module) -> None:
        """Makes the weight as it is a parameter again."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        delattr(module, self.name)
        for name in ("_u", "_v", "_orig"):
            delattr(module, self.name + name)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module, inputs) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    @staticmethod
    def apply(module, name: str, n_power_iterations: int, dim: int, eps: float) -> SpectralNorm:
        """Keeps the parameter as `<name>_orig` beside two buffers, and registers the hooks."""
        if any(isinstance(hook, SpectralNorm) and hook.name == name for hook in module._forward_pre_hooks.values()):
            raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        hook, weight = SpectralNorm(name, n_power_iterations, dim, eps), module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `SpectralNorm` can't have uninitialized parameters. Make sure to run the dummy "
                "forward before applying spectral normalization"
            )
        with no_grad():
            height, width = hook.reshape_weight_to_matrix(weight).shape
            u = normalize(weight.new_empty(height).normal_(0, 1), eps)
            v = normalize(weight.new_empty(width).normal_(0, 1), eps)
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.data)  # in place already for those who look before the first call
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(hook)
        module._register_state_dict_hook(SpectralNormStateDictHook(hook))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(hook))
        return hook


class SpectralNormStateDictHook:
    """Notes in what is saved which version of spectral normalisation wrote it."""

    def __init__(self, hook: SpectralNorm):
        self.hook = hook

    def __call__(self, module, state_dict, prefix, local_metadata) -> None:
        versions = local_metadata.setdefault("spectral_norm", {})
        key = self.hook.name + ".version"
        if key in versions:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        versions[key] = VERSION


class SpectralNormLoadStateDictPreHook:
    """Finds the vector v for files that were saved without it, from u and the weights."""

    def __init__(self, hook: SpectralNorm):
        self.hook = hook

    def __call__(self, module, state_dict, prefix, local_metadata, strict, missing, unexpected, errors) -> None:
        key = prefix + self.hook.name
        version = local_metadata.get("spectral_norm", {}).get(self.hook.name + ".version")
        if (
            (version or 0) >= VERSION
            or key + "_v" in state_dict
            or any(key + s not in state_dict for s in ("_orig", "_u", ""))
        ):
            return
        with no_grad():
            original, u = state_dict[key + "_orig"], state_dict[key + "_u"]
            weight = state_dict.pop(key)
            sigma = (original / weight).mean()
            matrix = self.hook.reshape_weight_to_matrix(original)
            pseudo = linalg.pinv(matrix.t() @ matrix) @ (matrix.t() @ u.unsqueeze(1))
            v = pseudo.squeeze(1)
            state_dict[key + "_v"] = v * (sigma / ops.dot(u, ops.mv(matrix, v)))


def spectral_norm(
    module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
):
    """Divides a parameter by its largest singular value before each call (Miyato et al., 2018). Returns the module.

    The parameter is seen as a matrix whose rows are along `dim` (None: 1 for transposed convolutions, else 0). While
    the module trains, each call refines the estimate by `n_power_iterations`.

    >>> layer = nn.utils.spectral_norm(nn.Linear(3, 4))
    >>> sorted(layer.state_dict())
    ['bias', 'weight_orig', 'weight_u', 'weight_v']
    """
    SpectralNorm.apply(module, name, n_power_iterations, usual_dim(module) if dim is None else dim, eps)
    return module


def remove_spectral_norm(module, name: str = "weight"):
    """Undoes `spectral_norm`: the weight as it is becomes an ordinary parameter. ValueError if there is none."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            break
    else:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    for hooks, kind in (
        (module._state_dict_hooks, SpectralNormStateDictHook),
        (module._load_state_dict_pre_hooks, SpectralNormLoadStateDictPreHook),
    ):
        for key, hook in list(hooks.items()):
            if isinstance(hook, kind) and hook.hook.name == name:
                del hooks[key]
    return module
