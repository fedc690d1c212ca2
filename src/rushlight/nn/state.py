"""A module's state as a flat dictionary of tensors: `state_dict` and `load_state_dict`."""

from __future__ import annotations

import weakref
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Mapping

from ..autograd import no_grad
from ..core import Tensor
from .hooks import RemovableHandle, add_hook
from .parameter import Parameter, is_lazy

EXTRA_STATE = "_extra_state"


class IncompatibleKeys(namedtuple("IncompatibleKeys", ("missing_keys", "unexpected_keys"))):
    """What `load_state_dict` found: names the module lacks values for, names it does not know."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_{super().__repr__()}"

    __str__ = __repr__


class State:
    """The saving and loading half of `Module`."""

    _version: int = 1

    def get_extra_state(self):
        """What to keep in `state_dict` besides parameters and buffers; to be overridden with `set_extra_state`."""
        raise RuntimeError("Reached a code path in Module.get_extra_state() that should never be called.")

    def set_extra_state(self, state) -> None:
        """Takes back what `get_extra_state` returned."""
        raise RuntimeError("Reached a code path in Module.set_extra_state() that should never be called.")

    # ---- saving -------------------------------------------------------------------------------------------------

    def state_dict(self, *args, destination: dict | None = None, prefix: str = "", keep_vars: bool = False) -> dict:
        """Parameters and persistent buffers of the whole tree by dotted name.

        The tensors share memory with the module; they are detached unless `keep_vars`. The result's
        `_metadata` holds the version of every module.
        """
        if args:  # the positional form of old programs
            destination, prefix, keep_vars = (*args, *(destination, prefix, keep_vars)[len(args) :])
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            changed = hook(self, destination, prefix, local_metadata)
            destination = destination if changed is None else changed
        return destination

    def _save_to_state_dict(self, destination: dict, prefix: str, keep_vars: bool) -> None:
        """Puts this module's own tensors into `destination`; may be overridden."""
        for name, tensor in self._own_state().items():
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if _has_own(self, "get_extra_state"):
            destination[prefix + EXTRA_STATE] = self.get_extra_state()

    def _own_state(self) -> dict[str, Tensor]:
        members = {name: p for name, p in self._parameters.items() if p is not None}
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                members[name] = buffer
        return members

    # ---- loading ------------------------------------------------------------------------------------------------

    def load_state_dict(self, state_dict: Mapping, strict: bool = True, assign: bool = False) -> IncompatibleKeys:
        """Copies values into parameters and buffers; returns the missing and the unexpected names.

        With `strict` such names are an error. With `assign` the tensors of `state_dict` take the place
        of the module's own instead of being copied. RuntimeError lists everything that did not fit.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        metadata = getattr(state_dict, "_metadata", None)
        state_dict = OrderedDict(state_dict)
        if metadata is not None:
            state_dict._metadata = metadata
        loading = _Loading(metadata or {}, strict, assign)
        loading.load(self, state_dict, "")
        errors = loading.all_errors()
        if errors:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors))
        return IncompatibleKeys(loading.missing, loading.unexpected)

    def _load_from_state_dict(
        self,
        state_dict: Mapping,
        prefix: str,
        local_metadata: dict,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Loads this module's own tensors, named `prefix + name`; may be overridden. Appends to the three lists."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        assign = local_metadata.get("assign_to_params_buffers", False)
        own = self._own_state()
        for name, tensor in own.items():
            key = prefix + name
            if key in state_dict:
                error = _load_tensor(self, name, key, tensor, state_dict[key], assign)
                if error:
                    error_msgs.append(error)
            elif strict:
                missing_keys.append(key)
        self._load_extra_state(state_dict, prefix + EXTRA_STATE, strict, missing_keys, unexpected_keys)
        if strict:
            unexpected_keys.extend(k for k in state_dict if _is_unexpected(k, prefix, self._modules, own))

    def _load_extra_state(self, state_dict, key: str, strict: bool, missing_keys: list, unexpected_keys: list) -> None:
        if _has_own(self, "set_extra_state"):
            if key in state_dict:
                self.set_extra_state(state_dict[key])
            elif strict:
                missing_keys.append(key)
        elif strict and key in state_dict:
            unexpected_keys.append(key)

    # ---- hooks --------------------------------------------------------------------------------------------------

    def register_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Calls `hook(module, prefix, keep_vars)` before `state_dict` collects this module."""
        return add_hook(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Calls `hook(module, state_dict, prefix, local_metadata)` after `state_dict` collected this module."""
        return add_hook(self._state_dict_hooks, hook)

    _register_state_dict_hook = register_state_dict_post_hook

    def register_load_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Calls `hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)`
        before this module loads; the hook may change `state_dict`."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(self, hook: Callable, with_module: bool = False) -> RemovableHandle:
        return add_hook(self._load_state_dict_pre_hooks, _WithModule(hook, self) if with_module else hook)

    def register_load_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Calls `hook(module, incompatible_keys)` after this module loaded; the hook may empty the two lists."""
        return add_hook(self._load_state_dict_post_hooks, hook)


class _WithModule:
    """A hook that gets its module as first argument, without keeping it alive."""

    def __init__(self, hook: Callable, module):
        self.hook, self.module = hook, weakref.ref(module)

    def __call__(self, *args):
        return self.hook(self.module(), *args)

    def __getstate__(self):
        return self.hook, self.module()

    def __setstate__(self, state) -> None:
        self.hook, module = state
        self.module = weakref.ref(module)


class _Loading:
    """One `load_state_dict` over a tree of modules and what it found."""

    def __init__(self, metadata: Mapping, strict: bool, assign: bool):
        self.metadata, self.strict, self.assign = metadata, strict, assign
        self.missing: list[str] = []
        self.unexpected: list[str] = []
        self.errors: list[str] = []

    def load(self, module, state_dict: Mapping, prefix: str) -> None:
        local_metadata = dict(self.metadata.get(prefix[:-1], {}))
        if self.assign:
            local_metadata["assign_to_params_buffers"] = True
        module._load_from_state_dict(
            state_dict, prefix, local_metadata, True, self.missing, self.unexpected, self.errors
        )
        for name, child in module._modules.items():
            if child is not None:
                child_prefix = f"{prefix}{name}."
                self.load(child, {k: v for k, v in state_dict.items() if k.startswith(child_prefix)}, child_prefix)
        for hook in module._load_state_dict_post_hooks.values():
            if hook(module, IncompatibleKeys(self.missing, self.unexpected)) is not None:
                raise RuntimeError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new "
                    "values, if incompatible_keys need to be modified, it should be done inplace."
                )

    def all_errors(self) -> list[str]:
        if not self.strict:
            return self.errors
        errors = []
        for kind, keys in (("Missing", self.missing), ("Unexpected", self.unexpected)):
            if keys:
                quoted = ", ".join(f'"{key}"' for key in keys)
                errors.append(f"{kind} key(s) in state_dict: {quoted}. ")
        return errors + self.errors


