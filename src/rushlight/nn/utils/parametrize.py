"""Tensors of a module computed from others: a parameter becomes f(original), and trains through f."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Sequence

from ...autograd import no_grad
from ...core import Tensor
from ..containers import ModuleDict, ModuleList
from ..module import Module
from ..parameter import Parameter

_cache_enabled = 0
_cache: dict[tuple[int, str], Tensor] = {}
_CHANGED = (
    "Registering a parametrization may not change the {kind} of {what}, unless the `unsafe` flag is enabled.\n"
    "before: {old}\nafter: {new}"
)


@contextlib.contextmanager
def cached():
    """Within the block each parametrized tensor is computed once, at its first use.

    >>> from rushlight.nn.utils import parametrize, parametrizations
    >>> layer = parametrizations.weight_norm(nn.Linear(2, 2))
    >>> with parametrize.cached():
    ...     layer.weight is layer.weight
    True
    """
    global _cache_enabled
    _cache_enabled += 1
    try:
        yield
    finally:
        _cache_enabled -= 1
        if not _cache_enabled:
            _cache.clear()


def _register(module: Module, name: str, tensor) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _replace(target: Tensor, value: Tensor) -> None:
    """Lets a parameter or buffer hold a value, of another shape if need be."""
    target.data = value.detach()


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, in order, and what it is computed from.

    That is `original`, or `original0`, `original1`, ... if the last inverse gives several tensors.
    """

    original: Tensor
    unsafe: bool

    def __init__(self, modules: Sequence[Module], original: Tensor | Parameter, unsafe: bool = False):
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        before = original.dtype, original.shape
        new = self._inverted(original)
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            if original.dtype != new.dtype:
                raise ValueError(
                    f"When `right_inverse` outputs one tensor, it may not change the dtype.\noriginal.dtype: "
                    f"{original.dtype}\nright_inverse(original).dtype: {new.dtype}"
                )
            with no_grad():
                _replace(original, new)
            _register(self, "original", original)
        else:
            self._register_several(original, new)
        if not self.unsafe:
            self._check_round_trip(*before)

    def _inverted(self, tensor: Tensor):
        """What the tensor is computed from: the inverses applied from the last to the first, where there are any."""
        new = tensor
        with no_grad():
            for module in reversed(self):
                if hasattr(module, "right_inverse"):
                    with contextlib.suppress(NotImplementedError):
                        new = module.right_inverse(new)
        if not isinstance(new, Tensor) and not isinstance(new, Sequence):
            raise ValueError(f"'right_inverse' must return a Tensor or a Sequence of tensors. Got {type(new).__name__}")
        return new

    def _register_several(self, original: Tensor, parts: Sequence) -> None:
        for i, part in enumerate(parts):
            if not isinstance(part, Tensor):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors. Got element "
                    f"{i} of the sequence with type {type(part).__name__}."
                )
            if isinstance(original, Parameter):
                part = Parameter(part, original.requires_grad)
            part.requires_grad_(original.requires_grad)
            _register(self, f"original{i}", part)

    def _check_round_trip(self, dtype, shape) -> None:
        result = self()
        if not isinstance(result, Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
        for kind, old, new in (("dtype", dtype, result.dtype), ("shape", shape, result.shape)):
            if old != new:
                raise ValueError(_CHANGED.format(kind=kind, what="the tensor", old=old, new=new))

    def originals(self) -> list[Tensor]:
        """The tensors that the parametrized one is computed from."""
        names = ["original"] if self.is_tensor else [f"original{i}" for i in range(self.ntensors)]
        return [getattr(self, name) for name in names]

    @no_grad()
    def right_inverse(self, value: Tensor) -> None:
        """Sets the originals so that the parametrized tensor becomes `value`; what an assignment does.

        RuntimeError if a parametrization has no `right_inverse`, ValueError if it gives tensors of other kinds.
        """
        for module in reversed(self):
            if not hasattr(module, "right_inverse"):
                raise RuntimeError(
                    f"parametrization {type(module).__name__} does not implement right_inverse: its tensor cannot be "
                    "assigned to"
                )
            value = module.right_inverse(value)
        if self.is_tensor:
            if not isinstance(value, Tensor):
                raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
            value = [value]
        elif not isinstance(value, Sequence):
            raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {type(value).__name__}.")
        if len(value) != self.ntensors:
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a sequence of "
                f"length {len(value)}."
            )
        for i, (old, new) in enumerate(zip(self.originals(), value)):
            if not isinstance(new, Tensor):
                raise ValueError(
                    f"`right_inverse` must return a sequence of tensors. Got element {i} of type {type(new)}"
                )
            if old.dtype != new.dtype:
                raise ValueError(
                    f"The tensor returned by `right_inverse` has dtype {new.dtype} while the original has dtype "
                    f"{old.dtype}"
                )
            _replace(old, new)

    def forward(self) -> Tensor:
        """The parametrized tensor."""
        first, *others = self
        value = first(*self.originals())
        for module in others:
            value = module(value)
        return value


# ---- the class of a parametrized module -----------------------------------------------------------------------------


