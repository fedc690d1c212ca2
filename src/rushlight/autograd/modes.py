"""Switching the recording of operations on and off, per thread."""

from __future__ import annotations

import functools
import sys

from ..core.engine import is_grad_enabled, is_inference_mode_enabled, set_grad_mode, set_inference_mode


class _Mode:
    """A context manager that is also a decorator, for functions and generators."""

    def __call__(self, function=None):
        if function is None:
            return self
        if isinstance(function, type):
            raise TypeError(f"{type(self).__name__} decorates functions, got the class {function.__name__}")

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with self.fresh():
                return function(*args, **kwargs)

        @functools.wraps(function)
        def wrapped_generator(*args, **kwargs):
            return _drive(self, function(*args, **kwargs))

        is_generator = hasattr(function, "__code__") and function.__code__.co_flags & 0x20
        return wrapped_generator if is_generator else wrapped

    def fresh(self):
        """A new context of the same kind: decorated functions may call themselves."""
        return type(self)()


def _drive(mode: _Mode, generator):
    """Run each step of a generator inside the mode, and the caller's code between steps outside of it."""
    send, value = generator.send, None
    while True:
        try:
            with mode.fresh():
                produced = send(value)
        except StopIteration as stop:
            return stop.value
        try:
            value = yield produced
            send = generator.send
        except GeneratorExit:
            generator.close()
            raise
        except BaseException:
            send, value = generator.throw, sys.exception() if hasattr(sys, "exception") else sys.exc_info()[1]


class no_grad(_Mode):
    """Operations in the block are not recorded.

    >>> x = rushlight.ones(2, requires_grad=True)
    >>> with rushlight.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    __slots__ = ("was",)

    def __new__(cls, function=None):
        made = object.__new__(cls)
        return made if function is None else made(function)

    def __enter__(self):
        self.was = set_grad_mode(False)

    def __exit__(self, *exc):
        set_grad_mode(self.was)


class enable_grad(no_grad):
    """Operations in the block are recorded, inside `no_grad` too."""

    __slots__ = ()

    def __enter__(self):
        self.was = set_grad_mode(True)


class set_grad_enabled(_Mode):
    """Record or not, as a function call or as a context manager."""

    def __init__(self, mode: bool):
        self.mode = bool(mode)
        self.was = set_grad_mode(self.mode)

    def __enter__(self):
        set_grad_mode(self.mode)

    def __exit__(self, *exc):
        set_grad_mode(self.was)

    def __call__(self, function=None):
        set_grad_mode(self.was)
        return super().__call__(function)

    def fresh(self):
        """The mode again, remembering what is set now."""
        return set_grad_enabled(self.mode)

    def __repr__(self):
        return f"{type(self).__module__}.{type(self).__qualname__}(mode={self.mode})"


class inference_mode(_Mode):
    """Like `no_grad`; tensors made in the block can never take part in a recorded computation."""

    def __new__(cls, mode=True):
        made = object.__new__(cls)
        if callable(mode) and not isinstance(mode, bool):
            made.mode = True
            return made(mode)
        made.mode = bool(mode)
        return made

    def __enter__(self):
        self.was = set_inference_mode(self.mode), set_grad_mode(is_grad_enabled() and not self.mode)

    def __exit__(self, *exc):
        set_inference_mode(self.was[0])
        set_grad_mode(self.was[1])

    def fresh(self):
        """A new context with the same setting."""
        return inference_mode(self.mode)


__all__ = [
    "enable_grad",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "set_grad_enabled",
]
