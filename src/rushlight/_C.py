"""`torch._C`: the few names of it that programs use to write classes with a `__torch_function__`."""

from __future__ import annotations

from .core import engine
from .core.engine import disabled_torch_function

_disabled_torch_function_impl = disabled_torch_function
_disabled_torch_dispatch_impl = disabled_torch_function  # calls never go to `__torch_dispatch__`
_push_on_torch_function_stack = engine.push_function_mode
_pop_torch_function_stack = engine.pop_function_mode


class _Disabled:
    """A context in which calls run as for plain tensors: `level` says what is not looked for (see the core)."""

    level: int

    def __enter__(self) -> None:
        self._outer = engine.set_overrides_off(max(engine.overrides_off(), self.level))

    def __exit__(self, *exception) -> None:
        engine.set_overrides_off(self._outer)


class DisableTorchFunctionSubclass(_Disabled):
    """A context in which types do not override calls; modes still see them."""

    level = 1


class DisableTorchFunction(_Disabled):
    """A context in which neither types nor modes override calls."""

    level = 2


def _len_torch_function_stack() -> int:
    """How many modes see this thread's calls."""
    return len(engine.function_modes())


def _get_function_stack_at(index: int):
    """The mode at a place of the stack, 0 being the outermost."""
    return engine.function_modes()[index]


def _is_torch_function_enabled() -> bool:
    """Whether types override calls."""
    return engine.overrides_off() == 0


def _is_torch_function_all_disabled() -> bool:
    """Whether neither types nor modes override calls."""
    return engine.overrides_off() == 2


def _is_torch_function_mode_enabled() -> bool:
    """Whether a mode sees this thread's calls."""
    return engine.overrides_off() < 2 and bool(engine.function_modes())
