"""`Optimizer`: parameter groups, state and its saving, which all optimizers share."""

from __future__ import annotations

import functools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy

from ..autograd import enable_grad
from ..core import Tensor

required = object()  # a default that every group must state itself


class Handle:
    """Removes a hook: `remove()`."""

    _next = 0

    def __init__(self, hooks: dict):
        self.hooks, self.id = hooks, Handle._next
        Handle._next += 1

    def remove(self) -> None:
        self.hooks.pop(self.id, None)


class Optimizer:
    """Base class of all optimizers.

    `params` are tensors, (name, tensor) pairs, or dictionaries with a key "params" and options of their own; options
    that a group does not state come from `defaults`. Subclasses define `step`.
    """

    def __init__(self, params: Iterable, defaults: dict):
        self.defaults = defaults
        self.state: defaultdict = defaultdict(dict)
        self.param_groups: list[dict] = []
        self._hooks: dict[str, OrderedDict] = {}
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got Tensor"
            )
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "step" in cls.__dict__:
            cls.step = _with_hooks(cls.step)

    def step(self, closure: Callable | None = None):
        """Updates the parameters from their gradients.

        `closure`, if given, computes the loss anew (zero_grad, forward, backward) and is called first; its result
        is returned.
        """
        raise NotImplementedError

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drops the gradients of all parameters, or fills them with zeros."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if set_to_none:
                    parameter.grad = None
                elif parameter.grad is not None:
                    parameter.grad = parameter.grad.detach()
                    parameter.grad.zero_()

    # ---- groups -------------------------------------------------------------------------------------------------

    def add_param_group(self, param_group: dict) -> None:
        """Adds parameters with options of their own: {"params": ..., "lr": ...}."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        group = dict(param_group)
        params = group["params"]
        if isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
                "will change between runs. Please use a list instead."
            )
        group["params"] = [params] if isinstance(params, Tensor) else list(params)
        self._take_names(group)
        for parameter in group["params"]:
            _check_parameter(parameter)
        for name, default in self.defaults.items():
            if default is required and name not in group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            group.setdefault(name, default)
        self._check_duplicates(group["params"])
        self.param_groups.append(group)

    def _take_names(self, group: dict) -> None:
        """Splits (name, tensor) pairs; all groups have names, or none has."""
        named = [isinstance(entry, tuple) for entry in group["params"]]
        if any(named) and not all(named):
            raise ValueError("all optimizer params should be with/without names. Some param names are missing")
        if any(named):
            group["param_names"] = [name for name, _ in group["params"]]
            group["params"] = [parameter for _, parameter in group["params"]]
        if self.param_groups and ("param_names" in self.param_groups[0]) != any(named):
            raise ValueError("all optimizer param groups should be with/without names.")

    def _check_duplicates(self, params: list) -> None:
        if len({id(p) for p in params}) != len(params):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error",
                stacklevel=4,
            )
        known = {id(p) for group in self.param_groups for p in group["params"]}
        if any(id(p) in known for p in params):
            raise ValueError("some parameters appear in more than one parameter group")

    # ---- state --------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict:
        """The state and the options: {"state": {index: ...}, "param_groups": [...]}.

        Parameters are numbered in the order of the groups.
        """
        for hook in self._hooks_of("state_dict_pre"):
            hook(self)
        indices: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for parameter in group["params"]:
                indices.setdefault(id(parameter), len(indices))
            packed = {name: value for name, value in group.items() if name != "params"}
            packed["params"] = [indices[id(parameter)] for parameter in group["params"]]
            groups.append(packed)
        state = {
            indices[id(key)] if isinstance(key, Tensor) else key: self._saved_state(value)
            for key, value in self.state.items()
        }
        saved = {"state": state, "param_groups": groups}
        for hook in self._hooks_of("state_dict_post"):
            changed = hook(self, saved)
            saved = saved if changed is None else changed
        return saved

    def _saved_state(self, state):
        """One parameter's state as it is saved."""
        return state

    def load_state_dict(self, state_dict: dict) -> None:
        """Takes over a copy of what `state_dict` returned; ValueError if the groups do not match."""
        state_dict = dict(state_dict)
        for hook in self._hooks_of("load_state_dict_pre"):
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        saved_groups = deepcopy(state_dict["param_groups"])
        if len(saved_groups) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(s["params"]) != len(g["params"]) for s, g in zip(saved_groups, self.param_groups)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        parameters = {
            index: parameter
            for saved, group in zip(saved_groups, self.param_groups)
            for index, parameter in zip(saved["params"], group["params"])
        }
        state: defaultdict = defaultdict(dict)
        for key, value in state_dict["state"].items():
            parameter = parameters.get(key)
            state[key if parameter is None else parameter] = _adapted(parameter, value)
        for saved, group in zip(saved_groups, self.param_groups):
            saved["params"] = group["params"]
            if "param_names" in group:
                saved.setdefault("param_names", group["param_names"])
            for name, default in self.defaults.items():  # options that an older file does not know
                saved.setdefault(name, default)
        self.__setstate__({"state": state, "param_groups": saved_groups})
        for hook in self._hooks_of("load_state_dict_post"):
            hook(self)

    def __getstate__(self) -> dict:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
        self.__dict__.setdefault("_hooks", {})

    # ---- hooks --------------------------------------------------------------------------------------------------

    def _hooks_of(self, kind: str) -> list[Callable]:
        return list(self._hooks.get(kind, {}).values())

    def _add_hook(self, kind: str, hook: Callable, prepend: bool = False) -> Handle:
        hooks = self._hooks.setdefault(kind, OrderedDict())
        handle = Handle(hooks)
        hooks[handle.id] = hook
        if prepend:
            hooks.move_to_end(handle.id, last=False)
        return handle

    def register_step_pre_hook(self, hook: Callable) -> Handle:
        """Calls `hook(optimizer, args, kwargs)` before each step; it may return new (args, kwargs)."""
        return self._add_hook("step_pre", hook)

    def register_step_post_hook(self, hook: Callable) -> Handle:
        """Calls `hook(optimizer, args, kwargs)` after each step."""
        return self._add_hook("step_post", hook)

    def register_state_dict_pre_hook(self, hook: Callable, prepend: bool = False) -> Handle:
        """Calls `hook(optimizer)` before `state_dict`."""
        return self._add_hook("state_dict_pre", hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable, prepend: bool = False) -> Handle:
        """Calls `hook(optimizer, state_dict)` after `state_dict`; it may return another one."""
        return self._add_hook("state_dict_post", hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable, prepend: bool = False) -> Handle:
        """Calls `hook(optimizer, state_dict)` before loading; it may return another one."""
        return self._add_hook("load_state_dict_pre", hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable, prepend: bool = False) -> Handle:
        """Calls `hook(optimizer)` after loading."""
        return self._add_hook("load_state_dict_post", hook, prepend)

    def __repr__(self) -> str:
        lines = [type(self).__name__ + " ("]
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
            lines.append("")
        return "\n".join(lines[:-1]) + "\n)"


