"""Pruning: parts of a parameter are held at zero by a mask, `<name>_mask`, over the original, `<name>_orig`."""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable

from ... import ops
from ...core import Tensor
from .convert_parameters import parameters_to_vector


class BasePruningMethod(ABC):
    """A way to choose what is pruned. Subclasses define `compute_mask` and state their `PRUNING_TYPE`.

    That is "unstructured" (single elements), "structured" (whole channels; needs an attribute `dim`) or "global"; it
    says which part of the tensor is still to be decided on when methods are applied one after another. An instance is
    the hook before a module's call that applies the mask.
    """

    _tensor_name: str

    def __call__(self, module, inputs) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """A mask for scores `t`, of their shape, within `default_mask` (ones: kept so far)."""

    def apply_mask(self, module) -> Tensor:
        """The original parameter times the mask."""
        if getattr(self, "_tensor_name", None) is None:
            raise AssertionError(f"Module {module} has to be pruned")
        original = getattr(module, self._tensor_name + "_orig")
        return getattr(module, self._tensor_name + "_mask").to(original.dtype) * original

    @classmethod
    def apply(cls, module, name: str, *args, importance_scores: Tensor | None = None, **kwargs) -> BasePruningMethod:
        """Prunes a parameter, after what pruned it before; `importance_scores` decide in place of its values."""
        method = cls(*args, **kwargs)
        method._tensor_name = name
        values = getattr(module, name)
        if importance_scores is not None and importance_scores.shape != values.shape:
            raise AssertionError(f"importance_scores should have the same shape as parameter {name} of {module}")
        scores = values if importance_scores is None else importance_scores
        before = _hooks_on(module, name)
        if before:
            key, earlier = before[0]
            default_mask = getattr(module, name + "_mask").detach().clone()
            method = _joined(earlier, method)
        else:
            key, default_mask = None, ops.ones_like(values)
        mask = method.compute_mask(scores.detach(), default_mask=default_mask)
        if key is None:
            original = module._parameters[name]
            delattr(module, name)
            module.register_parameter(name + "_orig", original)
        else:
            del module._forward_pre_hooks[key]
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """A pruned copy of a tensor."""
        if importance_scores is not None and importance_scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t")
        default_mask = ops.ones_like(t) if default_mask is None else default_mask
        scores = t if importance_scores is None else importance_scores
        return t * self.compute_mask(scores, default_mask=default_mask)

    def remove(self, module) -> None:
        """Makes the pruned tensor the parameter; zeros stay, but may train away from now on."""
        name = self._tensor_name
        weight = self.apply_mask(module)
        original = module._parameters[name + "_orig"]
        delattr(module, name)
        original.data = weight.data
        del module._parameters[name + "_orig"], module._buffers[name + "_mask"]
        setattr(module, name, original)


def _hooks_on(module, name: str) -> list[tuple[int, BasePruningMethod]]:
    hooks = module._forward_pre_hooks.items()
    found = [(key, hook) for key, hook in hooks if isinstance(hook, BasePruningMethod) and hook._tensor_name == name]
    if len(found) > 1:
        raise AssertionError(f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}")
    return found


def _joined(earlier: BasePruningMethod, method: BasePruningMethod) -> PruningContainer:
    if not isinstance(earlier, PruningContainer):
        earlier = PruningContainer(earlier)
    joined = PruningContainer(*earlier)
    joined.add_pruning_method(method)
    return joined


class PruningContainer(BasePruningMethod):
    """Methods that pruned one tensor, in order. The last one works on what the others left."""

    def __init__(self, *args: BasePruningMethod):
        self._pruning_methods: tuple = ()
        if len(args) == 1 and isinstance(args[0], Iterable) and not isinstance(args[0], BasePruningMethod):
            args = tuple(args[0])
        if args:
            self._tensor_name = getattr(args[0], "_tensor_name", None)
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod | None) -> None:
        """Adds a method for the same tensor: TypeError, ValueError for anything else."""
        if method is not None and not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and getattr(self, "_tensor_name", None) != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{getattr(self, '_tensor_name', None)}' to PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, index):
        return self._pruning_methods[index]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        method, mask = self._pruning_methods[-1], default_mask.to(t.dtype)
        place = _undecided(method, t, default_mask)
        chosen = method.compute_mask(t[place], default_mask=default_mask[place])
        mask = mask.clone()
        mask[place] = chosen.to(mask.dtype)
        return mask


def _undecided(method: BasePruningMethod, t: Tensor, mask: Tensor):
    """An index of the part of a tensor that a method has to decide on."""
    if method.PRUNING_TYPE == "unstructured":
        return mask == 1
    if method.PRUNING_TYPE == "structured":
        if not hasattr(method, "dim"):
            raise AttributeError(
                "Pruning methods of PRUNING_TYPE 'structured' need to have the attribute `dim` defined."
            )
        dim = method.dim % t.ndim
        kept = mask.sum([d for d in range(t.ndim) if d != dim]) != 0
        return (*[slice(None)] * dim, kept)
    if method.PRUNING_TYPE == "global":
        return (slice(None),) * t.ndim
    raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")


# ---- methods --------------------------------------------------------------------------------------------------------


