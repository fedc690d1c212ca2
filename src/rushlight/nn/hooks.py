"""Hooks around a module's call: before, after, and on the gradients of its inputs and outputs."""

from __future__ import annotations

import itertools
import weakref
from collections import OrderedDict
from collections.abc import Callable

_ids = itertools.count()


class RemovableHandle:
    """Removes its hook with `remove()`, or at the end of a `with` block.

    `also` are further dictionaries keyed by the same id, which mark how the hook is called.
    """

    def __init__(self, hooks: dict, also: tuple[dict, ...] = ()):
        self.id = next(_ids)
        self._dictionaries = tuple(weakref.ref(d) for d in (hooks, *also))

    def remove(self) -> None:
        for reference in self._dictionaries:
            dictionary = reference()
            if dictionary is not None:
                dictionary.pop(self.id, None)

    def __getstate__(self):
        return self.id, tuple(reference() for reference in self._dictionaries)

    def __setstate__(self, state) -> None:
        self.id, dictionaries = state
        self._dictionaries = tuple(weakref.ref(OrderedDict() if d is None else d) for d in dictionaries)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exception) -> None:
        self.remove()


def add_hook(hooks: OrderedDict, hook: Callable, marks: dict[str, OrderedDict] = {}, prepend: bool = False):  # noqa: B006
    """Puts `hook` into `hooks` and its id into every dictionary of `marks`; returns its handle."""
    handle = RemovableHandle(hooks, tuple(marks.values()))
    hooks[handle.id] = hook
    for dictionary in marks.values():
        dictionary[handle.id] = True
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


# The hooks of every module
_global_hooks: dict[str, OrderedDict] = {
    kind: OrderedDict()
    for kind in ("forward_pre", "forward", "forward_with_kwargs", "forward_always", "backward_pre", "backward")
}


class HookRegistration:
    """The `register_*_hook` methods of `Module`.

    Hooks run in the order of registration, global ones before a module's own; `prepend=True` puts a
    hook before the module's others.
    """

    # Becomes true with a module's first hook, for all modules with the first global one: a plain call
    # tests this one attribute
    _hooked = False

    def register_forward_pre_hook(self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False):
        """Calls `hook(module, args)` before `forward`; what it returns, if not None, replaces the arguments.

        With `with_kwargs` the call is `hook(module, args, kwargs)` and the result `(args, kwargs)`.
        """
        self._hooked = True
        marks = {"kwargs": self._forward_pre_hooks_with_kwargs} if with_kwargs else {}
        return add_hook(self._forward_pre_hooks, hook, marks, prepend)

    def register_forward_hook(
        self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ):
        """Calls `hook(module, args, output)` after `forward`; what it returns, if not None, replaces the output.

        With `with_kwargs` the call is `hook(module, args, kwargs, output)`. With `always_call` the
        hook also runs (with output None) when the call raises.
        """
        self._hooked = True
        marks = {"kwargs": self._forward_hooks_with_kwargs} if with_kwargs else {}
        if always_call:
            marks["always"] = self._forward_hooks_always_called
        return add_hook(self._forward_hooks, hook, marks, prepend)

    def register_full_backward_pre_hook(self, hook: Callable, prepend: bool = False):
        """Calls `hook(module, grad_output)` before the module's backward; its result, if not None, replaces them."""
        self._hooked = True
        return add_hook(self._backward_pre_hooks, hook, prepend=prepend)

    def register_full_backward_hook(self, hook: Callable, prepend: bool = False):
        """Calls `hook(module, grad_input, grad_output)` when the gradients of the inputs are known.

        The gradients are tuples over the positional tensor arguments and the outputs, None where
        there is none; what the hook returns, if not None, replaces `grad_input`. Inputs and outputs of
        a module with such a hook must not be modified in place.
        """
        self._hooked = True
        return add_hook(self._backward_hooks, hook, prepend=prepend)

    register_backward_hook = register_full_backward_hook


def _add_global(kind: str, hook: Callable, marks: dict[str, OrderedDict] = {}) -> RemovableHandle:  # noqa: B006
    HookRegistration._hooked = True
    return add_hook(_global_hooks[kind], hook, marks)