def _with_hooks(step: Callable) -> Callable:
    """`step` with the step hooks around it; schedulers learn from it that a step was made."""
    if hasattr(step, "runs_hooks"):
        return step

    @functools.wraps(step)
    def wrapped(self, *args, **kwargs):
        self._opt_called = True
        if not self._hooks:
            return step(self, *args, **kwargs)
        for hook in self._hooks_of("step_pre"):
            changed = hook(self, args, kwargs)
            if changed is not None:
                args, kwargs = changed
        result = step(self, *args, **kwargs)
        for hook in self._hooks_of("step_post"):
            hook(self, args, kwargs)
        return result

    wrapped.runs_hooks = True
    return wrapped


def loss_of(closure: Callable | None):
    """What the closure returns, computed with gradients."""
    if closure is None:
        return None
    with enable_grad():
        return closure()


def require(condition: bool, what: str, value) -> None:
    """ValueError "Invalid <what>: <value>" unless the condition holds."""
    if not condition:
        raise ValueError(f"Invalid {what}: {value}")


def require_at_least(least: float, what: str, value) -> None:
    """ValueError "<what> should be >= <least> but is: <value>" unless that holds."""
    if not value >= least:
        raise ValueError(f"{what} should be >= {least:g} but is: {value}")


def _check_parameter(parameter) -> None:
    if not isinstance(parameter, Tensor):
        raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(parameter).__name__}")
    if not (parameter.is_leaf or parameter.retains_grad):
        raise ValueError("can't optimize a non-leaf Tensor")


def _adapted(parameter, value, key: str | None = None):
    """A copy of saved state, floating point tensors in the parameter's dtype (the step count as it is)."""
    if isinstance(value, Tensor):
        if parameter is None or key == "step" or not parameter.is_floating_point():
            return value.clone()
        return value.to(parameter.dtype, copy=True)
    if isinstance(value, dict):
        return {name: _adapted(parameter, part, name) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_adapted(parameter, part) for part in value)
    return deepcopy(value)