class Identity(BasePruningMethod):
    """Prunes nothing, but makes mask and original."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask


class _Amount(BasePruningMethod):
    """Methods that prune an `amount`: a share in [0, 1], or a number of elements or channels."""

    def __init__(self, amount: int | float):
        if not isinstance(amount, numbers.Real):
            raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
        whole = isinstance(amount, numbers.Integral)
        if (whole and amount < 0) or (not whole and not 0.0 <= amount <= 1.0):
            raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")
        self.amount = amount

    def count(self, size: int) -> int:
        """How many of `size` to prune."""
        if not isinstance(self.amount, numbers.Integral):
            return round(self.amount * size)
        if self.amount > size:
            raise ValueError(f"amount={self.amount} should be smaller than the number of parameters to prune={size}")
        return int(self.amount)


class _Unstructured(_Amount):
    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        count = self.count(t.numel())
        if not count:
            return default_mask.clone()
        mask = default_mask.clone().reshape(-1)
        mask[self._chosen(t, count)] = 0
        return mask.reshape(default_mask.shape)


class RandomUnstructured(_Unstructured):
    """Prunes elements at random."""

    def _chosen(self, t: Tensor, count: int) -> Tensor:
        return ops.topk(ops.rand_like(t).reshape(-1), count).indices


class L1Unstructured(_Unstructured):
    """Prunes the elements of smallest magnitude."""

    def _chosen(self, t: Tensor, count: int) -> Tensor:
        return ops.topk(t.abs().reshape(-1), count, largest=False).indices


class _Structured(_Amount):
    PRUNING_TYPE = "structured"
    dim: int

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if t.ndim <= 1:
            raise ValueError(
                "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
                f"{t.shape} with {t.ndim} dims"
            )
        if not -t.ndim <= self.dim < t.ndim:
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        size = t.shape[self.dim]
        count = self.count(size)
        if not count:
            return default_mask
        shape = [1] * t.ndim
        shape[self.dim] = size
        return default_mask * self._kept(t, count).reshape(shape).to(default_mask.dtype)


class RandomStructured(_Structured):
    """Prunes whole channels along `dim` at random."""

    def __init__(self, amount: int | float, dim: int = -1):
        super().__init__(amount)
        self.dim = dim

    def _kept(self, t: Tensor, count: int) -> Tensor:
        drawn = ops.rand(t.shape[self.dim])
        return drawn > ops.kthvalue(drawn, count).values


class LnStructured(_Structured):
    """Prunes the channels along `dim` whose norm of order `n` is smallest."""

    def __init__(self, amount: int | float, n: int | float | str, dim: int = -1):
        super().__init__(amount)
        self.n, self.dim = n, dim

    def _kept(self, t: Tensor, count: int) -> Tensor:
        dim, size = self.dim % t.ndim, t.shape[self.dim]
        norms = ops.norm(t, p=self.n, dim=[d for d in range(t.ndim) if d != dim])
        kept = ops.zeros(size, dtype=t.dtype)
        kept[ops.topk(norms, size - count, largest=True).indices] = 1
        return kept


class CustomFromMask(BasePruningMethod):
    """Prunes where a given mask is 0."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor):
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if default_mask.shape != self.mask.shape:
            raise AssertionError("mask shape should match default_mask shape")
        return default_mask * self.mask.to(default_mask.dtype)


# ---- functions ------------------------------------------------------------------------------------------------------


def identity(module, name: str):
    """Gives a parameter a mask of ones; returns the module."""
    Identity.apply(module, name)
    return module


def random_unstructured(module, name: str, amount: int | float):
    """Prunes elements of a parameter at random; returns the module."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module, name: str, amount: int | float, importance_scores: Tensor | None = None):
    """Prunes the elements of smallest magnitude (or score); returns the module.

    >>> from rushlight.nn.utils import prune
    >>> layer = prune.l1_unstructured(nn.Linear(4, 5), "weight", amount=0.3)
    >>> int((layer.weight == 0).sum())
    6
    """
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module, name: str, amount: int | float, dim: int):
    """Prunes channels along `dim` at random; returns the module."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module, name: str, amount, n, dim: int, importance_scores: Tensor | None = None):
    """Prunes the channels along `dim` with the smallest norm of order `n`; returns the module."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module, name: str, mask: Tensor):
    """Prunes a parameter where `mask` is 0; returns the module."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters, pruning_method: type, importance_scores: dict | None = None, **kwargs) -> None:
    """Prunes the (module, name) pairs as if they were one tensor; `kwargs` are those of the method."""
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    importance_scores = {} if importance_scores is None else importance_scores
    if not isinstance(importance_scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    parameters = list(parameters)
    values = [getattr(module, name) for module, name in parameters]
    scores = [importance_scores.get(pair, value).detach() for pair, value in zip(parameters, values)]
    masks = [getattr(m, name + "_mask", ops.ones_like(value)) for (m, name), value in zip(parameters, values)]
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    method._tensor_name = "temp"
    mask = PruningContainer(method).compute_mask(parameters_to_vector(scores), parameters_to_vector(masks))
    for (module, name), part, value in zip(parameters, mask.split([v.numel() for v in values]), values):
        custom_from_mask(module, name, mask=part.reshape(value.shape))


def remove(module, name: str):
    """Makes pruning permanent: the parameter becomes what the mask leaves. ValueError if it was not pruned."""
    for key, hook in _hooks_on(module, name):
        hook.remove(module)
        del module._forward_pre_hooks[key]
        return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module) -> bool:
    """Whether a parameter of the module, or of one inside it, is pruned."""
    return any(isinstance(hook, BasePruningMethod) for m in module.modules() for hook in m._forward_pre_hooks.values())


__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]