def _global_registration(kind: str, docs: str) -> Callable:
    def register(hook: Callable) -> RemovableHandle:
        return _add_global(kind, hook)

    register.__doc__ = docs
    return register


register_module_forward_pre_hook = _global_registration("forward_pre", "A forward pre-hook of every module.")
register_module_full_backward_pre_hook = _global_registration("backward_pre", "A backward pre-hook of every module.")
register_module_full_backward_hook = _global_registration("backward", "A backward hook of every module.")
register_module_backward_hook = register_module_full_backward_hook


def register_module_forward_hook(hook: Callable, *, with_kwargs: bool = False, always_call: bool = False):
    """A forward hook of every module, see `Module.register_forward_hook`."""
    marks = {"kwargs": _global_hooks["forward_with_kwargs"]} if with_kwargs else {}
    if always_call:
        marks["always"] = _global_hooks["forward_always"]
    return _add_global("forward", hook, marks)


# Hooks on what any module registers, by the dictionary it goes to
registration_hooks: dict[str, OrderedDict] = {name: OrderedDict() for name in ("_parameters", "_buffers", "_modules")}


def _on_registration(registry: str, what: str) -> Callable:
    def register(hook: Callable) -> RemovableHandle:
        return add_hook(registration_hooks[registry], hook)

    register.__doc__ = (
        f"Calls `hook(module, name, {what})` when any module registers a {what}; what it returns, if not None, is "
        "registered in its place."
    )
    return register


register_module_parameter_registration_hook = _on_registration("_parameters", "parameter")
register_module_buffer_registration_hook = _on_registration("_buffers", "buffer")
register_module_module_registration_hook = _on_registration("_modules", "submodule")


def call_with_hooks(module, args: tuple, kwargs: dict):
    """Calls `module.forward` with all hooks around it."""
    called: set[int] = set()
    try:
        return _call(module, args, kwargs, called)
    except Exception:
        _always_call(module, args, kwargs, called)
        raise


def _call(module, args: tuple, kwargs: dict, called: set[int]):
    args, kwargs = _before(module, args, kwargs)
    backward = _backward_hooks(module)
    if backward is not None:
        args = backward.watch_inputs(args)
    result = module.forward(*args, **kwargs)
    for key, hook, with_kwargs in _forward_hooks(module):
        called.add(key)
        changed = hook(module, args, kwargs, result) if with_kwargs else hook(module, args, result)
        if changed is not None:
            result = changed
    return result if backward is None else backward.watch_outputs(result)


def _before(module, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    with_kwargs = module._forward_pre_hooks_with_kwargs
    for key, hook in [*_global_hooks["forward_pre"].items(), *module._forward_pre_hooks.items()]:
        if key not in with_kwargs:
            changed = hook(module, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
            continue
        changed = hook(module, args, kwargs)
        if changed is not None:
            if not (isinstance(changed, tuple) and len(changed) == 2):
                raise RuntimeError(
                    f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {changed}."
                )
            args, kwargs = changed
    return args, kwargs


def _forward_hooks(module) -> list[tuple[int, Callable, bool]]:
    with_kwargs = {**_global_hooks["forward_with_kwargs"], **module._forward_hooks_with_kwargs}
    hooks = [*_global_hooks["forward"].items(), *module._forward_hooks.items()]
    return [(key, hook, key in with_kwargs) for key, hook in hooks]


def _always_call(module, args: tuple, kwargs: dict, called: set[int]) -> None:
    """After an exception: the hooks registered with `always_call` that have not run yet."""
    always = {**_global_hooks["forward_always"], **module._forward_hooks_always_called}
    for key, hook, with_kwargs in _forward_hooks(module):
        if key in always and key not in called:
            hook(module, args, kwargs, None) if with_kwargs else hook(module, args, None)


def _backward_hooks(module):
    before = [*_global_hooks["backward_pre"].values(), *module._backward_pre_hooks.values()]
    after = [*_global_hooks["backward"].values(), *module._backward_hooks.values()]
    if not before and not after:
        return None
    from .backward_hooks import BackwardHooks

    return BackwardHooks(module, before, after)
