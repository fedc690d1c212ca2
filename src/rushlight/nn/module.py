"""`Module`: the base class of all neural network modules."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ..core import Tensor
from .convert import Conversion
from .hooks import HookRegistration, call_with_hooks, registration_hooks
from .parameter import Buffer, Parameter
from .state import State
from .traversal import Traversal

_HOOK_REGISTRIES = (
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
    "_forward_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_backward_pre_hooks",
    "_backward_hooks",
    "_state_dict_pre_hooks",
    "_state_dict_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)


class _Registered:
    """Reads a registered name from its dictionary, as an attribute of the module's class.

    Without it every `self.weight` would first fail as an ordinary attribute and then end in `Module.__getattr__`, which
    takes five times as long. A module that has the name elsewhere, or not at all, still ends there.
    """

    __slots__ = ("name", "registry")

    def __init__(self, registry: str, name: str):
        self.registry, self.name = registry, name

    def __get__(self, module, owner):
        if module is None:
            return self
        try:
            return module.__dict__[self.registry][self.name]
        except KeyError:
            raise AttributeError(self.name) from None


class Module(Traversal, State, HookRegistration, Conversion):
    """A node of a model: holds parameters, buffers and submodules, and computes `forward`.

    Subclasses call `super().__init__()` first, then assign parameters and submodules as attributes, which
    registers them, and define `forward`.

    >>> class Net(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.fc = nn.Linear(4, 2)
    ...     def forward(self, x):
    ...         return self.fc(x).relu()
    >>> [name for name, _ in Net().named_parameters()]
    ['fc.weight', 'fc.bias']
    """

    training: bool

    def __init__(self) -> None:
        state = self.__dict__
        state["training"] = True
        state["_parameters"] = {}
        state["_buffers"] = {}
        state["_non_persistent_buffers_set"] = set()
        state["_modules"] = {}
        for registry in _HOOK_REGISTRIES:
            state[registry] = OrderedDict()

    def forward(self, *args: Any, **kwargs: Any):
        """What the module computes; every subclass defines it. Call the module, not this."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any):
        if self._hooked:
            return call_with_hooks(self, args, kwargs)
        return self.forward(*args, **kwargs)

    # ---- registration -------------------------------------------------------------------------------------------

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Adds a parameter, or reserves its name with None."""
        self._check_name("parameter", name, "_parameters")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{_type_name(param)}' object to parameter '{name}' "
                "(torch.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. "
                f"To express '{name}' as a function of another Tensor, compute the value in the forward() method."
            )
        self._register("_parameters", name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Adds a tensor that is state but not trained; `persistent=False` keeps it out of `state_dict`."""
        self._check_name("buffer", name, "_buffers")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{_type_name(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        self._register("_buffers", name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Adds a submodule, or reserves its name with None."""
        if not isinstance(module, Module) and module is not None:
            raise TypeError(f"{_type_name(module)} is not a Module subclass")
        self._check_name("module", name, "_modules")
        self._register("_modules", name, module)

    register_module = add_module

    def _register(self, registry: str, name: str, value) -> None:
        if registration_hooks[registry] and value is not None:
            for hook in list(registration_hooks[registry].values()):
                changed = hook(self, name, value)
                value = value if changed is None else changed
        self.__dict__[registry][name] = value
        cls = type(self)
        if not hasattr(cls, name) and name.isidentifier():
            setattr(cls, name, _Registered(registry, name))

    def _check_name(self, kind: str, name: str, registry: str) -> None:
        if registry not in self.__dict__:
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {_type_name(name)}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in self.__dict__[registry]:
            raise KeyError(f"attribute '{name}' already exists")

    # ---- attributes ---------------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        # only reached when ordinary lookup has failed
        state = self.__dict__
        if "_parameters" in state:
            for registry in (state["_parameters"], state["_modules"], state["_buffers"]):
                if name in registry:
                    return registry[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Parameter):
            self._forget(name, "parameters", keep="_parameters")
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            self._forget(name, "module", keep="_modules")
            if not _has_property(self, name):
                self._register("_modules", name, value)
            else:
                object.__setattr__(self, name, value)
        elif isinstance(value, Buffer):
            self._forget(name, "buffer", keep="_buffers")
            self.register_buffer(name, value, value.persistent)
        elif not self._replace_registered(name, value):
            object.__setattr__(self, name, value)

    def _replace_registered(self, name: str, value: Any) -> bool:
        """Puts a tensor or None where a parameter, buffer or module of that name is registered."""
        state = self.__dict__
        if "_parameters" not in state:
            return False
        if name in state["_parameters"]:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{_type_name(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)"
                )
            state["_parameters"][name] = None
        elif name in state["_modules"]:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{_type_name(value)}' as child module '{name}' (torch.nn.Module or None expected)"
                )
            state["_modules"][name] = None
        elif name in state["_buffers"]:
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"cannot assign '{_type_name(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor or None "
                    "expected)"
                )
            state["_buffers"][name] = value
        else:
            return False
        return True

    def _forget(self, name: str, kind: str, keep: str) -> None:
        """Removes `name` from wherever else it is, so that it can be registered anew."""
        state = self.__dict__
        if keep not in state:
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
        state.pop(name, None)
        for registry in ("_parameters", "_buffers", "_modules"):
            if registry != keep:
                state[registry].pop(name, None)
        if keep != "_buffers":
            state["_non_persistent_buffers_set"].discard(name)

    def __delattr__(self, name: str) -> None:
        for registry in (self._parameters, self._buffers, self._modules):
            if name in registry:
                del registry[name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        names = {*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers}
        return sorted(name for name in names if not name[0].isdigit())  # "0" is no attribute name

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
        for registry in _HOOK_REGISTRIES:
            self.__dict__.setdefault(registry, OrderedDict())
        self.__dict__.setdefault("_non_persistent_buffers_set", set())

    # ---- the whole tree -----------------------------------------------------------------------------------------

    def apply(self, fn: Callable[[Module], Any]) -> Module:
        """Calls `fn(module)` on every submodule, then on this one."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Module:
        """Sets training mode (dropout drops, norms use the batch's statistics) in the whole tree."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Module:
        """Sets evaluation mode in the whole tree."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Module:
        """Sets `requires_grad` of all parameters."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drops the gradients of all parameters, or fills them with zeros."""
        for parameter in self.parameters():
            clear_grad(parameter, set_to_none)

    # ---- printing -----------------------------------------------------------------------------------------------

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What stands between the parentheses when the module is printed; may have several lines."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): " + repr(module).replace("\n", "\n  ") for name, module in self._modules.items()]
        return _in_parentheses(self._get_name(), lines, children)


def _in_parentheses(name: str, lines: list[str], children: list[str]) -> str:
    """One line if there is nothing but one line to say, else an indented block."""
    if not children and len(lines) <= 1:
        return f"{name}({''.join(lines)})"
    return f"{name}(\n  " + "\n  ".join(lines + children) + "\n)"


def clear_grad(parameter: Tensor, set_to_none: bool) -> None:
    """Drops a gradient, or fills it with zeros and cuts it from the graph it came from."""
    if parameter.grad is None:
        return
    if set_to_none:
        parameter.grad = None
        return
    if parameter.grad.grad_fn is not None:
        parameter.grad.detach_()
    else:
        parameter.grad.requires_grad_(False)
    parameter.grad.zero_()


def _has_property(module: Module, name: str) -> bool:
    """Whether the class manages this attribute itself, so that registering it would hide it."""
    return isinstance(getattr(type(module), name, None), property)


def _type_name(value: object) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
