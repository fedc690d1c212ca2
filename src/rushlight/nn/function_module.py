"""Modules that are one function with fixed options: activations, pooling, padding, losses.

Such a module is declared, not programmed: `options` names its constructor arguments with their defaults,
`function` the function in `nn.functional` that gets them after the inputs.
"""

from __future__ import annotations

from operator import attrgetter

from . import functional as F
from .module import Module

REQUIRED = object()  # the default of an option that must be given


class _Signature:
    """The constructor's signature, built only when somebody asks for it (`help`, editors)."""

    def __get__(self, instance, owner):
        import inspect

        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        empty = inspect.Parameter.empty
        return inspect.Signature(
            [
                inspect.Parameter(name, kind, default=empty if default is REQUIRED else default)
                for name, default in owner.options.items()
            ]
        )


class FunctionModule(Module):
    """One function with fixed options.

    Class attributes to declare:
    - `function`: its name in `nn.functional`
    - `options`: constructor arguments and their defaults, stored as attributes of the same name
    - `passed`: which attributes the function gets after the inputs, in its own order (all options)
    - `shown`: which attributes `repr` prints as name=value (all options but `inplace`, which is
      printed when it is true)
    """

    function: str
    options: dict = {}
    passed: tuple[str, ...] | None = None
    shown: tuple[str, ...] | None = None
    __signature__ = _Signature()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        names = tuple(cls.options) if cls.passed is None else cls.passed
        cls._values = staticmethod(_getter(names))

    def __init__(self, *args, **kwargs):
        super().__init__()
        for name, value in self._bind(args, kwargs).items():
            setattr(self, name, value)
        self.check()

    def _bind(self, args: tuple, kwargs: dict) -> dict:
        """Every option's value, from the arguments of the constructor."""
        name, options = f"{type(self).__name__}.__init__", self.options
        if len(args) > len(options):
            raise TypeError(f"{name}() takes at most {len(options)} arguments ({', '.join(options)}), got {len(args)}")
        given = dict(zip(options, args))
        for key, value in kwargs.items():
            if key not in options:
                raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
            if key in given:
                raise TypeError(f"{name}() got multiple values for argument '{key}'")
            given[key] = value
        bound = {**options, **given}
        missing = [key for key, value in bound.items() if value is REQUIRED]
        if missing:
            words = " and ".join(map(repr, missing)), "" if len(missing) == 1 else "s"
            raise TypeError(f"{name}() missing {len(missing)} required positional argument{words[1]}: {words[0]}")
        return bound

    def check(self) -> None:
        """Raises for options that can not work; overridden by the families."""

    def forward(self, *inputs):
        return getattr(F, self.function)(*inputs, *self._values(self))

    def extra_repr(self) -> str:
        names = self.shown
        if names is None:
            names = [name for name in self.options if name != "inplace" or self.inplace]
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in names)


def _getter(names: tuple[str, ...]):
    """A function from an object to the tuple of these attributes."""
    if len(names) > 1:
        return attrgetter(*names)
    if names:
        name = names[0]
        return lambda owner: (getattr(owner, name),)
    return lambda owner: ()