def _load_tensor(module, name: str, key: str, tensor: Tensor, value, assign: bool) -> str | None:
    """Loads one tensor; returns what is wrong with it, if anything."""
    if not isinstance(value, Tensor):
        return (
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from checkpoint '
            f"but received {type(value)}"
        )
    lazy = is_lazy(tensor)
    if not lazy and tensor.ndim == 0 and tuple(value.shape) == (1,):
        value = value[0]  # how scalars were saved long ago
    if not lazy and not is_lazy(value) and tuple(value.shape) != tuple(tensor.shape):
        return (
            f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, "
            f"the shape in current model is {tensor.shape}."
        )
    try:
        if assign:
            _assign(module, name, tensor, value)
        else:
            with no_grad():
                tensor.copy_(value)
    except Exception as error:
        return (
            f'While copying the parameter named "{key}", whose dimensions in the model are {tensor.shape} and whose '
            f"dimensions in the checkpoint are {value.shape}, an exception occurred : {error.args}."
        )
    return None


def _assign(module, name: str, tensor: Tensor, value: Tensor) -> None:
    if isinstance(tensor, Parameter):
        if not isinstance(value, Parameter):
            value = Parameter(value, requires_grad=tensor.requires_grad)
        else:
            value.requires_grad_(tensor.requires_grad)
    setattr(module, name, value)


def _is_unexpected(key: str, prefix: str, modules: Mapping, own: Mapping) -> bool:
    if not key.startswith(prefix) or key == prefix + EXTRA_STATE:
        return False
    first, dot, _ = key[len(prefix) :].partition(".")
    return first not in (modules if dot else own)


def _has_own(module, method: str) -> bool:
    return getattr(type(module), method) is not getattr(State, method)