def _refuse_state(self):
    raise RuntimeError("Serialization of parametrized modules is only supported through state_dict().")


def _deep_copied(self, memo: dict):
    """A copy with a class of its own, so that removing a parametrization from one does not reach the other."""
    if id(self) not in memo:
        cls = type(self)
        body = {name: value for name, value in cls.__dict__.items() if name not in ("__dict__", "__weakref__")}
        own = type(cls.__name__, cls.__bases__, body)
        memo[id(self)] = made = own.__new__(own)
        made.__dict__ = copy.deepcopy(self.__dict__, memo)
    return memo[id(self)]


def _inject_class(module: Module) -> None:
    """Gives the module a class of its own, whose properties compute tensors."""
    cls = type(module)
    body = {"__getstate__": _refuse_state}
    if not hasattr(cls, "__deepcopy__"):
        body["__deepcopy__"] = _deep_copied
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), body)


def _inject_property(module: Module, name: str) -> None:
    """Makes a name of the module's class compute the parametrized tensor."""

    def get(self) -> Tensor:
        parametrization = self.parametrizations[name]
        if not _cache_enabled:
            return parametrization()
        key = (id(self), name)
        tensor = _cache.get(key)
        if tensor is None:
            tensor = _cache[key] = parametrization()
        return tensor

    def set(self, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(get, set))


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a module has parametrizations, or has one on a tensor of that name."""
    parametrizations = getattr(module, "parametrizations", None)
    if parametrizations is None or not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def register_parametrization(module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False):
    """Makes `module.<tensor_name>` the value of `parametrization` at the tensor that was there; returns the module.

    The tensor itself moves to `module.parametrizations.<tensor_name>.original`. If the parametrization has a method
    `right_inverse`, what that gives for the tensor is kept instead (one tensor or several), and the name can be
    assigned to. Registered again, parametrizations are applied one after another. Unless `unsafe`, dtype and shape
    must not change (ValueError), which is tried by calling.

    >>> from rushlight.nn.utils import parametrize
    >>> class Symmetric(nn.Module):
    ...     def forward(self, x):
    ...         return x.triu() + x.triu(1).mT
    >>> layer = parametrize.register_parametrization(nn.Linear(3, 3), "weight", Symmetric())
    >>> bool((layer.weight == layer.weight.mT).all()), list(layer.state_dict())
    (True, ['bias', 'parametrizations.weight.original'])
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_added(module, tensor_name, parametrization)
        chain = module.parametrizations[tensor_name]
        chain.append(parametrization)
        chain.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        parametrizations = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject_class(module)
            module.parametrizations = ModuleDict()
        _inject_property(module, tensor_name)
        module.parametrizations[tensor_name] = parametrizations
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    return module


def _check_added(module: Module, name: str, parametrization: Module) -> None:
    """Tries a further parametrization on the tensor as it is."""
    with no_grad():
        before = getattr(module, name)
        after = parametrization(before)
        _require_alike("the parametrized tensor", before, after)
        if not hasattr(parametrization, "right_inverse"):
            return
        try:
            back = parametrization.right_inverse(after)
        except NotImplementedError:
            return
        _require_alike("the tensor returned by `right_inverse`", before, back)


def _require_alike(what: str, before: Tensor, after) -> None:
    if not isinstance(after, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(after).__name__}.")
    for kind in ("dtype", "shape"):
        old, new = getattr(before, kind), getattr(after, kind)
        if old != new:
            raise ValueError(_CHANGED.format(kind=kind, what=what, old=old, new=new))


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Makes a parametrized tensor an ordinary one again; returns the module.

    It keeps its value, or with `leave_parametrized=False` becomes the original (ValueError if there are several).
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    chain = module.parametrizations[tensor_name]
    if not chain.is_tensor and not leave_parametrized:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
            "sequence of tensors."
        )
    original = chain.originals()[0]
    if leave_parametrized:
        with no_grad():
            value = getattr(module, tensor_name)
        if chain.is_tensor:
            _replace(original, value)  # optimizers know this very tensor
        else:
            needs_grad = original.requires_grad
            original = Parameter(value, needs_grad) if isinstance(original, Parameter) else value.detach()
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class of a module as it was before its parametrizations."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Copies the parametrizations of one tensor, or of all, and their originals to another module, and returns that."""
    if is_parametrized(from_module):
        names = list(from_module.parametrizations) if tensor_name is None else [tensor_name]
        for name in names:
            _transfer(from_module, to_module, name)
    return to_module


def _transfer(from_module: Module, to_module: Module, name: str) -> None:
    source = from_module.parametrizations[name]
    if not hasattr(to_module, name):
        value = copy.deepcopy(source.originals()[0])
        _register(to_module, name, value if isinstance(value, (Parameter, Tensor)) else None)
    for parametrization in source:
        register_parametrization(to_module, name, copy.deepcopy(parametrization), unsafe=source.unsafe)
    with no_grad():
        for old, new in zip(to_module.parametrizations[name].originals(), source.originals()):
            old.data = new.detach().clone()


__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]
